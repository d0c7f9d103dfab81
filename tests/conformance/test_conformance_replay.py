"""A match of every game is recorded, read, verified and drawn, at every table."""

from __future__ import annotations

from io import StringIO
from itertools import pairwise
from typing import NamedTuple

import pytest
from rich.console import Console, RenderableType

from arena.replay.read import read
from arena.replay.record import encode
from arena.replay.render.show import RENDERERS, show_match, show_part, show_round, show_step
from arena.replay.steps import Course
from arena.replay.verify import verify
from engine.game import OVER
from engine.registry import GAMES
from tests.conformance.pieces import need
from tests.conformance.table import Table, tables
from tests.replay.recorded import forged, objects_of, play

TABLES = [table for game in GAMES.values() for table in tables(game)]


class Played(NamedTuple):
    """A match that was played at a given table."""

    table: Table
    file: bytes
    course: Course


def recorded(table: Table) -> bytes:
    """Return the replay file of a match in which bots make mistakes, are late and leave for a moment."""
    return encode(*play(table.seats, game=table.game, **table.options))  # type: ignore[arg-type] # no option has its names


@pytest.fixture(scope="module", params=TABLES, ids=str)
def played(request: pytest.FixtureRequest) -> Played:
    file = recorded(request.param)
    return Played(request.param, file, Course(read(file)))


@pytest.mark.thorough
@pytest.mark.unmeasured
def test_a_match_is_recorded_read_and_verified(played: Played) -> None:
    table, file, course = played
    assert recorded(table) == file, "the same match gives the same bytes"
    replay = course.replay
    assert replay.header.game is table.game
    assert dict(replay.header.options) == table.options
    verdict = verify(replay)
    assert verdict.verified, verdict.difference
    end = course.steps[-1].state
    assert end.player == OVER
    assert replay.result.scores == tuple(end.scores)
    assert replay.result.places == end.ranking()


@pytest.mark.thorough
@pytest.mark.unmeasured
def test_a_match_with_one_answer_changed_is_not_verified(played: Played) -> None:
    """Change the first answer that has alternatives. The report of its round shows every choice."""
    made, other = next(
        (step.made, action)
        for before, step in pairwise(played.course.steps)
        if step.made is not None and step.made.forced is None
        for action in before.state.legal(step.made.seat)
        if action != step.made.action
    )
    objects = objects_of(played.file)
    for line in objects:
        if line.get("in") == "acted" and (line["decision"], line["action"]) == (made.decision, made.action):
            line |= {"action": other, "name": played.table.game.actions[other].name}
    assert not verify(read(forged(objects))).verified, "another match is taken for this one"


def drawn(what: RenderableType) -> str:
    """Return a drawing at the promised width, without colour."""
    console = Console(file=StringIO(), width=80, color_system=None, legacy_windows=False)
    console.print(what)
    text = console.file.getvalue()  # type: ignore[attr-defined] # it is the StringIO above
    assert max(map(len, text.splitlines())) <= 80
    return str(text)


@pytest.mark.thorough
@pytest.mark.unmeasured
def test_a_match_is_drawn_whole_by_rounds_by_parts_and_by_steps(played: Played) -> None:
    table, _, course = played
    need(table.game, "a renderer")
    assert table.game.title in drawn(show_match(course))
    renderer = RENDERERS[table.game.name]
    for seat in (None, table.seats - 1):
        for number in {1, course.rounds}:
            assert drawn(show_round(course, number, seat)).strip()
            stops = renderer.stops(course, number - 1)
            assert stops
            assert course.begins(number - 1) < stops[0]
            assert stops[-1] <= course.ends(number - 1)
            for part in range(1, len(stops) + 1):
                assert drawn(show_part(course, number, part, seat)).strip()
        for step in {1, 2, table.seats + 1, len(course.steps) // 2, len(course.steps)}:
            assert drawn(show_step(course, step, seat)).strip()
