"""The strongest house bot of each game beats the rule sample on deals that are played with both seatings."""

from __future__ import annotations

from hashlib import sha256
from math import sqrt
from statistics import mean, stdev
from typing import Any, cast

import pytest
from arena_client import Action, Bot, Card, Catalog, Decision, NullernView, SixthSenseView, View
from arena_client.samples.rule_bot import RuleBot

from arena.api.game_codecs import VIEWS as CODECS
from arena.house import HOUSE_BOTS, HouseBot
from engine.deal import SeededDecks
from engine.game import OVER, Game
from engine.registry import GAMES

VIEWS: dict[str, type[View]] = {"nullern": NullernView, "sixth_sense": SixthSenseView}
SIGNIFICANT = 4.0
"""Minimum lead in standard errors. Chance alone leads to it once in 30,000 runs."""


def catalog(game: Game) -> Catalog:
    return Catalog(
        game.name,
        game.title,
        game.seats.start,
        game.seats.stop - 1,
        tuple(game.colours),
        tuple(Card(card.name, card.colour, tuple(card.values)) for card in game.cards),
        tuple(Action(each.name, each.kind, each.card, each.value, each.place) for each in game.actions),
    )


def shown(game: Game, view: Any) -> View:
    """Return the engine's view as a bot receives it."""
    return VIEWS[game.name].FromString(CODECS[type(view)].encode(view))


def margin(house: HouseBot, sample: Bot, seats: int, deal: int, first: int) -> float:
    """Return the house bot's lead over the sample in points per seat. The house bot has every second seat, including
    the first.
    """
    game, known = GAMES[house.game], catalog(GAMES[house.game])
    state, choices = game.new(seats, SeededDecks(sha256(f"{game.name} {deal}".encode()).digest())), 0
    while (seat := state.player) != OVER:
        view, legal, choices = state.view(seat), state.legal(seat), choices + 1
        if seat % 2 == first:
            action = house.decide(view, legal, sha256(f"{deal} {choices}".encode()).digest())
        else:
            asked = Decision(1, choices, known, shown(game, view), list(legal), 1000, 30000)
            action = cast("int", sample.decide(asked))
        state.apply(action, seat)
    return mean(state.scores[first::2]) - mean(state.scores[1 - first :: 2])


@pytest.mark.unmeasured
@pytest.mark.parametrize(
    ("game", "seats", "deals"), [("nullern", 2, 30), ("nullern", 4, 10), ("sixth_sense", 2, 10), ("sixth_sense", 4, 40)]
)
def test_the_strongest_house_bot_beats_the_rules_clearly(game: str, seats: int, deals: int) -> None:
    house, sample = HOUSE_BOTS[game][-1], RuleBot()
    margins = [mean(margin(house, sample, seats, deal, first) for first in (0, 1)) for deal in range(deals)]
    won, error = mean(margins), stdev(margins) / sqrt(deals)
    print(f"{game} for {seats}: {won:.2f} ± {error:.2f} points a match and seat")
    assert won > SIGNIFICANT * error
