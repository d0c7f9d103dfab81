"""A bot's failed invitations and used turns, which decide whether it may get further invitations.

This record outlives the bot's sessions, so nobody gains a turn by reconnecting.

A bot that declines an invitation, or does not answer in time, pauses for 1 s. The pause doubles with each further
failure, up to 60 s, until the bot has played a match. While it owes an answer it gets no other invitation.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Final

from arena.replay.header import OfferOutcome

FIRST_PAUSE: Final = 1.0
"""Seconds for which a bot pauses after the first failed invitation."""
LONGEST_PAUSE: Final = 60.0


class Availability:
    """One bot's record of invitations. Times are in seconds of the server's clock."""

    def __init__(self, changed: Callable[[], None], watch: Callable[[Availability], None]) -> None:
        """`changed` is called when `invitable` may have changed, and `watch` when the deadline may have moved."""
        self.wakes_at = math.inf
        self.timer_id = 0
        self.failed = {OfferOutcome.DECLINED: 0, OfferOutcome.SILENT: 0, OfferOutcome.LEFT: 0}
        """Number of failed invitations since the server started, by outcome."""
        self.turns: dict[str, int] = {}
        """By ladder, the number of the turn that the bot used last, if the server limits the matches per hour."""
        self.reserved = 0
        """Number of places reserved for matches of events."""
        self.paused = False
        """True while the bot is pausing after a failed invitation."""
        self._changed = changed
        self._watch = watch
        self._failures = 0
        """Number of failed invitations since the bot last played a match."""
        self._paused_until = math.inf
        self._unanswered: dict[int, float] = {}
        """Unanswered invitations whose seats others have taken, by number. Each value is the time until which the
        answer is awaited.
        """

    @property
    def invitable(self) -> bool:
        """True if the bot may get an invitation now."""
        return not (self.paused or self._unanswered)

    @property
    def doubtful(self) -> bool:
        """True if the bot's last invitation failed."""
        return self._failures > 0

    @property
    def deadline(self) -> float:
        """The end of the bot's pause or of the wait for an answer; infinite without either."""
        return min(self._paused_until, *self._unanswered.values(), math.inf)

    def on_timer(self, now: float) -> None:
        """End a pause, or the wait for an answer, that is due to end."""
        for invitation_id in [number for number, until in self._unanswered.items() if until <= now]:
            del self._unanswered[invitation_id]
            self.fail(now, OfferOutcome.SILENT)
        if self._paused_until <= now:
            self.paused = False
            self._paused_until = math.inf
            self._changed()

    def owe_answer(self, invitation_id: int, until: float) -> None:
        """Continue to wait for an answer to an invitation whose seat another player has taken."""
        self._unanswered[invitation_id] = until
        self._watch(self)
        self._changed()

    def answer(self, invitation_id: int) -> bool:
        """Accept a late answer to an invitation. Return False if the bot did not owe this answer."""
        if self._unanswered.pop(invitation_id, None) is None:
            return False
        self._changed()
        return True

    def forgo(self, now: float, charged: bool) -> None:
        """Stop waiting for answers of a bot that left. `charged`: true if these count as failures."""
        if self._unanswered:
            self._unanswered.clear()
            if charged:
                self.fail(now, OfferOutcome.LEFT)
            else:
                self._changed()

    def fail(self, now: float, outcome: OfferOutcome) -> None:
        """Count a failed invitation and start a pause. Each further pause is longer."""
        self.failed[outcome] += 1
        self.paused = True
        self._paused_until = now + min(LONGEST_PAUSE, FIRST_PAUSE * 2 ** min(self._failures, 10))
        self._failures += 1
        self._watch(self)
        self._changed()

    def played(self) -> None:
        """Forget failed invitations, because the bot has played a match."""
        self._failures = 0
