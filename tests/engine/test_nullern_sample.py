"""Sampled games of Nullern: exactly the games that a seat's view allows, each equally often."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import combinations
from math import sqrt
from random import Random
from typing import cast

import pytest

from engine.deal import SeededDecks
from engine.game import OVER, SeatView, ViewError
from engine.nullern import NULLERN, NullernView
from engine.nullern.state import NullernState
from engine.sixth_sense import SIXTH_SENSE
from tests.engine.nullern_table import BLIND_ROUND, CARDS, Table, new, pass_by
from tests.oracles.nullern import PlainGame, Trick, card_named

PLAIN = [card_named(card.name) for card in NULLERN.cards]
Hands = tuple[tuple[int, ...], ...]


def sampled(view: SeatView, random: Random) -> NullernState:
    state = NULLERN.sample(view, random)
    assert isinstance(state, NullernState)
    assert state.report is None
    return state


def truths(view: NullernView) -> Iterator[Hands]:
    """Return all hands by seat that fit the view. The reference implementation decides card by card which plays were
    legal.
    """
    seen = {*view.plays, *view.hand, view.turned}
    unseen = [card for card in range(len(CARDS)) if card not in seen]
    tricks = []
    for number, leader in enumerate(view.leaders):
        cards = view.plays[number * view.seats : (number + 1) * view.seats]
        tricks.append([((leader + place) % view.seats, PLAIN[card]) for place, card in enumerate(cards)])

    def fits(seat: int, hand: tuple[int, ...]) -> bool:
        held = [PLAIN[card] for card in hand]
        plain = PlainGame(view.seats, [PLAIN])
        plain.turned = PLAIN[view.turned]
        plain.bids = [(0, 0)] * view.seats
        for plays in reversed(tricks):
            for place, (player, card) in enumerate(plays):
                if player == seat:
                    held.append(card)
                    plain.hands[seat] = held
                    plain.tricks = [Trick(plays[0][0], plays[:place])]
                    if f"{card[0]} {card[1]}" not in plain.legal(seat):
                        return False
        return True

    def hands(seat: int, left: list[int]) -> Iterator[Hands]:
        if seat == view.seats:
            yield ()
            return
        size = view.hand_size - sum(player == seat for plays in tricks for player, _ in plays)
        blind = view.round == BLIND_ROUND
        for hand in [tuple(view.hand)] if seat == view.seat and not blind else combinations(left, size):
            if blind or fits(seat, hand):
                for others in hands(seat + 1, [card for card in left if card not in hand]):
                    yield (hand, *others)

    return hands(0, unseen)


def assert_uniform(view: NullernView, fitting: set[Hands], random: Random) -> None:
    """Sample many games. Check that all possible games occur, that no others do, and that none occurs too often."""
    each = 12
    draws = each * len(fitting)
    for states in ([sampled(view, random) for _ in range(draws)], NULLERN.sample_many(view, random, draws)):
        found = Counter(tuple(tuple(hand) for hand in cast("NullernState", state).hands) for state in states)
        assert found.keys() == fitting
        chi_square = sum((found[truth] - each) ** 2 / each for truth in fitting)
        freedom = len(fitting) - 1
        assert abs(chi_square - freedom) < 5 * sqrt(2 * freedom) + 5


@pytest.mark.unmeasured
@pytest.mark.parametrize("seats", NULLERN.seats)
def test_every_truth_is_equally_likely(seats: int) -> None:
    random = Random(seats)
    bound, free = 0, 0
    while bound < 2 or free < 2:
        state = pass_by(new(seats, SeededDecks(random.randbytes(32))), random.choice((0, 1, 2, 3, 18)))
        number = state.round
        while state.round == number:
            view = state.view(state.player)
            unknown = sum(len(hand) for seat, hand in enumerate(state.hands) if seat != view.seat)
            if view.leaders and unknown == 1:
                fitting = set(truths(view))
                shown = len(fitting) < len(CARDS) - len(view.plays) - len(view.hand) - 1
                if bound < 2 if shown else free < 2:
                    assert_uniform(view, fitting, random)
                    bound += shown
                    free += not shown
            state.apply(random.choice(state.legal(state.player)), state.player)


def test_N5_who_did_not_follow_a_trump_holds_none() -> None:
    table = Table("blue 1, red 5", "red 2, red 3", turned="blue 20").bid(2, 0).play("blue 1", "red 2")
    view = table.state.view(0)
    assert {hands[1] for hands in truths(view)} == {
        (card,) for name, card in CARDS.items() if "blue" not in name and name not in ("red 2", "red 5")
    }
    assert_uniform(view, set(truths(view)), Random(1))


def test_N5_who_did_not_follow_another_colour_may_hold_it() -> None:
    table = Table("red 5, blue 1", "green 2, red 3", turned="blue 20").bid(2, 0).play("red 5", "green 2")
    view = table.state.view(1)
    assert any("red" in PLAIN[hands[0][0]] for hands in truths(view))
    assert_uniform(view, set(truths(view)), Random(1))


@pytest.mark.parametrize("seats", NULLERN.seats)
def test_N8_nobody_knows_the_own_card_of_the_blind_round(seats: int) -> None:
    random = Random(seats)
    state = pass_by(new(seats, SeededDecks(bytes(32))), BLIND_ROUND)
    while state.player != OVER:
        view = state.view(state.player)
        own = {sampled(view, random).hands[view.seat] for _ in range(60)}
        assert len(own) > 20, "any card nobody has seen"
        assert not {card for hand in own for card in hand} & {view.turned, *view.plays}
        state.apply(random.choice(state.legal(state.player)), state.player)


@pytest.mark.parametrize("seats", NULLERN.seats)
def test_a_sampled_game_gives_the_same_view_and_can_be_played_to_the_end(seats: int) -> None:
    random = Random(seats)
    state = new(seats, SeededDecks(bytes(32)))
    while state.player != OVER:
        asked = state.player
        for seat in {asked, random.randrange(seats)}:
            view = state.view(seat)
            other = sampled(view, random)
            assert other.view(seat) == view
            assert other.player == asked
            assert seat != asked or other.legal(seat) == state.legal(seat)
            if random.random() < 0.05:
                pass_by(other, 99)
                assert other.player == OVER
                assert min(other.ranking()) == 1
        state.apply(random.choice(state.legal(asked)), asked)
    for seat in range(seats):
        with pytest.raises(ViewError, match="the game is over"):
            NULLERN.sample(state.view(seat), random)


def test_later_rounds_are_dealt_by_chance() -> None:
    view = new(2, SeededDecks(bytes(32))).view(0)
    seconds = {tuple(pass_by(sampled(view, Random(seed)), 1).hands) for seed in range(5)}
    assert len(seconds) == 5
    assert pass_by(sampled(view, Random(3)), 1).hands == pass_by(sampled(view, Random(3)), 1).hands


def test_views_that_no_game_has_shown_are_refused() -> None:
    view = new(2, SeededDecks(bytes(32))).view(0)
    with pytest.raises(ViewError, match="a SixthSenseView is no view of Nullern"):
        NULLERN.sample(SIXTH_SENSE.new(2, SeededDecks(bytes(32))).view(0), Random(1))
    with pytest.raises(ViewError, match="no deal fits"):
        NULLERN.sample(view._replace(hand_size=80), Random(1))
