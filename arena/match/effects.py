"""What a match wants done. The server does it; the record keeps all but the questions."""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from typing import NamedTuple, TypeAlias

from engine.game import RoundReport, SeatView


class Ask(NamedTuple):
    """A choice is due. Sent again with the time that is left when a bot returns."""

    seat: int
    decision: int
    """Names the decision in the answer; 1, 2, 3 … within the match."""
    legal: Sequence[int]
    view: SeatView
    soft: int
    """Microseconds until the bank is used."""
    bank: int
    """Microseconds left in the bank."""


class Refusal(Enum):
    """Why an answer was not applied."""

    ILLEGAL = "illegal"
    """Not among the legal actions. The decision stays open, unless it was a mistake too many and `Force` follows."""
    STALE = "stale"
    """The decision was already made."""
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


class Force(NamedTuple):
    """The server played for a seat."""

    seat: int
    decision: int
    action: int
    why: Cause


class Suspend(NamedTuple):
    """A seat was late too often in a row: it is played for at once until it is ready again."""

    seat: int


class Show(NamedTuple):
    """A round is over: all seats may see it."""

    report: RoundReport


class Over(NamedTuple):
    """The match is over. Without a result scores and places are empty and `interrupted` says why."""

    scores: tuple[int, ...]
    places: tuple[int, ...]
    forced: tuple[int, ...]
    """Decisions the server made, by seat."""
    interrupted: str


Effect: TypeAlias = Ask | Refuse | Force | Suspend | Show | Over
