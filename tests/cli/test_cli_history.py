"""`arena ladder --history`: the changes in a bot's live rating, from a server and from its data directory."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from arena.cli.data_source import LARGEST_PAGE
from arena.cli.ladder.history import CHANGES, history
from arena.store.base.rows import RatedRow
from engine.registry import GAMES
from tests.cli.cli_rig import BOTS, Played, arena, plain, shown, terminal
from tests.cli.conftest import MATCHES
from tests.cli.ladder_rows import moves
from tests.cli.test_cli_ladder_void import finished


def drawn(rows: list[RatedRow], width: int = 100, height: int = 40) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(history("ann", "sixth_sense", rows, width, height))
    return capture.get()


def test_the_points_are_those_of_the_matches(source: tuple[str, str]) -> None:
    matches = json.loads(shown("matches", "--json", *source))["matches"]
    for bot in BOTS:
        document = json.loads(shown("ladder", "--history", bot, "--json", *source))
        assert document["bot"] == bot
        told = {each["game"]: each["matches"] for each in document["histories"]}
        assert list(told) == list(GAMES)
        assert [row["match"] for row in told["sixth_sense"]] == [match["match"] for match in reversed(matches)]
        for row, match in zip(told["sixth_sense"], reversed(matches), strict=True):
            (seat,) = (seat for seat in match["seats"] if seat["bot"] == bot)
            assert (row["before"], row["after"]) == (seat["rating_before"], seat["rating_after"])
            assert (row["ended"], row["voided"]) == (match["ended"], False)


def test_server_and_directory_draw_the_same(played: Played) -> None:
    pictures = [
        shown("ladder", "--history", "counter", *where)
        for where in (("--server", played.server), ("--data", played.data))
    ]
    assert pictures[0] == pictures[1]
    assert f"Live rating of counter in sixth_sense · {MATCHES} matches" in pictures[0]
    assert "counter has no rated match of nullern yet." in pictures[0]
    assert "\x1b" not in pictures[0], "it goes into a pipe"
    assert "Its last changes" in pictures[0]
    assert len(pictures[0].splitlines()) > MATCHES + 20


def test_a_terminal_gets_colours_and_a_plot_of_its_size(played: Played) -> None:
    command = ("ladder", "--history", "rules", "--game", "sixth_sense", "--data", played.data)
    with terminal(*command, rows=24, columns=70) as screen:
        assert screen.end() == 0
    assert "\x1b[" in screen.text
    lines = plain(screen.text).splitlines()
    assert max(map(len, lines)) <= 70
    assert len(lines) <= 24


@pytest.mark.parametrize("verb", [("ladder", "--history", "nobody"), ("ladder", "--history", "nobody", "--json")])
def test_an_unknown_bot_is_named(source: tuple[str, str], verb: tuple[str, ...]) -> None:
    result = arena(*verb, *source)
    assert result.exit_code == 1
    assert "there is no bot 'nobody'" in result.output


def test_a_live_rating_has_no_table_size(played: Played) -> None:
    result = arena("ladder", "--history", "rules", "--seats", "3", "--data", played.data)
    assert result.exit_code == 2
    assert "choose one" in result.output


def test_a_bot_without_a_match_is_said_to_have_none(source: tuple[str, str]) -> None:
    text = shown("ladder", "--history", "rules", "--game", "nullern", *source)
    assert text == "rules has no rated match of nullern yet.\n"


def test_a_voided_match_is_called_so(empty: Path) -> None:
    match = finished(empty)
    shown("ladder", "void", match, "--reason", "a test", "--data", empty)
    text = shown("ladder", "--history", "ann", "--game", "sixth_sense", "--data", empty)
    assert "1 match " in text
    (row,) = (line for line in text.splitlines() if line.startswith(f"│{match:>6} "))
    assert "void" in row


def test_the_newest_changes_come_first_and_not_too_many() -> None:
    text = drawn(moves(*(1500.0 + 3 * number for number in range(40))))
    listed = [line for line in text.splitlines() if "▲ 3.0" in line]
    assert len(listed) == CHANGES
    assert [int(line.split()[1]) for line in listed] == [*range(39, 39 - CHANGES, -1)]


def test_a_page_that_is_full_is_said_to_be_the_last_of_more() -> None:
    full = [1500.0] * LARGEST_PAGE
    assert f"its last {LARGEST_PAGE} matches" in drawn(moves(1500.0, *full))
    assert "its last" not in drawn(moves(*full))


@pytest.mark.parametrize(
    ("refits", "words"), [((), ""), ((2,), "moved by a fit once"), ((2, 4), "moved by a fit of the ladder 2 times")]
)
def test_fits_that_moved_the_rating_are_counted(refits: tuple[int, ...], words: str) -> None:
    text = drawn(moves(*range(1500, 1510), refits=refits))
    assert words in text
    assert ("by a fit" in text) == bool(words)


def test_versions_are_told_where_there_are_any() -> None:
    rows = moves(1500, 1510, 1490)
    assert "Version" not in drawn(rows)
    assert "v2.1" in drawn([*rows[:-1], replace(rows[-1], version="v2.1")])
