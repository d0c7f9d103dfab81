"""A view of 6th Sense as numbers. It says all that the view says: no two views of a table have the same vector.

What a card's `played_at` says together with who played it tells the order of play; leaders of earlier tricks follow
from their takers. A block of another seat shows as such, its card nowhere (S7).
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from engine.observation import Blank, Field, Part, blank, emptied, laid_out, layout
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
_ORDINARY: Final = bytes(action.kind == "play" and action.value != 9 for action in ACTIONS)
"""By action, whether it is a play that says no more than its card."""
_COLOUR: Final = tuple(card.colour for card in CARDS)
_CARDS: Final = len(CARDS)
_NO_POINTS: Final = 128
"""A byte holds scores from −128 to 127; those beyond are cut off."""
_TARGET_STEP: Final = 4
"""A byte holds the target in steps of four, rounded down."""


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
            Part(
                "played_at",
                (cards,),
                "for every card played: the number of its trick, from 1, ÷ tricks of a round",
                unit=1 / tricks,
            ),
            Part("nine", (len(COLOURS),), "by colour: 1 where its 6/9 was played as 9"),
            Part("table", (seats, cards), "by seat: 1 for the card it played to the trick in progress"),
            Part("blockers", (tricks, seats), "by trick: 1 for the seat that blocked with a 0"),
            Part("blocked", (tricks, seats), "by trick: 1 for the seat whose card was blocked"),
            Part("leader", (seats,), "1 for the leader of the trick in progress; nobody before and between tricks"),
            Part("takers", (tricks, seats), "by trick: 1 for the seat that took it"),
            Part("worths", (tricks,), "by trick: what it counts, 0, 1 or 2, ÷ 2; 0 until it is complete", unit=1 / 2),
            Part("peeks", (tricks,), "by trick: 1 where its leader peeked"),
            Part("complete", (tricks + 1,), "1 for the number of complete tricks"),
            Part("taken", (seats,), "by seat: tricks taken this round ÷ 10", 0, 2, 1 / TRICKS_SCALE),
            Part(
                "scores", (seats,), "by seat: points before this round ÷ 100", -most, most, 1 / POINTS_SCALE, _NO_POINTS
            ),
            Part("dealer", (seats,), "1 for the dealer of this round"),
            Part("round", (), "the number of the round, from 0, ÷ 60", unit=1 / LONGEST),
            Part(
                "target",
                (),
                "the target score ÷ 100; 0 where the number of rounds is fixed",
                0,
                10,
                _TARGET_STEP / POINTS_SCALE,
            ),
            Part("novice", (), "1 in a novice game"),
            Part("late_trump", (), "1 where the card is turned only when all predictions are in"),
        )
    )


class _Offsets(NamedTuple):
    """Where the fields of a vector begin."""

    hand: int
    prediction: int
    peeked: int
    turned: int
    trump: int
    played: int
    played_at: int
    nine: int
    table: int
    blockers: int
    blocked: int
    leader: int
    takers: int
    worths: int
    peeks: int
    complete: int
    taken: int
    scores: int
    dealer: int
    round: int
    target: int
    novice: int
    late_trump: int


class _Layout(NamedTuple):
    """How a vector is written."""

    at: _Offsets
    length: int
    empty: Blank
    floats: Any
    """By number of a trick, from 1, what `played_at` has in floats; in bytes it has the number."""


@cache
def _layout(seats: int, hand_size: int) -> _Layout:
    at, length = layout(fields(seats, hand_size))
    tricks = hand_size - 1
    return _Layout(_Offsets(**at), length, blank(length), tuple(number / tricks for number in range(hand_size)))


_NUMBERS: Final = tuple(range(256))


def vector(view: SixthSenseView) -> list[float]:
    """Encode the view as the numbers that `fields` describes."""
    at, size, _, tricks = _layout(view.seats, view.hand_size)
    numbers = [0.0] * size
    _write(view, numbers, at, tricks, False)
    return numbers


def vector_into(view: SixthSenseView, array: Any) -> None:
    """Write the same numbers into an array of float32 or bytes: `engine.observation.emptied`."""
    at, _, empty, tricks = _layout(view.seats, view.hand_size)
    target, in_bytes = emptied(array, empty)
    _write(view, target, at, _NUMBERS if in_bytes else tricks, in_bytes)


def _write(view: SixthSenseView, numbers: Any, at: _Offsets, tricks: Any, in_bytes: bool) -> None:
    """Write a view into numbers that are all 0."""
    one: Any = 1 if in_bytes else 1.0
    _write_cards(view, numbers, at, one)
    _write_plays(view, numbers, at, tricks, one)
    _write_tricks(view, numbers, at, in_bytes, one)
    _write_game(view, numbers, at, in_bytes, one)


def _write_cards(view: SixthSenseView, numbers: Any, at: _Offsets, one: Any) -> None:
    """Write what the seat holds and knows besides the play."""
    for card in view.hand:
        numbers[at.hand + card] = one
    if view.prediction is not None:
        numbers[at.prediction + view.prediction] = one
    known = view.known_predictions
    for seat in range(view.seats):
        if known[seat] and seat != view.seat:
            other = (seat - view.seat) % view.seats - 1
            numbers[at.peeked + other * _CARDS + known[seat] - 1] = one
    if view.turned is not None:
        numbers[at.turned + view.turned] = one
        numbers[at.trump + _COLOUR[view.turned]] = one


def _write_plays(view: SixthSenseView, numbers: Any, at: _Offsets, tricks: Any, one: Any) -> None:
    """Write every play of the round with its seat and its trick."""
    seats, plays = view.seats, view.plays
    played, played_at = at.played, at.played_at
    ordinary, card_of = _ORDINARY, _CARD
    end = played + seats * _CARDS
    index = 0
    for trick, leader in enumerate(view.leaders):
        number = tricks[trick + 1]
        row = played + (leader - view.seat) % seats * _CARDS
        for action in plays[index : index + seats]:
            if ordinary[action]:
                card = card_of[action]
                numbers[row + card] = one
                numbers[played_at + card] = number
            else:
                _write_play(view, numbers, at, action, trick, (row - played) // _CARDS, number, one)
            row += _CARDS
            if row == end:
                row = played
        index += seats
    complete = len(view.takers)
    for place, action in enumerate(plays[complete * seats :]):
        if (card := _CARD[action]) >= 0:
            seat = (view.leaders[complete] - view.seat + place) % seats
            numbers[at.table + seat * _CARDS + card] = one


def _write_play(
    view: SixthSenseView, numbers: Any, at: _Offsets, action: int, trick: int, seat: int, number: Any, one: Any
) -> None:
    """Write a play that says more than its card: a 9, or a block, whose card may not show."""
    card = _CARD[action]
    if card >= 0:
        numbers[at.played + seat * _CARDS + card] = one
        numbers[at.played_at + card] = number
    if _NINE[action]:
        numbers[at.nine + _COLOUR[card]] = one
    if _PLACE[action] >= 0:
        seats = view.seats
        numbers[at.blockers + trick * seats + seat] = one
        numbers[at.blocked + trick * seats + (view.leaders[trick] - view.seat + _PLACE[action]) % seats] = one


def _write_tricks(view: SixthSenseView, numbers: Any, at: _Offsets, in_bytes: bool, one: Any) -> None:
    """Write who leads, who took which trick and what it counts."""
    seats, own, takers, worths, peeks = view.seats, view.seat, view.takers, view.worths, view.peeks
    complete = len(takers)
    if len(view.leaders) > complete:
        numbers[at.leader + (view.leaders[complete] - own) % seats] = one
    place = at.takers
    for trick, taker in enumerate(takers):
        if taker < seats:
            numbers[place + (taker - own if taker >= own else taker - own + seats)] = one
            numbers[at.worths + trick] = worths[trick] if in_bytes else worths[trick] / 2
        if peeks[trick]:
            numbers[at.peeks + trick] = one
        place += seats
    numbers[at.complete + complete] = one


def _write_game(view: SixthSenseView, numbers: Any, at: _Offsets, in_bytes: bool, one: Any) -> None:
    """Write the scores, and the options agreed on."""
    seats, own, taken, scores = view.seats, view.seat, view.taken, view.scores
    for seat in range(seats):
        other = seat - own if seat >= own else seat - own + seats
        if taken[seat]:
            numbers[at.taken + other] = taken[seat] if in_bytes else taken[seat] / TRICKS_SCALE
        score = scores[seat]
        if in_bytes:
            numbers[at.scores + other] = min(max(score + _NO_POINTS, 0), 255)
        else:
            numbers[at.scores + other] = score / POINTS_SCALE
    numbers[at.dealer + (view.dealer - own) % seats] = one
    numbers[at.round] = view.round if in_bytes else view.round / LONGEST
    if view.target:
        numbers[at.target] = view.target // _TARGET_STEP if in_bytes else view.target / POINTS_SCALE
    if view.novice:
        numbers[at.novice] = one
    if view.late_trump:
        numbers[at.late_trump] = one
