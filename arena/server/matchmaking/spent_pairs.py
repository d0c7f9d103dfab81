# Compiled: every decision comes by here.
"""Pairs of bots of a game that have spent their quota: results between them count for neither until a day."""

from __future__ import annotations

from collections.abc import Sequence


class SpentPairs:
    """Pairs by the bots' numbers, connected or not."""

    def __init__(self) -> None:
        self._again: dict[int, dict[int, int]] = {}
        """By either bot and then by the other, the first day on which they count again."""

    def spend(self, one: int, other: int, again: int) -> None:
        """Add a pair with the first day on which it counts again."""
        for own, against in ((one, other), (other, one)):
            self._again.setdefault(own, {})[against] = again

    def of(self, bot: int, today: int) -> Sequence[int]:
        """Return the bots with which a bot has spent its quota, and forget those that count again."""
        known = self._again.get(bot)
        if known is None:
            return ()
        for other in [other for other, again in known.items() if again <= today]:
            del known[other]
        if not known:
            del self._again[bot]
        return list(known)
