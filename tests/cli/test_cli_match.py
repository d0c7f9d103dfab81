"""`arena match` as an author uses it: a verdict, a file that is gone on with, and errors that say what to do."""

import json
import signal
import subprocess
import time
from pathlib import Path
from typing import Any

import pytest

from tests.cli.cli_rig import ARENA, PATIENCE, arena, shown
from tests.local.bots import CHANCE, FIRST, written

CLEAR = ("house:counter", "house:random", "--game", "nullern", "--seats", 3, "--seed", 5)


def test_a_better_bot_is_said_to_be_better() -> None:
    text = shown("match", *CLEAR, "--sets", 30, "--concurrency", 1)
    assert "house:counter against house:random · nullern for 3" in text
    assert "house:counter is better." in text
    assert "in the same seats of the same deals against house:counter" in text
    assert "30 of 2 games: " in text
    swapped = shown("match", "house:random", "house:counter", *CLEAR[2:], "--sets", 30, "--concurrency", 1)
    assert "house:counter is better." in swapped


def test_bots_that_are_alike_are_not_told_apart() -> None:
    text = shown("match", "house:counter", "house:counter", *CLEAR[2:], "--sets", 10, "--concurrency", 1)
    assert "No difference that chance does not explain" in text
    assert "0 won, 10 drawn, 0 lost" in text


@pytest.mark.parametrize(
    ("bots", "test", "status", "outcome"),
    [
        (("house:counter", "house:random"), "t0=0,t1=0.5", 0, "better"),
        (("house:random", "house:counter"), "t0=0,t1=0.5", 3, "not better"),
        (("house:counter", "house:counter"), "t1=0.1", 4, "undecided"),
    ],
)
def test_a_test_says_it_by_its_status(bots: tuple[str, str], test: str, status: int, outcome: str) -> None:
    ran = arena("match", *bots, *CLEAR[2:], "--sets", 60, "--sprt", test, "--concurrency", 1, "--json")
    assert ran.exit_code == status
    document: dict[str, Any] = json.loads(ran.stdout)
    assert document["test"]["outcome"] == outcome
    assert document["test"]["sets"] == document["comparison"]["sets"]
    assert (document["test"]["sets"] < 60) is (outcome != "undecided")
    assert document["match"]["bots"] == [*bots, "house:counter", "house:counter"]
    assert document["match"]["design"] == "same-seats"


def test_two_alone_play_at_one_table(tmp_path: Path) -> None:
    bots = written(tmp_path / "a"), written(tmp_path / "b", CHANCE)
    words = ("match", *bots, "--game", "sixth_sense", "--seats", 2, "--sets", 12, "--concurrency", 1)
    found = json.loads(shown(*words, "--seed", 3, "--json"))
    assert found["match"]["design"] == "one-table"
    assert found == json.loads(shown(*words, "--seed", 3, "--json")) | {"comparison": found["comparison"]}
    assert "points at one table, deals played twice with seats exchanged" in shown(*words)


def times_left_out(document: dict[str, Any]) -> dict[str, Any]:
    for bot in document["comparison"]["bots"]:
        del bot["think_us"], bot["slowest_us"]
    return document


@pytest.mark.process
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_what_was_stopped_goes_on_and_says_the_same(tmp_path: Path, how: signal.Signals) -> None:
    words = [str(word) for word in ("match", *CLEAR, "--sets", 120, "--concurrency", 2)]
    out = tmp_path / "some.sets"
    with subprocess.Popen([*ARENA, *words, "--out", str(out)], stderr=subprocess.PIPE, text=True) as match:
        until = time.monotonic() + PATIENCE
        while not out.exists() or out.read_bytes().count(b"\n") < 5:
            assert time.monotonic() < until, "no set is finished"
            time.sleep(0.01)
        match.send_signal(how)
        _, said = match.communicate(timeout=PATIENCE)
    if how is signal.SIGINT:
        assert match.returncode == 130
        assert f"the same command goes on, with --seed 5 --out {out}" in said
    there = out.read_bytes().count(b"\n") - 1
    assert 4 <= there < 120, "it was stopped in the middle"
    gone_on = json.loads(shown(*words, "--out", out, "--json"))
    assert out.read_bytes().count(b"\n") == 121
    assert times_left_out(gone_on) == times_left_out(json.loads(shown(*words, "--json")))


def test_a_file_needs_no_seed_again_and_only_more_sets_are_played(tmp_path: Path) -> None:
    words = ("match", "house:random", "house:careful", "--game", "nullern", "--out", tmp_path / "x", "--json")
    first = json.loads(shown(*words, "--sets", 4, "--concurrency", 1))
    more = json.loads(shown(*words, "--sets", 9, "--concurrency", 1))
    assert more["match"] == first["match"]
    assert (first["comparison"]["sets"], more["comparison"]["sets"]) == (4, 9)
    fewer = json.loads(shown(*words, "--sets", 4, "--concurrency", 1))
    assert fewer == first


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("nobody.py", "house:random"), 1, "no bot 'nobody.py': there is no file"),
        (("house:random", "house:careful", "--seats", 9), 2, "9"),
        (("house:random", "house:careful", "--seats", 3, "--field", "house:random", "--field", "house:random",
          "--field", "house:random"), 2, "a field of 2 sits at a table of 3 with same-seats, not 3"),
        (("house:random", "house:careful", "--sprt", "t2=1"), 2, "'t2=1' is not t0=NUMBER or t1=NUMBER"),
        (("house:random", "house:careful", "--sprt", "t0=1,t1=1"), 2, "t0 must be less than t1"),
        (("house:random", "house:careful", "--option", "x=1"), 2, "there is no option 'x'"),
        (("house:random", "house:careful", "--out", "/nowhere/at/all"), 1, "/nowhere/at/all"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_named(words: tuple[object, ...], status: int, said: str) -> None:
    ran = arena("match", *words, "--game", "nullern", "--sets", 2, "--concurrency", 1)
    assert ran.exit_code == status
    assert said in " ".join(ran.output.split())


def test_a_bot_that_fails_is_shown_its_own_line(tmp_path: Path) -> None:
    spec = written(tmp_path, FIRST.replace("decision.legal[0]", "decision.hand"))
    ran = arena("match", spec, "house:random", "--game", "nullern", "--sets", 2, "--concurrency", 1)
    assert ran.exit_code == 1
    assert "return decision.hand" in ran.output
    assert "AttributeError: 'Decision' object has no attribute 'hand'" in ran.output


def test_a_full_disk_is_said_and_what_is_there_stays(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    ran = arena("match", *CLEAR, "--sets", 2, "--concurrency", 1, "--out", "/dev/full")
    assert ran.exit_code == 1
    assert "No space left on device" in ran.output
