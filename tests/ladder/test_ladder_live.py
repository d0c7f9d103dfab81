"""The live Elo, compared with figures computed by hand and with laws that hold for any match."""

from __future__ import annotations

import math
from itertools import permutations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.live import NEW, SCALE, Rating, RatingChange, expected, update

ratings_ = st.builds(Rating, st.floats(-1000, 4000), st.floats(1, 350))
extreme_ratings = st.builds(Rating, st.floats(-1e300, 1e300), st.floats(1e-3, 1e6))


@st.composite
def results(draw: st.DrawFn, rating: st.SearchStrategy[Rating] = ratings_) -> tuple[list[Rating], list[int]]:
    """Return ratings and places by seat; ties share a place."""
    seats = draw(st.integers(2, 7))
    points = draw(st.lists(st.integers(0, 4), min_size=seats, max_size=seats))
    places = [1 + sum(other > own for other in points) for own in points]
    return draw(st.lists(rating, min_size=seats, max_size=seats)), places


def test_a_new_bot_has_1500_and_150() -> None:
    assert (NEW.value, NEW.deviation) == (1500, 150)


def test_the_scale_is_400_over_ln_10() -> None:
    assert math.isclose(math.exp(400 / SCALE), 10)


@pytest.mark.parametrize(
    ("rating", "opponent", "chance"),
    [(1500, 1500, 0.5), (1900, 1500, 10 / 11), (1500, 1900, 1 / 11), (2300, 1500, 100 / 101)],
)
def test_400_elo_are_odds_of_ten_to_one(rating: float, opponent: float, chance: float) -> None:
    assert expected(rating, opponent) == pytest.approx(chance, rel=1e-12)


def test_two_new_bots_by_hand() -> None:
    # w_2 = 1; 1/RD² = 1/22500 + 0.25/30177.87 = 5.27286e-5; K = RD²/c = 109.1714; R ± K/2
    winner, loser = update([NEW, NEW], [1, 2])
    assert winner.value == pytest.approx(1554.5857, abs=1e-4)
    assert loser.value == pytest.approx(1445.4143, abs=1e-4)
    assert winner.deviation == loser.deviation == pytest.approx(137.7135, abs=1e-4)


def test_an_upset_by_hand() -> None:
    # E = 1/11 and 10/11, E(1−E) = 10/121 for both; w_2 = 1
    # weak: 1/RD² = 1/10000 + 0.0826446/30177.87 = 1.0273859e-4; K = 56.03019; R = 1500 + K·10/11
    # strong: 1/RD² = 1/2500 + 2.73858e-6 = 4.0273859e-4; K = 14.29330; R = 1900 − K·10/11
    weak, strong = update([Rating(1500, 100), Rating(1900, 50)], [1, 2])
    assert weak.value == pytest.approx(1550.9365, abs=1e-4)
    assert weak.deviation == pytest.approx(98.6582, abs=1e-4)
    assert strong.value == pytest.approx(1887.0061, abs=1e-4)
    assert strong.deviation == pytest.approx(49.8297, abs=1e-4)


def test_four_new_bots_with_a_tie_by_hand() -> None:
    # w_4 = 3/5; information 0.6·3·0.25/c² = 1.491159e-5; RD² = 16847.487; K = 96.981932
    # Σ(S−E) of the places 1, 1, 3, 4: 2½−1½, 2½−1½, 1−1½, 0−1½
    after = update([NEW] * 4, [1, 1, 3, 4])
    surplus = [1, 1, -0.5, -1.5]
    gain = 0.6 * 96.981932
    assert [rating.value for rating in after] == [pytest.approx(1500 + gain * s, abs=1e-4) for s in surplus]
    assert [rating.deviation for rating in after] == [pytest.approx(129.79787, abs=1e-4)] * 4


def test_a_draw_of_equals_moves_nothing_but_the_deviation() -> None:
    after = update([NEW] * 5, [1] * 5)
    assert [rating.value for rating in after] == [1500.0] * 5
    assert all(rating.deviation < 150 for rating in after)


@pytest.mark.parametrize("seats", range(2, 8))
def test_the_weight_of_a_pair_is_3_over_seats_plus_1(seats: int) -> None:
    after = update([NEW] * seats, range(1, seats + 1))
    information = 3 / (seats + 1) * (seats - 1) / 4 / SCALE**2
    deviation = (150**-2 + information) ** -0.5
    assert after[0].deviation == pytest.approx(deviation, rel=1e-12)
    assert after[0].value - 1500 == pytest.approx(deviation**2 / SCALE * 3 / (seats + 1) * (seats - 1) / 2, rel=1e-12)


@given(results())
def test_gains_weighted_with_their_precision_add_up_to_nothing(result: tuple[list[Rating], list[int]]) -> None:
    # Σ ΔR_i/K_i = w_n Σ_ij (S_ij − E_ij) = 0, and K_i is proportional to RD_i² after the match
    before, places = result
    after = update(before, places)
    gains = [(new.value - old.value) / new.deviation**2 for old, new in zip(before, after, strict=True)]
    assert math.fsum(gains) == pytest.approx(0, abs=1e-9 * max(1.0, *map(abs, gains)))


@given(st.integers(2, 7), st.floats(0, 3000), st.floats(10, 350), st.data())
def test_among_equals_no_elo_is_made_or_lost(seats: int, value: float, deviation: float, data: st.DataObject) -> None:
    places = data.draw(st.permutations(range(1, seats + 1)))
    after = update([Rating(value, deviation)] * seats, places)
    assert math.fsum(rating.value - value for rating in after) == pytest.approx(0, abs=1e-6)


@given(results(), st.randoms(use_true_random=False))
def test_the_order_of_the_seats_changes_not_one_bit(result: tuple[list[Rating], list[int]], chance: object) -> None:
    before, places = result
    order = list(range(len(before)))
    chance.shuffle(order)  # type: ignore[attr-defined]  # Hypothesis does not type its random
    after = update(before, places)
    assert update([before[i] for i in order], [places[i] for i in order]) == tuple(after[i] for i in order)


@given(results())
def test_equal_bots_with_equal_places_stay_equal_and_a_better_place_gains_more(
    result: tuple[list[Rating], list[int]],
) -> None:
    _, places = result
    after = update([NEW] * len(places), places)
    for (place, one), (other_place, other) in permutations(zip(places, after, strict=True), 2):
        assert (one.value > other.value) == (place < other_place)
        assert (one.value == other.value) == (place == other_place)


@given(results(), st.data())
def test_every_match_narrows_every_deviation(result: tuple[list[Rating], list[int]], data: st.DataObject) -> None:
    before, places = result
    for old, new in zip(before, update(before, places), strict=True):
        assert new.deviation <= old.deviation


@given(results(extreme_ratings))
def test_extreme_ratings_stay_finite(result: tuple[list[Rating], list[int]]) -> None:
    for rating in update(*result):
        assert math.isfinite(rating.value)
        assert math.isfinite(rating.deviation)


@given(st.floats(-1e308, 1e308), st.floats(-1e308, 1e308))
def test_expectations_of_two_bots_add_up_to_one(rating: float, opponent: float) -> None:
    assert expected(rating, opponent) + expected(opponent, rating) == pytest.approx(1, abs=1e-12)


def test_a_bot_in_two_seats_is_one_node_by_hand() -> None:
    # Ada 1st, house 2nd and 3rd: w_3 = 3/4. Ada has two pairs, house has two (one per seat), the pair of its own two
    # seats does not count: both have information 0.75·2·0.25/c² and a surplus of ±1.
    ada, second, third = update([NEW] * 3, [1, 2, 3], ["ada", "house", "house"])
    variance = 1 / (150**-2 + 0.375 / SCALE**2)
    assert ada.value == pytest.approx(1500 + variance / SCALE * 0.75, rel=1e-12)
    assert second == third
    assert second.value == pytest.approx(1500 - variance / SCALE * 0.75, rel=1e-12)
    assert second.deviation == pytest.approx(variance**0.5, rel=1e-12)


def test_a_bot_alone_with_itself_keeps_its_rating() -> None:
    assert update([NEW] * 3, [1, 2, 3], [7, 7, 7]) == (NEW, NEW, NEW)


@given(results(), st.data())
def test_seats_of_one_bot_share_its_rating(result: tuple[list[Rating], list[int]], data: st.DataObject) -> None:
    pool, places = result
    bots = data.draw(st.lists(st.integers(0, len(pool) - 1), min_size=len(pool), max_size=len(pool)))
    after = update([pool[bot] for bot in bots], places, bots)
    assert len(set(zip(bots, after, strict=True))) == len(set(bots))


def test_a_frozen_bot_does_not_drift() -> None:
    rating = NEW
    steps = []
    for place in [1, 2] * 500:
        new, _ = update([rating, NEW], [place, 3 - place])
        steps.append(abs(new.value - rating.value))
        rating = new
    assert max(steps[-10:]) < 1 < min(steps[:5])


@pytest.mark.parametrize("seats", [0, 1, 8])
def test_a_match_has_2_to_7_seats(seats: int) -> None:
    with pytest.raises(ValueError, match=f"not {seats}"):
        update([NEW] * seats, [1] * seats)


def test_lengths_must_agree() -> None:
    with pytest.raises(ValueError, match="3 ratings, 2 places"):
        update([NEW] * 3, [1, 2])
    with pytest.raises(ValueError, match="2 bots"):
        update([NEW] * 3, [1, 2, 3], ["ada", "bob"])


def test_one_bot_cannot_have_two_ratings() -> None:
    with pytest.raises(ValueError, match="two ratings"):
        update([NEW, Rating(1600, 90)], [1, 2], ["ada", "ada"])


def test_a_change_is_what_was_won() -> None:
    assert RatingChange(NEW, Rating(1512.5, 140)).change == 12.5


@given(results(), st.data())
def test_a_spoilt_seat_loses_and_moves_nobody(result: tuple[list[Rating], list[int]], data: st.DataObject) -> None:
    before, places = result
    seats = range(len(places))
    spoilt = data.draw(st.lists(st.booleans(), min_size=len(seats), max_size=len(seats)))
    there = [place for place, gone in zip(places, spoilt, strict=True) if not gone]
    places = [
        len(there) + 1 if gone else 1 + sum(other < place for other in there)
        for place, gone in zip(places, spoilt, strict=True)
    ]
    after = update(before, places, spoilt=spoilt)
    # the result is the same for every strength and order of the vanished bots: only the pairs among the others count
    unknown = [Rating(0, 10) if gone else rating for rating, gone in zip(before, spoilt, strict=True)]
    again = update(unknown, places, spoilt=spoilt)
    for seat in seats:
        if not spoilt[seat]:
            assert after[seat] == again[seat]
        elif there:
            assert after[seat].value <= before[seat].value
        else:
            assert after[seat].value == before[seat].value


def test_a_spoilt_seat_by_hand() -> None:
    # w_3 = 3/4; each of the other seats has one pair left: information 0.75·0.25/c²; the spoilt seat has two, both lost
    lost, won, third = update([NEW] * 3, [3, 1, 2], spoilt=[True, False, False])
    one = 1 / (150**-2 + 0.75 * 0.25 / SCALE**2)
    two = 1 / (150**-2 + 0.75 * 0.50 / SCALE**2)
    assert won.value == pytest.approx(1500 + one / SCALE * 0.75 * 0.5)
    assert third.value == pytest.approx(1500 - one / SCALE * 0.75 * 0.5)
    assert lost.value == pytest.approx(1500 - two / SCALE * 0.75)
    with pytest.raises(ValueError, match="3 ratings"):
        update([NEW] * 3, [3, 1, 2], spoilt=[True, False])
