"""Making a published ladder again from the list of events: to compare it, bit for bit, or to publish it anew.

Its luck column is made again, too, from the baselines; those are what the house scored when the deals were replayed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, select

from arena.ladder.events import Node
from arena.ladder.ladder import Ladder
from arena.store import baselines, events, schema
from arena.store.errors import EventsGone
from arena.store.fits import recomputed
from arena.store.publishing import as_published, publish

Value = float | int | str


class Difference(NamedTuple):
    """A figure that is not what the events give."""

    node: Node | None
    """The version that it is of; None where it is the ladder's as a whole."""
    bot: str | None
    """Whose version that is."""
    version: str | None
    figure: str
    """Its name in `Figure` or `Line`, else "through" or "digest"."""
    published: Value | None
    """None where there is nothing, as for the ranks of an older version."""
    recomputed: Value | None


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
    differences: tuple[Difference, ...]
    """By node, last those of the ladder as a whole; none where nothing is published yet."""

    @property
    def identical(self) -> bool:
        """Whether every bit is the same."""
        return self.published == self.recomputed and not self.differences

    @property
    def differing(self) -> tuple[Node, ...]:
        """The versions with other figures, or with figures on one side only."""
        return tuple(dict.fromkeys(each.node for each in self.differences if each.node is not None))


def verify(connection: Connection, game: str) -> Verdict:
    """Compares the published ladder of a game with what its events give. LadderError where their list is not sound."""
    found = as_published(connection, game)
    if found is None:
        return Verdict(game, 0, "", recomputed(connection, game, 0).digest, ())
    made = recomputed(connection, game, found.through, found.replayed)
    return Verdict(game, found.through, found.digest, made.digest, tuple(_differences(connection, found, made)))


def rebuild(connection: Connection, game: str, at: int) -> Verdict:
    """Publishes the ladder of all events of a game; the verdict compares it with what was published before.

    LadderError as above; EventsGone where the published ladder has later events than the list.
    """
    before = verify(connection, game)
    newest = events.newest(connection, game)
    made = recomputed(connection, game, newest, baselines.newest(connection, game))
    if not publish(connection, game, made, at):
        raise EventsGone(game, before.through, newest)
    return before


def _differences(connection: Connection, found: Ladder, made: Ladder) -> Iterator[Difference]:
    published, given = _by_node(found), _by_node(made)
    if published != given:
        bots = schema.versions.join(schema.bots)
        names = select(schema.versions.c.id, schema.bots.c.name, schema.versions.c.version).select_from(bots)
        who = {node: (bot, version) for node, bot, version in connection.execute(names)}
        for node in sorted(published.keys() | given.keys()):
            old, new = published.get(node, {}), given.get(node, {})
            for figure in dict.fromkeys((*old, *new)):
                if old.get(figure) != new.get(figure):
                    yield Difference(node, *who.get(node, (None, None)), figure, old.get(figure), new.get(figure))
    for figure in ("through", "digest"):
        if getattr(found, figure) != getattr(made, figure):
            yield Difference(None, None, None, figure, getattr(found, figure), getattr(made, figure))


def _by_node(ladder: Ladder) -> dict[Node, dict[str, Value]]:
    """All figures of every version by their names, those of its line among them."""
    figures = {figure.node: figure._asdict() for figure in ladder.figures}
    for line in ladder.lines:
        figures[line.node] |= line._asdict()
    for fortune in ladder.fortunes:
        figures.setdefault(fortune.node, {}).update(
            {f"luck's {name}": each for name, each in fortune._asdict().items()}
        )
    return figures
