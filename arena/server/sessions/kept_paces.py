"""Stored paces and balances of bots; without them a slow bot would be unknown after a restart of the server."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
import trio

from arena.server.runtime.wall_clock import now_us
from arena.store.base.errors import StoreError
from arena.store.bots import paces

if TYPE_CHECKING:
    from arena.server.sessions.players import Players
    from arena.store.store import Store

EVERY: Final = 10.0
"""Number of seconds between saves. A killed server loses the changes since its last save."""
LAST_SAVE: Final = 1.0
"""Maximum number of seconds that the last save may take when the server stops."""

log = structlog.get_logger(__name__)


class KeptPaces:
    """The paces of one server's bots."""

    def __init__(self, store: Store, players: Players) -> None:
        self._store = store
        self._players = players
        self._saved: dict[int, tuple[float, float, float]] = {}
        """By bot, its stored pace, the time of the pace's measurement on the server's clock, and its balance."""

    async def load(self) -> None:
        """Load what an earlier server stored. Raises: StoreError."""
        now, wall = trio.current_time(), now_us()
        for kept in await self._store.read(paces.kept):
            self._players.pace(kept.bot_id).restore(kept.pace, now - max(0, wall - kept.at) / 1e6, kept.balance)
        self._saved = self._known()

    async def run(self) -> None:
        """Store changes, until cancelled."""
        while True:
            await trio.sleep(EVERY)
            await self.save()

    async def last(self) -> None:
        """Store changes once more before the server stops, if the store works."""
        with trio.move_on_after(LAST_SAVE):
            await self.save()

    async def save(self) -> None:
        """Store changes; after a failure the next save tries again."""
        now, wall, known = trio.current_time(), now_us(), self._known()
        changed = {bot: each for bot, each in known.items() if self._saved.get(bot) != each}
        if not changed:
            return
        rows = [
            (bot, pace, wall - round((now - at) * 1e6), balance) for bot, (pace, at, balance) in sorted(changed.items())
        ]
        try:
            await self._store.write(partial(paces.keep, paces=rows))
        except StoreError as error:
            log.warning("paces not stored yet", error=str(error))
        else:
            self._saved = known

    def _known(self) -> dict[int, tuple[float, float, float]]:
        """Return the values to store, without the expected costs of running matches, which are charged later."""
        paid = {player.bot_id: sum(each.wait for each in player.offers.expected.values()) for player in self._players}
        return {
            bot: (*told, pace.balance + paid.get(bot, 0.0))
            for bot, pace in self._players.paces()
            if (told := pace.told) is not None
        }
