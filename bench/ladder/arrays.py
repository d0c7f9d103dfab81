"""Results of a simulated season as the ladder's columns."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from arena.ladder.columns import MAX_SEATS, NO_NODE, Columns
from arena.ladder.errors import MatchRepeated, WrongSeats
from arena.ladder.live import SEATS


def columns_of(
    nodes: ArrayLike,
    places: ArrayLike,
    counts: ArrayLike | None = None,
    match_id: ArrayLike | None = None,
    through: int | None = None,
    spoilt: ArrayLike | None = None,
    days: ArrayLike | None = None,
) -> Columns:
    """Build columns from arrays of shape [M, up to 7], by match and seat. Missing seats have node −1 and come last.

    Defaults: every result counts, no seat is spoilt, the matches are numbered 1…M, `through` is M, and all days are
    0. Raises WrongSeats, UnknownNode, MatchRepeated or another LadderError.
    """
    given = np.asarray(nodes, np.int64)
    rows, width = given.shape
    wide = np.full((MAX_SEATS, rows), NO_NODE)
    ranks = np.zeros((MAX_SEATS, rows), np.int64)
    marks, bad = np.ones((MAX_SEATS, rows), np.bool_), np.zeros((MAX_SEATS, rows), np.bool_)
    if width > MAX_SEATS:
        raise WrongSeats(0, width, np.asarray(places).shape[1], width)
    wide[:width] = given.T
    ranks[:width] = np.asarray(places).T
    if counts is not None:
        marks[:width] = np.asarray(counts).T
    if spoilt is not None:
        bad[:width] = np.asarray(spoilt).T
    there = wide != NO_NODE
    numbers = np.arange(1, rows + 1) if match_id is None else np.array(match_id, np.int64)
    seats = there.sum(axis=0)
    gaps = (there[1:] & ~there[:-1]).any(axis=0) | (seats < SEATS.start)
    if gaps.any():
        first = int(gaps.argmax())
        raise WrongSeats(int(numbers[first]), *(3 * [int(seats[first])]))
    last = rows if through is None else through
    when = np.zeros(rows, np.int64) if days is None else np.array(days, np.int64)
    columns = Columns.validated(numbers, seats, wide, ranks, marks & there, bad & there, last, when)
    if not (np.diff(numbers) > 0).all():
        ordered = np.sort(numbers)
        twice = ordered[1:][np.diff(ordered) == 0]
        if twice.size:
            raise MatchRepeated(int(twice[0]))
    return columns
