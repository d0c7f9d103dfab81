"""What a bot is sent depends on what its seat may know, and on nothing else: worlds that look alike give equal bytes.

A game is played at random up to some point. Then two cards that the seat has not seen change places in the deal of the
round, and the same choices are made again. The seat cannot tell the worlds apart: all bytes sent to it must be equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from random import Random

import pytest

from arena.match.effects import Ask
from arena.server.messages import Outgoing, Question
from arena.wire.codec import encode
from engine.deal import SeededDecks
from engine.game import OVER, Decks, Option, RoundReport, SeatView, State
from engine.sixth_sense import SIXTH_SENSE, SixthSenseView

Choice = tuple[int, int]
"""A seat and its action."""
ACTIONS = SIXTH_SENSE.actions
NUMBERS = {action: number for number, action in enumerate(ACTIONS)}
OPTIONS: list[dict[str, Option]] = [{"novice": True}, {"late_trump": True}, {"target": 20}]


def sent(state: State[SeatView, RoundReport], seat: int) -> bytes:
    """The bytes of a question to a seat."""
    legal = state.legal(seat) if seat in state.waiting() else ()
    message = encode(Outgoing(questions=[Question(7, Ask(seat, 1, legal, state.view(seat), 1000, 1000))]))
    return message.SerializeToString(deterministic=True)


def played(seats: int, options: Mapping[str, Option], decks: Decks, rng: Random) -> list[Choice]:
    """A whole game at random."""
    state = SIXTH_SENSE.new(seats, decks, **options)
    choices = []
    while state.player != OVER:
        seat = rng.choice(state.waiting())
        # Blocks, splits and peeks are rare at random, and they are where secrets meet.
        legal = state.legal(seat)
        special = [action for action in legal if ACTIONS[action].kind != "play" and ACTIONS[action].value != 0]
        blocks = [action for action in legal if ACTIONS[action].kind == "block"]
        action = rng.choice(blocks or special or legal) if rng.random() < 0.7 else rng.choice(legal)
        choices.append((seat, action))
        state.apply(action, seat)
    return choices


def swapped(decks: Decks, in_round: int, one: int, other: int) -> Decks:
    """The same decks but for two cards of one round."""

    def shuffled(number: int, size: int, count: int) -> Sequence[int]:
        deck = decks(number, size, count)
        if number != in_round:
            return deck
        return [other if card == one else one if card == other else card for card in deck]

    return shuffled


def translated(action: int, one: int, other: int) -> int:
    """The choice that somebody makes who holds the other card: of a prediction or a block nobody else sees the card."""
    chosen = ACTIONS[action]
    if chosen.kind not in ("predict", "block") or chosen.card not in (one, other):
        return action
    card = other if chosen.card == one else one
    for number, candidate in enumerate(ACTIONS):
        if (candidate.kind, candidate.card, candidate.place) == (chosen.kind, card, chosen.place):
            return number
    return -1


def seen(state: State[SeatView, RoundReport], seat: int) -> set[int]:
    """The cards whose place a seat knows."""
    view = state.view(seat)
    assert isinstance(view, SixthSenseView)
    cards = set(view.hand) | {card - 1 for card in view.known_predictions if card}
    if view.turned is not None:
        cards.add(view.turned)
    for index, action in enumerate(view.plays):
        card = ACTIONS[action].card
        if card is not None:
            cards.add(card)
        elif (view.leaders[index // view.seats] + index) % view.seats == seat:
            raise AssertionError("a seat sees its own blocks")
    return cards


class World:
    """A game as far as it went, as one seat was shown its last round."""

    def __init__(self, seats: int, options: Mapping[str, Option], decks: Decks, seat: int) -> None:
        self.state = SIXTH_SENSE.new(seats, decks, **options)
        self.seat = seat
        self.shown: list[bytes] = []

    def go_on(self, choices: Sequence[Choice], from_round: int, cards: tuple[int, int] | None = None) -> bool:
        """Makes the choices; False where somebody could not choose so: then the seat can tell the worlds apart."""
        for chooser, action in choices:
            if self.state.round == from_round:
                self.shown.append(sent(self.state, self.seat))
                if cards and chooser != self.seat:
                    action = translated(action, *cards)
            if chooser not in self.state.waiting() or action not in list(self.state.legal(chooser)):
                return False
            self.state.apply(action, chooser)
        return True


def compare(
    seats: int, options: Mapping[str, Option], decks: Decks, choices: Sequence[Choice], seat: int, rng: Random
) -> int:
    """Compares the world of these choices with some that look alike to a seat; returns with how many."""
    in_round = _round_of_the_last(seats, options, decks, choices)
    here = World(seats, options, decks, seat)
    assert here.go_on(choices[:-1], in_round)
    here.shown.append(sent(here.state, seat))
    deck = set(range(len(SIXTH_SENSE.cards) - (14 if seats == 2 else 0)))
    pairs = list(combinations(sorted(deck - seen(here.state, seat)), 2))
    compared = 0
    for cards in rng.sample(pairs, min(10, len(pairs))):
        there = World(seats, options, swapped(decks, in_round, *cards), seat)
        if there.go_on(choices[:-1], in_round, cards):
            there.shown.append(sent(there.state, seat))
            assert there.shown == here.shown, f"seat {seat} can tell cards {cards} apart"
            compared += 1
    return compared


def _round_of_the_last(seats: int, options: Mapping[str, Option], decks: Decks, choices: Sequence[Choice]) -> int:
    state = SIXTH_SENSE.new(seats, decks, **options)
    for chooser, action in choices[:-1]:
        state.apply(action, chooser)
    return state.round


@pytest.mark.parametrize(
    ("seats", "options"), [*((seats, {}) for seats in SIXTH_SENSE.seats), *((3, options) for options in OPTIONS)]
)
def test_worlds_that_look_alike_to_a_seat_give_equal_bytes(seats: int, options: dict[str, Option]) -> None:
    rng = Random(f"{seats} {options}")
    compared = 0
    for deal in range(2):
        decks = SeededDecks(bytes([deal] * 32))
        choices = played(seats, options, decks, rng)
        for _ in range(3):
            point = rng.randrange(1, len(choices) + 1)
            compared += compare(seats, options, decks, choices[:point], rng.randrange(seats), rng)
    assert compared >= 20, "too few worlds were compared to prove anything"


def test_the_worlds_differ_for_those_who_hold_the_cards() -> None:
    decks = SeededDecks(bytes(32))
    one, other = decks(0, len(SIXTH_SENSE.cards), 43)[14], decks(0, len(SIXTH_SENSE.cards), 43)[28]
    here = SIXTH_SENSE.new(3, decks)
    there = SIXTH_SENSE.new(3, swapped(decks, 0, one, other))
    assert [sent(here, seat) == sent(there, seat) for seat in range(3)] == [True, False, False]
