"""`arena ladder --at`: the ladder as published at that time, from a server and from its data directory."""

from __future__ import annotations

import json
import re
from datetime import UTC, datetime

import pytest
from rich.console import Console

from arena.cli.ladder.table import past_ladder_table
from arena.store.base.rows import PastLadder, PastLadderRow
from engine.registry import GAMES
from tests.cli.cli_rig import BOTS, Played, arena, shown
from tests.cli.conftest import MATCHES


def this_instant() -> str:
    """Return the current time in the format that --at accepts."""
    return datetime.now(UTC).isoformat()


def test_the_newest_one_kept_is_the_one_published(source: tuple[str, str]) -> None:
    [now] = json.loads(shown("ladder", "--json", "--game", "sixth_sense", *source))["ladders"]
    past = json.loads(shown("ladder", "--at", this_instant(), "--json", *source))
    ladders = {each["game"]: each for each in past["ladders"]}
    assert list(ladders) == list(GAMES)
    assert ladders["nullern"] == {
        "game": "nullern",
        "published": None,
        "through": None,
        "digest": "",
        "scale_error": None,
        "standings": [],
    }
    past = ladders["sixth_sense"]
    assert (past["through"], past["digest"], past["scale_error"]) == (now["through"], now["digest"], now["scale_error"])
    assert past["published"] == now["published"]
    told, shown_now = (
        {row["bot"]: (row["fitted"], row["fitted_deviation"], row["version"]) for row in each["standings"]}
        for each in (past, now)
    )
    assert told == shown_now
    assert set(told) == set(BOTS)


def test_server_and_directory_draw_the_same(played: Played) -> None:
    at = this_instant()
    tables = [shown("ladder", "--at", at, *where) for where in (("--server", played.server), ("--data", played.data))]
    assert tables[0] == tables[1]
    assert re.search(rf"Ladder of sixth_sense as published \d{{4}}-.*, up to event {MATCHES}", tables[0])
    assert "No ladder of nullern is kept that was published until " in tables[0]
    for bot in BOTS:
        assert bot in tables[0]


def test_before_the_first_there_is_none(source: tuple[str, str]) -> None:
    text = shown("ladder", "--at", "2001-02-03T04:05", "--game", "sixth_sense", *source)
    assert text == "No ladder of sixth_sense is kept that was published until 2001-02-03 04:05:00.\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--at", "yesterday"), "'yesterday' is no time since 1970"),
        (("--at", this_instant(), "--seats", "3"), "are different things to show"),
        (("--at", this_instant(), "--history", "rules"), "are different things to show"),
    ],
)
def test_what_cannot_be_asked_is_named(played: Played, words: tuple[str, ...], said: str) -> None:
    result = arena("ladder", *words, "--data", played.data)
    assert result.exit_code == 2
    assert said in result.output


def test_an_unknown_game_is_named(source: tuple[str, str]) -> None:
    result = arena("ladder", "--at", this_instant(), "--game", "skat", *source)
    assert result.exit_code == 2
    assert "'skat'" in result.output


@pytest.mark.parametrize("width", [60, 200])
def test_a_narrow_screen_leaves_out_columns_and_cuts_no_figure(width: int) -> None:
    row = PastLadderRow(1, "ann", "eve", False, "1.0", 1523.4, 10.7, 1530.0, 11.0, 1, 3, 0.42, 812, 17)
    ladder = PastLadder("sixth_sense", datetime(2026, 3, 5, tzinfo=UTC), 812, "00", 15.0, (row,))
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(past_ladder_table(ladder))
    text = capture.get()
    assert max(map(len, text.splitlines())) <= width
    assert "1523 ± 21" in text
    assert ("1530 ± 22" in text) == (width == 200)
