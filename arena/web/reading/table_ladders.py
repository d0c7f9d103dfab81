"""Ladders of tables of one size, fitted for who asks and kept for a while."""

from __future__ import annotations

from time import monotonic
from typing import Final

import anyio

from arena.store.base.rows import LadderRows
from arena.web.reading.reader import Reader

FRESH: Final = 60.0
"""Seconds for which a ladder of one table size is shown again."""


class TableLadders:
    """Ladders of one table size. Each is fitted for who asks: one at a time, and kept for a while."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._kept: dict[tuple[str, int], tuple[float, LadderRows]] = {}
        self._turn = anyio.Lock()
        """Lock on which requests await another fit, without occupying threads that other pages need."""

    async def ladder(self, game: str, seats: int) -> LadderRows:
        """Return a ladder as it was within the last minute; Missing for a table that the game has not."""
        async with self._turn:
            until, kept = self._kept.get((game, seats), (0.0, None))
            if kept is None or monotonic() > until:
                kept = await self._reader.read(lambda source: source.ladder(game, seats))
                self._kept[game, seats] = monotonic() + FRESH, kept
            return kept
