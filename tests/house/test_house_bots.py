"""The house bots: always legal, the same answer to the same question, and of the strength their names promise."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from random import Random
from statistics import mean

import pytest

from arena.house import HOUSE_BOTS, HouseBot
from engine.deal import SeededDecks
from engine.game import OVER, Option
from engine.registry import GAMES

EVERY_BOT = pytest.mark.parametrize(
    "bot", [bot for bots in HOUSE_BOTS.values() for bot in bots], ids=lambda bot: f"{bot.game}-{bot.name}"
)

TABLES = [
    (name, seats, options)
    for name, game in GAMES.items()
    for seats in game.seats
    for options in ({}, *({spec.name: 4 if type(spec.default) is int else not spec.default} for spec in game.options))
]
"""Every game at every number of seats, with the options as they are and with each of them changed."""


def play(game: str, bots: Sequence[HouseBot], seed: int, **options: Option) -> tuple[int, ...]:
    """The scores of a match played straight on the engine; every decision must be legal."""
    key = hashlib.sha256(seed.to_bytes(8, "big")).digest()
    state = GAMES[game].new(len(bots), SeededDecks(key), **options)
    decisions = 0
    while (seat := state.player) != OVER:
        chance = hashlib.sha256(key + decisions.to_bytes(4, "big")).digest()
        legal = state.legal(seat)
        action = bots[seat].decide(state.view(seat), legal, chance)
        assert action in tuple(legal)
        state.apply(action, seat)
        decisions += 1
    return tuple(state.scores)


def test_every_game_has_house_bots_under_names_of_their_own() -> None:
    assert set(HOUSE_BOTS) == set(GAMES)
    for game, bots in HOUSE_BOTS.items():
        assert len({bot.name for bot in bots}) == len(bots)
        for bot in bots:
            assert bot.game == game
            assert bot.name.startswith("house-")
            assert bot.version


@pytest.mark.parametrize(("game", "seats", "options"), TABLES, ids=str)
def test_house_bots_choose_legally_at_every_table(game: str, seats: int, options: dict[str, Option]) -> None:
    random = Random(f"{seats} {options}")
    scores = play(game, random.choices(HOUSE_BOTS[game], k=seats), seats, **options)
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


@pytest.mark.parametrize("game", GAMES)
def test_the_random_bot_may_choose_anything(game: str) -> None:
    state = GAMES[game].new(4, SeededDecks(bytes(32)))
    seat = state.player
    legal = state.legal(seat)
    bot = HOUSE_BOTS[game][0]
    chosen = {bot.decide(state.view(seat), legal, hashlib.sha256(bytes([n])).digest()) for n in range(250)}
    assert chosen == set(legal)


@pytest.mark.parametrize(
    ("game", "matches", "margins"), [("sixth_sense", 120, (8, 2)), ("nullern", 24, (100, 25))], ids=str
)
def test_house_bots_are_as_strong_as_their_order_says(game: str, matches: int, margins: tuple[int, ...]) -> None:
    """Random, then careful, then counting: by these points a match for four at least."""
    bots = HOUSE_BOTS[game]
    points: list[list[int]] = [[] for _ in bots]
    for seed in range(matches):
        seated = [*range(len(bots)), seed % len(bots)]
        seated = seated[seed % 4 :] + seated[: seed % 4]
        for bot, score in zip(seated, play(game, [bots[bot] for bot in seated], seed), strict=True):
            points[bot].append(score)
    means = [mean(each) for each in points]
    assert all(worse + margin < better for (worse, better), margin in zip(pairwise(means), margins, strict=True)), means
