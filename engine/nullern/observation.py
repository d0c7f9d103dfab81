"""A view of Nullern as numbers. It says all that the view says: no two views of a table have the same vector.

What a card's `played_at` says together with who played it tells the order of play; leaders of earlier tricks follow
from bids and takers. In the blind round the hand is empty (N8).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from engine.nullern.cards import CARDS, COLOURS, HIGHEST_BID
from engine.nullern.view import NullernView
from engine.observation import Field, Layout, Part, laid_out, layout

POINTS_SCALE: Final = 100.0
_TRICKS: Final = HIGHEST_BID
"""Tricks of the longest round (N1)."""
_ROUNDS: Final = 20
_BIDS: Final = HIGHEST_BID + 1
_COLOUR: Final = tuple(card.colour for card in CARDS)


def fields(seats: int) -> tuple[Field, ...]:
    """Describe the vector's fields with so many seats."""
    cards = len(CARDS)
    return laid_out(
        (
            Part("hand", (cards,), "1 for every card in hand; none in the blind round"),
            Part("turned", (cards,), "1 for the card turned over"),
            Part("trump", (len(COLOURS),), "1 for the trump colour"),
            Part("bids", (seats, _BIDS), "by seat: 1 for the number it bid, once it has"),
            Part("played", (seats, cards), "by seat: 1 for every card it played this round"),
            Part("played_at", (cards,), "for every card played: the number of its trick, from 1, ÷ 10"),
            Part("table", (seats, cards), "by seat: 1 for the card it played to the trick in progress"),
            Part("leader", (seats,), "1 for the leader of the trick in progress; nobody until all have bid"),
            Part("takers", (_TRICKS, seats), "by trick: 1 for the seat that took it"),
            Part("complete", (_TRICKS + 1,), "1 for the number of complete tricks"),
            Part("hand_size", (_TRICKS,), "1 for the cards dealt to each seat this round, less one"),
            Part("taken", (seats,), "by seat: tricks taken this round ÷ 10"),
            Part("scores", (seats,), "by seat: points before this round ÷ 100, Hupfers deducted at the end", -1, 4),
            Part("hupfers", (seats,), "by seat: Hupfers before this round ÷ 20"),
            Part("dealer", (seats,), "1 for the dealer of this round"),
            Part("round", (_ROUNDS,), "1 for the number of the round, from 0; the last is blind"),
        )
    )


@cache
def _layout(seats: int) -> Layout:
    return layout(fields(seats))


def vector(view: NullernView) -> list[float]:
    """Encode the view as the numbers that `fields` describes."""
    at, size = _layout(view.seats)
    numbers = [0.0] * size
    _write_round(view, numbers, at)
    _write_plays(view, numbers, at)
    _write_seats(view, numbers, at)
    return numbers


def _write_round(view: NullernView, numbers: list[float], at: Mapping[str, int]) -> None:
    """Write the round and what the seat holds."""
    for card in view.hand:
        numbers[at["hand"] + card] = 1.0
    numbers[at["turned"] + view.turned] = 1.0
    numbers[at["trump"] + _COLOUR[view.turned]] = 1.0
    numbers[at["hand_size"] + view.hand_size - 1] = 1.0
    numbers[at["dealer"] + (view.dealer - view.seat) % view.seats] = 1.0
    numbers[at["round"] + view.round] = 1.0


def _write_plays(view: NullernView, numbers: list[float], at: Mapping[str, int]) -> None:
    """Write every play of the round and who took the tricks."""
    seats = view.seats
    complete = len(view.takers)
    for index, card in enumerate(view.plays):
        trick = index // seats
        seat = (view.leaders[trick] - view.seat + index) % seats
        numbers[at["played"] + seat * len(CARDS) + card] = 1.0
        numbers[at["played_at"] + card] = (trick + 1) / _TRICKS
        if trick == complete:
            numbers[at["table"] + seat * len(CARDS) + card] = 1.0
    for trick, taker in enumerate(view.takers):
        numbers[at["takers"] + trick * seats + (taker - view.seat) % seats] = 1.0
    numbers[at["complete"] + complete] = 1.0
    if len(view.leaders) > complete:
        numbers[at["leader"] + (view.leaders[complete] - view.seat) % seats] = 1.0


def _write_seats(view: NullernView, numbers: list[float], at: Mapping[str, int]) -> None:
    """Write what each seat bid and has won."""
    for seat in range(view.seats):
        other = (seat - view.seat) % view.seats
        if view.bids[seat]:
            numbers[at["bids"] + other * _BIDS + view.bids[seat] - 1] = 1.0
        numbers[at["taken"] + other] = view.taken[seat] / _TRICKS
        numbers[at["scores"] + other] = view.scores[seat] / POINTS_SCALE
        numbers[at["hupfers"] + other] = view.hupfers[seat] / _ROUNDS
