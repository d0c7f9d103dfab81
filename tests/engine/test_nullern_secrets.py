"""A view does not depend on facts that its seat cannot know. Worlds that differ only in these facts have the same
view.
"""

from __future__ import annotations

from random import Random

import pytest

from engine.deal import SeededDecks
from engine.nullern import NULLERN
from engine.nullern.cards import BLIND
from engine.nullern.state import NullernState
from tests.engine.nullern_table import BLIND_ROUND, new, pass_by

EVERY_SIZE = pytest.mark.parametrize("seats", NULLERN.seats)


def another_world(state: NullernState, seat: int, random: Random) -> NullernState:
    """Return the state after dealing anew all cards that the seat cannot know: in the blind round, its own, too."""
    blind = state.round == BLIND_ROUND
    seen = {state.turned, *state.plays, *(b"" if blind else state.hands[seat])}
    pool = [card for card in range(80) if card not in seen]
    random.shuffle(pool)
    other = state.clone()
    for another in range(state.seats):
        if blind or another != seat:
            other.hands[another] = bytes(sorted(pool.pop() for _ in state.hands[another]))
    return other


@EVERY_SIZE
def test_two_worlds_of_nullern_look_the_same_to_a_seat_that_cannot_tell_them_apart(seats: int) -> None:
    random = Random(seats)
    kinds: dict[str, int] = {}
    for _ in range(3):
        state = new(seats, SeededDecks(random.randbytes(32)))
        while state.player >= 0:
            asked = state.player
            blind = state.round == BLIND_ROUND
            for seat in range(seats) if blind else {asked, random.randrange(seats)}:
                other = another_world(state, seat, random)
                assert other.view(seat) == state.view(seat)
                if seat == asked:
                    assert other.legal(seat) == state.legal(seat)
                    assert other.fallback(seat) == state.fallback(seat)
                if other.hands != state.hands:
                    kind = f"{'blind' if blind else 'open'} {NULLERN.actions[state.legal(asked)[0]].kind}"
                    kinds[kind] = kinds.get(kind, 0) + 1
                    assert blind or any(other.view(look) != state.view(look) for look in range(seats)), "they do differ"
            state.apply(random.choice(state.legal(asked)), asked)
    assert min(kinds[kind] for kind in ("open bid", "open play", "blind bid", "blind play")) > 0


@EVERY_SIZE
def test_N8_swapped_blind_cards_change_nothing_for_anybody_until_they_are_played(seats: int) -> None:
    state = pass_by(new(seats, SeededDecks(bytes(32))), BLIND_ROUND)
    swapped = state.clone()
    swapped.hands = [*state.hands[1:], state.hands[0]]
    for step in range(seats * 2):
        asked = state.player
        assert asked == swapped.player
        if step <= seats:
            assert [swapped.view(seat) for seat in range(seats)] == [state.view(seat) for seat in range(seats)]
        assert swapped.legal(asked) == state.legal(asked)
        assert step < seats or state.legal(asked) == bytes([BLIND])
        for world in (state, swapped):
            world.apply(world.fallback(asked), asked)
    assert swapped.view(0).plays != state.view(0).plays, "the worlds did differ"


@EVERY_SIZE
def test_N8_a_blind_card_is_in_no_view_before_it_is_played(seats: int) -> None:
    state = pass_by(new(seats, SeededDecks(bytes(32))), BLIND_ROUND)
    cards = b"".join(state.hands)
    played = 0
    while state.player >= 0:
        for seat in range(seats):
            view = state.view(seat)
            assert view.hand == b""
            assert len(view.plays) == played
        played += not state.bids.count(0)
        state.apply(state.fallback(state.player), state.player)
    assert sorted(state.view(0).plays) == sorted(cards)
