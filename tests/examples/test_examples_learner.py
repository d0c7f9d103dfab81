"""The learner of `examples/` learns, continues after any interruption, names errors, and plays on a server."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import time
from math import hypot
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[2]
LEARNER: Final = ROOT / "examples" / "learner"
SMALL: Final = ("--games", 16, "--hidden", 32, "--deals", 20, "--one-process")
PATIENCE: Final = 300
TRAINING: Final = 3 * 3600
"""Maximum number of seconds for the documented training, even without a compiled build and on a busy machine."""
DOCUMENTED: Final = re.compile(
    r"\((\d+) batches, [\d,]+ matches, .* wins (\d+) ± (\d+) % of (\d+) matches against the SDK's rule sample "
    r"and (\d+) ± (\d+) % against `house-counter`"
)
BAR: Final = 60
"""Minimum percentage of matches that the learner must win against the rule sample."""

pytestmark = pytest.mark.process


def trained(out: Path, *words: object, status: int = 0) -> str:
    """Return the output of a training run."""
    command = [sys.executable, str(LEARNER / "train.py"), "--out", str(out), *map(str, (*SMALL, *words))]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=out.parent)
    assert ran.returncode == status, ran.stdout + ran.stderr
    return ran.stdout + ran.stderr


def curve(folder: Path) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = json.loads((folder / "curve.json").read_text())
    return [{**each, "seconds": 0} for each in found]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training run of 48 small batches, measured twice."""
    out = tmp_path_factory.mktemp("learner") / "trained"
    trained(out, "--batches", 48, "--measured", 24)
    return out


def test_it_becomes_better_and_draws_how(whole: Path) -> None:
    """Within four seconds the network is clearly better than random play."""
    first, last = ({each["opponent"]: each for each in measured["strengths"]} for measured in curve(whole))
    assert last["house-random"]["won"] > 0.6
    assert last["house-random"]["points"] > first["house-random"]["points"]
    picture = (whole / "curve.svg").read_text()
    assert all(opponent in picture for opponent in last)


def test_a_training_that_is_killed_goes_on_and_comes_to_the_same(whole: Path, tmp_path: Path) -> None:
    out = tmp_path / "trained"
    words = [sys.executable, str(LEARNER / "train.py"), "--out", str(out), *map(str, SMALL)]
    with subprocess.Popen([*words, "--batches", "48", "--measured", "24"], stdout=subprocess.DEVNULL) as process:
        until = time.monotonic() + PATIENCE
        while not (out / "training.npz").exists():
            assert time.monotonic() < until
            time.sleep(0.01)
        os.kill(process.pid, signal.SIGKILL)
    said = trained(out, "--batches", 48, "--measured", 24)
    assert re.search(r"batch (10|20|30|40) of 48", said), said
    assert curve(out) == curve(whole)
    assert (out / "network.npz").read_bytes() == (whole / "network.npz").read_bytes()


@pytest.mark.parametrize(
    ("words", "damage", "why"),
    [
        (("--batches", 30, "--measured", 24), None, "is of a training with batches 48, not 30"),
        (("--batches", 48, "--measured", 24), 100, "is no whole checkpoint"),
        (("--batches", 48, "--measured", 24), 0, "is no whole checkpoint"),
    ],
)
def test_a_checkpoint_that_does_not_fit_is_named(
    whole: Path, tmp_path: Path, words: tuple[object, ...], damage: int | None, why: str
) -> None:
    shutil.copytree(whole, tmp_path / "trained")
    if damage is not None:
        os.truncate(tmp_path / "trained" / "training.npz", damage)
    said = trained(tmp_path / "trained", *words, status=1)
    assert why in said
    assert "Traceback" not in said


def test_two_processes_come_to_what_one_does(whole: Path, tmp_path: Path) -> None:
    """The processes do not block each other, although weights and batches are larger than a pipe's buffer."""
    for name, words in (("one", SMALL), ("two", SMALL[:-1])):
        command = [sys.executable, str(LEARNER / "train.py"), "--out", str(tmp_path / name), *map(str, words)]
        command += ["--hidden", "256", "--batches", "4", "--measured", "2"]
        subprocess.run(command, check=True, timeout=PATIENCE, stdout=subprocess.DEVNULL)
    assert curve(tmp_path / "one") == curve(tmp_path / "two")


@pytest.mark.parametrize(
    ("words", "why"), [(("--seed", -1), "--seed"), (("--deals", 1), "--deals"), (("--games", 0), "--games")]
)
def test_a_number_that_makes_no_sense_is_named(tmp_path: Path, words: tuple[object, ...], why: str) -> None:
    assert why in trained(tmp_path / "trained", *words, status=2)


def test_the_trained_bot_plays_whole_matches_and_says_where_its_network_is(whole: Path, tmp_path: Path) -> None:
    """Seat the bot as `arena match` does, at tables for two and for three."""
    project = tmp_path / "examples" / "learner"
    shutil.copytree(LEARNER, project, ignore=shutil.ignore_patterns("trained", "__pycache__"))
    arena = [sys.executable, "-m", "arena.cli", "match", f"{project / 'bot.py'}:LearnerBot", "house:random"]
    arena += ["--game", "nullern", "--sets", "2", "--concurrency", "1", "--json"]
    alone = subprocess.run([sys.executable, str(project / "bot.py")], capture_output=True, text=True, check=False)
    assert alone.returncode == 1
    assert re.fullmatch(r"Error: there is no file .*network\.npz: train\.py writes one\n", alone.stderr)
    missing = subprocess.run(arena, capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=ROOT)
    assert missing.returncode == 1
    assert "train.py writes one" in missing.stderr
    shutil.copytree(whole, project / "trained")
    for seats in ("2", "3"):
        ran = subprocess.run(
            [*arena, "--seats", seats], capture_output=True, text=True, timeout=PATIENCE, check=False, cwd=ROOT
        )
        assert ran.returncode == 0, ran.stderr
        assert json.loads(ran.stdout)["comparison"]["games"] > 0


@pytest.mark.long
@pytest.mark.unmeasured
def test_the_documented_command_comes_to_the_documented_strength(tmp_path: Path) -> None:
    """Measure the strength as the README does, with the same number of matches and the checkout's build."""
    said = DOCUMENTED.search(" ".join((LEARNER / "README.md").read_text().split()))
    assert said is not None
    batches, rules, rules_error, matches, counter, counter_error = map(int, said.groups())
    command = [sys.executable, str(LEARNER / "train.py"), "--out", str(tmp_path), "--measured", str(batches)]
    build = {name: value for name, value in os.environ.items() if name != "ARENA_BUILD"}
    ran = subprocess.run(command, capture_output=True, text=True, timeout=TRAINING, check=False, env=build)
    assert ran.returncode == 0, ran.stderr
    (measured,) = json.loads((tmp_path / "curve.json").read_text())
    assert measured["batches"] == batches
    found = {each["opponent"]: each for each in measured["strengths"]}
    for opponent, won, error in (("rules", rules, rules_error), ("house-counter", counter, counter_error)):
        each = found[opponent]
        assert each["matches"] == matches
        assert abs(100 * each["won"] - won) <= hypot(error, 100 * each["interval"]), (opponent, each)
    assert 100 * found["rules"]["won"] >= BAR
