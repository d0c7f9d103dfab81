"""The hourly allowance of casual matches for each owner's bots."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

from arena.server.sessions.hourly import HOUR, HourlyAllowance
from arena.server.sessions.messages import Notice, NoticeKind

if TYPE_CHECKING:
    from arena.server.sessions.player import BotPlayer


class CasualMatches:
    """Each owner's remaining casual matches in an hour. Instants are in seconds of the server's clock."""

    def __init__(self, casual_per_owner: int) -> None:
        self._casual_per_owner = casual_per_owner
        self._allowance = HourlyAllowance(casual_per_owner / HOUR)
        self._resting: dict[int, float] = {}
        """By bot, the time until which it gets no casual match, as announced to it."""

    @property
    def given(self) -> bool:
        """True if this server offers casual matches."""
        return self._casual_per_owner > 0

    def next_due(self, now: float) -> float:
        """Return when the first notified bot may have a casual match again; infinite if there is none."""
        self._resting = {bot: until for bot, until in self._resting.items() if until > now}
        return min(self._resting.values(), default=math.inf)

    def take(self, bot_player: BotPlayer, now: float) -> bool:
        """Count a bot's next casual match; if its owner's allowance is spent, return False and notify the bot once."""
        if self._resting.get(bot_player.bot_id, -math.inf) > now:
            return False
        if self._allowance.take(bot_player.owner.lower(), now):
            return True
        wait = self._allowance.wait(bot_player.owner.lower(), now)
        self._resting[bot_player.bot_id] = now + wait
        if bot_player.session is not None:
            text = (
                f"{self._casual_per_owner} casual matches an hour are given to the bots of one owner "
                f"(casual_per_owner); the next in {wait} s"
            )
            bot_player.session.notify(Notice(NoticeKind.CASUAL_LIMIT, text, casual_wait=wait * 1_000_000))
        return False
