"""A view of Nullern as numbers. It says all that the view says: no two views of a table have the same vector.

What a card's `played_at` says together with who played it tells the order of play; leaders of earlier tricks follow
from bids and takers. In the blind round the hand is empty (N8).
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

from engine.nullern.cards import CARDS, COLOURS, HIGHEST_BID
from engine.nullern.view import NullernView
from engine.observation import Blank, Field, Part, blank, emptied, laid_out, layout

POINTS_SCALE: Final = 100.0
_TRICKS: Final = HIGHEST_BID
"""Tricks of the longest round (N1)."""
_ROUNDS: Final = 20
_BIDS: Final = HIGHEST_BID + 1
_CARDS: Final = len(CARDS)
_COLOUR: Final = tuple(card.colour for card in CARDS)
_TENTH: Final = 1 / _TRICKS
_POINTS_A_STEP: Final = 2
"""A byte holds scores from −100 to 410 in steps of two, an odd one rounded down."""
_NO_POINTS: Final = 50
_IN_FLOATS: Final = (
    tuple(number / _TRICKS for number in range(_TRICKS + 1)),
    tuple(number / _ROUNDS for number in range(_ROUNDS + 1)),
)
_IN_BYTES: Final = (tuple(range(_TRICKS + 1)), tuple(range(_ROUNDS + 1)))


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
            Part("played_at", (cards,), "for every card played: the number of its trick, from 1, ÷ 10", unit=_TENTH),
            Part("table", (seats, cards), "by seat: 1 for the card it played to the trick in progress"),
            Part("leader", (seats,), "1 for the leader of the trick in progress; nobody until all have bid"),
            Part("takers", (_TRICKS, seats), "by trick: 1 for the seat that took it"),
            Part("complete", (_TRICKS + 1,), "1 for the number of complete tricks"),
            Part("hand_size", (_TRICKS,), "1 for the cards dealt to each seat this round, less one"),
            Part("taken", (seats,), "by seat: tricks taken this round ÷ 10", unit=_TENTH),
            Part(
                "scores",
                (seats,),
                "by seat: points before this round ÷ 100, Hupfers deducted at the end",
                -1,
                4,
                _POINTS_A_STEP / POINTS_SCALE,
                _NO_POINTS,
            ),
            Part("hupfers", (seats,), "by seat: Hupfers before this round ÷ 20", unit=1 / _ROUNDS),
            Part("dealer", (seats,), "1 for the dealer of this round"),
            Part("round", (_ROUNDS,), "1 for the number of the round, from 0; the last is blind"),
        )
    )


class _Offsets(NamedTuple):
    """Where the fields of a vector begin."""

    hand: int
    turned: int
    trump: int
    bids: int
    played: int
    played_at: int
    table: int
    leader: int
    takers: int
    complete: int
    hand_size: int
    taken: int
    scores: int
    hupfers: int
    dealer: int
    round: int


@cache
def _layout(seats: int) -> tuple[_Offsets, int, Blank]:
    """Where the fields begin, how many numbers there are, and an empty vector."""
    at, length = layout(fields(seats))
    return _Offsets(**at), length, blank(length)


def vector(view: NullernView) -> list[float]:
    """Encode the view as the numbers that `fields` describes."""
    at, size, _ = _layout(view.seats)
    numbers = [0.0] * size
    _write(view, numbers, at, False)
    return numbers


def vector_into(view: NullernView, array: Any) -> None:
    """Write the same numbers into an array of float32 or bytes: `engine.observation.emptied`."""
    at, _, empty = _layout(view.seats)
    target, in_bytes = emptied(array, empty)
    _write(view, target, at, in_bytes)


def _write(view: NullernView, numbers: Any, at: _Offsets, in_bytes: bool) -> None:
    """Write a view into numbers that are all 0."""
    tricks, rounds = _IN_BYTES if in_bytes else _IN_FLOATS
    one: Any = 1 if in_bytes else 1.0
    seats, own = view.seats, view.seat
    for card in view.hand:
        numbers[at.hand + card] = one
    turned = view.turned
    numbers[at.turned + turned] = one
    numbers[at.trump + _COLOUR[turned]] = one
    numbers[at.hand_size + view.hand_size - 1] = one
    numbers[at.dealer + (view.dealer - own) % seats] = one
    numbers[at.round + view.round] = one
    _write_plays(view, numbers, at, tricks, one)
    bids, taken, scores, hupfers = view.bids, view.taken, view.scores, view.hupfers
    for seat in range(seats):
        other = seat - own if seat >= own else seat - own + seats
        if bids[seat]:
            numbers[at.bids + other * _BIDS + bids[seat] - 1] = one
        if taken[seat]:
            numbers[at.taken + other] = tricks[taken[seat]]
        if hupfers[seat]:
            numbers[at.hupfers + other] = rounds[hupfers[seat]]
        score = scores[seat]
        if in_bytes:
            numbers[at.scores + other] = min(max(score // _POINTS_A_STEP + _NO_POINTS, 0), 255)
        else:
            numbers[at.scores + other] = score / POINTS_SCALE


def _write_plays(view: NullernView, numbers: Any, at: _Offsets, tricks: Any, one: Any) -> None:
    """Write every play of the round and who took the tricks."""
    seats, own = view.seats, view.seat
    plays, leaders, takers = view.plays, view.leaders, view.takers
    played, played_at = at.played, at.played_at
    end = played + seats * _CARDS
    complete = len(takers)
    index = 0
    for trick, leader in enumerate(leaders):
        number = tricks[trick + 1]
        row = played + (leader - own) % seats * _CARDS
        for card in plays[index : index + seats]:
            numbers[row + card] = one
            numbers[played_at + card] = number
            row += _CARDS
            if row == end:
                row = played
        index += seats
    if len(leaders) > complete:
        leader = (leaders[complete] - own) % seats
        numbers[at.leader + leader] = one
        for place, card in enumerate(plays[complete * seats :]):
            numbers[at.table + (leader + place) % seats * _CARDS + card] = one
    place = at.takers
    for taker in takers:
        numbers[place + (taker - own if taker >= own else taker - own + seats)] = one
        place += seats
    numbers[at.complete + complete] = one
