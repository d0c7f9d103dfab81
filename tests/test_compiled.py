"""Engine, matches and house bots under test are those that were asked for: the sources, or the same compiled."""

import subprocess
import sys
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import arena.house.nullern
import arena.house.sixth_sense
import arena.match
import engine

MODULES = sorted(
    ".".join((package.__name__, *path.relative_to(package.__path__[0]).with_suffix("").parts))
    for package in (engine, arena.match, arena.house.nullern, arena.house.sixth_sense)
    for path in Path(package.__path__[0]).rglob("*.py")
    if path.name not in ("__init__.py", "game.py", "view.py")
)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_is_compiled_or_none_is(name: str, request: pytest.FixtureRequest) -> None:
    file = import_module(name).__file__
    assert file is not None
    assert file.endswith(tuple(EXTENSION_SUFFIXES)) == request.config.getoption("--compiled")


@pytest.mark.parametrize("name", ["engine.sixth_sense.state", "arena.match.match", "arena.house.sixth_sense.planner"])
def test_processes_that_the_tests_start_run_the_same(name: str) -> None:
    script = f"import {name} as module; print(module.__file__)"
    ran = subprocess.run([sys.executable, "-c", script], check=True, text=True, stdout=subprocess.PIPE)
    assert ran.stdout.strip() == import_module(name).__file__
