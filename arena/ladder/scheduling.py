"""Who plays whom: tables from the bots that have room for a match now. Asked until it says None, a pool is empty.

Every second table is for *contention*: half of its seats are for the bots whose ranks a match tells most about. All
other seats are for *coverage*: any bots, by chance, first those whose patience is over; but bots that have no place yet
come first at half of any table. Never two bots of one owner, except of the house; seats are drawn. Nobody waits beyond
the patience where house bots can fill a table, so a newcomer's first match is never far off. Nothing here reads a clock
or draws chance: both come from the caller.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterable, Sequence
from heapq import heapify, heappop, heappush, heapreplace
from itertools import cycle, islice
from math import inf
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeAlias, TypeVar

from arena.ladder.live import SCALE
from arena.ladder.stakes import NEWCOMER, Stake

PATIENCE: Final = 2.0
"""Seconds a bot waits for other bots before house bots fill its table."""
ANCHORED: Final = 20
"""One seat of so many is a house bot's at least, whoever waits: the anchors hold the ladder in place."""

PLACED: Final = (40 / SCALE) ** 2
"""v of a bot with a standard error of 40 Elo, from which on it has its place; before that it is provisional."""
MIXING: Final = 0.1
"""For so much of the length of their match, and no longer than the patience, do bots that have just met wait for
others: tables that end by turns would otherwise be formed anew of the same bots for ever."""

BotT = TypeVar("BotT", bound=Hashable)
Key: TypeAlias = tuple[float, float, float]
"""The least goes first."""


class Chance(Protocol):
    """Where chance comes from, such as a `random.Random`."""

    def random(self) -> float:
        """From 0 to 1, without 1."""

    def shuffle(self, x: list[Any], /) -> object:
        """Puts the list in a random order."""


class Met(NamedTuple):
    """A match from which bots have come."""

    match: Hashable
    seconds: float
    """That it took."""


class Waiting(NamedTuple, Generic[BotT]):
    """A bot that can play one more match now, or several."""

    bot: BotT
    owner: str
    since: float
    """The instant, in seconds, from which it waits: when it came, had room again or was last given a match."""
    room: int = 1
    """How many more matches it can play now."""
    stake: Stake = NEWCOMER
    pending: int = 0
    """Its matches that the stake does not know the results of, such as those it is playing."""
    met: Met | None = None
    """Its last match, if any."""


class Table(NamedTuple, Generic[BotT]):
    """Who sits down to a match."""

    bots: tuple[BotT, ...]
    """By seat."""


class Past(NamedTuple):
    """What the tables formed so far leave to those to come."""

    tables: int = 0
    owed: int = -ANCHORED
    """Seats, less `ANCHORED` for each that a house bot had: less than `ANCHORED`, and no credit for more than one."""

    def then(self, seats: int, house: int) -> Past:
        """After another table, of so many seats and house bots."""
        return Past(self.tables + 1, max(-ANCHORED, self.owed + seats - ANCHORED * house))


class _Guest(Generic[BotT]):
    """A waiting bot, as tables are formed."""

    __slots__ = ("bot", "lot", "owner", "pending", "room", "since", "stake")

    def __init__(self, waiting: Waiting[BotT], lot: float) -> None:
        self.bot = waiting.bot
        self.owner = waiting.owner
        self.since = waiting.since
        self.room = waiting.room
        self.stake = waiting.stake
        self.pending = waiting.pending
        self.lot = lot
        """Drawn; one more after each table, so that everybody's turn comes before anybody's second."""


class _Queue(Generic[BotT]):
    """Guests in the order of a key, one of each owner at a time. Keys may grow: each is looked at again at its turn."""

    def __init__(self, guests: Iterable[_Guest[BotT]], key: Callable[[_Guest[BotT]], Key]) -> None:
        self._key = key
        self._own: dict[str, list[tuple[Key, int, _Guest[BotT]]]] = {}
        for number, guest in enumerate(guests):
            self._own.setdefault(guest.owner, []).append((key(guest), number, guest))
        for own in self._own.values():
            heapify(own)
        self._heads = [(own[0][0], owner) for owner, own in self._own.items()]
        heapify(self._heads)

    def first(self, number: int, besides: Sequence[_Guest[BotT]] = ()) -> list[_Guest[BotT]]:
        """The first guests with room of so many other owners than those of some; there must be as many."""
        others = {guest.owner for guest in besides}
        found: list[_Guest[BotT]] = []
        passed: list[tuple[Key, str]] = []
        while len(found) < number:
            key, owner = heappop(self._heads)
            guest = self._front(self._own[owner])
            if guest is None:
                continue
            current = self._own[owner][0][0]
            if current != key:
                heappush(self._heads, (current, owner))
                continue
            passed.append((key, owner))
            if owner not in others:
                found.append(guest)
        for head in passed:
            heappush(self._heads, head)
        return found

    def _front(self, own: list[tuple[Key, int, _Guest[BotT]]]) -> _Guest[BotT] | None:
        """The first of one owner's that has room, its key being up to date."""
        while own:
            key, number, guest = own[0]
            if not guest.room:
                heappop(own)
            elif (current := self._key(guest)) != key:
                heapreplace(own, (current, number, guest))
            else:
                return guest
        return None


class Pool(Generic[BotT]):
    """The bots that wait for a match of one game, from which tables are taken."""

    def __init__(
        self,
        waiting: Iterable[Waiting[BotT]],
        owners: int,
        house: Sequence[BotT],
        now: float,
        chance: Chance,
        patience: float = PATIENCE,
        past: Past = Past(),  # noqa: B008 - frozen
    ) -> None:
        """At the instant `now`, in seconds.

        `waiting`: each bot with room for a match, once; house bots do not wait. `owners`: how many different owners
        have a bot connected for this game, waiting or not. `house`: the house bots; where they are too few, one takes
        several seats. `past`: that of the pool before.
        """
        self.past = past
        self._owners = owners
        self._house = house
        self._now = now
        self._chance = chance
        self._patience = patience
        guests = sorted(waiting, key=lambda guest: guest.since, reverse=True)
        self._mixing_until = -inf
        if guests and (met := guests[0].met) is not None and all(guest.met == met for guest in guests):
            self._mixing_until = guests[-1].since + min(patience, MIXING * met.seconds)
        self._guests = {each.bot: _Guest(each, chance.random()) for each in guests}
        self._waits = [(guest, guest.since) for guest in self._guests.values()]
        self._room: dict[str, int] = {}
        """By owner, how many bots have room."""
        for each in guests:
            self._room[each.owner] = self._room.get(each.owner, 0) + 1
        self._coverage = _Queue(self._guests.values(), self._turn)
        self._contention: dict[int, _Queue[BotT]] = {}
        """By table size, since that is part of what a match tells."""

    def table(self, seats: int) -> Table[BotT] | None:
        """The next table of so many seats, or None while it is better or necessary to wait.

        A table is formed as soon as bots of enough different owners wait; but bots that have all just met wait a moment
        for others who may come. House bots fill it up when everybody who could come waits already (all owners, yet
        fewer than seats), or when the longest wait has lasted for the patience; and they take one of the seats that
        are owed to them.
        """
        here = len(self._room)
        if not here:
            return None
        anchor = bool(self._house) and self.past.owed + seats > ANCHORED * self._chance.random()
        wanted = seats - anchor
        if here < wanted and not self._house:
            return None
        if here < self._owners and self._now < self._mixing_until:
            return None
        if here < min(self._owners, wanted) and self._now < self._longest_wait() + self._patience:
            return None
        guests = self._contenders(seats, wanted) if here >= wanted else []
        guests += self._coverage.first(min(here, wanted) - len(guests), besides=guests)
        fillers = list(self._house)
        self._chance.shuffle(fillers)
        bots = [guest.bot for guest in guests]
        bots += islice(cycle(fillers), seats - len(bots))
        self._chance.shuffle(bots)
        for guest in guests:
            guest.since, guest.pending, guest.lot = self._now, guest.pending + 1, guest.lot + 1
            self.engage(guest.bot)
        self.past = self.past.then(seats, seats - len(guests))
        return Table(tuple(bots))

    def engage(self, bot: BotT) -> None:
        """A bot was given a match, of this game or another, if it waits here: it has less room."""
        guest = self._guests.get(bot)
        if guest is None:
            return
        guest.room -= 1
        if not guest.room:
            del self._guests[bot]
            count_off(self._room, guest.owner)

    @property
    def due(self) -> float:
        """The instant from which more tables may be formed though nobody comes; infinite if there is none."""
        if not self._room:
            return inf
        return self._mixing_until if self._now < self._mixing_until else self._longest_wait() + self._patience

    def _longest_wait(self) -> float:
        """Since when somebody has been waiting."""
        while self._waits:
            guest, since = self._waits[-1]
            if guest.room and guest.since == since:
                return since
            self._waits.pop()
        return self._now

    def _turn(self, guest: _Guest[BotT]) -> Key:
        """In coverage: who has waited for too long goes first, the longest wait before others; the rest is chance."""
        overdue = self._now >= guest.since + self._patience  # the sum, so that a caller can wait for just that instant
        return guest.since - self._now if overdue else 0.0, guest.lot, 0.0

    def _contenders(self, seats: int, wanted: int) -> list[_Guest[BotT]]:
        """Those with most to gain, for half a table: they learn less from each other than from bots that are known.

        Every second time only those among them that have no place yet.
        """
        if seats not in self._contention:

            def least(guest: _Guest[BotT]) -> Key:
                return -guest.stake.gain(guest.pending, seats), guest.since, guest.lot

            self._contention[seats] = _Queue(self._guests.values(), least)
        first = self._contention[seats].first((wanted + 1) // 2)
        if self.past.tables % 2:
            return first
        return [guest for guest in first if guest.stake.expected(guest.pending, seats) > PLACED]


def count_off(counts: dict[str, int], owner: str) -> None:
    """An owner has one bot less; whoever has none is not counted."""
    if counts[owner] > 1:
        counts[owner] -= 1
    else:
        del counts[owner]
