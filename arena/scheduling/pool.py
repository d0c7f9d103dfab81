"""The scheduling policy: forms tables from the bots that have room for a match now.

Every second table is for *contention*: half of its seats go to the bots with the largest information gain. All other
seats are for *coverage*: bots that have waited for longer than the patience first, then those that were given fewest
tables while others waited; of these the ones that have met the others at the table least in their latest matches, so
that all meet once before any meet twice. At any table, half of the seats go to provisional bots first. Bots of one
owner never meet, except house bots; seats are drawn. Where house bots can fill tables nobody waits longer than the
patience, so a newcomer's first match comes soon. Time and randomness come from the caller; nothing here reads a clock
or draws.

A pool is kept up to date bot by bot: what a table costs does not depend on how many bots wait, but for searches in
sorted lists.
"""

from __future__ import annotations

from bisect import bisect_left, insort
from collections import deque
from collections.abc import Hashable, Iterator, Sequence
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
"""Fraction of the last match's length for which its players wait for other opponents from its end on, within the
patience: otherwise the same bots would be matched with each other again and again."""
REMEMBERED: Final = 64
"""Number of its latest opponents that count as a bot's meetings."""
CONSIDERED: Final = 32
"""Number of bots beyond those needed among which the least met are looked for: it bounds the cost of a table."""

BotT = TypeVar("BotT", bound=Hashable)
Entry: TypeAlias = tuple[float, float, float, int]
"""Priority of a candidate, the smallest first, and the candidate's number."""


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
    """A connected bot, which waits if it has room for a match."""

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
    """Its last match; None if it has been given a match since, or has not played."""


class Table(NamedTuple, Generic[BotT]):
    """The bots of a match to be played."""

    bots: tuple[BotT, ...]
    """Bots by seat."""


class _Candidate(Generic[BotT]):
    """A connected bot as the pool knows it."""

    __slots__ = ("_latest", "_met", "number", "turn", "waiting")

    def __init__(self, waiting: Waiting[BotT], number: int) -> None:
        self.waiting = waiting
        self.number = number
        """Number of its own, counted from 0."""
        self.turn = 0.0
        """Random rank for coverage within a round, plus the round's number: each table leads to the next round."""
        self._met: dict[int, int] = {}
        self._latest: deque[int] = deque()

    def meetings(self, number: int) -> int:
        """Count the meetings with the candidate or house bot of a number among the latest."""
        return self._met.get(number, 0)

    def meet(self, number: int) -> None:
        """Count a meeting; the earliest beyond `REMEMBERED` counts no longer."""
        self._met[number] = self._met.get(number, 0) + 1
        self._latest.append(number)
        if len(self._latest) > REMEMBERED:
            earliest = self._latest.popleft()
            self._met[earliest] -= 1
            if not self._met[earliest]:
                del self._met[earliest]


class _Order(Generic[BotT]):
    """Candidates sorted by priority, of which each owner's first can be walked through.

    Sorted lists: at thousands of bots a search and a shift of the rest take about a microsecond.
    """

    def __init__(self) -> None:
        self._candidates: dict[int, _Candidate[BotT]] = {}
        self._entries: dict[int, Entry] = {}
        self._own: dict[str, list[Entry]] = {}
        self._heads: list[Entry] = []

    def __len__(self) -> int:
        """Number of owners."""
        return len(self._heads)

    def put(self, candidate: _Candidate[BotT], first: float, second: float, third: float) -> None:
        """Add a candidate with its priority, or change that."""
        entry = (first, second, third, candidate.number)
        if self._entries.get(candidate.number) == entry:
            return
        self.discard(candidate)
        self._candidates[candidate.number] = candidate
        self._entries[candidate.number] = entry
        own = self._own.setdefault(candidate.waiting.owner, [])
        if not own or entry < own[0]:
            if own:
                del self._heads[bisect_left(self._heads, own[0])]
            insort(self._heads, entry)
        insort(own, entry)

    def discard(self, candidate: _Candidate[BotT]) -> None:
        """Remove a candidate if it is here."""
        entry = self._entries.pop(candidate.number, None)
        if entry is None:
            return
        del self._candidates[candidate.number]
        own = self._own[candidate.waiting.owner]
        at = bisect_left(own, entry)
        del own[at]
        if at == 0:
            del self._heads[bisect_left(self._heads, entry)]
            if own:
                insort(self._heads, own[0])
            else:
                del self._own[candidate.waiting.owner]

    def first(self) -> _Candidate[BotT] | None:
        """Return the candidate that comes before all others; None if there is none."""
        return self._candidates[self._heads[0][3]] if self._heads else None

    def heads(self) -> Iterator[_Candidate[BotT]]:
        """Walk through the first candidates of all owners, in order."""
        for entry in self._heads:
            yield self._candidates[entry[3]]


class Pool(Generic[BotT]):
    """The bots connected for one game. After changes, call `table` until it returns None."""

    def __init__(self, house: Sequence[BotT], chance: Shuffler, patience: float = PATIENCE) -> None:
        """`house` are the house bots; if too few, one takes several seats."""
        self.tables = 0
        """Number of tables formed so far."""
        self._anchor_balance = -SEATS_PER_ANCHOR
        """Seats formed minus `SEATS_PER_ANCHOR` for each of a house bot. It is never below `-SEATS_PER_ANCHOR`: house
        bots can be in advance by one seat only."""
        self._house = house
        self._chance = chance
        self._patience = patience
        self._candidates: dict[BotT, _Candidate[BotT]] = {}
        self._numbers = 0
        self._owners: dict[str, int] = {}
        """Number of bots connected, by owner."""
        self._last_matches: dict[LastMatch | None, int] = {}
        """Number of waiting bots, by their last match."""
        self._ended: dict[LastMatch | None, float] = {}
        """By last match of waiting bots, the instant from which the latest of them waits."""
        self._round = 0
        self._by_wait: _Order[BotT] = _Order()
        self._coverage: _Order[BotT] = _Order()
        self._contention: dict[int, _Order[BotT]] = {}
        """Orders by information gain, which depends on the table size: one for each size."""

    @property
    def owners(self) -> int:
        """Number of different owners that have a bot connected, waiting or not."""
        return len(self._owners)

    def has_room(self, bot: BotT) -> bool:
        """Return whether a bot waits here for a match."""
        candidate = self._candidates.get(bot)
        return candidate is not None and candidate.waiting.room > 0

    def update(self, waiting: Waiting[BotT]) -> None:
        """Take over what is different about a bot, or a new bot."""
        candidate = self._candidates.get(waiting.bot)
        if candidate is None:
            candidate = self._candidates[waiting.bot] = _Candidate(waiting, self._numbers)
            self._numbers += 1
            _count(self._owners, waiting.owner, 1)
            if waiting.room:
                self._begin_to_wait(candidate)
                self._place(candidate)
        elif candidate.waiting != waiting:
            self._change(candidate, waiting)

    def remove(self, bot: BotT) -> None:
        """Forget a bot, with whom it has met; others are ignored."""
        candidate = self._candidates.pop(bot, None)
        if candidate is not None:
            if candidate.waiting.room:
                self._forget_last_match(candidate)
                self._withdraw(candidate)
            _count(self._owners, candidate.waiting.owner, -1)

    def table(self, seats: int, now: float) -> Table[BotT] | None:
        """Form the next table of so many seats at the instant `now`; None while it is better or necessary to wait.

        A table is formed as soon as bots of enough different owners wait. If all of them come from one match, they wait
        a moment for others (`MIXING_SHARE`). House bots fill the remaining seats when all connected owners wait
        already, or when the longest wait has lasted for the patience. One seat may go to a house bot in any case, so
        that house bots get their share of seats (`SEATS_PER_ANCHOR`).
        """
        here = len(self._by_wait)
        if not here:
            return None
        anchor = bool(self._house) and self._anchor_balance + seats > SEATS_PER_ANCHOR * self._chance.random()
        wanted = seats - anchor
        if here < wanted and not self._house:
            return None
        if here < self.owners and now < self._mixing_until():
            return None
        if here < min(self.owners, wanted) and now < self._longest_waiting_since() + self._patience:
            return None
        chosen = self._contenders(seats, wanted) if here >= wanted else []
        self._cover(chosen, min(here, wanted), now)
        bots = [candidate.waiting.bot for candidate in chosen]
        bots += self._fillers(chosen, seats - len(chosen))
        self._chance.shuffle(bots)
        for candidate in chosen:
            for other in chosen:
                if other is not candidate:
                    candidate.meet(other.number)
            candidate.turn = int(candidate.turn) + 1 + self._chance.random()
            bot, owner, _, room, value, pending, _ = candidate.waiting
            self._change(candidate, Waiting(bot, owner, now, room - 1, value, pending + 1))
        self.tables += 1
        self._anchor_balance += seats - SEATS_PER_ANCHOR * (seats - len(chosen))
        self._anchor_balance = max(-SEATS_PER_ANCHOR, self._anchor_balance)
        return Table(tuple(bots))

    def due(self, now: float) -> float:
        """Return the instant from which more tables may be formed even if nothing changes; infinite if nobody waits."""
        if not len(self._by_wait):
            return inf
        mixing_until = self._mixing_until()
        return mixing_until if now < mixing_until else self._longest_waiting_since() + self._patience

    def _change(self, candidate: _Candidate[BotT], waiting: Waiting[BotT]) -> None:
        """Replace what is known of a bot."""
        had_room = candidate.waiting.room > 0
        if had_room:
            self._forget_last_match(candidate)
        candidate.waiting = waiting
        if waiting.room:
            if not had_room:
                self._begin_to_wait(candidate)
            self._place(candidate)
        elif had_room:
            self._withdraw(candidate)

    def _begin_to_wait(self, candidate: _Candidate[BotT]) -> None:
        """Draw a bot's turn in the current round, unless it has had its turn in that."""
        first = self._coverage.first()
        if first is not None:
            self._round = max(self._round, int(first.turn))
        candidate.turn = max(candidate.turn, self._round + self._chance.random())

    def _place(self, candidate: _Candidate[BotT]) -> None:
        """Put a waiting bot in its place in every order."""
        since, last_match = candidate.waiting.since, candidate.waiting.last_match
        _count(self._last_matches, last_match, 1)
        self._ended[last_match] = max(since, self._ended.get(last_match, since))
        self._by_wait.put(candidate, since, candidate.turn, 0.0)
        self._coverage.put(candidate, candidate.turn, 0.0, 0.0)
        for seats, order in self._contention.items():
            order.put(candidate, -self._gain(candidate, seats), since, candidate.turn)

    def _withdraw(self, candidate: _Candidate[BotT]) -> None:
        """Take a bot that waits no longer out of every order."""
        self._by_wait.discard(candidate)
        self._coverage.discard(candidate)
        for order in self._contention.values():
            order.discard(candidate)

    def _forget_last_match(self, candidate: _Candidate[BotT]) -> None:
        """Count a waiting bot's last match no longer."""
        last_match = candidate.waiting.last_match
        _count(self._last_matches, last_match, -1)
        if last_match not in self._last_matches:
            del self._ended[last_match]

    def _mixing_until(self) -> float:
        """Return the instant until which the waiting bots wait for others, as all come from one match; −∞ otherwise."""
        if len(self._last_matches) == 1:
            last = next(iter(self._last_matches))
            if last is not None:
                mixed = self._ended[last] + MIXING_SHARE * last.seconds
                return min(mixed, self._longest_waiting_since() + self._patience)
        return -inf

    def _longest_waiting_since(self) -> float:
        """Return the instant since which the longest-waiting bot has waited; infinite if none waits."""
        candidate = self._by_wait.first()
        return inf if candidate is None else candidate.waiting.since

    def _gain(self, candidate: _Candidate[BotT], seats: int) -> float:
        return candidate.waiting.value.gain(candidate.waiting.pending, seats)

    def _contenders(self, seats: int, wanted: int) -> list[_Candidate[BotT]]:
        """Choose the candidates with the largest gain for half of a table.

        Not for all of it: a match with well-known opponents tells more than one between newcomers. At every second
        table only the provisional ones among them.
        """
        order = self._contention.get(seats)
        if order is None:
            order = self._contention[seats] = _Order()
            for candidate in self._candidates.values():
                if candidate.waiting.room:
                    order.put(candidate, -self._gain(candidate, seats), candidate.waiting.since, candidate.turn)
        first = list(islice(order.heads(), (wanted + 1) // 2))
        if self.tables % 2:
            return first
        return [
            candidate
            for candidate in first
            if candidate.waiting.value.expected(candidate.waiting.pending, seats) > ESTABLISHED_VARIANCE
        ]

    def _cover(self, chosen: list[_Candidate[BotT]], number: int, now: float) -> None:
        """Choose more candidates for coverage, until there are so many in all; there must be that many.

        Waits beyond the patience come first, the longest of them first; then, round by round, who has met the chosen
        least; then random.
        """
        owners = {candidate.waiting.owner for candidate in chosen}
        for candidate in self._by_wait.heads():
            # The sum, so that a caller can wait for just that instant.
            if len(chosen) == number or now < candidate.waiting.since + self._patience:
                break
            if candidate.waiting.owner not in owners:
                owners.add(candidate.waiting.owner)
                chosen.append(candidate)
        missing = number - len(chosen)
        if not missing:
            return
        others: list[_Candidate[BotT]] = []
        for candidate in self._coverage.heads():
            if candidate.waiting.owner not in owners:
                others.append(candidate)
                if len(others) == missing + CONSIDERED:
                    break
        for _ in range(missing):
            best = _least_met(others, chosen)
            others.remove(best)
            chosen.append(best)

    def _fillers(self, chosen: list[_Candidate[BotT]], number: int) -> list[BotT]:
        """Choose so many house bots: those that the chosen have met least, then random."""
        order = list(range(len(self._house)))
        self._chance.shuffle(order)
        met = [sum([candidate.meetings(-1 - house) for candidate in chosen]) for house in range(len(self._house))]
        order.sort(key=met.__getitem__)
        taken = list(islice(cycle(order), number))
        for house in taken:
            for candidate in chosen:
                candidate.meet(-1 - house)
        return [self._house[house] for house in taken]


def _least_met(candidates: list[_Candidate[BotT]], chosen: list[_Candidate[BotT]]) -> _Candidate[BotT]:
    """Find, of the candidates in the first one's round, the first that has met the chosen least."""
    best, fewest, round_ = candidates[0], -1, int(candidates[0].turn)
    for candidate in candidates:
        if int(candidate.turn) > round_:
            break
        meetings = 0
        for other in chosen:
            meetings += candidate.meetings(other.number) + other.meetings(candidate.number)
        if fewest < 0 or meetings < fewest:
            best, fewest = candidate, meetings
    return best


KeyT = TypeVar("KeyT", bound=Hashable)


def _count(counts: dict[KeyT, int], key: KeyT, more: int) -> None:
    """Add to a count; one that comes to 0 is removed."""
    if number := counts.get(key, 0) + more:
        counts[key] = number
    else:
        del counts[key]
