"""The timeline of each seat of a match: when every decision was due, sent and made, and every problem with its cause.

This module only defines types. `arena.analysis.timeline_builder` computes the values, and `arena.analysis.blame`
attributes blame. Instants are microseconds since the match began.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum
from math import ceil
from typing import NamedTuple

from arena.match.effects import Cause, Refusal
from arena.match.inputs import Instant
from arena.replay.header import SeatedBot


class Blame(Enum):
    """The party responsible for a problem, by the rules of `arena.analysis.blame`."""

    BOT = "bot"
    NETWORK = "network"
    EITHER = "bot or network"
    SERVER = "server"


class Sending(NamedTuple):
    """A question that was passed to the transport."""

    at: Instant
    lag: int
    """Measured round trip in microseconds."""


class AnswerReceived(NamedTuple):
    """An answer from the seat's bot."""

    at: Instant
    action: int
    refused: Refusal | None
    """The reason for a refusal. None if the answer was applied."""
    late_by: int
    """Microseconds from the loss of the decision to the arrival of the answer. 0 if the decision was not lost."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision of one seat."""

    number: int
    round: int
    """Number of the round, from 0."""
    due: Instant
    """Time of the first question to the seat."""
    soft: int
    """The soft limit at the first question, in microseconds."""
    bank: int
    """Time in the bank at the first question, in microseconds."""
    sendings: tuple[Sending, ...] = ()
    """Times at which the question was sent to the bot: once, and again after each absence. Empty if the decision was
    forced before the question was sent.
    """
    answers: tuple[AnswerReceived, ...] = ()
    made: Instant | None = None
    """Time at which the decision was made. None if it was open when the match was interrupted."""
    action: int | None = None
    forced: Cause | None = None
    """The reason why the decision was made for the bot. None if the bot made it."""
    spent: int = 0
    """Time on the bot's clock in microseconds: from sending to answer, minus the round trip up to the allowance."""
    bank_after: int = 0
    """Time left in the bank after the decision, in microseconds."""
    blame: Blame | None = None
    """The party responsible for a forced decision. None if the bot made it."""

    @property
    def own(self) -> bool:
        """True if the bot made the decision itself."""
        return self.made is not None and self.forced is None

    @property
    def waited(self) -> int:
        """Time between the due time and the first sending of the question, in microseconds. 0 if it was never sent."""
        return self.sendings[0].at - self.due if self.sendings else 0

    @property
    def took(self) -> int | None:
        """Time in microseconds from the latest sending of the question to the decision, including the round trip. None
        without a sending or a decision.
        """
        return self.made - self.sendings[-1].at if self.made is not None and self.sendings else None

    @property
    def late_by(self) -> int | None:
        """Lateness of the answer to a decision lost to time, in microseconds. None if no answer came late."""
        return next((answer.late_by for answer in self.answers if answer.late_by), None)


class EventKind(Enum):
    """The kind of an event in a seat's timeline."""

    REFUSED = "refused"
    """An answer was not applied."""
    WAITED = "waited"
    """A question waited longer than a soft limit before it was sent."""
    SUSPENDED = "suspended"
    """The bot was late too often in a row, and the server plays for it."""
    READY = "ready"
    """The bot reported that it is ready again after a suspension."""
    LEFT = "left"
    """The bot left at no cost: before the beginning, while clocks were stopped, or while a house bot played."""
    GONE = "gone"
    """The bot left, and its absence counts."""
    RETURNED = "returned"
    """The bot connected again without having been counted as absent, or while a house bot plays its seat."""
    BACK = "back"
    """The bot has its seat again."""
    SUBSTITUTED = "substituted"
    """A house bot took over."""
    REPLACED = "replaced"
    """Another house bot has played the seat since a restart of the server."""
    HELD = "held"
    """The server was restarted and all clocks are stopped."""
    RELEASED = "released"
    """The clocks run again after a restart."""
    INTERRUPTED = "interrupted"
    """The match was interrupted."""


class Event(NamedTuple):
    """An event in a seat's timeline other than a decision."""

    at: Instant
    kind: EventKind
    decision: int | None = None
    action: int | None = None
    """The refused answer's action."""
    refused: Refusal | None = None
    """The reason why the answer was refused."""
    time: int = 0
    """Time in microseconds: wait (WAITED), lateness (REFUSED), time left to return (GONE), or
    length of a hold (HELD).
    """
    blame: Blame | None = None
    """The party responsible. None if the event is harmless."""
    stand_in: str = ""
    """The house bot that takes over (SUBSTITUTED, REPLACED), with its version."""


@dataclass(frozen=True, slots=True)
class SeatTimeline:
    """All decisions and events of one seat in a match."""

    seat: int
    bot: SeatedBot
    decisions: tuple[Decision, ...]
    """Decisions by number, including those made by the server or a house bot."""
    events: tuple[Event, ...]
    """Events in the order in which they happened."""
    spoilt: bool = False
    """True if house bots made too many of the seat's decisions. The result then changes no opponent's rating."""

    @property
    def lost(self) -> Counter[Cause]:
        """Number of decisions that were made for the bot, by cause."""
        return Counter(decision.forced for decision in self.decisions if decision.forced is not None)

    @property
    def troubles(self) -> Counter[Blame]:
        """Number of forced decisions and other problems, by the party responsible."""
        blames = [*(each.blame for each in self.decisions), *(each.blame for each in self.events)]
        return Counter(blame for blame in blames if blame is not None)

    @property
    def bank(self) -> int | None:
        """Time left in the bank after the latest decision, in microseconds. None without a decision."""
        return next((decision.bank_after for decision in reversed(self.decisions) if decision.made is not None), None)

    def count(self, kind: EventKind) -> int:
        """Count the events of a kind."""
        return sum(event.kind is kind for event in self.events)

    def slowest(self, most: int) -> Sequence[Decision]:
        """Return up to `most` of the decisions that took the most time on the clock, including those lost to time."""
        clocked = [each for each in self.decisions if each.own or each.forced is Cause.TIME]
        return sorted(clocked, key=lambda each: (-each.spent, -(each.took or 0)))[:most]

    def took(self, percent: int) -> int | None:
        """Return a percentile of `Decision.took`, in microseconds, over the bot's own decisions. Return None if it made
        none.
        """
        values = sorted(each.took for each in self.decisions if each.own and each.took is not None)
        return values[max(0, ceil(len(values) * percent / 100) - 1)] if values else None
