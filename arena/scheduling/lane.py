# Compiled: every decision passes through here.
"""Lanes: the bots of one pace class in the pool of a ladder, both those waiting and those that will soon have room.

All bots of a lane may sit at one table, as none is much slower than another (`arena.scheduling.pace` says why this
matters). The pool chooses a lane, and the lane chooses its bots, in two ways. For *contention* it takes those with the
largest information gain. For *coverage* it takes turns: each bot draws a place in the current round when it begins to
wait, and one in the next round whenever it gets a table. So a bot with room for 64 matches gets no more turns than one
with room for a single match, and a bot that was passed over keeps its place.

A lane must answer a harder question, too: is it worth waiting? If no bot waited, bots whose matches end together would
meet again and again. So bots that have met each other often, compared with their other opponents, wait a moment for
others. And if bots of too few owners wait, the lane looks for other owners whose bots should have room within the
patience. An overdue bot is expected for only one more patience; otherwise a hanging bot would keep everybody waiting.

Everything is a sorted list that is updated bot by bot (`arena.scheduling.order`), since the cost of a table must not
depend on the number of waiting bots. The price, and the ugly part, is that a bot has to leave all its lists before any
of its values changes, and enter them again afterwards. Bots beyond their share of tables live in a second lane,
`further`, inside the first. The pool asks it the same questions, but only if the first lane has no answer.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from itertools import islice
from math import inf
from typing import Final, Generic, TypeVar

from arena.ladder.live import SCALE
from arena.scheduling.candidate import Candidate
from arena.scheduling.order import Order

ESTABLISHED_VARIANCE: Final = (40 / SCALE) ** 2
"""Rating variance in squared log odds at a standard error of 40 Elo; bots above it are provisional."""
MIXING_SHARE: Final = 0.2
"""Maximum wait of a bot for opponents that it has met less often, as a fraction of its last match's length. It waits
that long if the bots of a table have met once too often on average, proportionally less if they have met less often,
and never longer than the patience. If other bots wait already, the time is divided by the number of the bot's tables,
because its next chance comes sooner.
"""
MET_OFTEN: Final = 0.92
"""Number of meetings, as a multiple of the mean, above which players of a table have met each other too often. With a
multiple of 1, eight bots would often form the same table again as soon as it has ended.
"""
CONSIDERED: Final = 32
"""Number of bots to consider beyond those needed, so that those that have met least can be chosen. It bounds the
cost of a table.
"""

BotT = TypeVar("BotT", bound=Hashable)


class Lane(Generic[BotT]):
    """The bots of one pace class."""

    def __init__(self, patience: float, draw: Callable[[], float], further: Lane[BotT] | None = None) -> None:
        """Create an empty lane. `draw` returns a random number from [0, 1)."""
        self.further = further
        """The lane for bots of this class with more tables than their share. In that lane itself it is None."""
        self.by_wait: Order[BotT] = Order()
        """Waiting bots, the longest wait first."""
        self.coverage: Order[BotT] = Order()
        """Waiting bots in the order of their turns."""
        self.patient: Order[BotT] = Order()
        """Waiting bots that may play with a slower bot, in the order of their turns."""
        self._busy: Order[BotT] = Order()
        self._busy_patient: Order[BotT] = Order()
        """Patient bots at capacity, by the expected time at which they fall below it."""
        self.held_up = 0
        """Number of bots at capacity because of slower bots."""
        self._contention: dict[int, Order[BotT]] = {}
        """Orders by information gain, one for each table size."""
        self.patience = patience
        """Seconds for which a bot waits for others."""
        self._draw = draw
        self._round = 0

    def enter(self, candidate: Candidate[BotT]) -> None:
        """Add a new or changed bot. A changed bot must have left first, with its earlier values."""
        waiting = candidate.waiting
        if not waiting.room:
            self.held_up += waiting.held_up
            self._busy.put(candidate, waiting.free_at, 0.0, 0.0)
            if waiting.patient:
                self._busy_patient.put(candidate, waiting.free_at, 0.0, 0.0)
            return
        self.by_wait.put(candidate, waiting.since, candidate.turn, 0.0)
        self.coverage.put(candidate, candidate.turn, 0.0, 0.0)
        if waiting.patient:
            self.patient.put(candidate, candidate.turn, 0.0, 0.0)
        else:
            self.patient.discard(candidate)
        for seats, order in self._contention.items():
            order.put(candidate, -_gain(candidate, seats), waiting.since, candidate.turn)

    def leave(self, candidate: Candidate[BotT], stays: bool = False) -> None:
        """Remove a bot. With `stays`, keep its place in each order, because it re-enters at once."""
        self._busy.discard(candidate)
        self._busy_patient.discard(candidate)
        if not candidate.waiting.room:
            self.held_up -= candidate.waiting.held_up
        elif not stays:
            for order in (self.by_wait, self.coverage, self.patient, *self._contention.values()):
                order.discard(candidate)

    def draw_turn(self, candidate: Candidate[BotT]) -> None:
        """Draw a turn in the current round for a bot that begins to wait, unless it already has one."""
        first = self.coverage.first()
        if first is not None:
            self._round = max(self._round, int(first.turn))
        candidate.turn = max(candidate.turn, self._round + self._draw())

    def coming(self, since: float, until: float, patient: bool = False) -> bool:
        """Return whether a bot is expected to have room between two instants, or at an unknown time. Owners with a
        waiting bot do not count. `patient`: count only bots that may sit with a slower one.
        """
        for candidate in islice(self._soon(since, until, patient), CONSIDERED):
            if not self.by_wait.has_owner(candidate.waiting.owner):
                return True
        return False

    def _soon(self, since: float, until: float, patient: bool) -> Iterator[Candidate[BotT]]:
        busy = self._busy_patient if patient else self._busy
        if since > -inf:
            yield from busy.heads_between(-inf, -inf)
        yield from busy.heads_between(since, until)

    def patience_ends(self) -> float:
        """Return the time at which the longest wait exceeds the patience, or infinity if no bot waits."""
        candidate = self.by_wait.first()
        return inf if candidate is None else candidate.waiting.since + self.patience

    def next_patience_end(self, now: float) -> float:
        """Return the next time at which a wait will exceed the patience, or infinity if there is none."""
        for candidate in self.by_wait.heads_between(now - self.patience, inf):
            if (end := candidate.waiting.since + self.patience) > now:
                return end
        return inf

    def contenders(self, seats: int, number: int, established: bool) -> list[Candidate[BotT]]:
        """Choose the candidates with the largest information gain; without `established`, only provisional ones."""
        order = self._contention.get(seats)
        if order is None:
            order = self._contention[seats] = Order()
            for candidate in self.coverage.all():
                order.put(candidate, -_gain(candidate, seats), candidate.waiting.since, candidate.turn)
        chosen: list[Candidate[BotT]] = []
        for candidate in islice(order.heads(), number + CONSIDERED):
            if len(chosen) == number:
                break
            if candidate.counts_against(chosen):
                chosen.append(candidate)
        if established:
            return chosen
        return [
            candidate
            for candidate in chosen
            if candidate.waiting.value.expected(candidate.waiting.pending, seats) > ESTABLISHED_VARIANCE
        ]

    def cover(self, chosen: list[Candidate[BotT]], number: int, now: float) -> None:
        """Choose more candidates for coverage, until there are `number`; that many must be available.

        Bots that have waited beyond the patience come first, the longest wait first. Then come, round by round, those
        that have met the chosen least; ties are random. A pair without quota sits together only if nobody else waits.
        """
        owners = {candidate.waiting.owner for candidate in chosen}
        for candidate in self.by_wait.heads():
            # Exactly the sum in `patience_ends`, so that a caller can wait for exactly that instant.
            if len(chosen) == number or now < candidate.waiting.since + self.patience:
                break
            if candidate.waiting.owner not in owners and candidate.counts_against(chosen):
                owners.add(candidate.waiting.owner)
                chosen.append(candidate)
        add_least_met(chosen, self.coverage, number)


def add_least_met(chosen: list[Candidate[BotT]], order: Order[BotT], number: int) -> None:
    """Choose more candidates from an order by turn, until `number` are chosen or there are no more owners."""
    missing = number - len(chosen)
    if missing <= 0:
        return
    owners = {candidate.waiting.owner for candidate in chosen}
    others: list[Candidate[BotT]] = []
    for candidate in order.heads():
        if candidate.waiting.owner not in owners:
            others.append(candidate)
            if len(others) == missing + CONSIDERED:
                break
    for _ in range(min(missing, len(others))):
        best = _least_met(counting(others, chosen), chosen)
        others.remove(best)
        chosen.append(best)


def counting(candidates: list[Candidate[BotT]], chosen: list[Candidate[BotT]]) -> list[Candidate[BotT]]:
    """Return the candidates that have quota left with all chosen bots. If there are none, return all candidates."""
    for each in chosen:
        if each.waiting.spent:
            return [candidate for candidate in candidates if candidate.counts_against(chosen)] or candidates
    return candidates


def _least_met(candidates: list[Candidate[BotT]], chosen: list[Candidate[BotT]]) -> Candidate[BotT]:
    """Find the first candidate of the current round that has met the chosen least."""
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


def _gain(candidate: Candidate[BotT], seats: int) -> float:
    return candidate.waiting.value.gain(candidate.waiting.pending, seats)
