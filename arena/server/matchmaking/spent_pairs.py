# Compiled: every decision comes by here.
"""The pairs of bots of a game that have spent their quota: results between them count for neither until some day."""

from __future__ import annotations

from collections.abc import Sequence


class SpentPairs:
    """Such pairs, by the bots' numbers; whether these are connected does not matter."""

    def __init__(self) -> None:
        self._again: dict[int, dict[int, int]] = {}
        """By either bot, the first day on which it counts again, by the other."""

    def spend(self, one: int, other: int, again: int) -> None:
        """Take in a pair, with the first day on which it counts again."""
        for own, against in ((one, other), (other, one)):
            self._again.setdefault(own, {})[against] = again

    def of(self, bot: int, today: int) -> Sequence[int]:
        """Return the bots with which one has spent a quota, and forget those with which it counts again."""
        known = self._again.get(bot)
        if known is None:
            return ()
        for other in [other for other, again in known.items() if again <= today]:
            del known[other]
        if not known:
            del self._again[bot]
        return list(known)
