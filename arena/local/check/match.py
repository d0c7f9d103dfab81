"""Matches of the bot under check, with real ready checks and drivers, and house bots or scripted bots in the other
seats.

A scripted bot chooses the first legal action when the check tells it to.
"""

from __future__ import annotations

import hashlib
import math
import secrets
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import count
from typing import Final

import trio

from arena.house import HOUSE_BOTS, title
from arena.local.check.log import CheckLog
from arena.match.policy import Policy, ReadyLimits
from arena.replay.header import Header, SeatedBot
from arena.server.config import Config, LadderSettings, LadderTable
from arena.server.matches.driver import MatchDriver
from arena.server.matches.ready_check import ReadyCheck
from arena.server.runtime.timers import Timers
from arena.server.runtime.turns import Turns
from arena.server.sessions.admission import on_its_ladders
from arena.server.sessions.messages import Answer, BotMessage, Hello, MatchOver, MessageCodec, Outgoing, Question
from arena.server.sessions.player import BotPlayer, HousePlayer, Player
from arena.server.sessions.session import Session
from arena.server.workers.pool import WorkerPool
from arena.store.journal.journal import Journal
from arena.version import __version__
from engine.deal import NONCE_BYTES
from engine.game import settle_options
from engine.registry import GAMES

POLICY: Final = Policy(soft_limit=1_000_000, bank=2_000_000)
"""A server's policy with a shorter time bank, so that checks of late answers are quick."""
LIMITS: Final = ReadyLimits(answer=30.0, offer=math.inf, seat=math.inf)
"""Limits under which no seat is offered to other bots."""
CONFIG: Final = Config(tuple(LadderTable(game, tuple(game.seats)) for game in GAMES.values()), policy=POLICY)
"""A server's configuration, except for the time bank."""
FURTHER_POLICY: Final = {"soft_limit": 2 * POLICY.soft_limit}
"""The time limit of decisions on a further ladder. It differs from the default ladders' limit."""
FIRST_MATCH: Final = 1 << 40
"""The first match number, which does not fit into 32 bits."""


class Puppet:
    """A scripted bot. It is also the link of its own session, so it receives its messages directly."""

    peer = "the check"
    busy = False

    def __init__(self, player: BotPlayer, turns: Turns) -> None:
        self.player = player
        self._turns = turns
        self._questions: list[Question] = []
        codec = MessageCodec(self._hear, self._take)
        player.session = Session(self, codec, Hello((), 1, ""), turns)

    @property
    def received_at(self) -> float:
        """The current time: messages of a scripted bot arrive at once."""
        return trio.current_time()

    def shortest_round_trip(self) -> float | None:
        """Return None, because the network delay is not measured."""
        return None

    def hand_over(self, message: bytes) -> None:
        """Do nothing, because the encoding step has already delivered the message."""

    async def deliver(self, _: Callable[[bytes], None], __: Callable[[], None]) -> None:
        """Do nothing: there is no connection to send on."""
        await trio.sleep_forever()

    def answer(self) -> bool:
        """Answer open questions. Always return False, for conditions such as `lambda: done or puppet.answer()`."""
        questions, self._questions = self._questions, []
        for question in questions:
            if (match := self.player.playing.running.get(question.match_id)) is not None:
                chosen = Answer(question.match_id, question.ask.decision, question.ask.legal[0])
                with self._turns:
                    match.answered(trio.current_time(), self.player, chosen)
        return False

    def _take(self, message: Outgoing) -> bytes:
        self._questions += message.questions
        return b""

    @staticmethod
    def _hear(_: bytes, __: float) -> BotMessage:
        raise AssertionError("nobody speaks")


@dataclass(eq=False, slots=True)
class CheckedMatch:
    """One match of the bot, beginning with its invitation."""

    ready_check: ReadyCheck
    match_id: int
    seat: int
    driver: MatchDriver | None = None
    """The match's driver, or None until the match has begun."""
    over: bool = False
    settled: bool = False
    """True if the ready check has succeeded or failed."""

    @property
    def begun(self) -> bool:
        """True if the match has begun."""
        return self.driver is not None


class Matches:
    """Creates the bot's matches with the same seeds in every run."""

    def __init__(
        self,
        pool: WorkerPool,
        journal: Journal,
        timers: Timers,
        log: CheckLog,
        nursery: trio.Nursery,
        ladders: Sequence[str] = (),
    ) -> None:
        """`ladders` are the names of ladders that the bot may choose besides the default ladders."""
        self.all: list[CheckedMatch] = []
        self.config = CONFIG
        """The configuration with the ladders of the latest hello."""
        self._further = {*ladders} - {*GAMES}
        self._log = log
        self._ended: list[MatchOver] = []
        """The bot's reports in the order of their log leaves."""
        self._pool = pool
        self._journal = journal
        self._timers = timers
        self._nursery = nursery
        self._numbers = count(FIRST_MATCH)

    def offer_ladders(self, hello: Hello) -> Hello:
        """Create the ladders that a hello names. Any name but a game's is a further ladder of the bot's first game.

        Return the hello with only the games of these ladders.

        Raises:
            Closed: the hello names the default ladder of a game that the bot does not play.
        """
        game = next((GAMES[name] for name in hello.games if name in GAMES), None)
        tables: list[LadderTable] = []
        if game is not None:
            further = [name for name in hello.ladders if name in self._further]
            tables = [LadderTable(game, tuple(game.seats), name=name, policy=FURTHER_POLICY) for name in further]
        self.config = replace(CONFIG, ladder_tables=(*CONFIG.ladder_tables, *tables))
        return on_its_ladders(hello, {ladder.name: ladder.game.name for ladder in self.config.ladders})

    def _ladder(self, bot: BotPlayer, game: str) -> LadderSettings:
        """Return the first ladder of a game on which the bot plays."""
        names = bot.session.hello.ladders if bot.session is not None else ()
        ladders = [each for each in self.config.ladders if each.game.name == game]
        return next((each for each in ladders if each.name in names), ladders[0])

    def invite(
        self,
        bot: BotPlayer,
        game: str,
        seats: int,
        seat: int = 0,
        others: Sequence[BotPlayer] = (),
        accepts: bool = True,
    ) -> CheckedMatch:
        """Offer the bot a seat. The bots `others` get the next seats, and house bots the rest.

        With `accepts`, the others accept at once. Without it, the match cannot begin.
        """
        house = HousePlayer(-1, HOUSE_BOTS[game][0])
        players: list[Player] = [house] * seats
        players[seat % seats] = bot
        for after, other in enumerate(others, 1):
            players[(seat + after) % seats] = other
        match_id = next(self._numbers)
        ready_check = ReadyCheck(
            self._ladder(bot, game),
            players,
            hashlib.sha256(match_id.to_bytes(8)).digest(),
            trio.current_time(),
            LIMITS,
            lambda _: self._nursery.start_soon(self._play, match),
        )
        match = CheckedMatch(ready_check, match_id, seat % seats)
        self.all.append(match)
        for other in others if accepts else ():
            ready_check.ready(other, secrets.token_bytes(NONCE_BYTES))
        ready_check.invite(bot)
        return match

    def ended_after(self, number: int | None) -> list[MatchOver]:
        """Return the reports after a leaf of the log, or an empty list if the log has no such leaf."""
        if number is None or number > self._log.state.head.size:
            return []
        return [each for each in self._ended if each.entry is not None and each.entry.number > number]

    def forget(self) -> None:
        """Drop all matches."""
        for match in self.all:
            if match.driver is not None:
                match.driver.freeze()
                self._timers.forget(match.driver)

    async def _play(self, match: CheckedMatch) -> None:
        ready_check = match.ready_check
        if ready_check.failure is not None:
            ready_check.withdraw()
            ready_check.dissolve()
            match.settled = True
            return
        driver = match.driver = self._drive(match)
        ready_check.dissolve()
        match.settled = True
        driver.begin()
        over = await driver.played()
        self._timers.forget(driver)
        driver.dissolve()
        entry = self._log.result(driver.header, over)
        report = partial(MatchOver, match.match_id, match.seat, over.scores, over.places, None, over.counts)
        self._ended.append(report(over.interrupted, driver.header.kind, over.spoilt, entry))
        driver.report(over, (), entry)
        match.over = True

    def _drive(self, match: CheckedMatch) -> MatchDriver:
        ready_check = match.ready_check
        ladder, players = ready_check.ladder, ready_check.players
        game = ladder.game
        stand_in = HOUSE_BOTS[game.name][0]
        header = Header(
            match_id=match.match_id,
            game=game,
            options=settle_options(game, len(players), {}),
            bots=tuple(SeatedBot(player.name, isinstance(player, HousePlayer)) for player in players),
            seed=ready_check.seed,
            commitment=ready_check.commitment,
            nonces=tuple(bytes(NONCE_BYTES) for _ in players),
            stand_in=title(stand_in),
            policy=ladder.policy,
            started=0,
            server=__version__,
            kind=ready_check.kind,
            offers=ready_check.offers,
            ladder=ladder.further_name,
        )
        return MatchDriver(
            header.new_match(),
            header,
            players,
            stand_in,
            ready_check.seed,
            self._pool,
            self._journal,
            self._timers.watch,
        )
