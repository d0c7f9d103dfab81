"""A view of 6th Sense as numbers.

Nothing is lost: no two views of a table have the same vector. A card's `played_at` and its player give the order of
play; the leaders of earlier tricks follow from the takers. Another seat's block appears without its card (S7).
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import Any, Final, Protocol

from engine.observation import Field, Part, blank, fill, laid_out, layout, opened
from engine.sixth_sense.cards import ACTIONS, CARDS, COLOURS
from engine.sixth_sense.view import SixthSenseView

POINTS_SCALE: Final = 100.0
TRICKS_SCALE: Final = 10.0
LONGEST: Final = 60
"""Number of rounds in the longest game, which is played to a target score (S16)."""
MOST_LOST: Final = 19
"""The largest loss in a round: a prediction of 0, 14 tricks taken, and all five 12s in split tricks."""

_NO_CARD: Final = 255
_CARD: Final = bytes(_NO_CARD if action.card is None else action.card for action in ACTIONS)
_PLACE: Final = tuple(-1 if action.place is None else action.place for action in ACTIONS)
_NINE: Final = tuple(action.kind == "play" and action.value == 9 for action in ACTIONS)
_ORDINARY: Final = bytes(action.kind == "play" and action.value != 9 for action in ACTIONS)
"""For each action, whether it is a play that reveals only its card."""
_COLOUR: Final = tuple(card.colour for card in CARDS)
_CARDS: Final = len(CARDS)
_NO_POINTS: Final = 128
"""A byte stores scores from −128 to 127; others are clipped."""
_TARGET_STEP: Final = 4
"""A byte stores the target in steps of four, rounded down."""


def fields(seats: int, hand_size: int) -> tuple[Field, ...]:
    """Describe the fields of the vector for this number of seats and of cards dealt to each seat."""
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


class _Layout:
    """Offsets of the fields of a vector, and tables for writing it."""

    def __init__(self, seats: int, hand_size: int) -> None:
        at, self.length = layout(fields(seats, hand_size))
        self.floats: Final[Any] = blank(self.length, False)
        self.bytes: Final[Any] = blank(self.length, True)
        self.hand: Final[int] = at["hand"]
        self.prediction: Final[int] = at["prediction"]
        self.peeked: Final[int] = at["peeked"]
        self.turned: Final[int] = at["turned"]
        self.trump: Final[int] = at["trump"]
        self.played: Final[int] = at["played"]
        self.played_at: Final[int] = at["played_at"]
        self.nine: Final[int] = at["nine"]
        self.table: Final[int] = at["table"]
        self.blockers: Final[int] = at["blockers"]
        self.blocked: Final[int] = at["blocked"]
        self.leader: Final[int] = at["leader"]
        self.takers: Final[int] = at["takers"]
        self.worths: Final[int] = at["worths"]
        self.peeks: Final[int] = at["peeks"]
        self.complete: Final[int] = at["complete"]
        self.taken: Final[int] = at["taken"]
        self.scores: Final[int] = at["scores"]
        self.dealer: Final[int] = at["dealer"]
        self.round: Final[int] = at["round"]
        self.target: Final[int] = at["target"]
        self.novice: Final[int] = at["novice"]
        self.late_trump: Final[int] = at["late_trump"]
        self.tricks: Final[tuple[float, ...]] = tuple([number / (hand_size - 1) for number in range(hand_size)])
        """For each trick number, from 1, the value of `played_at` as a float; a byte holds the number itself."""


class Agreed(Protocol):
    """The options of a game, as both its constants and every view contain them."""

    @property
    def target(self) -> int:
        """The target score; 0 for a fixed number of rounds."""

    @property
    def novice(self) -> bool:
        """True if the game is a novice game."""

    @property
    def late_trump(self) -> bool:
        """True if a card is turned over only after all predictions."""


class Seen:
    """The content of a vector, without the cards in hand and the options of the game."""

    __slots__ = (
        "known",
        "leaders",
        "own",
        "peeks",
        "plays",
        "prediction",
        "round",
        "scores",
        "seats",
        "taken",
        "takers",
        "turned",
        "worths",
    )

    def __init__(
        self,
        own: int,
        seats: int,
        number: int,
        turned: int | None,
        prediction: int,
        plays: bytes,
        leaders: bytes,
        takers: bytes,
        worths: bytes,
        peeks: bytes,
        taken: Sequence[int],
        scores: tuple[int, ...],
        known: bytes,
    ) -> None:
        """Set the fields to those of a view; −1 stands for a prediction that is not yet chosen."""
        self.own = own
        self.seats = seats
        self.round = number
        self.turned = turned
        self.prediction = prediction
        self.plays = plays
        self.leaders = leaders
        self.takers = takers
        self.worths = worths
        self.peeks = peeks
        self.taken = taken
        self.scores = scores
        self.known = known


_NUMBERS: Final = tuple(range(256))
_NOTHING: Final = tuple([Seen(0, seats, -1, None, -1, b"", b"", b"", b"", b"", (), (), b"") for seats in range(7)])
"""By number of seats, the content of a vector of zeros."""


@cache
def _layout(seats: int, hand_size: int) -> _Layout:
    return _Layout(seats, hand_size)


def vector(view: SixthSenseView) -> list[float]:
    """Encode the view as the numbers that `fields` describes."""
    at = _layout(view.seats, view.hand_size)
    numbers = [0.0] * at.length
    _write_new(_seen(view), view.hand, view, numbers, at, False)
    return numbers


def vector_into(view: SixthSenseView, array: Any) -> None:
    """Write the numbers that `vector` returns into a float32 or byte array (see `engine.observation.fill`)."""
    target, in_bytes = opened(array)
    at = _layout(view.seats, view.hand_size)
    fill(target, at.bytes if in_bytes else at.floats)
    _write_new(_seen(view), view.hand, view, target, at, in_bytes)


class SeatVector:
    """The vector last written for a seat. Updating it with the changes since then gives the next one."""

    __slots__ = ("_at", "_in_bytes", "numbers", "seen")

    def __init__(self, seats: int, hand_size: int, in_bytes: bool) -> None:
        """Create a vector of zeros."""
        self._at: Final = _layout(seats, hand_size)
        self._in_bytes: Final = in_bytes
        self.numbers: Final[Any] = blank(self._at.length, in_bytes)
        """The vector, a memoryview."""
        self.seen: Seen = _NOTHING[seats]
        """The vector's content."""

    def renew(self, seen: Seen, hand: bytes, agreed: Agreed) -> None:
        """Write the whole vector, at the start of a new round."""
        at, in_bytes = self._at, self._in_bytes
        fill(self.numbers, at.bytes if in_bytes else at.floats)
        _write_new(seen, hand, agreed, self.numbers, at, in_bytes)
        self.seen = seen

    def go_on(self, seen: Seen) -> None:
        """Write the changes within a round."""
        _write(seen, self.seen, self.numbers, self._at, self._in_bytes)
        self.seen = seen


def _seen(view: SixthSenseView) -> Seen:
    return Seen(
        view.seat,
        view.seats,
        view.round,
        view.turned,
        -1 if view.prediction is None else view.prediction,
        view.plays,
        view.leaders,
        view.takers,
        view.worths,
        view.peeks,
        view.taken,
        view.scores,
        view.known_predictions,
    )


def _write_new(seen: Seen, hand: bytes, agreed: Agreed, numbers: Any, at: _Layout, in_bytes: bool) -> None:
    """Write a whole vector into zeros: the cards in hand, the constants of the round, and the rest."""
    one: Any = 1 if in_bytes else 1.0
    for card in hand:
        numbers[at.hand + card] = one
    numbers[at.dealer + (seen.round - seen.own) % seen.seats] = one
    numbers[at.round] = seen.round if in_bytes else seen.round / LONGEST
    if agreed.target:
        numbers[at.target] = agreed.target // _TARGET_STEP if in_bytes else agreed.target / POINTS_SCALE
    if agreed.novice:
        numbers[at.novice] = one
    if agreed.late_trump:
        numbers[at.late_trump] = one
    _write(seen, _NOTHING[seen.seats], numbers, at, in_bytes)


def _write(seen: Seen, before: Seen, numbers: Any, at: _Layout, in_bytes: bool) -> None:
    """Update the numbers of an earlier view of the same round."""
    one: Any = 1 if in_bytes else 1.0
    if seen.known != before.known:
        _write_predictions(seen, numbers, at, in_bytes, one)
    turned = seen.turned
    if turned is not None and before.turned is None:
        numbers[at.turned + turned] = one
        numbers[at.trump + _COLOUR[turned]] = one
    _write_plays(seen, before, numbers, at, in_bytes, one)
    _write_tricks(seen, before, numbers, at, in_bytes, one)


def _write_predictions(seen: Seen, numbers: Any, at: _Layout, in_bytes: bool, one: Any) -> None:
    """Write the known predictions."""
    for seat, card in enumerate(seen.known):
        if card and seat != seen.own:
            numbers[at.peeked + ((seat - seen.own) % seen.seats - 1) * _CARDS + card - 1] = one
    if seen.prediction >= 0:
        numbers[at.prediction + seen.prediction] = one
        numbers[at.hand + seen.prediction] = 0 if in_bytes else 0.0


def _write_plays(seen: Seen, before: Seen, numbers: Any, at: _Layout, in_bytes: bool, one: Any) -> None:
    """Write the plays since `before`, each with its seat and trick, and the cards on the table."""
    seats, own, plays, leaders = seen.seats, seen.own, seen.plays, seen.leaders
    zero: Any = 0 if in_bytes else 0.0
    tricks: Any = _NUMBERS if in_bytes else at.tricks
    ordinary, card_of = _ORDINARY, _CARD
    hand, played, played_at, table = at.hand, at.played, at.played_at, at.table
    written = before.plays
    held = before.round >= 0  # If so, `before` shows the cards played since then in the hand.
    old, complete = len(before.takers), len(seen.takers)
    index = old * seats
    if complete > old and len(written) > index:
        seat = (leaders[old] - own) % seats
        while index < len(written):
            card = card_of[written[index]]
            if card != _NO_CARD:
                numbers[table + seat * _CARDS + card] = zero
            seat = seat + 1 if seat + 1 < seats else 0
            index += 1
    index, end = len(written), len(plays)
    trick = index // seats
    while index < end:
        number = tricks[trick + 1]
        seat = (leaders[trick] + index - own) % seats  # A trick begins at a multiple of `seats`.
        trick += 1
        until = min(trick * seats, end)
        while index < until:
            action = plays[index]
            card = card_of[action]
            if ordinary[action]:
                numbers[played + seat * _CARDS + card] = one
                numbers[played_at + card] = number
            else:
                _write_play(seen, numbers, at, action, trick - 1, seat, number, one)
            if card != _NO_CARD:
                if trick > complete:
                    numbers[table + seat * _CARDS + card] = one
                if held and seat == 0:
                    numbers[hand + card] = zero
            seat = seat + 1 if seat + 1 < seats else 0
            index += 1


def _write_play(
    seen: Seen, numbers: Any, at: _Layout, action: int, trick: int, seat: int, number: Any, one: Any
) -> None:
    """Write a play that reveals more than its card: a 9, or a block, whose card may be hidden."""
    card = _CARD[action]
    if card != _NO_CARD:
        numbers[at.played + seat * _CARDS + card] = one
        numbers[at.played_at + card] = number
    if _NINE[action]:
        numbers[at.nine + _COLOUR[card]] = one
    if _PLACE[action] >= 0:
        seats = seen.seats
        numbers[at.blockers + trick * seats + seat] = one
        numbers[at.blocked + trick * seats + (seen.leaders[trick] - seen.own + _PLACE[action]) % seats] = one


def _write_tricks(seen: Seen, before: Seen, numbers: Any, at: _Layout, in_bytes: bool, one: Any) -> None:
    """Write the leader, the takers and values of the tricks since `before`, and the scores, which change at the end."""
    seats, own, leaders, takers = seen.seats, seen.own, seen.leaders, seen.takers
    zero: Any = 0 if in_bytes else 0.0
    complete, done, led = len(takers), len(before.takers), len(before.leaders)
    if led > done:
        numbers[at.leader + (leaders[done] - own) % seats] = zero
    if len(leaders) > complete:
        numbers[at.leader + (leaders[complete] - own) % seats] = one
    numbers[at.complete + done] = zero
    numbers[at.complete + complete] = one
    worths, peeks, taken = seen.worths, seen.peeks, seen.taken
    # The loop starts with the last trick of `before`: its value, and whether its leader peeks, may have been open.
    for trick in range(max(led - 1, 0), complete):
        taker = takers[trick]
        if taker < seats:
            numbers[at.takers + trick * seats + (taker - own) % seats] = one
            numbers[at.worths + trick] = worths[trick] if in_bytes else worths[trick] / 2
            numbers[at.taken + (taker - own) % seats] = taken[taker] if in_bytes else taken[taker] / TRICKS_SCALE
        if peeks[trick]:
            numbers[at.peeks + trick] = one
    if seen.scores is not before.scores:
        for seat, score in enumerate(seen.scores):
            place = at.scores + (seat - own) % seats
            numbers[place] = min(max(score + _NO_POINTS, 0), 255) if in_bytes else score / POINTS_SCALE
