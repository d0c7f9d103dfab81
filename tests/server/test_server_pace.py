"""Matches of honest bots beside a bot that is slow, declines, is silent or leaves: evenings on a virtual clock.

The bars are promises about the honest bots' numbers of matches and meetings beside the other bot, divided by their
numbers without it.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from itertools import product
from statistics import mean
from typing import NamedTuple, cast

import pytest
import trio
from trio.testing import MockClock

from arena.scheduling.pace import PaceRules
from arena.server.sessions.kept_paces import KeptPaces
from arena.store.bots.paces import kept
from arena.store.store import Store
from tests.server.pace_rig import SLOW, Evening, Figures, Kind, evening
from tests.server.server_rig import QUICK, Bot, Hall, HouseBot, MemoryStore

pytestmark = pytest.mark.virtual_clock

NO_RULES = PaceRules(quick=1e9)
"""Limits with which no bot counts as slow."""
CELLS = [
    (honest, capacity, seats, seed % 5)
    for seed, (honest, seats, capacity) in enumerate(product((2, 3, 4, 6, 20), (2, 4), (1, 8)))
    if (honest, capacity) != (20, 8)  # each of these evenings takes minutes
]
"""Honest bots: their number, capacity, seats and seed."""
CAPACITIES = [8, 256]
"""Capacities of the troublesome bots."""
NOT_SLOWED = 0.9


class Span(NamedTuple):
    """Seconds played before the window and in it."""

    lead: float
    seconds: float


WHOLE = Span(600.0, 1200.0)
SHORT = Span(150.0, 250.0)


@cache
def alone(honest: int, capacity: int, seats: int, seed: int, span: Span) -> Figures:
    return evening(honest, capacity, seats, seed=seed, lead=span.lead, seconds=span.seconds)


class Compared(NamedTuple):
    """Figures divided by those without the other bots."""

    rate: float
    meetings: float
    beside: Figures


def compared(
    honest: int, capacity: int, seats: int, others: Sequence[Kind], seed: int = 1, span: Span = WHOLE
) -> Compared:
    beside = evening(honest, capacity, seats, others, seed=seed, lead=span.lead, seconds=span.seconds)
    without = alone(honest, capacity, seats, seed, span)
    return Compared(beside.rate / without.rate, beside.meetings / without.meetings, beside)


def check_slow(found: Compared, honest: int, seats: int, most_waited: float = 0.25) -> None:
    """Check the bars for a bot that takes 0.9 s per decision."""
    assert found.rate >= (0.75 if honest >= 4 else 0.7), found
    assert found.meetings >= (0.55 if seats == 2 else 0.7), found
    assert found.beside.waited <= most_waited, found
    assert found.beside.mixed >= 20, found


def share_kept(
    honest: int, capacity: int, seats: int, others: Sequence[Kind], span: Span = WHOLE, seed: int = 1
) -> float:
    """Return how many matches the others finish, divided by how many they would finish if no bot counted as slow."""
    ruled, free = (
        evening(honest, capacity, seats, others, seed=seed, lead=span.lead, seconds=span.seconds, rules=rules)
        for rules in (PaceRules(), NO_RULES)
    )
    return ruled.others / free.others


@pytest.mark.thorough
@pytest.mark.parametrize(("honest", "seats", "slow"), [(3, 4, 8), (4, 2, 8)])
def test_a_slow_bot_costs_others_a_fifth(honest: int, seats: int, slow: int) -> None:
    """The window is short, so one or two matches matter much."""
    check_slow(compared(honest, 1, seats, [Kind(SLOW, slow)], span=SHORT), honest, seats, most_waited=0.35)


@pytest.mark.thorough
def test_without_the_rule_a_slow_bot_stops_the_others() -> None:
    beside = evening(4, 1, 2, [Kind(SLOW, 256)], lead=100.0, seconds=100.0, rules=NO_RULES)
    assert beside.rate < 0.3 * evening(4, 1, 2, lead=100.0, seconds=100.0).rate


@pytest.mark.thorough
@pytest.mark.parametrize("kind", [Kind(answers="declines"), Kind(answers="ignores"), Kind(leaves=True)], ids=str)
def test_a_bot_that_declines_is_silent_or_leaves_costs_others_next_to_nothing(kind: Kind) -> None:
    assert compared(3, 1, 2, [kind], span=Span(100.0, 200.0)).rate >= NOT_SLOWED


@pytest.mark.long
@pytest.mark.parametrize(("honest", "capacity", "seats", "seed"), CELLS)
class TestGrid:
    """Evenings of 30 minutes, measured from the tenth minute on. This takes half an hour in all. Every seed for each
    case would take hours.
    """

    @pytest.mark.parametrize("slow", CAPACITIES)
    def test_a_slow_bot_costs_others_a_fifth(
        self, honest: int, capacity: int, seats: int, slow: int, seed: int
    ) -> None:
        check_slow(compared(honest, capacity, seats, [Kind(SLOW, slow)], seed), honest, seats)

    def test_ten_slow_bots_cost_others_little_more(self, honest: int, capacity: int, seats: int, seed: int) -> None:
        found = compared(honest, capacity, seats, [Kind(SLOW, 256)] * 10, seed)
        assert found.rate >= 0.7, found
        assert found.beside.waited <= 0.25, found

    @pytest.mark.parametrize("kind", [Kind(answers="declines"), Kind(answers="ignores"), Kind(leaves=True)], ids=str)
    def test_a_bot_that_declines_is_silent_or_leaves_costs_next_to_nothing(
        self, honest: int, capacity: int, seats: int, kind: Kind, seed: int
    ) -> None:
        others = [Kind(kind.seconds, 8, kind.answers, kind.leaves)]
        assert compared(honest, capacity, seats, others, seed).rate >= NOT_SLOWED

    def test_a_slow_bot_plays_as_much_as_without_the_rule(
        self, honest: int, capacity: int, seats: int, seed: int
    ) -> None:
        assert share_kept(honest, capacity, seats, [Kind(SLOW, 8)], WHOLE, seed) >= NOT_SLOWED


@pytest.mark.thorough
def test_a_slow_bot_plays_nearly_as_much_as_without_the_rule() -> None:
    assert share_kept(4, 1, 2, [Kind(SLOW, 8)], Span(100.0, 300.0)) >= NOT_SLOWED


@pytest.mark.thorough
@pytest.mark.parametrize("seconds", [0.005, SLOW])
def test_a_newcomer_plays_at_once_and_ten_matches_soon(seconds: float) -> None:
    clock = MockClock()

    async def play(seed: int) -> tuple[float, float]:
        it = Evening(clock, 2, seed, PaceRules())
        for number in range(4):
            it.come(f"bot-{number}", Kind())
        it.come("slow", Kind(SLOW, 256))
        it.run(60)
        newcomer = it.come("newcomer", Kind(seconds, 10))
        it.run(110.0)
        return newcomer.began[0] - newcomer.came, newcomer.finished[9] - newcomer.came

    times = [trio.run(play, seed, clock=clock) for seed in range(1, 6)]
    assert max(first for first, _ in times) < 1
    tenth = mean(tenth for _, tenth in times)
    assert tenth < (30 if seconds < SLOW else 75), "a slow one's first match takes 27 s, and the next ten together too"


async def test_a_bot_whose_pace_nobody_knows_plays_one_rated_match_with_house_bots(
    hall: Hall, store: MemoryStore
) -> None:
    ann, bob = (Bot(store.register(name), capacity=4) for name in ("ann", "bob"))
    ann.known = bob.known = ann.answers = False
    async with hall.open(ann, bob, house_bots=[HouseBot("house-a")], house=True):
        await bob.until(lambda: len(bob.reports) >= 5)
        assert [start.bots.count("house-a") for start in ann.starts] == [1], "one at a time"
        assert bob.starts[0].bots.count("house-a") == 1
        assert bob.reports[0].rating is not None
        assert trio.current_time() < 10


class Thinker(Bot):
    """A bot that takes 0.9 s per message with questions."""

    seconds = SLOW

    async def _listen(self) -> None:
        while True:
            message = await self.line.read()
            if message.questions:
                await trio.sleep(self.seconds)
            self.hear(message)
            self.told.unpark_all()


class Quick(Thinker):
    """A bot that takes 20 ms per message with questions."""

    seconds = 0.02


@pytest.mark.thorough
async def test_a_real_match_tells_who_is_slow_and_the_server_keeps_it_over_reconnects(
    hall: Hall, store: MemoryStore
) -> None:
    ann, slow = Quick(store.register("ann")), Thinker(store.register("slow"))
    slow.known = False
    async with hall.open(slow, house_bots=[HouseBot("house-a")], house=True) as arena:
        await slow.until(lambda: slow.reports)
        pace = arena.players.pace(slow.row.id).at(trio.current_time())
        assert pace == pytest.approx(SLOW, rel=0.1)
        assert len(slow.reports) == 1
        slow.line.vanish()
        await trio.sleep(60)
        assert arena.players.get(slow.row.id) is None
        arena.players.pace(ann.row.id).earn(90.0, 0.0)
        hall.join(ann)
        again = Thinker(slow.row)
        again.known = False
        hall.join(again)
        await again.until(lambda: again.reports)
        with_ann = [start for start in again.starts if "ann" in start.bots]
        assert with_ann == [], "ann has no balance yet"
        await again.until(lambda: any("ann" in start.bots for start in again.starts))
        assert arena.players.pace(ann.row.id).balance < 0, "what it is expected to cost is taken off at once"


async def test_what_a_match_was_expected_to_cost_is_corrected_at_its_end(hall: Hall, store: MemoryStore) -> None:
    ann, slow = Quick(store.register("ann")), Thinker(store.register("slow"))
    slow.known = False
    async with hall.open(slow, house_bots=[HouseBot("house-a")], house=True) as arena:
        await slow.until(lambda: slow.reports)
        ann_pace = arena.players.pace(ann.row.id)
        ann_pace.earn(500.0, 0.0)
        assert ann_pace.balance == 30
        hall.join(ann)
        await slow.until(lambda: any("ann" in start.bots for start in slow.starts))
        begun, paid = trio.current_time() - SLOW, 30 - ann_pace.balance
        assert paid > 1
        slow.line.say(capacity=0)
        match = slow.starts[-1].match_id
        await slow.until(lambda: any(report.match_id == match for report in slow.reports))
        took = trio.current_time() - begun
        assert ann_pace.balance == pytest.approx(30 + 0.2 * took - took, abs=0.3), "it waited nearly all the time"


async def test_a_match_that_others_played_for_a_bot_does_not_tell_its_pace(hall: Hall, ann: Bot) -> None:
    ann.known = ann.answers = False
    async with hall.open(ann, house_bots=[HouseBot("house-a")], house=True) as arena:
        await ann.until(lambda: ann.questions)
        ann.line.vanish()
        while arena.playing:
            await trio.sleep(1)
        assert not arena.players.pace(ann.row.id).known, "else it could hold up quick ones next"


async def test_pace_and_balance_outlive_the_server(hall: Hall, store: MemoryStore) -> None:
    ann, slow = Quick(store.register("ann")), Thinker(store.register("slow"))
    slow.known = False
    async with hall.open(slow, house_bots=[HouseBot("house-a")], house=True) as arena:
        await slow.until(lambda: slow.reports)
        slow.line.vanish()
        arena.players.pace(ann.row.id).played(trio.current_time(), QUICK)
        arena.players.pace(ann.row.id).earn(200.0, 0.0)
        await trio.sleep(60)
        before = arena.players.pace(slow.row.id).at(trio.current_time())
        assert before is not None
    store.reopen()
    async with hall.open(house_bots=[HouseBot("house-a")], house=True) as arena:
        assert arena.players.pace(slow.row.id).at(trio.current_time()) == pytest.approx(before, rel=0.2)
        assert arena.players.pace(ann.row.id).balance == pytest.approx(10.0)
        again = Thinker(slow.row)
        again.known = False
        hall.join(again, ann)
        await again.until(lambda: again.starts)
        player = arena.players.get(slow.row.id)
        assert player is not None
        assert not player.offers.on_trial(), "its pace is known, and it plays what the others' balances allow"


async def test_what_a_killed_server_had_taken_off_for_a_match_that_goes_on_is_not_lost(
    hall: Hall, store: MemoryStore
) -> None:
    ann, slow = Quick(store.register("ann")), Thinker(store.register("slow"))
    slow.known = False
    async with hall.open(slow, house_bots=[HouseBot("house-a")], house=True) as arena:
        await slow.until(lambda: slow.reports)
        ann_pace = arena.players.pace(ann.row.id)
        ann_pace.earn(500.0, 0.0)
        hall.join(ann)
        await slow.until(lambda: any("ann" in start.bots for start in slow.starts))
        assert arena.playing
        assert 30 - ann_pace.balance > 1
        await KeptPaces(cast("Store", store), arena.players).save()
        [stored] = [each for each in store.now(kept) if each.bot_id == ann.row.id]
        assert stored.balance == pytest.approx(30)


def with_turns(per_hour: int, seconds: float) -> Evening:
    """Simulate an evening of eight quick bots with a maximum number of matches per hour."""
    clock = MockClock()

    async def play() -> Evening:
        room = Evening(clock, 4, 1, PaceRules(), per_hour=per_hour)
        for number in range(8):
            room.come(f"bot {number}", Kind(seconds=0.05, capacity=1))
        room.run(seconds)
        return room

    return trio.run(play, clock=clock)


def test_with_turns_bots_meet_as_often_as_without() -> None:
    shares = {}
    for per_hour, seconds in ((0, 400.0), (6, 36_000.0), (60, 3600.0)):
        room = with_turns(per_hour, seconds)
        shares[per_hour] = room.guests[4] / room.guests.total()
        if per_hour:
            expected = per_hour * seconds / 3600
            assert all(expected - 2 <= len(bot.began) <= expected + 2 for bot in room.bots.values())
    assert min(shares[6], shares[60]) > 0.9 * shares[0], shares


@pytest.mark.parametrize("per_hour", [0, 600, 3600])
def test_turns_shorter_than_the_patience_do_not_keep_bots_of_two_paces_apart(per_hour: int) -> None:
    """Without house bots, bots of two pace classes play together when their patience is over."""
    clock = MockClock()

    async def play() -> Evening:
        room = Evening(clock, 4, 1, PaceRules(), house=0, per_hour=per_hour)
        for number, seconds in enumerate((0.01, 0.01, 8.0, 8.0)):
            room.come(f"bot {number}", Kind(seconds=seconds, capacity=1))
        room.run(7200.0)
        return room

    room = trio.run(play, clock=clock)
    assert min(len(bot.began) for bot in room.bots.values()) >= 12
