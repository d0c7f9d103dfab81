"""Who plays whom: the rules in examples, and promises kept in any waiting room."""

from __future__ import annotations

from random import Random

from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.pairing import PATIENCE, Table, Waiting, next_table

HOUSE = ["house-1", "house-2", "house-3"]


def waiting(bot: str, since: float = 0.0, matches: int = 0) -> Waiting[str]:
    """A bot that waits; its owner is its first letter."""
    return Waiting(bot, bot[0], since, matches)


def form(*guests: Waiting[str], owners: int, now: float, seats: int = 4, house: list[str] = HOUSE) -> set[str] | None:
    table = next_table(guests, owners, house, seats, now, Random(1))
    return None if table is None else set(table.bots)


def test_enough_different_owners_play_at_once() -> None:
    assert form(*map(waiting, "abcd"), owners=9, now=0) == set("abcd")


def test_the_longest_wait_goes_first() -> None:
    guests = [waiting(bot, since) for bot, since in [("a", 5), ("b", 1), ("c", 4), ("d", 2), ("e", 3)]]
    assert form(*guests, owners=5, now=6) == set("bedc")


def test_among_equal_waits_the_newcomer_goes_first() -> None:
    guests = [waiting("a", 0, 9), waiting("b", 0, 5), waiting("c", 0, 0)]
    assert form(*guests, owners=3, now=0, seats=2) == {"c", "b"}


def test_two_bots_of_one_owner_never_meet() -> None:
    assert form(waiting("a1"), waiting("a2"), owners=1, now=9, seats=2, house=["house-1"]) == {"a1", "house-1"}
    assert form(waiting("a1"), waiting("a2"), owners=1, now=9, seats=2, house=[]) is None


def test_nobody_waits_no_table() -> None:
    assert form(owners=9, now=9) is None


def test_too_few_wait_for_more_until_their_patience_ends() -> None:
    guests = [waiting("a", 10), waiting("b", 11)]
    assert form(*guests, owners=4, now=10 + PATIENCE - 0.001) is None
    together = form(*guests, owners=4, now=10 + PATIENCE)
    assert together is not None
    assert together > {"a", "b"}


def test_nobody_waits_for_owners_who_are_not_there() -> None:
    table = form(waiting("a", 10), waiting("b", 10), owners=2, now=10)
    assert table is not None
    assert table > {"a", "b"}
    assert form(waiting("a", 10), waiting("b", 10), owners=3, now=10) is None


def test_house_bots_are_distinct_as_far_as_possible() -> None:
    table = next_table([waiting("a")], 1, HOUSE, 4, 0, Random(1))
    assert table is not None
    assert sorted(table.bots) == ["a", *HOUSE]
    crowded = next_table([waiting("a")], 1, HOUSE[:2], 6, 0, Random(1))
    assert crowded is not None
    assert sorted(crowded.bots.count(bot) for bot in HOUSE[:2]) == [2, 3]


def test_seats_and_house_bots_are_drawn() -> None:
    tables = [next_table([waiting("a"), waiting("b")], 2, HOUSE, 3, 0, Random(seed)) for seed in range(60)]
    assert {table.bots.index("a") for table in tables if table} == {0, 1, 2}
    assert {bot for table in tables if table for bot in table.bots} == {"a", "b", *HOUSE}


def test_without_house_bots_a_table_waits_for_bots() -> None:
    assert form(waiting("a"), waiting("b"), owners=2, now=100, house=[]) is None


room = st.lists(
    st.builds(Waiting, st.integers(0, 30).map(str), st.sampled_from("abcdef"), st.floats(0, 10), st.integers(0, 5)),
    max_size=20,
    unique_by=lambda guest: guest.bot,
)


def empty(
    guests: list[Waiting[str]], owners: int, house: list[str], seats: int, now: float, seed: int
) -> list[Table[str]]:
    """All tables that can be formed now; who sits down leaves the room."""
    chance, tables = Random(seed), []
    while table := next_table(guests, owners, house, seats, now, chance):
        tables.append(table)
        guests = [guest for guest in guests if guest.bot not in table.bots]
    return tables


@given(room, st.integers(0, 8), st.integers(0, 3), st.integers(2, 7), st.floats(0, 20), st.integers())
def test_every_table_is_full_fair_and_of_bots_that_wait(
    guests: list[Waiting[str]], more: int, house: int, seats: int, now: float, seed: int
) -> None:
    owner = {guest.bot: guest.owner for guest in guests}
    owners = len(set(owner.values())) + more
    seated: list[str] = []
    for table in empty(guests, owners, HOUSE[:house], seats, now, seed):
        own = [bot for bot in table.bots if bot not in HOUSE]
        assert len(table.bots) == seats
        assert own, "a table of house bots only"
        assert set(own) <= owner.keys()
        assert len({owner[bot] for bot in own}) == len(own), "one owner twice"
        seated += own
    assert len(seated) == len(set(seated)), "a bot beyond its room"


@given(room, st.integers(0, 8), st.integers(2, 7), st.floats(0, 20), st.integers())
def test_nobody_waits_beyond_its_patience_where_house_bots_can_fill(
    guests: list[Waiting[str]], more: int, seats: int, now: float, seed: int
) -> None:
    owners = len({guest.owner for guest in guests}) + more
    seated = {bot for table in empty(guests, owners, HOUSE, seats, now, seed) for bot in table.bots}
    assert all(now < guest.since + PATIENCE for guest in guests if guest.bot not in seated)


@given(room, st.integers(2, 7), st.integers())
def test_nobody_is_overtaken_by_a_shorter_wait_except_of_another_owner(
    guests: list[Waiting[str]], seats: int, seed: int
) -> None:
    table = next_table(guests, 99, HOUSE, seats, 20.0, Random(seed))
    if table is None:
        return
    seated = {guest.bot: guest for guest in guests if guest.bot in table.bots}
    for guest in guests:
        if guest.bot not in seated:
            own = [other for other in seated.values() if other.owner == guest.owner]
            rivals = own or list(seated.values())
            assert all((other.since, other.matches) <= (guest.since, guest.matches) for other in rivals)


@given(
    st.lists(st.tuples(st.sampled_from("abcde"), st.integers(1, 3)), min_size=1, max_size=8),
    st.integers(2, 6),
    st.integers(),
)
def test_over_a_long_run_nobody_starves(bots: list[tuple[str, int]], seats: int, seed: int) -> None:
    """Bots play without end, each at its own speed; none waits longer for its next match than the patience."""
    chance = Random(seed)
    names = [f"{owner}{number}" for number, (owner, _) in enumerate(bots)]
    free_since = dict.fromkeys(names, 0.0)
    back: dict[str, float] = {}
    played = dict.fromkeys(names, 0)
    for tick in range(60):
        now = tick / 4
        for name in [name for name, end in back.items() if end <= now]:
            free_since[name] = now
            del back[name]
        guests = [waiting(name, since, played[name]) for name, since in free_since.items()]
        while table := next_table(guests, len({name[0] for name in names}), HOUSE, seats, now, chance):
            end = now + max(bots[names.index(bot)][1] for bot in table.bots if bot in played)
            for bot in table.bots:
                if bot in played:
                    assert now - free_since.pop(bot) <= PATIENCE
                    played[bot] += 1
                    back[bot] = end
            guests = [guest for guest in guests if guest.bot in free_since]
        assert all(now - since < PATIENCE for since in free_since.values())
    assert min(played.values()) >= 60 / 4 // (3 + PATIENCE)
