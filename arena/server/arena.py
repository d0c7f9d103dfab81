"""The server without its wire: bots come in through `attend`; matches are formed, played and recorded.

A match is one task from its invitations to its record; nothing runs per decision.
"""

from __future__ import annotations

import secrets
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
import trio

from arena.house import HOUSE_BOTS
from arena.server.alarms import Alarms
from arena.server.baselines import Baselines
from arena.server.contestant import Contestant
from arena.server.door import Door
from arena.server.gathering import Gathering
from arena.server.hall import Hall
from arena.server.messages import Closed, Notice, NoticeKind, Reason, Welcome
from arena.server.missed import missed
from arena.server.players import HousePlayer, Player
from arena.server.pool import WorkerPool
from arena.server.post import Post
from arena.server.roster import Roster, parked_notice
from arena.server.scribe import RETRY, Scribe
from arena.server.session import Session
from arena.server.truth import Publisher
from arena.server.wall import now_us
from arena.store import bots, matches
from arena.store.errors import StoreError
from engine.deal import SEED_BYTES

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Mapping, Sequence

    from arena.house import HouseBot
    from arena.server.config import Config, Offer
    from arena.server.fitter import Fitter
    from arena.server.messages import Hello, Link, Said
    from arena.server.table import Table
    from arena.store.store import Store

LAST_RETRIES: Final = 10.0
"""Seconds a stopping server goes on trying."""
STOPPED: Final = "the server was stopped"
DRAINING: Final = Notice(NoticeKind.DRAINING, "the server is stopping and forms no more matches")

log = structlog.get_logger(__name__)


@asynccontextmanager
async def open_arena(
    config: Config,
    store: Store,
    house_bots: Mapping[str, Sequence[HouseBot]] = HOUSE_BOTS,
    fitter: Fitter | None = None,
) -> AsyncIterator[Arena]:
    """A running server; on leaving, what is still being played is left to the next one.

    `house_bots` are those of each game by its name, the weakest first; the strongest plays on for bots that are gone.
    `fitter` fits the ladders; without one they stay as they are.
    """
    house: dict[str, list[HousePlayer]] = {}
    for game in config.games:
        fillers = house_bots.get(game.name, ()) if config.house else ()
        rows = await store.write(partial(bots.ensure_house_bots, names=[bot.name for bot in fillers], at=now_us()))
        house[game.name] = [HousePlayer(row.id, bot) for row, bot in zip(rows, fillers, strict=True)]
    newest = await store.read(matches.newest)
    async with trio.open_nursery() as nursery:
        alarms = Alarms()
        post = Post(store.journal.commit, RETRY)
        pool = WorkerPool(config.house_workers, post)
        nursery.start_soon(pool.run)
        scribe = Scribe(config, store, house_bots, pool, alarms.watch)
        hall = Hall(config, house)
        truth = Publisher(config, store, fitter, hall.rated)
        baselines = Baselines(config, store, pool, truth.replayed)
        arena = Arena(config, store, hall, scribe, post, alarms, truth, baselines, newest, nursery)
        await arena.take_up()
        nursery.start_soon(arena.run)
        nursery.start_soon(baselines.run)
        try:
            yield arena
        finally:
            with trio.CancelScope(shield=True):
                await arena.drain(0)
                await truth.last()
            nursery.cancel_scope.cancel()


class Arena:
    """Everything a running server is: its store, its hall, its alarms and its tables."""

    def __init__(
        self,
        config: Config,
        store: Store,
        hall: Hall,
        scribe: Scribe,
        post: Post,
        alarms: Alarms,
        truth: Publisher,
        baselines: Baselines,
        newest: int,
        nursery: trio.Nursery,
    ) -> None:
        self.config = config
        self.store = store
        self.hall = hall
        self.stopping = trio.Event()
        """Set when no more matches are formed."""
        self.drained = trio.Event()
        """Set when no match runs any more, or those that do are left to the next start."""
        self.roster = Roster(store, hall, config.limits)
        self.door = Door(config.limits)
        self.post = post
        self.truth = truth
        self._games = {game.name: game for game in config.games}
        self._newest = newest
        self._nursery = nursery
        self._alarms = alarms
        self._gatherings: set[Gathering] = set()
        self._tables: set[Table] = set()
        self._scribe = scribe
        self._baselines = baselines
        self._leaving = False  # running matches are left to the next server
        self._changed = trio.Event()

    @property
    def playing(self) -> int:
        """Matches being played."""
        return len(self._tables)

    async def take_up(self) -> None:
        """Goes on with the matches that an earlier server left running."""
        for table, inputs in await self._scribe.restore(self.hall.contestant):
            self._tables.add(table)
            table.resume(inputs)
            self._nursery.start_soon(self._finish, table)

    async def run(self) -> None:
        """Forms tables, rings alarms, sends heartbeats and what else is to be said, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.post.run)
            nursery.start_soon(self._alarms.run)
            nursery.start_soon(self.truth.run)
            nursery.start_soon(self.hall.run, self._seat)
            while True:
                await trio.sleep(self.config.heartbeat)
                for session in self.hall.sessions():
                    session.beat(trio.current_time())

    async def attend(self, link: Link, bot: bots.Bot, hello: Hello) -> None:
        """Lets a bot play on a line until it has said its last.

        Raises `LinkLost` when the bot vanished, `Closed` when the server ends the line, and StoreError.
        """
        games = tuple(self._games[name] for name in hello.games if name in self._games)
        if not games:
            played, wanted = ", ".join(self._games), ", ".join(hello.games)
            raise Closed(Reason.NO_SUCH_GAME, f"this server plays {played}; the bot asked for {wanted}")
        reports = await missed(self.store, self.hall, bot, [each for each in hello.playing if each <= self._newest])
        contestant = self.hall.contestant(bot.id, bot.name, bot.owner)
        if contestant.session is not None:
            contestant.session.close(Reason.TAKEN_OVER, f"another connection of {bot.name} took over")
        session = Session(link, hello, self.post, self.config.limits)
        session.welcome(Welcome(bot.name, games, self.config.policy, self.config.ready_limit, self.config.park_after))
        contestant.parked = bot.parked is not None
        if contestant.parked:
            session.notify(parked_notice(bot))
        for report in reports:
            session.report(report)
        contestant.connected(trio.current_time(), session)
        self.hall.changed(contestant)
        log.info("bot connected", bot=bot.name, peer=link.peer, capacity=hello.capacity, client=hello.client)
        if self.stopping.is_set():
            session.notify(DRAINING)

        def hear(said: Said) -> None:
            contestant.hear(said)
            if said.capacity is not None:
                self.hall.changed(contestant)

        try:
            await session.run(hear)
        finally:
            contestant.disconnected(trio.current_time(), session)
            self.hall.release(contestant)
            log.info("bot gone", bot=bot.name, peer=link.peer, matches=len(contestant.tables))

    async def void(self, match: int, reason: str) -> None:
        """Takes the result of a match off the ladder; raises what `matches.void` raises."""
        game = await self.store.write(partial(matches.void, match=match, reason=reason, at=now_us()))
        self.truth.voided(game)
        log.info("result void", match=match, game=game, reason=reason)

    def begin_drain(self, limit: float) -> None:
        """Has `drain` go on whoever goes away; a later call with a lower limit hurries it."""
        log.info("draining", matches=self.playing, limit=limit)
        self._nursery.start_soon(self.drain, limit)

    @property
    def next_change(self) -> trio.Event:
        """Is set when a match ends or a drain is over."""
        return self._changed

    async def drain(self, limit: float) -> None:
        """Forms no more matches and lets those that run end; what is left after `limit` seconds the next server plays.

        Afterwards nothing that bots say or fail to say counts any more.
        """
        self.stopping.set()
        self.hall.close()
        for session in self.hall.sessions():
            session.notify(DRAINING)
        for gathering in self._gatherings:
            gathering.call_off(STOPPED)
        with trio.move_on_after(limit):
            await self._until(lambda: self._leaving or not (self._tables or self._gatherings))
        self._leaving = True
        for table in self._tables:
            table.freeze()
        self._change()
        with trio.move_on_after(LAST_RETRIES):
            await self._until(lambda: not self._gatherings and not any(table.over for table in self._tables))
        if self._tables:
            log.info("matches are left to the next start", matches=sorted(table.match_id for table in self._tables))
        self.drained.set()
        self._change()

    def dismiss(self) -> None:
        """Ends every bot's line, its last words sent."""
        with self.post:
            for session in self.hall.sessions():
                session.close(Reason.STOPPING, "the server is stopping; come back later")

    async def _until(self, condition: Callable[[], bool]) -> None:
        """Returns when a condition holds that the end of matches brings about."""
        while not condition():
            await self._changed.wait()

    def _seat(self, offer: Offer, players: Sequence[Player]) -> None:
        """A table was formed: its match is announced, which keeps the players' places."""
        self._newest += 1
        gathering = Gathering(self._newest, offer.game, offer.options, players, secrets.token_bytes(SEED_BYTES))
        self._gatherings.add(gathering)
        self._nursery.start_soon(self._play, gathering)

    async def _play(self, gathering: Gathering) -> None:
        """A match, from its invitations to its record."""
        table = None
        try:
            with trio.move_on_after(self.config.ready_limit):
                await gathering.complete()
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
            self.hall.close(trio.current_time() + RETRY)
            gathering.call_off("the server cannot store matches at the moment")
            return None
        self._tables.add(table)
        return table

    async def _finish(self, table: Table) -> None:
        """Waits for the end of a match that is being played, stores it and tells its bots."""
        over, changes, parked = await self._scribe.record(table, await table.played())
        if changes:
            self.truth.recorded(table.game)
            self._baselines.finished(table.header)
        table.report(over, changes)
        self.roster.park(parked)
        self._tables.discard(table)
        self._alarms.forget(table)
        table.dissolve()
        for player in table.players:
            if isinstance(player, Contestant):
                self.hall.got_up(player, table.game, table.met)
        self._release(table.players)

    def _release(self, players: Sequence[Player]) -> None:
        for player in players:
            if isinstance(player, Contestant):
                self.hall.release(player)
        self._change()

    def _change(self) -> None:
        """Whoever waits for matches to end looks again."""
        self._changed.set()
        self._changed = trio.Event()
