"""`arena ladder --versions` shows whether a bot's new version is better, from a server and from its data directory."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from arena.replay.hash_chain import PackedReplay
from arena.store.bots import bots
from arena.store.ladder.fits import Fits
from arena.store.ladder.publishing import publish
from arena.store.matches import matches
from arena.store.opening import open_to_amend
from tests.cli.cli_rig import Played, arena, shown

GAME = "sixth_sense"


def changed(data: Path) -> None:
    """Ann played 30 matches with each of two versions. She won half with the first and two thirds with the second."""
    with open_to_amend(data) as connection:
        players = [bots.register(connection, name, "", 0).bot.id for name in ("ann", "bob")]
        for number in range(60):
            said = ["v1" if number < 30 else "v2", ""]
            match = matches.begin(connection, GAME, {}, players, 0, said=said)
            won = number % (2 if number < 30 else 3) > 0
            result = {"scores": [2, 1], "places": [1, 2] if won else [2, 1], "forced": [0, 0], "counts": [True, True]}
            at = number * 60_000_000
            matches.finish(connection, match, **result, at=at, replay=lambda _: PackedReplay(b"", None))  # type: ignore[arg-type]
        publish(connection, GAME, Fits().ladder(connection, GAME), 0)


def test_a_better_version_is_said_to_be_better(empty: Path) -> None:
    changed(empty)
    document = json.loads(shown("ladder", "--versions", "Ann", "--game", GAME, "--json", "--data", empty))
    assert document["bot"] == "Ann"
    [game] = document["games"]
    new, old = game["versions"]
    assert (new["version"], new["shown"], new["matches"]) == ("v2", True, 30)
    assert (old["version"], old["shown"], old["difference"], old["better"]) == ("v1", False, None, None)
    assert new["difference"] == new["fitted"] - old["fitted"] > 20
    assert 0.6 < new["better"] < 1
    assert (old["first"], new["last"]) == ("1970-01-01T00:00:00Z", "1970-01-01T00:59:00Z")
    text = shown("ladder", "--versions", "ann", "--game", GAME, "--data", empty, env={"COLUMNS": "100"})
    lines = {line.split()[1]: line for line in text.splitlines() if line.startswith("│ v")}
    assert f"{new['difference']:+.0f} ± {1.96 * new['difference_deviation']:.0f}" in lines["v2"]
    assert f"{100 * new['better']:.0f} %" in lines["v2"]
    assert "v2 ●" in lines["v2"]
    assert "●" not in lines["v1"]


@pytest.mark.parametrize("width", [60, 80])
def test_the_table_is_whole_on_a_narrow_screen(empty: Path, width: int) -> None:
    changed(empty)
    text = shown("ladder", "--versions", "ann", "--game", GAME, "--data", empty, env={"COLUMNS": str(width)})
    assert "…" not in text
    assert max(len(line) for line in text.splitlines() if line[:1] in "│╭├╰") <= width
    assert "Than before" in text
    assert "P(better)" in text


def test_server_and_directory_say_the_same(played: Played) -> None:
    words = ("ladder", "--versions", "rules", "--json")
    documents = [json.loads(shown(*words, *where)) for where in (("--server", played.server), ("--data", played.data))]
    assert documents[0] == documents[1]
    [row] = next(each["versions"] for each in documents[0]["games"] if each["game"] == GAME)
    assert row["shown"]
    assert row["fitted"] is not None
    assert row["first"] < row["last"]
    text = shown("ladder", "--versions", "rules", "--data", played.data)
    assert f"Versions of rules in {GAME}" in text
    assert "rules has no rated match of nullern yet." in text


def test_what_cannot_be_asked_is_said(source: tuple[str, str]) -> None:
    result = arena("ladder", "--versions", "nobody", *source)
    assert result.exit_code == 1
    assert "there is no bot 'nobody'" in result.output
    for more in (("--history", "rules"), ("--seats", "3")):
        result = arena("ladder", "--versions", "rules", *more, *source)
        assert result.exit_code == 2
        assert "are different things to show" in result.output
