"""`arena replay`: list, show, verify and export, on real matches and on damaged files."""

from __future__ import annotations

import json
import re
import subprocess
from pathlib import Path
from typing import Any, cast

import pytest

from arena.replay.hash_chain import PackedReplay
from arena.replay.read import read
from engine.nullern import NULLERN
from tests.cli.cli_rig import ARENA, BOTS, Played, arena, shown
from tests.replay.recorded import forged, objects_of, rated


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A replay file of a match with four seats."""
    path = tmp_path / "match.jsonl.gz"
    path.write_bytes(rated())
    return path


def test_show_prints_the_whole_match_in_a_pipe(source: tuple[str, str]) -> None:
    text = shown("replay", "show", "1", *source)
    assert "\x1b" not in text
    assert "6th Sense, match 1" in text
    for number in range(1, 7):
        assert f"Round {number} · " in text
    for name in BOTS:
        assert name in text
    assert text == shown("replay", "show", "1", "--no-step", "--all-hands", *source)


def test_show_prints_one_round_or_one_trick(file: Path) -> None:
    assert shown("replay", "show", file, "--round", "2").startswith("Round 2 ")
    assert shown("replay", "show", file, "--round", "2", "--trick", "3").startswith("Round 2, trick 3 ")
    assert shown("replay", "show", file, "--trick", "-1").startswith("Round 4, trick 13 ")


def test_show_prints_a_round_in_words(file: Path) -> None:
    second, last = (shown("replay", "show", file, "--text", *words) for words in (("--round", "2"), ()))
    assert second.startswith("6th Sense, round 2 is over. Trump is ")
    assert last.startswith("6th Sense, round 4 is over. ")
    assert "Trick 13: seat " in last
    for words, status, text in (
        (("--seat", "0"), 2, "--text shows a whole round with all cards: leave out --seat and --trick"),
        (("--round", "5"), 1, "the replay has finished rounds 1 to 4, not finished round 5"),
    ):
        result = arena("replay", "show", file, "--text", *words)
        assert (result.exit_code, text in result.output) == (status, True), result.output


def test_show_as_a_seat_hides_the_other_hands(file: Path) -> None:
    everything = shown("replay", "show", file, "--round", "1")
    own = shown("replay", "show", file, "--round", "1", "--seat", "2")
    assert "As bot-2 (seat 2) sees it" in own

    def hands(text: str) -> list[str]:
        dealt = text.split("was dealt")[1].split("\n\n")[0]
        return [line.split()[1] for line in dealt.splitlines() if "bot-" in line]

    assert hands(everything) == ["bot-0", "bot-1", "bot-2", "bot-3"]
    assert hands(own) == ["bot-2"]


@pytest.mark.parametrize("seats", NULLERN.seats)
def test_nullern_is_shown_and_verified_in_every_way(seats: int, tmp_path: Path) -> None:
    path = tmp_path / "nullern.jsonl.gz"
    path.write_bytes(rated(seats, game=NULLERN))
    whole = shown("replay", "show", path)
    assert whole.startswith(f"Nullern, match 101 · {seats} seats · ")
    assert re.findall(r"^Round (\d+) · ", whole, re.MULTILINE) == [str(number) for number in range(1, 21)]
    assert whole == shown("replay", "show", path, "--no-step", "--all-hands")
    assert shown("replay", "show", path, "--round", "10") in whole
    assert "\nAs bot-1 (seat 1) sees it\n" in shown("replay", "show", path, "--round", "10", "--seat", "1")
    assert shown("replay", "show", path, "--round", "10", "--trick", "10").startswith("Round 10, trick 10 · 10 cards")
    assert shown("replay", "show", path, "--trick", "-1").startswith("Round 20, trick 1 · 1 card each, blind · ")
    result = arena("replay", "show", path, "--round", "20", "--trick", "2")
    assert result.exit_code == 1
    assert "tricks 1 to 1" in result.output
    assert shown("replay", "verify", path).startswith(f"OK {path} is consistent in itself.")
    assert json.loads(shown("replay", "verify", path, "--json"))["verified"] is True


def test_nullern_with_a_hupfer_taken_away_is_found(tmp_path: Path) -> None:
    objects: list[Any] = objects_of(rated(3, game=NULLERN))
    line = [at for at, each in enumerate(objects) if each.get("out") == "round"][-1]
    objects[line]["hupfers"][0] -= 1
    path = tmp_path / "forged.jsonl.gz"
    path.write_bytes(forged(objects))
    result = arena("replay", "verify", path)
    assert result.exit_code == 1
    assert f"DIFFERS {path}, line {line + 1}: out round: the file has " in result.stdout
    assert ' in "hupfers[0]" where re-playing gives ' in result.stdout


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--round", "9"), "rounds 1 to 4"),
        (("--round", "0"), "rounds 1 to 4"),
        (("--round", "1", "--trick", "14"), "tricks 1 to 13"),
        (("--seat", "4"), "seats 0 to 3"),
        (("--trick", "1", "--seat", "7"), "seats 0 to 3"),
    ],
)
def test_show_of_what_there_is_not_fails_and_says_what_there_is(
    file: Path, options: tuple[str, ...], words: str
) -> None:
    result = arena("replay", "show", file, *options)
    assert result.exit_code == 1
    assert words in result.output


def test_show_of_a_seat_with_all_hands_is_wrong_usage(file: Path) -> None:
    assert arena("replay", "show", file, "--seat", "1", "--all-hands").exit_code == 2


@pytest.mark.parametrize("verb", ["show", "verify", "export"])
def test_unknown_match_fails(verb: str, source: tuple[str, str]) -> None:
    result = arena("replay", verb, "999", *source)
    assert result.exit_code == 1
    assert "there is no match 999" in result.output
    assert arena("replay", verb, 1 << 70, *source).exit_code in {1, 2}, "a number that no match can have"


@pytest.mark.parametrize("verb", ["show", "verify"])
def test_file_that_cannot_be_read_fails(verb: str, tmp_path: Path) -> None:
    result = arena("replay", verb, tmp_path)
    assert result.exit_code == 1
    assert "cannot be read" in result.output


def test_verify_says_what_was_checked(source: tuple[str, str]) -> None:
    text = shown("replay", "verify", "1", *source)
    assert text.startswith("OK match 1 is what was played.")
    assert "the ratings, computed again" in text
    for name in BOTS:
        assert name in text


def test_verify_as_json_agrees_with_the_list_of_matches(source: tuple[str, str]) -> None:
    verdict = json.loads(shown("replay", "verify", "2", "--json", *source))
    matches = json.loads(shown("matches", "--json", *source))["matches"]
    [match] = [row for row in matches if row["match"] == 2]
    assert verdict["verified"] is verdict["ratings_checked"] is True
    assert verdict["difference"] is None
    assert (verdict["match"], verdict["source"]) == (2, "match 2")
    assert verdict["scores"] == [seat["score"] for seat in match["seats"]]
    assert verdict["places"] == [seat["place"] for seat in match["seats"]]
    assert verdict["lines"] > verdict["inputs"] > 0


def test_verify_shows_the_first_line_that_differs(tmp_path: Path) -> None:
    objects = objects_of(rated())
    ratings = cast("list[dict[str, float]]", objects[-1]["ratings"])
    ratings[0]["after"] += 100
    path = tmp_path / "forged.jsonl.gz"
    path.write_bytes(forged(objects))
    result = arena("replay", "verify", path)
    assert result.exit_code == 1
    assert f"DIFFERS {path}, line {len(objects)}: ratings" in result.stdout
    assert "expected {" in result.stdout
    assert "found    {" in result.stdout
    as_json = arena("replay", "verify", path, "--json")
    assert as_json.exit_code == 1
    verdict = json.loads(as_json.stdout)
    assert verdict["verified"] is False
    difference = verdict["difference"]
    assert difference["line"] == len(objects)
    assert difference["expected"] != difference["found"]


def test_corrupt_file_is_named_with_its_line(tmp_path: Path) -> None:
    objects = objects_of(rated())
    objects[4] = {"in": "sneezed", "at": 5}
    path = tmp_path / "corrupt.jsonl.gz"
    path.write_bytes(forged(objects))
    for verb in ("show", "verify"):
        result = arena("replay", verb, path)
        assert result.exit_code == 1
        assert f"{path}, line 5: there is no input 'sneezed'" in result.output
    verdict = json.loads(arena("replay", "verify", path, "--json").stdout)
    assert verdict["verified"] is False
    assert verdict["difference"]["line"] == 5
    assert verdict.keys() == json.loads(shown("replay", "verify", _good(tmp_path), "--json")).keys()


def _good(directory: Path) -> Path:
    path = directory / "good.jsonl.gz"
    path.write_bytes(rated(3, chance=2))
    return path


def test_cut_off_file_fails_without_a_line(tmp_path: Path) -> None:
    path = tmp_path / "cut.jsonl.gz"
    path.write_bytes(rated()[:-100])
    result = arena("replay", "verify", path)
    assert result.exit_code == 1
    assert "cut off" in result.output
    assert json.loads(arena("replay", "verify", path, "--json").stdout)["difference"]["line"] is None


def test_interrupted_match_is_verified_and_said_to_be_interrupted(tmp_path: Path) -> None:
    from arena.replay.record import encode
    from tests.replay.recorded import play

    header, entries = play(interrupted_after=20)
    path = tmp_path / "interrupted.jsonl.gz"
    path.write_bytes(encode(header, entries))
    text = shown("replay", "verify", path)
    assert "none, interrupted (the server stops – good night)" in text
    assert "ratings" not in text


def test_export_writes_a_file_that_verifies(
    played: Played, source: tuple[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    text = shown("replay", "export", "1", *source)
    path = tmp_path / "match-1.jsonl.gz"
    assert read(path).header.match_id == 1
    hint = text.partition("arena ")[2].split()
    assert shown(*hint).startswith("OK match-1.jsonl.gz")
    shown("replay", "export", "1", "--output", "other.gz", *source)
    assert (tmp_path / "other.gz").read_bytes() == path.read_bytes()
    result = arena("replay", "export", "1", "--output", "none/other.gz", *source)
    assert result.exit_code == 1
    assert "cannot be written" in result.output


def test_export_to_standard_output_is_the_file(played: Played) -> None:
    command = [*ARENA, "replay", "export", "1", "--output", "-", "--data", str(played.data)]
    content = subprocess.run(command, check=True, capture_output=True).stdout
    assert read(content).header.match_id == 1


def test_list_goes_past_what_has_no_replay(empty: Path) -> None:
    """Interrupted matches fill more than one page of the list before the finished match."""
    from arena.store.bots import bots
    from arena.store.matches import matches
    from arena.store.opening import open_to_amend

    with open_to_amend(empty) as connection:
        here = [bots.register(connection, name, "", 0).bot.id for name in ("one", "two")]
        first = matches.begin(connection, "sixth_sense", {}, here, 0)
        matches.finish(
            connection,
            first,
            scores=(3, 1),
            places=(1, 2),
            forced=(0, 2),
            counts=(True, True),
            at=1,
            replay=lambda _: PackedReplay(b"a replay", None),
        )
        later = [matches.begin(connection, "sixth_sense", {}, here, 2) for _ in range(1001)]
        matches.interrupt(connection, later[:-1], "no more", 3)
    rows = json.loads(shown("replay", "list", "--json", "--data", empty))["matches"]
    assert [row["match"] for row in rows] == [first]
    assert "⚠ 2 forced" in shown("replay", "list", "--data", empty)
    text = shown("matches", "--limit", "2", "--data", empty)
    assert "interrupted: no more" in text
    assert "playing" in text
