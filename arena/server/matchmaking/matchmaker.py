# Compiled: every decision passes through here.
"""The matchmaker, which seats waiting bots at the next tables.

Tables are formed at the end of a turn in which a bot came, left or finished a match. So a bot's next invitation travels
with the report of the last match. The policy that decides who should sit with whom is in `arena.scheduling.pool`.
"""

from __future__ import annotations

import math
import secrets
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Protocol, TypeAlias

import trio

from arena.ladder.live import RatingChange
from arena.replay.header import MatchKind
from arena.scheduling.information_gain import MatchValues
from arena.scheduling.pace import OwedTime, settle
from arena.scheduling.pool import Shuffler, Table
from arena.server.config import Config, LadderSettings
from arena.server.matches.ready_check import ReadyCheck, Replacement
from arena.server.matchmaking.challenges import BadChallenge, Challenges, NotChallenged
from arena.server.matchmaking.queue import Queue
from arena.server.matchmaking.search_seats import SearchSeats
from arena.server.runtime.turns import Turns
from arena.server.sessions.hourly import HOUR, HourlyAllowance
from arena.server.sessions.messages import Notice, NoticeKind
from arena.server.sessions.player import BotPlayer, HousePlayer, Player
from arena.server.sessions.players import Players
from arena.store.ladder.seasons import name_of

Announce: TypeAlias = "Callable[[LadderSettings, Sequence[Player], MatchKind, Replacement], ReadyCheck]"
"""Function that is called with each new table. From then on, the table's players count as busy."""


class PlayedMatch(Protocol):
    """A finished match, as the matchmaker sees it."""

    @property
    def players(self) -> Sequence[Player]:
        """The players, by seat."""

    @property
    def ladder_id(self) -> str:
        """The id of the ladder."""

    @property
    def kind(self) -> MatchKind:
        """The kind of match."""

    @property
    def length(self) -> float:
        """Length of the match in seconds."""

    @property
    def owed(self) -> OwedTime:
        """The time during which each seat owed an answer."""

    @property
    def tells_paces(self) -> Sequence[bool]:
        """By seat, true if the match measures the pace of the bot."""


def _nobody(ready_check: ReadyCheck, at_once: bool) -> None:
    """Return no replacement: a table of one bot and house bots is formed only for that bot."""


class Matchmaker:
    """Formation of tables from the queues of all ladders."""

    def __init__(
        self,
        config: Config,
        players: Players,
        fillers: Mapping[str, Sequence[HousePlayer]],
        turns: Turns,
        watch: Callable[[Matchmaker], None],
        search_seats: SearchSeats,
        ladder_ids: Mapping[str, str] | None = None,
    ) -> None:
        """`fillers` are the house bots by ladder. `watch` is called when the deadline may have moved.

        `ladder_ids`: the ids of the current seasons, by ladder name; by default the first seasons.

        At the end of a turn, `turns` calls `send`, which forms tables.
        """
        self.deadline = math.inf
        """The time of the next attempt to form tables if nothing changes earlier, in seconds of the server's clock."""
        self.wakes_at = math.inf
        self.timer_id = 0
        self._players = players
        self._fillers = fillers
        self._casual = CasualMatches(config.limits.casual_per_owner)
        self._challenges = Challenges(config)
        self._chance: Shuffler = secrets.SystemRandom()
        self._queues = {
            ladder.name: Queue(ladder, fillers[ladder.name], config, self._chance, players) for ladder in config.ladders
        }
        self._ladder_ids = {name: name for name in self._queues} if ladder_ids is None else ladder_ids
        self._turns = turns
        self._watch = watch
        self._search_seats = search_seats
        self._seat: Announce | None = None
        self._open_from = 0.0
        players.on_change(self._changed)

    @property
    def waiting(self) -> Mapping[str, int]:
        """By ladder, the number of bots that are waiting for a seat."""
        return {game: queue.waiting for game, queue in self._queues.items()}

    def match_ended(
        self, match: PlayedMatch, ready_check: ReadyCheck | None, changes: Sequence[RatingChange] = ()
    ) -> None:
        """Record that a match ended, and update its bots' paces. Restart the waiting time of bots that were at
        capacity.

        `changes`: the rating changes by seat; empty if the match was not rated.
        """
        now, ladder = trio.current_time(), name_of(match.ladder_id)
        queue = self._queues[ladder]
        further_name = queue.ladder.further_name
        paces = [
            player.offers.pace_on(further_name) if isinstance(player, BotPlayer) else None for player in match.players
        ]
        waits = settle(paces, match.owed, match.tells_paces, now, queue.pace_rules)
        queue.played(match.owed)
        if len(paces) - paces.count(None) > 1:
            queue.lasted(match.length)
        for player, change in zip(match.players, changes, strict=False) if self._is_current(match.ladder_id) else ():
            for seat, again in change.counts_again:
                self.spent(ladder, player.bot_id, match.players[seat].bot_id, again)
        if ready_check is not None:
            self._search_seats.ended(ready_check)
        for player, waited in zip(match.players, waits, strict=True):
            if isinstance(player, BotPlayer):
                player.offers.release_expected(ready_check)
                if not queue.pool.has_room(player):
                    player.offers.waiting_since[ladder] = now
                # Otherwise a bot could use casual matches to influence its opponents in rated matches.
                if match.kind is MatchKind.RATED:
                    player.offers.pace_on(further_name).earn(match.length, waited)
                    player.offers.last_length[further_name] = match.length

    def spent(self, ladder: str, one: int, other: int, again: int) -> None:
        """Record that two bots, given by number, have used up their quota. Their results count again from the day
        `again`.
        """
        self._queues[ladder].spent.spend(one, other, again)

    def met(self, ladder_id: str, bots: Sequence[int]) -> None:
        """Count the meetings of bots in a rated match at another node. `bots`: the numbers of these bots."""
        if self._is_current(ladder_id):
            here = [self._players.get(bot_id) for bot_id in bots]
            self._queues[name_of(ladder_id)].pool.met([player for player in here if player is not None])

    def rated(self, ladder: str, match_values: MatchValues[int]) -> None:
        """Apply new match values of a ladder: by bot number, the information that the ladder gains from one match of
        the bot.
        """
        for bot_player in self._players:
            bot_player.offers.pending[ladder] = (
                bot_player.busy
            )  # Matches of all ladders count; few bots play on several.
        self._queues[ladder].rated(match_values)

    def begin_season(self, ladder: str) -> None:
        """Forget pairs with used-up quotas, match values and pending seats of a ladder's previous season."""
        for bot_player in self._players:
            bot_player.offers.pending.pop(ladder, None)
        self._queues[ladder].begin_season()

    def open(self, seat: Announce) -> None:
        """Start to form tables. `seat` is called with each table."""
        self._seat = seat

    def close(self, until: float = math.inf) -> None:
        """Form no tables before the time `until`, in seconds of the server's clock.

        If called repeatedly, the latest time applies.
        """
        self._open_from = max(self._open_from, until)
        if math.isinf(until):
            self._challenges.refuse("the server is stopping", trio.current_time())

    def gives_casual(self, ladders: Iterable[str]) -> bool:
        """Return whether this server offers casual matches on one of these ladders."""
        return self._casual.given and any(self._fillers.get(ladder) for ladder in ladders)

    async def challenge(self, challenger: str, opponents: Sequence[str], game: str, ladder: str = "") -> int:
        """Let a bot challenge others; return the number of the match that starts.

        The match is on `ladder`, by default on the default ladder of the game.

        Raises: BadChallenge, NotChallenged, TooManyChallenges.
        """
        queue = self._queues.get(ladder or game)
        if queue is None:
            wanted = ladder or game or "a game without a name"
            raise BadChallenge(f"this server plays {', '.join(self._queues)}, not {wanted}")
        if game and queue.ladder.game.name != game:
            raise BadChallenge(f"the ladder {ladder} is of {queue.ladder.game.name}, not of {game}")
        if math.isinf(self._open_from):
            raise NotChallenged("the server is stopping")
        here: list[Player] = [*self._players, *self._fillers[queue.ladder.name]]
        challenge = self._challenges.open(challenger, opponents, queue.ladder, here, trio.current_time())
        for guest in challenge.guests:
            self._changed(guest)
        try:
            await challenge.concluded.wait()
        finally:
            self._challenges.close(challenge, trio.current_time())
        if challenge.match_id is None:
            raise NotChallenged(challenge.failure)
        return challenge.match_id

    def on_timer(self, now: float) -> None:
        """Form tables at the end of this turn."""
        self.deadline = math.inf
        self._turns.due(self)

    def send(self) -> None:
        """Form all possible tables. Called by `Turns` at the end of a turn."""
        if self._seat is not None:
            now = trio.current_time()
            self._challenges.expire(now)
            due = self._open_from if now < self._open_from else self._form(now, self._seat)
            self.deadline = min(due, self._casual.next_due(now), self._challenges.deadline)
            self._watch(self)

    def replacement(self, ready_check: ReadyCheck, at_once: bool) -> Player | None:
        """Return a player for an open seat (see `Replacement`): the bot that has waited longest, or a house bot."""
        queue, table = self._queues[ready_check.ladder.name], ready_check.candidates
        if not at_once and (bot_player := queue.longest_waiting(table)) is not None:
            bot_player.offers.expect(ready_check, queue.expected([*table, bot_player], bot_player, trio.current_time()))
            return bot_player
        return queue.filler(table, self._chance)

    def _form(self, now: float, seat: Announce) -> float:
        """Form all possible tables; return the time of the next attempt.

        The next table's ladder is drawn at random, so no ladder uses all the capacity of bots that play on several.
        """
        next_turn = min([queue.next_turn(now) for queue in self._queues.values()], default=math.inf)
        for challenge in self._challenges.seatable():
            players = [*challenge.players]
            self._chance.shuffle(players)
            ready_check = self._sit_down(
                self._queues[challenge.ladder.name], players, MatchKind.CHALLENGE, _nobody, now, seat
            )
            ready_check.concluded = challenge.conclude
        for queue in self._queues.values():
            for bot_player in queue.on_trial():
                while queue.has_on_trial(bot_player) and self._may_sit(bot_player, now):
                    unrated = bot_player.casual or bot_player.offers.availability.doubtful
                    kind = MatchKind.CASUAL if unrated else MatchKind.RATED
                    self._sit_down(queue, queue.with_house(bot_player, self._chance), kind, _nobody, now, seat)
        open_queues = list(self._queues.values())
        while open_queues:
            queue = open_queues[int(self._chance.random() * len(open_queues)) if len(open_queues) > 1 else 0]
            table = self._next(queue, now)
            if table is None:
                open_queues.remove(queue)
                continue
            seated = self._search_seats.taken(table.bots, queue.ladder.game.name, now)
            ready_check = self._sit_down(queue, seated or table.bots, MatchKind.RATED, self.replacement, now, seat)
            if seated is not None:
                self._search_seats.began(ready_check)
        return min([next_turn, *(queue.pool.next_due(now) for queue in self._queues.values())])

    def _sit_down(
        self,
        queue: Queue,
        players: Sequence[Player],
        kind: MatchKind,
        replacement: Replacement,
        now: float,
        seat: Announce,
    ) -> ReadyCheck:
        ready_check = seat(queue.ladder, players, kind, replacement)
        for player in players:
            if isinstance(player, BotPlayer):
                if kind is MatchKind.RATED:
                    queue.seated(player, now)
                expected = queue.expected(players, player, now)
                player.offers.expect(
                    ready_check, expected._replace(wait=0.0) if kind is MatchKind.CHALLENGE else expected
                )
                self._update(player)
        return ready_check

    def _may_sit(self, bot_player: BotPlayer, now: float) -> bool:
        """Return whether a bot may have a match with house bots now. Count the match if it is casual."""
        return not bot_player.casual or self._casual.take(bot_player, now)

    def _next(self, queue: Queue, now: float) -> Table[Player] | None:
        """Return the next table of a ladder.

        The table's size is random. Once a bot's patience has run out, any possible size will do.
        """
        sizes = queue.sizes
        self._chance.shuffle(sizes)
        patient = now < queue.pool.due(now)
        for seats in sizes[:1] if patient else sizes:
            if (table := queue.pool.table(seats, now)) is not None:
                return table
        return None

    def _is_current(self, ladder_id: str) -> bool:
        """Return whether a ladder id belongs to a current season."""
        return self._ladder_ids.get(name_of(ladder_id)) == ladder_id

    def _changed(self, bot_player: BotPlayer) -> None:
        self._update(bot_player)
        self._turns.due(self)

    def _update(self, bot_player: BotPlayer) -> None:
        for queue in self._queues.values():
            queue.update(bot_player)


class CasualMatches:
    """Each owner's remaining casual matches in an hour. Times are in seconds of the server's clock."""

    def __init__(self, casual_per_owner: int) -> None:
        self._casual_per_owner = casual_per_owner
        self._allowance = HourlyAllowance(casual_per_owner / HOUR)
        self._resting: dict[int, float] = {}
        """By bot, the time that a notice gave for the bot's next casual match."""

    @property
    def given(self) -> bool:
        """True if this server offers casual matches."""
        return self._casual_per_owner > 0

    def next_due(self, now: float) -> float:
        """Return the earliest time at which a notified bot may have a casual match again; infinite if no bot was
        notified.
        """
        self._resting = {bot: until for bot, until in self._resting.items() if until > now}
        return min(self._resting.values(), default=math.inf)

    def take(self, bot_player: BotPlayer, now: float) -> bool:
        """Count a casual match of a bot and return True. If the owner's allowance is used up, return False and notify
        the bot once.
        """
        if self._resting.get(bot_player.bot_id, -math.inf) > now:
            return False
        if self._allowance.take(bot_player.owner.lower(), now):
            return True
        wait = self._allowance.wait(bot_player.owner.lower(), now)
        self._resting[bot_player.bot_id] = now + wait
        if bot_player.session is not None:
            text = (
                f"{self._casual_per_owner} casual matches an hour are given to the bots of one owner "
                f"(casual_per_owner); the next in {wait} s"
            )
            bot_player.session.notify(Notice(NoticeKind.CASUAL_LIMIT, text, casual_wait=wait * 1_000_000))
        return False
