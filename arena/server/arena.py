"""The server without its transport. Bots enter through `attend`; the server forms, plays and records their matches."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping, Sequence
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import structlog
import trio
from sqlalchemy import Connection

from arena.house import HOUSE_BOTS, HouseBot
from arena.ladder.events import day_of
from arena.ladder.live import RatingChange
from arena.log.head import LogState
from arena.replay.header import Header
from arena.server.config import Config, answer_limits, log_fields, quota_in_force
from arena.server.matches.driver import MatchDriver
from arena.server.matches.figures import MatchFigures
from arena.server.matches.house import House
from arena.server.matches.lifecycle import MatchLifecycle, Observers
from arena.server.matches.live import LiveMatches
from arena.server.matches.persistence import RETRY, MatchPersistence, prune_replays
from arena.server.matches.ready_check import ReadyCheck
from arena.server.matchmaking.events import Events
from arena.server.matchmaking.matchmaker import Announce, Matchmaker
from arena.server.matchmaking.search_seats import SearchSeats
from arena.server.nodes.node import EVENTS, FIT, LUCK, ThisNode
from arena.server.ratings.fit_client import FitClient
from arena.server.ratings.publisher import LadderPublisher
from arena.server.runtime.timers import Timers
from arena.server.runtime.turns import Turns
from arena.server.runtime.wall_clock import now_us
from arena.server.sessions.accounts import Accounts, parked_notice
from arena.server.sessions.admission import Admission, Authorization, held, named_ladders, on_its_ladders
from arena.server.sessions.kept_paces import KeptPaces
from arena.server.sessions.messages import (
    NOT_STORING,
    STORING,
    Closed,
    Hello,
    Link,
    MessageCodec,
    Notice,
    NoticeKind,
    Reason,
    Welcome,
)
from arena.server.sessions.past import past
from arena.server.sessions.player import BotPlayer
from arena.server.sessions.players import Players
from arena.server.sessions.session import Session
from arena.server.workers.baselines import Baselines
from arena.server.workers.pool import WorkerPool
from arena.stderr import decisions_log
from arena.store.base import changes
from arena.store.base.errors import NoSuchLadder, StoreError
from arena.store.bots.bots import Bot
from arena.store.ladder import pair_days, seasons
from arena.store.ladder.seasons import Season
from arena.store.matches import matches
from arena.store.store import Store
from engine.game import Game

VOIDS_AT_ONCE: Final = 100
"""Maximum number of results annulled in one transaction."""
DRAINING: Final = Notice(NoticeKind.DRAINING, "the server is stopping and forms no more matches")
log = structlog.get_logger(__name__)
decided = decisions_log()


@asynccontextmanager
async def open_arena(
    config: Config,
    store: Store,
    house_bots: Mapping[str, Sequence[HouseBot]] = HOUSE_BOTS,
    fit_client: FitClient | None = None,
    asked: float = 0.0,
) -> AsyncIterator[Arena]:
    """Run a server while the `with` block runs. Matches still running at its end are left to the next server.

    `house_bots`: the house bots that fill tables, by game, the weakest first; the strongest is the stand-in for absent
    bots. `fit_client` computes new ratings; without it the ladders do not change. `asked`: if the store registered this
    server as a node, the value of `nodes.node.instant` before the registration.
    """
    can_do = [FIT, EVENTS, *([LUCK] if config.house_workers else [])]
    node = None if store.lease is None else ThisNode(store, store.lease, asked, can_do=can_do)
    if node is not None:
        await node.begin()
    house = await House.registered(config, store, house_bots)
    newest, ladder_ids = await store.read(partial(_newest, ladders=[ladder.name for ladder in config.ladders]))
    async with trio.open_nursery() as nursery:
        timers = Timers()
        further = {ladder.name: ladder.pace_rules for ladder in config.ladders if ladder.further_name}
        pace_rules = config.clock.pace_rules(config.slow_pace, config.slow_percent / 100)
        players = Players(timers.watch, pace_rules, further)
        commit = store.journal.commit if node is None else partial(_commit, store, node)
        turns = Turns(commit, RETRY, partial(_tell_of_storage, players))
        pool = WorkerPool(config.house_workers, turns)
        nursery.start_soon(pool.run)
        search_seats = SearchSeats(config.house_search, house.searchers, pool.search)
        matchmaker = Matchmaker(config, players, house.fillers, turns, timers.watch, search_seats, ladder_ids)
        number = None if node is None else node.number
        post = _webhook(config, store, nursery, number)
        accounts = Accounts(store, players, config, post)
        fits = (lambda: True) if node is None else partial(node.does, FIT)
        publisher = LadderPublisher(config, store, fit_client, matchmaker.rated, post, ladder_ids, fits)
        baselines = Baselines(config, store, pool, publisher.replayed)

        def rated(header: Header) -> None:
            publisher.recorded(header.ladder_id)
            if node is None:
                baselines.finished(header)

        figures = MatchFigures()
        events = Events(config, store, players, house.fillers, ladder_ids, baselines, post, number)

        def played(driver: MatchDriver, ready_check: ReadyCheck | None, changes: Sequence[RatingChange]) -> None:
            figures.ended(driver)
            if event := driver.header.event:
                events.ended(event, [player.bot_id for player in driver.players if isinstance(player, BotPlayer)])
            matchmaker.match_ended(driver, ready_check, changes)

        observers = Observers(rated, accounts.park, played, matchmaker.close)
        persistence = MatchPersistence(config, store, node)
        live = LiveMatches(turns)
        lifecycle = MatchLifecycle(
            house,
            players,
            persistence,
            pool,
            store.journal,
            timers,
            observers,
            live,
            newest,
            ladder_ids,
            nursery,
            node,
        )
        arena = Arena(
            config,
            store,
            players,
            matchmaker,
            lifecycle,
            accounts,
            turns,
            publisher,
            live,
            figures,
            pool,
            nursery,
            ladder_ids,
            events,
            node,
        )
        await accounts.load(further)
        kept_paces = KeptPaces(store, players)
        await kept_paces.load()
        quota, today = quota_in_force(config), day_of(now_us())
        for name, ladder_id in ladder_ids.items() if quota.bounds else ():
            job = partial(pair_days.spent, ladder_id=ladder_id, day=today, quota=quota)
            for one, other, again in await store.read(job):
                matchmaker.spent(name, one, other, again)
        await lifecycle.take_up()
        matchmaker.open(lifecycle.announce)
        nursery.start_soon(timers.run)
        nursery.start_soon(live.run)
        if node is None:
            await nursery.start(events.run, lifecycle.announce)
        else:
            nursery.start_soon(_hold_events, node, events, lifecycle.announce)
        nursery.start_soon(arena.run)
        if node is None:
            nursery.start_soon(baselines.run)
        else:
            nursery.start_soon(baselines.run_for_all, partial(node.does, LUCK))
            nursery.start_soon(publisher.look)
            learn = {
                changes.BOT: accounts.learn,
                changes.OWNER: accounts.learn_owner,
                changes.LADDER: publisher.learn,
                changes.SEASON: arena.learn_season,
                changes.PACES: kept_paces.learn,
                changes.EVENT: events.learn,
            }
            nursery.start_soon(node.run, learn, players.list_nodes, matchmaker.met)
        nursery.start_soon(kept_paces.run)
        if config.keep_replays is not None:
            nursery.start_soon(prune_replays, store, config.keep_replays)
        try:
            yield arena
        finally:
            with trio.CancelScope(shield=True):
                await arena.drain(0)
                await kept_paces.last()
                await publisher.last()
                if node is not None:
                    await node.release()
            nursery.cancel_scope.cancel()


def _commit(store: Store, node: ThisNode) -> None:
    """Commit the journal of a node. Raises: StoreError: Nothing may be sent."""
    store.journal.commit()
    node.require()


async def _hold_events(node: ThisNode, events: Events, announce: Announce) -> None:
    """Wait until this node gets the job of running the events, then run them."""
    await node.acquired(EVENTS)
    await events.run(announce)


def _newest(connection: Connection, ladders: Sequence[str]) -> tuple[int, dict[str, str]]:
    """Return the number of the newest match and, by ladder name, the ids of the current seasons."""
    return matches.newest(connection), seasons.current_ids(connection, ladders)


def _webhook(
    config: Config, store: Store, nursery: trio.Nursery, node: int | None
) -> Callable[[str, Mapping[str, Any]], None]:
    """Return a function that sends a message to the webhook; without a webhook it does nothing."""
    if config.webhook is None:
        return lambda kind, fields: None
    from arena.server.workers.webhook import Webhook, file_of

    webhook = Webhook(config.webhook, config.data / file_of(node), store.signer)
    nursery.start_soon(webhook.run)
    return webhook.post


def _tell_of_storage(players: Players, error: StoreError | None) -> None:
    """Notify every bot that storing has failed and nothing can be sent, or that it works again."""
    notice = STORING if error is None else NOT_STORING
    for session in players.sessions():
        session.tell(notice)


@dataclass(eq=False, repr=False)
class Arena:
    """The state and calls of a server: players, matches, accounts, the store and the ladder."""

    config: Config
    store: Store
    players: Players
    matchmaker: Matchmaker
    _lifecycle: MatchLifecycle
    accounts: Accounts
    turns: Turns
    publisher: LadderPublisher
    live: LiveMatches
    """The public state of running matches."""
    figures: MatchFigures
    """Counts and times of finished matches."""
    workers: WorkerPool
    _nursery: trio.Nursery
    _ladder_ids: dict[str, str]
    events: Events
    node: ThisNode | None = None
    """This server as one of several nodes; None if there are no others."""

    def __post_init__(self) -> None:
        self.stopping = trio.Event()
        """Set when the server forms no more matches."""
        self.drained = trio.Event()
        """Set when no match is running any more, or when the remaining matches are left to the next server."""
        self.authorization = Authorization(self.store.operator_token, self.accounts.authenticate)
        self.admission = Admission(self.config.limits)
        self.started = now_us()
        """When the server started, in microseconds since 1970."""
        self.ladder_ids: Mapping[str, str] = self._ladder_ids
        """The ids of the current seasons, by ladder name."""
        self.on_drain: Callable[[float], None] = lambda _: None
        """Function that is called with the time limit of each drain, in seconds, when the drain starts."""
        self._games = {game.name: game for game in self.config.games}

    @property
    def playing(self) -> int:
        """Number of running matches."""
        return self._lifecycle.playing

    @property
    def drivers(self) -> Collection[MatchDriver]:
        """The drivers of running matches."""
        return self._lifecycle.drivers

    async def run(self) -> None:
        """Send heartbeats and queued messages and publish ladders, until cancelled."""
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.turns.run)
            nursery.start_soon(self.publisher.run)
            while True:
                await trio.sleep(self.config.heartbeat)
                for session in self.players.sessions():
                    session.beat(trio.current_time())

    async def attend(
        self, link: Link, codec: MessageCodec, authorize: Callable[[], Awaitable[Bot]], hello: Hello
    ) -> None:
        """Let a bot play on a link until its stream ends.

        `authorize` returns the bot's current row if the bot may play.

        Raises StoreError, what `authorize` raises, `trio.BrokenResourceError` if the bot vanished, and `Closed` if the
        server ends the session.
        """
        hello = on_its_ladders(hello, {ladder.name: ladder.game.name for ladder in self.config.ladders})
        games = tuple(self._games[name] for name in hello.games if name in self._games)
        if not games:
            played, wanted = ", ".join(self._games), ", ".join(hello.games)
            raise Closed(Reason.NO_SUCH_GAME, f"this server plays {played}; the bot asked for {wanted}")
        if hello.casual and not self.matchmaker.gives_casual(hello.ladders or hello.games):
            text = "this server gives no casual matches: it has no house bots for them, or casual_per_owner is 0"
            raise Closed(Reason.NO_CASUAL, text)
        await self.accounts.require_entry(authorize, hello.ladders or tuple(game.name for game in games))
        bot, found = await past(self.store, self.players, authorize, hello.reports_after)
        if hello.events:
            await self.events.greet(bot, hello.events, hello.ladders or hello.games)
        bot_player = self.players.enter(bot.id, bot.name, bot.owner)
        bot_player.newcomer = bot_player.newcomer and found.newcomer
        bot_player.authorize = authorize
        if bot_player.session is not None:
            bot_player.session.close(Reason.TAKEN_OVER, f"another connection of {bot.name} took over")
        session = Session(link, codec, hello, self.turns, self.config.limits)
        session.welcome(self._welcome(bot, games, hello, found.log_state))
        parked = self.accounts.parked(bot)
        bot_player.parked = frozenset(parked)
        plays_on = {name if name in self.players.pace_rules else "" for name in hello.ladders or hello.games}
        for ladder, parked_bot in parked.items():
            if ladder in plays_on:
                session.notify(parked_notice(parked_bot, ladder))
        for report in found.reports:
            session.report(report)
        bot_player.connected(trio.current_time(), session)
        self.players.changed(bot_player)
        log.debug("bot connected", bot=bot.name, peer=link.peer, capacity=hello.capacity, client=hello.client)
        if self.stopping.is_set():
            session.notify(DRAINING)
        try:
            await session.run(bot_player.hear)
        except trio.Cancelled:
            self.abandon()  # The server is stopping, perhaps because of a fault, so its bots do not count as absent.
            raise
        finally:
            bot_player.disconnected(trio.current_time(), session)
            self.players.release(bot_player)
            log.debug("bot gone", bot=bot.name, peer=link.peer, matches=len(bot_player.playing.running))

    def _welcome(self, bot: Bot, games: tuple[Game, ...], hello: Hello, log_state: LogState | None) -> Welcome:
        config = self.config
        return Welcome(
            bot.name,
            games,
            config.policy,
            answer_limits(config),
            config.park_after,
            min(hello.capacity, config.matches_per_bot),
            config.heartbeat,
            config.transport,
            log_state,
            held(hello.features),
            named_ladders(hello, config.ladders),
            tuple(name for name, _ in hello.events),
            {} if self.node is None else self.node.list_for(bot.id),
            0 if self.node is None else self.node.number,
        )

    async def void(self, match_id: int, reason: str) -> None:
        """Annul the result of a match. Raises what `matches.void` raises."""
        ladder_id = await self.store.write(partial(matches.void, match_id=match_id, reason=reason, at=now_us()))
        self.publisher.voided(ladder_id)
        decided.info("result void", match_id=match_id, **log_fields(self.config, ladder_id), reason=reason)

    async def void_results(self, bot: str, since: int, reason: str, after: int) -> tuple[int, ...]:
        """Annul results of a bot in matches with numbers above `after`; return the numbers of these matches.

        One call annuls at most `VOIDS_AT_ONCE` results, because nothing else can be stored meanwhile. Raises what
        `matches.void_results` raises.
        """
        job = partial(matches.void_results, bot=bot, since=since, reason=reason, at=now_us(), after=after)
        voided = await self.store.write(partial(job, limit=VOIDS_AT_ONCE))
        for ladder_id in {*voided.values()}:
            self.publisher.voided(ladder_id)
        decided.info("results void", bot=bot, matches=[*voided], reason=reason)
        return tuple(voided)

    async def begin_season(self, ladder: str) -> Season:
        """Start the next season of a ladder. Running matches count for the season in which they started.

        Raises: NoSuchLadder, StoreError.
        """
        if ladder not in self._ladder_ids:
            raise NoSuchLadder(ladder, self._ladder_ids)
        season = await self.store.write(partial(seasons.begin, ladder=ladder, at=now_us()))
        self._use_season(season)
        decided.info("season begun", ladder=ladder, season=season.number)
        return season

    async def learn_season(self, ladder: str) -> None:
        """Switch to a season of a ladder that another node has started. Raises: StoreError."""
        if ladder in self._ladder_ids:
            self._use_season(await self.store.read(partial(seasons.current, ladder=ladder)))

    def _use_season(self, season: Season) -> None:
        if self._ladder_ids[season.ladder] != season.id:
            self._ladder_ids[season.ladder] = season.id
            self.matchmaker.begin_season(season.ladder)

    def begin_drain(self, limit: float) -> None:
        """Start `drain` in the background; a later call with a lower limit shortens it."""
        decided.info("draining", matches=self.playing, limit=limit)
        self._nursery.start_soon(self.drain, limit)
        self.on_drain(limit)

    @property
    def next_change(self) -> trio.Event:
        """Return an event that is set when a match ends or a drain finishes."""
        return self._lifecycle.changed

    async def drain(self, limit: float) -> None:
        """Form no more matches and let running matches end. After `limit` seconds, leave the rest to the next server.

        Once matches are left, messages from bots and missed deadlines no longer count.
        """
        self._close()
        for session in self.players.sessions():
            session.notify(DRAINING)
        await self._lifecycle.clear(limit)
        self.drained.set()
        self._lifecycle.change()

    def abandon(self) -> None:
        """Leave all matches to the next server without waiting, like a drain with a limit of 0 s.

        If a drain has already left the matches, do nothing.
        """
        if not self._lifecycle.leaving:
            self._close()
            self._lifecycle.leave()

    def _close(self) -> None:
        """Stop forming matches."""
        self.stopping.set()
        self.matchmaker.close()
        self.events.close()
        self._lifecycle.call_off()

    def dismiss(self) -> None:
        """End every session once its queued messages are sent."""
        with self.turns:
            for session in self.players.sessions():
                session.close(Reason.STOPPING, "the server is stopping; come back later")
