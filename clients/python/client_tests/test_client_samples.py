"""The samples on the real engine: they never break a rule, need little time, and differ in strength as they say."""

from __future__ import annotations

import random
from collections import defaultdict
from collections.abc import Sequence
from itertools import count
from statistics import mean
from typing import Any

import pytest
from arena_client import Action, Bot, Card, Catalog, Decision, SixthSenseView
from arena_client.samples.counter_bot import CounterBot
from arena_client.samples.random_bot import RandomBot
from arena_client.samples.rule_bot import RuleBot
from arena_client.samples.sixth_sense import Laid, points, read, taker

from engine.registry import GAMES

GAME = GAMES["sixth_sense"]
CATALOG = Catalog(
    GAME.name,
    GAME.title,
    GAME.seats.start,
    GAME.seats.stop - 1,
    tuple(GAME.colours),
    tuple(Card(card.name, card.colour, tuple(card.values)) for card in GAME.cards),
    tuple(Action(each.name, each.kind, each.card, each.value, each.place) for each in GAME.actions),
)
CARD = {card.name: index for index, card in enumerate(CATALOG.cards)}
ACTION = {action.name: index for index, action in enumerate(CATALOG.actions)}
FIELDS = [field.name for field in SixthSenseView.DESCRIPTOR.fields]


def message(view: Any) -> SixthSenseView:
    """The engine's view as a bot gets it: the fields have the same names."""
    return SixthSenseView(**{name: getattr(view, name) for name in FIELDS if getattr(view, name) is not None})


def play(bots: Sequence[Bot], seed: int, **options: bool | int) -> tuple[Sequence[int], Sequence[int]]:
    """One match: points and places by seat."""

    def deck(number: int, size: int, cards: int) -> list[int]:
        return random.Random(f"{seed} {number}").sample(range(size), cards)

    state = GAME.new(len(bots), deck, **options)
    numbers = count(1)
    while seats := state.waiting():
        for seat in seats:
            legal = list(state.legal(seat))
            decision = Decision(1, next(numbers), CATALOG, message(state.view(seat)), legal, 1000, 30000)
            action = bots[seat].decide(decision)
            assert action in legal
            state.apply(action, seat)
    return state.scores, state.ranking()


@pytest.mark.parametrize("seats", GAME.seats)
@pytest.mark.parametrize(
    "options",
    [{}, {"novice": True}, {"late_trump": True}, {"target": 12}],
    ids=["plain", "novice", "late trump", "target"],
)
def test_samples_play_every_kind_of_match_to_its_end(seats: int, options: dict[str, bool | int]) -> None:
    random.seed(seats)
    bots = [CounterBot(), RuleBot(), RandomBot(), CounterBot(), RuleBot(), RandomBot()][:seats]
    scores, places = play(bots, seats, **options)
    assert len(scores) == len(places) == seats


MATCHES = 30


def test_samples_differ_in_strength_as_they_say() -> None:
    """Random, then rules, then counting: in mean place and points of seeded matches for four."""
    random.seed(6)
    kinds = [RandomBot(), RuleBot(), CounterBot()]
    all_points, all_places = defaultdict(list), defaultdict(list)
    for seed in range(MATCHES):
        seated = [*kinds, kinds[seed % 3]]  # the fourth by turns
        random.Random(seed).shuffle(seated)
        for bot, score, place in zip(seated, *play(seated, seed), strict=True):
            all_points[bot.name].append(score)
            all_places[bot.name].append(place)
    assert mean(all_places["random"]) > mean(all_places["rules"]) + 0.5 > mean(all_places["counter"]) + 0.8
    assert mean(all_points["random"]) + 5 < mean(all_points["rules"]) < mean(all_points["counter"]) - 1


def laid(*cards: tuple[str, int]) -> list[Laid]:
    return [Laid(seat, seat, CATALOG.colours.index(colour), value) for seat, (colour, value) in enumerate(cards)]


BLUE = CATALOG.colours.index("blue")


@pytest.mark.parametrize(
    ("trick", "seat"),
    [
        ([("yellow", 3), ("green", 11), ("yellow", 5), ("blue", 2)], 3),  # a trump
        ([("yellow", 3), ("green", 11), ("yellow", 5), ("red", 12)], 2),  # the highest of the led colour
        ([("blue", 10), ("red", 4), ("green", 1), ("red", 1)], 3),  # reversed: of equally low cards the last
        ([("yellow", 4), ("yellow", 3), ("red", 14), ("green", 4)], 0),  # two 4s change nothing
    ],
)
def test_a_sample_knows_who_takes_a_trick(trick: list[tuple[str, int]], seat: int) -> None:
    assert taker(laid(*trick), BLUE) == seat


def test_nobody_takes_an_empty_trick() -> None:
    assert taker([], BLUE) is None


def test_a_sample_knows_what_a_round_scores() -> None:
    assert [points([4], tricks, novice=False) for tricks in (6, 2, 4, 0)] == [-2, -2, 4, -4]
    assert [points([6, 9], tricks, novice=False) for tricks in (7, 8, 0, 12, 6, 9)] == [-1, -1, -6, -3, 6, 9]
    assert [points([4], tricks, novice=True) for tricks in (4, 5, 2, 7, 0, 10)] == [6, 4, 3, 2, 1, 0]


def test_a_sample_reads_the_table_from_a_view() -> None:
    """Seat 2 of 4 is to play; seat 3 led the trick before and seat 0 did not follow; now the lead is blocked."""
    view = SixthSenseView(
        seat=2,
        seats=4,
        turned=CARD["blue 14"],
        hand=[CARD["red 1"]],
        prediction=CARD["red 2"],
        plays=[
            *(ACTION[name] for name in ("green 7", "red 8", "green 3", "green 6 as 9")),
            *(ACTION[name] for name in ("yellow 3", "a 0 blocks place 1", "purple 5")),
        ],
        leaders=[3, 3],
        takers=[2],
        known_predictions=[0, CARD["blue 1"] + 1, CARD["red 2"] + 1, 0],
    )
    table = read(CATALOG, view)
    assert table.trump == BLUE
    assert table.trick == [Laid(1, 2, CATALOG.colours.index("purple"), 5)]
    assert table.to_come == []
    assert table.void == {(0, CATALOG.colours.index("green"))}
    seen = {"red 1", "red 2", "blue 14", "blue 1", "green 7", "red 8", "green 3", "green 6/9", "yellow 3", "purple 5"}
    assert {CATALOG.cards[card].name for card in table.unseen} == CARD.keys() - seen


def test_two_seats_play_without_the_last_colour() -> None:
    table = read(CATALOG, SixthSenseView(seat=0, seats=2, hand=[CARD["red 1"]], known_predictions=[0, 0]))
    assert table.trump is None
    assert len(table.unseen) == 55
