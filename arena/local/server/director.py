"""The local matchmaker. It plays given deals at given tables, in place of a server's matchmaker and match lifecycle."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Final, NamedTuple

import trio

from arena.house.random_bot import RandomBot
from arena.local.errors import LocalMatchError
from arena.local.play.table import PlayedGame, runner_header
from arena.local.server.host import LocalHost
from arena.match.policy import ReadyLimits
from arena.replay.hash_chain import with_chain
from arena.replay.header import MatchKind, SeatedBot
from arena.replay.record import Draft
from arena.server.matches.driver import MatchDriver
from arena.server.matches.ready_check import ReadyCheck
from arena.server.runtime.timers import Timers
from arena.server.runtime.turns import Turns
from arena.server.runtime.wall_clock import now_us
from arena.server.sessions.player import BotPlayer, HousePlayer, Player
from arena.server.workers.pool import WorkerPool
from engine.deal import match_key
from engine.game import settle_options

GLANCE: Final = 0.2
"""Number of seconds between two searches for decisions that bots left to the referee."""
ACTED: Final = '{"in":"acted",'
"""Prefix of a replay line with a bot's answer."""


class GivenDeal(NamedTuple):
    """The seed and nonces that determine the cards of a match. Nonces that bots send for the match have no effect."""

    seed: bytes
    nonces: tuple[bytes, ...]
    """The nonce of each seat, 16 bytes."""


class DirectedGame(NamedTuple):
    """A finished game."""

    played: PlayedGame
    draft: Draft
    """The record of the match, from which the replay is written."""

    @property
    def replay(self) -> bytes:
        """The replay file."""
        return with_chain(self.draft.complete(()).content)


class OwedDecision(NamedTuple):
    """A decision that a bot owes."""

    match_id: int
    seat: int
    number: int


class DecisionsLeft(LocalMatchError):  # noqa: N818 - the name says what is the matter
    """Error for a decision that the referee made for a bot. It ends the comparison."""

    def __init__(self, player: Player, match_id: int) -> None:
        super().__init__(player, match_id)
        self.player = player
        self.match_id = match_id


class Director:
    """Plays matches of one game, as many at the same time as the bots' capacities allow."""

    def __init__(self, host: LocalHost, turns: Turns, timers: Timers) -> None:
        self._host = host
        self._config = host.config
        self._ladder = host.config.ladders[0]
        self._timers = timers
        self._pool = WorkerPool(0, turns)
        self._drivers: set[MatchDriver] = set()
        ready_limit = self._ladder.answer_limits.answer
        self._limits = ReadyLimits(ready_limit, ready_limit, ready_limit)

    async def play(self, deal: GivenDeal, players: Sequence[Player], match_id: int) -> DirectedGame:
        """Play one game.

        Raises:
            DecisionsLeft: the referee made a decision for a bot.
            LocalMatchError: a bot does not accept its seat.
        """
        bots = [player for player in players if isinstance(player, BotPlayer)]
        await self._host.until(lambda: all(map(self._has_room, bots)))
        ready_check = await self._gathered(deal, players)
        header = runner_header(
            match_id,
            self._ladder.game,
            settle_options(self._ladder.game, len(players), self._ladder.options),
            [SeatedBot(player.name, isinstance(player, HousePlayer)) for player in players],
            deal.seed,
            now_us(),
            nonces=deal.nonces,
            policy=self._ladder.policy,
            offers=ready_check.offers,
        )
        stand_in, key = RandomBot(self._ladder.game.name), match_key(deal.seed, deal.nonces)
        driver = MatchDriver(header.new_match(), header, players, stand_in, key, self._pool, None, self._timers.watch)
        ready_check.dissolve()
        self._drivers.add(driver)
        try:
            driver.begin()
            over = await driver.played()
        finally:
            driver.freeze()
            self._drivers.discard(driver)
            self._timers.forget(driver)
            driver.dissolve()
            self._host.change()
        _look(driver)
        driver.report(over, ())
        return _directed(driver, over.scores, over.places)

    def owed(self, player: BotPlayer) -> frozenset[OwedDecision]:
        """Return the decisions that a bot owes in all its matches."""
        return frozenset(
            OwedDecision(driver.match_id, seat, number)
            for driver in self._drivers
            for seat, each in enumerate(driver.players)
            if each is player and (number := driver.open_decision(seat)) is not None
        )

    async def look(self) -> None:
        """Watch the running matches. Raise DecisionsLeft when a bot has left a decision to the referee."""
        while True:
            await trio.sleep(GLANCE)
            for driver in self._drivers:
                _look(driver, owed=1)

    async def _gathered(self, deal: GivenDeal, players: Sequence[Player]) -> ReadyCheck:
        """Wait until the bots have accepted their seats."""
        settled = trio.Event()
        now = trio.current_time()
        ready_check = ReadyCheck(
            self._ladder,
            players,
            deal.seed,
            now,
            self._limits,
            lambda _: settled.set(),
            kind=MatchKind.CASUAL,
        )
        self._timers.watch(ready_check)
        try:
            ready_check.invite_all()
            await settled.wait()
        finally:
            self._timers.forget(ready_check)
        if ready_check.failure is not None:
            ready_check.withdraw()
            ready_check.dissolve()
            who = ", ".join(f"{offer.bot} {offer.outcome.value}" for offer in ready_check.offers)
            raise LocalMatchError(f"a match did not come about: {ready_check.failure} ({who or 'nobody answered'})")
        return ready_check

    def _has_room(self, bot: BotPlayer) -> bool:
        return bot.session is not None and bot.busy < min(bot.session.capacity, self._config.matches_per_bot)


def _look(driver: MatchDriver, owed: int = 0) -> None:
    """Raise DecisionsLeft if the referee made a decision for a bot.

    `owed` is the maximum number of decisions that a bot may owe.
    """
    for player, thinking in zip(driver.players, driver.thinking, strict=True):
        if thinking.missed > owed and isinstance(player, BotPlayer):
            raise DecisionsLeft(player, driver.match_id)


def _directed(driver: MatchDriver, scores: tuple[int, ...], places: tuple[int, ...]) -> DirectedGame:
    thinking = driver.thinking
    draft = driver.draft()
    acted = [json.loads(line) for line in draft.text.split("\n") if line.startswith(ACTED)]
    chosen = {line["decision"]: line["action"] for line in acted}
    played = PlayedGame(
        scores,
        places,
        tuple(seat.decisions for seat in thinking),
        tuple(sum(seat.times) for seat in thinking),
        tuple(max(seat.times, default=0) for seat in thinking),
        tuple(chosen[decision] for decision in sorted(chosen)),
        driver.header.started,
    )
    return DirectedGame(played, draft)
