"""Observation vectors contain everything that the view contains, and their documentation page is correct."""

from __future__ import annotations

import pickle
import subprocess
import sys
from array import array
from collections.abc import Iterator
from copy import deepcopy
from pathlib import Path
from random import Random
from typing import Any

import pytest

from engine.deal import SeededDecks
from engine.game import OVER, Game, Option
from engine.observation import Field, VectorError
from engine.registry import GAMES

ROOT = Path(__file__).parents[2]
OPTIONS: dict[str, list[dict[str, Option]]] = {
    "sixth_sense": [{}, {"novice": True}, {"late_trump": True}, {"target": 1000}],
    "nullern": [{}],
}
TABLES = [
    pytest.param(game, seats, options, id=f"{game.name}-{seats}-{'-'.join(options) or 'plain'}")
    for game in GAMES.values()
    for seats in game.seats
    for options in OPTIONS.get(game.name, [{}])
    if seats in (game.seats[0], game.seats[-1]) or not options
]
EVERY_TABLE = pytest.mark.parametrize(("game", "seats", "options"), TABLES)
EVERY_GAME = pytest.mark.parametrize("game", [*GAMES.values()], ids=lambda game: game.name)


def played(game: Game, seats: int, options: dict[str, Option], most: int = 1000) -> Iterator[Any]:
    """Return at most the given number of states of a random game. The last is the state at the end."""
    random = Random(seats)
    state = game.new(seats, SeededDecks(seats.to_bytes(32, "big")), **options)
    for _ in range(most):
        yield state
        if state.player == OVER:
            return
        seat = random.choice(state.waiting())
        state.apply(random.choice(state.legal(seat)), seat)


@EVERY_TABLE
def test_two_views_that_differ_have_vectors_that_differ(game: Game, seats: int, options: dict[str, Option]) -> None:
    views, vectors, pairs = set(), set(), set()
    for state in played(game, seats, options, 150):
        for seat in range(seats):
            view, vector = state.view(seat), tuple(state.vector(seat))
            views.add(view)
            vectors.add(vector)
            pairs.add((view, vector))
    assert len(views) == len(vectors) == len(pairs)


@EVERY_GAME
def test_every_field_says_something(game: Game) -> None:
    seats = game.seats[0]
    silent = {field.name: field for field in game.observation(seats)}
    for options in OPTIONS.get(game.name, [{}]):
        for state in played(game, seats, options):
            vector = state.vector(max(state.player, 0))
            for field in [*silent.values()]:
                if any(vector[field.offset : field.offset + field.size]):
                    del silent[field.name]
    assert not silent


def part(game: Game, state: Any, seat: int, name: str) -> list[float]:
    [field] = [field for field in game.observation(state.view(seat).seats) if field.name == name]
    return list(state.vector(seat)[field.offset : field.offset + field.size])


@EVERY_GAME
def test_seats_are_counted_from_the_one_that_looks(game: Game) -> None:
    """Check the fields that have the same meaning in every game."""
    seats = min(4, game.seats[-1])
    named = {field.name for field in game.observation(seats)}
    for state in played(game, seats, {}, 200):
        for seat in range(seats):
            view = state.view(seat)
            if "dealer" in named:
                dealer = [float((seat + left) % seats == view.dealer) for left in range(seats)]
                assert part(game, state, seat, "dealer") == dealer
            if "taken" in named:
                turned = [*view.taken[seat:], *view.taken[:seat]]
                assert part(game, state, seat, "taken") == pytest.approx([number / 10 for number in turned])
            if "hand" in named:
                assert [card for card, held in enumerate(part(game, state, seat, "hand")) if held] == [*view.hand]


@pytest.mark.process
def test_the_page_about_observations_is_what_the_games_say(tmp_path: Path) -> None:
    script = tmp_path / "observations.py"
    script.write_text((ROOT / "docs" / "observations.py").read_text())
    subprocess.run([sys.executable, str(script)], check=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT)})
    assert (tmp_path / "observations.md").read_text() == (ROOT / "docs" / "observations.md").read_text()


LOSSY = {"score", "scores", "target"}
"""Fields with values that a byte cannot represent."""


@EVERY_TABLE
@pytest.mark.thorough
def test_bytes_say_the_same_as_floats(game: Game, seats: int, options: dict[str, Option]) -> None:
    fields = game.observation(seats)
    steps = bytearray(fields[-1].offset + fields[-1].size)

    def bound(field: Field) -> float:
        exact = field.name not in LOSSY or (game.name == "sixth_sense" and field.name == "scores" and not options)
        return 1e-12 if exact else field.unit

    runs = [(slice(each.offset, each.offset + each.size), each.zero, each.unit, bound(each)) for each in fields]
    for state in played(game, seats, options, 150):
        for seat in range(seats):
            state.vector_into(seat, steps)
            numbers = state.vector(seat)
            assert all(type(number) is float for number in numbers)
            for run, zero, unit, most in runs:
                pairs = zip(steps[run], numbers[run], strict=True)
                assert all(abs((step - zero) * unit - number) <= most for step, number in pairs), run


@EVERY_GAME
def test_what_was_in_an_array_before_is_gone(game: Game) -> None:
    states = [state.clone() for state in played(game, game.seats[0], {}, 60)]
    length = len(states[0].vector(0))
    reused, fresh = bytearray(b"\xff" * length), bytearray(length)
    for state in states:
        state.vector_into(1, reused)
        state.vector_into(1, fresh := bytearray(length))
        assert reused == fresh


@EVERY_TABLE
def test_a_vector_is_the_same_whatever_was_asked_before(game: Game, seats: int, options: dict[str, Option]) -> None:
    """A state updates the vector that it wrote last. A copy of the state starts with a complete vector."""
    random = Random(7)
    length = len(next(played(game, seats, options, 1)).vector(0))
    arrays = [(array("f", bytes(4 * length)), array("f", bytes(4 * length))), (bytearray(length), bytearray(length))]
    often = [random.choice((0.1, 0.5, 1)) for _ in range(2 * seats)]
    for state in played(game, seats, options, 120):
        for place, (kept, fresh) in enumerate(arrays):
            for seat in range(seats):
                if random.random() < often[2 * seat + place]:
                    state.vector_into(seat, kept)
                    state.clone().vector_into(seat, fresh)
                    assert kept == fresh
                    assert place or kept == array("f", state.vector(seat))


@EVERY_GAME
def test_a_state_that_was_asked_for_vectors_is_copied_without_them(game: Game, request: pytest.FixtureRequest) -> None:
    if request.config.getoption("--compiled"):
        pytest.skip("no state that is compiled can be pickled")
    for state in played(game, game.seats[0], {}, 20):
        numbers = [bytearray(len(state.vector(0))) for _ in range(3)]
        for _ in range(3):
            state.vector_into(1, numbers[0])
        for again, other in zip(numbers[1:], (pickle.loads(pickle.dumps(state)), deepcopy(state)), strict=True):
            for _ in range(3):
                other.vector_into(1, again)
            assert again == numbers[0]


@EVERY_GAME
def test_an_array_that_does_not_fit_is_refused(game: Game) -> None:
    [state] = played(game, game.seats[0], {}, 1)
    length = len(state.vector(0))
    wide = memoryview(bytearray(2 * length))
    for given, words in (
        (bytearray(length - 1), f"goes into {length} writable numbers .* format 'B' and shape \\({length - 1},\\)"),
        (bytes(length), "a bytes .*read-only"),
        (array("d", [0.0] * length), "format 'd'"),
        (array("f", [0.0] * (length + 1)), "format 'f'"),
        (memoryview(bytearray(length)).cast("B", (1, length)), "shape \\(1, "),
        ([0.0] * length, "a list"),
    ):
        with pytest.raises(VectorError, match=words):
            state.vector_into(0, given)
    state.vector_into(0, wide[::2])
    assert bytes(wide[1::2]) == bytes(length), "what lies between is left alone"
