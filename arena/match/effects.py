"""What a match wants done. The server does it; the record keeps all of it, of the questions a digest.

A question comes with every decision and has an `__init__` of its own: compiled, a named tuple takes eight times that.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from engine.game import RoundReport, SeatView


@dataclass(init=False, slots=True)
class Ask:
    """A choice is due. Put again with the time that is left when a bot returns, and to a house bot that takes over."""

    seat: int
    decision: int
    """Names the decision in the answer; 1, 2, 3 … within the match."""
    legal: Sequence[int]
    view: SeatView
    soft: int
    """Microseconds until the bank is used."""
    bank: int
    """Microseconds left in the bank."""

    def __init__(self, seat: int, decision: int, legal: Sequence[int], view: SeatView, soft: int, bank: int) -> None:
        self.seat = seat
        self.decision = decision
        self.legal = legal
        self.view = view
        self.soft = soft
        self.bank = bank


class Refusal(Enum):
    """Why an answer was not applied."""

    ILLEGAL = "illegal"
    """Not among the legal actions. The decision stays open, unless it was a mistake too many and `Force` follows."""
    STALE = "stale"
    """The decision was already made."""
    SUBSTITUTED = "substituted"
    """A house bot plays the seat until the next round."""
    UNKNOWN = "unknown"
    """No such decision was ever put to this seat."""


class Refuse(NamedTuple):
    """An answer was not applied."""

    seat: int
    decision: int
    action: int
    why: Refusal
    legal: Sequence[int]
    """The legal actions where the decision is still open, else empty."""
    time: int
    """Microseconds left for an open decision, bank included; how late it was for a decision forced by time; else 0."""


class Cause(Enum):
    """Why the server played for a seat."""

    TIME = "time"
    ILLEGALITY = "illegality"
    SUSPENSION = "suspension"
    ABSENCE = "absence"
    """A house bot played for a bot that is gone; no `Force` says so, its choice is an input."""


class Force(NamedTuple):
    """The server played for a seat."""

    seat: int
    decision: int
    action: int
    why: Cause


class Suspend(NamedTuple):
    """A seat was late too often in a row: it is played for at once until it is ready again."""

    seat: int


class Gone(NamedTuple):
    """The bot of a seat is gone. The others are told."""

    seat: int
    time: int
    """Microseconds it has to come back before a house bot plays its seat on; 0 when it was gone too often."""


class Substitute(NamedTuple):
    """From here a house bot plays the seat on; its own bot may have it back from the next round."""

    seat: int


class Back(NamedTuple):
    """The bot of a seat has its seat back."""

    seat: int


class Hold(NamedTuple):
    """The server was restarted: no clock runs until every bot is back or this time has passed."""

    time: int
    """Microseconds."""


class Release(NamedTuple):
    """The clocks run again."""


class Show(NamedTuple):
    """A round is over: all seats may see it."""

    report: RoundReport


class Over(NamedTuple):
    """The match is over. Without a result all but `forced` and `troubled` is empty and `interrupted` says why."""

    scores: tuple[int, ...]
    places: tuple[int, ...]
    """Seats whose bots vanished share the last place."""
    forced: tuple[int, ...]
    """Decisions the server made, by seat."""
    troubled: tuple[bool, ...]
    """By seat, whether it was ever suspended or played on by a house bot."""
    counts: tuple[bool, ...]
    """By seat, whether the result counts for its bot."""
    interrupted: str


Effect: TypeAlias = Ask | Refuse | Force | Suspend | Gone | Substitute | Back | Hold | Release | Show | Over
