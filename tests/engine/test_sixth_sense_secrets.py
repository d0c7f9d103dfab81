"""A view does not depend on facts that its seat cannot know. Worlds that differ only in these facts have the same
view.
"""

from __future__ import annotations

from random import Random

import pytest

from engine.deal import SeededDecks
from engine.game import Option
from engine.sixth_sense import SIXTH_SENSE
from engine.sixth_sense.cards import BLOCKS, PLAYS_A_COLOUR
from engine.sixth_sense.state import SixthSenseState
from engine.sixth_sense.tricks import cards_of, hand_of

ZEROS = frozenset(index for index, card in enumerate(SIXTH_SENSE.cards) if card.values == (0,))


def another_world(state: SixthSenseState, seat: int, peeked_at: set[int], random: Random) -> SixthSenseState:
    """Return the state after dealing anew everything that the seat cannot know, given the seats at which it peeked."""
    setting = state.setting
    seats = setting.seats
    predicting = -1 in state.predictions
    others = [other for other in range(seats) if other != seat]
    unknown = [other for other in others if state.predictions[other] >= 0 and other not in peeked_at]
    hidden_blocks = [
        index
        for index, action in enumerate(state.plays)
        if SIXTH_SENSE.actions[action].kind == "block" and (state.leaders[index // seats] + index) % seats != seat
    ]
    hidden = {SIXTH_SENSE.actions[state.plays[index]].card for index in hidden_blocks}
    seen = {SIXTH_SENSE.actions[action].card for action in state.plays} - hidden
    seen |= {*cards_of(state.hands[seat]), *(state.predictions[other] for other in {seat, *peeked_at})}
    trump_is_hidden = setting.late_trump and predicting
    if not setting.novice and not trump_is_hidden:
        seen.add(state._deck[-1])
    pool = [card for card in range(56 if seats == 2 else 70) if card not in seen]
    random.shuffle(pool)

    other = state.clone()
    zeros = [card for card in pool if card in ZEROS]
    plays = bytearray(state.plays)
    for index in hidden_blocks:
        zero = zeros.pop()
        pool.remove(zero)
        place = SIXTH_SENSE.actions[state.plays[index]].place
        assert place is not None
        plays[index] = SIXTH_SENSE.cards[zero].colour * PLAYS_A_COLOUR + BLOCKS + place
    other.plays = bytes(plays)
    for unknown_seat in unknown:
        other.predictions[unknown_seat] = pool.pop()
    for other_seat in others:
        other.hands[other_seat] = hand_of([pool.pop() for _ in cards_of(state.hands[other_seat])])
    if trump_is_hidden:
        deck = list(state._deck)
        deck[-1] = pool.pop()
        other._deck = deck
    return other


@pytest.mark.parametrize("options", [{}, {"novice": True}, {"late_trump": True}], ids=str)
@pytest.mark.parametrize("seats", SIXTH_SENSE.seats)
def test_two_worlds_look_the_same_to_a_seat_that_cannot_tell_them_apart(seats: int, options: dict[str, Option]) -> None:
    random = Random(f"{seats} {options}")
    kinds: dict[str, int] = {}
    for _ in range(2):
        state = SIXTH_SENSE.new(seats, SeededDecks(random.randbytes(32)), **options)
        assert isinstance(state, SixthSenseState)
        peeked_at: list[set[int]] = [set() for _ in range(seats)]
        number = 0
        while state.player >= 0:
            if state.round != number:
                number = state.round
                peeked_at = [set() for _ in range(seats)]
            asked = random.choice(state.waiting())
            for seat in {asked, random.randrange(seats)} if random.random() < 0.3 else {asked}:
                other = another_world(state, seat, peeked_at[seat], random)
                assert other.view(seat) == state.view(seat)
                if seat in state.waiting():
                    assert other.legal(seat) == state.legal(seat)
                    if other.hands != state.hands:
                        kind = SIXTH_SENSE.actions[state.legal(seat)[0]].kind
                        kinds[kind] = kinds.get(kind, 0) + 1
                if random.random() < 0.1 and other.hands != state.hands:
                    assert any(other.view(look) != state.view(look) for look in range(seats)), "the worlds do differ"
            legal = state.legal(asked)
            blocks = [action for action in legal if SIXTH_SENSE.actions[action].kind == "block"]
            answers = [action for action in legal if SIXTH_SENSE.actions[action].kind in ("double", "peek")]
            action = random.choice(blocks or answers[1:] or legal)
            if SIXTH_SENSE.actions[action].name == "peek":
                peeked_at[asked].add(state.takers[-1])
            state.apply(action, asked)
    assert min(kinds[kind] for kind in ("predict", "play", "double", "peek")) > 0
