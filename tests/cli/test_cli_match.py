"""`arena match` as an author uses it: a verdict, a file for continuing later, and errors with remedies."""

import json
import os
import re
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import pytest

from tests.cli.cli_rig import ARENA, PATIENCE, arena, shown
from tests.local.bots import CHANCE, FIRST, written
from tests.local.test_local_command import is_gone

SAME_SEATS = ("--seats", 3, "--design", "same-seats")
CLEAR = ("house:counter", "house:random", "--game", "nullern", *SAME_SEATS, "--seed", 5)


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


@pytest.mark.parametrize(
    ("bots", "test", "status", "verdict"),
    [
        (("house:counter", "house:random"), "elo0=0,elo1=200", 0, "is better: Elo by places is 200 rather than 0."),
        (("house:random", "house:counter"), "elo0=0,elo1=200", 3, "is not better: Elo by places is 0 rather than 200."),
        (("house:counter", "house:random"), "points0=10,points1=50", 0,
         "is better: the difference in points is 50 rather than 10."),
        (("house:counter", "house:counter"), "points0=0,points1=10", 4, "Undecided after 60 sets"),
    ],
)  # fmt: skip
def test_a_test_is_of_places_or_of_points_as_its_bounds_say(
    bots: tuple[str, str], test: str, status: int, verdict: str
) -> None:
    words = ("--game", "nullern", "--seats", 2, "--seed", 5, "--sets", 60, "--concurrency", 1)
    ran = arena("match", *bots, *words, "--sprt", test)
    assert ran.exit_code == status
    assert verdict in ran.stdout
    low, high = (bound.partition("=")[2] for bound in test.split(","))
    assert f"some 5 % of verdicts, if the truth is {low} or {high}; between them the test is a coin" in ran.stdout


def test_what_is_left_is_an_estimate_of_the_test_and_not_of_the_most_sets(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.cli.workbench.match_report.EVERY", 0.0)
    ran = arena("match", *CLEAR, "--sprt", "t0=0,t1=0.1", "--concurrency", 1)
    assert ran.exit_code == 0
    assert "\n7 of at most 10000 sets" in ran.stderr
    estimates = [int(total) for total in re.findall(r"\d+ of about (\d+) sets", ran.stderr)]
    [played] = re.findall(r"sets +(\d+) of 2 games", ran.stdout)
    assert len(estimates) == int(played) - 7
    assert all(int(played) / 2 < each < int(played) * 2 for each in estimates)


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


COMMAND = """
import os, sys
from arena_client import run
if __name__ == "__main__":
    open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
    run(First(), "localhost:1", verbose=False)
"""


@pytest.mark.process
@pytest.mark.parametrize("command", [False, True], ids=["house bot", "command"])
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_what_was_stopped_leaves_no_bot_goes_on_and_says_the_same(
    tmp_path: Path, how: signal.Signals, command: bool
) -> None:
    sets, out, pids = 30 if command else 60, tmp_path / "some.sets", tmp_path / "pids"
    pids.mkdir()
    bot = f"cmd:{shlex.quote(sys.executable)} {written(tmp_path, FIRST + COMMAND)} {pids}"
    bots = (bot, "house:random", "--game", "nullern", "--seats", 2, "--seed", 5) if command else CLEAR
    words = [str(word) for word in ("match", *bots, "--sets", sets, "--concurrency", 2)]
    with subprocess.Popen([*ARENA, *words, "--out", str(out)], stderr=subprocess.PIPE, text=True) as match:
        until = time.monotonic() + PATIENCE
        while not out.exists() or out.read_bytes().count(b"\n") < 5:
            assert match.poll() is None
            assert time.monotonic() < until, "no set is finished"
            time.sleep(0.01)
        match.send_signal(how)
        assert match.stderr is not None
        said = match.stderr.read()
    if how is signal.SIGINT:
        assert match.returncode == 130
        assert f"the same command goes on, with --seed 5 --out {out}" in said
    assert all(is_gone(int(path.name)) for path in pids.iterdir())
    there = out.read_bytes().count(b"\n") - 1
    assert 4 <= there < sets, "it was stopped in the middle"
    gone_on = json.loads(shown(*words, "--out", out, "--json"))
    assert out.read_bytes().count(b"\n") == sets + 1
    assert times_left_out(gone_on) == times_left_out(json.loads(shown(*words, "--json")))
    assert (tmp_path / "some.sets.logs" / "bot.log").exists() is command


@pytest.mark.process
@pytest.mark.parametrize("kills", [2, pytest.param(50, marks=pytest.mark.long)])
def test_no_instant_is_a_bad_one_to_be_killed_at(tmp_path: Path, kills: int) -> None:
    words = [str(word) for word in ("match", *CLEAR, "--sets", 40, "--concurrency", 2)]
    began = time.monotonic()
    subprocess.run([*ARENA, *words, "--out", str(tmp_path / "whole")], check=True, capture_output=True)
    took, chance = time.monotonic() - began, Random(kills)
    expected = times_left_out(json.loads(shown(*words, "--json")))
    for kill in range(kills):
        out = tmp_path / f"{kill}.sets"
        with subprocess.Popen([*ARENA, *words, "--out", str(out)], stderr=subprocess.DEVNULL) as match:
            time.sleep(chance.random() * took)
            match.kill()
        before = out.read_bytes() if out.exists() else b""
        whole = before[: before.rfind(b"\n") + 1]
        gone_on = json.loads(shown(*words, "--out", out, "--json"))
        assert times_left_out(gone_on) == expected
        assert out.read_bytes().startswith(whole), "no finished game is lost"
        numbers = [json.loads(line)["set"] for line in out.read_text().splitlines()[1:]]
        assert sorted(numbers) == [*range(40)], "and none is doubled"


@pytest.mark.process
def test_a_disk_that_fills_up_is_named_and_the_match_goes_on_later(tmp_path: Path) -> None:
    words = [str(word) for word in ("match", *CLEAR, "--sets", 20, "--concurrency", 1, "--out", tmp_path / "x")]
    full = "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (9_999, 9_999));"
    full += "from arena.cli.main import main; main(sys.argv[1:])"
    unmeasured = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE")}
    ran = subprocess.run(
        [sys.executable, "-c", full, *words], check=False, capture_output=True, text=True, env=unmeasured
    )
    assert ran.returncode == 1
    assert "File too large" in ran.stderr
    assert "Traceback" not in ran.stderr
    there = (tmp_path / "x").read_bytes()
    assert len(there) == 9_999, "in the middle of a line"
    gone_on = json.loads(shown(*words, "--json"))
    assert (tmp_path / "x").read_bytes().startswith(there[: there.rfind(b"\n") + 1])
    assert times_left_out(gone_on) == times_left_out(json.loads(shown(*words[:-2], "--json")))


def test_a_file_of_other_bots_is_refused(tmp_path: Path) -> None:
    words = ("--game", "nullern", "--seats", 2, "--sets", 2, "--concurrency", 1, "--out", tmp_path / "x")
    shown("match", written(tmp_path, CHANCE), "house:random", *words)
    written(tmp_path, FIRST)
    for bots, said in (
        (("house:counter", "house:random"), "bots ["),
        ((str(tmp_path / "bot.py"), "house:random"), "versions ["),
    ):
        ran = arena("match", *bots, *words)
        assert ran.exit_code == 1
        assert f"{tmp_path / 'x'} holds sets of another match ({said}" in " ".join(ran.output.split())


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
        (("house:random", "house:careful", *SAME_SEATS, "--field", "house:random", "--field", "house:random",
          "--field", "house:random"), 2, "a field of 2 sits at a table of 3 with same-seats, not 3"),
        (("house:random", "house:careful", "--sprt", "t2=1"), 2, "'t2=1' is not elo0=, elo1=, points0=, points1=, t0="),
        (("house:random", "house:careful", "--sprt", "elo0=0,elo1=twenty"), 2, "'elo1=twenty' is not elo0="),
        (("house:random", "house:careful", "--sprt", "elo0=0"), 2, "elo1 is missing: write elo0=NUMBER,elo1=NUMBER"),
        (("house:random", "house:careful", "--sprt", "elo0=0,t1=1"), 2, "mixes elo and t: write both bounds in one"),
        (("house:random", "house:careful", "--sprt", "elo0=nan,elo1=20"), 2, "elo0 must be less than elo1"),
        (("house:random", "house:careful", "--sprt", "elo0=0,elo1=20", *SAME_SEATS), 2,
         "elo0 and elo1 are of two bots at one table, where same-seats never seats them together: choose"),
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
    spec = written(tmp_path, FIRST.replace("decision.legal[0]", "decision.cards"))
    ran = arena("match", spec, "house:random", "--game", "nullern", "--sets", 2, "--concurrency", 1)
    assert ran.exit_code == 1
    assert "return decision.cards" in ran.output
    assert "AttributeError: 'Decision' object has no attribute 'cards'" in ran.output


def test_a_full_disk_is_said_and_what_is_there_stays(tmp_path: Path) -> None:
    if not Path("/dev/full").exists():
        pytest.skip("this system has no /dev/full")
    ran = arena("match", *CLEAR, "--sets", 2, "--concurrency", 1, "--out", "/dev/full")
    assert ran.exit_code == 1
    assert "No space left on device" in ran.output


def of_many(*words: object) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(shown("match", *words, "--concurrency", 1, "--json"))
    return document


MANY = ("house:counter", "house:random", "house:careful", "--game", "nullern", "--seed", 5)


@pytest.mark.parametrize("seats", [2, 3])
def test_many_are_compared_as_two_alone_would_be(seats: int) -> None:
    """All pairs play the same deals at one table, each in the same seats."""
    found = of_many(*MANY, "--seats", seats, "--sets", 9, "--round-robin")
    names = [(each["one"], each["other"]) for each in found["pairs"]]
    assert names == [(MANY[0], MANY[1]), (MANY[0], MANY[2]), (MANY[1], MANY[2])]
    for each in found["pairs"]:
        alone = of_many(each["one"], each["other"], *MANY[3:], "--seats", seats, "--sets", 9)
        both = {"comparison": each["comparison"]}, {"comparison": alone["comparison"]}
        assert times_left_out(both[0]) == times_left_out(both[1])
    gauntlet = of_many(*MANY, "--seats", seats, "--sets", 9, "--gauntlet")
    assert [(each["one"], each["other"]) for each in gauntlet["pairs"]] == names[:2]
    differences = [each["comparison"]["difference"] for each in found["pairs"]]
    assert [each["comparison"]["difference"] for each in gauntlet["pairs"]] == differences[:2]


def test_a_round_robin_has_a_crosstable_with_the_best_first() -> None:
    words = ("match", "house:random", "house:careful", "house:counter", "--game", "nullern", "--seats", 2, "--seed", 5)
    text = shown(*words, "--sets", 30, "--round-robin", "--concurrency", 1)
    assert "Round robin of 3 · nullern for 2" in text
    assert "Verdicts are as sure together as that of one pair alone (Holm)." in " ".join(text.split())
    assert "points at one table, deals played twice with seats exchanged" in text
    assert "Every pair is decided." in text
    ranked = [line.split()[2] for line in text.splitlines() if line[2:3].isdigit()]
    assert ranked == ["house:counter", "house:careful", "house:random"]
    pairs = [line.split() for line in text.splitlines() if line.startswith("│ house")]
    assert [(line[1], line[2], line[3]) for line in pairs] == [
        ("house:random", "<", "house:careful"),
        ("house:random", "<", "house:counter"),
        ("house:careful", "<", "house:counter"),
    ]


def test_what_is_undecided_is_said_to_be() -> None:
    words = ("match", "house:counter", "house:random", "house:house-counter", *MANY[3:], "--seats", 2, "--gauntlet")
    text = " ".join(shown(*words, "--sets", 20, "--concurrency", 1).split())
    assert "Undecided, more sets would tell: house:counter – house:house-counter." in text
    decided = arena(*words[:3], "house:careful", *words[4:], "--sets", 200, "--sprt", "t1=0.5", "--concurrency", 1)
    assert decided.exit_code == 0
    assert "Every pair is decided." in decided.stdout
    assert "LLR" in decided.stdout
    undecided = arena(*words, "--sets", 60, "--sprt", "t1=0.5", "--concurrency", 1, "--json")
    assert undecided.exit_code == 4
    tests = [each["test"] for each in json.loads(undecided.stdout)["pairs"]]
    assert [each["outcome"] for each in tests] == ["better", "undecided"]
    assert tests[0]["sets"] < tests[1]["sets"] == 60


def test_a_match_of_many_goes_on(tmp_path: Path) -> None:
    words = (*MANY, "--seats", 2, "--round-robin", "--out", tmp_path / "many.sets")
    of_many(*words, "--sets", 3)
    more = of_many(*words, "--sets", 6)
    fresh = of_many(*words[:-2], "--sets", 6)
    assert len((tmp_path / "many.sets").read_text().splitlines()) == 7
    for one, other in zip(more["pairs"], fresh["pairs"], strict=True):
        assert times_left_out(one) == times_left_out(other)
    ran = arena("match", *words[:-3], "--gauntlet", *words[-2:], "--sets", 6, "--concurrency", 1)
    assert ran.exit_code == 1
    assert 'pairing "round-robin" there, "gauntlet" here' in " ".join(ran.output.split())


def test_a_plot_is_a_picture_of_the_difference(tmp_path: Path) -> None:
    shown("match", *CLEAR, "--sets", 30, "--concurrency", 1, "--plot", tmp_path / "match.svg")
    root = ET.fromstring((tmp_path / "match.svg").read_text())
    texts = "".join(root.itertext()).replace("\xa0", " ")
    assert "house:counter against house:random" in texts
    assert re.search(r"\b8 +30\b", texts), "the sets that it is drawn over"
    assert "░" in texts
    shown("match", *CLEAR, "--sets", 3, "--concurrency", 1, "--plot", tmp_path / "few.svg")
    few = "".join(ET.fromstring((tmp_path / "few.svg").read_text()).itertext()).replace("\xa0", " ")
    assert "3 sets are too few to draw: it takes 8" in few
    ran = arena("match", *CLEAR, "--sets", 3, "--concurrency", 1, "--plot", "/nowhere/at/all.svg")
    assert ran.exit_code == 1
    assert "/nowhere/at/all.svg" in ran.output


@pytest.mark.parametrize("flags", [(), ("--gauntlet", "--round-robin")])
def test_more_than_two_bots_need_one_way_to_pair_them(flags: tuple[str, ...]) -> None:
    ran = arena("match", *MANY, *flags)
    assert ran.exit_code == 2
    assert "3 bots: choose --gauntlet, the first against each, or --round-robin" in " ".join(ran.output.split())


def test_a_match_of_too_few_sets_says_how_many_a_verdict_takes() -> None:
    assert "A verdict takes at least 8 sets; there are 3." in shown("match", *CLEAR, "--sets", 3, "--concurrency", 1)
