"""Finished matches, read from the tables many at a time, for the log and its audit."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, bindparam, select

from arena.store import schema
from arena.store.base.statements import Statement

_NUMBER: Final = schema.matches.c.id
_SEAT: Final = schema.match_seats.c
_EVENT: Final = schema.rated_results.c
_MATCHES: Final = Statement(
    select(_NUMBER, *(schema.matches.c[name] for name in ("game", "state", "ended", "reason", "ladder")))
    .where(bindparam("first") <= _NUMBER, bindparam("last") >= _NUMBER)
)  # fmt: skip
_SEATS: Final = Statement(
    select(_SEAT.match_id, _SEAT.bot_id, _SEAT.node, _SEAT.score, _SEAT.place)
    .where(_SEAT.match_id >= bindparam("first"), _SEAT.match_id <= bindparam("last"))
    .order_by(_SEAT.match_id, _SEAT.seat)
)
_EVENTS: Final = Statement(
    select(_EVENT.match_id, _EVENT.kind, _EVENT.at, _EVENT.reason, _EVENT.counts)
    .where(_EVENT.match_id >= bindparam("first"), _EVENT.match_id <= bindparam("last"))
)  # fmt: skip
_GAP: Final = 100
"""Maximum number of unneeded matches between two needed matches that are read along with them, to save a query."""


class VoidEvent(NamedTuple):
    """An event that annuls a result."""

    at: int
    reason: str


class EndedMatches:
    """Rows of some matches, as plain tuples, because creating objects would cost more than reading."""

    def __init__(self, connection: Connection) -> None:
        self._connection: Final = connection
        self.matches: dict[int, tuple[int, str, str, int, str, str]] = {}
        """By match number: number, game, state, end (in microseconds since 1970), reason and ladder."""
        self.seats: defaultdict[int, list[tuple[int, int, int, int, int]]] = defaultdict(list)
        """By match number, for each seat: match number, bot, version, points and place."""
        self.counts: dict[int, str] = {}
        """By match number, the column `counts` of a result that moved ratings."""
        self.voids: dict[int, VoidEvent] = {}

    def load(self, numbers: Sequence[int]) -> None:
        """Replace the rows with those of the given matches, and perhaps of other matches with numbers in between."""
        self.matches, self.seats, self.counts, self.voids = {}, defaultdict(list), {}, {}
        for first, last in _runs(numbers):
            self._read(first, last)

    def more(self, number: int) -> None:
        """Read one more match, unless its rows have been read."""
        if number not in self.matches:
            self._read(number, number)

    def _read(self, first: int, last: int) -> None:
        between = {"first": first, "last": last}
        row: Any
        for row in _MATCHES.run(self._connection, between).fetchall():
            self.matches[row[0]] = row
        seats = self.seats
        for row in _SEATS.run(self._connection, between).fetchall():
            seats[row[0]].append(row)
        for number, kind, at, reason, counts in _EVENTS.run(self._connection, between).fetchall():
            if kind == "void":
                self.voids[number] = VoidEvent(at, reason)
            else:
                self.counts[number] = counts


def _runs(numbers: Sequence[int]) -> list[tuple[int, int]]:
    """Divide numbers into groups without wide gaps; return the first and last number of each group."""
    runs: list[tuple[int, int]] = []
    for number in sorted(numbers):
        if runs and number <= runs[-1][1] + _GAP:
            runs[-1] = runs[-1][0], number
        else:
            runs.append((number, number))
    return runs
