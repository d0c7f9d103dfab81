"""State of one seat of a match: its clock, its open decision, its player, and its bot's conduct so far.

The clock has a soft limit for each decision and a time bank for the match. It runs only between `start` and `stop` or
`pause`. Time beyond the soft limit comes from the bank. It never reads the time: every method gets the time as an
argument.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from arena.match.inputs import Instant
from arena.match.policy import Policy

NEVER: Final = Instant((1 << 62) - 1)
"""Deadline that never comes. It is no larger, because compiled code compares big integers slowly."""
NO_DECISION: Final = 0
"""Value of `Seat.decision` while no decision is open. Decisions are numbered from 1."""


class Clock:
    """Time left for one seat. All times are in microseconds of the match."""

    __slots__ = ("_policy", "bank", "due", "soft", "started")

    def __init__(self, policy: Policy) -> None:
        self._policy = policy
        self.soft = 2 * policy.soft_limit
        """Soft limit left for the open or next decision when the clock last stopped. Doubled for the first decision."""
        self.bank = policy.bank
        """Bank left when the clock last stopped."""
        self.started: int | None = None
        """Time from which the clock runs, or None while it is stopped."""
        self.due: int = NEVER
        """Time at which the limit ends. An answer at this time is late."""

    def start(self, now: Instant, lag: int = 0) -> None:
        """Start the clock `lag` microseconds from now, when the question reaches the bot. No effect if it is
        already running.
        """
        if self.started is None:
            self.started = now + lag
            self.due = self.started + self.soft + self.bank

    def pause(self, now: Instant) -> None:
        """Stop the clock during a decision, until the next start."""
        self.soft, self.bank = self.left(now)
        self.started = None
        self.due = NEVER

    def left(self, now: Instant) -> tuple[int, int]:
        """Return the microseconds left of the soft limit and of the bank."""
        if self.started is None:
            return self.soft, self.bank
        soft = self.soft - max(0, now - self.started)
        return (soft, self.bank) if soft >= 0 else (0, max(0, self.bank + soft))

    def stop(self, now: Instant) -> None:
        """Stop the clock because the decision is made, and subtract the time beyond the soft limit from the bank."""
        if self.started is not None:
            over = now - self.started - self.soft
            if over > 0:
                self.bank = max(0, self.bank - over)
            self.started = None
            self.due = NEVER
        self.soft = self._policy.soft_limit


class Seat:
    """Mutable state of one seat, changed by `Match` and `Presence`."""

    __slots__ = (
        "away",
        "away_until",
        "clock",
        "decision",
        "decision_rejections",
        "forced",
        "grace",
        "incidents",
        "lates_in_a_row",
        "legal",
        "rejections",
        "sent",
        "substituted",
        "substituted_rounds",
        "suspended",
        "troubled",
    )

    def __init__(self, policy: Policy, newcomer: bool) -> None:
        self.clock = Clock(policy)
        self.grace = min(policy.grace, policy.newcomer_grace) if newcomer else policy.grace
        """Microseconds within which an absent bot must return."""
        self.decision = NO_DECISION
        """Number of the open decision."""
        self.legal: Sequence[int] = ()
        """Legal actions of the open decision."""
        self.sent = False
        """True if the open question has been handed to the transport since the bot last connected."""
        self.decision_rejections = 0
        """Rejected answers to the open decision so far."""
        self.rejections = 0
        """Rejected answers in the match so far."""
        self.lates_in_a_row = 0
        """Number of late decisions in a row."""
        self.forced = 0
        """Number of decisions that the server made."""
        self.suspended = False
        """True if the seat is suspended: the server decides for it at once."""
        self.away = False
        """True if the seat's bot has left."""
        self.away_until: int = NEVER
        """Time at which a house bot takes over. `NEVER` unless its bot has left."""
        self.incidents = 0
        """Number of times that the seat's bot has left."""
        self.substituted = False
        """True if a house bot is playing the seat."""
        self.substituted_rounds = 0
        """Number of rounds in which a house bot played the seat, at least in part."""
        self.troubled = False
        """True if the seat was ever suspended or played by a house bot."""

    @property
    def clocked(self) -> bool:
        """True if the seat's clock runs while its bot is away, as it does from the second absence on."""
        return self.away and self.incidents > 1 and not self.substituted
