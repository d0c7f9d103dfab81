"""The fast engine and the naive one agree on every move of random games."""

from __future__ import annotations

from dataclasses import asdict
from random import Random
from typing import Any

import pytest

from engine.deal import SeededDecks
from engine.game import OVER, RoundReport, SeatView
from engine.nullern import NULLERN
from tests.oracles.nullern import PlainGame, card_named

CARDS = [card_named(card.name) for card in NULLERN.cards]
NAMES = [action.name for action in NULLERN.actions]


def in_words(view: SeatView | RoundReport) -> dict[str, Any]:
    """A view or report with cards for indices, to compare with the naive engine's."""
    words: dict[str, Any] = {
        name: list(value) if isinstance(value, bytes | tuple) else value for name, value in asdict(view).items()
    }
    words["turned"] = CARDS[words["turned"]]
    words["plays"] = [CARDS[card] for card in words["plays"]]
    if "hand" in words:
        words["hand"] = [CARDS[card] for card in words["hand"]]
    return words


def agree_on_a_game(seats: int, seed: int) -> None:
    random = Random(f"{seats} {seed}")
    decks = SeededDecks(random.randbytes(32))
    state = NULLERN.new(seats, decks)
    plain = PlainGame(seats, [[CARDS[card] for card in decks(number, 80, 80)] for number in range(20)])
    reports = 0
    while not plain.over:
        (seat,) = plain.waiting()
        assert state.waiting() == (seat,)
        assert state.player == seat
        assert state.round == plain.round
        if random.random() < 0.2 or plain.blind:
            for watcher in range(seats):
                assert in_words(state.view(watcher)) == plain.seen(watcher)
        legal = state.legal(seat)
        assert list(legal) == sorted(set(legal))
        assert {NAMES[action] for action in legal} == plain.legal(seat)
        assert NAMES[state.fallback(seat)] in plain.dull(seat)
        action = random.choice(legal)
        state.apply(action, seat)
        plain.act(seat, NAMES[action])
        assert list(state.scores) == plain.scores
        assert state.ranking() == tuple(plain.places())
        if plain.last_round is None:
            assert state.report is None
        elif reports <= plain.last_round["round"]:  # type: ignore[operator] # an int among other things
            reports += 1
            assert state.report is not None
            assert in_words(state.report) == plain.last_round
    assert reports == 20
    assert state.player == OVER
    assert state.waiting() == ()
    for seat in range(seats):
        assert in_words(state.view(seat)) == plain.seen(seat)


@pytest.mark.parametrize("seats", NULLERN.seats)
def test_random_games_of_nullern_agree_with_the_oracle(seats: int) -> None:
    for seed in range(6):
        agree_on_a_game(seats, seed)


@pytest.mark.long
@pytest.mark.parametrize("seats", NULLERN.seats)
def test_many_random_games_of_nullern_agree_with_the_oracle(seats: int) -> None:
    for seed in range(100, 300):
        agree_on_a_game(seats, seed)
