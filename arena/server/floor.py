"""Where matches are played: each from its announcement to its record.

A match is a `Gathering` and an alarm until all its bots are ready, one task from then on. Nothing runs per decision.
"""

from __future__ import annotations

import secrets
from typing import TYPE_CHECKING, Final

import structlog
import trio

from arena.server.contestant import Contestant
from arena.server.gathering import Gathering
from arena.server.scribe import RETRY
from arena.store.errors import StoreError
from engine.deal import SEED_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from arena.server.alarms import Alarms
    from arena.server.baselines import Baselines
    from arena.server.config import Config, Offer
    from arena.server.hall import Hall
    from arena.server.players import Player
    from arena.server.roster import Roster
    from arena.server.scribe import Scribe
    from arena.server.table import Table
    from arena.server.truth import Publisher

LAST_RETRIES: Final = 10.0
"""Seconds a stopping server goes on trying."""
STOPPED: Final = "the server was stopped"

log = structlog.get_logger(__name__)


class Floor:
    """The matches of a running server."""

    def __init__(
        self,
        config: Config,
        hall: Hall,
        scribe: Scribe,
        alarms: Alarms,
        roster: Roster,
        truth: Publisher,
        baselines: Baselines,
        newest: int,
        nursery: trio.Nursery,
    ) -> None:
        """`newest`: the number of the newest match so far. What is played runs in the nursery."""
        self.newest = newest
        self.changed = trio.Event()
        """Is set, and replaced, by `change`."""
        self._config = config
        self._hall = hall
        self._scribe = scribe
        self._alarms = alarms
        self._roster = roster
        self._truth = truth
        self._baselines = baselines
        self._nursery = nursery
        self._gatherings: set[Gathering] = set()
        self._tables: set[Table] = set()
        self._leaving = False  # running matches are left to the next server

    @property
    def playing(self) -> int:
        """Matches being played."""
        return len(self._tables)

    async def take_up(self) -> None:
        """Goes on with the matches that an earlier server left running."""
        for table, inputs in await self._scribe.restore(self._hall.contestant):
            self._tables.add(table)
            table.resume(inputs)
            self._nursery.start_soon(self._finish, table)

    def announce(self, offer: Offer, players: Sequence[Player]) -> None:
        """A table was formed: its match is announced, which keeps the players' places."""
        self.newest += 1
        seed = secrets.token_bytes(SEED_BYTES)
        deadline = trio.current_time() + self._config.ready_limit
        gathering = Gathering(self.newest, offer.game, offer.options, players, seed, deadline, self._settled)
        self._gatherings.add(gathering)
        self._alarms.watch(gathering)
        gathering.invite_all()

    async def clear(self, limit: float) -> None:
        """Lets the matches that run end; what is left after `limit` seconds the next server plays.

        Afterwards nothing that bots say or fail to say counts any more.
        """
        for gathering in self._gatherings:
            gathering.call_off(STOPPED)
        with trio.move_on_after(limit):
            await self._until(lambda: self._leaving or not (self._tables or self._gatherings))
        self._leaving = True
        for table in self._tables:
            table.freeze()
        self.change()
        with trio.move_on_after(LAST_RETRIES):
            await self._until(lambda: not self._gatherings and not any(table.over for table in self._tables))
        if self._tables:
            log.info("matches are left to the next start", matches=sorted(table.match_id for table in self._tables))

    def change(self) -> None:
        """Whoever waits for matches to end looks again."""
        self.changed.set()
        self.changed = trio.Event()

    async def _until(self, condition: Callable[[], bool]) -> None:
        """Returns when a condition holds that the end of matches brings about."""
        while not condition():
            await self.changed.wait()

    def _settled(self, gathering: Gathering) -> None:
        self._alarms.forget(gathering)
        self._nursery.start_soon(self._play, gathering)

    async def _play(self, gathering: Gathering) -> None:
        """A match, from the last Ready to its record."""
        table = None
        try:
            if gathering.failure is None:
                table = await self._open(gathering)
            if table is None:
                gathering.withdraw()
        finally:
            gathering.dissolve()
            self._gatherings.discard(gathering)
        if table is None:
            self._release(gathering.players)
            return
        if self._leaving:
            table.freeze()
        table.begin()
        await self._finish(table)

    async def _open(self, gathering: Gathering) -> Table | None:
        """The table of a match that everybody is ready for; None if it cannot be stored."""
        try:
            table = await self._scribe.begin(gathering)
        except StoreError as error:
            log.error("match not begun", match=gathering.match_id, error=str(error))
            self._hall.close(trio.current_time() + RETRY)
            gathering.call_off("the server cannot store matches at the moment")
            return None
        self._tables.add(table)
        return table

    async def _finish(self, table: Table) -> None:
        """Waits for the end of a match that is being played, stores it and tells its bots."""
        over, changes, parked = await self._scribe.record(table, await table.played())
        if changes:
            self._truth.recorded(table.game)
            self._baselines.finished(table.header)
        self._roster.park(parked)
        self._tables.discard(table)
        self._alarms.forget(table)
        table.dissolve()
        for player in table.players:
            if isinstance(player, Contestant):
                self._hall.got_up(player, table.game, table.met)
        self._release(table.players)
        table.report(over, changes)  # after the hall was told, so that it leaves with the next invitation

    def _release(self, players: Sequence[Player]) -> None:
        for player in players:
            if isinstance(player, Contestant):
                self._hall.release(player)
        self.change()
