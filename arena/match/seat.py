"""What a match remembers of one seat: its clock, the decision open before it, and how it has behaved."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from arena.match.clock import Clock
from arena.match.policy import Policy

NOTHING: Final = 0
"""`Seat.decision` where no decision is open; the ids begin at 1."""


class Seat:
    """One seat of one match."""

    __slots__ = ("away", "clock", "decision", "forced", "lates", "legal", "rejections", "rejections_here", "suspended")

    def __init__(self, policy: Policy) -> None:
        self.clock = Clock(policy)
        self.decision = NOTHING
        self.legal: Sequence[int] = ()
        """The legal actions of the open decision."""
        self.rejections_here = 0
        """Rejected answers to the open decision."""
        self.rejections = 0
        """Rejected answers in the match."""
        self.lates = 0
        """Late decisions in a row."""
        self.forced = 0
        """Decisions the server made."""
        self.away = False
        self.suspended = False
