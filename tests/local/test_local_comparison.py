"""Statistics of a comparison's deal pairs, checked against the known properties of the simulated world."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from math import sqrt
from typing import Final, TypeAlias

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import stdtr

from arena.local.match.comparison import adjusted_chances, compare
from arena.local.match.design import Design, planned
from arena.local.match.sequential import RunningTest, SequentialOutcome, SequentialTest
from arena.local.match.sets import PlayedSet, SeatedGame, set_score
from arena.local.play.table import PlayedGame

SEATS: Final = 4
Values: TypeAlias = NDArray[np.float64]
SHAPES: Final[dict[str, Callable[[np.random.Generator, int], Values]]] = {
    "normal": lambda chance, size: chance.normal(0, 1, size),
    "heavy tails": lambda chance, size: chance.standard_t(5, size) / sqrt(5 / 3),
    "skewed": lambda chance, size: chance.exponential(1, size) - 1,
    "many ties": lambda chance, size: np.where(chance.random(size) < 0.7, 0, chance.normal(0, 1, size)) / sqrt(0.3),
}
"""Scores of deal pairs with mean 0 and standard deviation 1."""


def played_game(bots: tuple[int, ...], scores: tuple[int, ...]) -> SeatedGame:
    places = tuple(1 + sum(other > score for other in scores) for score in scores)
    same = (10,) * len(bots)
    return SeatedGame(bots, PlayedGame(scores, places, same, same, same))


def a_world(design: Design, better: float, shared: float, sets: int, seed: int) -> list[PlayedSet]:
    """Simulated deal pairs. Points are the sum of skill, luck of the cards and luck of the play. The luck of
    the cards belongs to the deal.
    """
    chance, found = np.random.default_rng(seed), []
    for number in range(sets):
        cards: dict[bytes, Values] = {}
        games = []
        for game in planned(design, SEATS, number, seed):
            luck = cards.setdefault(game.key, chance.normal(0, 100 * sqrt(shared), SEATS))
            points = luck + chance.normal(0, 100 * sqrt(1 - shared), SEATS)
            points += [better if bot == 0 else 0 for bot in game.bots]
            games.append(played_game(game.bots, tuple(int(each) for each in points)))
        found.append(PlayedSet(number, tuple(games)))
    return found


def test_a_set_in_the_same_seats_is_the_difference_above_the_others() -> None:
    one = played_game((2, 0, 3, 4), (10, 30, 20, 6))  # 18 above the mean of the others, which is 12
    other = played_game((2, 1, 3, 4), (10, 3, 2, 0))  # 1 below 4
    for design in (Design.SAME_SEATS, Design.INDEPENDENT):
        assert set_score(design, PlayedSet(0, (one, other))) == 18 - -1


def test_a_set_at_one_table_is_the_mean_difference_of_both_games() -> None:
    games = played_game((0, 2, 1), (10, 99, 4)), played_game((1, 2, 0), (7, 99, 9))
    assert set_score(Design.ONE_TABLE, PlayedSet(0, games)) == (6 + 2) / 2


@pytest.mark.thorough
@pytest.mark.parametrize("design", Design)
def test_the_intervals_hold(design: Design) -> None:
    """About 95 of 100 intervals contain the true difference, in points and in Elo. With very many pairs, the
    estimate is the true Elo.
    """
    truth = compare(design, a_world(design, 40, 0.5, 6000, 9)).elo
    assert truth is not None
    held = elo_held = 0
    worlds = 300
    for seed in range(worlds):
        found = compare(design, a_world(design, 40, 0.5, 40, 100 + seed))
        assert found.interval is not None
        assert found.elo is not None
        assert found.elo.error is not None
        held += found.interval[0] <= 40 <= found.interval[1]
        elo_held += abs(found.elo.value - truth.value) <= 1.96 * found.elo.error
    assert held / worlds == pytest.approx(0.95, abs=0.035)
    assert elo_held / worlds == pytest.approx(0.95, abs=0.04)


def sets_of(scores: Values) -> list[PlayedSet]:
    """Return deal pairs at one table with these scores, in thousandths of a point."""
    return [
        PlayedSet(
            number, (played_game((0, 1), (round(1000 * score), 0)), played_game((1, 0), (0, round(1000 * score))))
        )
        for number, score in enumerate(scores.tolist())
    ]


@pytest.mark.parametrize("count", [4, 8, 20])
@pytest.mark.parametrize("shape", ["normal", "heavy tails", "many ties"])
@pytest.mark.thorough
def test_few_sets_are_no_surer_than_they_may_be(shape: str, count: int) -> None:
    """Two equal bots: a likelihood above 97.5 % occurs in 2.5 % of comparisons, and 5 % of intervals miss the
    difference.
    """
    chance, worlds = np.random.default_rng(count), 1000
    likely = missed = 0
    for _ in range(worlds):
        found = compare(Design.ONE_TABLE, sets_of(SHAPES[shape](chance, count)))
        assert found.likely is not None
        assert found.interval is not None
        likely += found.likely > 0.975
        missed += not found.interval[0] <= 0 <= found.interval[1]
    assert likely / worlds <= 0.025 + 3 * sqrt(0.025 / worlds)
    assert missed / worlds <= 0.05 + 3 * sqrt(0.05 / worlds)
    if shape == "normal":
        assert likely / worlds >= 0.025 - 3 * sqrt(0.025 / worlds)


def outcome(test: SequentialTest, scores: Values) -> tuple[SequentialOutcome, int]:
    running = RunningTest(test)
    for score in scores.tolist():
        running.add(score)
        if running.state.outcome is not SequentialOutcome.UNDECIDED:
            break
    return running.state.outcome, running.state.sets


@pytest.mark.thorough
def test_where_a_test_stopped_the_interval_is_a_little_too_sure() -> None:
    """The interval is right in about 92 of 100 tests that stop early, as the report states."""
    chance, test, worlds, held = np.random.default_rng(8), SequentialTest(0, 0.25), 250, 0
    for _ in range(worlds):
        scores = chance.normal(0.125, 1, 3000)
        _, sets = outcome(test, scores)
        found = compare(Design.ONE_TABLE, sets_of(scores[:sets]))
        assert found.interval is not None
        held += found.interval[0] <= 125 <= found.interval[1]
    assert 0.86 < held / worlds < 0.95


@pytest.mark.thorough
def test_the_gain_is_how_many_games_the_same_deals_save() -> None:
    """The shared part of the variance, (1 + 1/3)·100², disappears for one bot and for the others."""
    for shared in (0.0, 0.5, 0.8):
        gain = compare(Design.SAME_SEATS, a_world(Design.SAME_SEATS, 0, shared, 3000, 4)).gain
        assert gain is not None
        assert gain.error is not None
        assert abs(gain.value - 1 / (1 - shared)) < 4 * gain.error
        assert gain.error < 0.1 * gain.value
    assert compare(Design.INDEPENDENT, a_world(Design.INDEPENDENT, 0, 0.5, 50, 4)).gain is None


def test_figures_of_both_bots() -> None:
    sets = [PlayedSet(0, (played_game((0, 2), (9, 3)), played_game((1, 2), (4, 4))))]
    found = compare(Design.SAME_SEATS, sets)
    one, other = found.bots
    assert (one.points.value, one.place.value, one.beaten) == (9, 1, 1)
    assert (other.points.value, other.place.value, other.beaten) == (4, 1, 0.5)
    assert one.by_seat == (9, None)
    assert (found.won, found.drawn, found.lost, found.games) == (1, 0, 0, 2)
    assert found.elo is None
    assert found.interval is None
    assert found.likely is None


def test_sets_that_are_all_alike_have_no_error() -> None:
    sets = [PlayedSet(n, (played_game((0, 2), (9, 3)), played_game((1, 2), (4, 6)))) for n in range(9)]
    found = compare(Design.SAME_SEATS, sets)
    assert found.difference.value == 8
    assert found.interval == (8, 8)
    assert found.likely == 1
    assert found.normalised is None


def test_of_many_pairs_that_are_alike_some_is_called_different_in_5_matches_of_100() -> None:
    """With 8 bots, a given pair would be called different in 5 % of matches, but some pair in more than half."""
    chance, worlds, sets, pairs = np.random.default_rng(28), 400, 40, 28
    apart = together = 0
    for _ in range(worlds):
        points = chance.normal(0, 1, (pairs, sets))
        likely = stdtr(sets - 1, points.mean(axis=1) / (points.std(axis=1, ddof=1) / sqrt(sets)))
        template = compare(Design.ONE_TABLE, sets_of(points[0]))
        found = adjusted_chances([replace(template, likely=float(each)) for each in likely])
        apart += bool((2 * np.minimum(likely, 1 - likely) < 0.05).any())
        together += any(each is not None and each < 0.05 for each in found)
    assert apart / worlds > 0.5
    assert together / worlds <= 0.05 + 2.5 * sqrt(0.05 * 0.95 / worlds)
    assert together / worlds >= 0.05 - 2.5 * sqrt(0.05 * 0.95 / worlds), "and it is no more cautious than that"


def test_chances_are_adjusted_step_by_step() -> None:
    template = compare(Design.ONE_TABLE, sets_of(np.arange(9.0)))
    assert template.likely is not None
    few = compare(Design.ONE_TABLE, sets_of(np.arange(7.0)))
    likely = (0.995, 0.02, 0.9925, 0.5)
    found = adjusted_chances([*(replace(template, likely=each) for each in likely), few, None])
    assert found[4:] == [None, None], "pairs that say nothing count, too"
    assert found[:4] == pytest.approx([6 * 0.01, 4 * 0.04, 5 * 0.015, 1.0])
