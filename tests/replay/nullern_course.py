"""Recorded matches of Nullern, and their tricks according to the engine's reports.

This module is independent of the drawing code, so that drawings can be compared with it.
"""

from collections.abc import Iterator
from functools import cache

import pytest

from arena.replay.read import read
from arena.replay.record import encode
from arena.replay.steps import Course
from engine.nullern import NULLERN, NullernRound
from engine.nullern.cards import CARDS
from tests.replay.recorded import play, rated

SEATS = pytest.mark.parametrize("seats", NULLERN.seats)


@cache
def course(seats: int = 4, chance: int = 1) -> Course:
    return Course(read(rated(seats, game=NULLERN, chance=chance)))


@cache
def interrupted(after: int) -> Course:
    header, entries = play(3, game=NULLERN, interrupted_after=after)
    return Course(read(encode(header, entries)))


def reports(played: Course) -> Iterator[NullernRound]:
    for report in played.reports:
        assert isinstance(report, NullernRound)
        yield report


def tricks(played: Course) -> Iterator[tuple[NullernRound, int, bytes]]:
    """Yield for each trick its round, its number from 0, and its cards."""
    seats = len(played.replay.header.bots)
    for report in reports(played):
        for number in range(len(report.takers)):
            yield report, number, report.plays[number * seats : (number + 1) * seats]


def is_trump(report: NullernRound, card: int) -> bool:
    return CARDS[card].colour == CARDS[report.turned].colour
