"""The searching sample bot, measured near the end of a round, where the exact values are known. It loses little."""

from __future__ import annotations

import random
from collections.abc import Iterator
from itertools import count, islice
from random import Random
from statistics import mean
from typing import Any

import pytest
from arena_client import Decision
from arena_client.samples.search_bot import SearchBot

from engine.endings.expectation import expected_costs
from engine.endings.solver import EndingSolver
from engine.registry import GAMES
from tests.engine.endings.played import endings, worth_of
from tests.games import THOUGHT_ABOUT
from tests.house.test_house_strength import catalog, shown

POSITIONS = 25
AGES = 3_600_000
"""Maximum number of milliseconds for a search."""


def choices_that_matter(game: str) -> Iterator[tuple[Any, Any]]:
    """Yield views and legal actions of random games in which the worst action costs at least one point."""
    solver = EndingSolver(worth_of)
    for state, _ in (each for seed in count() for each in endings(game, 2, seed, 2)):
        view = state.view(state.player)
        found = expected_costs(GAMES[game], view, solver, Random(1), most=0, drawn=40)
        if max(found.costs.values()) >= 1:
            yield Decision(1, 1, catalog(GAMES[game]), shown(GAMES[game], view), [*found.costs], AGES, 0), found.costs


@pytest.mark.parametrize("game", THOUGHT_ABOUT)
@pytest.mark.thorough
def test_the_search_loses_less_than_a_quarter_of_what_chance_loses(game: str) -> None:
    random.seed(1)
    asked = [*islice(choices_that_matter(game), POSITIONS)]
    answers = SearchBot().decide_many([decision for decision, _ in asked])
    lost = mean(costs[answer] for answer, (_, costs) in zip(answers, asked, strict=True))
    by_chance = mean(mean(costs.values()) for _, costs in asked)
    print(f"{game}: {lost:.2f} points a choice, by chance {by_chance:.2f}")
    assert lost < by_chance / 4
