"""The engine of Leduc poker and the reference implementation agree on every move of a game."""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from engine.leduc import LEDUC
from tests.oracles.leduc import PlainGame

from engine.deal import SeededDecks


@pytest.mark.parametrize("seed", range(40))
def test_random_games_of_leduc_agree_with_the_oracle(seed: int) -> None:
    random = Random(seed)
    decks = SeededDecks(random.randbytes(32))
    names = [action.name for action in LEDUC.actions]
    deals = [[LEDUC.cards[card].name for card in decks(number, 6, 3)] for number in range(9)]
    state: Any = LEDUC.new(2, decks, rounds=9)
    plain = PlainGame(deals)
    while not plain.over:
        assert [*state.waiting()] == plain.waiting()
        seat = state.player
        assert {names[action] for action in state.legal(seat)} == plain.legal(seat)
        for watcher in (0, 1):
            view, seen = state.view(watcher), plain.seen(watcher)
            assert LEDUC.cards[view.card].name == seen["card"]
            assert (view.board is None) is (seen["board"] is None)
            assert [[names[action] for action in bets] for bets in (view.first, view.second)] == seen["said"]
        action = random.choice(state.legal(seat))
        state.apply(action, seat)
        plain.act(seat, names[action])
        assert (list(state.scores), state.round) == (plain.scores, plain.round)
    assert state.player == -1
