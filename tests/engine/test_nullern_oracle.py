"""The fast engine and the reference implementation agree on every move of a game."""

from __future__ import annotations

from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from engine.deal import SeededDecks
from engine.nullern import NULLERN
from tests.oracles.agreement import agree_on_nullern
from tests.oracles.strategies import Tape, TwoDecks, decks_of, tapes


def agree_on_a_random_game(seats: int, seed: int) -> None:
    random = Random(f"{seats} {seed}")
    agree_on_nullern(NULLERN, seats, SeededDecks(random.randbytes(32)), random.choice)


@pytest.mark.unmeasured
@pytest.mark.parametrize("seats", NULLERN.seats)
def test_random_games_of_nullern_agree_with_the_oracle(seats: int) -> None:
    for seed in range(4):
        agree_on_a_random_game(seats, seed)


@pytest.mark.thorough
@settings(max_examples=25)
@given(st.sampled_from(NULLERN.seats), decks_of(NULLERN), tapes)
def test_any_decks_and_any_play_of_nullern_agree_with_the_oracle(seats: int, decks: TwoDecks, tape: Tape) -> None:
    agree_on_nullern(NULLERN, seats, decks, tape)


@pytest.mark.long
@pytest.mark.parametrize("seats", NULLERN.seats)
def test_many_random_games_of_nullern_agree_with_the_oracle(seats: int) -> None:
    for seed in range(100, 300):
        agree_on_a_random_game(seats, seed)


@pytest.mark.long
@settings(max_examples=500)
@given(st.sampled_from(NULLERN.seats), decks_of(NULLERN), tapes)
def test_many_decks_and_plays_of_nullern_agree_with_the_oracle(seats: int, decks: TwoDecks, tape: Tape) -> None:
    agree_on_nullern(NULLERN, seats, decks, tape)
