"""Making a published ladder again from the list of events: to compare it, bit for bit, or to publish it anew.

Its luck column is made again, too, from the baselines; those are what the house scored when the deals were replayed.
"""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from arena.ladder.events import Node
from arena.store import baselines, events
from arena.store.fits import recomputed
from arena.store.publishing import as_published, publish


@dataclass(frozen=True, slots=True)
class Verdict:
    """What came of comparing a published ladder with the events."""

    game: str
    through: int
    """The number of the last event in it."""
    published: str
    """Its digest as published; empty where nothing is published yet."""
    recomputed: str
    """The digest of what its events give."""
    differing: tuple[Node, ...]
    """The versions with other figures, or with figures in one of the two only."""

    @property
    def identical(self) -> bool:
        """Whether every bit is the same."""
        return self.published == self.recomputed and not self.differing


def verify(connection: Connection, game: str) -> Verdict:
    """Compares the published ladder of a game with what its events give. LadderError where their list is not sound."""
    found = as_published(connection, game)
    if found is None:
        return Verdict(game, 0, "", recomputed(connection, game, 0).digest, ())
    made = recomputed(connection, game, found.through, found.replayed)
    nodes = {figure.node for figure in {*found.figures} ^ {*made.figures}}
    nodes |= {line.node for line in {*found.lines} ^ {*made.lines}}
    nodes |= {fortune.node for fortune in {*found.fortunes} ^ {*made.fortunes}}
    return Verdict(game, found.through, found.digest, made.digest, tuple(sorted(nodes)))


def rebuild(connection: Connection, game: str, at: int) -> Verdict:
    """Publishes the ladder of all events of a game; the verdict compares it with what was published before."""
    before = verify(connection, game)
    newest = events.newest(connection, game), baselines.newest(connection, game)
    publish(connection, game, recomputed(connection, game, *newest), at)
    return before
