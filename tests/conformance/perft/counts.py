"""Perft: count the lines of play from a position, by number of choices and by end.

Two programs that count the same from many small deals play by the same rules: an illegal card, a trick for the wrong
seat or a wrong point changes the counts. Seats that choose at once are asked in ascending order. Lines stop at the end
of the position's round. The code is the same for every game.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

from engine.game import OVER, RoundReport, SeatView, State


class End(NamedTuple):
    """The end of a line of play."""

    scores: tuple[int, ...]
    """Points of the game so far, by seat."""
    over: bool
    """True if the whole game is over, not only the round."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The counts from one position."""

    lines: tuple[int, ...]
    """Number of lines with at least one choice, two choices and so on up to the longest line."""
    ends: Mapping[End, int]
    """Number of lines for each end, without lines that were cut short."""


def fingerprint(state: State[SeatView, RoundReport], depth: int | None = None) -> Fingerprint:
    """Count all lines of play from a state to the end of its round, or to `depth` choices.

    The state does not change. The work grows with the number of lines, so use it for small deals.
    """
    lines: list[int] = []
    ends: Counter[End] = Counter()
    _count(state, state.round, 0, depth, lines, ends)
    return Fingerprint(tuple(lines), ends)


def _count(
    state: State[SeatView, RoundReport],
    number: int,
    choices: int,
    depth: int | None,
    lines: list[int],
    ends: Counter[End],
) -> None:
    """Count the lines of play from a state of round `number` that follows `choices` choices."""
    seat = state.player
    if seat == OVER or state.round != number:
        ends[End(tuple(state.scores), seat == OVER)] += 1
        return
    if choices == depth:
        return
    if choices == len(lines):
        lines.append(0)
    legal = state.legal(seat)
    lines[choices] += len(legal)
    for action in legal:
        after = state.clone()
        after.apply(action, seat)
        _count(after, number, choices + 1, depth, lines, ends)
