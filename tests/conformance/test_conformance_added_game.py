"""A game with all its pieces passes every test. The game is Leduc poker, which has no tricks, hands or third seat.

The test adds it to a copy of the repository and runs the copy's tests and programs as the game's author would.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.conformance.tree import NAME, ROOT, add_game, run
from tests.interop.interop_rig import tool

pytestmark = [
    pytest.mark.process,
    pytest.mark.unmeasured,
    pytest.mark.sources_only("it runs a copy of the sources"),
]

OTHERS = ("--ignore=tests/conformance/test_conformance_added_game.py",)
"""Arguments of pytest that exclude this file."""
IN_GO = "sdk_for_go"
"""Part of the name of the game's test that needs Go."""
GUESTS = "tests/end_to_end/test_leduc_without_its_code.py"
WHOLE = (
    "tests/cli/test_cli_game_options.py",
    "tests/cli/test_cli_games.py",
    "tests/cli/test_cli_ladder_void.py",
    "tests/tools/test_tools_compile.py",
    "tests/test_library.py",
)
"""Tests that name no game or all games. The long test runs every other test, too."""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a copy of the repository with the game in it."""
    folder = tmp_path_factory.mktemp("added") / "arena"
    add_game(folder)
    return folder


def run_tests(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run tests of the copy. Rewriting the assertions of all its tests would take longer than the tests of one game."""
    return run(tree, "-m", "pytest", "-q", "--assert=plain", "-p", "no:cacheprovider", *arguments)


def test_neither_the_protocol_nor_an_sdk_changes(tree: Path) -> None:
    """Generated code does not change either. One file is new in clients/javascript, which is not an SDK."""
    files = [path for folder in ("proto/arena", "clients") for path in (tree / folder).rglob("*") if path.is_file()]
    there = {path.relative_to(tree): path.read_bytes() for path in files if "__pycache__" not in path.parts}
    new = [path for path, content in there.items() if not same_as_here(path, content)]
    assert new == [Path(f"clients/javascript/games/{NAME}.mjs")]


def same_as_here(path: Path, content: bytes) -> bool:
    return (ROOT / path).is_file() and (ROOT / path).read_bytes() == content


def test_every_test_of_the_game_passes(tree: Path) -> None:
    """Run every test that has the new game among its parameters, except the Go test."""
    ran = run_tests(tree, "-k", f"{NAME} and not {IN_GO}", *OTHERS)
    assert ran.returncode == 0, ran.stdout[-8000:]


@tool("go")
def test_a_bot_in_go_plays_it_without_its_code(tree: Path) -> None:
    ran = run_tests(tree, "-k", IN_GO, GUESTS)
    assert ran.returncode == 0, ran.stdout[-8000:]
    assert "1 passed" in ran.stdout


def test_every_test_of_all_games_passes(tree: Path) -> None:
    ran = run_tests(tree, "--maxfail=10", *WHOLE)
    assert ran.returncode == 0, ran.stdout[-8000:]


def test_a_server_and_bots_play_it_rate_it_and_show_it(tree: Path) -> None:
    """Three processes with the SDK, house bots at their tables, a ladder, and a replay that both verifiers accept."""
    data = str(tree / "played")
    shown = run(tree, "-m", "arena.cli", "demo", "--game", NAME, "--seconds", "2", "--data", data)
    assert shown.returncode == 0, shown.stdout
    assert f"Ladder of {NAME}" in shown.stdout
    assert "The last betting round of match" in shown.stdout
    assert "is what was played" in shown.stdout
    file = str(tree / "match.jsonl.gz")
    for words in (
        ("replay", "export", "1", "--output", file, "--data", data),
        ("replay", "verify", file),
        ("replay", "show", file),
        ("replay", "show", file, "--round", "1", "--part", "1"),
        ("ladder", "rebuild", "--verify", "--game", NAME, "--data", data),
        ("ladder", "void", "1", "--reason", "a known deal", "--data", data),
        ("rules", NAME, "--ruling", "L4"),
    ):
        told = run(tree, "-m", "arena.cli", *words)
        assert told.returncode == 0, told.stdout
    if shutil.which("node"):
        program = "import subprocess, sys; sys.exit(subprocess.run(sys.argv[1:]).returncode)"
        verified = run(tree, "-c", program, "node", "clients/javascript/verify.mjs", file)
        assert "8 fair deals" in verified.stdout, verified.stdout


@pytest.mark.long
def test_nothing_else_fails_for_it(tree: Path) -> None:
    """Run the whole suite, except this file and the benchmarks, which measure time."""
    ran = run_tests(tree, "-n", "2", "--dist=loadfile", *OTHERS, "--ignore=tests/bench")
    assert ran.returncode == 0, ran.stdout[-8000:]
