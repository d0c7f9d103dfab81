"""Events: random draws, scores, strengths, looks and the decision of a race, bit for bit the same on every machine."""

from __future__ import annotations

from collections import Counter
from decimal import ROUND_CEILING, Decimal
from hashlib import sha256
from math import sqrt
from statistics import NormalDist
from struct import pack, unpack

import numpy as np
import pytest

from arena.scheduling.event import strengths as strengths_module
from arena.scheduling.event.lots import Lots, entrants_digest, tables_key
from arena.scheduling.event.race import (
    EventEntrant,
    EventError,
    EventResult,
    EventTable,
    Race,
    RaceLook,
    most_in,
)
from arena.scheduling.event.scores import HOUSE, FrozenAdjustment, adjusted_scores, no_adjustment
from arena.scheduling.event.strengths import ArithmeticDiffersError, Strengths, posterior, quantiles, strengths
from engine.deal import shuffled

SEED = bytes(range(32))
BITS = "914ba36750907b3716fa8c47c346f95f21c25d6f20a718204814f810c1ea4e8e"
"""SHA-256 of the tables and looks of a race. It must never change, because old events are verified with it."""


def entered(bots: int, owners: int | None = None) -> list[EventEntrant]:
    return [EventEntrant(f"bot-{bot:02}", f"owner-{bot % (owners or bots)}") for bot in range(bots)]


def words(table: EventTable) -> tuple[int, ...]:
    """Return sixteen random numbers of a table."""
    return unpack(">16H", sha256(b"points %d" % table.number).digest())


def points(table: EventTable, gap: float) -> tuple[float, ...]:
    """Return random points between −1 and 1, and `gap` more for each later bot."""
    return tuple(gap * bot + word / 32768 - 1 for bot, word in zip(table.bots, words(table), strict=False))


def play(race: Race, gap: float = 0.1) -> Race:
    while not race.over:
        for table in race.start_round():
            race.record(table.number, EventResult(points(table, gap)))
        if race.look_due:
            race.look()
    return race


def played(bots: int, seats: int, budget: int, gap: float = 0.1, everyone: bool = False) -> Race:
    return play(Race(SEED, entered(bots), seats, budget, everyone=everyone), gap)


def bits(look: RaceLook) -> bytes:
    floats = (*look.means, *look.deviations, *look.best, look.risk, look.margin, look.opponents)
    return pack(f"<{len(floats)}d", *floats) + bytes((look.first, look.decided, *look.stays))


def test_lots_are_those_of_the_portable_shuffle() -> None:
    key = tables_key(SEED, 3, entrants_digest([("b", bytes(16)), ("a", bytes(16))]))
    assert key == tables_key(SEED, 3, entrants_digest([("a", bytes(16)), ("b", bytes(16))]))
    lots = Lots(key)
    first = lots.shuffle(range(25))
    assert first == shuffled(key, 25, 25)
    assert first != lots.shuffle(range(25))


def test_quantiles_are_normal_and_a_machine_that_finds_others_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    normal = NormalDist()
    for word in (*range(0, 65536, 97), 1, 4915, 60620, 65535):
        assert quantiles()[word] == pytest.approx(normal.inv_cdf((word + 0.5) / 65536), abs=1e-14, rel=1e-14)
    monkeypatch.setattr(strengths_module, "QUANTILES", "another digest")
    with pytest.raises(ArithmeticDiffersError, match="another digest"):
        quantiles.__wrapped__()


@pytest.mark.parametrize(("bots", "owners", "seats"), [(25, 25, 4), (23, 9, 4), (9, 4, 4), (11, 11, 3), (2, 2, 2)])
def test_tables_are_fair(bots: int, owners: int, seats: int) -> None:
    race = Race(SEED, entered(bots, owners), seats, 400)
    seated = [Counter[int]() for _ in range(bots)]
    while not race.look_due:
        drawn = race.start_round()
        assert len(drawn) >= min(1, bots // seats)
        at_once = [bot for table in drawn for bot in table.bots]
        assert len(at_once) == len({*at_once})
        for table in drawn:
            assert len({race.entrants[bot].owner for bot in table.bots}) == seats
            for seat, bot in enumerate(table.bots):
                seated[bot][seat] += 1
        if owners == bots:
            assert max(race.matches) - min(race.matches) <= 1
    for bot, seats_of_bot in enumerate(seated):
        assert sum(seats_of_bot.values()) == race.matches[bot]
        assert max(seats_of_bot.values()) <= race.matches[bot] / seats + 2


def test_house_bots_fill_the_table_of_few_bots() -> None:
    race = Race(SEED, entered(3), 4, 40)
    [table] = race.start_round()
    assert sorted(table.bots) == [HOUSE, 0, 1, 2]
    [alone] = race.start_round([1])
    assert sorted(alone.bots) == [HOUSE, HOUSE, HOUSE, 1]
    assert race.start_round([]) == ()
    assert [each.place for each in play_on(race).standings()] == [1, 2, 3]


def play_on(race: Race) -> Race:
    """Enter the results of the drawn tables, then play the event to its end."""
    for table in race.tables:
        race.record(table.number, EventResult(points(table, 0.5)))
    return play(race, 0.5)


def test_a_score_is_free_of_seat_and_deal_and_a_vanished_bot_is_last() -> None:
    frozen = FrozenAdjustment((1.0, 2.0, 3.0), (4.0, 6.0, 5.0), 0.5, 0.25)
    # baselines 7, 6, 8 have the mean 7; the means of earlier matches are 5
    assert adjusted_scores((10, 10, 10), (7, 6, 8), (False,) * 3, frozen) == (
        10 - 1 - 0.5 * (0 - -1) - 0.25 * 2,
        10 - 2 - 0.5 * (-1 - 1) - 0.25 * 2,
        10 - 3 - 0.5 * (1 - 0) - 0.25 * 2,
    )
    assert adjusted_scores((10, 10, 10), None, (True, False, False), frozen) == (7, 8, 7)
    assert adjusted_scores((1, 2, 3), (9, 9, 9), (False,) * 3, no_adjustment(3)) == (1, 2, 3)


def test_strengths_of_the_others_are_taken_into_account_from_a_hundred_matches() -> None:
    chance = np.random.default_rng(1)
    strength = np.linspace(-2, 2, 12)
    tables = [chance.permutation(12)[:4] for _ in range(400)]
    scores = [strength[each] - 0.3 * (strength[each].sum() - strength[each]) / 3 for each in tables]
    found = strengths(12, [each.tolist() for each in tables], [each.tolist() for each in scores])
    assert found.opponents == pytest.approx(-0.3, abs=1e-3)
    assert found.values == pytest.approx(strength, abs=0.01)
    assert found.variance < 1e-4
    few = strengths(12, [each.tolist() for each in tables[:99]], [each.tolist() for each in scores[:99]])
    assert few.opponents == 0


def test_the_posterior_is_pulled_to_the_middle_and_knows_nothing_of_a_bot_without_a_match() -> None:
    found = strengths(4, [[0, 1], [1, 0], [0, 2], [2, 0]], [[4, 1], [2, 4], [5, 0], [1, 5]])
    field = posterior(found)
    assert field.means[3] == -np.inf
    own = found.values[:3]
    assert abs(field.means[:3] - own.mean()).max() < abs(own - own.mean()).max()
    assert field.deviations[0] < field.deviations[1]  # twice as many matches
    alike = posterior(strengths(2, [[0, 1]] * 3, [[1, 1]] * 3))
    assert [*alike.means, *alike.deviations] == [1, 1, 0, 0]


@pytest.mark.parametrize(("entrants", "seats"), [(25, 4), (100, 4), (7, 2), (5, 4)])
def test_the_bound_is_the_power_rounded_up(entrants: int, seats: int) -> None:
    for used in range(1, 800, 7):
        power = entrants * (Decimal(seats) / entrants) ** (Decimal(used) / 800)
        assert most_in(entrants, seats, used) == int(power.to_integral_value(ROUND_CEILING))
    assert most_in(entrants, seats, 0) == entrants
    assert most_in(entrants, seats, 800) == most_in(entrants, seats, 1000) == seats


def test_every_machine_finds_these_bits() -> None:
    race = played(11, 4, 130, gap=0.03)
    assert race.looks[-1].opponents
    content = b"".join(bytes((*table.bots, table.round)) for table in race.tables) + b"".join(map(bits, race.looks))
    assert sha256(content).hexdigest() == BITS


def test_a_clear_winner_is_found_before_the_budget_is_used() -> None:
    race = played(12, 4, 400, gap=0.4)
    assert race.decided
    assert len(race.tables) < 400
    assert race.looks[-1].risk <= 0.03
    assert min(race.matches[bot] for bot in race.still_in) >= 16
    standings = race.standings()
    assert standings[0].bot == 11
    assert [each.place for each in standings] == [*range(1, 13)]
    assert [each.still_in for each in standings] == sorted((each.still_in for each in standings), reverse=True)
    for one, other in zip(race.looks, race.looks[1:], strict=False):
        assert {*other.stays} <= {*one.stays}
        assert len(other.stays) >= 4


def test_equal_bots_end_undecided_with_the_budget_used() -> None:
    race = played(12, 4, 100, gap=0.0)
    assert race.over
    assert not race.decided
    assert len(race.tables) == 100
    assert sum(race.looks[-1].best) == pytest.approx(1)
    with pytest.raises(EventError, match="the event is over"):
        race.start_round()


def test_equal_estimates_of_few_bots_are_not_certain() -> None:
    for bots in (2, 3, 6):
        equal = Strengths(np.zeros(bots), np.full(bots, 16), 1.0, 0.0)
        field = posterior(equal)
        error = 1 / 16
        true = error * sqrt(2 / (bots - 1))
        assert field.deviations == pytest.approx(sqrt(true * error / (true + error)))
    decided = [play(Race(bytes([number]) * 32, entered(2), 2, 60), 0.0).decided for number in range(12)]
    assert sum(decided) <= 4, "without the bound all 12 equal pairs are decided"


def test_with_all_everyone_plays_the_same_number() -> None:
    race = played(12, 4, 60, everyone=True)
    assert {*race.matches} == {20}
    assert len(race.looks) == 1
    assert len(race.still_in) == 12


def test_rounds_up_to_a_look_depend_on_no_result() -> None:
    one, other = (Race(SEED, entered(9), 4, 60) for _ in range(2))
    while not one.look_due:
        for table in one.start_round():
            one.record(table.number, EventResult(points(table, 0.3)))
    while not other.look_due:
        other.start_round()
    for table in reversed(other.tables):
        other.record(table.number, EventResult(points(table, 0.3)))
    assert one.tables == other.tables
    assert one.look() == other.look()


def test_time_is_a_budget_and_who_is_gone_keeps_a_place() -> None:
    race = Race(SEED, entered(9), 4, None)
    race.remove(8)
    for part in range(10):
        for table in race.start_round(used=100 * part):
            assert 8 not in table.bots
            race.record(table.number, EventResult(points(table, 0.3)))
        if race.look_due:
            race.look()
    race.look(used=1000)
    assert race.over
    assert race.standings()[-1] == (9, 8, False, 0, None, None, 0.0)


def test_who_leaves_after_a_few_matches_keeps_nobody_from_a_decision() -> None:
    race = Race(SEED, entered(5), 4, 100)
    while race.matches[0] < 1 or race.matches[1] < 1:
        for table in race.start_round():
            race.record(table.number, EventResult(points(table, 0.2)))
    race.remove(0)
    race.remove(1)
    play(race, 0.2)
    assert race.decided
    assert (race.looks[-1].best[0], race.looks[-1].best[1]) == (0, 0)
    assert sum(race.looks[-1].best) == pytest.approx(1)


def test_before_the_first_look_all_are_equal() -> None:
    assert {each.place for each in Race(SEED, entered(5), 4, 9).standings()} == {1}


def test_nonsense_is_refused_by_name() -> None:
    for bots, seats, budget, why in (
        (entered(1), 4, 9, "two bots or more, not 1"),
        ([*entered(3), entered(1)[0]], 4, 9, "'bot-00' is entered 2 times"),
        ([EventEntrant("a", "a", b"short"), *entered(1)], 4, 9, "the nonce of 'a' has 5 bytes"),
        (entered(3), 1, 9, "a table of 1"),
        (entered(3), 4, 0, "a budget of 0 matches"),
    ):
        with pytest.raises(EventError, match=why):
            Race(SEED, bots, seats, budget)
    with pytest.raises(EventError, match="32 bytes, not 5"):
        Race(b"short", entered(3), 4, 9)
    race = Race(SEED, entered(4), 4, 9)
    with pytest.raises(EventError, match="nothing to look at"):
        race.look()
    [table] = race.start_round()
    with pytest.raises(EventError, match="table 0 has no result yet"):
        race.look()
    with pytest.raises(EventError, match="4 seats, and its result 3"):
        race.record(table.number, EventResult((1, 2, 3)))
    race.record(table.number, EventResult((1, 2, 3, 4)))
    with pytest.raises(EventError, match="table 0 waits for no result"):
        race.record(table.number, EventResult((1, 2, 3, 4)))
    while not race.look_due:
        race.start_round()
    with pytest.raises(EventError, match="a look is due"):
        race.start_round()
