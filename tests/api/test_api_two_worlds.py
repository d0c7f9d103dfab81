"""The messages to a bot depend only on what its seat may know: worlds that look alike lead to equal bytes.

The test plays a random game up to some point. Then it swaps two cards of the round's deal, both unseen by the seat,
and makes the same choices again. The seat cannot distinguish the worlds, so all bytes sent to it must be equal.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from random import Random

import pytest

from arena.api.codec import encode
from arena.match.effects import Ask
from arena.server.sessions.messages import Outgoing, Question
from engine.deal import SeededDecks
from engine.game import OVER, Action, Decks, Game, Option, RoundReport, SeatView, State
from engine.nullern import NULLERN, NullernView
from engine.sixth_sense import SIXTH_SENSE, SixthSenseView
from tests.engine.decks import Arranged

Choice = tuple[int, int]
"""A seat and the action that it chose."""
OPTIONS: list[dict[str, Option]] = [{"novice": True}, {"late_trump": True}, {"target": 20}]
BLIND_ROUND = 19
"""The number of Nullern's blind round (N1)."""


def sent(state: State[SeatView, RoundReport], seat: int) -> bytes:
    """Return the bytes of the question that a seat receives."""
    legal = state.legal(seat) if seat in state.waiting() else ()
    return encode(Outgoing(questions=[Question(7, Ask(seat, 1, legal, state.view(seat), 1000, 1000))]))


def played(game: Game, seats: int, options: Mapping[str, Option], decks: Decks, rng: Random) -> list[Choice]:
    """Play a whole game at random."""
    actions = game.actions
    state = game.new(seats, decks, **options)
    choices = []
    while state.player != OVER:
        seat = rng.choice(state.waiting())
        # blocks, splits and peeks are rare in random play, but endanger secrets most
        legal = state.legal(seat)
        special = [action for action in legal if actions[action].kind != "play" and actions[action].value != 0]
        blocks = [action for action in legal if actions[action].kind == "block"]
        action = rng.choice(blocks or special or legal) if rng.random() < 0.7 else rng.choice(legal)
        choices.append((seat, action))
        state.apply(action, seat)
    return choices


def swapped(decks: Decks, in_round: int, one: int, other: int) -> Decks:
    """Return the same decks with two cards of one round swapped."""

    def shuffled(number: int, size: int, count: int) -> Sequence[int]:
        deck = decks(number, size, count)
        if number != in_round:
            return deck
        return [other if card == one else one if card == other else card for card in deck]

    return Arranged(shuffled)


def translated(actions: Sequence[Action], action: int, one: int, other: int) -> int:
    """Translate a choice for the seat that now holds the other card. No other seat sees the card of a prediction or
    block.
    """
    chosen = actions[action]
    if chosen.kind not in ("predict", "block") or chosen.card not in (one, other):
        return action
    card = other if chosen.card == one else one
    for number, candidate in enumerate(actions):
        if (candidate.kind, candidate.card, candidate.place) == (chosen.kind, card, chosen.place):
            return number
    return -1


def seen(view: SeatView) -> set[int]:
    """Return the cards whose holders a seat knows."""
    match view:
        case NullernView():
            return {view.turned, *view.hand, *view.plays}
        case SixthSenseView():
            cards = set(view.hand) | {card - 1 for card in view.known_predictions if card}
            if view.turned is not None:
                cards.add(view.turned)
            for index, action in enumerate(view.plays):
                card = SIXTH_SENSE.actions[action].card
                if card is not None:
                    cards.add(card)
                elif (view.leaders[index // view.seats] + index) % view.seats == view.seat:
                    raise AssertionError("a seat sees its own blocks")
            return cards
        case _:
            raise NotImplementedError


class World:
    """A game in progress, with the messages that one seat received in the last round."""

    def __init__(self, game: Game, seats: int, options: Mapping[str, Option], decks: Decks, seat: int) -> None:
        self.state = game.new(seats, decks, **options)
        self.actions = game.actions
        self.seat = seat
        self.shown: list[bytes] = []

    def go_on(self, choices: Sequence[Choice], from_round: int, cards: tuple[int, int] | None = None) -> bool:
        """Make the choices again. Return False if one is impossible, because the seat can then distinguish the
        worlds.
        """
        for chooser, action in choices:
            if self.state.round == from_round:
                self.shown.append(sent(self.state, self.seat))
                if cards and chooser != self.seat:
                    action = translated(self.actions, action, *cards)
            if chooser not in self.state.waiting() or action not in list(self.state.legal(chooser)):
                return False
            self.state.apply(action, chooser)
        return True


def compare(
    game: Game, options: Mapping[str, Option], seats: int, decks: Decks, choices: Sequence[Choice], rng: Random
) -> int:
    """Compare the world of these choices with other worlds that look alike to a seat. Return the number of worlds
    compared.
    """
    seat = rng.randrange(seats)
    in_round = _round_of_the_last(game, seats, options, decks, choices)
    here = World(game, seats, options, decks, seat)
    assert here.go_on(choices[:-1], in_round)
    here.shown.append(sent(here.state, seat))
    deck = set(range(len(game.cards) - (14 if game is SIXTH_SENSE and seats == 2 else 0)))
    pairs = list(combinations(sorted(deck - seen(here.state.view(seat))), 2))
    compared = 0
    for cards in rng.sample(pairs, min(10, len(pairs))):
        there = World(game, seats, options, swapped(decks, in_round, *cards), seat)
        if there.go_on(choices[:-1], in_round, cards):
            there.shown.append(sent(there.state, seat))
            assert there.shown == here.shown, f"seat {seat} can tell cards {cards} apart"
            compared += 1
    return compared


def _round_of_the_last(
    game: Game, seats: int, options: Mapping[str, Option], decks: Decks, choices: Sequence[Choice]
) -> int:
    state = game.new(seats, decks, **options)
    for chooser, action in choices[:-1]:
        state.apply(action, chooser)
    return state.round


@pytest.mark.parametrize(
    ("game", "seats", "options"),
    [
        *((game, seats, {}) for game in (SIXTH_SENSE, NULLERN) for seats in game.seats),
        *((SIXTH_SENSE, 3, options) for options in OPTIONS),
    ],
    ids=lambda value: getattr(value, "name", None),
)
def test_worlds_that_look_alike_to_a_seat_give_equal_bytes(game: Game, seats: int, options: dict[str, Option]) -> None:
    rng = Random(f"{game.name} {seats} {options}")
    compared = 0
    for deal in range(2):
        decks = SeededDecks(bytes([deal] * 32))
        choices = played(game, seats, options, decks, rng)
        for _ in range(3):
            point = rng.randrange(1, len(choices) + 1)
            compared += compare(game, options, seats, decks, choices[:point], rng)
    assert compared >= 20, "too few worlds were compared to prove anything"


@pytest.mark.parametrize("seats", NULLERN.seats)
def test_N8_no_byte_tells_a_seat_its_blind_card_before_it_is_played(seats: int) -> None:
    rng = Random(seats)
    decks = SeededDecks(bytes([seats] * 32))
    choices = played(NULLERN, seats, {}, decks, rng)
    for back, (seat, _) in enumerate(reversed(choices[-seats:]), 1):
        card = decks(BLIND_ROUND, len(NULLERN.cards), seat + 1)[seat]
        here = World(NULLERN, seats, {}, decks, seat)
        assert here.go_on(choices[:-back], BLIND_ROUND)
        here.shown.append(sent(here.state, seat))
        assert len(here.shown) == 2 * seats - back + 1, "the bids and the cards played before its own"
        unseen = sorted(set(range(len(NULLERN.cards))) - seen(here.state.view(seat)) - {card})
        for other in rng.sample(unseen, 10):
            there = World(NULLERN, seats, {}, swapped(decks, BLIND_ROUND, card, other), seat)
            assert there.go_on(choices[:-back], BLIND_ROUND)
            there.shown.append(sent(there.state, seat))
            assert there.shown == here.shown, f"seat {seat} can tell its card {card} from {other}"


@pytest.mark.parametrize("seats", NULLERN.seats)
def test_N8_a_blind_card_is_told_to_all_once_it_is_played(seats: int) -> None:
    decks = SeededDecks(bytes(32))
    choices = played(NULLERN, seats, {}, decks, Random(seats))
    leader = choices[-seats][0]
    unseen = max(set(range(len(NULLERN.cards))) - set(decks(BLIND_ROUND, len(NULLERN.cards), seats + 1)))
    card = decks(BLIND_ROUND, len(NULLERN.cards), seats)[leader]
    here = World(NULLERN, seats, {}, decks, 0)
    there = World(NULLERN, seats, {}, swapped(decks, BLIND_ROUND, card, unseen), 0)
    for world in (here, there):
        assert world.go_on(choices[: -seats + 1], BLIND_ROUND)
    assert here.shown == there.shown
    for seat in range(seats):
        assert sent(here.state, seat) != sent(there.state, seat)


def test_the_worlds_differ_for_those_who_hold_the_cards() -> None:
    decks = SeededDecks(bytes(32))
    one, other = decks(0, len(SIXTH_SENSE.cards), 43)[14], decks(0, len(SIXTH_SENSE.cards), 43)[28]
    here = SIXTH_SENSE.new(3, decks)
    there = SIXTH_SENSE.new(3, swapped(decks, 0, one, other))
    assert [sent(here, seat) == sent(there, seat) for seat in range(3)] == [True, False, False]
