"""Fitting the ladders of a database. It imports numpy, so a server leaves it to a process of its own."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

import numpy as np
from sqlalchemy import Connection

from arena.ladder.columns import NOBODY, Columns
from arena.ladder.events import Entrant, Node
from arena.ladder.fortune import Fortunes
from arena.ladder.ladder import Ladder
from arena.ladder.truth import Truth, ladder
from arena.store import baselines, events, versions

MANY: Final = 10_000
"""New events that are faster read in one go with all before them than taken one by one."""


class Fits:
    """The ladders of one database as its lists of events grow: what was read once is not read again."""

    def __init__(self) -> None:
        self._truths: dict[str, Truth] = {}
        self._fortunes: dict[str, tuple[int, frozenset[int], Fortunes]] = {}  # with the voids up to an event

    def ladder(self, connection: Connection, game: str, seats: int = 0) -> Ladder:
        """The ladder of a game after its last event; with `seats` of the results at tables of that size alone.

        That of all tables has its luck column, after the last baseline.

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
            made = truth.ladder(_entrants(connection, columns))
            fortunes = self._replayed(connection, game, made.through)
            return replace(made, fortunes=fortunes.figures(), replayed=fortunes.through)
        few = columns.with_seats(seats)
        return ladder(_entrants(connection, few), few)

    def _replayed(self, connection: Connection, game: str, through: int) -> Fortunes:
        """The luck column's sums after the last baseline, with the voids up to an event."""
        seen, voids, fortunes = self._fortunes.pop(game, (0, frozenset[int](), Fortunes()))
        if more := events.voided(connection, game, seen, through):
            voids, fortunes = voids | more, Fortunes()  # a mean without a match is made without it
        for match in baselines.read(connection, game, after=fortunes.through):
            fortunes.take(match, void=match.match in voids)
        self._fortunes[game] = through, voids, fortunes
        return fortunes


def recomputed(connection: Connection, game: str, through: int, replayed: int = 0) -> Ladder:
    """The ladder of a game after some event, from the list of events alone, with the luck column after some baseline.

    LadderError where the list is not sound.
    """
    columns = Columns.of(events.read(connection, game, through=through))
    voids, fortunes = events.voided(connection, game, 0, through), Fortunes()
    for match in baselines.read(connection, game, through=replayed):
        fortunes.take(match, void=match.match in voids)
    made = ladder(_entrants(connection, columns), columns)
    return replace(made, fortunes=fortunes.figures(), replayed=fortunes.through)


def _entrants(connection: Connection, columns: Columns) -> tuple[Entrant, ...]:
    """Who has a result that stands."""
    latest = np.zeros(columns.nodes.max(initial=0) + 1, np.int64)
    for nodes in columns.nodes.T:
        there = nodes != NOBODY
        np.maximum.at(latest, nodes[there], columns.match[there])
    return versions.entrants(connection, {Node(int(node)): int(latest[node]) for node in np.flatnonzero(latest)})
