"""The solver of endings agrees with brute force over the reference games, also for seats that do not see all cards."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import count, islice, product
from math import comb
from random import Random
from typing import Any

import pytest

from engine.deal import SeededDecks
from engine.endings.expectation import all_worlds, expected_costs
from engine.endings.solver import EndingSolver, EndingTooLongError
from engine.game import Chance, ViewError
from engine.registry import GAMES
from tests.engine.endings.brute_force import best_line
from tests.engine.endings.played import endings, plain_worth_of, worth_of
from tests.games import THOUGHT_ABOUT

SIZES = [(name, seats) for name in THOUGHT_ABOUT for seats in GAMES[name].seats]
MANY = 10_000
"""Total number of endings that a long run compares."""


def compare(game: str, seats: int, endings_wanted: int) -> None:
    names = {action.name: number for number, action in enumerate(GAMES[game].actions)}
    solver, compared = EndingSolver(worth_of), 0
    cards = 3 if seats == 2 else 2
    for state, plain in islice(
        (each for seed in count() for each in endings(game, seats, seed, cards)), endings_wanted
    ):
        solved = solver.values(state)
        assert [*solved] == [*state.legal(state.player)]
        for action, values in solved.items():
            after = plain.clone()
            after.act(state.player, GAMES[game].actions[action].name)
            expected = best_line(after, names.__getitem__, plain_worth_of, plain.round)
            assert values == pytest.approx(expected), (state.view(state.player), action)
        compared += 1
    assert compared == endings_wanted


@pytest.mark.parametrize(("game", "seats"), SIZES)
@pytest.mark.thorough
def test_it_agrees_with_brute_force(game: str, seats: int) -> None:
    compare(game, seats, 12)


@pytest.mark.long
@pytest.mark.unmeasured
@pytest.mark.parametrize(("game", "seats"), SIZES)
def test_it_agrees_with_brute_force_on_many(game: str, seats: int) -> None:
    compare(game, seats, -(-MANY // len(SIZES)))


def first_ending(game: str, seats: int, cards: int, seed: int = 1) -> Any:
    return next(endings(game, seats, seed, cards))[0]


def test_it_leaves_the_state_as_it_was() -> None:
    state = first_ending("nullern", 3, 2)
    before = [state.view(seat) for seat in range(3)]
    EndingSolver(worth_of).values(state)
    assert [state.view(seat) for seat in range(3)] == before


def test_too_long_an_ending_is_refused_with_the_limit() -> None:
    with pytest.raises(EndingTooLongError, match="more than 10 lines of play: ask nearer to the round's end"):
        EndingSolver(worth_of, 10).values(first_ending("nullern", 4, 2))


def test_what_no_order_of_turns_describes_is_refused() -> None:
    state = GAMES["sixth_sense"].new(3, SeededDecks(bytes(32)))
    with pytest.raises(ValueError, match="where one seat is to choose, not 3"):
        EndingSolver(worth_of).values(state)


def test_two_seats_gain_what_the_other_loses() -> None:
    for values in EndingSolver(worth_of).values(first_ending("nullern", 2, 3)).values():
        assert values[0] == -values[1]


def two_cards_left() -> Any:
    return next(
        state
        for seed in count()
        for state, _ in endings("nullern", 2, seed, 2)
        if not len(state.plays) % 2 and state.hand_size == 2
    )


def test_all_worlds_are_those_that_sample_gives_and_as_often() -> None:
    """The other seat has two of the 77 unknown cards, and every pair is equally likely."""
    game, state = GAMES["nullern"], two_cards_left()
    view = state.view(state.player)
    worlds = all_worlds(game, view, 10_000)
    assert worlds is not None
    assert sum(share for share, _ in worlds) == 1
    shares = Counter[bytes]()
    for share, world in worlds:
        assert world.view(view.seat) == view
        other: Any = world.view(1 - view.seat)
        shares[other.hand] += share  # type: ignore[assignment]
    assert set(shares.values()) == {Fraction(1, comb(77, 2))}
    assert len(shares) == comb(77, 2)
    assert state.hands[1 - view.seat] in shares


def test_more_worlds_than_allowed_are_not_listed() -> None:
    state = two_cards_left()
    assert all_worlds(GAMES["nullern"], state.view(state.player), 5000) is None


class Coins:
    """A game whose hidden state is three coins, drawn one after another."""

    def sample(self, _: object, chance: Chance) -> Any:
        return [chance.randrange(2) for _ in range(3)]


def test_worlds_of_several_draws_are_listed_up_to_the_limit() -> None:
    coins: Any = Coins()
    assert all_worlds(coins, coins, 7) is None
    worlds = all_worlds(coins, coins, 8)
    assert worlds is not None
    assert {share for share, _ in worlds} == {Fraction(1, 8)}
    found: list[Any] = [world for _, world in worlds]
    assert sorted(found) == [*map(list, product((0, 1), repeat=3))]


def test_drawn_worlds_tell_what_all_worlds_do() -> None:
    """The exact expectation is within the error of the sampled one."""
    game, state, solver = GAMES["nullern"], two_cards_left(), EndingSolver(worth_of)
    view = state.view(state.player)
    exact = expected_costs(game, view, solver, Random(1), most=10_000, drawn=2)
    drawn = expected_costs(game, view, solver, Random(1), most=0, drawn=600)
    assert (exact.exact, drawn.exact, drawn.worlds) == (True, False, 600)
    assert min(exact.costs.values()) == min(drawn.costs.values()) == 0
    assert set(exact.errors.values()) == {0}
    assert exact.costs.keys() == drawn.costs.keys() == {*state.legal(state.player)}
    for action, cost in exact.costs.items():
        assert drawn.costs[action] == pytest.approx(cost, abs=4 * max(drawn.errors.values()) + 1e-9)


def test_a_view_of_another_game_is_refused() -> None:
    view = two_cards_left().view(0)
    with pytest.raises(ViewError, match="no view of 6th Sense"):
        expected_costs(GAMES["sixth_sense"], view, EndingSolver(worth_of), Random(1), most=10, drawn=10)


@pytest.mark.parametrize(("drawn", "words"), [(-1, "drawn is -1"), (0, "drawn is 0"), (1, "takes two worlds or more")])
def test_too_few_worlds_are_refused(drawn: int, words: str) -> None:
    state = two_cards_left()
    view, solver = state.view(state.player), EndingSolver(worth_of)
    with pytest.raises(ValueError, match=words):
        expected_costs(GAMES["nullern"], view, solver, Random(1), most=0, drawn=drawn)
    assert expected_costs(GAMES["nullern"], view, solver, Random(1), most=10_000, drawn=drawn).exact, "none is drawn"
