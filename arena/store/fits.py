"""Fitting the ladders of a database. It imports numpy, so a server leaves it to a process of its own."""

from __future__ import annotations

from typing import Final

import numpy as np
from sqlalchemy import Connection

from arena.ladder.columns import NOBODY, Columns
from arena.ladder.events import Entrant, Node
from arena.ladder.ladder import Ladder
from arena.ladder.truth import Truth, ladder
from arena.store import events, versions

MANY: Final = 10_000
"""New events that are faster read in one go with all before them than taken one by one."""


class Fits:
    """The ladders of one database as its lists of events grow: what was read once is not read again."""

    def __init__(self) -> None:
        self._truths: dict[str, Truth] = {}

    def ladder(self, connection: Connection, game: str, seats: int = 0) -> Ladder:
        """The ladder of a game after its last event; with `seats` of the results at tables of that size alone.

        LadderError where the list is not sound; then it is read from its beginning the next time.
        """
        truth = self._truths.pop(game, None)
        if truth is None or events.newest(connection, game) - truth.through > MANY:
            truth = Truth(events.read(connection, game))
        else:
            for event in events.read(connection, game, after=truth.through):
                truth.take(event)
        self._truths[game] = truth
        columns = truth.columns()
        if not seats:
            return truth.ladder(_entrants(connection, columns))
        few = columns.with_seats(seats)
        return ladder(_entrants(connection, few), few)


def recomputed(connection: Connection, game: str, through: int) -> Ladder:
    """The ladder of a game after some event, from the list of events alone. LadderError where that is not sound."""
    columns = Columns.of(events.read(connection, game, through=through))
    return ladder(_entrants(connection, columns), columns)


def _entrants(connection: Connection, columns: Columns) -> tuple[Entrant, ...]:
    """Who has a result that stands."""
    latest = np.zeros(columns.nodes.max(initial=0) + 1, np.int64)
    for nodes in columns.nodes.T:
        there = nodes != NOBODY
        np.maximum.at(latest, nodes[there], columns.match[there])
    return versions.entrants(connection, {Node(int(node)): int(latest[node]) for node in np.flatnonzero(latest)})
