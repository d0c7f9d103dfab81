"""Every benchmark and every study runs as a separate command with its smallest arguments."""

from __future__ import annotations

import json
import os
import pkgutil
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import bench
from arena.house import HOUSE_BOTS
from bench import studies
from bench.__main__ import COMMANDS
from bench.studies._field import field, house_names
from tests.games import THOUGHT_ABOUT
from tests.postgresql import programs
from tests.web.browser import PROGRAM

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[2]
PATIENCE = 300.0
"""Maximum number of seconds for a command on a busy machine. It usually needs a few seconds."""
SMALLEST = {
    "bench.engine": "--repetitions 5 --games 4",
    "bench.play": "--case one --seconds 0.2 --warm-up 0.2 --repetitions 1",
    "bench.growth": "--sources --bots 2 --matches 1000 --seconds 0.5 --warm-up 0.2 --repetitions 1 --runs 2",
    "bench.events": "--events 4 --bots 6 --matches 40 --processes 1",
    "bench.echo": "--streams 1 --seconds 0.1 --repetitions 1",
    "bench.crawl": "--matches 1000 --seconds 1 --warm-up 0.2 --repetitions 1",
    "bench.listings": "--matches 1000 --runs 1 --command ladder --command 'bots show bot-7'",
    "bench.local": "--repetitions 1 --games 1 --sets 1",
    "bench.local_commands": "--repetitions 1 --sets 1",
    "bench.pages": "--matches 1000 --runs 2",
    "bench.viewers": "--viewers 5 --seconds 2 --warm-up 0.2 --repetitions 1",
    "bench.sdks": "--case 1x16 --language python --decisions 2000 --warm-up 0 --repetitions 1",
    "bench.steps": "--steps 5 --repetitions 1",
    "bench.turns": "--case 2x1 --decisions 200",
    "bench.vector_env": "--repetitions 1 --games 8",
    "bench.writers": "--store postgresql --writers 3 --matches 8 --repetitions 1",
    "bench.studies.endings": "--decisions 3 --seats 3",
    "bench.studies.luck": "--seats 2 --matches 10 --processes 1",
    "bench.studies.reality": "--game sixth_sense --seats 2 --games 10 --duplicates 10 --processes 1",
    "bench.studies.search": "--matches 4",
    "bench.studies.sequential": "--game nullern --seats 2 --sets 40 --runs 4",
    "bench.studies.slow": "--seeds 1 --tables 20",
    "bench.studies.strength": "--deals 2 --seats 2 --game sixth_sense",
}
"""By module, arguments with which it needs only a few seconds."""
DEAR = {
    "bench.crawl",
    "bench.growth",
    "bench.listings",
    "bench.pages",
    "bench.play",
    "bench.steps",
    "bench.studies.strength",
}
"""Modules that need five seconds or more each. `make bench` runs those of `bench`, too."""
ELSEWHERE = {"bench.ladder"}
"""Modules that `test_bench_ladder_play` runs instead."""


def run(module: str) -> Any:
    """Return the output of a module with its smallest arguments, without measuring coverage, which is slow.

    A module that misses a target exits with 1. Other load on the machine can cause a miss, so it is no failure here.
    """
    environment = {name: value for name, value in os.environ.items() if not name.startswith("COVERAGE_")}
    ran = subprocess.run(
        [sys.executable, "-m", module, *shlex.split(SMALLEST[module]), "--json"],
        check=False,
        capture_output=True,
        text=True,
        cwd=ROOT,
        env=environment,
        timeout=PATIENCE,
    )
    assert ran.returncode in (0, 1), ran.stderr
    assert ran.stdout, ran.stderr
    return json.loads(ran.stdout)


def modules(package: Any) -> set[str]:
    """Return the runnable modules and folders of a package."""
    return {f"{package.__name__}.{each.name}" for each in pkgutil.iter_modules(package.__path__) if each.name[0] != "_"}


def test_everything_that_can_be_run_is_run_here() -> None:
    assert (modules(bench) - {studies.__name__}) | modules(studies) == {*SMALLEST} | ELSEWHERE


def test_make_bench_runs_every_benchmark() -> None:
    assert {f"bench.{command.split()[0]}" for command in COMMANDS} == modules(bench) - {studies.__name__}


@pytest.mark.parametrize(
    "module",
    [
        pytest.param(module, marks=pytest.mark.long if module in DEAR else ())
        for module in sorted({*SMALLEST} - {"bench.writers", "bench.studies.luck", "bench.studies.reality"})
    ],
)
def test_it_runs(module: str) -> None:
    if module == "bench.steps" and PROGRAM is None and os.environ.get("CI") != "true":
        pytest.skip("there is no Chromium")
    assert run(module)


def test_writers_measures_both_stores() -> None:
    if programs() is None and os.environ.get("CI") != "true":
        pytest.skip("PostgreSQL IS MISSING: tools/debian-packages.sh installs it")
    runs = run("bench.writers")["runs"]
    assert {*runs} == {"sqlite", "postgresql"}
    for of_store in runs.values():
        assert {*of_store} == {"1", "3"}
        assert all(each["errors"] == 0 for of_number in of_store.values() for each in of_number)
    assert all(each["processor"] > each["of_server"] > 0 for each in runs["postgresql"]["3"])


@pytest.mark.parametrize("game", THOUGHT_ABOUT)
def test_every_house_bot_is_in_the_field(game: str) -> None:
    assert house_names(game) == tuple(field(game))[: len(HOUSE_BOTS[game])]


def test_luck_has_a_row_for_every_house_bot_that_thinks() -> None:
    rows = {(row["game"], row["baseline"]) for row in run("bench.studies.luck")}
    assert {(game, name) for game in THOUGHT_ABOUT for name in house_names(game)[1:]} <= rows


def test_reality_rates_every_house_bot() -> None:
    (fit,) = run("bench.studies.reality")["fits"]
    assert {*house_names("sixth_sense")} <= {*fit["ratings"]}
