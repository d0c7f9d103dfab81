"""Inputs of a match, each with its time. A new `Match` with the same inputs takes the same course.

`Sent` and `Acted` come with every decision, so they have their own `__init__`: compiled code takes eight times as long
to create a named tuple.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, NewType, TypeAlias

Instant = NewType("Instant", int)
"""Microseconds since the match began."""


class Begun(NamedTuple):
    """The match begins: ask for the first decisions."""

    at: Instant


@dataclass(init=False, slots=True)
class Sent:
    """A question was handed to the transport, which starts the seat's clock."""

    at: Instant
    seat: int
    decision: int
    lag: int
    """Measured round trip to the bot, in microseconds. It delays the start of the clock, up to the lag allowance."""

    def __init__(self, at: Instant, seat: int, decision: int, lag: int) -> None:
        self.at = at
        self.seat = seat
        self.decision = decision
        self.lag = lag


@dataclass(init=False, slots=True)
class Acted:
    """A bot's answer arrived."""

    at: Instant
    seat: int
    decision: int
    action: int

    def __init__(self, at: Instant, seat: int, decision: int, action: int) -> None:
        self.at = at
        self.seat = seat
        self.decision = decision
        self.action = action


class StoodIn(NamedTuple):
    """A house bot made a decision for a bot that is gone."""

    at: Instant
    seat: int
    decision: int
    action: int


class TimeUp(NamedTuple):
    """The timer set for `Match.deadline` expired."""

    at: Instant


class Left(NamedTuple):
    """The bot of a seat has left."""

    at: Instant
    seat: int
    in_order: bool = False
    """True if the bot signed off. A house bot takes over its seat at once, which does not count as trouble."""


class Returned(NamedTuple):
    """The bot of a seat has returned, or is ready again after a suspension."""

    at: Instant
    seat: int


class Restored(NamedTuple):
    """The server was restarted, and the match continues at the same point. All bots have yet to return."""

    at: Instant
    stand_in: str = ""
    """The house bot, with its version, that plays for absent bots from now on. Empty for no change."""
    removed: tuple[int, ...] = ()
    """Seats of house bots that this server does not have, in ascending order. The stand-in plays these seats from here
    on, under the names of those bots.
    """


class Interrupted(NamedTuple):
    """The match ends without a result."""

    at: Instant
    reason: str


Input: TypeAlias = Begun | Sent | Acted | StoodIn | TimeUp | Left | Returned | Restored | Interrupted
