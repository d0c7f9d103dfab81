"""Baselines for the luck column: the points of house bots that replay the deals of a match.

Idle workers replay rated matches in the order of the results, but matches of events first.

The queue of rated matches is limited. Matches that end while it is full get no baseline, and neither do matches whose
replay fails. A server that stops or is killed leaves the queued matches to the next server. The server's own thread
replays nothing, so there are no baselines without workers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Final, NamedTuple

import structlog
import trio
from sqlalchemy import Connection

from arena.house import replayers, titles
from arena.replay.header import Header
from arena.replay.read import read
from arena.replay.replay import ReplayError
from arena.server.config import Config
from arena.server.workers.pool import ReplayFailed, WorkerPool
from arena.store.base.errors import ReplayPruned, StoreError
from arena.store.ladder import baselines, seasons
from arena.store.matches import matches
from arena.store.store import Store
from engine.deal import match_key
from engine.game import Game, Option

LOOK: Final = 5.0
"""Seconds between two searches for matches, of any node, whose deals are to be replayed."""
MOST_WAITING: Final = 256
"""Maximum number of matches in the queue. A starting server looks for at most that number."""
RETRY: Final = 2.0
"""Seconds between attempts to store a baseline, and to replay a match of an event."""
ATTEMPTS: Final = 2
"""Number of attempts to replay a match of an event."""

log = structlog.get_logger(__name__)


class Deals(NamedTuple):
    """The deals of a match, with everything that a replay needs."""

    match_id: int
    game: Game
    seats: int
    options: Mapping[str, Option]
    key: bytes
    ladder_id: str

    @classmethod
    def of(cls, header: Header) -> Deals:
        """Return the deals of a finished match."""
        key = match_key(header.seed, header.nonces)
        return cls(header.match_id, header.game, len(header.bots), header.options, key, header.ladder_id)


class Baselines:
    """A queue of matches whose deals are to be replayed."""

    def __init__(self, config: Config, store: Store, pool: WorkerPool, replayed: Callable[[str], None]) -> None:
        """`replayed` is called with the ladder id of each stored baseline."""
        games = [game.name for game in config.games if game.name in config.luck]
        self._house = {game: replayers(game) for game in games}
        if not config.house_workers:
            self._house = {}
        self._ladders = [ladder.name for ladder in config.ladders if ladder.game.name in self._house]
        """Names of the ladders whose deals are replayed."""
        self._store = store
        self._pool = pool
        self._replayed = replayed
        self._put, self._waiting = trio.open_memory_channel[Deals](MOST_WAITING)
        self._of_events = 0
        """Number of matches of events whose deals are being replayed."""
        self._quiet = trio.Event()
        """Set when no match of an event is being replayed."""

    def house(self, game: str) -> str:
        """Return the names of the bots that replay the deals of a game, in one string; empty if the deals are not
        replayed.
        """
        return titles(self._house.get(game, ()))

    async def of_event(self, match_id: int, house: str) -> tuple[int, ...]:
        """Replay the deals of an event's match ahead of all rated matches. Return the total points by seat.

        The result is empty if the replay fails twice, or if the bots differ from `house`.
        """
        self._of_events += 1
        try:
            for attempt in range(ATTEMPTS):
                if attempt:
                    await trio.sleep(RETRY)
                deals = await self._stored(match_id)
                if deals is not None and self.house(deals.game.name) != house:
                    log.error("other house bots replay than at the event's start", match_id=match_id, were=house)
                    return ()
                if deals is not None and (totals := await self._totals(deals)):
                    return totals
            return ()
        finally:
            self._of_events -= 1
            if self._of_events == 0:
                self._quiet.set()
                self._quiet = trio.Event()

    async def run_for_all(self, does: Callable[[], bool]) -> None:
        """Replay the deals of all nodes' matches while `does` returns true, until cancelled."""
        tried: set[int] = set()
        while True:
            for ladder in self._ladders if does() else ():
                for number in await self._left(ladder):
                    if number not in tried and does() and (deals := await self._stored(number)) is not None:
                        await self._replay(deals)
                    tried.add(number)
            await trio.sleep(LOOK)

    def finished(self, header: Header) -> None:
        """Queue a rated match."""
        if self._house.get(header.game.name):
            try:
                self._put.send_nowait(Deals.of(header))
            except trio.WouldBlock:
                log.warning("the workers are busy: a match gets no luck baseline", match_id=header.match_id)

    async def run(self) -> None:
        """Replay deals until cancelled, starting with those of an earlier server's matches."""
        left = [number for ladder in self._ladders for number in await self._left(ladder)]
        for number in left:
            if (deals := await self._stored(number)) is not None:
                await self._replay(deals)
        async for deals in self._waiting:
            if deals.match_id not in left:  # The first loop has replayed the matches in `left`.
                await self._replay(deals)

    async def _left(self, ladder: str) -> tuple[int, ...]:
        def missing(connection: Connection) -> tuple[int, ...]:
            ladder_id = seasons.current(connection, ladder).id
            return baselines.missing(connection, ladder_id, MOST_WAITING)

        try:
            return await self._store.read(missing)
        except StoreError as error:
            log.error("the deals to replay cannot be read", ladder=ladder, error=str(error))
            return ()

    async def _stored(self, number: int) -> Deals | None:
        """Return the deals of a match from its replay, or None if the replay is pruned or damaged."""

        def load(connection: Connection) -> Deals:
            return Deals.of(read(matches.get_replay(connection, number)).header)

        try:
            return await self._store.read(load)
        except ReplayPruned:
            return None
        except (StoreError, ReplayError) as error:
            log.error("deals not replayed", match_id=number, error=str(error))
            return None

    async def _totals(self, deals: Deals) -> tuple[int, ...]:
        """Replay the deals of a match. Return the total points by seat, or nothing if the replay fails."""
        totals = [0.0] * deals.seats
        try:
            for bot in self._house[deals.game.name]:
                once = await self._pool.baseline(deals.game, deals.seats, deals.options, deals.key, None, 1, bot)
                totals = [total + score for total, score in zip(totals, once, strict=True)]
        except ReplayFailed as error:
            log.error("deals not replayed", match_id=deals.match_id, error=str(error))
            return ()
        return tuple(map(int, totals))  # The points are whole numbers, since each bot replays once.

    async def _replay(self, deals: Deals) -> None:
        while self._of_events:
            await self._quiet.wait()
        scores = await self._totals(deals)
        if not scores:
            return
        job = partial(
            baselines.add,
            ladder_id=deals.ladder_id,
            match_id=deals.match_id,
            house=self.house(deals.game.name),
            scores=scores,
        )
        while True:
            try:
                await self._store.write(job)
            except StoreError as error:
                log.error("baseline not stored yet", match_id=deals.match_id, error=str(error), retry_in=RETRY)
                await trio.sleep(RETRY)
            except Exception:
                log.exception("a fault of the server: a match gets no baseline", match_id=deals.match_id)
                return
            else:
                self._replayed(deals.ladder_id)
                return
