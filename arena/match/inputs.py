"""What can happen to a match. The list of these is the match: fed to a fresh `Match` it gives the same game again.

Two come with every decision and have an `__init__` of their own: compiled, a named tuple takes eight times as long.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, NewType, TypeAlias

Instant = NewType("Instant", int)
"""Microseconds since the match began."""


class Begun(NamedTuple):
    """The match begins: the first choices are asked for."""

    at: Instant


@dataclass(init=False, slots=True)
class Sent:
    """A decision was handed to the transport: its clock starts."""

    at: Instant
    seat: int
    decision: int
    lag: int
    """The measured round trip to the bot, in microseconds: the clock starts so much later, within the policy."""

    def __init__(self, at: Instant, seat: int, decision: int, lag: int) -> None:
        self.at = at
        self.seat = seat
        self.decision = decision
        self.lag = lag


@dataclass(init=False, slots=True)
class Acted:
    """An answer arrived."""

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
    """The house bot that plays a seat on chose."""

    at: Instant
    seat: int
    decision: int
    action: int


class TimeUp(NamedTuple):
    """The alarm set for `Match.deadline` rang."""

    at: Instant


class Left(NamedTuple):
    """The bot of a seat is gone."""

    at: Instant
    seat: int


class Returned(NamedTuple):
    """The bot of a seat is back, or says that it is ready again after a suspension."""

    at: Instant
    seat: int


class Restored(NamedTuple):
    """The server was restarted and the match taken up where it stood; everybody has yet to return."""

    at: Instant


class Interrupted(NamedTuple):
    """The match is broken off without a result."""

    at: Instant
    reason: str


Input: TypeAlias = Begun | Sent | Acted | StoodIn | TimeUp | Left | Returned | Restored | Interrupted
