"""Results in NumPy arrays, so that a million matches can be fitted within seconds.

Annulled results are omitted, and the order of the rows has no meaning. This module does not depend on the entrants and
computes no ratings.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, islice
from typing import Any, Final, NamedTuple, TypeAlias, assert_never

import numpy as np
from numpy.typing import NDArray

from arena.ladder.errors import LadderError, MatchRepeated, UnknownNode, WrongSeats
from arena.ladder.events import Event, MatchResult, Void
from arena.ladder.live import SEATS

Ints: TypeAlias = NDArray[np.int64]
Places: TypeAlias = NDArray[np.int8]
Flags: TypeAlias = NDArray[np.bool_]
Shares: TypeAlias = NDArray[np.int32]

MAX_SEATS: Final = SEATS.stop - 1
SHARE: Final = 1 << 16
"""Integer that represents the full weight of a pair of seats."""
NO_NODE: Final = -1
"""Value of the columns beyond the last seat of a match."""
CHUNK_ROWS: Final = 1 << 16
"""Number of rows processed at once: few enough for the processor's cache."""


def pair_number(one: int, other: int) -> int:
    """Return the number, 0 to 20, of a pair of seats."""
    low, high = min(one, other), max(one, other)
    return low * (2 * MAX_SEATS - low - 1) // 2 + high - low - 1


class EventValidator:
    """Validator of a list of events. It checks their numbers, repeated results, and annulments without a result."""

    def __init__(self) -> None:
        self.through = 0
        """Number of the last event accepted."""
        self._results: set[int] = set()
        self._voided: set[int] = set()

    def accept(self, event: Event) -> None:
        """Check the next event and add it to the list. If the event has an error, leave the list unchanged.

        Raises:
            LadderError: the numbers have a gap or repeat, or there is no result to annul.
            MatchRepeated: the match has a result already.
        """
        expected = self.through + 1
        if event.number > expected:
            raise LadderError(f"event {event.number} follows where event {expected} should: the list is not whole")
        if event.number < expected:
            raise LadderError(
                f"event {event.number} comes where event {expected} should: it is a repetition or out of order"
            )
        match event:
            case MatchResult():
                if event.match_id in self._results:
                    raise MatchRepeated(event.match_id)
                self._results.add(event.match_id)
            case Void():
                if event.match_id not in self._results or event.match_id in self._voided:
                    raise LadderError(f"match {event.match_id} cannot be voided: no result of it stands")
                self._voided.add(event.match_id)
            case _:
                assert_never(event)
        self.through = expected


class Block(NamedTuple):
    """Matches with the same number of seats, as arrays of [seats, matches]."""

    nodes: Ints
    places: Places
    counts: Flags
    spoilt: Flags
    shares: Shares | None = None
    """`Columns.shares`, transposed: [21, matches]."""
    later_shares: Shares | None = None
    """`Columns.later_shares`, transposed: [21, matches]."""

    def share(self, own: int, other: int) -> Ints | int:
        """Return the share [matches] of a pair of seats that counts for the seat `own`, in units of 1/`SHARE`."""
        shares = self.shares if own < other or self.later_shares is None else self.later_shares
        return SHARE if shares is None else shares[pair_number(own, other)].astype(np.int64)

    @property
    def whole(self) -> bool:
        """True if every pair counts equally for both nodes."""
        return bool(self.counts.all()) and not self.spoilt.any() and self.later_shares is None

    def moves(self, own: int, other: int) -> Flags:
        """Return, for each match, True if the pair of seats counts for the node in the seat `own`."""
        moves: Flags = self.counts[own] & ~self.spoilt[other]
        return moves


@dataclass(frozen=True, slots=True, eq=False)
class Columns:
    """Results of M matches, in any order. Create them with `of` or `of_results`, which validate them."""

    match_id: Ints
    """Numbers of the matches [M], all different."""
    seats: Places
    """Numbers of seats [M], 2–7."""
    nodes: Ints
    """Node in each seat [M, 7]. Columns beyond the last seat contain −1."""
    places: Places
    """Place of each seat [M, 7]. 1 is the best, ties share a place, and columns beyond the last seat contain 0."""
    counts: Flags
    """For each seat [M, 7], True if the result counts for its node. A node's seats in a match have the same flag."""
    spoilt: Flags
    """For each seat [M, 7], True if its result changes no opponent's rating. A node's seats have the same flag."""
    through: int
    """Number of the last event included."""
    days: Ints
    """Day of each result [M], as in `MatchResult`."""
    shares: Shares | None = None
    """By `pair_number` [M, 21], the share of a pair of seats that counts for its first seat, in units of 1/`SHARE`;
    None if all pairs have the full weight. Joined results have no shares, because `arena.ladder.pair_quota` computes
    them from all results.
    """
    later_shares: Shares | None = None
    """The share that counts for the second seat of the pair. None if it equals `shares`."""

    @classmethod
    def of(cls, events: Iterable[Event], validator: EventValidator | None = None) -> Columns:
        """Collect the results that are not annulled, from a list of events that begins with event 1.

        If a new `validator` is given, it can check later events afterwards.

        Raises:
            LadderError: the list contradicts itself.
        """
        validator, voided, parts = validator or EventValidator(), [], [cls.of_results(())]
        left = iter(events)
        while batch := list(islice(left, CHUNK_ROWS)):
            for event in batch:
                validator.accept(event)
            voided += [event.match_id for event in batch if isinstance(event, Void)]
            parts.append(cls.of_results([event for event in batch if isinstance(event, MatchResult)]))
        return replace(cls._concatenated(parts).without(voided), through=validator.through)

    @classmethod
    def of_results(cls, results: Sequence[MatchResult]) -> Columns:
        """Collect results whose event numbers need not be consecutive.

        Raises:
            WrongSeats, UnknownNode, LadderError: a result is malformed.
        """
        for _, match, nodes, places, counts, spoilt, _ in results:
            if len(nodes) not in SEATS or not len(nodes) == len(places) == len(counts) == len(spoilt or nodes):
                raise WrongSeats(match, len(nodes), len(places), len(counts))
        matches = len(results)
        seats = np.fromiter((len(result.nodes) for result in results), np.int64, matches)
        total = int(seats.sum())
        seat = np.arange(total) - np.repeat(np.cumsum(seats) - seats, seats)
        cells = seat, np.repeat(np.arange(matches), seats)
        who, ranks = np.full((2, MAX_SEATS, matches), NO_NODE)
        does, bad = np.zeros((2, MAX_SEATS, matches), np.bool_)
        who[cells] = np.fromiter(chain.from_iterable(result.nodes for result in results), np.int64, total)
        ranks[cells] = np.fromiter(chain.from_iterable(result.places for result in results), np.int64, total)
        does[cells] = np.fromiter(chain.from_iterable(result.counts for result in results), np.bool_, total)
        flags = (result.spoilt or (False,) * len(result.nodes) for result in results)
        bad[cells] = np.fromiter(chain.from_iterable(flags), np.bool_, total)
        numbers = np.fromiter((result.match_id for result in results), np.int64, matches)
        through = max((result.number for result in results), default=0)
        days = np.fromiter((result.day for result in results), np.int64, matches)
        return cls.validated(numbers, seats, who, ranks, does, bad, through, days)

    def __len__(self) -> int:
        return len(self.match_id)

    def joined(self, more: Columns) -> Columns:
        """Append other columns. The caller must ensure that no match is in both."""
        return self._concatenated((self, more))

    def without(self, matches: Iterable[int]) -> Columns:
        """Remove the given matches. Unknown numbers are ignored."""
        gone = np.fromiter(matches, np.int64)
        return self._select(~np.isin(self.match_id, gone)) if gone.size else self

    def only(self, matches: Iterable[int]) -> Columns:
        """Select the given matches."""
        return self._select(np.isin(self.match_id, np.fromiter(matches, np.int64)))

    def with_seats(self, seats: int) -> Columns:
        """Select the matches with this number of seats."""
        return self._select(self.seats == seats)

    def blocks(self) -> Iterator[Block]:
        """Iterate over all matches in blocks of at most `CHUNK_ROWS` matches with the same number of seats."""
        for start in range(0, len(self), CHUNK_ROWS):
            chunk = slice(start, start + CHUNK_ROWS)
            for seats in SEATS:
                rows = np.flatnonzero(self.seats[chunk] == seats)
                if rows.size:
                    pick = chunk if rows.size == len(self.seats[chunk]) else start + rows
                    seated: Iterable[Any] = (self.nodes, self.places, self.counts, self.spoilt)
                    shares = (None if each is None else each.T[:, pick] for each in (self.shares, self.later_shares))
                    yield Block(*(each.T[:seats, pick] for each in seated), *shares)

    def _select(self, rows: Flags) -> Columns:
        return Columns(
            self.match_id[rows],
            self.seats[rows],
            self.nodes.T[:, rows].T,
            self.places.T[:, rows].T,
            self.counts.T[:, rows].T,
            self.spoilt.T[:, rows].T,
            self.through,
            self.days[rows],
            None if self.shares is None else self.shares[rows],
            None if self.later_shares is None else self.later_shares[rows],
        )

    @classmethod
    def _concatenated(cls, parts: Sequence[Columns]) -> Columns:
        return cls(
            np.concatenate([part.match_id for part in parts]),
            np.concatenate([part.seats for part in parts]),
            np.concatenate([part.nodes.T for part in parts], axis=1).T,
            np.concatenate([part.places.T for part in parts], axis=1).T,
            np.concatenate([part.counts.T for part in parts], axis=1).T,
            np.concatenate([part.spoilt.T for part in parts], axis=1).T,
            max(part.through for part in parts),
            np.concatenate([part.days for part in parts]),
        )

    @classmethod
    def validated(
        cls,
        match_id: Ints,
        seats: Ints,
        nodes: Ints,
        places: Ints,
        counts: Flags,
        spoilt: Flags,
        through: int,
        days: Ints,
    ) -> Columns:
        """Build columns from arrays of [7, M] after checking that nodes are not negative and places form rankings."""
        there = np.arange(MAX_SEATS)[:, None] < seats
        strange = (nodes < 0) & there
        if strange.any():
            row = int(strange.any(axis=0).argmax())
            raise UnknownNode(int(match_id[row]), int(nodes[:, row].min()))
        places = np.where(there, places, MAX_SEATS + 1)  # worse than every real place, so that no rank changes
        ranks = np.zeros_like(places, np.int8)
        for other in places:
            ranks += other < places
        wrong = (places != ranks + 1) & there
        if wrong.any():
            row = int(wrong.any(axis=0).argmax())
            given = tuple(map(int, places[: seats[row], row]))
            raise LadderError(
                f"the places {given} of match {match_id[row]} are no ranking: a place is 1 + the seats better than it "
                "(1, 1, 3)"
            )
        counts, spoilt = (cls._of_nodes(nodes, there, flags) for flags in (counts, spoilt))
        ranking = np.where(there, places, 0).astype(np.int8)
        return cls(match_id, seats.astype(np.int8), nodes.T, ranking.T, counts.T, spoilt.T, through, days)

    @staticmethod
    def _of_nodes(nodes: Ints, there: Flags, flags: Flags) -> Flags:
        """Extend a flag of one seat to all seats of its node."""
        partly = np.flatnonzero((flags != there).any(axis=0) & flags.any(axis=0))
        if partly.size:
            who, raised = nodes[:, partly], flags[:, partly]
            flags = flags.copy()
            flags[:, partly] = ((who[:, None] == who) & raised).any(axis=1) & there[:, partly]
        return flags
