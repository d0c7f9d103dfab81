"""The adjusted score: its mean equals the plain score's exactly, its variance is lower, and it uses no later
matches.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from itertools import product
from random import Random
from statistics import fmean, variance

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from arena.ladder.luck import NO_ADJUSTMENT, SHRINKAGE, Luck

Match = tuple[tuple[int, ...], tuple[float, ...]]
"""Scores and baselines."""


def matches_of(seats: int, count: int, seed: int, noise: int = 10) -> Iterator[Match]:
    """Simulate matches. A score is a strength plus the cards' value plus noise."""
    chance = Random(seed)
    for _ in range(count):
        rich = chance.randint(0, 12)
        cards = [rich + chance.randint(0, 20) + 3 * seat for seat in range(seats)]
        scores = tuple(chance.choice((0, 15)) + card + chance.randint(-noise, noise) for card in cards)
        yield scores, tuple(cards)


DEALS = ((0.125, (9, -1)), (0.875, (-3, 2)))
"""Probabilities and values of two seats' cards. The distribution is asymmetric, differs by seat, and has a mean other
than 0.
"""
LENGTH = 9


def test_no_score_changes_on_average_whoever_is_sent_to_play() -> None:
    """All courses of nine matches, weighted by their probabilities. The players of each match depend on all earlier
    results.
    """
    shifts = [[0.0, 0.0] for _ in range(LENGTH)]
    moved = 0.0
    for course in product(DEALS, repeat=LENGTH):
        luck, likely, form = Luck(2), math.prod(chance for chance, _ in course), 0
        for shift, (_, cards) in zip(shifts, course, strict=True):
            strong = form % 3
            scores = (strong + cards[0] * cards[0] - cards[1], 2 - strong + cards[1])
            form += scores[0] + 2 * scores[1]
            for seat, (adjusted, plain) in enumerate(zip(luck.take(scores, cards), scores, strict=True)):
                shift[seat] += likely * (adjusted - plain)
                moved += likely * abs(adjusted - plain)
    assert moved > 1
    assert [value for shift in shifts for value in shift] == [pytest.approx(0, abs=1e-12)] * (2 * LENGTH)


@pytest.mark.parametrize("seats", [2, 4, 7])
def test_the_variance_falls_by_what_the_cards_explain(seats: int) -> None:
    luck = Luck(seats)
    plain: list[float] = []
    adjusted: list[float] = []
    for scores, cards in matches_of(seats, 600, seats):
        plain.append(scores[0])
        adjusted.append(luck.take(scores, cards)[0])
    left = variance(adjusted[100:]) / variance(plain[100:])
    noise = (21**2 - 1) / 12 + 15**2 / 4  # the variance of a score given the cards
    cards_worth = (13**2 - 1) / 12 + (21**2 - 1) / 12
    assert left == pytest.approx(noise / (noise + cards_worth), rel=0.2)
    assert fmean(adjusted) == pytest.approx(fmean(plain), abs=1.5)


def test_luck_that_explains_nothing_costs_next_to_nothing() -> None:
    chance = Random(5)
    luck = Luck(3)
    plain: list[float] = []
    adjusted: list[float] = []
    for _ in range(500):
        scores = [chance.randint(-20, 20) for _ in range(3)]
        plain += scores
        adjusted += luck.take(scores, [chance.randint(-20, 20) for _ in range(3)])
    assert variance(adjusted) < 1.02 * variance(plain)


def by_hand(past: Sequence[Match], scores: Sequence[float], cards: Sequence[float]) -> list[float]:
    """Compute the documented formula in floating point from the list of all earlier matches."""
    fitted = 2 ** (len(past).bit_length() - 2) if len(past) > 1 else 0
    seats = range(len(scores))
    old, young = past[:fitted], past[fitted:]
    if not old:
        return list(scores)

    def slope(groups: Sequence[Sequence[tuple[float, float]]]) -> float:
        cross = square = 0.0
        for pairs in groups:
            y, b = fmean(pair[0] for pair in pairs), fmean(pair[1] for pair in pairs)
            cross += sum((pair[0] - y) * (pair[1] - b) for pair in pairs)
            square += sum((pair[1] - b) ** 2 for pair in pairs)
        return cross / square * fitted / (fitted + SHRINKAGE) if square else 0.0

    share = slope([[(y[seat] - fmean(y), b[seat] - fmean(b)) for y, b in old] for seat in seats])
    table = slope([[(fmean(y), fmean(b)) for y, b in old]])
    usual = [fmean(b[seat] for _, b in young) for seat in seats]
    rich = fmean(cards) - fmean(usual)
    return [scores[s] - share * (cards[s] - usual[s] - rich) - table * rich for s in seats]


@settings(max_examples=20)
@given(st.integers(2, 7), st.integers(0, 40), st.integers(0, 10**6))
def test_taking_matches_one_by_one_is_the_formula_over_all_of_them(seats: int, count: int, seed: int) -> None:
    luck, past = Luck(seats), list[Match]()
    for scores, cards in matches_of(seats, count, seed):
        assert list(luck.take(scores, cards)) == pytest.approx(by_hand(past, scores, cards), abs=1e-9)
        past.append((scores, cards))
    assert luck.matches == count


def test_the_same_matches_give_the_same_bits_whether_baselines_are_sums_or_means() -> None:
    means, sums = Luck(5), Luck(5)
    for scores, cards in matches_of(5, 70, 1):
        assert means.take(scores, [card / 8 for card in cards]) == sums.take(scores, cards)
    assert sums.coefficients.share * 8 == means.coefficients.share != 0


def test_the_first_four_matches_are_left_as_they_are() -> None:
    luck = Luck(3)
    for number, (scores, cards) in enumerate(matches_of(3, 5, 1)):
        assert (luck.coefficients == NO_ADJUSTMENT) == (number < 4)
        assert (luck.take(scores, cards) == scores) == (number < 4)


@settings(max_examples=20)
@given(st.lists(st.integers(-100, 100), min_size=3, max_size=3))
def test_a_match_has_no_part_in_its_own_adjustment(scores: list[int]) -> None:
    one, other = Luck(3), Luck(3)
    for match in matches_of(3, 30, 2):
        one.take(*match)
        other.take(*match)
    off = [score - adjusted for score, adjusted in zip(scores, one.take(scores, (1, 7, 4)), strict=True)]
    assert off == pytest.approx([0 - adjusted for adjusted in other.take((0, 0, 0), (1, 7, 4))], abs=1e-10)


def test_baselines_that_never_differ_change_nothing() -> None:
    luck = Luck(2)
    for scores, _ in matches_of(2, 40, 3):
        assert luck.take(scores, (5, 5)) == scores


def test_baselines_that_differ_by_seat_only_change_nothing() -> None:
    luck = Luck(2)
    for scores, _ in matches_of(2, 40, 3):
        assert luck.take(scores, (5, 8)) == scores


def test_a_wrong_baseline_teaches_nothing() -> None:
    luck = Luck(2)
    with pytest.raises(ValueError, match="baselines must be finite numbers, not nan"):
        luck.take((1, 2), (1.0, math.nan))
    with pytest.raises(ValueError, match="scores must be finite numbers, not -inf"):
        luck.take((-math.inf, 2), (1, 2))
    with pytest.raises(ValueError, match="3 baselines for a table of 2 seats"):
        luck.take((1, 2), (1, 2, 3))
    with pytest.raises(ValueError, match="1 scores for a table of 2 seats"):
        luck.take((1,), (1, 2))
    assert luck.matches == 0


@pytest.mark.parametrize("seats", [1, 0, -1])
def test_a_table_has_two_seats_at_least(seats: int) -> None:
    with pytest.raises(ValueError, match=f"not {seats}"):
        Luck(seats)
