"""House bots of the registered games: the random bot chooses among all actions, and strengths agree with their
order.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from itertools import pairwise
from statistics import mean

import pytest

from arena.house import HOUSE_BOTS, THINKERS, HouseBot, UnknownBotError, house_bot, named_bots
from arena.ladder.events import OFF_SCALE
from engine.deal import SeededDecks
from engine.game import OVER, UnknownGameError
from engine.registry import GAMES


def play(game: str, bots: Sequence[HouseBot], seed: int) -> tuple[int, ...]:
    """Return the scores of a match played in the engine alone. Every decision must be legal."""
    key = hashlib.sha256(seed.to_bytes(8, "big")).digest()
    state = GAMES[game].new(len(bots), SeededDecks(key))
    decisions = 0
    while (seat := state.player) != OVER:
        chance = hashlib.sha256(key + decisions.to_bytes(4, "big")).digest()
        legal = state.legal(seat)
        action = bots[seat].decide(state.view(seat), legal, chance)
        assert action in tuple(legal)
        state.apply(action, seat)
        decisions += 1
    return tuple(state.scores)


@pytest.mark.parametrize("game", GAMES)
def test_the_random_bot_may_choose_anything(game: str) -> None:
    state = GAMES[game].new(min(4, GAMES[game].seats[-1]), SeededDecks(bytes(32)))
    seat = state.player
    legal = state.legal(seat)
    bot = HOUSE_BOTS[game][0]
    chosen = {bot.decide(state.view(seat), legal, hashlib.sha256(bytes([n])).digest()) for n in range(250)}
    assert chosen == set(legal)


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("game", "matches", "margins"), [("sixth_sense", 120, (8, 1, 2)), ("nullern", 24, (100, 25))], ids=str
)
@pytest.mark.thorough
def test_house_bots_are_as_strong_as_their_order_says(game: str, matches: int, margins: tuple[int, ...]) -> None:
    """The bots random, careful, counting and planning: each beats the previous one by at least this many points
    per four-seat match.
    """
    bots = HOUSE_BOTS[game]
    points: list[list[int]] = [[] for _ in bots]
    for seed in range(matches):
        seated = [(seed + step) % len(bots) for step in range(4)]
        for bot, score in zip(seated, play(game, [bots[bot] for bot in seated], seed), strict=True):
            points[bot].append(score)
    means = [mean(each) for each in points]
    assert all(worse + margin < better for (worse, better), margin in zip(pairwise(means), margins, strict=True)), means


def test_the_bots_off_the_scale_are_the_random_and_the_searching_ones() -> None:
    named = {bot.name for game in GAMES for bot in named_bots(game)}
    thinking = {bot.name for bot in THINKERS}
    assert named - thinking == OFF_SCALE


def test_a_house_bot_is_found_by_its_name_with_or_without_its_prefix() -> None:
    assert house_bot("nullern", "counter") is house_bot("nullern", "house-counter") is HOUSE_BOTS["nullern"][-1]
    with pytest.raises(UnknownBotError, match="no bot 'planner' for Nullern; it has random, careful, counter, search"):
        house_bot("nullern", "planner")
    with pytest.raises(UnknownGameError, match="no game 'chess'"):
        house_bot("chess", "counter")
