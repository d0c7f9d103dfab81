"""High Card, a small game for the tests only. It is the made-up third game that tests the conformance suite itself.

Each seat has three cards. All seats predict at once, in secret, how many tricks they will take. Then they play in turn,
and the highest card takes the trick; among equal cards, the first one. A trick scores one point, and a correct
prediction three.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from operator import index
from random import Random
from typing import Any, Final, NamedTuple, SupportsIndex

from engine.constrained_deal import Redealt
from engine.game import (
    OVER,
    Action,
    Card,
    Chance,
    Decks,
    Option,
    OptionError,
    OptionSpec,
    SeatView,
    Truth,
    ViewError,
    places,
    settle_options,
)
from engine.observation import Field, Part, laid_out, write

COLOURS: Final = ("black", "white")
VALUES: Final = 8
CARDS: Final = tuple(
    Card(f"{colour} {value + 1}", index, (value + 1,))
    for index, colour in enumerate(COLOURS)
    for value in range(VALUES)
)
HAND: Final = 3
PREDICT: Final = len(CARDS)
ACTIONS: Final = (
    *(Action(card.name, "play", index, card.values[0]) for index, card in enumerate(CARDS)),
    *(Action(f"predict {number}", "predict", value=number) for number in range(HAND + 1)),
)


class HighCardView(NamedTuple):
    """Everything that one seat may know."""

    seat: int
    seats: int
    round: int
    rounds: int
    low: bool
    hand: bytes
    predictions: bytes
    """By seat, the prediction plus one, or 0 without a prediction. Until all seats have predicted, a view shows only
    the observing seat's prediction.
    """
    plays: bytes
    takers: bytes
    scores: tuple[int, ...]


class HighCardRound(NamedTuple):
    """A finished round."""

    round: int
    points: tuple[int, ...]
    scores: tuple[int, ...]
    predictions: bytes
    plays: bytes
    takers: bytes


class HighCardState:
    """One game in progress."""

    def __init__(self, seats: int, rounds: int, low: bool, decks: Decks) -> None:
        self.seats, self.rounds, self.low, self.decks = seats, rounds, low, decks
        self.scores: tuple[int, ...] = (0,) * seats
        self.report: HighCardRound | None = None
        self.deal(0)

    def __repr__(self) -> str:
        return "HighCardState(secret)"

    def deal(self, number: int) -> None:
        self.round = number
        deck = self.decks(number, len(CARDS), self.seats * HAND)
        self.hands = tuple(bytes(sorted(deck[seat * HAND : (seat + 1) * HAND])) for seat in range(self.seats))
        self.predictions = bytes(self.seats)
        self.plays = b""
        self.takers = b""

    @property
    def player(self) -> int:
        return min(self.waiting(), default=OVER)

    def waiting(self) -> tuple[int, ...]:
        if self.report is not None and self.report.round == self.rounds - 1:
            return ()
        if 0 in self.predictions:
            return tuple(seat for seat, prediction in enumerate(self.predictions) if not prediction)
        return ((self.leader() + len(self.plays) % self.seats) % self.seats,)

    def leader(self) -> int:
        return self.takers[-1] if self.takers else self.round % self.seats

    def legal(self, seat: SupportsIndex) -> Sequence[int]:
        return range(PREDICT, PREDICT + HAND + 1) if 0 in self.predictions else self.hands[seat]

    def fallback(self, seat: SupportsIndex) -> int:
        return PREDICT + (2 * HAND - 1) // (2 * self.seats) if 0 in self.predictions else self.hands[seat][0]

    def apply(self, action: SupportsIndex, seat: SupportsIndex) -> None:
        action, seat = index(action), index(seat)
        if action >= PREDICT:
            self.predictions = replaced(self.predictions, seat, action - PREDICT + 1)
            return
        hands = list(self.hands)
        hands[seat] = hands[seat].replace(bytes([action]), b"")
        self.hands = tuple(hands)
        self.plays += bytes([action])
        if len(self.plays) % self.seats == 0:
            self.complete()

    def complete(self) -> None:
        trick = self.plays[-self.seats :]
        best = min if self.low else max
        place = trick.index(best(trick, key=lambda card: CARDS[card].values[0]))
        self.takers += bytes([(self.leader() + place) % self.seats])
        if len(self.takers) == HAND:
            taken = [self.takers.count(seat) for seat in range(self.seats)]
            points = tuple(
                tricks + 3 * (tricks + 1 == told) for tricks, told in zip(taken, self.predictions, strict=True)
            )
            self.scores = tuple(score + won for score, won in zip(self.scores, points, strict=True))
            self.report = HighCardRound(self.round, points, self.scores, self.predictions, self.plays, self.takers)
            if self.round + 1 < self.rounds:
                self.deal(self.round + 1)

    def clone(self) -> HighCardState:
        return copy(self)  # every attribute is immutable

    def view(self, seat: SupportsIndex) -> HighCardView:
        seat = index(seat)
        own = replaced(bytes(self.seats), seat, self.predictions[seat])
        return HighCardView(
            seat=seat,
            seats=self.seats,
            round=self.round,
            rounds=self.rounds,
            low=self.low,
            hand=self.hands[seat],
            predictions=own if 0 in self.predictions else self.predictions,
            plays=self.plays,
            takers=self.takers,
            scores=self.scores,
        )

    def vector(self, seat: SupportsIndex) -> list[float]:
        seat = index(seat)
        view = self.view(seat)
        hand = [float(card in view.hand) for card in range(len(CARDS))]
        told = [float(told == number + 1) for told in view.predictions for number in range(HAND + 1)]
        plays = [float(card == play) for play in view.plays for card in range(len(CARDS))]
        plays += [0.0] * (self.seats * HAND * len(CARDS) - len(plays))
        takers = [float(seat == taker) for taker in view.takers for seat in range(self.seats)]
        takers += [0.0] * (self.seats * HAND - len(takers))
        scores = [score / 30 for score in view.scores]
        return [*hand, *told, *plays, *takers, *scores, view.round / 5, float(view.low), seat / self.seats]

    def vector_into(self, seat: SupportsIndex, array: Any) -> None:
        write(self.vector(seat), HIGH_CARD.observation(self.seats), array)

    def ranking(self) -> tuple[int, ...]:
        return places(self.scores)


def replaced(values: bytes, index: int, value: int) -> bytes:
    """Return a copy with one changed value."""
    return values[:index] + bytes([value]) + values[index + 1 :]


class HighCard:
    """The game."""

    name: str = "high_card"
    title: str = "High Card"
    seats: range = range(2, 5)
    colours: tuple[str, ...] = COLOURS
    cards: tuple[Card, ...] = CARDS
    actions: tuple[Action, ...] = ACTIONS
    options: tuple[OptionSpec, ...] = (
        OptionSpec("rounds", 2, "how many rounds are played, 1 to 5"),
        OptionSpec("low", False, "the lowest card takes the trick"),
    )

    def observation(self, seats: int) -> tuple[Field, ...]:
        return laid_out(
            (
                Part("hand", (len(CARDS),), "1 for every card in hand"),
                Part("predictions", (seats, HAND + 1), "by seat: 1 for the number it foretold, where known"),
                Part("plays", (seats * HAND, len(CARDS)), "the cards played, one after the other"),
                Part("takers", (HAND, seats), "by trick: 1 for the seat that took it"),
                Part("scores", (seats,), "by seat: points before this round ÷ 30"),
                Part("round", (), "the number of the round, from 0, ÷ 5"),
                Part("low", (), "1 where the lowest card takes the trick"),
                Part("seat", (), "the seat that looks ÷ seats"),
            )
        )

    def longest(self, seats: int, **options: Option) -> int:
        return int(settle_options(self, seats, options)["rounds"]) * seats * (HAND + 1)

    def points(self, seats: int, **options: Option) -> range:
        return range(6 * int(settle_options(self, seats, options)["rounds"]) + 1)

    def new(self, seats: int, decks: Decks, **options: Option) -> HighCardState:
        settled = settle_options(self, seats, options)
        rounds = int(settled["rounds"])
        if not 1 <= rounds <= 5:
            raise OptionError(f"option rounds takes 1 to 5, not {rounds}")
        return HighCardState(seats, rounds, bool(settled["low"]), decks)

    def sample(self, view: SeatView, rng: Chance) -> HighCardState:
        """Return a game with the unseen cards dealt anew. If seats are still predicting, no other seat has predicted in
        this game.
        """
        deck, choices = self.truth(view, rng)
        assert isinstance(view, HighCardView), "or there is no truth"
        state = HighCardState(view.seats, view.rounds, view.low, Redealt(view.round, deck, rng))
        state.deal(view.round)
        state.scores = view.scores
        for seat, action in choices:
            state.apply(action, seat)
        return state

    def sample_many(self, view: SeatView, rng: Chance, count: int) -> list[HighCardState]:
        return [self.sample(view, rng) for _ in range(count)]

    def truth(self, view: SeatView, rng: Chance) -> Truth:
        """Return a deal that the view allows."""
        if not isinstance(view, HighCardView) or (len(view.takers) == HAND and view.round + 1 == view.rounds):
            raise ViewError("no view of High Card in progress")
        hidden = [card for card in range(len(CARDS)) if card not in view.hand + view.plays]
        Random(rng.randbytes(16)).shuffle(hidden)
        leaders = [view.round % view.seats, *view.takers]
        plays = [
            ((leaders[index // view.seats] + index) % view.seats, action) for index, action in enumerate(view.plays)
        ]
        deck: list[int] = []
        for seat in range(view.seats):
            held = [action for who, action in plays if who == seat] + [*(view.hand if seat == view.seat else b"")]
            deck += held + [hidden.pop() for _ in range(HAND - len(held))]
        told = [(seat, PREDICT + number - 1) for seat, number in enumerate(view.predictions) if number]
        return Truth(deck, [*told, *plays])


HIGH_CARD: Final = HighCard()
