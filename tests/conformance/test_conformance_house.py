"""House bots of every game choose legally at every table, and choose the same whenever the position is the same."""

from __future__ import annotations

from hashlib import sha256
from itertools import count
from random import Random

import pytest

from arena.house import HOUSE_BOTS
from engine.game import OVER, Game
from engine.registry import GAMES
from tests.conformance.pieces import need
from tests.conformance.table import Table, tables

TABLES = [table for game in GAMES.values() for table in tables(game)]


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_the_house_bots_of_a_game_have_names_of_their_own(game: Game) -> None:
    need(game, "house bots")
    bots = HOUSE_BOTS[game.name]
    assert len({bot.name for bot in bots}) == len(bots)
    assert all(bot.game == game.name and bot.name.startswith("house-") and bot.version for bot in bots)


@pytest.mark.parametrize("table", TABLES, ids=str)
def test_house_bots_play_a_game_to_its_end(table: Table) -> None:
    need(table.game, "house bots")
    rng = Random(str(table))
    bots = [rng.choice(HOUSE_BOTS[table.game.name]) for _ in range(table.seats)]
    state = table.new(13)
    for decision in count():
        seat = state.player
        if seat == OVER:
            break
        legal, chance = state.legal(seat), sha256(decision.to_bytes(4, "big")).digest()
        action = bots[seat].decide(state.view(seat), legal, chance)
        assert action in list(legal), f"{bots[seat].name} chose {action}"
        if decision % 7 == 0:
            assert bots[seat].decide(state.clone().view(seat), tuple(legal), chance) == action
        state.apply(action, seat)
