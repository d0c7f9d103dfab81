"""Events, the only input of a ladder: an append-only list of results and of annulments of earlier results.

Events are never changed or removed. A ladder is a pure function of a prefix of this list and of the entrants.
"""

from __future__ import annotations

from typing import Final, NamedTuple, NewType, TypeAlias

DAY: Final = 86_400_000_000
"""Length of a day in microseconds."""
WEEK_DAYS: Final = 7
FIRST_MONDAY: Final = 4
"""The first Monday of 1970, in days since 1 January."""

Node = NewType("Node", int)
"""Number of a rated unit: one frozen version of one bot."""


OFF_SCALE: Final = frozenset({"house-random", "house-search"})
"""Names of the house bots that are not anchors, because they play too badly or too seldom to fix the ladder's scale.

This module repeats the names, because reading a ladder must not import the house bots, which import every game.
"""


class Entrant(NamedTuple):
    """A node of the ladder."""

    node: Node
    parent: Node | None = None
    """The bot's previous version. The new version starts with its rating."""
    anchor: bool = False
    """True if the entrant's rating is part of the mean that fixes the scale: most house bots are such anchors."""
    newest: bool = True
    """True if the entrant is its bot's newest version. Only newest versions are ranked."""


class Guest(NamedTuple):
    """The bot and owner of a version that does not belong to a house bot."""

    bot: int
    owner: str
    """The bot's owner: the same text for all bots of one owner."""


class MatchResult(NamedTuple):
    """Result of a rated match."""

    number: int
    """Number of the event: 1, 2, … without a gap."""
    match_id: int
    nodes: tuple[Node, ...]
    """Nodes by seat. One node may have several seats."""
    places: tuple[int, ...]
    """Places by seat: 1 is the best, and ties share a place."""
    counts: tuple[bool, ...]
    """By seat, True if the result counts for its node."""
    spoilt: tuple[bool, ...] = ()
    """By seat, True if house bots made too many of its decisions. Its result then changes no opponent's rating. A pair
    of seats counts for a node if the result counts for the node and the other seat is not spoilt. Empty if no seat is
    spoilt.
    """
    day: int = 0
    """The UTC day on which the result was stored, in days since 1970; used only for quotas of pairs."""


class Void(NamedTuple):
    """Annulment of the result of a match."""

    number: int
    """Number of the event. Results and annulments share one sequence of numbers."""
    match_id: int
    reason: str


Event: TypeAlias = MatchResult | Void


def day_of(at: int) -> int:
    """Return the UTC day of a time `at`, in days since 1970. `at` is in microseconds since 1970."""
    return at // DAY


def week_of(day: int) -> range:
    """Return the seven days, beginning with Monday, of the week that contains a day."""
    monday = day - (day - FIRST_MONDAY) % WEEK_DAYS
    return range(monday, monday + WEEK_DAYS)
