"""The searching sample follows the rules and the clock, answers batches, and beats the samples that do not search."""

from __future__ import annotations

import importlib
import random
import sys
from collections.abc import Iterator
from statistics import mean
from typing import Any, cast

import pytest
from arena_client import Decision
from arena_client.engine import EngineMissingError
from arena_client.samples import search_bot
from arena_client.samples.counter_bot import CounterBot, outlook_of
from arena_client.samples.playouts import Playouts, take_or_duck
from arena_client.samples.playouts_nullern import NullernPlayouts, of_use
from arena_client.samples.search_bot import SearchBot
from client_tests.test_client_samples import CATALOGS, SampledDecks, message, options_of

from engine.deal import SeededDecks
from engine.game import OVER
from engine.nullern import NULLERN
from engine.nullern.cards import BID
from engine.nullern.state import NullernState
from engine.registry import GAMES

AGES = 3_600_000
"""Time in milliseconds that suffices for every search."""


def asked(game: str, state: Any, soft_ms: int = AGES, bank_ms: int = 0) -> Decision:
    seat = state.player
    return Decision(1, 1, CATALOGS[game], message(game, state.view(seat)), [*state.legal(seat)], soft_ms, bank_ms)


def decisions(game: str, seats: int, seed: int = 1, **options: bool | int) -> Iterator[Decision]:
    """Yield the decisions of a game that is played at random."""
    chance, state = random.Random(seed), GAMES[game].new(seats, SampledDecks(seed), **options)
    while state.player != OVER:
        yield asked(game, state)
        state.apply(chance.choice([*state.legal(state.player)]), state.player)


@pytest.mark.parametrize(
    ("game", "seats", "options"),
    [(name, seats, options) for name, game in GAMES.items() for seats in game.seats for options in options_of(game)],
    ids=str,
)
@pytest.mark.thorough
def test_it_plays_every_kind_of_match(
    monkeypatch: pytest.MonkeyPatch, game: str, seats: int, options: dict[str, bool | int]
) -> None:
    monkeypatch.setattr(search_bot, "ROUNDS", (1,))
    monkeypatch.setattr(search_bot, "CHOICES", dict.fromkeys(search_bot.CHOICES, (2, 0.0)))
    every = [each for number, each in enumerate(decisions(game, seats, **options)) if number % 5 == 0]
    random.seed(1)
    answers = SearchBot().decide_many(every)
    assert all(answer in decision.legal for answer, decision in zip(answers, every, strict=True))


@pytest.mark.parametrize("game", search_bot.PLAYOUTS)
def test_without_time_it_plays_like_the_counter_and_imagines_nothing(
    monkeypatch: pytest.MonkeyPatch, game: str
) -> None:
    def never(*_: object) -> None:
        raise AssertionError("a game was imagined")

    monkeypatch.setattr(Playouts, "worths", never)
    every = [*decisions(game, 2)][:30]
    for decision in every:
        decision.soft_ms = 0
    worth = {id(each): outlook_of(each.game, each.view) for each in every}
    for decision, answer in zip(every, SearchBot().decide_many(every), strict=True):
        outlook = worth[id(decision)]
        assert outlook is not None
        worths = [outlook.worth_of(action) for action in decision.actions]
        assert worths[decision.legal.index(answer)] == max(worths)


def test_time_and_bank_say_how_long_it_looks(monkeypatch: pytest.MonkeyPatch) -> None:
    """The clock advances one second per sampled game, so the bot samples as many games as it has spare seconds."""
    now, imagined = [0.0], [0]

    def worths(_: object, choices: list[int]) -> dict[int, float]:
        now[0] += 1
        imagined[0] += 1
        return dict.fromkeys(choices, 0.0)

    monkeypatch.setattr("arena_client.samples.search_bot.time.monotonic", lambda: now[0])
    monkeypatch.setattr(Playouts, "worths", worths)
    monkeypatch.setattr(search_bot, "ROUNDS", (1,) * 100)
    monkeypatch.setattr(search_bot, "CHOICES", {"bid": (2, 1.0)})
    first = next(decisions("nullern", 2))
    for soft, bank, games in ((10_000, 0, 5), (10_000, 500_000, 10), (0, 200_000, 2), (0, 0, 0)):
        first.soft_ms, first.bank_ms, imagined[0] = soft, bank, 0
        SearchBot().decide_many([first])
        assert imagined[0] == games
    first.soft_ms, imagined[0] = 10_000, 0
    SearchBot().decide_many([first, first])
    assert imagined[0] == 5, "two decisions share the time of one"


def test_of_imagined_games_it_takes_one_that_fits_the_bids() -> None:
    """In sampled games, a seat that bid all ten tricks gets better cards than a seat that bid none."""

    def strength(bid: int) -> float:
        state: Any = NULLERN.new(2, SeededDecks(bytes(32)))
        while state.round != 9:
            state.apply(state.fallback(state.player), state.player)
        bidder = state.player
        state.apply(BID + bid, bidder)
        playouts, seen = NullernPlayouts(state.view(1 - bidder)), list[float]()
        chance = random.Random(bid)
        for _ in range(40):
            fits: list[Any] = [NULLERN.sample(playouts.view, chance) for _ in range(playouts.tried)]
            seen.append(playouts.strength(min(fits, key=playouts.misfit).hands[bidder]))
        return mean(seen)

    assert strength(10) > strength(4) + 0.5 > strength(0) + 1


def nullern_view(round_: int, scores: tuple[int, int], hupfers: tuple[int, int] = (0, 0)) -> Any:
    """Return the first view in a two-seat round of Nullern that begins with these scores and Hupfers."""
    state = NullernState(2, SeededDecks(bytes(32)), round_, scores, bytes(hupfers))
    return state.view(state.player)


def test_points_are_worth_what_they_do_for_the_match() -> None:
    def worth(round_: int, lead: int, more: int) -> float:
        view = nullern_view(round_, (100, 100 + lead) if round_ % 2 == 0 else (100 + lead, 100))
        points = [0, more] if view.seat else [more, 0]
        return NullernPlayouts(view).worth(points)

    assert worth(0, 0, 0) == 0.5
    assert worth(0, 0, 10) == pytest.approx(1 - worth(0, 0, -10))
    assert worth(18, 0, 10) > worth(0, 0, 10) > 0.5, "late, a point does more"
    assert worth(18, 60, 10) - worth(18, 60, 0) < 0.01, "and nothing where the match is won"
    assert [worth(19, 10, more) for more in (-9, -10, -11)] == [1, 0.5, 0], "after the last round nothing is open"
    hupfers = NullernPlayouts(nullern_view(18, (100, 110), (0, 2)))
    assert hupfers.worth([0, 0]) == 0.5, "a missed bid costs what it will"


@pytest.mark.parametrize(("lead", "bid"), [(-5, 0), (5, 0), (10, 1), (20, 1), (23, 1)])
def test_in_the_blind_round_it_bids_for_the_match_and_not_for_points(lead: int, bid: int) -> None:
    """Against a bid of 0, a bid of 1 loses 1 or 9 points. A bid of 0 wins or loses 24, so it can lose the match."""
    random.seed(1)
    state = NullernState(2, SeededDecks(bytes(32)), 19, (100, 100 + lead))
    first = state.player
    state.apply(BID, first)
    state.scores = (100, 100 + lead) if state.player == 1 else (100 + lead, 100)
    (action,) = SearchBot().decide_many([asked("nullern", state)])
    assert action == BID + bid


def test_without_the_rules_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [*sys.modules]:
        if name.startswith("arena_client.samples.playouts"):
            monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "engine.game", None)
    with pytest.raises(EngineMissingError, match=r"run pip install \./engine"):
        importlib.import_module("arena_client.samples.playouts_nullern")


def test_the_plain_rule_takes_what_is_of_use_and_ducks_the_rest() -> None:
    ranks, legal = bytes(range(20)), [3, 7, 9]
    assert take_or_duck(legal, ranks, 5, wanted=True, last=True) == 7, "as cheaply as it can"
    assert take_or_duck(legal, ranks, 5, wanted=True, last=False) == 9
    assert take_or_duck(legal, ranks, 12, wanted=True, last=True) == 3, "nothing to be had"
    assert take_or_duck(legal, ranks, 8, wanted=False, last=True) == 7, "the highest that does not take it"
    assert take_or_duck(legal, ranks, 1, wanted=False, last=False) == 3
    assert take_or_duck(legal, ranks, 1, wanted=False, last=True) == 9, "it must take it, so with the highest"


def test_a_trick_is_of_use_until_the_bid_is_kept_and_against_a_rival_that_needs_it() -> None:
    assert of_use(2, -1, 5, 0, 4, 5)
    assert not of_use(0, -1, 5, 0, 4, 5)
    assert of_use(0, -1, 5, 1, 4, 3), "the bid is lost, and every trick a point"
    assert not of_use(0, 4, 4, 0, 2, 1), "the last trick: each keeps its bid without it"
    assert of_use(0, 4, 4, 0, 2, 4), "a bid of all tricks is the first to be broken"


@pytest.mark.long
@pytest.mark.unmeasured
@pytest.mark.parametrize(("game", "deals"), [("sixth_sense", 20), ("nullern", 60)])
def test_it_beats_the_counting_sample(game: str, deals: int) -> None:
    random.seed(1)
    bots, ahead = (SearchBot(), CounterBot()), list[float]()
    for deal in range(deals):
        for own in (0, 1):
            state = GAMES[game].new(2, SampledDecks(deal))
            while (seat := state.player) != OVER:
                action = cast("int", bots[seat != own].decide(asked(game, state)))
                state.apply(action, seat)
            ahead.append(state.scores[own] - state.scores[1 - own])
    assert mean(ahead) > 2, ahead
