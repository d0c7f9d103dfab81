"""The scheduling policy: forms tables from the bots that have room for a match now.

Every second table is for *contention*: half of its seats go to the bots with the largest information gain. All other
seats are for *coverage*: bots in random order, those that have waited for longer than the patience first. At any table,
half of the seats go to provisional bots first. Bots of one owner never meet, except house bots; seats are drawn. Where
house bots can fill tables nobody waits longer than the patience, so a newcomer's first match comes soon. Time and
randomness come from the caller; nothing here reads a clock or draws.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from itertools import cycle, islice
from math import inf
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from arena.ladder.live import SCALE
from arena.scheduling.information_gain import NEWCOMER, MatchValue

PATIENCE: Final = 2.0
"""Seconds that a bot waits for other bots before house bots fill its table."""
SEATS_PER_ANCHOR: Final = 20
"""House bots, the ladder's anchors, get at least one of this many seats whoever waits: they hold the scale in place."""

ESTABLISHED_VARIANCE: Final = (40 / SCALE) ** 2
"""Rating variance in squared log odds at a standard error of 40 Elo; bots above it are provisional."""
MIXING_SHARE: Final = 0.1
"""Fraction of the last match's length for which its players wait for other opponents, within the patience: otherwise
the same bots would be matched with each other again and again."""

BotT = TypeVar("BotT", bound=Hashable)
SortKey: TypeAlias = tuple[float, float, float]
"""Priority of a candidate; the smallest comes first."""


class Shuffler(Protocol):
    """Source of randomness, such as a `random.Random`."""

    def random(self) -> float:
        """Draw from [0, 1)."""

    def shuffle(self, x: list[Any], /) -> object:
        """Shuffle the list in place."""


class LastMatch(NamedTuple):
    """The match that a waiting bot played last."""

    match: Hashable
    seconds: float
    """Length of the match."""


class Waiting(NamedTuple, Generic[BotT]):
    """A bot with room for at least one more match."""

    bot: BotT
    owner: str
    since: float
    """Instant in seconds from which it waits: when it connected, had room again or was last given a match."""
    room: int = 1
    """Number of further matches that it can play now."""
    value: MatchValue = NEWCOMER
    """Information that a match of it gives the ladder, as of the last fit."""
    pending: int = 0
    """Its matches whose results are not in `value`, such as those it is playing."""
    last_match: LastMatch | None = None
    """Its last match; None if it has not played."""


class Table(NamedTuple, Generic[BotT]):
    """The bots of a match to be played."""

    bots: tuple[BotT, ...]
    """Bots by seat."""


class PoolHistory(NamedTuple):
    """Counts over the tables formed so far, handed from one pool to the next."""

    tables: int = 0
    """Number of tables formed."""
    anchor_balance: int = -SEATS_PER_ANCHOR
    """Seats formed minus `SEATS_PER_ANCHOR` for each of a house bot. It is never below `-SEATS_PER_ANCHOR`: house bots
    can be in advance by one seat only."""

    def after_table(self, seats: int, house: int) -> PoolHistory:
        """Return the history after another table with this many seats, of which this many are house bots'."""
        return PoolHistory(
            self.tables + 1, max(-SEATS_PER_ANCHOR, self.anchor_balance + seats - SEATS_PER_ANCHOR * house)
        )


class _Candidate(Generic[BotT]):
    """A waiting bot's state while tables are formed."""

    __slots__ = ("bot", "draw", "owner", "pending", "room", "since", "value")

    def __init__(self, waiting: Waiting[BotT], draw: float) -> None:
        self.bot = waiting.bot
        self.owner = waiting.owner
        self.since = waiting.since
        self.room = waiting.room
        self.value = waiting.value
        self.pending = waiting.pending
        self.draw = draw
        """Random rank in [0, 1), plus 1 for each table it was given: all others come before its second table."""


class _Queue(Generic[BotT]):
    """Priority queue of candidates, at most one of each owner at a time.

    Keys may grow between calls: a key is computed again when its candidate comes to the front.
    """

    def __init__(self, candidates: Iterable[_Candidate[BotT]], key: Callable[[_Candidate[BotT]], SortKey]) -> None:
        self._key = key
        self._own: dict[str, list[tuple[SortKey, int, _Candidate[BotT]]]] = {}
        for number, candidate in enumerate(candidates):
            self._own.setdefault(candidate.owner, []).append((key(candidate), number, candidate))
        for own in self._own.values():
            heapify(own)
        self._heads = [(own[0][0], owner) for owner, own in self._own.items()]
        heapify(self._heads)

    def first(self, number: int, besides: Sequence[_Candidate[BotT]] = ()) -> list[_Candidate[BotT]]:
        """Find the first `number` candidates with room, of different owners and none of those in `besides`.

        There must be that many.
        """
        others = {candidate.owner for candidate in besides}
        found: list[_Candidate[BotT]] = []
        passed: list[tuple[SortKey, str]] = []
        while len(found) < number:
            key, owner = heappop(self._heads)
            candidate = self._front(self._own[owner])
            if candidate is None:
                continue
            current = self._own[owner][0][0]
            if current != key:
                heappush(self._heads, (current, owner))
                continue
            passed.append((key, owner))
            if owner not in others:
                found.append(candidate)
        for head in passed:
            heappush(self._heads, head)
        return found

    def _front(self, own: list[tuple[SortKey, int, _Candidate[BotT]]]) -> _Candidate[BotT] | None:
        """Return one owner's first candidate with room, and bring its key up to date; None if there is none."""
        while own:
            key, number, candidate = own[0]
            if not candidate.room:
                heappop(own)
            elif (current := self._key(candidate)) != key:
                heapreplace(own, (current, number, candidate))
            else:
                return candidate
        return None


class Pool(Generic[BotT]):
    """The bots that wait for a match of one game at one instant. Call `table` until it returns None."""

    def __init__(
        self,
        waiting: Iterable[Waiting[BotT]],
        owners: int,
        house: Sequence[BotT],
        now: float,
        chance: Shuffler,
        patience: float = PATIENCE,
        history: PoolHistory = PoolHistory(),  # noqa: B008 - frozen
    ) -> None:
        """Set up the pool at the instant `now`, in seconds.

        `waiting` has each bot with room for a match once, without house bots. `owners` is the number of different
        owners that have a bot connected for this game, waiting or not. `house` are the house bots; if too few, one
        takes several seats. `history` is that of the pool before.
        """
        self.history = history
        self._owners = owners
        self._house = house
        self._now = now
        self._chance = chance
        self._patience = patience
        candidates = sorted(waiting, key=lambda candidate: candidate.since, reverse=True)
        self._mixing_until = -inf
        last = candidates[0].last_match if candidates else None
        if last is not None and all(candidate.last_match == last for candidate in candidates):
            self._mixing_until = candidates[-1].since + min(patience, MIXING_SHARE * last.seconds)
        self._candidates = {each.bot: _Candidate(each, chance.random()) for each in candidates}
        self._by_wait = [(candidate, candidate.since) for candidate in self._candidates.values()]
        self._room: dict[str, int] = {}
        """Number of bots with room, by owner."""
        for each in candidates:
            self._room[each.owner] = self._room.get(each.owner, 0) + 1
        self._coverage = _Queue(self._candidates.values(), self._turn)
        self._contention: dict[int, _Queue[BotT]] = {}
        """Queues by information gain, which depends on the table size: one for each size."""

    def table(self, seats: int) -> Table[BotT] | None:
        """Form the next table of so many seats; None while it is better or necessary to wait.

        A table is formed as soon as bots of enough different owners wait. If all of them come from one match, they wait
        a moment for others (`MIXING_SHARE`). House bots fill the remaining seats when all connected owners wait
        already, or when the longest wait has lasted for the patience. One seat may go to a house bot in any case, so
        that house bots get their share of seats (`SEATS_PER_ANCHOR`).
        """
        here = len(self._room)
        if not here:
            return None
        anchor = bool(self._house) and self.history.anchor_balance + seats > SEATS_PER_ANCHOR * self._chance.random()
        wanted = seats - anchor
        if here < wanted and not self._house:
            return None
        if here < self._owners and self._now < self._mixing_until:
            return None
        if here < min(self._owners, wanted) and self._now < self._longest_waiting_since() + self._patience:
            return None
        candidates = self._contenders(seats, wanted) if here >= wanted else []
        candidates += self._coverage.first(min(here, wanted) - len(candidates), besides=candidates)
        house_bots = list(self._house)
        self._chance.shuffle(house_bots)
        bots = [candidate.bot for candidate in candidates]
        bots += islice(cycle(house_bots), seats - len(bots))
        self._chance.shuffle(bots)
        for candidate in candidates:
            candidate.since, candidate.pending, candidate.draw = self._now, candidate.pending + 1, candidate.draw + 1
            self.engage(candidate.bot)
        self.history = self.history.after_table(seats, seats - len(candidates))
        return Table(tuple(bots))

    def engage(self, bot: BotT) -> None:
        """Reduce the room of a bot that was given a match, of this game or another; others are ignored."""
        candidate = self._candidates.get(bot)
        if candidate is None:
            return
        candidate.room -= 1
        if not candidate.room:
            del self._candidates[bot]
            decrement(self._room, candidate.owner)

    @property
    def due(self) -> float:
        """Instant from which more tables may be formed even if no bot comes; infinite if there is none."""
        if not self._room:
            return inf
        return self._mixing_until if self._now < self._mixing_until else self._longest_waiting_since() + self._patience

    def _longest_waiting_since(self) -> float:
        """Return the instant since which the longest-waiting bot has waited; now if none waits."""
        while self._by_wait:
            candidate, since = self._by_wait[-1]
            if candidate.room and candidate.since == since:
                return since
            self._by_wait.pop()
        return self._now

    def _turn(self, candidate: _Candidate[BotT]) -> SortKey:
        """Return the key for coverage: waits beyond the patience first, the longest of them first; then random."""
        overdue = (
            self._now >= candidate.since + self._patience
        )  # the sum, so that a caller can wait for just that instant
        return candidate.since - self._now if overdue else 0.0, candidate.draw, 0.0

    def _contenders(self, seats: int, wanted: int) -> list[_Candidate[BotT]]:
        """Choose the candidates with the largest gain for half of a table.

        Not for all of it: a match with well-known opponents tells more than one between newcomers. At every second
        table only the provisional ones among them.
        """
        if seats not in self._contention:

            def gain_first(candidate: _Candidate[BotT]) -> SortKey:
                return -candidate.value.gain(candidate.pending, seats), candidate.since, candidate.draw

            self._contention[seats] = _Queue(self._candidates.values(), gain_first)
        first = self._contention[seats].first((wanted + 1) // 2)
        if self.history.tables % 2:
            return first
        return [
            candidate
            for candidate in first
            if candidate.value.expected(candidate.pending, seats) > ESTABLISHED_VARIANCE
        ]


def decrement(counts: dict[str, int], owner: str) -> None:
    """Subtract one bot from an owner's count; an owner without bots is removed."""
    if counts[owner] > 1:
        counts[owner] -= 1
    else:
        del counts[owner]
