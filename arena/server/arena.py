"""The server without its wire: bots come in through `attend`; matches are formed, played and recorded.

A match is one task from its invitations to its record; nothing runs per decision.
"""

from __future__ import annotations

import secrets
import time
from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
import trio

from arena.house import HOUSE_BOTS
from arena.match.effects import Over
from arena.match.match import Match
from arena.replay.record import Bot, Header
from arena.server.alarms import Alarms
from arena.server.contestant import Contestant
from arena.server.gathering import Gathering
from arena.server.hall import Hall
from arena.server.messages import Closed, Notice, NoticeKind, Reason, Welcome
from arena.server.players import HousePlayer, Player
from arena.server.session import Session
from arena.server.table import Table
from arena.store import bots, matches
from arena.store.errors import StoreError, UnknownToken
from arena.version import __version__
from engine.deal import SEED_BYTES, SeededDecks, match_key
from engine.game import settle_options

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Mapping, Sequence

    from sqlalchemy import Connection

    from arena.ladder import live
    from arena.server.config import Config, Offer
    from arena.server.messages import Hello, Link, Said
    from arena.store.store import Store

RETRY: Final = 2.0
"""Seconds after which what could not be stored is tried again."""
LAST_RETRIES: Final = 10.0
"""Seconds a stopping server goes on trying."""
STOPPED: Final = "the server was stopped"

log = structlog.get_logger(__name__)


def now_us() -> int:
    """The wall clock in microseconds since 1970, as the store keeps instants."""
    return time.time_ns() // 1000


@asynccontextmanager
async def open_arena(config: Config, store: Store) -> AsyncIterator[Arena]:
    """A running server; on leaving, what is still being played is interrupted and recorded as such."""
    house: dict[str, list[HousePlayer]] = {}
    for game in config.games:
        fillers = HOUSE_BOTS.get(game.name, ()) if config.house else ()
        rows = await store.write(partial(bots.ensure_house_bots, names=[bot.name for bot in fillers], at=now_us()))
        house[game.name] = [HousePlayer(row.id, bot) for row, bot in zip(rows, fillers, strict=True)]
    newest = await store.read(matches.newest)
    async with trio.open_nursery() as nursery:
        arena = Arena(config, store, house, newest, nursery)
        nursery.start_soon(arena.run)
        try:
            yield arena
        finally:
            with trio.CancelScope(shield=True):
                await arena.drain(0)
            nursery.cancel_scope.cancel()


class Arena:
    """Everything a running server is: its store, its hall, its alarms and its tables."""

    def __init__(
        self,
        config: Config,
        store: Store,
        house: Mapping[str, Sequence[HousePlayer]],
        newest: int,
        nursery: trio.Nursery,
    ) -> None:
        self.config = config
        self.store = store
        self.hall = Hall(config, house)
        self.stopping = trio.Event()
        """Set when no more matches are formed."""
        self._games = {game.name: game for game in config.games}
        self._newest = newest
        self._nursery = nursery
        self._alarms = Alarms()
        self._gatherings: set[Gathering] = set()
        self._tables: set[Table] = set()
        self._ended = trio.Event()

    @property
    def playing(self) -> int:
        """Matches being played."""
        return len(self._tables)

    async def run(self) -> None:
        """Forms tables, rings alarms and sends heartbeats until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._alarms.run)
            nursery.start_soon(self.hall.run, self._seat)
            while True:
                await trio.sleep(self.config.heartbeat)
                for session in self.hall.sessions():
                    session.beat(trio.current_time())

    async def authenticate(self, token: str) -> bots.Bot | None:
        """The bot that has a token; None if nobody has."""
        try:
            return await self.store.read(partial(bots.authenticate, token=token))
        except UnknownToken:
            return None

    async def attend(self, link: Link, bot: bots.Bot, hello: Hello) -> None:
        """Lets a bot play on a line until it has said its last.

        Raises `LinkLost` when the bot vanished and `Closed` when the server ends the line.
        """
        games = tuple(self._games[name] for name in hello.games if name in self._games)
        if not games:
            played, wanted = ", ".join(sorted(self._games)), ", ".join(hello.games)
            raise Closed(Reason.NO_SUCH_GAME, f"this server plays {played}; the bot asked for {wanted}")
        contestant = self.hall.contestant(bot.id, bot.name, bot.owner)
        if contestant.session is not None:
            contestant.session.close(Reason.TAKEN_OVER, f"another connection of {bot.name} took over")
        session = Session(link, hello)
        session.welcome(Welcome(bot.name, games, self.config.policy, self.config.ready_limit))
        contestant.connected(trio.current_time(), session)
        self.hall.changed()
        log.info("bot connected", bot=bot.name, peer=link.peer, capacity=hello.capacity, client=hello.client)

        def hear(said: Said) -> None:
            contestant.hear(said)
            if said.capacity is not None:
                self.hall.changed()

        try:
            await session.run(hear)
        finally:
            contestant.disconnected(trio.current_time(), session)
            self.hall.release(contestant)
            log.info("bot gone", bot=bot.name, peer=link.peer, matches=len(contestant.tables))

    async def register(self, name: str, owner: str, invitation: str, by_invitation: bool) -> bots.Registered:
        """A new bot; raises what `bots.register` raises."""
        registered = await self.store.write(
            partial(
                bots.register, name=name, owner=owner, at=now_us(), invitation=invitation, by_invitation=by_invitation
            )
        )
        log.info("bot registered", bot=name, owner=registered.bot.owner)
        return registered

    async def invite(self, owner: str) -> str:
        """The code of a new invitation; raises what `bots.invite` raises."""
        code = await self.store.write(partial(bots.invite, owner=owner, at=now_us()))
        log.info("invitation made", owner=owner)
        return code

    async def drain(self, limit: float) -> None:
        """Forms no more matches, lets those that run end, and interrupts what is left after `limit` seconds."""
        self.stopping.set()
        self.hall.close()
        for session in self.hall.sessions():
            session.notify(Notice(NoticeKind.DRAINING, "the server is stopping and forms no more matches"))
        for gathering in self._gatherings:
            gathering.call_off(STOPPED)
        with trio.move_on_after(limit):
            await self._all_over()
        for table in self._tables:
            table.interrupt(trio.current_time(), STOPPED)
        with trio.move_on_after(LAST_RETRIES):
            await self._all_over()
        if self._tables:
            log.critical("results could not be stored", matches=sorted(table.match_id for table in self._tables))

    def dismiss(self) -> None:
        """Ends every bot's line."""
        for session in self.hall.sessions():
            session.close(Reason.STOPPING, "the server is stopping; come back later")

    async def _all_over(self) -> None:
        while self._tables or self._gatherings:
            await self._ended.wait()

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
            if gathering.failure is None and (table := await self._open(gathering)) is not None:
                self._tables.add(table)
            else:
                gathering.withdraw()
        finally:
            gathering.dissolve()
            self._gatherings.discard(gathering)
        if table is not None:
            if gathering.failure is not None:  # called off while its beginning was being stored
                table.interrupt(trio.current_time(), gathering.failure)
            await self._record(table, await table.play())
            self._tables.discard(table)
            table.dissolve()
        for player in gathering.players:
            if isinstance(player, Contestant):
                self.hall.release(player)
        self._ended.set()
        self._ended = trio.Event()

    async def _open(self, gathering: Gathering) -> Table | None:
        """The table of a match that everybody is ready for, its beginning recorded; None if that failed."""
        game, options, players = gathering.game, gathering.options, gathering.players
        started = now_us()
        try:
            await self.store.write(
                partial(
                    matches.begin,
                    game=game.name,
                    options=options,
                    bots=[bots.BotId(player.bot_id) for player in players],
                    at=started,
                    number=gathering.match_id,
                )
            )
        except StoreError as error:
            log.error("match not begun", match=gathering.match_id, error=str(error))
            self.hall.close(trio.current_time() + RETRY)
            gathering.call_off("the server cannot store matches at the moment")
            return None
        key = match_key(gathering.seed, gathering.nonces)
        header = Header(
            match=gathering.match_id,
            game=game,
            options=settle_options(game, len(players), options),
            bots=tuple(Bot(player.name, isinstance(player, HousePlayer)) for player in players),
            seed=gathering.seed,
            commitment=gathering.commitment,
            nonces=gathering.nonces,
            policy=self.config.policy,
            started=started,
            server=__version__,
        )
        match = Match(game, len(players), options, SeededDecks(key), self.config.policy)
        log.info("match began", match=gathering.match_id, game=game.name, bots=[player.name for player in players])
        return Table(gathering.match_id, match, game.actions, players, key, header, self._alarms.watch)

    async def _record(self, table: Table, over: Over) -> None:
        """Stores how a match ended, as often as it takes, and tells its bots."""
        number, at = matches.MatchId(table.match_id), now_us()

        def store(connection: Connection) -> tuple[live.RatingChange, ...]:
            if over.interrupted:
                matches.interrupt(connection, [number], over.interrupted, at)
                return ()
            return matches.finish(
                connection,
                number,
                scores=over.scores,
                places=over.places,
                forced=over.forced,
                at=at,
                replay=table.replay,
            )

        while True:
            try:
                changes = await self.store.write(store)
                break
            except StoreError as error:
                log.error("result not stored yet", match=table.match_id, error=str(error), retry_in=RETRY)
                await trio.sleep(RETRY)
            except Exception:
                if over.interrupted:
                    raise
                log.exception("a fault of the server: the match is recorded as interrupted", match=table.match_id)
                over = Over((), (), over.forced, "the server could not record the result")
        log.info("match over", match=table.match_id, scores=over.scores, places=over.places, reason=over.interrupted)
        table.report(over, changes)
