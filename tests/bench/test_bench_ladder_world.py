"""The ladder benchmark's worlds have the stated properties, and their true ratings are right."""

import numpy as np
import pytest
from scipy.special import expit

from arena.ladder.live import SCALE
from bench.ladder.world import (
    ANCHORS,
    BOTS,
    NOBODY,
    SEATS,
    SPREAD,
    Conditions,
    Luck,
    bradley_terry,
    expected_score,
    play,
    ranked,
    truth,
)

EVERY = [Conditions(luck=luck, ties=ties) for luck in Luck for ties in (0.0, 0.15, 0.3)]


def named(conditions: Conditions) -> str:
    return f"{conditions.luck.value}-{conditions.ties:.0%}"


def test_one_seed_is_one_season() -> None:
    seasons = [play(Conditions((2, 3, 6), 0.15, changing=True), 30, np.random.default_rng(1)) for _ in range(2)]
    assert (seasons[0].nodes == seasons[1].nodes).all()
    assert (seasons[0].places == seasons[1].places).all()
    assert (seasons[0].strengths == seasons[1].strengths).all()


def test_everybody_sits_at_one_table_a_round() -> None:
    season = play(Conditions(), 50, np.random.default_rng(2))
    for number in range(50):
        tables = season.nodes[number * BOTS // 4 : (number + 1) * BOTS // 4, :4]
        assert sorted(tables.ravel()) == [*range(BOTS)]
    assert (season.nodes[:, 4:] == NOBODY).all()


def test_every_round_of_mixed_seats_comes_at_its_time() -> None:
    season = play(Conditions((2, 5), changing=True), 200, np.random.default_rng(3))
    seen = np.full(len(season.strengths), -1)
    for match, nodes in enumerate(season.nodes):
        seen[nodes[nodes != NOBODY]] = match
    for entrant in season.entrants:
        if entrant.parent is not None:
            first = int((season.nodes == entrant.node).any(axis=1).argmax())
            if (season.nodes == entrant.node).any():
                assert seen[entrant.parent] < first
                assert not season.entrants[entrant.parent].newest


def test_anchors_stay_in_a_changing_field() -> None:
    season = play(Conditions(changing=True), 200, np.random.default_rng(4))
    assert len(season.strengths) > BOTS
    for anchor in range(ANCHORS):
        assert season.entrants[anchor].anchor
        assert (season.nodes == anchor).sum() == 200


@pytest.mark.parametrize("conditions", EVERY, ids=named)
@pytest.mark.thorough
def test_the_expected_score_is_what_matches_come_to(conditions: Conditions) -> None:
    chance = np.random.default_rng(5)
    for difference in (0.0, 0.3, 1.0):
        means = np.full((200_000, SEATS), np.nan)
        means[:, :2] = difference, 0.0
        places = ranked(means, conditions, chance)
        score = (places[:, 0] < places[:, 1]).mean() + (places[:, 0] == places[:, 1]).mean() / 2
        assert expected_score(np.array([difference]), conditions)[0] == pytest.approx(score, abs=0.004)


@pytest.mark.parametrize("luck", Luck)
def test_luck_has_mean_0_and_deviation_1(luck: Luck) -> None:
    """The figure is the success of a fixed lead. Chebyshev's bound holds, and both sides are equal."""
    scores = expected_score(np.array([-10.0, 0.0, 10.0]), Conditions(luck=luck))
    assert scores[1] == pytest.approx(0.5)
    assert scores[2] == pytest.approx(1 - scores[0])
    assert scores[2] > 1 - 2 / 10**2


@pytest.mark.parametrize("share", [0.15, 0.3])
def test_so_many_pairs_tie(share: float) -> None:
    season = play(Conditions(ties=share), 1_000, np.random.default_rng(6))
    ties = [(season.places[:, i] == season.places[:, j]).mean() for i in range(4) for j in range(i)]
    assert np.mean(ties) == pytest.approx(share, abs=0.01)


def test_places_are_a_ranking() -> None:
    season = play(Conditions((3, 7), ties=0.3), 50, np.random.default_rng(7))
    for nodes, places in zip(season.nodes, season.places, strict=True):
        there = places[nodes != NOBODY]
        assert (places[nodes == NOBODY] == 0).all()
        assert all(place == 1 + (there < place).sum() for place in there)


def test_the_truth_of_normal_luck_is_the_strength_in_elo() -> None:
    season = play(Conditions(), 200, np.random.default_rng(8))
    true = truth(season)
    assert true[:ANCHORS].mean() == pytest.approx(1500)
    slope = np.polyfit(season.strengths, true, 1)[0]
    # the slope of Φ(x/√2) at 0, divided by the logistic function's ¼
    assert slope == pytest.approx(SCALE * 4 / np.sqrt(4 * np.pi), rel=0.02)
    assert np.corrcoef(season.strengths, true)[0, 1] > 0.9999


def test_nobody_knows_the_truth_of_who_never_played() -> None:
    season = play(Conditions(changing=True), 2, np.random.default_rng(9))
    short = type(season)(
        season.conditions,
        season.entrants,
        np.append(season.strengths, 0.0),
        season.nodes,
        season.places,
        season.means,
    )
    assert np.isnan(truth(short)[-1])


def test_bradley_terry_finds_ratings_from_their_expected_scores() -> None:
    chance = np.random.default_rng(10)
    ratings = chance.normal(0, 100, 12)
    weights = chance.random((12, 12))
    weights += weights.T
    np.fill_diagonal(weights, 0)
    found = bradley_terry(weights * expit((ratings[:, None] - ratings) / SCALE), weights)
    assert found - found.mean() == pytest.approx(ratings - ratings.mean(), abs=1e-6)


def test_a_cycle_makes_every_bot_lose_to_some_that_are_no_better() -> None:
    season = play(Conditions((2,), cycle=1.0), 400, np.random.default_rng(11))
    stronger = season.strengths[season.nodes[:, 0]] > season.strengths[season.nodes[:, 1]] + SPREAD
    favoured = season.means[:, 0] > season.means[:, 1]
    assert 0.1 < (stronger & ~favoured).sum() / stronger.sum() < 0.5
    # the pairs of one match win or lose together
    assert np.nansum(season.means, axis=1) == pytest.approx(season.strengths[season.nodes[:, :2]].sum(axis=1))


def test_copies_are_as_good_as_each_other() -> None:
    true = truth(play(Conditions(copies=25), 400, np.random.default_rng(5)))
    copies, others = true[-25:], true[:-25]
    assert np.ptp(copies) < 1, "tables differ a little"
    assert copies.mean() == pytest.approx(others.mean() + 78, abs=30)
