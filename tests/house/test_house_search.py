"""House bots that search: the worlds that they sample, choices that depend only on the view, and their cost."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from hashlib import sha256
from itertools import islice
from statistics import mean
from typing import Any

import pytest

from arena.house import HOUSE_BOTS, SEARCH_BOTS, named_bots
from arena.house.nullern.counter import CounterBot
from arena.house.nullern.search import NullernPlayouts
from arena.house.search import Playouts, ViewChance, best_of, ranked
from arena.house.sixth_sense.planner import PlannerBot
from arena.house.sixth_sense.search import SixthSensePlayouts
from arena.replay.render.show import RENDERERS
from bench.studies.strength import measure
from engine.deal import SeededDecks
from engine.endings.expectation import expected_costs
from engine.endings.solver import EndingSolver
from engine.game import OVER, Option
from engine.nullern import NULLERN
from engine.registry import GAMES
from tests.engine.nullern_table import CARDS, Table
from tests.games import SEARCHED

VARIANTS: list[dict[str, Option]] = [{"novice": True}, {"late_trump": True}, {"target": 30, "late_trump": True}]
TABLES: list[tuple[str, int, dict[str, Option]]] = [
    *((name, seats, {}) for name in SEARCHED for seats in GAMES[name].seats),
    *(("sixth_sense", 3, options) for options in VARIANTS),
]


def decisions(game: str, seats: int, seed: int, **options: Option) -> Iterator[tuple[Any, Sequence[int]]]:
    """Yield the view and the legal actions for each choice of a match between bots that do not search."""
    bot, state = HOUSE_BOTS[game][-1], GAMES[game].new(seats, SeededDecks(sha256(bytes([seed])).digest()), **options)
    while (seat := state.player) != OVER:
        view, legal = state.view(seat), state.legal(seat)
        if len(legal) > 1:
            yield view, legal
        state.apply(bot.decide(view, legal, b""), seat)


def playouts(view: Any) -> Playouts:
    if hasattr(view, "bids"):
        return NullernPlayouts(view, CounterBot())
    return SixthSensePlayouts(view, PlannerBot())


@pytest.mark.parametrize("game", SEARCHED)
def test_the_bot_that_searches_is_named_last_and_no_table_is_filled_with_it(game: str) -> None:
    assert named_bots(game) == (*HOUSE_BOTS[game], SEARCH_BOTS[game])
    assert SEARCH_BOTS[game] not in HOUSE_BOTS[game]


@pytest.mark.thorough
@pytest.mark.parametrize(("game", "seats", "options"), TABLES, ids=str)
def test_the_choice_is_legal_and_follows_from_the_view_alone(game: str, seats: int, options: dict[str, Option]) -> None:
    bot = SEARCH_BOTS[game]
    for view, legal in islice(decisions(game, seats, 1, **options), 0, None, 97):
        action = bot.decide(view, legal, bytes(32))
        assert action in tuple(legal)
        assert bot.decide(view._replace(), tuple(legal), b"\1" * 32) == action


@pytest.mark.parametrize(("game", "seats", "options"), TABLES, ids=str)
@pytest.mark.thorough
def test_an_imagined_game_looks_to_the_seat_as_its_own(game: str, seats: int, options: dict[str, Option]) -> None:
    own = "hand", "prediction", "plays", "leaders", "takers", "taken", "turned", "known_predictions"
    for view, _ in islice(decisions(game, seats, 2, **options), 0, None, 23):
        for world in islice(playouts(view).worlds(), 5):
            seen: Any = world.view(view.seat)
            assert [getattr(seen, name, None) for name in own] == [getattr(view, name, None) for name in own]
            assert world.player in (view.seat, *range(view.seat)), "nobody chooses before it but at once with it"


def trumps_of_seat_1(world: Any) -> int:
    return sum(card >= CARDS["blue 1"] for card in world.hands[1])


def test_imagined_hands_of_nullern_go_with_the_bids() -> None:
    """In the sampled worlds, a player who bid three of three has better cards than in an average possible hand."""
    table = Table("red 2, yellow 3, green 4", "red 20, blue 18, blue 19").bid(3)
    state = table.state
    assert state.player == 0
    view: Any = state.view(0)
    drawn = NULLERN.sample_many(view, ViewChance(view), 100), islice(playouts(view).worlds(), 100)
    plain, fitting = (mean(map(trumps_of_seat_1, worlds)) for worlds in drawn)
    assert fitting > 1.3 * plain


def test_predictions_of_6th_sense_are_those_of_the_planning_bot() -> None:
    asked = [(view, legal) for view, legal in decisions("sixth_sense", 3, 3) if view.prediction is None]
    for view, legal in asked:
        assert SEARCH_BOTS["sixth_sense"].decide(view, legal, b"") == PlannerBot().decide(view, legal, b"")


@pytest.mark.parametrize("game", SEARCHED)
def test_a_choice_costs_as_much_work_as_it_is_given(game: str) -> None:
    """The search stops after the game that it is simulating, so it exceeds its limit by at most one game."""
    for view, legal in islice(decisions(game, 4, 4), 0, 90, 30):
        imagined, most = playouts(view), 300
        bot = HOUSE_BOTS[game][-1]
        actions = ranked(bot.decide, view, legal, 3)
        best_of(actions, imagined, most, 10_000)
        assert imagined.work < most + 400


def test_the_actions_are_ranked_as_the_other_bot_would_take_them() -> None:
    view, legal = next(islice(decisions("sixth_sense", 2, 5), 30, None))
    bot = HOUSE_BOTS["sixth_sense"][-1]
    order = ranked(bot.decide, view, legal, len(legal))
    assert sorted(order) == sorted(legal)
    assert order[0] == bot.decide(view, legal, b"")
    assert ranked(bot.decide, view, legal, 2) == order[:2]


def test_the_chance_of_a_view_is_the_same_everywhere_and_reaches_every_number() -> None:
    view = Table("red 2, yellow 3", "red 20, blue 18").state.view(0)
    chance = ViewChance(view)
    drawn = [chance.randrange(7) for _ in range(400)]
    assert {*drawn} == {*range(7)}
    assert drawn[:8] == [5, 3, 4, 4, 0, 4, 1, 4]
    assert ViewChance(view._replace(dealer=0)).randrange(1 << 400) != ViewChance(view).randrange(1 << 400)


@pytest.mark.long
@pytest.mark.unmeasured
def test_near_the_end_of_a_round_of_nullern_it_loses_less_than_the_bot_that_plays_for_it() -> None:
    """The losses come from the exact solution of every two-seat ending with two cards in hand."""
    solver, lost = EndingSolver(RENDERERS["nullern"].worth), {bot.name: list[float]() for bot in named_bots("nullern")}
    for seed in range(3):
        for view, legal in decisions("nullern", 2, seed):
            if len(view.hand) != 2 or 0 in view.bids:
                continue
            found = expected_costs(NULLERN, view, solver, ViewChance(view), most=4000, drawn=100)
            for bot in named_bots("nullern"):
                lost[bot.name].append(found.costs[bot.decide(view, legal, b"")])
    means = {name: mean(costs) for name, costs in lost.items()}
    print(len(lost["house-search"]), means)
    assert means["house-search"] < means["house-counter"]


@pytest.mark.long
@pytest.mark.unmeasured
@pytest.mark.parametrize("game", SEARCHED)
def test_at_a_table_for_two_it_is_stronger_than_the_strongest_that_does_not_search(game: str) -> None:
    """The lead must be at least three standard errors, on deals that are played with both seatings."""
    found = measure(SEARCH_BOTS[game], 2, 24)
    print(found)
    assert found.better > 3 * found.error
