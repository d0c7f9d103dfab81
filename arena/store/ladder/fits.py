"""Computation of the ladders of a database. It imports numpy, so a server runs it in a separate process."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from sqlalchemy import Connection

from arena.ladder.columns import NO_NODE, Columns
from arena.ladder.events import Entrant, Node
from arena.ladder.fitted import FittedLadder, ladder
from arena.ladder.flags import flags
from arena.ladder.ladder import NO_QUOTA, Ladder, Quota
from arena.ladder.luck_columns import LuckColumns
from arena.ladder.pair_quota import PairQuota, under_quota
from arena.store.ladder import baselines, events, versions

MANY: Final = 10_000
"""Number of new events above which the whole list is read again. Adding so many one by one would be slower."""


class Fits:
    """Fitted ladders and luck columns of one database, cached between fits so that only new events are read."""

    def __init__(self, rule: Quota = NO_QUOTA) -> None:
        self._rule = rule
        self._fitted: dict[str, FittedLadder] = {}
        self._luck: dict[str, tuple[int, frozenset[int], LuckColumns]] = {}
        """By ladder id: the last event read, the matches annulled by then, and the luck columns without them."""

    def read(self, connection: Connection) -> None:
        """Read the events of all ladders, so that the next call of `ladder` is fast. Raises: LadderError."""
        for ladder_id in events.ladders(connection):
            fitted = self._read(connection, ladder_id)
            self._replayed(connection, ladder_id, fitted.through)

    def ladder(self, connection: Connection, ladder_id: str, seats: int = 0) -> Ladder:
        """Return the ladder computed from all events. With `seats`, use only results at tables of that size.

        Without `seats`, the ladder also has flags, and luck figures from all baselines.

        Raises:
            LadderError: The list of events is invalid. The next call then reads the whole list again.
        """
        fitted = self._read(connection, ladder_id)
        columns = fitted.columns()
        if not seats:
            quota = _quota(connection, self._rule)
            made = fitted.ladder(_entrants(connection, columns), quota)
            luck = self._replayed(connection, ladder_id, made.through)
            standing_out = flags(under_quota(columns, quota), made, versions.guests(connection))
            return replace(made, luck=luck.figures(), replayed=luck.through, flags=standing_out)
        few = columns.with_seats(seats)
        return ladder(_entrants(connection, few), few, _quota(connection, self._rule))

    def _read(self, connection: Connection, ladder_id: str) -> FittedLadder:
        """Return the fitted ladder with all its events added."""
        fitted = self._fitted.pop(ladder_id, None)
        if fitted is None or events.newest(connection, ladder_id) - fitted.through > MANY:
            fitted = FittedLadder(events.read(connection, ladder_id))
        else:
            for event in events.read(connection, ladder_id, after=fitted.through):
                fitted.take(event)
        self._fitted[ladder_id] = fitted
        return fitted

    def _replayed(self, connection: Connection, ladder_id: str, through: int) -> LuckColumns:
        """Return a ladder's luck columns up to its last baseline, without matches annulled up to event `through`."""
        seen, voids, luck = self._luck.pop(ladder_id, (0, frozenset[int](), LuckColumns()))
        if more := events.voided(connection, ladder_id, seen, through):
            # Start again, because a match cannot be subtracted from the sums.
            voids, luck = voids | more, LuckColumns()
        for match in baselines.read(connection, ladder_id, after=luck.through):
            luck.take(match, void=match.match_id in voids)
        self._luck[ladder_id] = through, voids, luck
        return luck


def recomputed(
    connection: Connection, ladder_id: str, through: int, replayed: int = 0, rule: Quota = NO_QUOTA
) -> Ladder:
    """Compute the ladder from its events up to a given event, with luck figures up to a given baseline.

    `through` and `replayed`: the numbers of that event and that baseline. `rule`: the ladder's quota.

    Raises:
        LadderError: The list is invalid.
    """
    columns = Columns.of(events.read(connection, ladder_id, through=through))
    voids, luck = events.voided(connection, ladder_id, 0, through), LuckColumns()
    for match in baselines.read(connection, ladder_id, through=replayed):
        luck.take(match, void=match.match_id in voids)
    quota = _quota(connection, rule)
    made = ladder(_entrants(connection, columns), columns, quota)
    standing_out = flags(under_quota(columns, quota), made, versions.guests(connection))
    return replace(made, luck=luck.figures(), replayed=luck.through, flags=standing_out)


def _quota(connection: Connection, rule: Quota) -> PairQuota | None:
    return PairQuota(rule, versions.guests(connection)) if rule.bounds else None


def _entrants(connection: Connection, columns: Columns) -> tuple[Entrant, ...]:
    """Return the versions with a result that counts."""
    latest = np.zeros(columns.nodes.max(initial=0) + 1, np.int64)
    for nodes in columns.nodes.T:
        there = nodes != NO_NODE
        np.maximum.at(latest, nodes[there], columns.match_id[there])
    return versions.entrants(connection, {Node(int(node)): int(latest[node]) for node in np.flatnonzero(latest)})
