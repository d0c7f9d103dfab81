"""The house bots: always legal, the same answer to the same question, and of the strength their names promise."""

from __future__ import annotations

import hashlib
from random import Random

import pytest

from arena.house import HOUSE_BOTS, HouseBot
from arena.house.sixth_sense.situation import goal, read, takes
from engine.deal import SeededDecks
from engine.game import OVER, Option
from engine.registry import GAMES
from engine.sixth_sense.tricks import NO_TRUMP
from tests.engine.sixth_sense_table import ACTIONS, CARDS, Table

EVERY_BOT = pytest.mark.parametrize(
    "bot", [bot for bots in HOUSE_BOTS.values() for bot in bots], ids=lambda bot: f"{bot.game}-{bot.name}"
)


def play(bots: list[HouseBot], seed: int, **options: Option) -> tuple[int, ...]:
    """The scores of a match of 6th Sense played straight on the engine; every decision must be legal."""
    key = hashlib.sha256(seed.to_bytes(8, "big")).digest()
    state = GAMES["sixth_sense"].new(len(bots), SeededDecks(key), **options)
    decisions = 0
    while (seat := state.player) != OVER:
        chance = hashlib.sha256(key + decisions.to_bytes(4, "big")).digest()
        legal = state.legal(seat)
        action = bots[seat].decide(state.view(seat), legal, chance)
        assert action in tuple(legal)
        state.apply(action, seat)
        decisions += 1
    return tuple(state.scores)


def by_name(name: str) -> HouseBot:
    return next(bot for bot in HOUSE_BOTS["sixth_sense"] if bot.name == name)


def test_every_game_has_house_bots_under_names_of_their_own() -> None:
    assert set(HOUSE_BOTS) == set(GAMES)
    for game, bots in HOUSE_BOTS.items():
        assert len({bot.name for bot in bots}) == len(bots)
        for bot in bots:
            assert bot.game == game
            assert bot.name.startswith("house-")
            assert bot.version


@pytest.mark.parametrize("options", [{}, {"novice": True}, {"late_trump": True}, {"target": 4}], ids=str)
@pytest.mark.parametrize("seats", GAMES["sixth_sense"].seats)
def test_house_bots_choose_legally_at_every_table(seats: int, options: dict[str, Option]) -> None:
    bots = list(HOUSE_BOTS["sixth_sense"])
    random = Random(f"{seats} {options}")
    scores = play(random.choices(bots, k=seats), seats, **options)
    assert len(scores) == seats


@EVERY_BOT
def test_a_house_bot_gives_the_same_answer_to_the_same_question(bot: HouseBot) -> None:
    state = GAMES[bot.game].new(4, SeededDecks(bytes(32)))
    for number in range(120):
        seat = state.player
        view, legal, chance = state.view(seat), state.legal(seat), hashlib.sha256(bytes([number])).digest()
        action = bot.decide(view, legal, chance)
        assert bot.decide(state.clone().view(seat), tuple(legal), chance) == action
        state.apply(action, seat)


def test_the_random_bot_may_choose_anything() -> None:
    state = GAMES["sixth_sense"].new(4, SeededDecks(bytes(32)))
    legal = state.legal(0)
    bot = by_name("house-random")
    chosen = {bot.decide(state.view(0), legal, hashlib.sha256(bytes([n])).digest()) for n in range(250)}
    assert chosen == set(legal)


def test_house_bots_are_as_strong_as_their_names_say() -> None:
    names = ("house-random", "house-careful", "house-counter")
    points = {name: [0, 0] for name in names}
    for seed in range(120):
        seated = [*names, names[seed % 3]]
        seated = seated[seed % 4 :] + seated[: seed % 4]
        for name, score in zip(seated, play([by_name(name) for name in seated], seed), strict=True):
            points[name][0] += score
            points[name][1] += 1
    mean = {name: total / matches for name, (total, matches) in points.items()}
    assert mean["house-random"] + 8 < mean["house-careful"], mean
    assert mean["house-careful"] + 2 < mean["house-counter"], mean


def test_a_six_aims_at_six_until_more_are_taken() -> None:
    table = Table({0: "red 6/9"})
    assert goal(table.state.view(0)) == 0
    table.predict()
    assert goal(table.state.view(0)) == 6
    assert read(table.state.view(0)).wanted == 6


@pytest.mark.parametrize(
    ("trick", "trump", "place"),
    [
        ("yellow 3, yellow 5, green 14", NO_TRUMP, 1),
        ("yellow 3, yellow 5, green 14", 2, 2),
        ("yellow 3, yellow 4, green 14", NO_TRUMP, 2),
        ("yellow 3, green 5, a 0 blocks place 1", NO_TRUMP, 1),
        ("yellow 3, red 0 blocks place 1", NO_TRUMP, -1),
    ],
)
def test_the_card_ahead_is_found_as_the_rules_have_it(trick: str, trump: int, place: int) -> None:
    assert takes(bytes(ACTIONS[name] for name in trick.split(", ")), trump) == place


def test_careful_throws_its_strongest_card_when_it_wants_no_trick() -> None:
    hands = {0: "red 1", 1: "red 2, green 13", 2: "red 0, green 3, green 12", 3: "red 3"}
    table = Table(hands, fill={2: "yellow, red"}).predict().play("green 13")
    state = table.state
    action = by_name("house-careful").decide(state.view(2), state.legal(2), bytes(32))
    assert action == ACTIONS["green 12"]
    assert CARDS["red 0"] == state.view(2).prediction
