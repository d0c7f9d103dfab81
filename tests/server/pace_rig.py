"""An evening on a virtual clock: the real matchmaker, ready checks and pace classes. Matches have a length but no game.

A match lasts as long as its bots owe answers, one after the other. A single task handles the events one after the
other.
"""

from __future__ import annotations

import heapq
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations
from random import Random
from typing import Any, Final, NamedTuple, cast

import trio
from trio.testing import MockClock

from arena.replay.header import MatchKind
from arena.scheduling.pace import OwedTime, PaceRules
from arena.server.config import LadderSettings, answer_limits
from arena.server.matches.ready_check import ReadyCheck, Replacement
from arena.server.matchmaking.matchmaker import Matchmaker
from arena.server.matchmaking.search_seats import SearchSeats
from arena.server.runtime.timers import TimerOwner
from arena.server.sessions.messages import BotMessage, Hello, Invitation, Link, Ready
from arena.server.sessions.player import BotPlayer, Player, RunningMatch
from arena.server.sessions.players import Players
from arena.server.sessions.session import Session
from arena.server.workers.search import SearchWorker
from tests.server.server_rig import CODEC, GAME, QUICK, config, house_players, turns, unpacked

SLOW: Final = 0.9
"""Seconds per decision of a slow bot."""
DECISIONS: Final = (20, 40)
"""Minimum and maximum number of decisions of a seat in a match."""
SEED: Final = bytes(32)


@dataclass(frozen=True)
class Kind:
    """The behaviour of a simulated bot."""

    seconds: float = QUICK
    """Seconds per decision."""
    capacity: int = 1
    answers: str = "ready"
    """Reaction to invitations: `ready`, `declines` or `ignores`."""
    leaves: bool = False
    """True if the bot vanishes from every match except its first, and returns when the match is over."""


class Played(NamedTuple):
    """A finished match."""

    players: Sequence[Player]
    ladder_id: str
    length: float
    owed: OwedTime
    tells_paces: Sequence[bool]
    kind: MatchKind = MatchKind.RATED


class Told:
    """A link that only forwards invitations to a simulated bot."""

    busy = False
    received_at = 0.0

    def __init__(self, bot: SimulatedBot) -> None:
        self.bot = bot

    def hand_over(self, message: bytes) -> None:
        for invitation in unpacked(message).invitations:
            self.invite(invitation)

    def invite(self, invitation: Invitation) -> None:
        if self.bot.kind.answers != "ignores":
            self.bot.evening.after(QUICK, partial(self.bot.answer, invitation.invitation_id))


class SimulatedBot:
    """A simulated bot and its statistics."""

    def __init__(self, evening: Evening, bot_player: BotPlayer, kind: Kind) -> None:
        self.player = bot_player
        self.kind = kind
        self.evening = evening
        self.came = trio.current_time()
        self.began: list[float] = []
        """Times at which its matches began."""
        self.finished: list[float] = []
        """Times at which its matches ended."""
        self.table_time = 0.0
        self.waited = 0.0
        """Two sums over the matches that ended in the window: the time in which only much slower bots owed an answer,
        and the total time.
        """
        self.troubles = 0

    def connect(self, link: Told | None = None) -> None:
        link_of_session, hello = cast("Link", link or Told(self)), Hello((GAME.name,), self.kind.capacity, "")
        self.player.connected(trio.current_time(), Session(link_of_session, CODEC, hello, self.evening.turns))
        self.evening.players.changed(self.player)

    def answer(self, invitation_id: int) -> None:
        if self.player.session is None:
            return
        accepts = self.kind.answers == "ready"
        ready = [Ready(invitation_id, b"")] if accepts else []
        declined = [] if accepts else [invitation_id]
        self.player.hear(BotMessage(trio.current_time(), ready, (), None, None, declined, (), False))


class Silent:
    """A running match that ignores all messages from its bots."""

    def left(self, now: float, bot_player: BotPlayer, in_order: bool = False) -> None:
        pass

    def returned(self, now: float, bot_player: BotPlayer) -> None:
        pass


class Evening:
    """A matchmaker and its bots."""

    def __init__(
        self, clock: MockClock, seats: int, seed: int, rules: PaceRules, house: int = 3, per_hour: int = 0
    ) -> None:
        self.clock = clock
        self.chance = Random(seed)
        self.players = Players(self._watch, rules)
        self.rules = rules
        self.bots: dict[BotPlayer, SimulatedBot] = {}
        self.window = math.inf
        """The time from which meetings and durations count."""
        self.meetings = Counter[frozenset[str]]()
        """Numbers of meetings between two bots that are not house bots, by their names."""
        self.seats = seats
        self.guests = Counter[int]()
        """Numbers of matches that began, by the number of their bots that are not house bots."""
        self._heap: list[tuple[float, int, Callable[[], None]]] = []
        self._events = 0
        self.turns = turns()
        fillers = house_players(*(f"house-{number}" for number in range(house)))
        settings = config(house=bool(house), seats=(seats,), matches_per_hour=per_hour)
        self.matchmaker = Matchmaker(
            settings,
            self.players,
            {GAME.name: fillers},
            self.turns,
            cast("Any", self._watch),
            SearchSeats(0.0, {}, SearchWorker(self.turns, lambda *_: None)),
        )
        self.matchmaker._chance = self.chance
        for queue in self.matchmaker._queues.values():
            queue.pool._chance = self.chance
        self.matchmaker.open(self._announce)
        self._limits = answer_limits(settings)
        self._matches = 0

    def come(self, name: str, kind: Kind) -> SimulatedBot:
        bot_player = self.players.enter(len(self.bots) + 1, name, name)
        bot = self.bots[bot_player] = SimulatedBot(self, bot_player, kind)
        bot.connect()
        return bot

    def after(self, seconds: float, event: Callable[[], None]) -> None:
        self._events += 1
        heapq.heappush(self._heap, (trio.current_time() + seconds, self._events, event))

    def run(self, seconds: float) -> None:
        """Let virtual time pass."""
        end = trio.current_time() + seconds
        self._send()
        while self._heap and self._heap[0][0] <= end:
            at, _, event = heapq.heappop(self._heap)
            self._jump(at)
            event()
            self._send()
        self._jump(end)

    def _send(self) -> None:
        with self.turns:
            pass

    def _jump(self, at: float) -> None:
        ahead = at - trio.current_time()
        if ahead > 0:
            self.clock.jump(ahead)

    def _watch(self, owner: TimerOwner) -> None:
        if owner.deadline < owner.wakes_at:
            owner.wakes_at = owner.deadline
            self.after(max(0.0, owner.deadline - trio.current_time()), partial(self._wake, owner, owner.deadline))

    def _wake(self, owner: TimerOwner, at: float) -> None:
        if owner.wakes_at == at:
            owner.wakes_at = math.inf
            now = trio.current_time()
            if owner.deadline <= now + 1e-9:
                owner.on_timer(max(now, owner.deadline))
            self._watch(owner)

    def _announce(
        self, ladder: LadderSettings, players: Sequence[Player], kind: MatchKind, replacement: Replacement
    ) -> ReadyCheck:
        now = trio.current_time()
        settled = self._settled
        ready_check = ReadyCheck(ladder, players, SEED, now, self._limits, settled, replacement, kind)
        self._watch(ready_check)
        ready_check.invite_all()
        return ready_check

    def _settled(self, ready_check: ReadyCheck) -> None:
        self.after(0.0, partial(self._begin, ready_check))

    def _begin(self, ready_check: ReadyCheck) -> None:
        if ready_check.failure is not None:
            ready_check.withdraw()
            ready_check.dissolve()
            for each in ready_check.invited:
                self.players.release(each)
            return
        ready_check.dissolve()
        self._matches += 1
        owed, tells = OwedTime(len(ready_check.players)), [True] * len(ready_check.players)
        self.guests[sum(isinstance(player, BotPlayer) for player in ready_check.players)] += 1
        number, each_decides = self._matches, self.chance.randint(*DECISIONS)
        for seat, player in enumerate(ready_check.players):
            owed.decisions[seat] = each_decides
            if isinstance(player, BotPlayer):
                bot = self.bots[player]
                bot.began.append(trio.current_time())
                seconds = bot.kind.seconds * self.chance.uniform(0.8, 1.2) * each_decides
                player.playing.running[number] = cast("RunningMatch", Silent())
                if bot.kind.leaves and not player.newcomer:
                    seconds, tells[seat] = 30.0, False
                    if player.session is not None:
                        player.disconnected(trio.current_time(), player.session)
                owed.times[1 << seat] = round(seconds * 1e6)
        for player in ready_check.players:
            if isinstance(player, BotPlayer):
                self.players.changed(player)
        seconds = sum(owed.times.values()) / 1e6
        match = Played(ready_check.players, GAME.name, seconds, owed, tells)
        self.after(seconds, partial(self._end, match, ready_check, number))

    def _end(self, match: Played, ready_check: ReadyCheck, number: int) -> None:
        now = trio.current_time()
        own = [player for player in match.players if isinstance(player, BotPlayer)]
        for each in own:
            del each.playing.running[number]
            each.newcomer = False
            each.offers.availability.played()
        self.matchmaker.match_ended(match, ready_check)
        if now >= self.window:
            for one, two in combinations(own, 2):
                self.meetings[frozenset((one.name, two.name))] += 1
        kinds = [self.bots[player].kind.seconds if isinstance(player, BotPlayer) else 0.0 for player in match.players]
        for seat, player in enumerate(match.players):
            if isinstance(player, BotPlayer):
                bot = self.bots[player]
                bot.finished.append(now)
                if now >= self.window:
                    bot.table_time += match.length
                    bot.waited += match.owed.waited(seat, kinds, self.rules)
                if not match.tells_paces[seat]:
                    bot.troubles += 1
                    player.parked = {""} if bot.troubles >= 3 else frozenset()
                    if player.session is None:
                        bot.connect()
                self.players.release(player)


@dataclass
class Figures:
    """Figures of an evening's honest bots and of its other bots, per second of the window."""

    rate: float
    """Number of matches that the honest bots finish."""
    least: float
    """Number of matches of the honest bot that finishes the fewest."""
    meetings: float
    """Number of meetings between two honest bots."""
    waited: float
    """The largest share of an honest bot's playing time in which only much slower bots owed an answer."""
    others: float
    """Number of matches that the other bots finish."""
    mixed: float
    """Number of meetings between an honest bot and another bot, per hour."""


def evening(
    honest: int,
    capacity: int,
    seats: int,
    others: Sequence[Kind] = (),
    *,
    seed: int = 1,
    lead: float = 600.0,
    seconds: float = 1200.0,
    rules: PaceRules = PaceRules(),  # noqa: B008 - frozen
    house: int = 3,
) -> Figures:
    """Let honest bots and others play for `lead` seconds and then for the window."""
    clock = MockClock()

    async def play() -> Figures:
        it = Evening(clock, seats, seed, rules, house)
        kinds = [Kind(capacity=capacity)] * honest + [*others]
        bots = [it.come(f"bot-{number}", kind) for number, kind in enumerate(kinds)]
        it.run(lead)
        it.window = trio.current_time()
        it.run(seconds)
        finished = [sum(at >= it.window for at in bot.finished) / seconds for bot in bots]
        names = {bot.player.name for bot in bots[:honest]}
        both = sum(number for pair, number in it.meetings.items() if pair <= names)
        mixed = sum(number for pair, number in it.meetings.items() if len(pair & names) == 1)
        return Figures(
            sum(finished[:honest]),
            min(finished[:honest]),
            both / seconds,
            max(bot.waited / bot.table_time if bot.table_time else 0.0 for bot in bots[:honest]),
            sum(finished[honest:]),
            mixed / seconds * 3600,
        )

    return trio.run(play, clock=clock)
