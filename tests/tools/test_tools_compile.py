"""The tests run the requested code: the sources, or their compiled modules."""

import json
import os
import pickle
import re
import shutil
import subprocess
import sys
from importlib import import_module
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from engine.deal import SeededDecks
from engine.registry import GAMES
from tools.compile import compiled

ROOT = Path(__file__).parents[2]
MODULES = sorted(".".join(path.with_suffix("").parts) for path in compiled(ROOT))


@pytest.mark.parametrize("name", MODULES)
def test_every_module_is_compiled_or_none_is(name: str, request: pytest.FixtureRequest) -> None:
    file = import_module(name).__file__
    assert file is not None
    assert file.endswith(tuple(EXTENSION_SUFFIXES)) == request.config.getoption("--compiled")


@pytest.mark.process
def test_the_tests_of_a_room_run_compiled_where_a_module_of_it_is_compiled(tmp_path: Path) -> None:
    for name in ("conftest.py", "pyproject.toml", "tools/compile.py"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    files = {
        "engine/rules.py": "",
        "arena/answers/answer.py": "# Compiled: on the way of a decision.\n",
        "arena/pages/page.py": "",
        "tests/answers/test_answer.py": """
import pytest
def test_of_answers(): pass
@pytest.mark.sources_only("replaces a method")
def test_of_sources(): raise AssertionError
""",
    }
    files |= {
        f"tests/{place}/test_{place}.py": f"def test_of_{place}(): pass" for place in ("engine", "pages", "end_to_end")
    }
    for name, text in files.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(text)

    def passed(*words: str) -> set[str]:
        command = [sys.executable, "-m", "pytest", "-rp", "-p", "no:cacheprovider", *words]
        ran = subprocess.run(command, cwd=tmp_path, check=False, text=True, stdout=subprocess.PIPE)
        return set(re.findall(r"^PASSED \S+::(\w+)", ran.stdout, re.MULTILINE))

    assert passed("--compiled") == {"test_of_answers", "test_of_engine", "test_of_end_to_end"}
    assert passed("--compiled", "-n", "2") == passed("--compiled")
    assert passed("--compiled", "tests/pages") == {"test_of_pages"}


def test_the_files_that_are_long_when_compiled_are_there(request: pytest.FixtureRequest) -> None:
    plugins = request.config.pluginmanager.get_plugins()
    (names,) = [plugin.LONG_WHEN_COMPILED for plugin in plugins if hasattr(plugin, "LONG_WHEN_COMPILED")]
    for room, subjects in names.items():
        there = {path.stem.split("_", 2)[-1] for path in (ROOT / "tests" / room).glob("test_*.py")}
        assert {*subjects} < there, room


@pytest.mark.process
@pytest.mark.parametrize("name", ["engine.sixth_sense.state", "arena.match.match", "arena.server.matches.driver"])
def test_processes_that_the_tests_start_run_the_same(name: str) -> None:
    script = f"import {name} as module; print(module.__file__)"
    ran = subprocess.run([sys.executable, "-c", script], check=True, text=True, stdout=subprocess.PIPE)
    assert ran.stdout.strip() == import_module(name).__file__


@pytest.mark.process
@pytest.mark.parametrize(
    "command", [["-m", "arena.cli"], [str(Path(sys.executable).with_name("arena"))]], ids=["-m", "arena"]
)
def test_whatever_is_started_in_the_checkout_runs_the_build(command: list[str], request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--compiled"):
        pytest.skip("there is a build with --compiled only")
    kept = {"ARENA_BUILD", "PYTHONPATH", "PYTHONSAFEPATH"}
    environment = {name: value for name, value in os.environ.items() if name not in kept}
    words = [sys.executable, *command, "--version"]
    ran = subprocess.run(words, check=True, text=True, capture_output=True, cwd=ROOT, env=environment)
    assert ran.stdout.endswith(" (compiled)\n"), ran.stderr


@pytest.mark.process
@pytest.mark.parametrize("game", [*GAMES])
def test_what_one_build_pickled_the_other_reads(game: str, tmp_path: Path, request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--compiled"):
        pytest.skip("there is a build with --compiled only")
    script = """
import pickle, sys
from pathlib import Path
from engine import deal
state = pickle.loads(Path(sys.argv[1]).read_bytes())
for _ in range(100):
    state.apply(state.fallback(state.player), state.player)
Path(sys.argv[2]).write_bytes(pickle.dumps(state))
print(deal.__file__)
"""
    paths = {name: tmp_path / name for name in ("state", "again")}
    state = GAMES[game].new(4, SeededDecks(bytes(32)))
    paths["state"].write_bytes(pickle.dumps(state))
    words = [sys.executable, "-c", script, *map(str, paths.values())]
    environment = {name: value for name, value in os.environ.items() if name != "PYTHONSAFEPATH"}
    environment |= {"PYTHONPATH": str(ROOT)}
    ran = subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE, env=environment)
    assert ran.stdout == f"{ROOT / 'engine' / 'deal.py'}\n"
    again = pickle.loads(paths["again"].read_bytes())
    for _ in range(100):
        state.apply(state.fallback(state.player), state.player)
    for seat in range(4):
        assert again.view(seat) == state.view(seat)
        assert again.vector(seat) == state.vector(seat)


@pytest.mark.process
def test_an_error_nobody_expected_names_file_and_line_with_its_text() -> None:
    script = """
from arena.cli.main import main
from engine.deal import SeededDecks
from engine.registry import GAMES
from tools.compile import compiled
main(["games"], standalone_mode=False)
GAMES["sixth_sense"].new(2, SeededDecks(bytes(32))).apply(10_000, 0)
"""
    ran = subprocess.run([sys.executable, "-c", script], check=False, text=True, capture_output=True, cwd="/")
    assert re.search(r'File ".*engine/sixth_sense/state\.py", line \d+, in apply\n    \w', ran.stderr), ran.stderr


@pytest.mark.process
@pytest.mark.parametrize("as_json", [True, False], ids=["json", "people"])
def test_an_error_in_the_log_has_the_text_of_its_lines(as_json: bool) -> None:
    script = f"""
import structlog
from arena import stderr
from engine.deal import SeededDecks
from engine.registry import GAMES
from tools.compile import compiled
stderr.sys.stderr.isatty = lambda: {not as_json}
stderr.log_to_stderr({as_json})
try:
    GAMES["sixth_sense"].new(2, SeededDecks(bytes(32))).apply(10_000, 0)
except Exception as error:
    other = ValueError("each the other's cause")
    error.__cause__, other.__cause__ = other, error
    structlog.get_logger().exception("a fault of the server")
"""
    ran = subprocess.run([sys.executable, "-c", script], check=True, text=True, capture_output=True, cwd="/")
    text = json.loads(ran.stderr)["exception"] if as_json else ran.stderr
    assert re.search(r'File ".*engine/sixth_sense/state\.py", line \d+, in apply\n    \w', text), text
