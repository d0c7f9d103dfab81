"""A view of Nullern as numbers.

Nothing is lost: no two views of a table have the same vector. A card's `played_at` and its player give the order of
play; the leaders of earlier tricks follow from the bids and the takers. In the blind round the hand is empty (N8).
"""

from __future__ import annotations

from functools import cache
from typing import Any, Final

from engine.nullern.cards import CARDS, COLOURS, HIGHEST_BID
from engine.nullern.view import NullernView
from engine.observation import Field, Part, blank, fill, laid_out, layout, opened

POINTS_SCALE: Final = 100.0
_TRICKS: Final = HIGHEST_BID
"""Number of tricks in the longest round (N1)."""
_ROUNDS: Final = 20
_BIDS: Final = HIGHEST_BID + 1
_CARDS: Final = len(CARDS)
_COLOUR: Final = tuple(card.colour for card in CARDS)
_TENTH: Final = 1 / _TRICKS
_POINTS_A_STEP: Final = 2
"""A byte stores scores from −100 to 410 in steps of two, rounded down."""
_NO_POINTS: Final = 50
_IN_FLOATS: Final = (
    tuple(number / _TRICKS for number in range(_TRICKS + 1)),
    tuple(number / _ROUNDS for number in range(_ROUNDS + 1)),
)
_IN_BYTES: Final = (tuple(range(_TRICKS + 1)), tuple(range(_ROUNDS + 1)))


def fields(seats: int) -> tuple[Field, ...]:
    """Describe the fields of the vector for this number of seats."""
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


class _Layout:
    """Offsets of the fields of a vector."""

    def __init__(self, seats: int) -> None:
        at, self.length = layout(fields(seats))
        self.floats: Final[Any] = blank(self.length, False)
        self.bytes: Final[Any] = blank(self.length, True)
        self.seats: Final = seats
        self.hand: Final[int] = at["hand"]
        self.turned: Final[int] = at["turned"]
        self.trump: Final[int] = at["trump"]
        self.bids: Final[int] = at["bids"]
        self.played: Final[int] = at["played"]
        self.played_at: Final[int] = at["played_at"]
        self.table: Final[int] = at["table"]
        self.leader: Final[int] = at["leader"]
        self.takers: Final[int] = at["takers"]
        self.complete: Final[int] = at["complete"]
        self.hand_size: Final[int] = at["hand_size"]
        self.taken: Final[int] = at["taken"]
        self.scores: Final[int] = at["scores"]
        self.hupfers: Final[int] = at["hupfers"]
        self.dealer: Final[int] = at["dealer"]
        self.round: Final[int] = at["round"]


class Seen:
    """The content of a vector, without the cards in hand."""

    __slots__ = (
        "bids",
        "hand_size",
        "hupfers",
        "leaders",
        "own",
        "plays",
        "round",
        "scores",
        "taken",
        "takers",
        "turned",
    )

    def __init__(
        self,
        own: int,
        number: int,
        hand_size: int,
        turned: int,
        bids: bytes,
        plays: bytes,
        leaders: bytes,
        takers: bytes,
        taken: bytes,
        scores: tuple[int, ...],
        hupfers: bytes,
    ) -> None:
        """Set the fields to the values of a view."""
        self.own = own
        self.round = number
        self.hand_size = hand_size
        self.turned = turned
        self.bids = bids
        self.plays = plays
        self.leaders = leaders
        self.takers = takers
        self.taken = taken
        self.scores = scores
        self.hupfers = hupfers


_NOTHING: Final = Seen(0, -1, 0, 0, b"", b"", b"", b"", b"", (), b"")
"""The content of a vector of zeros."""


@cache
def _layout(seats: int) -> _Layout:
    return _Layout(seats)


def vector(view: NullernView) -> list[float]:
    """Encode a view as the numbers that `fields` describes."""
    at = _layout(view.seats)
    numbers = [0.0] * at.length
    _write_new(_seen(view), view.hand, numbers, at, False)
    return numbers


def vector_into(view: NullernView, array: Any) -> None:
    """Write the numbers that `vector` returns into a float32 or byte array (see `engine.observation.fill`)."""
    target, in_bytes = opened(array)
    at = _layout(view.seats)
    fill(target, at.bytes if in_bytes else at.floats)
    _write_new(_seen(view), view.hand, target, at, in_bytes)


class SeatVector:
    """The vector last written for a seat. Updating it with the changes since then gives the next one."""

    __slots__ = ("_at", "_in_bytes", "numbers", "seen")

    def __init__(self, seats: int, in_bytes: bool) -> None:
        """Create a vector of zeros."""
        self._at: Final = _layout(seats)
        self._in_bytes: Final = in_bytes
        self.numbers: Final[Any] = blank(self._at.length, in_bytes)
        """The vector, a memoryview."""
        self.seen: Seen = _NOTHING
        """The vector's content."""

    def renew(self, seen: Seen, hand: bytes) -> None:
        """Write the whole vector, at the start of a new round."""
        at, in_bytes = self._at, self._in_bytes
        fill(self.numbers, at.bytes if in_bytes else at.floats)
        _write_new(seen, hand, self.numbers, at, in_bytes)
        self.seen = seen

    def go_on(self, seen: Seen) -> None:
        """Write the changes within a round."""
        _write(seen, self.seen, self.numbers, self._at, self._in_bytes)
        self.seen = seen


def _seen(view: NullernView) -> Seen:
    return Seen(
        view.seat,
        view.round,
        view.hand_size,
        view.turned,
        view.bids,
        view.plays,
        view.leaders,
        view.takers,
        view.taken,
        view.scores,
        view.hupfers,
    )


def _write_new(seen: Seen, hand: bytes, numbers: Any, at: _Layout, in_bytes: bool) -> None:
    """Write a whole vector into zeros: the cards in hand, the constants of the round, and the rest."""
    one: Any = 1 if in_bytes else 1.0
    for card in hand:
        numbers[at.hand + card] = one
    numbers[at.turned + seen.turned] = one
    numbers[at.trump + _COLOUR[seen.turned]] = one
    numbers[at.hand_size + seen.hand_size - 1] = one
    numbers[at.dealer + (seen.round - seen.own) % at.seats] = one
    numbers[at.round + seen.round] = one
    _write(seen, _NOTHING, numbers, at, in_bytes)


def _write(seen: Seen, before: Seen, numbers: Any, at: _Layout, in_bytes: bool) -> None:
    """Update the numbers of an earlier view of the same round."""
    tricks, rounds = _IN_BYTES if in_bytes else _IN_FLOATS
    one: Any = 1 if in_bytes else 1.0
    seats, own = at.seats, seen.own
    _write_plays(seen, before, numbers, at, in_bytes, tricks, one)
    if seen.bids != before.bids:
        for seat, bid in enumerate(seen.bids):
            if bid:
                numbers[at.bids + (seat - own) % seats * _BIDS + bid - 1] = one
    if seen.taken != before.taken:
        for seat, count in enumerate(seen.taken):
            if count:
                numbers[at.taken + (seat - own) % seats] = tricks[count]
    if seen.hupfers != before.hupfers:
        for seat, count in enumerate(seen.hupfers):
            if count:
                numbers[at.hupfers + (seat - own) % seats] = rounds[count]
    if seen.scores is not before.scores:
        for seat, score in enumerate(seen.scores):
            step = min(max(score // _POINTS_A_STEP + _NO_POINTS, 0), 255)
            numbers[at.scores + (seat - own) % seats] = step if in_bytes else score / POINTS_SCALE


def _write_plays(seen: Seen, before: Seen, numbers: Any, at: _Layout, in_bytes: bool, tricks: Any, one: Any) -> None:
    """Write the new plays, each with its seat and trick; the cards on the table; the leader; and the tricks taken."""
    seats, own, plays, leaders, takers = at.seats, seen.own, seen.plays, seen.leaders, seen.takers
    zero: Any = 0 if in_bytes else 0.0
    hand, played, played_at, table = at.hand, at.played, at.played_at, at.table
    written, done, led, complete = before.plays, len(before.takers), len(before.leaders), len(takers)
    held = before.round >= 0  # If so, `before` shows the cards played since then in the hand.
    if led > done:
        leader = (leaders[done] - own) % seats
        numbers[at.leader + leader] = zero
        if complete > done:
            for place, card in enumerate(written[done * seats :]):
                numbers[table + (leader + place) % seats * _CARDS + card] = zero
    index, end = len(written), len(plays)
    trick = index // seats
    while index < end:
        number = tricks[trick + 1]
        seat = (leaders[trick] + index - own) % seats  # A trick begins at a multiple of `seats`.
        trick += 1
        until = min(trick * seats, end)
        while index < until:
            card = plays[index]
            numbers[played + seat * _CARDS + card] = one
            numbers[played_at + card] = number
            if trick > complete:
                numbers[table + seat * _CARDS + card] = one
            if held and seat == 0:
                numbers[hand + card] = zero
            seat = seat + 1 if seat + 1 < seats else 0
            index += 1
    if len(leaders) > complete:
        numbers[at.leader + (leaders[complete] - own) % seats] = one
    for trick in range(done, complete):
        numbers[at.takers + trick * seats + (takers[trick] - own) % seats] = one
    numbers[at.complete + done] = zero
    numbers[at.complete + complete] = one
