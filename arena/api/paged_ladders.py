"""Ladders with further pages, stored for a minute, so that all pages belong to the same ladder."""

from __future__ import annotations

from secrets import token_hex
from typing import TYPE_CHECKING, Final

import trio

if TYPE_CHECKING:
    from arena.store.base.rows import LadderRows

LADDER_KEPT: Final = 60.0
"""Seconds for which a ladder with further pages is stored after its first page was read."""
LADDERS: Final = 8
"""Maximum number of ladders that are stored; a further one replaces the one that was read first."""


class PagedLadders:
    """The ladders of which somebody may ask for a further page, by a name that no other ladder has."""

    def __init__(self) -> None:
        self._stored: dict[str, tuple[float, LadderRows]] = {}
        """Each ladder with the time at which it was read, the oldest first."""

    def store(self, ladder: LadderRows) -> str:
        """Store a ladder that was just read; return its name. A ladder that is stored already is not stored twice."""
        self._forget_old()
        name = next((name for name, (_, stored) in self._stored.items() if stored == ladder), None) or token_hex(8)
        self._stored.pop(name, None)
        if len(self._stored) == LADDERS:
            del self._stored[next(iter(self._stored))]
        self._stored[name] = trio.current_time(), ladder
        return name

    def find(self, name: str) -> LadderRows | None:
        """Return the ladder of a name; None if it is no longer stored."""
        self._forget_old()
        return self._stored[name][1] if name in self._stored else None

    def _forget_old(self) -> None:
        oldest = trio.current_time() - LADDER_KEPT
        for name in [name for name, (at, _) in self._stored.items() if at < oldest]:
            del self._stored[name]
