"""The race: an event in which bots that may still be the best play on until the best is known or the budget is used up.

The rules are in docs/events.md. A race reads no clock and calls no bot. Its caller passes the bots that are present,
the results, and the used part of a budget of time. Tables depend on results only at looks, so all rounds up to the next
look can be played at once.
"""

from __future__ import annotations

from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Final, NamedTuple

from arena.scheduling.event.lots import DRAWS, Lots, entrants_digest, look_key, tables_key
from arena.scheduling.event.scores import HOUSE, FrozenAdjustment, adjusted_scores, no_adjustment
from engine.deal import NONCE_BYTES, SEED_BYTES

FIRST_LOOK: Final = 6
"""Number of matches that each remaining bot must have at the first look. Each later look needs 5/4 as many."""
FIRST_CUT: Final = 4
"""Minimum number of matches of each remaining bot before an early look may cut the field."""
CUT_BELOW: Final = 80
"""An early look is due if less than this percentage of the remaining bots may stay."""
STAY: Final = DRAWS // 100
"""Number of draws in which a bot must be the best to play on."""
CUT_DONE: Final = 800
"""Thousandths of the budget after which only one table plays on."""
WHOLE: Final = 1000
"""The whole budget in thousandths."""
MARGIN: Final = 0.07
"""Smallest difference in strength that matters, in standard deviations of a score: about 10 Elo."""
RISK: Final = 3 * DRAWS // 100
"""Maximum number of draws in which some bot is better than the winner by more than the margin."""
DECIDED_FROM: Final = 16
"""Minimum number of matches of each bot still in before an event can be decided."""


class EventError(ValueError):
    """The event is not possible, or its state does not allow the call. The message gives the value and the remedy."""


class EventEntrant(NamedTuple):
    """A bot of the event."""

    name: str
    owner: str
    """Two bots of one owner never meet."""
    nonce: bytes = bytes(NONCE_BYTES)


class EventTable(NamedTuple):
    """One match of a round."""

    number: int
    """Counted from 0 over the whole event."""
    round: int
    bots: tuple[int, ...]
    """The bots by seat, as indexes of `Race.entrants`; `HOUSE` for a house bot."""


class EventResult(NamedTuple):
    """A finished match, by seat."""

    points: tuple[float, ...]
    baselines: tuple[float, ...] | None = None
    """Points of the baseline on the same deals; None without them."""
    vanished: tuple[bool, ...] | None = None
    """True for bots that vanished; None if all were present."""


@dataclass(frozen=True, slots=True)
class RaceLook:
    """Everything that was computed at a look."""

    number: int
    """Counted from 0."""
    matches: int
    """Number of matches of the event so far."""
    means: tuple[float, ...]
    """Most likely strength of each bot, in points."""
    deviations: tuple[float, ...]
    """Standard deviation of each strength."""
    best: tuple[float, ...]
    """For each bot, the probability that it is the best."""
    first: int
    """The bot in first place."""
    risk: float
    """Probability that some bot is better than the one in first place by more than `margin`."""
    margin: float
    """Difference that matters, in points."""
    opponents: float
    """λ: change of a score per point of the other bots' mean strength."""
    decided: bool
    stays: tuple[int, ...]
    """The bots that play on. If the event is over, those that were still in."""


class EventStanding(NamedTuple):
    """The standing of a bot."""

    place: int
    """1 is the best; equal bots share a place."""
    bot: int
    still_in: bool
    matches: int
    strength: float | None
    """None before the first look, and for a bot without a match."""
    deviation: float | None
    best: float
    """Probability that the bot is the best; 0 before the first look."""


class Race:
    """An event from its first round to its result."""

    def __init__(
        self,
        seed: bytes,
        entrants: Iterable[EventEntrant],
        seats: int,
        budget: int | None,
        frozen: FrozenAdjustment | None = None,
        everyone: bool = False,
    ) -> None:
        """Begin the event.

        `budget` is in matches; None for a budget of time, of which the caller passes the used part. With `everyone`,
        all play the same number of matches, and there is one look at the end.

        Raises:
            EventError: two bots have one name, there are fewer than two bots, or a size is wrong.
        """
        self.entrants = tuple(sorted(entrants, key=lambda each: each.name.encode()))
        """The bots, sorted by name."""
        self.seats = seats
        self.budget = budget
        self.everyone = everyone
        self.tables: list[EventTable] = []
        """All tables so far."""
        self.looks: list[RaceLook] = []
        self.still_in = tuple(range(len(self.entrants)))
        self.matches = [0] * len(self.entrants)
        """Number of each bot's matches, including those that are not over yet."""
        self.over = False
        self._refuse()
        if len(seed) != SEED_BYTES:
            raise EventError(f"the seed of an event has {SEED_BYTES} bytes, not {len(seed)}")
        self._seed = seed
        self._digest = entrants_digest((each.name, each.nonce) for each in self.entrants)
        self._frozen = no_adjustment(seats) if frozen is None else frozen
        self._results: dict[int, EventResult] = {}
        self._seated = [Counter[int]() for _ in self.entrants]
        self._gone: set[int] = set()
        self._used = self._rounds = self._looked = 0
        self._next_look = (FIRST_LOOK, 1)

    @property
    def used(self) -> int:
        """Used part of the budget in thousandths."""
        return self._used if self.budget is None else min(WHOLE, WHOLE * len(self.tables) // self.budget)

    @property
    def decided(self) -> bool:
        """True if the event has a winner that is certain enough."""
        return bool(self.looks) and self.looks[-1].decided

    def start_round(self, present: Collection[int] | None = None, used: int = 0) -> tuple[EventTable, ...]:
        """Draw the tables of the next round at random.

        `present`: the bots that are ready, by default all that are still in. `used`: the used thousandths of a budget
        of time. The result is empty if nobody is present.

        Raises:
            EventError: the event is over, or a look is due.
        """
        if self.over or self.look_due:
            raise EventError("no round begins: " + ("the event is over" if self.over else "a look is due, take it"))
        self._used = min(WHOLE, max(self._used, used))
        lots = Lots(tables_key(self._seed, self._rounds, self._digest))
        roll = lots.shuffle(bot for bot in self.still_in if present is None or bot in present)
        drawn: list[EventTable] = []
        for at_table in self._grouped(roll):
            bots = self._placed(lots, at_table)
            for seat, bot in enumerate(bots):
                if bot != HOUSE:
                    self.matches[bot] += 1
                    self._seated[bot][seat] += 1
            drawn.append(EventTable(len(self.tables) + len(drawn), self._rounds, bots))
        self.tables += drawn
        self._rounds += 1
        return tuple(drawn)

    def record(self, number: int, result: EventResult) -> None:
        """Record the result of a table.

        Raises:
            EventError: there is no such table, it has a result already, or the result's number of seats is wrong.
        """
        if not 0 <= number < len(self.tables) or number in self._results:
            raise EventError(f"table {number} waits for no result: {len(self.tables)} are drawn, each has one result")
        for values in (result.points, result.baselines, result.vanished):
            if values is not None and len(values) != self.seats:
                raise EventError(f"table {number} has {self.seats} seats, and its result {len(values)}")
        self._results[number] = result

    def remove(self, bot: int) -> None:
        """Remove a bot that is gone for good from the event. It keeps its place among those that are out.

        It no longer counts as a possible winner. Otherwise a bot that leaves early could prevent a decision.
        """
        self._gone.add(bot)
        self.still_in = tuple(each for each in self.still_in if each != bot)
        self.over = self.over or not self.still_in

    @property
    def look_due(self) -> bool:
        """True if the next round cannot begin before a look."""
        if self.over or len(self.tables) == self._looked:
            return False
        if self._spent:
            return True
        early = self._least >= FIRST_CUT and 100 * self._most_in() < CUT_BELOW * len(self.still_in)
        return not self.everyone and (self._regular or early)

    def unseen(self, used: int) -> bool:
        """Return whether a look would see more than the last one: a match was played since, or the budget is used."""
        return bool(self.tables) and (len(self.tables) > self._looked or max(self._used, used) >= WHOLE)

    def look(self, used: int = 0) -> RaceLook:
        """Estimate all strengths, then end the event or cut the field. `used`: as in `start_round`.

        Raises:
            EventError: a table has no result yet, or no match was played since the last look.
        """
        self._used = min(WHOLE, max(self._used, used))
        if self.over or not self.tables or (len(self.tables) == self._looked and not self._spent):
            raise EventError("there is nothing to look at: no match was played since the last look")
        if missing := [table.number for table in self.tables if table.number not in self._results]:
            raise EventError(f"table {missing[0]} has no result yet: record it before the look")
        from arena.scheduling.event.strengths import chances, posterior, strengths  # loads numpy

        results = [self._results[table.number] for table in self.tables]
        present = (False,) * self.seats
        scores = [
            adjusted_scores(each.points, each.baselines, each.vanished or present, self._frozen) for each in results
        ]
        estimated = strengths(len(self.entrants), [table.bots for table in self.tables], scores)
        field = posterior(estimated)
        means = tuple(field.means.tolist())
        order = sorted(self.still_in, key=lambda bot: (-means[bot], bot))
        first, margin = order[0], MARGIN * sqrt(estimated.variance)
        drawn = chances(look_key(self._seed, len(self.looks), self._digest), field, first, margin, self._gone)
        alone = len(order) == 1 or means[order[1]] < means[first]
        decisive = (self._spent or self._regular) and self._least >= DECIDED_FROM
        decided = decisive and alone and drawn.above <= RISK
        self.over = decided or self._spent
        if not self.over and not self.everyone:
            self._cut(drawn.best, means)
        look = RaceLook(
            number=len(self.looks),
            matches=len(self.tables),
            means=means,
            deviations=tuple(field.deviations.tolist()),
            best=tuple(each / DRAWS for each in drawn.best),
            first=first,
            risk=drawn.above / DRAWS,
            margin=margin,
            opponents=estimated.opponents,
            decided=decided,
            stays=self.still_in,
        )
        self.looks.append(look)
        self._looked = len(self.tables)
        while self._regular:
            above, below = self._next_look
            self._next_look = 5 * above, 4 * below
        return look

    def standings(self) -> list[EventStanding]:
        """Return all bots in order: first those still in, then those out, each group by most likely strength."""
        last = self.looks[-1] if self.looks else None

        def strength(bot: int) -> float:
            return float("-inf") if last is None else last.means[bot]

        def rank(bot: int) -> tuple[bool, float]:
            return bot not in self.still_in, -strength(bot)

        found: list[EventStanding] = []
        order = sorted(range(len(self.entrants)), key=lambda bot: (rank(bot), bot))
        for at, bot in enumerate(order):
            shared = at > 0 and rank(bot) == rank(order[at - 1])
            known = last is not None and strength(bot) > float("-inf")
            found.append(
                EventStanding(
                    found[-1].place if shared else at + 1,
                    bot,
                    bot in self.still_in,
                    self.matches[bot],
                    strength(bot) if known else None,
                    last.deviations[bot] if known and last is not None else None,
                    0.0 if last is None else last.best[bot],
                )
            )
        return found

    @property
    def _least(self) -> int:
        return min((self.matches[bot] for bot in self.still_in), default=0)

    @property
    def _regular(self) -> bool:
        """True if each bot still in has enough matches for the next regular look."""
        above, below = self._next_look
        return self._least * below >= above

    @property
    def _spent(self) -> bool:
        return self.used >= WHOLE

    def _most_in(self) -> int:
        return most_in(len(self.entrants), self.seats, self.used)

    def _cut(self, best: Sequence[int], means: Sequence[float]) -> None:
        """Keep the bots that may be the best, but no more than the used budget allows, and enough for one table."""
        order = sorted(self.still_in, key=lambda bot: (-best[bot], -means[bot], bot))
        likely = sum(best[bot] >= STAY for bot in order)
        self.still_in = tuple(sorted(order[: max(self.seats, min(likely, self._most_in()))]))

    def _grouped(self, roll: Sequence[int]) -> list[list[int]]:
        """Divide the bots of a shuffled roll into tables. No table gets two bots of one owner.

        Bots with the fewest matches play first, and no owner gets more seats than there are tables. Each owner's bots
        are dealt to the tables in turn, so they never meet.
        """
        owners = Counter(self.entrants[bot].owner for bot in roll)
        most = len(roll) // self.seats
        if self.budget is not None:
            most = min(most, self.budget - len(self.tables))
        tables = next(
            (
                each
                for each in range(most, 0, -1)
                if sum(min(each, own) for own in owners.values()) >= each * self.seats
            ),
            min(1, len(roll)),
        )
        chosen: dict[str, list[int]] = {}
        taken = 0
        for bot in sorted(roll, key=lambda each: self.matches[each]):  # stable: ties keep their random order
            own = chosen.setdefault(self.entrants[bot].owner, [])
            if len(own) < tables and taken < tables * self.seats:
                own.append(bot)
                taken += 1
        by_owner: dict[str, list[int]] = {}
        for bot in roll:
            owner = self.entrants[bot].owner
            if bot in chosen[owner]:
                by_owner.setdefault(owner, []).append(bot)
        dealt = [bot for own in by_owner.values() for bot in own]
        return [dealt[at::tables] for at in range(tables)]

    def _placed(self, lots: Lots, at_table: Sequence[int]) -> tuple[int, ...]:
        """Return the bots by seat. In turn, each bot gets the free seat that it has had least often."""
        free = lots.shuffle(range(self.seats))
        found = [HOUSE] * self.seats
        for bot in at_table:
            seat = min(free, key=lambda each: self._seated[bot][each])  # ties: the first in random order
            free.remove(seat)
            found[seat] = bot
        return tuple(found)

    def _refuse(self) -> None:
        names = [each.name for each in self.entrants]
        if len(names) < 2:
            raise EventError(f"an event takes two bots or more, not {len(names)}: enter another bot")
        if twice := [name for name, times in Counter(names).items() if times > 1]:
            raise EventError(f"{twice[0]!r} is entered {names.count(twice[0])} times: enter each bot once")
        for each in self.entrants:
            if len(each.nonce) != NONCE_BYTES:
                raise EventError(f"the nonce of {each.name!r} has {len(each.nonce)} bytes: give {NONCE_BYTES}")
        if self.seats < 2:
            raise EventError(f"a table of {self.seats} has no opponents: choose two seats or more")
        if self.budget is not None and self.budget < 1:
            raise EventError(f"a budget of {self.budget} matches decides nothing: give one or more")


def most_in(entrants: int, seats: int, used: int) -> int:
    """Return how many bots may stay in: ⌈N·(n/N)^(used/800)⌉, but enough for one table.

    It is computed exactly, in integers, as the smallest b with b⁸⁰⁰ ≥ N^(800 − used)·n^used.
    """
    if used >= CUT_DONE or entrants <= seats:
        return seats
    least = entrants ** (CUT_DONE - used) * seats**used
    return bisect_left(range(entrants), least, lo=seats, key=lambda bots: bots**CUT_DONE)
