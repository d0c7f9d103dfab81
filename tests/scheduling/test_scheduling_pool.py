"""The choice of opponents: examples of the rules, and promises that hold whichever bots are waiting."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations, islice
from math import inf
from random import Random
from statistics import mean, variance
from time import thread_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.live import SCALE
from arena.scheduling.candidate import REMEMBERED, Waiting
from arena.scheduling.information_gain import NEWCOMER, MatchValue
from arena.scheduling.lane import MET_OFTEN, MIXING_SHARE
from arena.scheduling.pace import MOST_CLASSES
from arena.scheduling.pool import FREE_TABLES, LEAST_OWNERS, PATIENCE, Pool, Table

HOUSE = ["house-1", "house-2", "house-3"]
KNOWN = MatchValue((20 / SCALE) ** 2, 1.0)
COVERAGE, CONTENTION = 0, 1
"""Values of `Pool.tables` with which the next table is formed for coverage, or for contention."""


def waiting(
    bot: str, since: float = 0.0, pending: int = 0, room: int = 1, value: MatchValue = NEWCOMER
) -> Waiting[str]:
    """Return a waiting bot. Its owner is the first letter of its name."""
    return Waiting(bot, bot[0], since, room, value, pending)


def filled(
    guests: Iterable[Waiting[str]],
    owners: int,
    house: Sequence[str] = HOUSE,
    chance: Random | None = None,
    patience: float = PATIENCE,
    tables: int = COVERAGE,
) -> Pool[str]:
    """Return a pool with these bots, and with busy bots of other owners to make up the number of owners."""
    pool = Pool(house, chance or Random(1), patience)
    pool.tables = tables
    for guest in guests:
        pool.update(guest)
    for number in range(owners - pool.owners):
        pool.update(Waiting(f"busy {number}", f"busy {number}", 0.0, room=0))
    return pool


def form(
    *guests: Waiting[str],
    owners: int,
    now: float,
    seats: int = 4,
    house: Sequence[str] = HOUSE,
    tables: int = COVERAGE,
    seed: int = 1,
) -> set[str] | None:
    table = filled(guests, owners, house, Random(seed), tables=tables).table(seats, now)
    return None if table is None else set(table.bots)


def often(*guests: Waiting[str], seats: int, tables: int = COVERAGE, now: float = 0.0) -> Counter[str]:
    """Return the number of seats that each bot gets at one table, summed over 200 pools."""
    formed = [form(*guests, owners=9, now=now, seats=seats, tables=tables, seed=seed) or () for seed in range(200)]
    return Counter(bot for table in formed for bot in table)


def emptied(pool: Pool[str], seats: int, now: float) -> Iterator[Table[str]]:
    """Form all tables that are possible now."""
    while (table := pool.table(seats, now)) is not None:
        yield table


def test_enough_different_owners_play_at_once() -> None:
    assert form(*map(waiting, "abcd"), owners=9, now=0) == set("abcd")


def test_nobody_waits_no_table() -> None:
    assert form(owners=9, now=9) is None


@pytest.mark.parametrize("tables", [COVERAGE, CONTENTION])
def test_two_bots_of_one_owner_never_meet(tables: int) -> None:
    pair = waiting("a1", room=9), waiting("a2", room=9)
    assert form(*pair, owners=1, now=9, seats=2, house=["house-1"], tables=tables) in (
        {"a1", "house-1"},
        {"a2", "house-1"},
    )
    assert form(*pair, owners=1, now=9, seats=2, house=[], tables=tables) is None


def test_too_few_wait_for_more_until_their_patience_ends() -> None:
    guests = [waiting("a", 10), waiting("b", 11)]
    assert form(*guests, owners=4, now=10 + PATIENCE - 0.001) is None
    together = form(*guests, owners=4, now=10 + PATIENCE)
    assert together is not None
    assert together > {"a", "b"}


def test_the_caller_is_told_when_patience_ends() -> None:
    pool, now = filled([waiting("a", 10, room=2), waiting("b", 11, room=2)], owners=4), 10 + PATIENCE
    assert pool.due(now) == 10 + PATIENCE
    assert len(list(emptied(pool, 4, now))) == 1
    assert pool.due(now) == 10 + PATIENCE + PATIENCE, "both have been given a match"
    assert filled([], owners=4).due(0) == float("inf")


def test_nobody_waits_for_owners_who_are_not_there() -> None:
    table = form(waiting("a", 10), waiting("b", 10), owners=2, now=10)
    assert table is not None
    assert table > {"a", "b"}
    assert form(waiting("a", 10), waiting("b", 10), owners=3, now=10) is None


def test_without_house_bots_a_table_waits_for_bots() -> None:
    assert form(waiting("a"), waiting("b"), owners=2, now=100, house=[]) is None


def too_often(owners: int, times: int, strangers: int = 0) -> float:
    """Return the share of `MIXING_SHARE` for which four bots wait before they play together. At most one of them is a
    stranger, and the others have met each other a number of times.
    """
    met, mean = 4 - strangers, 3 * times / (owners - 1 + strangers)
    return min(1.0, met * ((met - 1) * times - 3 * MET_OFTEN * mean) / (4 * 3))


def again(
    *others: Waiting[str], owners: int, now: float, length: float = 5.0, tables: int = 1, times: int = 1
) -> set[str] | None:
    """Form a table among `others` and the bots a, b, c and d, whose latest match together ended at 10."""
    pool = filled(map(waiting, "abcd"), owners)
    for _ in range(times):
        pool.met("abcd")
    for bot in "abcd":
        pool.update(Waiting(bot, bot, 10.0, pending=times, last_length=length, tables=tables))
    for other in others:
        pool.update(other)
    table = pool.table(4, now)
    if table is None:
        share = MIXING_SHARE * too_often(owners, times, len(others))
        assert pool.due(now) == pytest.approx(10 + share * length / (tables if others else 1))
    return None if table is None else set(table.bots)


def test_who_have_met_often_wait_a_moment_for_others_who_may_come() -> None:
    moment = MIXING_SHARE * 5 * too_often(5, 1)
    assert again(owners=5, now=10) is None
    assert again(owners=5, now=10 + moment - 0.001) is None
    assert again(owners=5, now=10 + moment) == set("abcd"), "not for ever"
    assert again(owners=5, now=10 + 2 * moment - 0.001, times=2) is None, "once more too often"
    assert again(owners=5, now=10 + 2 * moment, times=2) == set("abcd")
    assert again(owners=5, now=10 + MIXING_SHARE * 5 - 0.001, times=9) is None
    assert again(owners=5, now=10 + MIXING_SHARE * 5, times=9) == set("abcd"), "no longer, however often they met"
    another = Waiting("e", "e", 10.0, last_length=5.0, tables=7)
    moment = MIXING_SHARE * 5 * too_often(9, 1, strangers=1)
    assert again(another, owners=9, now=10 + moment / 7 - 0.001, tables=7) is None
    assert again(another, owners=9, now=10 + moment / 7, tables=7) is not None, "of seven matches one ends sooner"
    assert again(owners=4, now=10) == set("abcd"), "there is nobody else"
    came = again(waiting("e", 10), waiting("f", 10), owners=12, now=10)
    assert came is not None, "others came"
    assert came > {"e", "f"}
    assert again(owners=5, now=10, length=0.0) == set("abcd"), "no length is known"
    assert again(owners=5, now=10 + PATIENCE, length=9999.0) == set("abcd"), "nor beyond their patience"


def test_house_bots_are_distinct_as_far_as_possible() -> None:
    table = filled([waiting("a")], owners=1).table(4, 0)
    assert table is not None
    assert sorted(table.bots) == ["a", *HOUSE]
    crowded = filled([waiting("a")], owners=1, house=HOUSE[:2]).table(6, 0)
    assert crowded is not None
    assert sorted(crowded.bots.count(bot) for bot in HOUSE[:2]) == [2, 3]


@pytest.mark.parametrize("tables", [COVERAGE, CONTENTION])
def test_seats_and_house_bots_are_drawn(tables: int) -> None:
    pools = [filled(map(waiting, "ab"), 2, chance=Random(seed), tables=tables) for seed in range(60)]
    formed = [pool.table(3, 0) for pool in pools]
    assert {table.bots.index("a") for table in formed if table} == {0, 1, 2}
    assert {bot for table in formed if table for bot in table.bots} == {"a", "b", *HOUSE}


def test_the_same_chance_forms_the_same_tables() -> None:
    guests = [waiting(f"{owner}{number}", room=3) for owner in "abcdef" for number in range(3)]
    one, two, other = (list(emptied(filled(guests, 9, chance=Random(seed)), 3, 0)) for seed in (5, 5, 6))
    assert one == two
    assert one != other


def test_coverage_is_for_any_bot() -> None:
    times = often(*(waiting(bot, value=KNOWN._replace(weight=ord(bot))) for bot in "abcdefgh"), seats=2)
    assert set(times) == set("abcdefgh")
    assert max(times.values()) < 2 * min(times.values())


def test_contention_is_for_those_with_most_to_gain_and_any_others() -> None:
    times = often(
        *(waiting(bot, value=KNOWN._replace(weight=ord(bot))) for bot in "abcdefgh"), seats=4, tables=CONTENTION
    )
    assert times["h"] == times["g"] == 200
    others = [times[bot] for bot in "abcdef"]
    assert max(others) < 2 * min(others)


def test_a_match_pending_makes_another_less_urgent() -> None:
    guests = [waiting("a", pending=4), waiting("b", pending=3), waiting("c", pending=9), waiting("d", pending=1)]
    assert form(*guests, owners=9, now=0, seats=4, tables=CONTENTION) == set("abcd")
    times = often(*guests, seats=2)
    assert times["d"] == 200


def test_among_equals_the_longest_wait_goes_first() -> None:
    guests = [waiting(bot, since, value=KNOWN) for bot, since in zip("abcdef", (5, 1, 4, 2, 3, 6), strict=True)]
    times = often(*guests, seats=4, tables=CONTENTION, now=6.5 - PATIENCE)
    assert times["b"] == times["d"] == 200


def test_whose_patience_is_over_goes_first_where_the_seats_are_for_anybody() -> None:
    guests = [waiting(bot, since, value=KNOWN) for bot, since in zip("abcdef", (5, 1, 4, 2, 3, 6), strict=True)]
    assert form(*guests, owners=6, now=4 + PATIENCE) == set("bdec")


def test_a_newcomer_is_at_every_table_until_it_has_its_place_and_learns_from_others() -> None:
    newcomers = [waiting(f"{bot}-new", room=100) for bot in "wxyz"]
    others = [waiting(bot, room=100, value=KNOWN) for bot in "abcdefgh"]
    pool = filled([*newcomers, *others], owners=12)
    tables = [set(table.bots) for _ in range(60) if (table := pool.table(4, 0)) is not None]
    seats = Counter(bot for table in tables for bot in table if bot.endswith("new"))
    assert all(any(bot.endswith("new") for bot in table) for table in tables)
    assert min(seats.values()) >= 30
    mixed = [table for table in tables if sum(bot.endswith("new") for bot in table) <= 2]
    assert len(mixed) > 0.7 * len(tables)


def test_a_newcomer_that_comes_into_a_crowd_is_at_the_next_table() -> None:
    crowd = [waiting(f"{chr(0x4E00 + number)}", room=8, value=KNOWN) for number in range(500)]
    for tables in (COVERAGE, CONTENTION):
        table = form(*crowd, waiting("newcomer", 9.0), owners=501, now=9.0, tables=tables)
        assert table is not None
        assert "newcomer" in table


def test_bots_play_as_many_matches_as_they_have_room_for() -> None:
    pool = filled([waiting("a", room=3), waiting("b", room=1), waiting("c", room=9)], owners=3, house=[])
    times = Counter(bot for table in emptied(pool, 2, 0) for bot in table.bots)
    assert (times["a"], times["b"]) == (3, 1)
    assert times["c"] in (2, 4), "a met b, or c did"


def test_a_bot_that_was_given_a_match_of_another_game_has_less_room() -> None:
    pool = filled([waiting("a", room=2), waiting("b", room=2)], owners=2, house=[])
    pool.update(waiting("a", room=1))
    assert len(list(emptied(pool, 2, 0))) == 1
    assert not pool.has_room("a")
    assert pool.has_room("b")
    pool.update(waiting("a", room=1))
    assert pool.table(2, 0) is not None


def test_a_bot_that_is_gone_gets_no_seat_and_nobody_waits_for_its_owner() -> None:
    pool = filled(map(waiting, "abc"), owners=3)
    pool.remove("c")
    pool.remove("c")
    assert pool.owners == 2
    table = pool.table(4, 0)
    assert table is not None
    assert sorted(set(table.bots) - set(HOUSE)) == ["a", "b"]
    for bot in "ab":
        pool.remove(bot)
    assert pool.owners == 0
    assert pool.due(0) == float("inf")


@pytest.mark.parametrize("owners", [3, 10, 40])
@pytest.mark.parametrize("seats", range(2, 8))
@pytest.mark.thorough
def test_the_house_has_as_many_seats_as_one_owner_whoever_waits(seats: int, owners: int) -> None:
    """In every long run of tables the house bots' share is right, even after a quiet hour with many house bots."""
    names = [f"guest {number}" for number in range(owners)]
    share = 1 / (max(LEAST_OWNERS, owners) + 1)
    if owners < seats:
        pytest.skip("house bots fill such tables in any case")
    pool = filled([], owners=0, chance=Random(seats))
    for _ in range(10):
        pool.update(waiting(names[0], room=50)._replace(owner=names[0]))
        assert len(list(emptied(pool, seats, 0))) == 50
    house = total = 0
    seen: Counter[str] = Counter()
    for _ in range(10):
        for bot in names:
            pool.update(waiting(bot, room=20)._replace(owner=bot))
        for table in emptied(pool, seats, 0):
            mine = [bot for bot in table.bots if bot in HOUSE]
            assert len(mine) <= 1
            seen.update(mine)
            house, total = house + len(mine), total + seats
            assert house > total * share - 2
    assert house / total == pytest.approx(share, abs=0.005)
    assert max(seen.values()) < 2 * min(seen.values()), "all of the house's in turn"


room = st.lists(
    st.builds(
        Waiting,
        st.integers(0, 30).map(str),
        st.sampled_from("abcdef"),
        st.floats(0, 10),
        st.integers(1, 4),
        st.builds(MatchValue, st.floats(1e-4, 2), st.floats(0, 9)),
        st.integers(0, 5),
        st.sampled_from([0.0, 1.0, 9.0]),
        st.sampled_from([0, 0, 1, 5]),
        st.booleans(),
        st.just(-inf),
    ),
    max_size=20,
    unique_by=lambda guest: guest.bot,
)


@given(
    room, st.integers(0, 8), st.integers(0, 3), st.lists(st.integers(2, 7), min_size=1), st.floats(0, 20), st.integers()
)
@pytest.mark.thorough
def test_every_table_is_full_fair_and_of_bots_that_wait(
    guests: list[Waiting[str]], more: int, house: int, sizes: list[int], now: float, seed: int
) -> None:
    owner = {guest.bot: guest.owner for guest in guests}
    known = {guest.bot: guest for guest in guests}
    pool = filled(guests, len(set(owner.values())) + more, HOUSE[:house], Random(seed))
    seated: Counter[str] = Counter()
    for seats in sizes:
        for table in emptied(pool, seats, now):
            own = [bot for bot in table.bots if bot not in HOUSE]
            assert len(table.bots) == seats
            assert own, "a table of house bots only"
            assert set(own) <= owner.keys()
            assert len({owner[bot] for bot in own}) == len(own), "one owner twice"
            if house:
                quickest = min(known[bot].pace_class for bot in own)
                slower = [bot for bot in own if known[bot].pace_class > quickest]
                assert len(slower) <= 1, "two slow ones"
                assert not slower or all(known[bot].patient for bot in own if bot not in slower)
            seated.update(own)
    assert all(seated[guest.bot] <= guest.room for guest in guests), "a bot beyond its room"


@given(room, st.integers(0, 8), st.integers(2, 7), st.floats(0, 20), st.integers())
def test_nobody_waits_beyond_its_patience_where_house_bots_can_fill(
    guests: list[Waiting[str]], more: int, seats: int, now: float, seed: int
) -> None:
    owners = len({guest.owner for guest in guests}) + more
    pool = filled(guests, owners, chance=Random(seed))
    seated = {bot for table in emptied(pool, seats, now) for bot in table.bots}
    assert all(now < guest.since + PATIENCE for guest in guests if guest.bot not in seated)


@given(room, st.integers(2, 7), st.integers())
@pytest.mark.thorough
def test_nobody_has_room_in_vain_for_bots_of_enough_owners(guests: list[Waiting[str]], seats: int, seed: int) -> None:
    """A slow bot or a bot at capacity does not delay others. The remaining bots are too few for a table."""
    pool = filled(guests, 99, [], Random(seed))
    times = [20.0 + number * PATIENCE for number in range(100)]
    seated = Counter(bot for now in times for table in emptied(pool, seats, now) for bot in table.bots)
    assert len({guest.owner for guest in guests if seated[guest.bot] < guest.room}) < seats


@given(st.integers(2, 6), st.integers(2, 24), st.integers(0, 24), st.integers())
def test_where_tables_are_rare_nobody_waits_for_more_of_them_than_there_are_bots(
    seats: int, bots: int, newcomers: int, seed: int
) -> None:
    """Every table has a seat for the bot that has waited longest, even if many others would gain more."""
    bots = max(bots, seats)
    names = [chr(0x4E00 + number) for number in range(bots)]
    since = dict.fromkeys(names, 0.0)
    pool = filled([], 0, [], Random(seed), patience=0.5)
    for now in range(1, 3 * bots):
        for number, name in enumerate(names):
            pool.update(waiting(name, since[name], value=NEWCOMER if number < newcomers else KNOWN))
        table = pool.table(seats, float(now))
        assert table is not None
        since.update(dict.fromkeys(table.bots, float(now)))
        assert now - min(since.values()) <= bots


@given(
    st.lists(st.tuples(st.sampled_from("abcde"), st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=8),
    st.integers(2, 6),
    st.integers(),
)
def test_over_a_long_run_nobody_starves(bots: list[tuple[str, int, int]], seats: int, seed: int) -> None:
    """Bots play endlessly at their own speeds, several matches at once. A bot below its capacity never waits longer
    than the patience.
    """
    pool = filled([], 0, chance=Random(seed))
    names = [f"{owner}{number}" for number, (owner, _, _) in enumerate(bots)]
    slowness = {name: slow for name, (_, slow, _) in zip(names, bots, strict=True)}
    free = {name: capacity for name, (_, _, capacity) in zip(names, bots, strict=True)}
    since = dict.fromkeys(names, 0.0)
    running: list[tuple[float, tuple[str, ...]]] = []
    played = dict.fromkeys(names, 0)
    for tick in range(60):
        now = tick / 4
        for table in [table for table in running if table[0] <= now]:
            running.remove(table)
            for name in table[1]:
                since[name] = since[name] if free[name] else now
                free[name] += 1
        for name, room in free.items():
            pool.update(waiting(name, since[name], played[name], room))
        for formed in emptied(pool, seats, now):
            own = tuple(bot for bot in formed.bots if bot in played)
            running.append((now + max(slowness[bot] for bot in own), own))
            for bot in own:
                assert now - since[bot] <= PATIENCE
                since[bot] = now
                free[bot] -= 1
                played[bot] += 1
        assert all(now - since[name] < PATIENCE for name, room in free.items() if room)
    assert min(played.values()) >= 60 / 4 // (3 + PATIENCE)


def meetings(tables: Iterable[Table[str]]) -> set[frozenset[str]]:
    return {frozenset((one, two)) for table in tables for one in table.bots for two in table.bots if one != two}


class Hall:
    """Bots that play endlessly on a virtual clock, with matches of random length."""

    def __init__(self, capacities: dict[str, int], seats: int, house: Sequence[str] = (), seed: int = 3) -> None:
        self.classes = 1
        """Number of pace classes; every bot changes its class with each match."""
        self.chance = Random(seed)
        self.pool = filled([], 0, house, self.chance)
        self.capacities = capacities
        self.seats = seats
        self.since = dict.fromkeys(capacities, 0.0)
        self.last: dict[str, float] = {}
        self.given = Counter[str]()
        self.running: list[tuple[float, float, Table[str]]] = []
        self.tables: list[Table[str]] = []

    def play(self, seconds: float) -> None:
        """Play for a period of virtual time."""
        busy = Counter[str]()
        for tick in range(round(seconds * 10)):
            now = tick / 10
            for began, end, table in [each for each in self.running if each[1] <= now]:
                self.running.remove((began, end, table))
                own = [bot for bot in table.bots if bot in self.capacities]
                for bot in own:
                    self.since[bot] = self.since[bot] if busy[bot] < self.capacities[bot] else now
                busy.subtract(own)
                self.last.update(dict.fromkeys(own, now - began))
            for bot, capacity in self.capacities.items():
                last = self.last.get(bot, 0.0)
                room, pending = capacity - busy[bot], self.given[bot]
                pace = pending % self.classes
                self.pool.update(Waiting(bot, bot, self.since[bot], room, KNOWN, pending, last, pace, tables=busy[bot]))
            for table in emptied(self.pool, self.seats, now):
                self.running.append((now, now + 5 + self.chance.random(), table))
                self.tables.append(table)
                for bot in table.bots:
                    if bot in self.capacities:
                        self.since[bot] = now
                        busy[bot] += 1
                        self.given[bot] += 1


def test_eight_bots_that_play_one_match_at_a_time_all_meet() -> None:
    """If each table were formed again at once, two tables that end alternately would always have the same bots."""
    hall = Hall(dict.fromkeys("abcdefgh", 1), seats=4)
    hall.play(400)
    assert len(meetings(hall.tables)) == 8 * 7 / 2
    assert len(hall.tables) > 2 * 400 / (1 + MIXING_SHARE) / 6, "and it costs no more time than it should"


def spread(hall: Hall, bots: Sequence[str]) -> float:
    """Return the variance of the number of tables per pair, divided by its mean; 1 if pairs are drawn at random."""
    counts = Counter(pair for table in hall.tables for pair in meetings([table]))
    numbers = [counts[frozenset(pair)] for pair in combinations(bots, 2)]
    return variance(numbers) / mean(numbers)


@pytest.mark.thorough
@pytest.mark.parametrize(
    ("capacity", "seats", "classes", "most", "busy"),
    [(1, 2, 1, 0.9, 0.93), (2, 2, 1, 0.5, 0.94), (8, 2, 1, 0.25, 0.98), (2, 4, 1, 1.3, 0.92), (2, 2, 3, 0.5, 0.94)],
)
def test_pairs_meet_evenly_though_all_matches_last_nearly_as_long(
    capacity: int, seats: int, classes: int, most: float, busy: float
) -> None:
    """Matches that end together again and again would otherwise lead to the same few opponents."""
    names = [chr(0x4E00 + number) for number in range(40)]
    hall = Hall(dict.fromkeys(names, capacity), seats, [])
    hall.classes = classes
    hall.play(400)
    assert spread(hall, names) < most, "without the moment of waiting it is 1.2, 0.7, 0.35, 2, and 1.3"
    assert len(hall.tables) > busy * len(names) * capacity / seats * 400 / 5.5


def repeats(tables: Iterable[Table[str]]) -> int:
    """Count the meetings of each pair beyond its first, without house bots."""
    times = Counter(pair for table in tables for pair in meetings([table]) if not pair & set(HOUSE))
    return times.total() - len(times)


@pytest.mark.parametrize("seats", [2, 4])
def test_all_meet_once_before_any_meet_twice_as_far_as_tables_allow(seats: int) -> None:
    """Sixteen bots with capacity for a full round of pairings. The tables are formed one after the other."""
    rounds = 15 // (seats - 1)
    found = []
    for seed in range(20):
        guests = [waiting(chr(0x4E00 + number), room=rounds, value=KNOWN) for number in range(16)]
        pool = filled(guests, 16, [], Random(seed))
        found.append(repeats([table for _ in range(16 // seats * rounds) if (table := pool.table(seats, 0))]))
    pairs = 16 * 15 // 2
    assert sum(found) / len(found) < pairs / 6, "at random it would be a third"


def test_meetings_at_other_nodes_count() -> None:
    """Two of three bots have met elsewhere, so the third sits with one of them."""
    for seed in range(20):
        pool = filled(map(waiting, "abc"), owners=3, house=[], chance=Random(seed))
        pool.met(["a", "gone", "b"])
        table = pool.table(2, 0.0)
        assert table is not None
        assert "c" in table.bots


def test_a_meeting_is_forgotten_after_so_many_others() -> None:
    """If both house bots were met once, the one that has had more other meetings since then is met first."""
    house = [f"house-{number}" for number in range(REMEMBERED + 1)]
    pool = filled([waiting("a", room=len(house) + 40)], owners=1, house=house)
    order = [next(bot for bot in table.bots if bot != "a") for table in islice(emptied(pool, 2, 0), len(house) + 20)]
    assert set(order[: len(house)]) == set(house)
    assert order[len(house) :] == order[:20]


def test_house_bots_that_were_not_met_fill_up_before_others_come_again() -> None:
    house = [f"house-{number}" for number in range(6)]
    pool = filled([waiting("a", room=2)], owners=1, house=house)
    first, second = emptied(pool, 4, 0)
    assert set(first.bots) & set(second.bots) == {"a"}


def test_bots_that_were_given_fewer_tables_come_first() -> None:
    """A bot with capacity for many tables gets none of the next tables while others with the same gain wait."""
    for seed in range(30):
        pool = filled([waiting(bot, room=64 if bot == "a" else 1, value=KNOWN) for bot in "abcde"], 9, [], Random(seed))
        formed = list(emptied(pool, 2, 0))
        assert sum("a" in table.bots for table in formed[:2]) <= 1


def test_bots_of_capacity_1_beside_one_of_64_play_all_the_time_and_meet_each_other() -> None:
    """The large bot is always below its capacity. A small bot that returns does not wait for it."""
    small = "bcdef"
    hall = Hall({"a": 64, **dict.fromkeys(small, 1)}, 2, HOUSE)
    hall.play(600)
    games = {bot: sum(bot in table.bots for table in hall.tables) for bot in small}
    assert min(games.values()) > 0.9 * 600 / 5.5, "the rest of its time a bot waits for others to end their matches"
    among_small = sum(len(set(table.bots) & set(small)) == 2 for table in hall.tables)
    assert 2 * among_small > 0.4 * sum(games.values()), "with nothing but the longest wait to go by it is 0.34"


def turn_cost(waiting_bots: int, owners: int) -> float:
    """Measure the processor time of one arrival and one departure, and of forming a table."""
    house = HOUSE if owners == 1 else []
    names = [f"{number % owners} {number}" for number in range(waiting_bots)]
    guests = [Waiting(name, name.split()[0], 0.0, value=KNOWN) for name in names]
    pool = filled(guests, owners, house, Random(1))
    best = float("inf")
    for attempt in range(20):
        began = thread_time()
        for number in range(10):
            name = names[attempt * 10 + number]
            pool.remove(name)
            pool.update(Waiting(name, name.split()[0], 0.0, value=KNOWN))
            table = pool.table(4, 0.0)
            assert table is not None
            for bot in table.bots:
                if bot not in HOUSE:
                    pool.update(Waiting(bot, bot.split()[0], 0.0, value=KNOWN))
        best = min(best, thread_time() - began)
    return best


@pytest.mark.parametrize("owners", [1, 200])
def test_what_a_turn_costs_does_not_grow_with_the_bots_that_wait(owners: int) -> None:
    assert turn_cost(4000, owners) < 4 * turn_cost(200, owners), "twenty times as many"


def paced(bot: str, pace_class: int = 0, patient: bool = True, room: int = 1, since: float = 0.0) -> Waiting[str]:
    """Return a bot of a pace class. Its owner is its own name."""
    return Waiting(bot, bot, since, room, KNOWN, pace_class=pace_class, patient=patient)


def among(*guests: Waiting[str], house: Sequence[str] = HOUSE, seed: int = 1) -> Pool[str]:
    pool = Pool(house, Random(seed))
    for guest in guests:
        pool.update(guest)
    return pool


def test_a_slow_bot_sits_with_those_whose_balance_allows_it() -> None:
    pool = among(paced("slow", 5, room=9), paced("ann"), paced("bob"), paced("cleo", patient=False), house=[])
    tables = [set(table.bots) for table in emptied(pool, 2, 0.0)]
    assert tables[:2] in ([{"slow", "ann"}, {"slow", "bob"}], [{"slow", "bob"}, {"slow", "ann"}])
    assert len(tables) == 2, "nobody waits for it whose balance does not allow it"


@pytest.mark.parametrize("seats", [2, 3, 4])
def test_at_most_one_slow_bot_sits_with_quick_ones(seats: int) -> None:
    guests = [paced(f"slow-{number}", 5, room=9) for number in range(9)] + [paced(bot) for bot in "abcdef"]
    for table in emptied(among(*guests, house=[]), seats, 0.0):
        slow = sum(bot.startswith("slow") for bot in table.bots)
        assert slow in (1, seats), "one with quick ones, or its like"


def test_a_slow_bot_that_finds_nobody_plays_its_like_and_alone_the_house_at_once() -> None:
    impatient = [paced(bot, patient=False, room=0) for bot in "abc"]
    table = among(paced("slow", 5), paced("like", 5), *impatient).table(2, 0.0)
    assert table is not None
    assert set(table.bots) == {"slow", "like"}
    alone = among(paced("slow", 5), *impatient).table(2, 0.0)
    assert alone is not None, "nobody could come whose balance allows it"
    busy = [guest._replace(patient=True) for guest in impatient]
    assert among(paced("slow", 5), *busy).table(2, 0.0) is None, "they may come in a moment"
    assert among(paced("slow", 5), *busy).table(2, PATIENCE) is not None


def test_a_slow_bot_whose_patience_is_over_sits_with_the_quick_ones_there_are() -> None:
    busy = [paced(bot, room=0) for bot in "abc"]
    pool = among(paced("slow", 5), *busy)
    pool.update(paced("quick", since=PATIENCE))
    assert pool.table(4, PATIENCE - 0.1) is None
    table = pool.table(4, PATIENCE)
    assert table is not None
    assert {"slow", "quick"} < set(table.bots)


def test_a_slow_bot_sits_at_once_with_the_quick_ones_there_are_if_no_more_will_come() -> None:
    table = among(paced("slow", 5), paced("quick"), *[paced(bot, patient=False, room=0) for bot in "abc"]).table(4, 0.0)
    assert table is not None
    assert {"slow", "quick"} < set(table.bots)


def test_nobody_waits_for_those_who_will_not_have_room_soon() -> None:
    busy = paced("bob", room=0)._replace(free_at=10.0)
    assert among(paced("ann"), busy).table(2, 0.0) is not None, "it is away for longer than the patience"
    assert among(paced("ann", since=9.0), busy).table(2, 9.0) is None
    assert among(paced("ann", since=9.0), busy).table(2, 9.0 + PATIENCE) is not None
    assert among(paced("ann", since=13.0), busy).table(2, 13.0) is not None, "it should have been back long ago"
    assert among(paced("ann"), paced("slow", 5, room=0)).table(2, 0.0) is not None, "it may not sit with it"


def test_whom_a_slow_bot_left_without_an_opponent_does_not_wait_for_one() -> None:
    away = paced("bob", room=0)._replace(free_at=99.0)
    pool = among(paced("ann"), paced("cleo", room=0), away)
    assert pool.table(2, 0.0) is None
    pool.update(away._replace(held_up=True))
    assert pool.table(2, 0.0) is not None
    pool = among(paced("ann"), paced("cleo", room=0), away._replace(held_up=True))
    pool.update(away._replace(room=1))
    assert pool.table(2, 0.0) is not None
    pool.update(paced("ann", since=1.0))
    assert pool.table(2, 1.0) is None, "it is back, and gone again"


def test_a_slow_bot_holds_up_nobody_elses_table_and_the_caller_is_told_of_each() -> None:
    pool = among(paced("slow", 5), paced("ann", patient=False, since=1.0), paced("bob", room=0))
    assert pool.next_due(0.5) == PATIENCE
    assert pool.table(2, 0.5) is None
    assert pool.next_due(PATIENCE) == 1.0 + PATIENCE
    assert pool.due(PATIENCE) == PATIENCE


def test_without_house_bots_all_play_in_the_end_whatever_their_paces() -> None:
    pool = among(paced("slow", 5), paced("slower", 7), paced("ann", patient=False), house=[])
    assert pool.table(3, PATIENCE - 0.1) is None
    assert pool.table(3, PATIENCE) is not None


def test_the_caller_is_told_when_the_patience_of_each_ends_so_that_all_play_in_the_end() -> None:
    bots = paced("old", since=-PATIENCE), paced("new", MOST_CLASSES), paced("newer", MOST_CLASSES, since=0.5)
    pool = among(*bots, house=[])
    assert pool.table(3, 0.0) is None
    looks = [now := pool.next_due(0.0), pool.next_due(now)]
    assert looks == [PATIENCE, 0.5 + PATIENCE]
    assert [pool.table(3, now) is not None for now in looks] == [False, True]
    assert pool.next_due(looks[-1]) == inf


def test_without_house_bots_one_of_unknown_pace_sits_at_a_table_whatever_the_balances() -> None:
    unknown = [paced(bot, MOST_CLASSES) for bot in ("new", "newer")]
    pool = among(*unknown, *(paced(bot, patient=False) for bot in "abcd"), house=[])
    tables = list(emptied(pool, 3, 0.0))
    assert [len({"new", "newer"} & set(table.bots)) for table in tables] == [1, 1]


def test_a_bot_changes_its_class_while_it_waits_or_plays() -> None:
    pool = among(paced("ann"), paced("bob", patient=False, room=0))
    pool.update(paced("ann", 5))
    pool.update(paced("bob", patient=False))
    assert {*(pool.table(2, 0.0) or Table(())).bots} & {"ann", "bob"} != {"ann", "bob"}
    pool = among(paced("ann", 5, room=0), paced("bob", 5, patient=False))
    pool.update(paced("ann", 5))
    table = pool.table(2, 0.0)
    assert table is not None
    assert set(table.bots) == {"ann", "bob"}


def spent(*pairs: str, since: str = "") -> list[Waiting[str]]:
    """Return waiting bots, some of which have used up their quota with each other. The bots named in `since` have
    waited longest.
    """
    names = dict.fromkeys("".join(pairs))
    others = {bot: frozenset({*"".join(pair for pair in pairs if bot in pair)} - {bot}) for bot in names}
    return [waiting(bot, -9.0 if bot in since else 0.0)._replace(spent=others[bot]) for bot in names]


@pytest.mark.parametrize("tables", [COVERAGE, CONTENTION])
@pytest.mark.parametrize("since", ["", "ab"])
def test_a_pair_that_has_spent_its_quota_sits_together_only_where_nobody_else_waits(tables: int, since: str) -> None:
    """The rule also applies to two bots that have waited longest, or whose match has the largest information gain."""
    pair = [each._replace(value=NEWCOMER) for each in spent("ab", since=since)]
    others = [waiting(bot, value=KNOWN) for bot in "cdef"]
    for seats in (2, 3, 4):
        for seed in range(50):
            table = form(*pair, *others, owners=9, now=0.0, seats=seats, tables=tables, seed=seed)
            assert table is not None
            assert not {"a", "b"} <= table
    alone = form(*pair, owners=2, now=0.0, seats=2, house=[], tables=tables)
    assert alone == {"a", "b"}, "as before there were quotas"
    assert form(*pair, waiting("c"), owners=3, now=0.0, seats=3, house=[], tables=tables) == {"a", "b", "c"}


def test_without_house_bots_those_who_have_spent_their_quota_sit_together_when_nobody_else_comes() -> None:
    """The bots are of three pace classes and have no balance for waiting for each other."""
    pair = [each._replace(pace_class=ord(each.bot) - ord("a"), patient=False) for each in spent("ab")]
    third = paced("c", 5, patient=False, since=0.1)
    assert among(*pair, house=[]).table(2, PATIENCE) is not None
    table = among(*pair, third, house=[]).table(2, PATIENCE + 0.1)
    assert table is not None
    assert set(table.bots) != {"a", "b"}


def greedy(bot: str, tables: int = 20, room: int = 9, since: float = 0.0) -> Waiting[str]:
    """Return a bot that plays at many tables."""
    return Waiting(bot, bot, since, room, KNOWN, tables=tables)


def sharing(*guests: Waiting[str], house: Sequence[str] = HOUSE, shared: bool = True) -> Pool[str]:
    """Return a pool in which the bots with most tables arrived last. Shares are computed when a bot arrives or
    changes.
    """
    pool = Pool(house, Random(1), shared=shared)
    for guest in sorted(guests, key=lambda guest: guest.tables):
        pool.update(guest)
    return pool


def busy(count: int, free_at: float = 99.0) -> list[Waiting[str]]:
    """Return bots at capacity, with one table each."""
    names = [f"busy-{number}" for number in range(count)]
    return [Waiting(name, name, 0.0, 0, KNOWN, free_at=free_at, tables=1) for name in names]


def test_a_bot_beyond_its_share_of_tables_waits_while_others_wait() -> None:
    honest = [paced(bot, room=9) for bot in "abcdef"]
    for shared in (True, False):
        pool = sharing(*honest, greedy("r", since=-PATIENCE / 2), shared=shared)
        tables = [pool.table(4, 0.0) for _ in range(9)]
        assert any("r" in table.bots for table in tables if table) is not shared
        late = pool.table(4, PATIENCE / 2)
        assert late is not None


def test_a_bot_beyond_its_share_sits_before_the_house_does_and_after_the_patience_of_others() -> None:
    pool = sharing(greedy("r"), paced("ann"), *busy(3, free_at=0.5))
    assert pool.table(2, 0.0) is None, "others are expected"
    table = pool.table(2, PATIENCE)
    assert table is not None
    assert set(table.bots) == {"ann", "r"}
    pool = sharing(greedy("r"), paced("ann"), *busy(3))
    table = pool.table(3, 0.0)
    assert table is not None
    assert {"ann", "r"} < set(table.bots), "nobody is expected"


def test_bots_beyond_their_share_sit_together_when_nobody_else_waits_or_is_expected_or_after_their_patience() -> None:
    ring = [greedy("r"), greedy("s")]
    table = sharing(*ring, *busy(9)).table(2, 0.0)
    assert table is not None
    assert set(table.bots) == {"r", "s"}
    pool = sharing(*ring, *busy(9, free_at=0.5))
    assert pool.table(2, 0.0) is None
    assert pool.next_due(0.0) == PATIENCE
    assert pool.table(2, PATIENCE) is not None
    assert pool.table(2, PATIENCE) is None, "each has been given a match"
    assert sharing(*ring, paced("ann"), *busy(9, free_at=0.5), house=[]).table(3, 0.0) is None


@pytest.mark.parametrize(("tables", "bound"), [(FREE_TABLES - 1, False), (FREE_TABLES, True)])
def test_few_tables_are_nobodys_business(tables: int, bound: bool) -> None:
    pool = sharing(greedy("r", tables), greedy("s", tables), *busy(9, free_at=0.5))
    assert (pool.table(2, 0.0) is None) is bound


def test_a_share_is_twice_the_mean_of_all_that_are_connected() -> None:
    others = [Waiting(f"busy-{number}", f"busy-{number}", 0.0, 0, KNOWN, free_at=0.5, tables=10) for number in range(8)]
    for tables, bound in ((25, True), (24, True), (23, False)):  # with 24 owners there are 120 tables of ten bots
        pool = sharing(greedy("r", tables), greedy("s", 40 - tables), *others)
        assert ("r" not in {*(pool.table(2, 0.0) or Table(())).bots}) is bound
    pool = sharing(greedy("r", 24), *others)
    pool.update(greedy("r", 3))
    assert pool.table(2, 0.0) is None, "it waits for others like anybody"
    assert "r" in {*(pool.table(2, PATIENCE) or Table(())).bots}
    pool.remove("r")
    assert pool.table(2, 9.0) is None
    for other in others:
        pool.remove(other.bot)
    assert pool.owners == 0
