"""Information about a bot in a match: the formulas, compared with plain sums, and the preferred matches."""

from __future__ import annotations

from math import exp, inf, nan, sqrt
from random import Random

import pytest

from arena.ladder.live import NEW, SCALE, Rating
from arena.scheduling import information_gain as module
from arena.scheduling.information_gain import NEWCOMER, MatchValue, MatchValues, match_values


def field(size: int) -> dict[int, Rating]:
    chance = Random(size)
    return {bot: Rating(chance.gauss(1500, 40), chance.uniform(8, 150)) for bot in range(size)}


def density(rating: Rating, others: list[Rating]) -> float:
    """Compute the weight from its formula term by term."""
    total = 0.0
    for other in others:
        spread = rating.deviation**2 + other.deviation**2
        total += exp(-((rating.value - other.value) ** 2) / (2 * spread)) / sqrt(spread)
    return total


@pytest.mark.parametrize("block", [1, 100, 1_000_000])
def test_the_weight_is_the_density_of_the_other_ranks(block: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "BLOCK_PAIRS", block)
    ratings = field(25)
    found = match_values(ratings)
    for bot, rating in ratings.items():
        others = [other for key, other in ratings.items() if key != bot]
        assert found.of(bot).weight == pytest.approx(density(rating, others))
        assert found.of(bot).variance == pytest.approx(rating.deviation**2 / SCALE**2)
    assert found.of(99) == found.newcomer
    assert found.newcomer.weight == pytest.approx(density(NEW, list(ratings.values())))


def test_of_many_bots_some_stand_for_all(monkeypatch: pytest.MonkeyPatch) -> None:
    chance = Random(1)
    ratings = {bot: Rating(chance.gauss(1500, 200), chance.uniform(20, 60)) for bot in range(3000)}
    monkeypatch.setattr(module, "MOST_COMPARED", 3000)
    exact = match_values(ratings)
    monkeypatch.setattr(module, "MOST_COMPARED", 1000)
    about = match_values(ratings)
    assert about != exact
    assert about.newcomer.weight == pytest.approx(exact.newcomer.weight, rel=0.02)
    near = [
        abs(about.of(bot).weight / exact.of(bot).weight - 1) for bot in ratings if abs(ratings[bot].value - 1500) < 400
    ]
    assert sum(near) / len(near) < 0.05
    assert max(near) < 0.5


def test_on_an_empty_ladder_everybody_is_new() -> None:
    empty: MatchValues[int] = match_values({})
    assert empty == MatchValues()
    assert empty.of(1) == NEWCOMER


def test_a_bot_that_is_alone_on_the_ladder_has_nothing_to_gain() -> None:
    assert match_values({1: Rating(1500, 40)}).of(1).gain(0, 4) == pytest.approx(0.0)


@pytest.mark.parametrize("seats", range(2, 8))
def test_the_gain_is_the_variance_that_a_match_takes_away_weighted(seats: int) -> None:
    value = MatchValue(0.3, 2.0)
    information = 3 * (seats - 1) / (4 * (seats + 1))
    for pending in range(5):
        before, after = (1 / (1 / 0.3 + k * information) for k in (pending, pending + 1))
        assert value.gain(pending, seats) == pytest.approx(2.0 * (before - after))
        assert value.expected(pending, seats) == pytest.approx(before)


def test_a_newcomer_has_far_more_to_gain_than_anybody_else() -> None:
    found = match_values({bot: Rating(1400 + 5 * bot, 15) for bot in range(40)})
    most = max(found.of(bot).gain(0, 4) for bot in range(40))
    assert found.newcomer.gain(0, 4) > 1000 * most
    assert found.newcomer.gain(30, 4) > most


def test_of_equally_known_bots_those_in_the_crowd_have_most_to_gain() -> None:
    values = [1300, 1498, 1500, 1502, 1700]
    gains = [match_values({value: Rating(value, 20) for value in values}).of(value).gain(0, 2) for value in values]
    assert max(gains) == gains[2]
    assert min(gains[1:4]) > 5 * max(gains[0], gains[4])


def test_who_holds_the_scale_alone_has_no_error_and_nothing_to_gain() -> None:
    others = {"ann": Rating(1480, 40), "bob": Rating(1560, 60)}
    exact, known = (
        match_values({"house": Rating(1500, 0), **others}),
        match_values({"house": Rating(1500, 0.01), **others}),
    )
    assert exact.of("house").gain(0, 4) < 1e-9
    assert exact.of("house").expected(3, 4) < 1e-9
    for bot in ("ann", "bob", "house", "new"):
        assert exact.of(bot).weight == pytest.approx(known.of(bot).weight)


@pytest.mark.parametrize("rating", [Rating(nan, 40), Rating(inf, 40), Rating(1500, -1), Rating(1500, nan)])
def test_ratings_that_are_none_are_named(rating: Rating) -> None:
    with pytest.raises(ValueError, match=r"the rating of 'ann' is .* ± .*; it takes finite numbers"):
        match_values({"bob": NEW, "ann": rating})
