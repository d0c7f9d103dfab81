"""Query results that many pages need, read once for all of them and shown for a moment."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from math import inf
from time import monotonic
from typing import Any, Final, TypeVar

import anyio

from arena.queries.source import DataSource
from arena.web.reading.reader import Reader

SECONDS: Final = 1.0
"""Seconds for which a result is shown again: a ladder is on screen within two seconds after a match."""
KEPT: Final = 64

Found = TypeVar("Found")


class FreshRows:
    """Results of queries of the last seconds. Who asks for what is just being read waits for it, in no thread."""

    def __init__(self, reader: Reader) -> None:
        self._reader = reader
        self._kept: OrderedDict[Hashable, tuple[float, Any]] = OrderedDict()
        self._turns: dict[Hashable, anyio.Lock] = {}

    async def read(self, key: Hashable, query: Callable[[DataSource], Found], age: float = SECONDS) -> Found:
        """Return what a query returned, at most so many seconds ago; `key` says which query it is."""
        async with self._turns.setdefault(key, anyio.Lock()):
            at, found = self._kept.get(key, (-inf, None))
            if monotonic() - at >= age:
                found = await self._reader.read(query)
                self._kept[key] = monotonic(), found
                self._kept.move_to_end(key)
        if len(self._kept) > KEPT:
            oldest, _ = self._kept.popitem(last=False)
            self._turns.pop(oldest, None)
        return found  # type: ignore[no-any-return]
