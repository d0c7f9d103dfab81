"""A game of Leduc poker that a seat could be in: the cards it cannot see are any of the others."""

from __future__ import annotations

from engine.leduc.betting import closed, legal
from engine.leduc.cards import CARDS
from engine.leduc.state import SEATS, LeducState
from engine.leduc.view import LeducView

from engine.constrained_deal import Redealt, draw
from engine.game import Chance, ViewError


def sample(view: LeducView, rng: Chance) -> LeducState:
    """`engine.game.Game.sample`."""
    seen = [view.card] if view.board is None else [view.card, view.board]
    rest = [card for card in range(len(CARDS)) if card not in seen]
    draw(rest, 2, rng)
    other, board = rest[0], rest[1] if view.board is None else view.board
    cards = [view.card, other] if view.seat == 0 else [other, view.card]
    state = LeducState(view.rounds, Redealt(view.round, [*cards, board], rng))
    state.scores = view.scores
    state.deal(view.round)
    for action in view.first + view.second:
        if action not in legal(state.bets) or state.report is not None:
            raise ViewError("nobody can have acted so")
        state.apply(action, state.player)
    if state.report is not None or len({*seen}) < len(seen) or (view.board is not None) != closed(view.first):
        raise ViewError("no view of Leduc poker in progress")
    assert len(cards) == SEATS
    return state
