"""Recomputation of a published ladder from its events, to compare the two bit for bit or to publish it again.

Luck figures are recomputed from the stored baselines; no deal is replayed.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

from sqlalchemy import Connection, select

from arena.ladder.events import Node
from arena.ladder.ladder import Ladder
from arena.store import schema
from arena.store.base.errors import StoreError
from arena.store.ladder import baselines, events
from arena.store.ladder.fits import recomputed
from arena.store.ladder.publishing import as_published, publish, quota

Value = float | int | str


class LadderDifference(NamedTuple):
    """A published figure that differs from the one recomputed from the events."""

    node: Node | None
    """The version to which the figure belongs; None for a figure of the whole ladder."""
    bot: str | None
    """The bot to which the version belongs."""
    version: str | None
    figure: str
    """The figure's name: a field of `Figure`, `LadderLine`, `LuckFigures` or `FieldFigures`, or
    "through" or "digest".
    """
    published: Value | None
    """The published value; None if only the recomputed ladder has the figure, as with ranks of older versions."""
    recomputed: Value | None


@dataclass(frozen=True, slots=True)
class LadderVerdict:
    """The result of comparing a published ladder with the events."""

    ladder_id: str
    through: int
    """The number of the last event in the published ladder."""
    published: str
    """The digest of the published ladder; empty if no ladder is published yet."""
    recomputed: str
    """The digest of the recomputed ladder."""
    differences: tuple[LadderDifference, ...]
    """The differences by node, those of the whole ladder last; empty if no ladder is published yet."""

    @property
    def identical(self) -> bool:
        """True if both ladders are equal, bit for bit."""
        return self.published == self.recomputed and not self.differences

    @property
    def differing(self) -> tuple[Node, ...]:
        """The versions for which a figure differs or exists in only one of the two ladders."""
        return tuple(dict.fromkeys(each.node for each in self.differences if each.node is not None))


def verify(connection: Connection, ladder_id: str) -> LadderVerdict:
    """Compare the published ladder with its events. Raises: LadderError: The list of events is invalid."""
    found = as_published(connection, ladder_id)
    if found is None:
        return LadderVerdict(ladder_id, 0, "", recomputed(connection, ladder_id, 0).digest, ())
    made = recomputed(connection, ladder_id, found.through, found.replayed, found.quota)
    return LadderVerdict(
        ladder_id, found.through, found.digest, made.digest, tuple(_differences(connection, found, made))
    )


def rebuild(connection: Connection, ladder_id: str, at: int) -> LadderVerdict:
    """Recompute and publish the ladder. Return how the previously published ladder differs from its events.

    The quota is that of the published ladder, because only the server's settings can change it.

    Raises:
        LadderError: The list of events is invalid.
        StoreError: The published ladder has later events than the list.
    """
    before = verify(connection, ladder_id)
    newest = events.newest(connection, ladder_id)
    made = recomputed(
        connection, ladder_id, newest, baselines.newest(connection, ladder_id), quota(connection, ladder_id)
    )
    if not publish(connection, ladder_id, made, at):
        raise StoreError(
            f"the published ladder of {ladder_id} goes up to event {before.through}, but the list ends with event "
            f"{newest}: events are missing; restore the database from a copy"
        )
    return before


def _differences(connection: Connection, found: Ladder, made: Ladder) -> Iterator[LadderDifference]:
    published, given = _by_node(found), _by_node(made)
    if published != given:
        bots = schema.versions.join(schema.bots)
        names = select(schema.versions.c.id, schema.bots.c.name, schema.versions.c.version).select_from(bots)
        who = {node: (bot, version) for node, bot, version in connection.execute(names)}
        for node in sorted(published.keys() | given.keys()):
            old, new = published.get(node, {}), given.get(node, {})
            for figure in dict.fromkeys((*old, *new)):
                if old.get(figure) != new.get(figure):
                    yield LadderDifference(node, *who.get(node, (None, None)), figure, old.get(figure), new.get(figure))
    whole = _whole(made)
    for figure, before in _whole(found).items():
        if before != whole[figure]:
            yield LadderDifference(None, None, None, figure, before, whole[figure])


def _whole(ladder: Ladder) -> dict[str, Value]:
    """Return the figures of the whole ladder by name."""
    whole = {"through": ladder.through, "digest": ladder.digest}
    return {
        **ladder.field._asdict(),
        **whole,
        **{f"quota's {name}": each for name, each in ladder.quota._asdict().items()},
    }


def _by_node(ladder: Ladder) -> dict[Node, dict[str, Value]]:
    """Return all figures of every version by name: those of `Figure`, `LadderLine` and `LuckFigures`."""
    figures = {figure.node: figure._asdict() for figure in ladder.figures}
    for line in ladder.lines:
        figures[line.node] |= line._asdict()
    for luck in ladder.luck:
        figures.setdefault(luck.node, {}).update({f"luck's {name}": each for name, each in luck._asdict().items()})
    return figures
