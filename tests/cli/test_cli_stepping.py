"""Stepping through a replay with the keyboard."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from arena.cli.replay.stepping import KEYS, Walk
from arena.replay.read import read
from arena.replay.render.picture import PLAYS
from arena.replay.render.show import stops
from arena.replay.steps import Course
from engine.game import Game
from engine.nullern import NULLERN
from engine.registry import GAMES
from engine.sixth_sense import SIXTH_SENSE
from tests.cli.cli_rig import plain, terminal
from tests.replay.recorded import rated


@pytest.fixture(scope="module", params=GAMES.values(), ids=list(GAMES))
def course(request: pytest.FixtureRequest) -> Course:
    return Course(read(rated(min(3, request.param.seats[-1]), game=request.param, errs=False)))


def kind(course: Course, page: int) -> str:
    made = course.steps[page].made
    return "" if made is None else course.replay.header.game.actions[made.action].kind


def test_keys_move_by_choice_and_stop_at_the_ends(course: Course) -> None:
    walk = Walk(course, None)
    walk.press("p")
    assert walk.page == 0
    walk.press("n")
    walk.press("\x1b[C")
    assert walk.page == 2
    walk.press("\x1b[D")
    assert walk.page == 1
    walk.press("G")
    walk.press("n")
    assert walk.page == len(course.steps)
    walk.press("g")
    assert walk.page == 0
    walk.press("?")
    assert walk.page == 0


def test_keys_move_by_the_parts_of_rounds(course: Course) -> None:
    walk = Walk(course, None)
    ends = stops(course)
    assert ends == sorted(set(ends))
    for end in ends:
        walk.press("t")
        assert walk.page == end
    walk.press("t")
    assert walk.page == len(course.steps)
    for end in [*reversed(ends), 0]:
        walk.press("T")
        assert walk.page == end


@pytest.mark.parametrize("game", [SIXTH_SENSE, NULLERN], ids=lambda game: game.name)
def test_a_trick_ends_with_its_last_card(game: Game) -> None:
    course = Course(read(rated(3, game=game, errs=False)))
    for number in range(course.rounds):
        ends = [stop for stop in stops(course) if course.steps[stop].round == number]
        for tricks, end in enumerate(ends, 1):
            assert kind(course, end) in PLAYS
            steps = range(course.begins(number) + 1, end + 1)
            assert sum(kind(course, page) in PLAYS for page in steps) == 3 * tricks


def test_keys_move_by_round(course: Course) -> None:
    walk = Walk(course, None)
    for number in range(1, course.rounds):
        walk.press("r")
        assert walk.page == course.begins(number)
    walk.press("r")
    assert walk.page == len(course.steps)
    walk.press("R")
    assert walk.page == course.begins(course.rounds - 1)


def test_every_page_can_be_drawn_through_every_pair_of_eyes(course: Course) -> None:
    console = Console(width=80, file=None, record=True, quiet=True)
    for seat in (None, *range(len(course.replay.header.bots))):
        walk = Walk(course, seat)
        for _ in range(len(course.steps)):
            walk.press("n")
            if walk.page % 7 == 0 or walk.page > len(course.steps) - 5:
                console.print(walk.drawn())
    assert walk.page == len(course.steps)


def test_seat_key_goes_round(course: Course) -> None:
    walk = Walk(course, None)
    seats = range(len(course.replay.header.bots))
    seen = []
    for _ in range(len(seats) + 1):
        walk.press("s")
        seen.append(walk.seat)
    assert seen == [*seats, None]


def test_all_quit_keys_quit(course: Course) -> None:
    for key in (key for key, meaning in KEYS.items() if meaning == "quit"):
        walk = Walk(course, None)
        walk.press(key)
        assert walk.quit


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "match.jsonl.gz"
    path.write_bytes(rated(3, errs=False))
    return path


def test_terminal_steps_with_keys(file: Path) -> None:
    with terminal("replay", "show", file) as screen:
        assert "The cards are dealt." in screen.expect("The cards are dealt.")
        screen.press("n")
        screen.expect("position 2 of")
        screen.press("\x1b[C\x1b[C")
        screen.expect("position 4 of")
        screen.press("s")
        screen.expect("as seat 0, bot-0")
        screen.press("G")
        screen.expect("result")
        screen.press("q")
        assert screen.end() == 0
    assert "\x1b[?1049l" in screen.text, "the screen from before comes back"


def test_terminal_steps_to_the_blind_card_of_nullern(tmp_path: Path) -> None:
    path = tmp_path / "nullern.jsonl.gz"
    path.write_bytes(rated(3, game=NULLERN, errs=False))
    with terminal("replay", "show", path) as screen:
        screen.expect("The cards are dealt.")
        screen.press("n")
        screen.expect(": bid ")
        screen.press("Gp")
        screen.expect("the blind card is ")
        screen.press("q")
        assert screen.end() == 0


@pytest.mark.parametrize("keys", ["\x03", "\x04", "\x1b"], ids=["Ctrl-C", "Ctrl-D", "Escape"])
def test_terminal_is_left_with_control_keys(file: Path, keys: str) -> None:
    with terminal("replay", "show", file) as screen:
        screen.expect("position 1 of")
        screen.press(keys)
        assert screen.end() == 0
    assert "\x1b[?1049l" in screen.text


def test_terminal_loses_no_key_that_is_typed_fast(file: Path) -> None:
    with terminal("replay", "show", file) as screen:
        screen.expect("position 1 of")
        for _ in range(30):
            screen.press("n")
        screen.expect("position 31 of")
        screen.press("q")
        assert screen.end() == 0


def test_terminal_prints_in_colour_without_steps(file: Path) -> None:
    with terminal("replay", "show", file, "--no-step") as screen:
        assert screen.end() == 0
    assert "\x1b[" in screen.text
    assert "\x1b[?1049h" not in screen.text


def test_terminal_is_told_of_a_seat_there_is_not(file: Path) -> None:
    with terminal("replay", "show", file, "--seat", "5") as screen:
        assert screen.end() == 1
    assert "seats 0 to 2" in plain(screen.text)
