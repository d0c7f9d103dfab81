"""Ladders: ranks, ties and means."""

from __future__ import annotations

import pytest

from arena.ladder.live import Rating
from arena.ladder.standings import Record, relative_rank, standings


def record(bot: str, value: float, matches: int = 4, rank_sum: float = 1.0) -> Record:
    return Record(bot, bot, False, Rating(value, 80), matches, 1, rank_sum, 3.5)


def test_highest_rating_first() -> None:
    lines = standings([record("low", 1400), record("high", 1600), record("middle", 1500)])
    assert [(line.rank, line.record.bot) for line in lines] == [(1, "high"), (2, "middle"), (3, "low")]


def test_equal_ratings_share_a_rank_and_the_next_is_skipped() -> None:
    lines = standings([record("b", 1500), record("A", 1500), record("c", 1600), record("d", 1400)])
    assert [(line.rank, line.record.bot) for line in lines] == [(1, "c"), (2, "A"), (2, "b"), (4, "d")]


def test_an_empty_ladder() -> None:
    assert standings([]) == ()


@pytest.mark.parametrize(
    ("place", "seats", "relative"), [(1, 2, 0.0), (2, 2, 1.0), (1, 5, 0.0), (3, 5, 0.5), (5, 5, 1.0)]
)
def test_relative_rank_goes_from_0_first_to_1_last(place: int, seats: int, relative: float) -> None:
    assert relative_rank(place, seats) == relative


def test_mean_rank_is_over_the_matches() -> None:
    (line,) = standings([record("a", 1500, matches=8, rank_sum=2.0)])
    assert line.mean_rank == 0.25
