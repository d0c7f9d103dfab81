# Compiled: every decision passes through here.
"""The queue of one ladder: the pool of connected bots, updated whenever the state of a bot changes.

Pairs of bots that have used up their quota are remembered, with the first day on which their results count again.
"""

from __future__ import annotations

import math
from collections import deque
from collections.abc import Sequence
from itertools import cycle, islice
from statistics import median
from typing import Final

import trio

from arena.ladder.events import day_of
from arena.scheduling.candidate import Waiting
from arena.scheduling.clock import RECENT
from arena.scheduling.information_gain import MatchValues
from arena.scheduling.pace import OwedTime
from arena.scheduling.pool import Pool, Shuffler
from arena.server.config import Config, LadderSettings, quota_in_force
from arena.server.runtime.wall_clock import now_us
from arena.server.sessions.player import BotPlayer, Expected, HousePlayer, Player
from arena.server.sessions.players import Players

DECISIONS_WEIGHT: Final = 0.1
"""Weight of one match in the moving mean of the number of decisions."""
INSTANT: Final = 1e-6
"""Maximum difference in seconds between times that count as equal, because rounding may let a timer fire early."""


class SpentPairs:
    """Pairs of bots that have used up their quota, by the bots' numbers. Bots need not be connected."""

    def __init__(self) -> None:
        self._again: dict[int, dict[int, int]] = {}
        """The first day on which each pair counts again, by one bot and then by the other. Each pair is stored both
        ways.
        """

    def spend(self, one: int, other: int, again: int) -> None:
        """Add a pair with the first day on which its results count again."""
        for own, against in ((one, other), (other, one)):
            self._again.setdefault(own, {})[against] = again

    def of(self, bot: int, today: int) -> Sequence[int]:
        """Return the bots with which a bot has used up its quota. Forget pairs whose results count again."""
        known = self._again.get(bot)
        if known is None:
            return ()
        for other in [other for other, again in known.items() if again <= today]:
            del known[other]
        if not known:
            del self._again[bot]
        return list(known)


class Queue:
    """The bots of one ladder."""

    def __init__(
        self, ladder: LadderSettings, house: Sequence[HousePlayer], config: Config, chance: Shuffler, players: Players
    ) -> None:
        bounded = quota_in_force(config).bounds
        self.ladder = ladder
        self.match_values: MatchValues[int] = MatchValues()
        """By bot, the information that the ladder gains from one more match. All versions of a bot count as one."""
        self.pool: Pool[Player] = Pool(house, chance, ladder.patience, bounded)
        self.spent = SpentPairs()
        """Pairs of bots that have used up their quota. Such bots meet only if no other bot waits."""
        self._players = players
        self._house = house
        self._matches_per_bot = config.matches_per_bot
        self._between_turns = 3600 / ladder.matches_per_hour if ladder.matches_per_hour else 0.0
        """Length of a turn in seconds; a bot may start one rated match per turn. 0 if there is no such limit."""
        self._turn = 0
        """The number of the current turn."""
        self._next_turn = trio.current_time() + self._between_turns if self._between_turns else math.inf
        self._further_name = ladder.further_name
        self.pace_rules = players.pace_rules[self._further_name]
        self._waiting: set[BotPlayer] = set()
        """Bots that may get a seat at any table."""
        self._on_trial: dict[BotPlayer, None] = {}
        """Bots on trial: they wait for a match with house bots. Their last invitation failed, their pace is unknown, or
        they play casual matches.
        """
        self._decisions: dict[int, float] = {}
        """By table size, the moving mean of the number of decisions that a seat makes in a match."""
        self._lengths: deque[float] = deque(maxlen=RECENT)
        """The durations in seconds of the latest matches between bots, if patience depends on them."""

    @property
    def sizes(self) -> list[int]:
        """The table sizes for which bots of enough different owners are connected, waiting or not."""
        return [size for size in self.ladder.seats if self._house or size <= self.pool.owners]

    @property
    def waiting(self) -> int:
        """Number of bots that are waiting for a seat, including bots on trial."""
        return len(self._waiting) + len(self._on_trial)

    def update(self, bot_player: BotPlayer) -> None:
        """Update a bot that connected, left or was parked, or whose free capacity changed."""
        session = bot_player.session
        here = session is not None and self._further_name not in bot_player.parked
        here = here and self.ladder.name in bot_player.ladders
        here = (
            here and bot_player.offers.availability.invitable
        )  # Other bots need not wait for a bot that pauses, because it will not be free soon.
        room = bot_player.room(self._matches_per_bot, self._further_name) if here else 0
        free_at = -math.inf if room else bot_player.offers.free_at
        if self._between_turns and room > 0 and not bot_player.casual:
            room = int(bot_player.offers.availability.turns.get(self.ladder.name, -1) < self._turn)
            free_at = -math.inf if room else self._next_turn
        on_trial = (
            room > 0 and bool(self._house) and (bot_player.offers.on_trial(self._further_name) or bot_player.casual)
        )
        if on_trial:
            self._on_trial[bot_player] = None
        else:
            self._on_trial.pop(bot_player, None)
        if room > 0 and not on_trial and not bot_player.casual:
            self._waiting.add(bot_player)
        else:
            self._waiting.discard(bot_player)
        if on_trial or bot_player.casual or not here:
            self.pool.remove(bot_player)
            return
        came, spent = bot_player not in self.pool, self._spent_with(bot_player)
        self.pool.update(
            Waiting(
                bot_player,
                bot_player.owner,
                bot_player.offers.waiting_since[self.ladder.name],
                room,
                self.match_values.of(bot_player.bot_id),
                bot_player.offers.pending[self.ladder.name],
                bot_player.offers.last_length.get(self._further_name, 0.0),
                self._pace_class(bot_player),
                self._balance(bot_player) > 0,
                free_at,
                not room
                and bool(bot_player.offers.expected)
                and all(each.wait > 0 for each in bot_player.offers.expected.values()),
                bot_player.busy,
                spent,
            )
        )
        if came:
            for other in spent:
                if other in self.pool:
                    # The relation is mutual: each of those bots has also used up its quota with this bot.
                    self.update(other)

    def _spent_with(self, bot_player: BotPlayer) -> frozenset[BotPlayer]:
        """Return the connected bots with which a bot has used up its quota."""
        others = [self._players.get(each) for each in self.spent.of(bot_player.bot_id, day_of(now_us()))]
        return frozenset([each for each in others if each is not None])

    def next_turn(self, now: float) -> float:
        """Return the time of the next turn, and start a turn that is due. Without a limit the time is infinite.

        A bot that used the turn just ended starts to wait now. An unused turn is lost, and the waiting time continues.
        Otherwise patience could never run out if it is longer than a turn.
        """
        if now > self._next_turn - INSTANT:
            passed, used = 1 + int(max(0.0, now - self._next_turn) / self._between_turns), self._turn
            self._turn += passed
            self._next_turn += passed * self._between_turns
            for bot_player in self._players:
                if self.ladder.name in bot_player.offers.waiting_since:
                    if bot_player.offers.availability.turns.get(self.ladder.name) == used:
                        bot_player.offers.waiting_since[self.ladder.name] = now
                    self.update(bot_player)
        return self._next_turn

    def seated(self, bot_player: BotPlayer, now: float) -> None:
        """Record that a bot got a seat in a rated match, which uses up its turn."""
        bot_player.offers.seated(now, self.ladder.name)
        if self._between_turns:
            bot_player.offers.availability.turns[self.ladder.name] = self._turn

    def rated(self, match_values: MatchValues[int]) -> None:
        """Apply new match values: to waiting bots at once, to other bots when they have capacity again."""
        self.match_values = match_values
        for bot_player in list(self._waiting):
            self.update(bot_player)

    def begin_season(self) -> None:
        """Forget the used-up quotas and match values of the previous season."""
        self.spent = SpentPairs()
        self.rated(MatchValues())

    def expected(self, table: Sequence[Player], bot_player: BotPlayer, now: float) -> Expected:
        """Return how long a bot is expected to wait for slower bots in a match at this table, and the expected end."""
        decisions = self._decisions.get(len(table)) or max(self._decisions.values(), default=0.0)
        paces = {each: each.offers.pace_now(self._further_name) or 0.0 for each in table if isinstance(each, BotPlayer)}
        own = paces.get(bot_player, 0.0)
        slower = sum([pace for pace in paces.values() if self.pace_rules.much_slower(pace, own)])
        return Expected(decisions * slower, now + decisions * sum(paces.values()), self._further_name)

    def lasted(self, seconds: float) -> None:
        """Record the duration of a match between bots, if patience depends on durations."""
        if self.ladder.patience_grows:
            self._lengths.append(seconds)
            self.pool.patience = self.ladder.clock.patience(median(self._lengths))

    def played(self, owed: OwedTime) -> None:
        """Update the mean number of decisions with a finished match."""
        seats, decisions = len(owed.decisions), sum(owed.decisions) / len(owed.decisions)
        known = self._decisions.get(seats, decisions)
        self._decisions[seats] = known + DECISIONS_WEIGHT * (decisions - known)

    def _pace_class(self, bot_player: BotPlayer) -> int:
        return self.pace_rules.pace_class(bot_player.offers.pace_now(self._further_name))

    def _balance(self, bot_player: BotPlayer) -> float:
        return bot_player.offers.pace_on(self._further_name).balance

    def on_trial(self) -> Sequence[BotPlayer]:
        """Return the bots whose next match is with house bots only."""
        return list(self._on_trial)

    def has_on_trial(self, bot_player: BotPlayer) -> bool:
        """Return whether a bot is on trial."""
        return bot_player in self._on_trial

    def with_house(self, bot_player: BotPlayer, chance: Shuffler) -> Sequence[Player]:
        """Return a table of random size with one bot and house bots, by seat."""
        sizes, fillers = list(self.ladder.seats), list(self._house)
        chance.shuffle(sizes)
        chance.shuffle(fillers)
        players: list[Player] = [bot_player, *islice(cycle(fillers), sizes[0] - 1)]
        chance.shuffle(players)
        return players

    def longest_waiting(self, table: Sequence[Player]) -> BotPlayer | None:
        """Return the bot that has waited longest and whose owner is not at the table, or None.

        Bots that have used up a quota with a player at the table come last. The bot must be in the pace class of the
        quickest player. If another player is in a slower class, the bot needs a positive balance to wait for it.
        """
        there = [player for player in table if isinstance(player, BotPlayer)]
        owners = {each.owner for each in there}
        classes = [self._pace_class(each) for each in there]
        waiting = [
            each
            for each in self._waiting
            if each.owner not in owners
            and (not there or self._pace_class(each) == min(classes))
            and (not there or max(classes) == min(classes) or self._balance(each) > 0)
        ]
        spent = {other for each in there for other in self._spent_with(each)}
        return min(waiting, key=lambda each: (each in spent, each.offers.waiting_since[self.ladder.name]), default=None)

    def filler(self, table: Sequence[Player], chance: Shuffler) -> HousePlayer | None:
        """Return a house bot, preferably one that is not at the table yet, or None if there are no house bots."""
        fillers = [each for each in self._house if each not in table] or list(self._house)
        chance.shuffle(fillers)
        return fillers[0] if fillers else None
