"""The engine under test is the one that was asked for: the sources, or the same compiled."""

import subprocess
import sys
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

import engine

MODULES = sorted(
    ".".join(path.relative_to(Path(engine.__path__[0]).parent).with_suffix("").parts)
    for path in Path(engine.__path__[0]).rglob("*.py")
    if path.name not in ("__init__.py", "game.py", "view.py")
)


@pytest.mark.parametrize("name", MODULES)
def test_every_module_is_compiled_or_none_is(name: str, request: pytest.FixtureRequest) -> None:
    file = import_module(name).__file__
    assert file is not None
    assert file.endswith(tuple(EXTENSION_SUFFIXES)) == request.config.getoption("--compiled")


def test_processes_that_the_tests_start_run_the_same_engine() -> None:
    script = "import engine.sixth_sense.state as state; print(state.__file__)"
    ran = subprocess.run([sys.executable, "-c", script], check=True, text=True, stdout=subprocess.PIPE)
    assert ran.stdout.strip() == import_module("engine.sixth_sense.state").__file__
