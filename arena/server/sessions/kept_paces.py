"""Storage for bots' paces and balances. Without it, the server would not recognize a slow bot after a restart."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from functools import partial
from typing import Final, TypeAlias

import structlog
import trio
from sqlalchemy import Connection

from arena.server.runtime.wall_clock import now_us
from arena.server.sessions.players import Players
from arena.store.base.errors import StoreError
from arena.store.bots import paces
from arena.store.store import Store

EVERY: Final = 10.0
"""Number of seconds between saves. A killed server loses the changes since its last save."""
SAME: Final = 0.01
"""Measurements whose times differ by at most this number of seconds count as the same measurement."""
LAST_SAVE: Final = 1.0
"""Maximum number of seconds for the last save when the server stops."""

_Row: TypeAlias = tuple[int, float, int, float]

log = structlog.get_logger(__name__)


class KeptPaces:
    """Storage of the paces of one server's bots."""

    def __init__(self, store: Store, players: Players) -> None:
        self._store = store
        self._players = players
        self._saved: dict[tuple[str, int], tuple[float, float, float]] = {}
        """The stored pace, the time of its measurement on the server's clock, and the balance. The keys are ladder
        names (empty: the default ladders) and bot numbers.
        """

    async def load(self) -> None:
        """Load the paces that an earlier server stored. Raises: StoreError."""
        for ladder in self._players.pace_rules:
            await self.learn(ladder)

    async def learn(self, ladder: str) -> None:
        """Load the paces that another node has measured, for bots without a seat here. Raises: StoreError."""
        if ladder not in self._players.pace_rules:
            return
        now, wall = trio.current_time(), now_us()
        for kept in await self._store.read(partial(paces.kept, ladder=ladder)):
            player, saved = self._players.get(kept.bot_id), self._saved.get((ladder, kept.bot_id))
            at = now - max(0, wall - kept.at) / 1e6
            if (player is None or not player.busy) and (saved is None or saved[1] < at - SAME):
                self._players.pace(kept.bot_id, ladder).restore(kept.pace, at, kept.balance)
                self._saved[ladder, kept.bot_id] = kept.pace, at, kept.balance

    async def run(self) -> None:
        """Store changed paces, until cancelled."""
        while True:
            await trio.sleep(EVERY)
            await self.save()

    async def last(self) -> None:
        """Store changed paces once more before the server stops, if the store works."""
        with trio.move_on_after(LAST_SAVE):
            await self.save()

    async def save(self) -> None:
        """Store changed paces. After a failure, the next save tries again."""
        now, wall, known = trio.current_time(), now_us(), self._known()
        changed = {key: each for key, each in known.items() if self._saved.get(key) != each}
        if not changed:
            return
        rows: dict[str, list[_Row]] = {}
        for (ladder, bot), (pace, at, balance) in sorted(changed.items()):
            rows.setdefault(ladder, []).append((bot, pace, wall - round((now - at) * 1e6), balance))
        try:
            await self._store.write(partial(_keep, rows=rows))
        except StoreError as error:
            log.warning("paces not stored yet", error=str(error))
        else:
            self._saved = known

    def _known(self) -> dict[tuple[str, int], tuple[float, float, float]]:
        """Return the values to store, without the expected costs of running matches, which are charged later."""
        paid: defaultdict[tuple[str, int], float] = defaultdict(float)
        for player in self._players:
            for each in player.offers.expected.values():
                paid[each.ladder, player.bot_id] += each.wait
        return {
            key: (*told, pace.balance + paid.get(key, 0.0))
            for key, pace in self._players.paces()
            if (told := pace.told) is not None
        }


def _keep(connection: Connection, rows: Mapping[str, Sequence[_Row]]) -> None:
    for ladder, own in rows.items():
        paces.keep(connection, own, ladder)
