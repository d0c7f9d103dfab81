"""The server without its wire: bots come in through `attend`; matches are formed, played and recorded.

The matches themselves are the floor's (`arena.server.floor`).
"""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
import trio

from arena.house import HOUSE_BOTS
from arena.server.alarms import Alarms
from arena.server.baselines import Baselines
from arena.server.door import Door
from arena.server.floor import Floor
from arena.server.hall import Hall
from arena.server.messages import Closed, Notice, NoticeKind, Reason, Welcome
from arena.server.missed import missed
from arena.server.players import HousePlayer
from arena.server.pool import WorkerPool
from arena.server.post import Post
from arena.server.roster import Roster, parked_notice
from arena.server.scribe import RETRY, Scribe
from arena.server.session import Session
from arena.server.truth import Publisher
from arena.server.wall import now_us
from arena.store import bots, matches

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from arena.house import HouseBot
    from arena.server.config import Config
    from arena.server.fitter import Fitter
    from arena.server.messages import Hello, Link
    from arena.store.store import Store

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
        hall = Hall(config, house, post, alarms.watch)
        roster = Roster(store, hall, config.limits)
        truth = Publisher(config, store, fitter, hall.rated)
        baselines = Baselines(config, store, pool, truth.replayed)
        floor = Floor(config, hall, scribe, alarms, roster, truth, baselines, newest, nursery)
        arena = Arena(config, store, hall, floor, roster, post, truth, nursery)
        await floor.take_up()
        hall.open(floor.announce)
        nursery.start_soon(alarms.run)
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
    """What bots and operators meet: the hall and the floor behind it, the roster, the store and the ladder."""

    def __init__(
        self,
        config: Config,
        store: Store,
        hall: Hall,
        floor: Floor,
        roster: Roster,
        post: Post,
        truth: Publisher,
        nursery: trio.Nursery,
    ) -> None:
        self.config = config
        self.store = store
        self.hall = hall
        self.stopping = trio.Event()
        """Set when no more matches are formed."""
        self.drained = trio.Event()
        """Set when no match runs any more, or those that do are left to the next start."""
        self.roster = roster
        self.door = Door(config.limits)
        self.post = post
        self.truth = truth
        self._games = {game.name: game for game in config.games}
        self._floor = floor
        self._nursery = nursery

    @property
    def playing(self) -> int:
        """Matches being played."""
        return self._floor.playing

    async def run(self) -> None:
        """Sends heartbeats and what else is to be said, and has ladders fitted, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.post.run)
            nursery.start_soon(self.truth.run)
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
        reports = await missed(
            self.store, self.hall, bot, [each for each in hello.playing if each <= self._floor.newest]
        )
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
        try:
            await session.run(partial(self.hall.hear, contestant))
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
        return self._floor.changed

    async def drain(self, limit: float) -> None:
        """Forms no more matches and lets those that run end; what is left after `limit` seconds the next server plays.

        Afterwards nothing that bots say or fail to say counts any more.
        """
        self.stopping.set()
        self.hall.close()
        for session in self.hall.sessions():
            session.notify(DRAINING)
        await self._floor.clear(limit)
        self.drained.set()
        self._floor.change()

    def dismiss(self) -> None:
        """Ends every bot's line, its last words sent."""
        with self.post:
            for session in self.hall.sessions():
                session.close(Reason.STOPPING, "the server is stopping; come back later")
