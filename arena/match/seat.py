"""What a match remembers of one seat: its clock, the decision open before it, who plays it, and how it has behaved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from arena.match.clock import NEVER, Clock
from arena.match.policy import Policy

NOTHING: Final = 0
"""`Seat.decision` where no decision is open; the ids begin at 1."""


class Seat:
    """One seat of one match."""

    __slots__ = (
        "away",
        "away_until",
        "clock",
        "decision",
        "forced",
        "incidents",
        "lates",
        "legal",
        "rejections",
        "rejections_here",
        "sent",
        "substituted",
        "substituted_rounds",
        "suspended",
        "troubled",
    )

    def __init__(self, policy: Policy) -> None:
        self.clock = Clock(policy)
        self.decision = NOTHING
        self.legal: Sequence[int] = ()
        """The legal actions of the open decision."""
        self.sent = False
        """Whether the open decision was handed to the transport since the bot is there."""
        self.rejections_here = 0
        """Rejected answers to the open decision."""
        self.rejections = 0
        """Rejected answers in the match."""
        self.lates = 0
        """Late decisions in a row."""
        self.forced = 0
        """Decisions the server made."""
        self.suspended = False
        """Whether the server plays for it at once."""
        self.away = False
        """Whether its bot is gone."""
        self.away_until: int = NEVER
        """When a house bot takes over."""
        self.incidents = 0
        """How often its bot was gone."""
        self.substituted = False
        """Whether a house bot plays it."""
        self.substituted_rounds = 0
        """Rounds in which a house bot did, if only in part."""
        self.troubled = False
        """Whether it was ever suspended or substituted."""

    @property
    def clocked(self) -> bool:
        """Whether its clock runs although its bot is gone: from the second time on."""
        return self.away and self.incidents > 1 and not self.substituted
