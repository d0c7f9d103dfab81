# Compiled: every decision passes through here.
"""The scheduling policy, which forms tables from the bots that have room for a match now.

Every second table is for *contention*: half of its seats go to the bots with the largest information gain. All other
seats are for *coverage*. They go first to bots that have waited longer than the patience, then to those that got the
fewest tables while others waited. Among these, bots that have met the others at the table least come first, so that all
meet once before any meet twice. At any table, half of the seats go to provisional bots first. Bots of one owner never
meet, except house bots; the order of seats is random. If house bots can fill tables, nobody waits longer than the
patience, so a newcomer's first match comes soon. Time and randomness come from the caller; nothing here reads a clock
or draws.

Bots of one class of paces sit together freely. At any other table one bot is slower, and all others are of one class
and have the balance for it; such a table is formed as soon as they wait, unless they have met each other often.

If pairs have quotas, a pair that has spent its own sits together only if nobody else waits for a seat. A bot at many
tables, twice the mean, waits while others wait or are expected. Otherwise bots with much room would mostly meet each
other.

A pool is updated bot by bot: except for searches in sorted lists, the cost of a table does not depend on the number of
waiting bots.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from itertools import cycle, islice
from math import inf
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

from arena.scheduling.candidate import Candidate, Waiting
from arena.scheduling.lane import MET_OFTEN, MIXING_SHARE, Lane, add_least_met, counting
from arena.scheduling.pace import MOST_CLASSES

PATIENCE: Final = 2.0
"""Seconds for which a bot waits for other bots before house bots complete its table."""
LEAST_OWNERS: Final = 7
"""Number of owners below which house bots get one seat in eight. With more owners, house bots get as many seats as the
bots of one owner. House bots are the ladder's anchors, so the scale is then known about as well as one rating.
"""
FREE_TABLES: Final = 8
"""Number of tables that a bot may always have: the SDK's default capacity."""
SHARE: Final = 2.0
"""A bot's share of tables, as a multiple of the mean number of tables of the connected bots."""
SLOW_TRIED: Final = 4
"""Number of slow bots per class for which the pool tries to find opponents."""

BotT = TypeVar("BotT", bound=Hashable)


class Shuffler(Protocol):
    """Source of randomness, such as a `random.Random`."""

    def random(self) -> float:
        """Draw from [0, 1)."""

    def shuffle(self, x: list[Any], /) -> object:
        """Shuffle the list in place."""


class Table(NamedTuple, Generic[BotT]):
    """The bots of a match to be played."""

    bots: tuple[BotT, ...]
    """Bots by seat."""


class Pool(Generic[BotT]):
    """The connected bots of one ladder. After changes, call `table` until it returns None."""

    def __init__(
        self, house: Sequence[BotT], chance: Shuffler, patience: float = PATIENCE, shared: bool = False
    ) -> None:
        """Create an empty pool. `house`: the house bots. If there are too few, one gets several seats.

        `shared`: true if each bot's share of the tables is limited.
        """
        self.tables = 0
        """Number of tables formed so far."""
        self._owed_to_house = -1.0
        """The house bots' share of the seats at formed tables, minus the seats that they got. It is never below -1:
        they can be ahead by only one seat, however many they got while nobody else was there."""
        self._house = house
        self._chance = chance
        self._patience = patience
        self._candidates: dict[BotT, Candidate[BotT]] = {}
        self._numbers = 0
        self._owners: dict[str, int] = {}
        """Number of bots connected, by owner."""
        self._lanes: dict[int, Lane[BotT]] = {}
        """Lanes by pace class, for classes that have had bots."""
        self._shared = shared
        self._mixing_until = inf
        """Time until which bots wait for others that they have met less often, as of the latest call of `table`."""
        self._taken = 0
        """Number of seats at tables held by connected bots."""

    def __contains__(self, bot: object) -> bool:
        """True if a bot is connected, waiting or not."""
        return bot in self._candidates

    @property
    def owners(self) -> int:
        """Number of different owners with a connected bot, waiting or not."""
        return len(self._owners)

    @property
    def patience(self) -> float:
        """Seconds for which a bot waits for other bots before house bots complete its table."""
        return self._patience

    @patience.setter
    def patience(self, seconds: float) -> None:
        self._patience = seconds
        for lane in self._all_lanes():
            lane.patience = seconds

    def has_room(self, bot: BotT) -> bool:
        """Return True if a bot is waiting here for a match."""
        candidate = self._candidates.get(bot)
        return candidate is not None and candidate.waiting.room > 0

    def update(self, waiting: Waiting[BotT]) -> None:
        """Add a bot, or update a changed one."""
        candidate = self._candidates.get(waiting.bot)
        if candidate is None:
            candidate = self._candidates[waiting.bot] = Candidate(waiting, self._numbers)
            self._numbers += 1
            self._owners[waiting.owner] = self._owners.get(waiting.owner, 0) + 1
            self._taken += waiting.tables
            candidate.beyond_share = self._beyond_share(waiting)
            self._enter(candidate, waiting.room > 0)
        elif candidate.waiting != waiting:
            self._change(candidate, waiting)

    def remove(self, bot: BotT) -> None:
        """Remove a bot and forget its meetings. Ignore unknown bots."""
        candidate = self._candidates.pop(bot, None)
        if candidate is not None:
            owner = candidate.waiting.owner
            self._lane_of(candidate).leave(candidate)
            self._taken -= candidate.waiting.tables
            self._owners[owner] -= 1
            if not self._owners[owner]:
                del self._owners[owner]

    def met(self, bots: Sequence[BotT]) -> None:
        """Count a meeting of bots, here or elsewhere. Ignore bots that are not connected."""
        here = [self._candidates[bot] for bot in bots if bot in self._candidates]
        for candidate in here:
            for other in here:
                if other is not candidate:
                    candidate.meet(other.number)

    def table(self, seats: int, now: float) -> Table[BotT] | None:
        """Form the next table at the instant `now`; None while it is better or necessary to wait.

        A table is formed as soon as waiting bots of enough different owners may sit together. If these have met each
        other often, they wait a moment for others (`MET_OFTEN`, `MIXING_SHARE`). House bots fill the remaining seats
        when no suitable bot is expected, or when the longest wait exceeds the patience. In any case one seat may go to
        a house bot, for the house bots' share of seats (`LEAST_OWNERS`). Bots beyond their share of tables come before
        house bots. They sit together when nobody else waits or is expected, or when the patience has run out.
        """
        self._mixing_until = inf
        every = [*self._lanes.values()]
        lanes, further = _waiting(every), _waiting([lane.further for lane in every if lane.further is not None])
        if not lanes and not further:
            return None
        wanted = seats
        if self._house and self._owed_to_house + seats * self._house_share() > self._chance.random():
            wanted -= 1
        chosen = self._with_a_slow_bot(wanted, now)
        for lane in lanes:
            chosen = chosen or self._of_one_class(lane, seats, wanted, now)
        for lane in further:
            if not chosen and (now >= lane.patience_ends() or not self._others(lane, now)):
                chosen = self._of_one_class(lane, seats, wanted, now)
        chosen = chosen or self._of_all([*lanes, *further], wanted, now)
        return self._seat(chosen, seats, now) if chosen else None

    def due(self, now: float) -> float:
        """Return the time from which more tables may be formed even if nothing changes, or infinity if no bot waits.

        It is in the past if a bot has waited for longer than the patience.
        """
        return min([self._mixing_ends(now), *[lane.patience_ends() for lane in self._all_lanes()]])

    def next_due(self, now: float) -> float:
        """Return the first time in the future from which more tables may be formed even if nothing changes."""
        return min([self._mixing_ends(now), *[lane.next_patience_end(now) for lane in self._all_lanes()]])

    def _mixing_ends(self, now: float) -> float:
        return self._mixing_until if now < self._mixing_until else inf

    def _house_share(self) -> float:
        """Return the minimum share of house bots among all seats."""
        return 1 / (1 + max(LEAST_OWNERS, len(self._owners)))

    def _change(self, candidate: Candidate[BotT], waiting: Waiting[BotT]) -> None:
        """Replace the state of a bot."""
        before = candidate.waiting
        self._taken += waiting.tables - before.tables
        beyond_share = self._beyond_share(waiting)
        same = before.pace_class == waiting.pace_class and candidate.beyond_share == beyond_share
        self._lane_of(candidate).leave(candidate, stays=same and waiting.room > 0)
        candidate.waiting, candidate.beyond_share = waiting, beyond_share
        self._enter(candidate, waiting.room > 0 and not (before.room and same))

    def _enter(self, candidate: Candidate[BotT], begins_to_wait: bool) -> None:
        lane = self._lane_of(candidate)
        if begins_to_wait:
            lane.draw_turn(candidate)
        lane.enter(candidate)

    def _lane_of(self, candidate: Candidate[BotT]) -> Lane[BotT]:
        pace_class = candidate.waiting.pace_class
        lane = self._lanes.get(pace_class)
        if lane is None:
            draw = self._chance.random
            lane = self._lanes[pace_class] = Lane(self._patience, draw, Lane(self._patience, draw))
        return lane.further if candidate.beyond_share and lane.further is not None else lane

    def _beyond_share(self, waiting: Waiting[BotT]) -> bool:
        if not self._shared or waiting.tables < FREE_TABLES:
            return False
        return waiting.tables >= SHARE * self._taken / len(self._candidates)

    def _others(self, further: Lane[BotT], now: float) -> bool:
        """Return whether bots within their share, waiting or expected, could sit with the bots of `further`."""
        for pace_class in sorted(self._lanes):
            lane = self._lanes[pace_class]
            if len(lane.by_wait) or lane.coming(now - self._patience, now + self._patience):
                return True
            if lane.further is further:
                break
        return False

    def _all_lanes(self) -> list[Lane[BotT]]:
        every = [*self._lanes.values()]
        return every + [lane.further for lane in every if lane.further is not None]

    def _of_one_class(self, lane: Lane[BotT], seats: int, wanted: int, now: float) -> list[Candidate[BotT]]:
        """Choose bots of one class for a table. Return an empty list while they wait for others."""
        here, until = len(lane.by_wait), lane.patience_ends()
        further = lane.further
        more = 0 if further is None else len(further.by_wait)
        if here + more < wanted and not self._house:
            return []
        # House bots do not take the seats of a table that waits a moment for better opponents.
        if here < wanted and now < until and self._mixing_until < inf:
            return []
        # A slow bot must not cost twice: a bot that lacks an opponent because of it need not wait as well.
        if here < wanted and not lane.held_up and now < until and self._coming(lane, now - self._patience, until):
            return []
        contenders = (wanted + 1) // 2 if here >= wanted else 0
        chosen = lane.contenders(seats, contenders, bool(self.tables % 2)) if contenders else []
        lane.cover(chosen, min(here, wanted), now)
        if further is not None and more:
            further.cover(chosen, wanted, now)
        return [] if self._should_mix(chosen, lane, now, here + more > len(chosen)) else chosen

    def _should_mix(self, chosen: Sequence[Candidate[BotT]], lane: Lane[BotT], now: float, choice: bool) -> bool:
        """Return whether the chosen bots should wait for others because they have met each other often. `choice`: true
        if more bots wait.

        Only bots with room for just this match wait: a bot with more room would lose more. The more often they have
        met, the longer they wait. Otherwise bots whose matches end together, when nobody else is there, would often
        meet again. It suffices that a suitable bot is busy: the end of its match is hard to predict.
        """
        surplus, full = 0.0, [one.waiting for one in chosen if one.waiting.room == 1]
        for one in chosen:
            often = MET_OFTEN * one.mean_meetings(len(self._candidates) - self._owners[one.waiting.owner])
            for other in chosen:
                if other is not one:
                    surplus += one.meetings(other.number) - often
        if not full or surplus <= 0:
            return False
        share = MIXING_SHARE * min(1.0, surplus / (len(chosen) * (len(chosen) - 1)))
        until = lane.patience_ends()
        for waiting in full:
            tables = max(1, waiting.tables) if choice else 1
            until = min(until, waiting.since + share * waiting.last_length / tables)
        if now >= until or not self._coming(lane, -inf, inf):
            return False
        self._mixing_until = min(self._mixing_until, until)
        return True

    def _coming(self, lane: Lane[BotT], since: float, until: float) -> bool:
        """Return whether a bot that may play in this lane is expected to have a free place between two instants."""
        if lane.coming(since, until):
            return True
        return any(quicker.coming(since, until, patient=True) for quicker in self._quicker(lane))

    def _quicker(self, lane: Lane[BotT]) -> Iterator[Lane[BotT]]:
        for pace_class in sorted(self._lanes):
            if self._lanes[pace_class] is lane:
                break
            yield self._lanes[pace_class]

    def _with_a_slow_bot(self, wanted: int, now: float) -> list[Candidate[BotT]]:
        """Choose a slow bot and quicker ones of one class with the balance to wait for it; an empty list if impossible.

        If too few are here, and no more are expected or the slow bot's patience is over, house bots fill the table.
        """
        if len(self._lanes) < 2 or wanted < 2:
            return []
        for pace_class in sorted(self._lanes, reverse=True):
            slow = self._lanes[pace_class]
            for candidate in islice(slow.by_wait.heads(), SLOW_TRIED):
                until = candidate.waiting.since + self._patience
                for lane in self._quicker(slow):
                    chosen = [candidate]
                    # No balance covers a bot of unknown pace, but without house bots, others must measure it.
                    quicker = lane.coverage if pace_class == MOST_CLASSES else lane.patient
                    add_least_met(chosen, quicker, wanted)
                    if self._should_mix(chosen, slow, now, len(quicker) >= wanted):
                        continue
                    if len(chosen) == wanted:
                        return chosen
                    if (
                        len(chosen) > 1
                        and self._house
                        and not (now < until and self._coming(slow, now - self._patience, until))
                    ):
                        return chosen
        return []

    def _of_all(self, lanes: Sequence[Lane[BotT]], wanted: int, now: float) -> list[Candidate[BotT]]:
        """Without house bots, choose bots whose patience is over, of any pace. Otherwise some might never play."""
        if self._house:
            return []
        chosen: dict[str, Candidate[BotT]] = {}
        for candidate in sorted(
            [each for lane in lanes for each in islice(lane.by_wait.heads(), wanted)],
            key=lambda each: each.waiting.since,
        ):
            if now >= candidate.waiting.since + self._patience:
                chosen.setdefault(candidate.waiting.owner, candidate)
        if len(chosen) < wanted:
            return []
        late = [*chosen.values()]
        table: list[Candidate[BotT]] = []
        while len(table) < wanted:
            table.append(counting(late, table)[0])
            late.remove(table[-1])
        return table

    def _seat(self, chosen: list[Candidate[BotT]], seats: int, now: float) -> Table[BotT]:
        """Give seats to the chosen bots and to house bots."""
        bots = [candidate.waiting.bot for candidate in chosen]
        bots += self._fillers(chosen, seats - len(chosen))
        self._chance.shuffle(bots)
        self.met([candidate.waiting.bot for candidate in chosen])
        for candidate in chosen:
            candidate.turn = int(candidate.turn) + 1 + self._chance.random()
            waiting = candidate.waiting
            room, pending, tables = waiting.room - 1, waiting.pending + 1, waiting.tables + 1
            seated = waiting._replace(since=now, room=room, pending=pending, tables=tables)
            self._change(candidate, seated)
        self.tables += 1
        self._owed_to_house += seats * self._house_share() - (seats - len(chosen))
        self._owed_to_house = max(-1.0, self._owed_to_house)
        return Table(tuple(bots))

    def _fillers(self, chosen: list[Candidate[BotT]], number: int) -> list[BotT]:
        """Choose house bots: those that the chosen bots have met least, then random ones."""
        order = list(range(len(self._house)))
        self._chance.shuffle(order)
        met = [sum([candidate.meetings(-1 - house) for candidate in chosen]) for house in range(len(self._house))]
        order.sort(key=met.__getitem__)
        taken = list(islice(cycle(order), number))
        for house in taken:
            for candidate in chosen:
                candidate.meet(-1 - house)
        return [self._house[house] for house in taken]


def _waiting(lanes: Sequence[Lane[BotT]]) -> list[Lane[BotT]]:
    """Return the lanes in which bots wait, the longest wait first."""
    return sorted([lane for lane in lanes if len(lane.by_wait)], key=Lane.patience_ends)
