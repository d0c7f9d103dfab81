"""Perft: count the lines of play from a position, choice by choice, and how they end.

Two programs that count the same from many small deals play by the same rules: a card that may be played where it may
not, a trick that goes to the wrong seat or a point too many shows in the counts. Seats that choose at once are asked
in rising order. Lines end with the round that the position belongs to. Nothing here knows one game from another.
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
    """True if the game is over, and not only the round."""


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """The counts from one position."""

    lines: tuple[int, ...]
    """Lines of one choice, of two choices …, up to the longest; those that ended earlier are not among them."""
    ends: Mapping[End, int]
    """The histogram of final scores: lines by their end. It leaves out lines that were cut short."""


def fingerprint(state: State[SeatView, RoundReport], depth: int | None = None) -> Fingerprint:
    """Count all lines of play from a state to the end of its round, or to `depth` choices.

    The state is left as it is. The work grows with the number of lines: this is for small deals.
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
    """Add the lines of play from a state that is `choices` choices deep in round `number`."""
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
