"""The course of a match as each seat lived it: every decision from due to made, and every trouble with its owner.

Only what there is to know: `arena.replay.watch` finds it out. Instants are microseconds since the match began. Whose
doing a trouble was, `arena.replay.blame` says.
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
from arena.replay.header import Bot


class Blame(Enum):
    """Whose doing a trouble was; `arena.replay.blame` decides it."""

    BOT = "bot"
    NETWORK = "network"
    EITHER = "bot or network"
    SERVER = "server"


class Sending(NamedTuple):
    """A question was handed to the transport."""

    at: Instant
    lag: int
    """The measured round trip, in microseconds."""


class Answer(NamedTuple):
    """An answer arrived."""

    at: Instant
    action: int
    refused: Refusal | None
    late_by: int
    """Microseconds after the decision was lost to time; 0 where it was not."""


@dataclass(frozen=True, slots=True)
class Decision:
    """One decision of one seat."""

    number: int
    round: int
    """From 0."""
    due: Instant
    """When the question was made."""
    soft: int
    """Microseconds of the soft limit when it was made."""
    bank: int
    """Microseconds in the bank then."""
    sendings: tuple[Sending, ...] = ()
    """One, unless its bot was gone meanwhile; none where it was made for the bot before."""
    answers: tuple[Answer, ...] = ()
    made: Instant | None = None
    """When it was made; None if it was open when the match was broken off."""
    action: int | None = None
    forced: Cause | None = None
    """Why it was made for the bot; None where the bot made it."""
    spent: int = 0
    """Microseconds that ran on the clock: from the sending, less the round trip up to the allowance."""
    bank_after: int = 0
    blame: Blame | None = None
    """Whose doing it is that it was forced."""

    @property
    def own(self) -> bool:
        """Whether the bot made it."""
        return self.made is not None and self.forced is None

    @property
    def waited(self) -> int:
        """Microseconds until it was first sent."""
        return self.sendings[0].at - self.due if self.sendings else 0

    @property
    def took(self) -> int | None:
        """Microseconds from its latest sending until it was made, the way there and back included."""
        return self.made - self.sendings[-1].at if self.made is not None and self.sendings else None

    @property
    def late_by(self) -> int | None:
        """How late the answer was to a decision lost to time; None without one."""
        return next((answer.late_by for answer in self.answers if answer.late_by), None)


class Kind(Enum):
    """What else can happen to a seat."""

    REFUSED = "refused"
    """An answer was not applied."""
    WAITED = "waited"
    """A question waited longer than a soft limit before it was sent."""
    SUSPENDED = "suspended"
    READY = "ready"
    """It was suspended and said that it is ready again."""
    LEFT = "left"
    """Its bot was gone when that cost nothing: before the beginning, while all clocks stood or a house bot played."""
    GONE = "gone"
    RETURNED = "returned"
    """Its bot came, by a new connection or after it had left, with its seat its own or not to be had yet."""
    BACK = "back"
    """Its bot had its seat again."""
    SUBSTITUTED = "substituted"
    """A house bot took over."""
    HELD = "held"
    """The server was restarted and all clocks stand still."""
    RELEASED = "released"
    INTERRUPTED = "interrupted"


class Event(NamedTuple):
    """Something happened to a seat beside its decisions being made."""

    at: Instant
    kind: Kind
    decision: int | None = None
    action: int | None = None
    """What was answered, where it was refused."""
    refused: Refusal | None = None
    time: int = 0
    """Microseconds: how long it waited, how late it was, how long it has to come back, how long the clocks stand."""
    blame: Blame | None = None
    """None where it is no trouble."""


@dataclass(frozen=True, slots=True)
class SeatTimeline:
    """What one seat lived through."""

    seat: int
    bot: Bot
    decisions: tuple[Decision, ...]
    """By number; those made for it while it was suspended or a house bot played it on are among them."""
    events: tuple[Event, ...]
    """In the order they happened."""

    @property
    def lost(self) -> Counter[Cause]:
        """Decisions that were made for the bot, by cause."""
        return Counter(decision.forced for decision in self.decisions if decision.forced is not None)

    @property
    def troubles(self) -> Counter[Blame]:
        """Forced decisions and troubles beside them, by whose doing they were."""
        blames = [*(each.blame for each in self.decisions), *(each.blame for each in self.events)]
        return Counter(blame for blame in blames if blame is not None)

    @property
    def bank(self) -> int | None:
        """Microseconds left in the bank after its latest decision; None where it had none."""
        return next((decision.bank_after for decision in reversed(self.decisions) if decision.made is not None), None)

    def count(self, kind: Kind) -> int:
        """How often something happened."""
        return sum(event.kind is kind for event in self.events)

    def slowest(self, most: int) -> Sequence[Decision]:
        """The decisions that cost the most time on the clock, those lost to time among them."""
        clocked = [each for each in self.decisions if each.own or each.forced is Cause.TIME]
        return sorted(clocked, key=lambda each: (-each.spent, -(each.took or 0)))[:most]

    def took(self, percent: int) -> int | None:
        """The percentile of the microseconds that the bot's own decisions took; None where none was sent to it."""
        values = sorted(each.took for each in self.decisions if each.own and each.took is not None)
        return values[max(0, ceil(len(values) * percent / 100) - 1)] if values else None
