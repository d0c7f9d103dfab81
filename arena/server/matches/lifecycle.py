# Compiled: every decision passes through here.
"""Lifecycle of a server's matches, each from its announcement to its record.

A match starts as a `ReadyCheck` with a timer. Once all its bots are ready, one task runs the whole match.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Final, NamedTuple

import structlog
import trio

from arena.house import title
from arena.ladder.live import RatingChange
from arena.log.head import LogEntry
from arena.replay.header import Header, MatchKind, SeatedBot
from arena.server.config import LadderSettings
from arena.server.matches.driver import MatchDriver
from arena.server.matches.house import CannotBeRestored, House
from arena.server.matches.live import LiveMatches
from arena.server.matches.persistence import RETRY, MatchPersistence
from arena.server.matches.ready_check import ReadyCheck, Replacement
from arena.server.nodes.node import ThisNode
from arena.server.runtime.timers import Timers
from arena.server.runtime.wall_clock import now_us
from arena.server.sessions.player import BotPlayer, HousePlayer, Player
from arena.server.sessions.players import Players
from arena.server.workers.pool import WorkerPool
from arena.store.base.errors import StoreError
from arena.store.bots.bots import Bot
from arena.store.journal.journal import Journal
from arena.version import __version__
from engine.deal import SEED_BYTES, match_key
from engine.game import settle_options

LAST_RETRIES: Final = 10.0
"""Seconds for which a stopping server keeps retrying to store a match."""
STOPPED: Final = "the server was stopped"

log = structlog.get_logger(__name__)


class Observers(NamedTuple):
    """Callbacks for the end of a match."""

    rated: Callable[[Header], None]
    """Called when the result of a rated match is stored."""
    parked: Callable[[Sequence[Bot], LogEntry | None, str], None]
    """Called with newly parked bots, the log's entry of the match, and the ladder's name (empty for a default ladder).
    The store has already recorded the bots and the entry.
    """
    played: Callable[[MatchDriver, ReadyCheck | None, Sequence[RatingChange]], None]
    """Called when a match has ended, before its bots are released. The arguments are the match, its ready check and the
    rating changes by seat. The ready check is None if an earlier server started the match. The rating changes are empty
    for an unrated match.
    """
    stuck: Callable[[float], None]
    """Called when storing has failed. The argument is the time of the next attempt, in seconds of the server's
    clock.
    """


class MatchLifecycle:
    """The matches of a running server."""

    def __init__(
        self,
        house: House,
        players: Players,
        persistence: MatchPersistence,
        pool: WorkerPool,
        journal: Journal,
        timers: Timers,
        observers: Observers,
        live: LiveMatches,
        newest: int,
        ladder_ids: Mapping[str, str],
        nursery: trio.Nursery,
        node: ThisNode | None = None,
    ) -> None:
        """`newest`: the number of the newest match so far. `ladder_ids`: the ids of the current seasons, by ladder
        name. `nursery` runs the matches. `node`: this server as one of several nodes.
        """
        self.newest = newest
        self.changed = trio.Event()
        """`change` sets this event and replaces it with a new one."""
        self._house = house
        self._players = players
        self._persistence = persistence
        self._pool = pool
        self._journal = journal
        self._timers = timers
        self._observers = observers
        self._live = live
        self._ladder_ids = ladder_ids
        self._nursery = nursery
        self._node = node
        self._ready_checks: set[ReadyCheck] = set()
        self._drivers: dict[int, MatchDriver] = {}
        """The running matches, by number."""
        self.leaving = False
        """True if running matches are left to the next server."""

    @property
    def playing(self) -> int:
        """Number of running matches."""
        return len(self._drivers)

    @property
    def drivers(self) -> Collection[MatchDriver]:
        """The drivers of running matches."""
        return self._drivers.values()

    async def take_up(self) -> None:
        """Continue the matches of an earlier server."""
        for header, seated, inputs in await self._persistence.unfinished():
            try:
                players = self._house.take_up(header, seated, self._players.enter)
            except CannotBeRestored as error:
                await self._persistence.void_unfinished(header.match_id, error)
                continue
            log.info("match resumed", match_id=header.match_id, inputs=len(inputs))
            driver = self._drive(header, players, header.kind is MatchKind.RATED)
            driver.resume(inputs)
            self._nursery.start_soon(self._finish, driver)

    def announce(
        self, ladder: LadderSettings, players: Sequence[Player], kind: MatchKind, replacement: Replacement
    ) -> ReadyCheck:
        """Announce a match to its players, which count as busy from now on.

        `replacement` returns another player for a seat whose bot does not accept.
        """
        ready_check = ReadyCheck(
            ladder,
            players,
            secrets.token_bytes(SEED_BYTES),
            trio.current_time(),
            ladder.answer_limits,
            self._settled,
            replacement,
            kind,
        )
        self._ready_checks.add(ready_check)
        self._timers.watch(ready_check)
        ready_check.invite_all()
        return ready_check

    def call_off(self) -> None:
        """Call off every match whose ready check is open."""
        for ready_check in self._ready_checks:
            ready_check.call_off(STOPPED)

    async def clear(self, limit: float) -> None:
        """Let running matches end. After `limit` seconds, leave the rest to the next server.

        Once matches are left, messages from bots and missed deadlines no longer count.
        """
        with trio.move_on_after(limit):
            await self._until(lambda: self.leaving or not (self._drivers or self._ready_checks))
        self.leave()
        with trio.move_on_after(LAST_RETRIES):
            await self._until(
                lambda: not self._ready_checks and not any(driver.over for driver in self._drivers.values())
            )
        if self._drivers:
            log.info("matches are left to the next start", matches=sorted(self._drivers))

    def leave(self) -> None:
        """Leave running matches to the next server. Messages from bots and missed deadlines no longer count."""
        self.leaving = True
        for driver in self._drivers.values():
            driver.freeze()
        self.change()

    def change(self) -> None:
        """Wake the tasks that wait for matches to end."""
        self.changed.set()
        self.changed = trio.Event()

    async def _until(self, condition: Callable[[], bool]) -> None:
        """Wait for a condition that can change only when a match ends."""
        while not condition():
            await self.changed.wait()

    def _settled(self, ready_check: ReadyCheck) -> None:
        self._timers.forget(ready_check)
        self._nursery.start_soon(self._play, ready_check)

    async def _play(self, ready_check: ReadyCheck) -> None:
        """Play a match from its last `Ready` to its record."""
        driver = None
        try:
            if ready_check.failure is None:
                driver = await self._open(ready_check)
            if driver is None:
                ready_check.withdraw()
        finally:
            ready_check.dissolve()
            self._ready_checks.discard(ready_check)
        ready_check.concluded(None if driver is None else driver.match_id, ready_check.failure)
        if driver is None:
            self._release(ready_check.invited)
            return
        if self.leaving:
            driver.freeze()
        driver.begin()
        await self._finish(driver, ready_check)

    async def _open(self, ready_check: ReadyCheck) -> MatchDriver | None:
        """Return the driver of a match whose bots are all ready, or None if the start cannot be stored."""
        ladder, players = ready_check.ladder, ready_check.players
        game = ladder.game
        ladder_id = self._ladder_ids[ladder.name]
        try:
            number = await self._next_number()
        except StoreError as error:
            self._not_begun(ready_check, None, error)
            return None
        header = Header(
            match_id=number,
            game=game,
            options=settle_options(game, len(players), ladder.options),
            bots=tuple(SeatedBot(player.name, isinstance(player, HousePlayer), player.newcomer) for player in players),
            seed=ready_check.seed,
            commitment=ready_check.commitment,
            nonces=ready_check.nonces,
            stand_in=title(self._house.stand_in(game.name, players)),
            policy=ladder.policy,
            started=now_us(),
            server=__version__,
            kind=ready_check.kind,
            offers=ready_check.offers,
            ladder="" if ladder_id == game.name else ladder_id,
            event=ready_check.event,
        )
        try:
            await self._persistence.begin(header, ladder.options, players)
        except StoreError as error:
            self._not_begun(ready_check, number, error)
            return None
        return self._drive(header, players, ready_check.charged)

    async def _next_number(self) -> int:
        """Return the number of the next match. Raises: StoreError."""
        if self._node is not None:
            return await self._node.next_number()
        self.newest += 1
        return self.newest

    def _not_begun(self, ready_check: ReadyCheck, number: int | None, error: StoreError) -> None:
        """Call off a match because its start cannot be stored."""
        log.error("match not begun", match_id=number, error=str(error))
        self._observers.stuck(trio.current_time() + RETRY)
        ready_check.call_off("the server cannot store matches at the moment")

    def _drive(self, header: Header, players: Sequence[Player], charged: bool) -> MatchDriver:
        """Return the driver of a match whose start is stored. `charged`: true if mistakes count as trouble."""
        driver = self._drivers[header.match_id] = MatchDriver(
            header.new_match(),
            header,
            players,
            self._house.stand_in(header.game.name, players),
            match_key(header.seed, header.nonces),
            self._pool,
            self._journal,
            self._timers.watch,
            charged,
            self._live.round_over,
        )
        self._live.began(header)
        return driver

    async def _finish(self, driver: MatchDriver, ready_check: ReadyCheck | None = None) -> None:
        """Wait for the end of a match, store the result and notify the bots."""
        ended = await driver.played()
        over, changes, parked, entry = await self._persistence.record(driver.match_id, ended, driver)
        if changes:
            self._observers.rated(driver.header)
        self._observers.parked(parked, entry, driver.header.further_ladder)
        self._live.over(driver.match_id, over)
        del self._drivers[driver.match_id]
        self._timers.forget(driver)
        driver.dissolve()
        for player in driver.players:
            if isinstance(player, BotPlayer):
                player.newcomer = False
                player.offers.availability.played()
        self._observers.played(driver, ready_check, changes)
        self._release(driver.players)
        # The matchmaker has freed the players by now, so the report and the next invitation leave together.
        driver.report(over, changes, entry)

    def _release(self, players: Sequence[Player]) -> None:
        for player in players:
            if isinstance(player, BotPlayer):
                self._players.release(player)
        self.change()
