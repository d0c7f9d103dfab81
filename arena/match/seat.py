"""State of one seat of a match: its clock, its open decision, its player, and its bot's conduct so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from arena.match.clock import NEVER, Clock
from arena.match.policy import Policy

NO_DECISION: Final = 0
"""Value of `Seat.decision` while none is open; decisions are numbered from 1."""


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
        """Microseconds in which its bot must come back."""
        self.decision = NO_DECISION
        """Number of the open decision."""
        self.legal: Sequence[int] = ()
        """Legal actions of the open decision."""
        self.sent = False
        """True if the open question was handed to the transport since the bot's last return."""
        self.decision_rejections = 0
        """Rejected answers to the open decision so far."""
        self.rejections = 0
        """Rejected answers in the match so far."""
        self.lates_in_a_row = 0
        """Late decisions in a row."""
        self.forced = 0
        """Decisions that the server made."""
        self.suspended = False
        """True if the server decides for it at once."""
        self.away = False
        """True if its bot is gone."""
        self.away_until: int = NEVER
        """Instant at which a house bot takes over; `NEVER` unless its bot is gone."""
        self.incidents = 0
        """Number of times its bot was gone."""
        self.substituted = False
        """True if a house bot plays it."""
        self.substituted_rounds = 0
        """Rounds in which a house bot played it, at least in part."""
        self.troubled = False
        """True if it was ever suspended or substituted."""

    @property
    def clocked(self) -> bool:
        """True if its clock runs although its bot is gone: from the second absence on."""
        return self.away and self.incidents > 1 and not self.substituted
