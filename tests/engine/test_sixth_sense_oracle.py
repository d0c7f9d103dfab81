"""The fast engine and the naive one agree on every move of random games."""

from __future__ import annotations

from dataclasses import asdict
from random import Random
from typing import Any

import pytest

from engine.deal import SeededDecks
from engine.game import Option, RoundReport, SeatView
from engine.sixth_sense import SIXTH_SENSE
from tests.oracles.sixth_sense import PlainGame, card_named

CARDS = [card_named(card.name) for card in SIXTH_SENSE.cards]
NAMES = [action.name for action in SIXTH_SENSE.actions]
VARIANTS: list[dict[str, Option]] = [
    {},
    {"novice": True},
    {"late_trump": True},
    {"target": 2},
    {"target": 15, "novice": True},
    {"target": 2, "late_trump": True},
]


def in_words(view: SeatView | RoundReport) -> dict[str, Any]:
    """A view or report with names for indices, to compare with the naive engine's."""
    words = {
        name: list(value) if isinstance(value, bytes | tuple) else value
        for name, value in asdict(view).items()
        if name not in ("turned", "prediction")
    }
    words["plays"] = [NAMES[action] for action in words["plays"]]
    for name in ("turned", "prediction"):
        if hasattr(view, name):
            card = getattr(view, name)
            words[name] = None if card is None else CARDS[card]
    if "hand" in words:
        words["hand"] = [CARDS[card] for card in words["hand"]]
        words["known_predictions"] = [CARDS[card - 1] if card else None for card in words["known_predictions"]]
    else:
        words["predictions"] = [CARDS[card] for card in words["predictions"]]
    return words


def agree_on_a_game(seats: int, seed: int, options: dict[str, Option]) -> None:
    random = Random(f"{seats} {seed} {options}")
    decks = SeededDecks(random.randbytes(32))
    size = 56 if seats == 2 else 70
    state = SIXTH_SENSE.new(seats, decks, **options)
    plain = PlainGame(
        seats,
        [[CARDS[card] for card in decks(number, size, size)] for number in range(60)],
        novice=bool(options.get("novice")),
        target=int(options.get("target", 0)),
        late_trump=bool(options.get("late_trump")),
    )
    reports = 0
    eager_to_block = random.random()
    while not plain.over:
        waiting = plain.waiting()
        assert state.waiting() == tuple(waiting)
        assert state.player == waiting[0]
        assert state.round == plain.round
        if random.random() < 0.2:
            for seat in range(seats):
                assert in_words(state.view(seat)) == plain.seen(seat)
        for seat in waiting:
            legal = state.legal(seat)
            assert list(legal) == sorted(set(legal))
            assert {NAMES[action] for action in legal} == plain.legal(seat)
            assert state.fallback(seat) in legal
        seat = random.choice(waiting)
        blocks = [action for action in state.legal(seat) if "blocks" in NAMES[action]]
        action = random.choice(blocks if blocks and random.random() < eager_to_block else state.legal(seat))
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
    assert state.player == -1
    assert state.waiting() == ()
    for seat in range(seats):
        assert in_words(state.view(seat)) == plain.seen(seat)


@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("seats", SIXTH_SENSE.seats)
def test_random_games_agree_with_the_oracle(seats: int, options: dict[str, Option]) -> None:
    for seed in range(1 if "target" in options else 10):
        agree_on_a_game(seats, seed, options)


@pytest.mark.long
@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("seats", SIXTH_SENSE.seats)
def test_many_random_games_agree_with_the_oracle(seats: int, options: dict[str, Option]) -> None:
    for seed in range(100, 120 if "target" in options else 300):
        agree_on_a_game(seats, seed, options)
