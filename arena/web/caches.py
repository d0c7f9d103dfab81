"""Two caches: one of the least recently used kind, one with a time to live."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Awaitable, Callable, Hashable
from math import inf
from time import monotonic
from typing import Any, Final, Generic, TypeVar

import anyio

MOST: Final = 64
"""Results that a `TtlCache` stores."""

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")
Default = TypeVar("Default")


class LruCache(Generic[Key, Value]):
    """At most `most` entries; the least recently used one is dropped first."""

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
        """Return an entry, or the default if there is none."""
        return self[key] if key in self._entries else default


class TtlCache:
    """Results by key, each returned until it is too old. A request for a result in progress waits for it."""

    def __init__(self) -> None:
        self._made: LruCache[Hashable, tuple[float, Any]] = LruCache(MOST)
        self._turns: LruCache[Hashable, anyio.Lock] = LruCache(MOST)

    async def get(self, key: Hashable, make: Callable[[], Awaitable[Value]], seconds: float) -> Value:
        """Return the result of `make` for this key, cached for at most `seconds`; errors are not cached."""
        turn = self._turns.get(key, None)
        if turn is None:
            self._turns[key] = turn = anyio.Lock()
        async with turn:
            at, made = self._made.get(key, (-inf, None))
            if monotonic() - at >= seconds:
                made = await make()
                self._made[key] = monotonic(), made
        return made  # type: ignore[return-value]
