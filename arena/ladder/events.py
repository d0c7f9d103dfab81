"""The ladder's only source: an append-only list of results, and of corrections that take a result back.

Nothing is ever changed or removed in it. Every ladder is a function of a beginning of this list and of who took part.
"""

from __future__ import annotations

from typing import NamedTuple, NewType, TypeAlias

Node = NewType("Node", int)
"""What is rated: one version of one bot, frozen."""


class Entrant(NamedTuple):
    """A node of the ladder."""

    node: Node
    parent: Node | None = None
    """The bot's version before it, whose rating it starts from."""
    anchor: bool = False
    """Whether it is one of those whose mean holds the scale in place: the house's bots."""
    newest: bool = True
    """Whether it is its bot's newest version; only these stand on the ladder."""


class Result(NamedTuple):
    """A rated match has ended."""

    number: int
    """Of the event: 1, 2, … without a gap."""
    match: int
    nodes: tuple[Node, ...]
    """By seat; one node may have several seats."""
    places: tuple[int, ...]
    """By seat, 1 the best, ties sharing a place."""
    counts: tuple[bool, ...]
    """By seat, whether the result counts for its node."""


class Void(NamedTuple):
    """The result of a match counts no more."""

    number: int
    """Of the event."""
    match: int
    reason: str


Event: TypeAlias = Result | Void
