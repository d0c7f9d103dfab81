"""A game with all its pieces fails nothing: Leduc poker, which has no tricks, no hands and no third seat, is added.

That happens in a copy of the repository, whose own tests and programs are then run as its author would run them.
"""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from tests.conformance.tree import NAME, add_game, run

pytestmark = pytest.mark.process

QUICK = (
    "tests/conformance/test_conformance_pieces.py",
    "tests/conformance/test_conformance_engine.py",
    "tests/conformance/test_conformance_house.py",
    "tests/conformance/test_conformance_replay.py",
    "tests/conformance/test_conformance_wire.py",
    "tests/conformance/test_perft.py",
    f"tests/engine/test_{NAME}_oracle.py",
    f"tests/engine/test_{NAME}_rulings.py",
    f"tests/engine/test_{NAME}_secrets.py",
    "tests/engine/test_observations.py",
    "tests/adapters",
    "tests/api/test_api_codec.py",
    "tests/cli/test_cli_rules.py",
    "tests/cli/test_cli_stepping.py",
    "tests/clients",
    "tests/house/test_house_bots.py",
    "tests/house/test_house_versions.py",
    "tests/match/test_match_real_games.py",
    "clients/python/client_tests/test_client_engine.py",
    "clients/python/client_tests/test_client_samples.py",
    "clients/python/client_tests/test_client_programs.py",
)
"""What walks the games: the tests of these files that name the new one."""
WHOLE = (
    "tests/cli/test_cli_game_options.py",
    "tests/cli/test_cli_games.py",
    "tests/cli/test_cli_ladder_void.py",
    "tests/test_compiled.py",
    "tests/test_library.py",
)
"""Tests that name no game, or the lists of all; what waits long for a server is left to the whole suite."""


@pytest.fixture(scope="module")
def tree(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The repository with the game in it."""
    folder = tmp_path_factory.mktemp("added") / "arena"
    add_game(folder)
    return folder


def test_every_test_of_the_game_passes(tree: Path) -> None:
    ran = run(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-k", NAME, *QUICK)
    assert ran.returncode == 0, ran.stdout[-8000:]


def test_every_test_of_all_games_passes(tree: Path) -> None:
    ran = run(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--maxfail=10", *WHOLE)
    assert ran.returncode == 0, ran.stdout[-8000:]


def test_a_server_and_bots_play_it_rate_it_and_show_it(tree: Path) -> None:
    """Three processes with the SDK, house bots at their tables, a ladder, a replay that both verifiers find true."""
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
    """The whole suite, but for what is measured in time, and this."""
    others = ("--ignore=tests/conformance/test_conformance_added_game.py", "--ignore=tests/bench")
    ran = run(tree, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", "2", "--dist=loadfile", *others)
    assert ran.returncode == 0, ran.stdout[-8000:]
