"""The scheduler's durations, which grow with the match clock.

The constants of the scheduler suit a clock of one second a decision. On a slower clock they would set every bot apart:
a bot that thinks for 12 s would be in a class of its own, and would wait two seconds for opponents that play for hours.
So times are measured in soft limits of the clock. A clock of a second or less uses the constants themselves.

Patience is measured in matches instead, since a wait is short or long compared with the match that follows. Before two
bots have met, it is measured in soft limits, too. Bots that choose a slow clock have time, so only those that use most
of it count as slow. `bench.studies.slow` measures both choices.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from arena.scheduling.pace import PaceRules
from arena.scheduling.pool import PATIENCE

SLOW_SHARE: Final = 0.75
"""Share of the soft limit beyond one second up to which no pace is slow."""
RECENT: Final = 31
"""Number of latest matches whose median length determines the patience."""


@dataclass(frozen=True, slots=True)
class LadderClock:
    """The time that a decision may take on a ladder, in seconds."""

    soft_limit: float = 1.0

    @property
    def slow(self) -> bool:
        """True if a decision may take more than a second."""
        return self.soft_limit > 1

    def pace_rules(self, slow_pace: float | None, share: float) -> PaceRules:
        """Return the rules for slow bots.

        `slow_pace`: the pace up to which a bot is never slow, in seconds; None to derive it from the clock.
        `share`: the share of its time at tables for which a bot may have to wait for much slower bots.
        """
        known, scale = PaceRules(), max(1.0, self.soft_limit)
        return PaceRules(
            known.quick + SLOW_SHARE * (scale - 1) if slow_pace is None else slow_pace,
            share,
            known.first_balance * scale,
            known.most_balance * scale,
            known.half_life * scale,
        )

    def patience(self, median_match: float = 0.0) -> float:
        """Return the number of seconds for which a bot waits for others before house bots complete its table.

        `median_match` is the median length in seconds of recent matches between bots, or 0 if there was none.
        """
        return PATIENCE if not self.slow else max(PATIENCE * self.soft_limit, median_match)

    def answer_limit(self, seconds: float) -> float:
        """Return a limit for an answer to an invitation, from the limit on a clock of one second.

        A bot with one thread answers only after its current decision.
        """
        return seconds + max(0.0, self.soft_limit - 1)
