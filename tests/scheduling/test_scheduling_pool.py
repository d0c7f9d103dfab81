"""Who plays whom: the rules in examples, and promises kept in any waiting room."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.live import SCALE
from arena.scheduling.information_gain import NEWCOMER, MatchValue
from arena.scheduling.pool import MIXING_SHARE, PATIENCE, SEATS_PER_ANCHOR, LastMatch, Pool, PoolHistory, Table, Waiting

HOUSE = ["house-1", "house-2", "house-3"]
KNOWN = MatchValue((20 / SCALE) ** 2, 1.0)
COVERAGE, CONTENTION = PoolHistory(0), PoolHistory(1)


def waiting(
    bot: str, since: float = 0.0, pending: int = 0, room: int = 1, value: MatchValue = NEWCOMER
) -> Waiting[str]:
    """A bot that waits; its owner is its first letter."""
    return Waiting(bot, bot[0], since, room, value, pending)


def form(
    *guests: Waiting[str],
    owners: int,
    now: float,
    seats: int = 4,
    house: Sequence[str] = HOUSE,
    history: PoolHistory = COVERAGE,
    seed: int = 1,
) -> set[str] | None:
    table = Pool(guests, owners, house, now, Random(seed), history=history).table(seats)
    return None if table is None else set(table.bots)


def often(*guests: Waiting[str], seats: int, history: PoolHistory = COVERAGE, now: float = 0.0) -> Counter[str]:
    """How often each bot gets a seat of one table, in 200 pools."""
    tables = [form(*guests, owners=9, now=now, seats=seats, history=history, seed=seed) or () for seed in range(200)]
    return Counter(bot for table in tables for bot in table)


def emptied(pool: Pool[str], seats: int) -> Iterator[Table[str]]:
    """All tables that can be formed now."""
    while (table := pool.table(seats)) is not None:
        yield table


def test_enough_different_owners_play_at_once() -> None:
    assert form(*map(waiting, "abcd"), owners=9, now=0) == set("abcd")


def test_nobody_waits_no_table() -> None:
    assert form(owners=9, now=9) is None


@pytest.mark.parametrize("history", [COVERAGE, CONTENTION])
def test_two_bots_of_one_owner_never_meet(history: PoolHistory) -> None:
    pair = waiting("a1", room=9), waiting("a2", room=9)
    assert form(*pair, owners=1, now=9, seats=2, house=["house-1"], history=history) in (
        {"a1", "house-1"},
        {"a2", "house-1"},
    )
    assert form(*pair, owners=1, now=9, seats=2, house=[], history=history) is None


def test_too_few_wait_for_more_until_their_patience_ends() -> None:
    guests = [waiting("a", 10), waiting("b", 11)]
    assert form(*guests, owners=4, now=10 + PATIENCE - 0.001) is None
    together = form(*guests, owners=4, now=10 + PATIENCE)
    assert together is not None
    assert together > {"a", "b"}


def test_the_caller_is_told_when_patience_ends() -> None:
    pool = Pool([waiting("a", 10, room=2), waiting("b", 11, room=2)], 4, HOUSE, 10 + PATIENCE, Random(1))
    assert pool.due == 10 + PATIENCE
    assert len(list(emptied(pool, 4))) == 1
    assert pool.due == 10 + PATIENCE + PATIENCE, "both have been given a match"
    assert Pool([], 4, HOUSE, 0, Random(1)).due == float("inf")


def test_nobody_waits_for_owners_who_are_not_there() -> None:
    table = form(waiting("a", 10), waiting("b", 10), owners=2, now=10)
    assert table is not None
    assert table > {"a", "b"}
    assert form(waiting("a", 10), waiting("b", 10), owners=3, now=10) is None


def test_without_house_bots_a_table_waits_for_bots() -> None:
    assert form(waiting("a"), waiting("b"), owners=2, now=100, house=[]) is None


def test_who_have_just_met_wait_a_moment_for_others_who_may_come() -> None:
    met = [Waiting(bot, bot, 10.0, last_match=LastMatch(7, 5.0)) for bot in "abcd"]
    moment = 10 + MIXING_SHARE * 5
    assert form(*met, owners=5, now=moment - 0.001) is None
    assert Pool(met, 5, HOUSE, 10, Random(1)).due == moment
    assert form(*met, owners=5, now=moment) == set("abcd"), "not for ever"
    assert form(*met, owners=4, now=10) == set("abcd"), "there is nobody else"
    assert form(*met, waiting("e", 10), owners=9, now=10, history=CONTENTION) is not None, "somebody came"
    assert form(*(guest._replace(last_match=None) for guest in met), owners=5, now=10) == set("abcd"), "they are new"
    slow = [guest._replace(last_match=LastMatch(7, 9999.0)) for guest in met]
    assert form(*slow, owners=5, now=10 + PATIENCE) == set("abcd"), "nor beyond their patience"


def test_house_bots_are_distinct_as_far_as_possible() -> None:
    table = Pool([waiting("a")], 1, HOUSE, 0, Random(1)).table(4)
    assert table is not None
    assert sorted(table.bots) == ["a", *HOUSE]
    crowded = Pool([waiting("a")], 1, HOUSE[:2], 0, Random(1)).table(6)
    assert crowded is not None
    assert sorted(crowded.bots.count(bot) for bot in HOUSE[:2]) == [2, 3]


@pytest.mark.parametrize("history", [COVERAGE, CONTENTION])
def test_seats_and_house_bots_are_drawn(history: PoolHistory) -> None:
    pools = [Pool([waiting("a"), waiting("b")], 2, HOUSE, 0, Random(seed), history=history) for seed in range(60)]
    tables = [pool.table(3) for pool in pools]
    assert {table.bots.index("a") for table in tables if table} == {0, 1, 2}
    assert {bot for table in tables if table for bot in table.bots} == {"a", "b", *HOUSE}


def test_the_same_chance_forms_the_same_tables() -> None:
    guests = [waiting(f"{owner}{number}", room=3) for owner in "abcdef" for number in range(3)]
    one, two = (list(emptied(Pool(guests, 9, HOUSE, 0, Random(5)), 3)) for _ in range(2))
    assert one == two
    assert one != list(emptied(Pool(guests, 9, HOUSE, 0, Random(6)), 3))


def test_coverage_is_for_any_bot() -> None:
    times = often(*(waiting(bot, value=KNOWN._replace(weight=ord(bot))) for bot in "abcdefgh"), seats=2)
    assert set(times) == set("abcdefgh")
    assert max(times.values()) < 2 * min(times.values())


def test_contention_is_for_those_with_most_to_gain_and_any_others() -> None:
    times = often(
        *(waiting(bot, value=KNOWN._replace(weight=ord(bot))) for bot in "abcdefgh"), seats=4, history=CONTENTION
    )
    assert times["h"] == times["g"] == 200
    others = [times[bot] for bot in "abcdef"]
    assert max(others) < 2 * min(others)


def test_a_match_pending_makes_another_less_urgent() -> None:
    guests = [waiting("a", pending=4), waiting("b", pending=3), waiting("c", pending=9), waiting("d", pending=1)]
    assert form(*guests, owners=9, now=0, seats=4, history=CONTENTION) == set("abcd")
    times = often(*guests, seats=2)
    assert times["d"] == 200


def test_among_equals_the_longest_wait_goes_first() -> None:
    guests = [waiting(bot, since, value=KNOWN) for bot, since in zip("abcdef", (5, 1, 4, 2, 3, 6), strict=True)]
    times = often(*guests, seats=4, history=CONTENTION, now=6.5 - PATIENCE)
    assert times["b"] == times["d"] == 200


def test_whose_patience_is_over_goes_first_where_the_seats_are_for_anybody() -> None:
    guests = [waiting(bot, since, value=KNOWN) for bot, since in zip("abcdef", (5, 1, 4, 2, 3, 6), strict=True)]
    assert form(*guests, owners=6, now=4 + PATIENCE) == set("bdec")


def test_a_newcomer_is_at_every_table_until_it_has_its_place_and_learns_from_others() -> None:
    newcomers = [waiting(f"{bot}-new", room=100) for bot in "wxyz"]
    others = [waiting(bot, room=100, value=KNOWN) for bot in "abcdefgh"]
    pool = Pool([*newcomers, *others], 12, HOUSE, 0, Random(1))
    tables = [set(table.bots) for _ in range(60) if (table := pool.table(4)) is not None]
    seats = Counter(bot for table in tables for bot in table if bot.endswith("new"))
    assert all(any(bot.endswith("new") for bot in table) for table in tables)
    assert min(seats.values()) >= 30
    mixed = [table for table in tables if sum(bot.endswith("new") for bot in table) <= 2]
    assert len(mixed) > 0.7 * len(tables)


def test_a_newcomer_that_comes_into_a_crowd_is_at_the_next_table() -> None:
    crowd = [waiting(f"{chr(0x4E00 + number)}", room=8, value=KNOWN) for number in range(500)]
    for history in (COVERAGE, CONTENTION):
        table = form(*crowd, waiting("newcomer", 9.0), owners=501, now=9.0, history=history)
        assert table is not None
        assert "newcomer" in table


def test_bots_play_as_many_matches_as_they_have_room_for() -> None:
    pool = Pool([waiting("a", room=3), waiting("b", room=1), waiting("c", room=9)], 3, [], 0, Random(1))
    times = Counter(bot for table in emptied(pool, 2) for bot in table.bots)
    assert (times["a"], times["b"]) == (3, 1)
    assert times["c"] in (2, 4), "a met b, or c did"


def test_a_bot_that_was_given_a_match_of_another_game_has_less_room() -> None:
    pool = Pool([waiting("a", room=2), waiting("b", room=2)], 2, [], 0, Random(1))
    pool.engage("a")
    pool.engage("not here")
    assert len(list(emptied(pool, 2))) == 1
    pool.engage("a")
    assert pool.table(2) is None


@pytest.mark.parametrize("seats", range(2, 8))
def test_the_house_has_one_seat_in_twenty_whoever_waits(seats: int) -> None:
    """Of every long run of tables, though a lonely hour with many house bots came before."""
    chance, history = Random(seats), PoolHistory()
    for _ in range(10):
        pool = Pool([waiting("a", room=50)], 1, HOUSE, 0, chance, history=history)
        history = [pool.history for _ in emptied(pool, seats)][-1]
    house = total = 0
    seen: Counter[str] = Counter()
    for _ in range(40):
        pool = Pool([waiting(bot, room=20) for bot in "abcdefghij"], 99, HOUSE, 0, chance, history=history)
        for table in emptied(pool, seats):
            mine = [bot for bot in table.bots if bot in HOUSE]
            assert len(mine) <= 1
            seen.update(mine)
            house, total = house + len(mine), total + seats
            assert house * SEATS_PER_ANCHOR > total - 2 * SEATS_PER_ANCHOR
        history = pool.history
    assert house / total == pytest.approx(1 / SEATS_PER_ANCHOR, abs=0.005)
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
        st.sampled_from([None, LastMatch(1, 1.0), LastMatch(2, 9.0)]),
    ),
    max_size=20,
    unique_by=lambda guest: guest.bot,
)


@given(
    room, st.integers(0, 8), st.integers(0, 3), st.lists(st.integers(2, 7), min_size=1), st.floats(0, 20), st.integers()
)
def test_every_table_is_full_fair_and_of_bots_that_wait(
    guests: list[Waiting[str]], more: int, house: int, sizes: list[int], now: float, seed: int
) -> None:
    owner = {guest.bot: guest.owner for guest in guests}
    pool = Pool(guests, len(set(owner.values())) + more, HOUSE[:house], now, Random(seed))
    seated: Counter[str] = Counter()
    for seats in sizes:
        for table in emptied(pool, seats):
            own = [bot for bot in table.bots if bot not in HOUSE]
            assert len(table.bots) == seats
            assert own, "a table of house bots only"
            assert set(own) <= owner.keys()
            assert len({owner[bot] for bot in own}) == len(own), "one owner twice"
            seated.update(own)
    assert all(seated[guest.bot] <= guest.room for guest in guests), "a bot beyond its room"


@given(room, st.integers(0, 8), st.integers(2, 7), st.floats(0, 20), st.integers())
def test_nobody_waits_beyond_its_patience_where_house_bots_can_fill(
    guests: list[Waiting[str]], more: int, seats: int, now: float, seed: int
) -> None:
    owners = len({guest.owner for guest in guests}) + more
    pool = Pool(guests, owners, HOUSE, now, Random(seed))
    seated = {bot for table in emptied(pool, seats) for bot in table.bots}
    assert all(now < guest.since + PATIENCE for guest in guests if guest.bot not in seated)


@given(room, st.integers(2, 7), st.integers())
def test_nobody_has_room_in_vain_for_bots_of_enough_owners(guests: list[Waiting[str]], seats: int, seed: int) -> None:
    """One that is slow or full delays nobody else: who is left is too few for a table."""
    pool = Pool(guests, 99, [], 20.0, Random(seed))
    seated = Counter(bot for table in emptied(pool, seats) for bot in table.bots)
    assert len({guest.owner for guest in guests if seated[guest.bot] < guest.room}) < seats


@given(st.integers(2, 6), st.integers(2, 24), st.integers(0, 24), st.integers())
def test_where_tables_are_rare_nobody_waits_for_more_of_them_than_there_are_bots(
    seats: int, bots: int, newcomers: int, seed: int
) -> None:
    """However many have more to gain: every table has a seat for whoever has waited longest."""
    bots = max(bots, seats)
    chance = Random(seed)
    names = [chr(0x4E00 + number) for number in range(bots)]
    since = dict.fromkeys(names, 0.0)
    history = PoolHistory()
    for now in range(1, 3 * bots):
        guests = [
            waiting(name, since[name], value=NEWCOMER if number < newcomers else KNOWN)
            for number, name in enumerate(names)
        ]
        pool = Pool(guests, bots, [], float(now), chance, patience=0.5, history=history)
        table = pool.table(seats)
        assert table is not None
        since.update(dict.fromkeys(table.bots, float(now)))
        history = pool.history
        assert now - min(since.values()) <= bots


@given(
    st.lists(st.tuples(st.sampled_from("abcde"), st.integers(1, 3), st.integers(1, 3)), min_size=1, max_size=8),
    st.integers(2, 6),
    st.integers(),
)
def test_over_a_long_run_nobody_starves(bots: list[tuple[str, int, int]], seats: int, seed: int) -> None:
    """Bots play without end, each at its own speed, several at once; with room none waits longer than the patience."""
    chance, history = Random(seed), PoolHistory()
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
        guests = [waiting(name, since[name], played[name], room) for name, room in free.items() if room]
        pool = Pool(guests, len({name[0] for name in names}), HOUSE, now, chance, history=history)
        for formed in emptied(pool, seats):
            own = tuple(bot for bot in formed.bots if bot in played)
            running.append((now + max(slowness[bot] for bot in own), own))
            for bot in own:
                assert now - since[bot] <= PATIENCE
                since[bot] = now
                free[bot] -= 1
                played[bot] += 1
        history = pool.history
        assert all(now - since[name] < PATIENCE for name, room in free.items() if room)
    assert min(played.values()) >= 60 / 4 // (3 + PATIENCE)


def meetings(tables: Iterable[Table[str]]) -> set[frozenset[str]]:
    return {frozenset((one, two)) for table in tables for one in table.bots for two in table.bots if one != two}


def test_eight_bots_that_play_one_match_at_a_time_all_meet() -> None:
    """Two tables that end by turns would, formed anew at once, be the same two for ever."""
    chance, history = Random(3), PoolHistory()
    since, met = dict.fromkeys("abcdefgh", 0.0), dict[str, LastMatch]()
    running: list[tuple[float, float, Table[str]]] = []
    tables: list[Table[str]] = []
    for tick in range(4000):
        now = tick / 10
        for began, end, table in list(running):
            if end <= now:
                running.remove((began, end, table))
                since.update(dict.fromkeys(table.bots, now))
                met.update(dict.fromkeys(table.bots, LastMatch(tables.index(table), now - began)))
        busy = {bot for *_, table in running for bot in table.bots}
        guests = [Waiting(bot, bot, since[bot], last_match=met.get(bot)) for bot in "abcdefgh" if bot not in busy]
        pool = Pool(guests, 8, [], now, chance, history=history)
        for table in emptied(pool, 4):
            running.append((now, now + 5 + chance.random(), table))
            tables.append(table)
        history = pool.history
    assert len(meetings(tables)) == 8 * 7 / 2
    assert len(tables) > 2 * 400 / (1 + MIXING_SHARE) / 6, "and it costs no more time than it should"
