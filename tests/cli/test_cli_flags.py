"""`arena ladder --flags`: descriptions of flagged results, the mark on the ladder, and flags in `arena bots show`."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest
from rich.console import Console

from arena.cli.ladder.table import MARK, flags_table, ladder_table
from arena.ladder.ladder import FlagKind
from arena.queries.figures import flag_in_words
from arena.store.base.rows import FlagRow
from arena.store.ladder.fits import Fits
from arena.store.ladder.publishing import publish
from arena.store.opening import open_to_amend
from arena.store.replays import replays
from tests.cli.cli_rig import Played, arena, shown
from tests.cli.ladder_rows import HOUSE, SECOND, SETTLED, ladder
from tests.store import test_store_flags

GAME = "sixth_sense"
PAIR = FlagRow(FlagKind.PAIR, "ann", "", "ann", "bob", "Bob & sons", 312, 0.181, 8.12)
LIFT = FlagRow(FlagKind.LIFT, "ann", "", "ann", "bob", "Bob & sons", 312, 35.2, 8.1)
OWNERS = FlagRow(FlagKind.OWNERS, "ann", "", "Ada", "bob", "Bob & sons", 500, 0.11, 5.0)
OPPONENTS = FlagRow(FlagKind.OPPONENTS, "ann", "", "Ada", "", "", 412, 0.14, 6.31)
CHANGE = FlagRow(FlagKind.CHANGE, "ann", "v1.2", "Ada", "", "", 700, -80.4, -3.2)


def drawn(flags: tuple[FlagRow, ...], width: int) -> str:
    console = Console(width=width, color_system=None)
    with console.capture() as capture:
        console.print(flags_table(GAME, flags))
    return capture.get()


@pytest.mark.parametrize(
    ("flag", "words"),
    [
        (PAIR, "ann scores 18 points in 100 more against bob of Bob & sons than their ratings say"),
        (LIFT, "ann would stand 35 Elo lower without its results against the bots of Bob & sons, such as bob"),
        (
            OWNERS,
            "The bots of Ada score 11 points in 100 more against those of Bob & sons than their ratings say, most of "
            "all ann",
        ),
        (
            OPPONENTS,
            "ann of Ada scores 14 points in 100 more than their ratings say against most of its opponents, little of "
            "it against any one",
        ),
        (CHANGE, "ann of Ada as v1.2 was 80 Elo worse in the newer half of its results than in the older"),
    ],
    ids=lambda value: value.kind.value if isinstance(value, FlagRow) else "",
)
def test_a_flag_is_a_sentence(flag: FlagRow, words: str) -> None:
    assert flag_in_words(flag) == words


@pytest.mark.parametrize("width", [60, 80, 120])
def test_the_table_is_whole_and_says_that_a_flag_is_no_verdict(width: int) -> None:
    text = drawn((PAIR, LIFT, OWNERS, OPPONENTS, CHANGE), width)
    assert "…" not in text
    assert max(map(len, text.splitlines())) <= width
    assert "It is no verdict" in text
    assert "8.1" in text
    assert "3.2" in text


def test_whoever_a_flag_is_about_has_a_mark_on_the_ladder() -> None:
    rows = ladder(SETTLED, SECOND, HOUSE)
    console = Console(width=100, color_system=None)
    with console.capture() as capture:
        console.print(ladder_table(rows))
        console.print(ladder_table(replace(rows, flags=(PAIR,))))
    plain, marked = capture.get().split("Ladder of")[1:]
    assert MARK not in plain
    lines = {
        line.split()[3]: line for line in marked.splitlines() if line.startswith("│") and line.split()[1].isdigit()
    }
    assert [name for name, line in lines.items() if MARK in line] == ["ann", "bob"]
    assert f"{MARK} results stand out, which is no verdict: --flags" in " ".join(marked.split())


def test_a_change_of_a_version_that_is_not_shown_marks_nobody() -> None:
    console = Console(width=100, color_system=None)
    for version, marks in (("v1.2", True), ("v1.3", False)):
        rows = ladder(replace(SETTLED, version=version), SECOND)
        with console.capture() as capture:
            console.print(ladder_table(replace(rows, flags=(CHANGE,))))
        assert (MARK in capture.get()) is marks


def test_ladder_flags_and_profile_say_the_same(empty: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(test_store_flags, "GAME", GAME)
    with open_to_amend(empty) as connection:
        test_store_flags.rigged(connection)
        publish(connection, GAME, Fits().ladder(connection, GAME), 0)
        replays.prune(connection, 0, 0, limit=1000)
    words = ("--game", GAME, "--data", empty)
    [of_flags] = json.loads(shown("ladder", "--flags", "--json", *words))["games"]
    [whole] = json.loads(shown("ladder", "--json", *words))["ladders"]
    assert of_flags == {"game": GAME, "flags": whole["flags"]}
    assert {flag["kind"] for flag in whole["flags"]} == {"pair", "lift", "change"}
    text = shown("ladder", "--flags", *words)
    assert f"What stands out in {GAME}" in text
    assert MARK in shown("ladder", *words)
    [of_ann] = json.loads(shown("bots", "show", "ann", "--json", *words))["games"]
    assert of_ann["flags"] == [flag for flag in whole["flags"] if "Ann" in {flag["bot"], flag["other"]}]
    assert "no verdict" in shown("bots", "show", "ann", *words)
    [of_versions] = json.loads(shown("ladder", "--versions", "ann", "--json", *words))["games"]
    [change] = [flag for flag in whole["flags"] if flag["kind"] == "change" and flag["bot"] == "Ann"]
    assert [row["changed"] for row in of_versions["versions"]] == [change["size"]]
    assert MARK in shown("ladder", "--versions", "ann", *words)
    assert "no verdict" not in shown("bots", "show", "cleo", *words)


def test_where_nothing_stands_out_it_says_so(played: Played) -> None:
    for where in (("--server", played.server), ("--data", played.data)):
        assert shown("ladder", "--flags", "--game", GAME, *where) == f"Nothing stands out in {GAME}.\n"
        result = arena("ladder", "--flags", "--history", "rules", *where)
        assert result.exit_code == 2
        assert "are different things to show" in result.output
