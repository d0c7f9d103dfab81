"""The standing results as columns: what a ladder of a million matches is made of in a second.

Results that were voided are not in it, and the order of the rows means nothing. It knows no entrants and rates nothing.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Final, NamedTuple, TypeAlias, assert_never

import numpy as np
from numpy.typing import ArrayLike, NDArray

from arena.ladder.errors import (
    EventRepeated,
    EventsMissing,
    MatchRepeated,
    NoRanking,
    NothingToVoid,
    UnknownNode,
    WrongSeats,
)
from arena.ladder.events import Event, Result, Void
from arena.ladder.live import SEATS

Ints: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.int8]
Flags: TypeAlias = NDArray[np.bool_]

MOST: Final = SEATS.stop - 1
NOBODY: Final = -1
"""The node of a seat that a smaller match does not have."""
CHUNK: Final = 1 << 16
"""Rows worked on at once: few enough for the processor's cache."""


class Audit:
    """Goes along a list of events and lets only a sound one pass."""

    def __init__(self) -> None:
        self.through = 0
        """The number of the last event."""
        self._results: set[int] = set()
        self._voided: set[int] = set()

    def pass_on(self, event: Event) -> None:
        """EventsMissing, EventRepeated, MatchRepeated or NothingToVoid; after an error the event is not taken."""
        expected = self.through + 1
        if event.number != expected:
            wrong = EventsMissing if event.number > expected else EventRepeated
            raise wrong(event.number, expected)
        match event:
            case Result():
                if event.match in self._results:
                    raise MatchRepeated(event.match)
                self._results.add(event.match)
            case Void():
                if event.match not in self._results or event.match in self._voided:
                    raise NothingToVoid(event.match)
                self._voided.add(event.match)
            case _:
                assert_never(event)
        self.through = expected


class Block(NamedTuple):
    """Some matches with the same number of seats; arrays of [seats, matches]."""

    nodes: Ints
    places: Places
    counts: Flags


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """The results of M matches, in any order; `of` and `of_arrays` make sound ones."""

    match: Ints
    """[M], each once."""
    seats: Places
    """[M], 2–7."""
    nodes: Ints
    """[M, 7] by seat, −1 beyond the last."""
    places: Places
    """[M, 7] by seat, 1 the best, ties sharing a place; 0 beyond the last."""
    counts: Flags
    """[M, 7] by seat, whether the result counts for its node: it does where it does for any seat of the node."""
    through: int
    """The number of the last event they are made of."""

    @classmethod
    def of(cls, events: Iterable[Event], audit: Audit | None = None) -> Columns:
        """The standing results of a whole list of events. LadderError where the list contradicts itself.

        A fresh `audit` can go on with what comes after them.
        """
        audit, voided, parts = audit or Audit(), [], [cls.of_results(())]
        left = iter(events)
        while batch := list(islice(left, CHUNK)):
            for event in batch:
                audit.pass_on(event)
            voided += [event.match for event in batch if isinstance(event, Void)]
            parts.append(cls.of_results([event for event in batch if isinstance(event, Result)]))
        return replace(cls._joined(parts).without(voided), through=audit.through)

    @classmethod
    def of_results(cls, results: Sequence[Result]) -> Columns:
        """A batch, whose event numbers need not be consecutive. LadderError where a match is no match."""
        for _, match, nodes, places, counts in results:
            if len(nodes) not in SEATS or not len(nodes) == len(places) == len(counts):
                raise WrongSeats(match, len(nodes), len(places), len(counts))
        matches = len(results)
        seats = np.fromiter((len(result.nodes) for result in results), np.int64, matches)
        total = int(seats.sum())
        seat = np.arange(total) - np.repeat(np.cumsum(seats) - seats, seats)
        cells = seat, np.repeat(np.arange(matches), seats)
        who, ranks = np.full((2, MOST, matches), NOBODY)
        does = np.zeros((MOST, matches), np.bool_)
        who[cells] = np.fromiter(chain.from_iterable(result.nodes for result in results), np.int64, total)
        ranks[cells] = np.fromiter(chain.from_iterable(result.places for result in results), np.int64, total)
        does[cells] = np.fromiter(chain.from_iterable(result.counts for result in results), np.bool_, total)
        numbers = np.fromiter((result.match for result in results), np.int64, matches)
        through = max((result.number for result in results), default=0)
        return cls._sound(numbers, seats, who, ranks, does, through)

    @classmethod
    def of_arrays(
        cls,
        nodes: ArrayLike,
        places: ArrayLike,
        counts: ArrayLike | None = None,
        match: ArrayLike | None = None,
        through: int | None = None,
    ) -> Columns:
        """The same from arrays of [M, up to 7]; a seat with node −1 does not exist, and those that do come first.

        Without `counts` every result counts, without `match` the matches are 1…M, without `through` there was an
        event for each. LadderError as for events.
        """
        given = np.asarray(nodes, np.int64)
        rows, width = given.shape
        wide = np.full((MOST, rows), NOBODY)
        ranks = np.zeros((MOST, rows), np.int64)
        marks = np.ones((MOST, rows), np.bool_)
        if width > MOST:
            raise WrongSeats(0, width, np.asarray(places).shape[1], width)
        wide[:width] = given.T
        ranks[:width] = np.asarray(places).T
        if counts is not None:
            marks[:width] = np.asarray(counts).T
        there = wide != NOBODY
        numbers = np.arange(1, rows + 1) if match is None else np.array(match, np.int64)
        seats = there.sum(axis=0)
        gaps = (there[1:] & ~there[:-1]).any(axis=0) | (seats < SEATS.start)
        if gaps.any():
            first = int(gaps.argmax())
            raise WrongSeats(int(numbers[first]), *(3 * [int(seats[first])]))
        columns = cls._sound(numbers, seats, wide, ranks, marks & there, rows if through is None else through)
        if not (np.diff(numbers) > 0).all():
            ordered = np.sort(numbers)
            twice = ordered[1:][np.diff(ordered) == 0]
            if twice.size:
                raise MatchRepeated(int(twice[0]))
        return columns

    def __len__(self) -> int:
        return len(self.match)

    def joined(self, more: Columns) -> Columns:
        """Both together; no match may be in both, which the caller has seen to."""
        return self._joined((self, more))

    def without(self, matches: Iterable[int]) -> Columns:
        """As if these matches had never been; those it does not have do no harm."""
        gone = np.fromiter(matches, np.int64)
        return self._picked(~np.isin(self.match, gone)) if gone.size else self

    def only(self, matches: Iterable[int]) -> Columns:
        """Just these matches."""
        return self._picked(np.isin(self.match, np.fromiter(matches, np.int64)))

    def with_seats(self, seats: int) -> Columns:
        """Just the matches with so many seats."""
        return self._picked(self.seats == seats)

    def blocks(self) -> Iterator[Block]:
        """All matches, in blocks of some tens of thousands with equally many seats."""
        for start in range(0, len(self), CHUNK):
            chunk = slice(start, start + CHUNK)
            for seats in SEATS:
                rows = np.flatnonzero(self.seats[chunk] == seats)
                if rows.size:
                    pick = chunk if rows.size == len(self.seats[chunk]) else start + rows
                    yield Block(self.nodes.T[:seats, pick], self.places.T[:seats, pick], self.counts.T[:seats, pick])

    def _picked(self, rows: Flags) -> Columns:
        return Columns(
            self.match[rows],
            self.seats[rows],
            self.nodes.T[:, rows].T,
            self.places.T[:, rows].T,
            self.counts.T[:, rows].T,
            self.through,
        )

    @classmethod
    def _joined(cls, parts: Sequence[Columns]) -> Columns:
        return cls(
            np.concatenate([part.match for part in parts]),
            np.concatenate([part.seats for part in parts]),
            np.concatenate([part.nodes.T for part in parts], axis=1).T,
            np.concatenate([part.places.T for part in parts], axis=1).T,
            np.concatenate([part.counts.T for part in parts], axis=1).T,
            max(part.through for part in parts),
        )

    @classmethod
    def _sound(cls, match: Ints, seats: Ints, nodes: Ints, places: Ints, counts: Flags, through: int) -> Columns:
        """From arrays of [7, M]: each seat of a match has an existing node and a place of a ranking."""
        there = np.arange(MOST)[:, None] < seats
        strange = (nodes < 0) & there
        if strange.any():
            row = int(strange.any(axis=0).argmax())
            raise UnknownNode(int(match[row]), int(nodes[:, row].min()))
        places = np.where(there, places, MOST + 1)  # beyond every seat, so that nobody is behind it
        ranks = np.zeros_like(places, np.int8)
        for other in places:
            ranks += other < places
        wrong = (places != ranks + 1) & there
        if wrong.any():
            row = int(wrong.any(axis=0).argmax())
            raise NoRanking(int(match[row]), tuple(map(int, places[: seats[row], row])))
        partly = np.flatnonzero((counts != there).any(axis=0) & counts.any(axis=0))
        if partly.size:
            who, does = nodes[:, partly], counts[:, partly]
            counts = counts.copy()
            counts[:, partly] = ((who[:, None] == who) & does).any(axis=1) & there[:, partly]
        return cls(
            match, seats.astype(np.int8), nodes.T, np.where(there, places, 0).astype(np.int8).T, counts.T, through
        )
