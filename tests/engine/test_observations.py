"""A state as numbers: complete, documented, within its bounds, and no more than the view says."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Iterator
from operator import le
from pathlib import Path
from random import Random
from typing import Any

import pytest

from engine.deal import SeededDecks
from engine.game import OVER, Game, Option, OptionError
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
    """The states of a game that is played at random, the last one when it is over; at most so many."""
    random = Random(seats)
    state = game.new(seats, SeededDecks(seats.to_bytes(32, "big")), **options)
    for _ in range(most):
        yield state
        if state.player == OVER:
            return
        seat = random.choice(state.waiting())
        state.apply(random.choice(state.legal(seat)), seat)


@EVERY_TABLE
def test_fields_lie_side_by_side_and_every_number_is_within_its_bounds(
    game: Game, seats: int, options: dict[str, Option]
) -> None:
    fields = game.observation(seats)
    assert len({field.name for field in fields}) == len(fields)
    low: list[float] = []
    high: list[float] = []
    for field in fields:
        assert field.offset == len(low)
        assert field.meaning
        low += [field.low] * field.size
        high += [field.high] * field.size
    for number, state in enumerate(played(game, seats, options)):
        vector = state.vector(number % seats)
        assert len(vector) == len(low)
        assert all(map(le, low, vector))
        assert all(map(le, vector, high))


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


@EVERY_TABLE
def test_a_vector_says_no_more_than_the_view(game: Game, seats: int, options: dict[str, Option]) -> None:
    random = Random(seats)
    for number, state in enumerate(played(game, seats, options, 300)):
        if number % 10 == 0 and state.player != OVER:
            imagined = game.sample(state.view(state.player), random)
            assert imagined.vector(state.player) == state.vector(state.player)


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
    seats = 4
    for state in played(game, seats, {}, 200):
        for seat in range(seats):
            view = state.view(seat)
            assert part(game, state, seat, "dealer") == [
                float((seat + left) % seats == view.dealer) for left in range(4)
            ]
            turned = [*view.taken[seat:], *view.taken[:seat]]
            assert part(game, state, seat, "taken") == pytest.approx([number / 10 for number in turned])
            assert [card for card, held in enumerate(part(game, state, seat, "hand")) if held] == [*view.hand]


@EVERY_TABLE
def test_no_game_is_longer_or_dearer_than_the_game_says(game: Game, seats: int, options: dict[str, Option]) -> None:
    longest, points = game.longest(seats, **options), game.points(seats, **options)
    for state in played(game, seats, options, longest + 1):
        assert all(score in points for score in state.scores)
    assert state.player == OVER
    with pytest.raises(OptionError):
        game.longest(99)
    with pytest.raises(OptionError):
        game.points(seats, colour=1)


def test_the_page_about_observations_is_what_the_games_say(tmp_path: Path) -> None:
    script = tmp_path / "observations.py"
    script.write_text((ROOT / "docs" / "observations.py").read_text())
    subprocess.run([sys.executable, str(script)], check=True, cwd=ROOT, env={"PYTHONPATH": str(ROOT)})
    assert (tmp_path / "observations.md").read_text() == (ROOT / "docs" / "observations.md").read_text()
