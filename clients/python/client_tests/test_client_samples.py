"""The samples on the real engine. They never break a rule, need little time, and differ in strength as documented."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from statistics import mean
from typing import Any, cast

import pytest
from arena_client import Bot, Decision, NullernView, View, nullern, sixth_sense
from arena_client.samples.counter_bot import CounterBot
from arena_client.samples.random_bot import RandomBot
from arena_client.samples.rule_bot import RuleBot
from arena_client.sixth_sense import points
from client_tests.shown import catalog, shown

from engine.deal import SeededDecks
from engine.game import Game
from engine.registry import GAMES

CATALOGS = {name: catalog(game) for name, game in GAMES.items()}


def message(game: str, view: Any) -> View:
    """Convert the engine's view to the message that a bot receives."""
    return shown(GAMES[game], view)


class SampledDecks:
    """Decks shuffled by the standard library."""

    def __init__(self, seed: int) -> None:
        self._seed = seed

    def __call__(self, number: int, size: int, count: int) -> list[int]:
        return random.Random(f"{self._seed} {number}").sample(range(size), count)

    def roll(self, number: int, roll: int, faces: int) -> int:
        return random.Random(f"{self._seed} {number} {roll}").randrange(faces)


def play(game: str, bots: Sequence[Bot], seed: int, **options: bool | int) -> tuple[Sequence[int], Sequence[int]]:
    """Play a match. Return points and places by seat."""

    state = GAMES[game].new(len(bots), SampledDecks(seed), **options)
    numbers = count(1)
    while seats := state.waiting():
        for seat in seats:
            legal = list(state.legal(seat))
            decision = Decision(1, next(numbers), CATALOGS[game], message(game, state.view(seat)), legal, 1000, 30000)
            action = bots[seat].decide(decision)
            assert action in legal
            state.apply(action, seat)
    return state.scores, state.ranking()


def options_of(game: Game) -> list[dict[str, bool | int]]:
    """Return sets of options: no option, then each option alone. Flags are inverted and the target score is low."""
    return [{}, *({spec.name: not spec.default if isinstance(spec.default, bool) else 12} for spec in game.options)]


@pytest.mark.parametrize(
    ("game", "seats", "options"),
    [(name, n, options) for name in RandomBot.games for n in GAMES[name].seats for options in options_of(GAMES[name])],
    ids=str,
)
@pytest.mark.thorough
def test_samples_play_every_kind_of_match_to_its_end(game: str, seats: int, options: dict[str, bool | int]) -> None:
    random.seed(seats)
    bots = [CounterBot(), RuleBot(), RandomBot(), CounterBot(), RuleBot(), RandomBot(), CounterBot()][:seats]
    assert {tuple(bot.games) for bot in bots} == {RandomBot.games}
    scores, places = play(game, bots, seats, **options)
    assert len(scores) == len(places) == seats


@pytest.mark.parametrize(("game", "matches"), [("sixth_sense", 30), ("nullern", 12)])
@pytest.mark.thorough
def test_samples_differ_in_strength_as_they_say(game: str, matches: int) -> None:
    """In mean place and points of seeded matches for four, counting beats rules, and rules beat random play."""
    random.seed(6)
    kinds = [RandomBot(), RuleBot(), CounterBot()]
    all_points, all_places = defaultdict(list), defaultdict(list)
    for seed in range(matches):
        seated = [*kinds, kinds[seed % 3]]  # the fourth seat changes from match to match
        random.Random(seed).shuffle(seated)
        for bot, score, place in zip(seated, *play(game, seated, seed), strict=True):
            all_points[bot.name].append(score)
            all_places[bot.name].append(place)
    assert mean(all_places["random"]) > mean(all_places["rules"]) + 0.5 > mean(all_places["counter"]) + 0.8
    assert mean(all_points["random"]) + 5 < mean(all_points["rules"]) < mean(all_points["counter"]) - 1


def test_a_sample_knows_what_a_round_scores() -> None:
    assert [points([4], tricks, novice=False) for tricks in (6, 2, 4, 0)] == [-2, -2, 4, -4]
    assert [points([6, 9], tricks, novice=False) for tricks in (7, 8, 0, 12, 6, 9)] == [-1, -1, -6, -3, 6, 9]
    assert [points([4], tricks, novice=True) for tricks in (4, 5, 2, 7, 0, 10)] == [6, 4, 3, 2, 1, 0]


NULLERN = CATALOGS["nullern"]
NULLERN_CARD = {card.name: index for index, card in enumerate(NULLERN.cards)}


def test_a_sample_knows_what_a_bid_of_nullern_scores() -> None:
    assert [nullern.points(bid, tricks) for bid, tricks in ((0, 0), (3, 3), (0, 2), (4, 0))] == [20, 13, -3, -5]


@pytest.mark.parametrize("bot", [RuleBot(), CounterBot()], ids=lambda bot: bot.name)
def test_a_sample_bids_nothing_on_a_card_it_cannot_see(bot: Bot) -> None:
    view = NullernView(seat=1, seats=2, round=19, rounds=20, cards_each=1, turned=0, taken=[0, 0])
    legal = [number for number, action in enumerate(NULLERN.actions) if action.kind == "bid" and action.value in (0, 1)]
    decision = Decision(1, 1, NULLERN, view, legal, 1000, 30000)
    assert decision.game.actions[cast("int", bot.decide(decision))].value == 0


@pytest.mark.parametrize("bot", [RuleBot(), CounterBot()], ids=lambda bot: bot.name)
def test_a_sample_that_bid_nothing_throws_its_highest_card_under_a_higher_one(bot: Bot) -> None:
    view = NullernView(
        seat=0,
        seats=2,
        cards_each=3,
        turned=NULLERN_CARD["green 20"],
        hand=[NULLERN_CARD[name] for name in ("red 1", "red 15", "blue 18")],
        bids={0: 0, 1: 2},
        plays=[NULLERN_CARD["yellow 17"]],
        leaders=[1],
        taken=[0, 0],
    )
    decision = Decision(1, 1, NULLERN, view, list(view.hand), 1000, 30000)
    assert bot.decide(decision) == NULLERN_CARD["red 15"]


@pytest.mark.parametrize("game", ["sixth_sense", "nullern"])
@pytest.mark.parametrize("seats", [2, 4, 6])
def test_who_takes_a_trick_is_who_took_it(game: str, seats: int) -> None:
    """Check the summary of every trick of a game at its last card."""
    chance, asked, hands = random.Random(seats), 0, 0
    state = GAMES[game].new(seats, SeededDecks(chance.randbytes(32)))
    while (player := state.player) >= 0:
        view = message(game, state.view(player))
        decision = Decision(1, 1, CATALOGS[game], view, [*state.legal(player)], 1000, 30000)
        assert [CATALOGS[game].cards.index(card) for card in decision.hand] == list(view.hand)
        hands += bool(decision.hand)
        for trick, took in enumerate(view.takers):
            lay: View = type(view).FromString(view.SerializeToString())
            del lay.plays[(trick + 1) * seats :], lay.takers[trick:], lay.leaders[trick + 1 :]
            if isinstance(lay, NullernView):
                found = nullern.taker(CATALOGS[game], lay)
            else:
                table = sixth_sense.read(CATALOGS[game], lay)
                found = sixth_sense.taker(table.trick, table.trump)
            assert (seats if found is None else found) == took
            asked += 1
        state.apply(chance.choice([*state.legal(player)]), player)
    assert asked > 50
    assert hands > 20
