"""Events, the only input of a ladder: an append-only list of results and of voids, which annul earlier results.

Events are never changed or removed. A ladder is a pure function of a prefix of this list and of the entrants.
"""

from __future__ import annotations

from typing import Final, NamedTuple, NewType, TypeAlias

DAY: Final = 86_400_000_000
"""Microseconds of a day."""
WEEK_DAYS: Final = 7
FIRST_MONDAY: Final = 4
"""The first Monday of 1970, in days since the year began."""

Node = NewType("Node", int)
"""Number of a rated unit: one frozen version of one bot."""


OFF_SCALE: Final = frozenset({"house-random", "house-search"})
"""Names of the house bots that are no anchors: they play too badly, or too seldom, to fix the ladder's scale.

They are written out here because reading a ladder must not import the house bots, which import every game.
"""


class Entrant(NamedTuple):
    """A node of the ladder."""

    node: Node
    parent: Node | None = None
    """The bot's previous version, whose rating it starts from."""
    anchor: bool = False
    """True if its rating is part of the mean that fixes the scale, as it is for house bots."""
    newest: bool = True
    """True if it is its bot's newest version; only newest versions are ranked."""


class Guest(NamedTuple):
    """The bot and owner of a version that does not belong to a house bot."""

    bot: int
    owner: str
    """Equal for all bots of one owner."""


class MatchResult(NamedTuple):
    """Result of a rated match."""

    number: int
    """Number of the event: 1, 2, … without a gap."""
    match_id: int
    nodes: tuple[Node, ...]
    """By seat; one node may have several seats."""
    places: tuple[int, ...]
    """By seat, 1 the best, ties sharing a place."""
    counts: tuple[bool, ...]
    """By seat, whether the result counts for its node."""
    spoilt: tuple[bool, ...] = ()
    """By seat: true if house bots played so much of it that it does not move its opponents.
    A pair of seats counts for one node if the result does and the other node's seat is not spoilt. Empty if no seat
    is."""
    day: int = 0
    """The UTC day on which the result was stored, in days since 1970; used only for quotas of pairs."""


class Void(NamedTuple):
    """Annulment of the result of a match."""

    number: int
    """Number of the event, in the same sequence as those of results."""
    match_id: int
    reason: str


Event: TypeAlias = MatchResult | Void


def day_of(at: int) -> int:
    """Return the UTC day, in days since 1970, of an instant in microseconds since 1970."""
    return at // DAY


def week_of(day: int) -> range:
    """Return the seven days, Monday first, of the week that contains a day."""
    monday = day - (day - FIRST_MONDAY) % WEEK_DAYS
    return range(monday, monday + WEEK_DAYS)
