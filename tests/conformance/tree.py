"""A copy of the repository with an additional game: the game's files, and its entries in the lists of games."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]
PIECES: Final = Path(__file__).parent / "betting"
"""The folder of the game's files, with the structure of the repository."""
NAME: Final = "leduc"
_KIND: Final = "Leduc"
_LEFT_OUT: Final = shutil.ignore_patterns(
    ".git",
    ".venv*",
    ".coverage*",
    ".hypothesis",
    ".*_cache",
    "build",
    "demo-data",
    "*-pytest-*.pyc",  # these contain paths of the original repository
    "node_modules",
    "*.egg-info",
    PIECES.name,
)
_LINES: Final = {
    "engine/registry.py": [
        (r"^(_MODULES: .* = \{\n)", rf'\1    "{NAME}": "engine.{NAME}.game:{NAME.upper()}",\n'),
    ],
    "arena/api/game_codecs.py": [
        (r"^(from arena\.api import )", rf"\1{NAME}, {NAME}_pb2, "),
        (r"^(from engine\.game import [^\n]*\n)", rf"\1from engine.{NAME} import {_KIND}Round, {_KIND}View\n"),
        (
            r"^(VIEWS: .* = \{\n)",
            rf'\1    {_KIND}View: GameCodec("{NAME}", {NAME}.encode_view, {NAME}_pb2.View),\n',
        ),
        (
            r"^(ROUNDS: .* = \{\n)",
            rf'\1    {_KIND}Round: GameCodec("{NAME}", {NAME}.encode_round, {NAME}_pb2.Round),\n',
        ),
    ],
    "arena/replay/render/show.py": [
        (r"^(from arena\.replay\.render\.renderer )", rf"from arena.replay.render.{NAME} import {_KIND}Renderer\n\1"),
        (r"^(RENDERERS: .* = \{\n)", rf'\1    "{NAME}": {_KIND}Renderer(),\n'),
    ],
    "arena/house/__init__.py": [
        (r"^(HOUSE_BOTS: .*\(\n    \{\n)", rf'\1        "{NAME}": (RandomBot("{NAME}"),),\n'),
    ],
    "tests/house/frozen.py": [
        (r"^(FROZEN = \{\n)", rf'\1    ("{NAME}", "house-random"): ("d61a566b", "4b55b94d"),\n'),
    ],
}
"""The game's lines in existing files, each as a pattern and its replacement with the added text."""


def add_game(tree: Path) -> None:
    """Copy the repository to a folder, add the betting game, and generate the code of the protocol."""
    shutil.copytree(ROOT, tree, ignore=_LEFT_OUT)
    (tree / PIECES.relative_to(ROOT)).mkdir()  # documents refer to it
    shutil.copytree(PIECES, tree, ignore=shutil.ignore_patterns("__pycache__"), dirs_exist_ok=True)
    for file, lines in _LINES.items():
        text = (tree / file).read_text()
        for place, line in lines:
            text, found = re.subn(place, line, text, flags=re.MULTILINE)
            assert found == 1, f"{file} has {found} places like {place}"
        (tree / file).write_text(text)
    subprocess.run(["make", "--silent", ".venv-proto/.ready"], cwd=ROOT, check=True, capture_output=True)
    generated = [ROOT / ".venv-proto" / "bin" / "python", tree / "proto" / "generate.py"]
    subprocess.run(generated, cwd=tree, check=True, capture_output=True)
    written = run(tree, "docs/observations.py")
    assert written.returncode == 0, written.stdout


def run(tree: Path, *arguments: str) -> subprocess.CompletedProcess[str]:
    """Run a Python program in the copy, without access to the repository itself."""
    env = {name: value for name, value in os.environ.items() if not name.startswith(("COV", "PYTEST", "PYTHON"))}
    env["PYTHONPATH"] = os.pathsep.join((str(tree), str(tree / "clients" / "python")))
    command = [sys.executable, *arguments]
    return subprocess.run(
        command, cwd=tree, env=env, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False
    )
