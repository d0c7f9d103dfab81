"""The fast engine and the reference implementation agree on every move of a game."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.deal import SeededDecks
from engine.game import Option
from engine.sixth_sense import SIXTH_SENSE
from tests.oracles.agreement import agree_on_sixth_sense
from tests.oracles.strategies import Tape, TwoDecks, decks_of, tapes

VARIANTS: list[dict[str, Option]] = [
    {},
    {"novice": True},
    {"late_trump": True},
    {"target": 2},
    {"target": 15, "novice": True},
    {"target": 2, "late_trump": True},
]
trumps = st.sampled_from([{}, {"novice": True}, {"late_trump": True}])
targets = st.builds(lambda target: {"target": target}, st.just(0) | st.integers(1, 10) | st.integers(1, 1000))
games = st.tuples(
    st.sampled_from(SIXTH_SENSE.seats),
    decks_of(SIXTH_SENSE),
    st.builds(lambda trump, target: {**trump, **target}, trumps, st.just({}) | targets),
    tapes,
    st.integers(0, 3),
)


def agree_on_a_random_game(seats: int, seed: int, options: dict[str, Option]) -> None:
    random = Random(f"{seats} {seed} {options}")
    decks = SeededDecks(random.randbytes(32))
    agree_on_sixth_sense(SIXTH_SENSE, seats, decks, options, random.choice, eager=random.randrange(4))


@pytest.mark.unmeasured
@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("seats", SIXTH_SENSE.seats)
@pytest.mark.thorough
def test_random_games_agree_with_the_oracle(seats: int, options: dict[str, Option]) -> None:
    for seed in range(1 if "target" in options else 4):
        agree_on_a_random_game(seats, seed, options)


@pytest.mark.thorough
@settings(max_examples=25)
@given(games)
def test_any_decks_options_and_play_agree_with_the_oracle(
    game: tuple[int, TwoDecks, dict[str, Option], Tape, int],
) -> None:
    seats, decks, options, tape, eager = game
    agree_on_sixth_sense(SIXTH_SENSE, seats, decks, options, tape, eager)


@pytest.mark.long
@pytest.mark.parametrize("options", VARIANTS, ids=str)
@pytest.mark.parametrize("seats", SIXTH_SENSE.seats)
def test_many_random_games_agree_with_the_oracle(seats: int, options: dict[str, Option]) -> None:
    for seed in range(100, 120 if "target" in options else 300):
        agree_on_a_random_game(seats, seed, options)


@pytest.mark.long
@settings(max_examples=400)
@given(games)
def test_many_decks_options_and_plays_agree_with_the_oracle(
    game: tuple[int, TwoDecks, dict[str, Option], Tape, int],
) -> None:
    seats, decks, options, tape, eager = game
    agree_on_sixth_sense(SIXTH_SENSE, seats, decks, options, tape, eager)
