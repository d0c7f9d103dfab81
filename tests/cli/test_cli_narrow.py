"""Tables on narrow screens: headings and figures are never cut, and a note names the omitted columns."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from io import StringIO
from pathlib import Path

import pytest
from rich.console import Console, RenderableType
from rich.text import Text

from arena.cli.ladder.history import history
from arena.cli.terminal.fitted_table import FittedTable, TableColumn
from arena.cli.terminal.tables import bot_events_table, bots_table, matches_table
from arena.store.base.rows import BotEventKind, BotEventRow, BotRow, MatchRow, MatchState, RatedRow, SeatRow
from tests.cli.cli_rig import shown
from tests.replay.recorded import rated

WIDTHS = (60, 80)
NOW = datetime(2026, 11, 22, 16, 0, tzinfo=UTC)
LONG = "a-bot-with-as-long-a-name-as-there-may-b"
"""A name of 40 characters, the maximum."""


def drawn(table: RenderableType, width: int) -> str:
    screen = Console(width=width, record=True, file=StringIO())
    screen.print(table)
    return screen.export_text()


def whole(text: str, width: int) -> None:
    """Fail if a table is wider than the screen or cuts any of its cells."""
    assert "…" not in text, text
    framed = [line for line in text.splitlines() if line[:1] in {"│", "╭", "├", "╰"}]
    assert framed, text
    assert max(map(len, framed)) <= width, text


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize(
    ("verb", "headings"),
    [
        (("ladder", "--game", "sixth_sense"), ["Bot", "Elo ± 95 %"]),
        (("ladder", "--game", "sixth_sense", "--history", "rules"), ["Match", "After", "Change"]),
        (("matches",), ["Match"]),
        (("replay", "list"), ["Match"]),
        (("bots", "list"), ["Bot", "Matches"]),
        (("why", "1"), ["Seat", "Bot", "Whose"]),
        (("why", "1", "--seat", "0"), ["Decision", "What happened", "Whose"]),
        (("why", "1", "--slowest", "2"), ["Decision", "What happened", "Whose"]),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else "",
)
def test_a_table_of_a_verb_is_whole(
    source: tuple[str, str], verb: tuple[str, ...], headings: list[str], width: int
) -> None:
    text = shown(*verb, *source, env={"COLUMNS": str(width)})
    whole(text, width)
    for name in headings:
        assert name in text, text


@pytest.mark.parametrize("width", WIDTHS)
def test_the_games_are_whole(width: int) -> None:
    text = shown("games", env={"COLUMNS": str(width)})
    whole(text, width)
    for name in ("Seats", "Deck", "Rounds", "Cards a hand"):
        assert name in text


@pytest.mark.parametrize("width", WIDTHS)
def test_a_replay_shows_whole_headings(source: tuple[str, str], width: int) -> None:
    lines = shown("replay", "show", "1", *source, env={"COLUMNS": str(width)}).splitlines()
    assert max(map(len, lines)) <= width
    [standings] = [line for line in lines if line.startswith("place")]
    assert standings.split() == ["place", "seat", "and", "bot", "points", "forced", "rating", "change"]


@pytest.mark.parametrize("width", WIDTHS)
def test_where_much_went_wrong_why_is_whole(tmp_path: Path, width: int) -> None:
    file = tmp_path / "match.jsonl.gz"
    file.write_bytes(rated(chance=4))
    for options in ((), ("--seat", "1"), ("--seat", "1", "--slowest", "3")):
        text = shown("why", file, *options, env={"COLUMNS": str(width)})
        whole(text, width)
        assert "Whose" in text
        assert "no room for: " in text
    assert "time ran out" in text


def bot(name: str, **more: object) -> BotRow:
    row: dict[str, object] = {
        "owner": "somebody-who-owns-it",
        "house": False,
        "connected": True,
        "playing": 3,
        "matches": 123456,
        "registered": NOW - timedelta(days=40),
        "round_trip_ms": 123.4,
        "parked": "",
        "version": "1.0",
        "declined": 12,
        "silent": 34,
        "pace_ms": 1234.5,
        "banned": "",
    }
    return BotRow(name=name, **{**row, **more})  # type: ignore[arg-type]


@pytest.mark.parametrize("width", WIDTHS)
def test_bots_with_all_there_is_to_know_of_them_are_whole(width: int) -> None:
    parked = "in matches 17, 18 and 19, in a row, it was suspended or a house bot had to play on"
    text = drawn(bots_table("Bots", [bot("ann"), bot(LONG, parked=parked)], NOW), width)
    whole(text, width)
    assert "Given no seats" in text
    assert "no room for: Registered, Round trip" in text
    cells = [line.strip("│").split("  ")[0].strip() for line in text.splitlines() if line.startswith("│")]
    assert LONG in "".join(cells[2:]), "a name goes on in the next line"


@pytest.mark.parametrize("width", WIDTHS)
def test_what_the_operator_did_is_whole(width: int) -> None:
    rows = [BotEventRow(12345, NOW, BotEventKind.RENAMED, LONG, LONG[::-1], "it was asked for by those who own it")]
    text = drawn(bot_events_table("What the operator did", rows), width)
    whole(text, width)
    for name in ("Event", "What", "Reason"):
        assert name in text


def seat(number: int, name: str, place: int | None) -> SeatRow:
    return SeatRow(name, 100 - number, place, rating_before=1500.0, rating_after=1510.0, forced=2, version="")


@pytest.mark.parametrize("width", WIDTHS)
@pytest.mark.parametrize("seats", [2, 4, 7])
def test_matches_of_any_size_are_whole(seats: int, width: int) -> None:
    names = [f"house-planner-{number}" for number in range(seats)]
    table = [seat(number, name, number + 1) for number, name in enumerate(names)]
    rows = [
        MatchRow(
            match_id=number,
            game=game,
            state=MatchState.FINISHED,
            started=NOW,
            ended=NOW,
            reason="",
            voided="an electrician cut the power",
            pruned=False,
            seats=tuple(table),
        )
        for number, game in ((1, "sixth_sense"), (1234567, "nullern"))
    ]
    text = drawn(matches_table("Matches", rows), width)
    whole(text, width)
    for name in names:
        assert name in text
    assert "Bots, the first above" in text


@pytest.mark.parametrize("width", WIDTHS)
def test_the_last_changes_of_a_version_are_whole(width: int) -> None:
    row = RatedRow(1234567, NOW, "2.1-of-a-version-with-forty-characters-xx", 1500.0, 1512.5, 40.0, voided=True)
    text = drawn(history("ann", "sixth_sense", [row, row], width, 40), width)
    whole(text[text.index("Its last changes") :], width)
    for name in ("Match", "After", "Change", "Version", "State"):
        assert name in text


def column(name: str, *cells: str, folds: bool = False) -> TableColumn:
    return TableColumn(name, [Text(cell) for cell in cells], "left", folds=folds)


def test_what_has_nothing_in_it_goes_first_and_is_not_missed() -> None:
    columns = [column("One", "x" * 20), column("Two", "y" * 20), column("Three", "0"), column("Four", "z")]
    table = FittedTable("Four", columns, ["Two", "Three"])
    assert "no room" not in drawn(table, 60)
    assert "Three" in drawn(table, 60)
    assert "Three" not in drawn(table, 55)
    assert "no room" not in drawn(table, 55)
    assert "no room for: Two (all with --json)" in " ".join(drawn(table, 40).split())


def test_texts_fold_between_words_and_nothing_else_does() -> None:
    columns = [column("One", "1234567"), column("Words", "some words that are too many for the line", folds=True)]
    lines = drawn(FittedTable("Two", columns, []), 30).splitlines()
    assert max(map(len, lines)) <= 30
    assert "1234567" in "".join(lines)
    words = [word for line in lines[3:-1] for word in line.strip("│ ").removeprefix("1234567").split()]
    assert words[1:] == ["some", "words", "that", "are", "too", "many", "for", "the", "line"]
