"""What the README shows is run: the ten-line bot, the engine in a few lines, every `arena` command of its blocks."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.cli_rig import ARENA, PATIENCE, let_play, serving
from tests.documents import ADDRESS, CONSOLE, README, ROOT, blocks
from tests.end_to_end.e2e_rig import register

pytestmark = pytest.mark.process

PYTHON = blocks(README, "python")


def test_the_ten_line_bot_plays(tmp_path: Path) -> None:
    bot = PYTHON[0]
    assert len([line for line in bot.splitlines() if line.strip()]) <= 10
    assert ADDRESS in bot
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        program = tmp_path / "my_bot.py"
        program.write_text(bot.replace(ADDRESS, server.server))
        home = {**os.environ, "HOME": str(tmp_path)}
        with subprocess.Popen([sys.executable, str(program)], env=home, stderr=subprocess.PIPE, text=True) as player:
            try:
                let_play(server.server, tmp_path, 2, bots=["random"])
                player.send_signal(signal.SIGINT)
                log = player.communicate(timeout=PATIENCE)[1]
            finally:
                player.kill()
        assert player.returncode == 0, log
        assert "rating" in log


def test_the_engine_in_a_few_lines_plays_a_game() -> None:
    played = subprocess.run(
        [sys.executable, "-c", PYTHON[1]], check=True, capture_output=True, text=True, cwd=ROOT, timeout=PATIENCE
    )
    assert re.fullmatch(r"\((-?\d+, ){3}-?\d+\) \((\d, ){3}\d\)\n", played.stdout)


def test_every_arena_command_shown_works(tmp_path: Path) -> None:
    commands = [shlex.split(line) for line in CONSOLE if line.startswith("arena ")]
    served = [words for words in commands if words[1] == "serve"]
    assert served, "the README shows how to serve"
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        tokens = tmp_path / ".arena" / "tokens"
        tokens.mkdir(parents=True)
        let_play(server.server, tokens, 1, bots=["random", "rules"])
        register(server.server, "my-bot")
        for words in commands:
            if words[1] != "serve":
                ran = subprocess.run(
                    [*ARENA, *(word.replace("~", str(tmp_path)) for word in words[1:])],
                    check=False,
                    capture_output=True,
                    text=True,
                    cwd=tmp_path,
                    env={**os.environ, "ARENA_SERVER": server.server},
                    timeout=PATIENCE,
                )
                assert ran.returncode == 0, (words, ran.stderr)
                assert ran.stdout


@pytest.mark.parametrize("line", sorted({line for line in CONSOLE if line.startswith("make ")}))
def test_every_make_target_shown_exists(line: str) -> None:
    subprocess.run(["make", "--dry-run", line.split()[1]], check=True, cwd=ROOT, capture_output=True)
