"""A view does not depend on facts that its seat cannot know."""

from __future__ import annotations

from random import Random
from typing import Any

from engine.leduc import LEDUC

from engine.deal import SeededDecks


def test_another_hidden_card_and_board_look_the_same() -> None:
    random = Random(1)
    state: Any = LEDUC.new(2, SeededDecks(bytes(32)))
    differ = 0
    while state.player >= 0:
        for seat in (0, 1):
            other = state.clone()
            board = state.view(seat).board
            rest = [card for card in range(6) if card not in (state.cards[seat], board)]
            random.shuffle(rest)
            hidden = rest.pop()
            other.cards = bytes([state.cards[0], hidden] if seat == 0 else [hidden, state.cards[1]])
            other.board = rest.pop() if board is None else board
            assert other.view(seat) == state.view(seat)
            differ += other.view(1 - seat) != state.view(1 - seat)
        state.apply(random.choice(state.legal(state.player)), state.player)
    assert differ
