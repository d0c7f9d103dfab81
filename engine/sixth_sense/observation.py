"""A view of 6th Sense as numbers. It says all that the view says: no two views of a table have the same vector.

What a card's `played_at` says together with who played it tells the order of play; leaders of earlier tricks follow
from their takers. A block of another seat shows as such, its card nowhere (S7).
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import Final

from engine.observation import Field, Layout, Part, laid_out, layout
from engine.sixth_sense.cards import ACTIONS, CARDS, COLOURS
from engine.sixth_sense.view import SixthSenseView

POINTS_SCALE: Final = 100.0
TRICKS_SCALE: Final = 10.0
LONGEST: Final = 60
"""Rounds of the longest game, one to a target score (S16)."""
MOST_LOST: Final = 19
"""No round costs more points: a 0 foretold, 14 tricks taken, all five 12s in tricks that were split."""

_CARD: Final = tuple(-1 if action.card is None else action.card for action in ACTIONS)
_PLACE: Final = tuple(-1 if action.place is None else action.place for action in ACTIONS)
_NINE: Final = tuple(action.kind == "play" and action.value == 9 for action in ACTIONS)
_COLOUR: Final = tuple(card.colour for card in CARDS)


def fields(seats: int, hand_size: int) -> tuple[Field, ...]:
    """Describe the vector's fields with so many seats, each dealt so many cards."""
    cards = len(CARDS)
    tricks = hand_size - 1
    most = LONGEST * MOST_LOST / POINTS_SCALE
    return laid_out(
        (
            Part("hand", (cards,), "1 for every card in hand, the prediction card not among them"),
            Part("prediction", (cards,), "1 for the own prediction card once it is chosen"),
            Part("peeked", (seats - 1, cards), "by other seat: 1 for its prediction card where this seat peeked at it"),
            Part("turned", (cards,), "1 for the card turned over, if there is one and it is turned already"),
            Part("trump", (len(COLOURS),), "1 for the trump colour"),
            Part("played", (seats, cards), "by seat: 1 for every card it played this round, cards face down left out"),
            Part("played_at", (cards,), "for every card played: the number of its trick, from 1, ÷ tricks of a round"),
            Part("nine", (len(COLOURS),), "by colour: 1 where its 6/9 was played as 9"),
            Part("table", (seats, cards), "by seat: 1 for the card it played to the trick in progress"),
            Part("blockers", (tricks, seats), "by trick: 1 for the seat that blocked with a 0"),
            Part("blocked", (tricks, seats), "by trick: 1 for the seat whose card was blocked"),
            Part("leader", (seats,), "1 for the leader of the trick in progress; nobody before and between tricks"),
            Part("takers", (tricks, seats), "by trick: 1 for the seat that took it"),
            Part("worths", (tricks,), "by trick: what it counts, 0, 1 or 2, ÷ 2; 0 until it is complete"),
            Part("peeks", (tricks,), "by trick: 1 where its leader peeked"),
            Part("complete", (tricks + 1,), "1 for the number of complete tricks"),
            Part("taken", (seats,), "by seat: tricks taken this round ÷ 10", 0, 2),
            Part("scores", (seats,), "by seat: points before this round ÷ 100", -most, most),
            Part("dealer", (seats,), "1 for the dealer of this round"),
            Part("round", (), "the number of the round, from 0, ÷ 60"),
            Part("target", (), "the target score ÷ 100; 0 where the number of rounds is fixed", 0, 10),
            Part("novice", (), "1 in a novice game"),
            Part("late_trump", (), "1 where the card is turned only when all predictions are in"),
        )
    )


@cache
def _layout(seats: int, hand_size: int) -> Layout:
    return layout(fields(seats, hand_size))


def vector(view: SixthSenseView) -> list[float]:
    """Encode the view as the numbers that `fields` describes."""
    at, size = _layout(view.seats, view.hand_size)
    numbers = [0.0] * size
    _write_cards(view, numbers, at)
    _write_plays(view, numbers, at)
    _write_tricks(view, numbers, at)
    _write_game(view, numbers, at)
    return numbers


def _write_cards(view: SixthSenseView, numbers: list[float], at: Mapping[str, int]) -> None:
    """Write what the seat holds and knows besides the play."""
    for card in view.hand:
        numbers[at["hand"] + card] = 1.0
    if view.prediction is not None:
        numbers[at["prediction"] + view.prediction] = 1.0
    for seat, known in enumerate(view.known_predictions):
        if known and seat != view.seat:
            other = (seat - view.seat) % view.seats - 1
            numbers[at["peeked"] + other * len(CARDS) + known - 1] = 1.0
    if view.turned is not None:
        numbers[at["turned"] + view.turned] = 1.0
        numbers[at["trump"] + _COLOUR[view.turned]] = 1.0


def _write_plays(view: SixthSenseView, numbers: list[float], at: Mapping[str, int]) -> None:
    """Write every play of the round with its seat and its trick."""
    seats = view.seats
    tricks = view.hand_size - 1
    complete = len(view.takers)
    for index, action in enumerate(view.plays):
        trick = index // seats
        leader = view.leaders[trick] - view.seat
        seat = (leader + index) % seats
        card = _CARD[action]
        if card >= 0:
            numbers[at["played"] + seat * len(CARDS) + card] = 1.0
            numbers[at["played_at"] + card] = (trick + 1) / tricks
            if trick == complete:
                numbers[at["table"] + seat * len(CARDS) + card] = 1.0
            if _NINE[action]:
                numbers[at["nine"] + _COLOUR[card]] = 1.0
        if _PLACE[action] >= 0:
            numbers[at["blockers"] + trick * seats + seat] = 1.0
            numbers[at["blocked"] + trick * seats + (leader + _PLACE[action]) % seats] = 1.0


def _write_tricks(view: SixthSenseView, numbers: list[float], at: Mapping[str, int]) -> None:
    """Write who leads, who took which trick and what it counts."""
    seats = view.seats
    complete = len(view.takers)
    if len(view.leaders) > complete:
        numbers[at["leader"] + (view.leaders[complete] - view.seat) % seats] = 1.0
    for trick, taker in enumerate(view.takers):
        if taker < seats:
            numbers[at["takers"] + trick * seats + (taker - view.seat) % seats] = 1.0
        numbers[at["worths"] + trick] = view.worths[trick] / 2
        numbers[at["peeks"] + trick] = float(view.peeks[trick])
    numbers[at["complete"] + complete] = 1.0


def _write_game(view: SixthSenseView, numbers: list[float], at: Mapping[str, int]) -> None:
    """Write the scores, and the options agreed on."""
    for seat in range(view.seats):
        other = (seat - view.seat) % view.seats
        numbers[at["taken"] + other] = view.taken[seat] / TRICKS_SCALE
        numbers[at["scores"] + other] = view.scores[seat] / POINTS_SCALE
    numbers[at["dealer"] + (view.dealer - view.seat) % view.seats] = 1.0
    numbers[at["round"]] = view.round / LONGEST
    numbers[at["target"]] = view.target / POINTS_SCALE
    numbers[at["novice"]] = float(view.novice)
    numbers[at["late_trump"]] = float(view.late_trump)
