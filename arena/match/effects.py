"""Effects: requests of a match to the server. The replay records all of them, questions as a digest.

`Ask` is created for every decision, so it has its own `__init__`: compiled code takes eight times as long to create a
named tuple.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, TypeAlias

from engine.game import RoundReport, SeatView


@dataclass(init=False, slots=True)
class Ask:
    """Ask a seat for a decision.

    The question is repeated with the remaining time when the seat's bot returns, and when a house bot takes over the
    seat.
    """

    seat: int
    decision: int
    """Number of the decision: 1, 2, 3 … within the match. The answer must repeat it."""
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
    """The reason why an answer was not applied."""

    ILLEGAL = "illegal"
    """The action is not legal. The decision stays open, unless this rejection reaches a limit and `Force` follows."""
    STALE = "stale"
    """The decision was already made."""
    SUBSTITUTED = "substituted"
    """A house bot is playing the seat until the next round."""
    UNKNOWN = "unknown"
    """The seat never had such a decision."""


class Refuse(NamedTuple):
    """Report to a bot that its answer was not applied."""

    seat: int
    decision: int
    action: int
    why: Refusal
    legal: Sequence[int]
    """Legal actions if the decision is still open, otherwise empty."""
    time: int
    """If the decision is still open, the microseconds left, including the bank. If it was forced because time ran out,
    the microseconds by which the answer is late. Otherwise 0.
    """


class Cause(Enum):
    """The reason why the server made a decision for a seat."""

    TIME = "time"
    """Time ran out."""
    ILLEGALITY = "illegality"
    """Too many of the bot's answers were illegal."""
    SUSPENSION = "suspension"
    """The seat was suspended."""
    ABSENCE = "absence"
    """The bot was absent, and a house bot chose. There is no `Force`, because the choice is an input."""


class Force(NamedTuple):
    """Report that the server made a decision for a seat."""

    seat: int
    decision: int
    action: int
    why: Cause


class Suspend(NamedTuple):
    """Suspend a seat that was late too often in a row: the server plays for it at once until its bot is ready again."""

    seat: int


class Gone(NamedTuple):
    """Report to the other bots that the bot of a seat is gone."""

    seat: int
    time: int
    """Microseconds within which the bot must return before a house bot plays its seat. 0 if it signed off or was gone
    too often.
    """


class Substitute(NamedTuple):
    """Let a house bot play the seat. Its own bot may get the seat back in the next round."""

    seat: int


class Back(NamedTuple):
    """Report to the bots that a seat's own bot is playing it again."""

    seat: int


class Hold(NamedTuple):
    """Stop all clocks after a restart of the server, until every bot has returned or this time has passed."""

    time: int
    """The maximum length of the hold in microseconds."""


class Release(NamedTuple):
    """Let the clocks run again after a `Hold`."""


class Show(NamedTuple):
    """Show the report of a finished round to all seats."""

    report: RoundReport


class Over(NamedTuple):
    """End the match. Without a result, all fields except `forced` and `troubled` are empty, and `interrupted` states
    the reason.
    """

    scores: tuple[int, ...]
    places: tuple[int, ...]
    """Seats whose bots vanished share the last place."""
    forced: tuple[int, ...]
    """By seat, the number of decisions that the server made."""
    troubled: tuple[bool, ...]
    """By seat, True if it was ever suspended or played by a house bot."""
    counts: tuple[bool, ...]
    """By seat, True if the result counts for its bot."""
    interrupted: str
    """The reason for the interruption. Empty if the match has a result."""
    spoilt: tuple[bool, ...] = ()
    """By seat, True if house bots played it in too many rounds. It then does not change its opponents' ratings. Empty
    under rating rule 1.
    """


Effect: TypeAlias = Ask | Refuse | Force | Suspend | Gone | Substitute | Back | Hold | Release | Show | Over
