"""Programs that speak JSON lines. The document's programs play locally and on a ladder, and errors name the mistake."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.cli_rig import PATIENCE, arena, serving, shown

pytestmark = pytest.mark.process
PAGE = Path("docs/json-lines.md").read_text("utf-8")
PIPE = (sys.executable, "-m", "arena_client", "pipe")
ONCE = "import json, sys\nfor line in sys.stdin:\n    for each in json.loads(line).get('decisions', ()): "


def bot(folder: Path, language: str) -> str:
    """Write a language's program from the document. Return its command line."""
    if language == "js" and shutil.which("node") is None:
        pytest.skip("node is not installed")
    found = re.search(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)
    assert found, language
    assert len(found[1].strip().splitlines()) <= 15
    file = folder / f"bot.{language[:2]}"
    file.write_text(found[1])
    return f"{'node' if language == 'js' else sys.executable} {file}"


@pytest.mark.parametrize("language", ["js", "python"])
@pytest.mark.parametrize("game", ["nullern", "sixth_sense"])
def test_the_programs_of_the_document_play_in_a_match(tmp_path: Path, language: str, game: str) -> None:
    command = bot(tmp_path, language)
    said = shown("match", f"pipe:{command}", "house:random", "--game", game, "--seats", "3", "--sets", "2")
    assert "against house:random" in " ".join(said.split())


def test_the_same_program_plays_on_a_ladder(tmp_path: Path) -> None:
    command = bot(tmp_path, "python").split()
    with serving(tmp_path / "data", "--patience", "0", "--seats", "2") as server:
        words = (*PIPE, "--token-file", str(tmp_path / "token"), "--matches", "1", "--", *command)
        env = {**os.environ, "ARENA_SERVER": server.server}
        subprocess.run(words, check=True, timeout=PATIENCE, env=env)
        assert "bot" in shown("replay", "list", "--server", server.server)


@pytest.mark.parametrize(
    ("program", "why"),
    [
        ("print('hello?', flush=True)", "the command said 'hello?', which is no PlayRequest in JSON"),
        ("print('{\"anwsers\": []}', flush=True)", 'has no field named "anwsers"'),
        ('print(\'{"answers": [{"matchId": 99}]}\', flush=True)', "nothing is open as decision 0 of match 99"),
        ("sys.exit(9)", "ended with exit status 9"),
    ],
)
def test_a_program_that_says_something_else_is_told_what(tmp_path: Path, program: str, why: str) -> None:
    file = tmp_path / "bot.py"
    file.write_text(ONCE + program)
    ran = arena(
        "match", f"pipe:{sys.executable} {file}", "house:random", "--game", "nullern", "--seats", 2, "--sets", 1
    )
    assert ran.exit_code == 1
    assert why in ran.output


def test_a_command_line_without_a_command_is_refused(tmp_path: Path) -> None:
    for words, why in (((), "there is no command"), (("--", "./nobody"), "the command './nobody' cannot be started")):
        ran = subprocess.run([*PIPE, *words], check=False, capture_output=True, text=True, timeout=PATIENCE)
        assert (ran.returncode, why in ran.stderr) == (2, True)
