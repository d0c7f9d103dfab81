"""Two caches: one drops the least recently used entries, the other has a time to live."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from math import inf
from time import monotonic
from typing import Any, Final, Generic, TypeVar

import anyio

MOST: Final = 64
"""Maximum number of results that a `TtlCache` stores."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Default = TypeVar("Default")


class LruCache(Generic[Key, Value]):
    """A cache of at most `most` entries. It drops the least recently used entry first."""

    def __init__(self, most: int) -> None:
        self._most = most
        self._entries: OrderedDict[Key, Value] = OrderedDict()

    def __contains__(self, key: Key) -> bool:
        return key in self._entries

    def __len__(self) -> int:
        return len(self._entries)

    def __getitem__(self, key: Key) -> Value:
        self._entries.move_to_end(key)
        return self._entries[key]

    def __setitem__(self, key: Key, value: Value) -> None:
        self._entries[key] = value
        self._entries.move_to_end(key)
        if len(self._entries) > self._most:
            self._entries.popitem(last=False)

    def get(self, key: Key, default: Default) -> Value | Default:
        """Return an entry, or the default if it is missing."""
        return self[key] if key in self._entries else default


class TtlCache:
    """A cache of results by key.

    A result is returned until it is too old. Requests wait while a result is being computed.
    """

    def __init__(self) -> None:
        self._made: LruCache[Hashable, tuple[float, Any]] = LruCache(MOST)
        self._turns: LruCache[Hashable, anyio.Lock] = LruCache(MOST)

    async def get(self, key: Hashable, make: Callable[[], Awaitable[Value]], seconds: float) -> Value:
        """Return a cached result. Make it if it is missing or older than `seconds`. Errors are not cached."""
        turn = self._turns.get(key, None)
        if turn is None:
            self._turns[key] = turn = anyio.Lock()
        async with turn:
            at, made = self._made.get(key, (-inf, None))
            if monotonic() - at >= seconds:
                made = await make()
                self._made[key] = monotonic(), made
        return made  # type: ignore[return-value]
