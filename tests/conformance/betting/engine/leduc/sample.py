"""Sampling a game of Leduc poker that a seat's view allows. The unseen cards are drawn from the remaining cards."""

from __future__ import annotations

from engine.leduc.betting import closed, legal
from engine.leduc.cards import CARDS
from engine.leduc.state import SEATS, LeducState
from engine.leduc.view import LeducView

from engine.constrained_deal import Redealt
from engine.draws import Draws
from engine.game import Chance, Truth, ViewError


def sample(view: LeducView, rng: Chance) -> LeducState:
    """Implement `engine.game.Game.sample`."""
    deck, choices = truth(view, rng)
    state = LeducState(view.rounds, Redealt(view.round, deck, rng))
    state.scores = view.scores
    state.deal(view.round)
    for seat, action in choices:
        if seat != state.player or action not in legal(state.bets):
            raise ViewError("nobody can have acted so")
        state.apply(action, seat)
    if state.report is not None or (view.board is not None) != closed(view.first):
        raise ViewError("no view of Leduc poker in progress")
    return state


def truth(view: LeducView, rng: Chance) -> Truth:
    """Implement `engine.game.Game.truth`."""
    seen = [view.card] if view.board is None else [view.card, view.board]
    rest = [card for card in range(len(CARDS)) if card not in seen]
    Draws(rng).draw(rest, 2)
    other, board = rest[0], rest[1] if view.board is None else view.board
    cards = [view.card, other] if view.seat == 0 else [other, view.card]
    if len({*seen}) < len(seen):
        raise ViewError("no view of Leduc poker in progress")
    acted = [(view.opener + number) % SEATS for bets in (view.first, view.second) for number in range(len(bets))]
    return Truth([*cards, board], [*zip(acted, view.first + view.second, strict=True)])
