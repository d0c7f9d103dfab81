"""The README is short and plain, and its examples work: the ten-line bot, and every `arena` command with its output."""

from __future__ import annotations

import os
import re
import shlex
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from PIL import Image

from tests.cli.cli_rig import ARENA, PATIENCE, let_play, serving
from tests.documents import ADDRESS, CONSOLE, README, ROOT, blocks, first_bots
from tests.end_to_end.e2e_rig import register

MOST_LINES = 150
MOST_WORDS = 16
"""Maximum mean number of words in a sentence, outside code and tables."""
MOST_BYTES = 1_000_000


def sentences() -> list[str]:
    """Return the README's sentences without code, tables and headings."""
    text = re.sub(r"```.*?```|<picture>.*?</picture>", "\n", README, flags=re.DOTALL)
    text = re.sub(r"^[|#].*$", "\n", text, flags=re.MULTILINE)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    paragraphs = [" ".join(each.split()) for each in re.split(r"\n\s*\n|\n- ", text)]
    return [each for paragraph in paragraphs for each in re.split(r"(?<=[.:!?*]) (?=[A-Z`])", paragraph) if each]


def test_the_readme_is_short_and_plain() -> None:
    assert len(README.splitlines()) <= MOST_LINES
    lengths = [len(sentence.split()) for sentence in sentences()]
    assert len(lengths) > 30
    assert sum(lengths) / len(lengths) <= MOST_WORDS


def test_the_pictures_move_only_for_readers_who_allow_it() -> None:
    """For reduced motion and for dark mode, GitHub shows the first matching source in `<picture>`."""
    for name, preference in (("match-still", "reduced-motion: reduce"), ("ladder-dark", "color-scheme: dark")):
        assert f'<source media="(prefers-{preference})" srcset="docs/{name}.webp">' in README
    for name in ("match", "match-still", "ladder-light", "ladder-dark"):
        assert f"docs/{name}.webp" in README
        path = ROOT / "docs" / f"{name}.webp"
        assert path.stat().st_size <= MOST_BYTES
        with Image.open(path) as picture:
            assert (getattr(picture, "n_frames", 1) >= 40) == (name == "match")


@pytest.mark.process
def test_the_ten_line_bot_plays(tmp_path: Path) -> None:
    [bot] = blocks(README, "python")
    assert bot == first_bots()[0], "docs/languages.md shows the same"
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


def shown_outputs() -> dict[str, list[str]]:
    """Return the output that the README shows below each command, by command."""
    found: dict[str, list[str]] = {}
    for block in blocks(README, "console"):
        for line in block.splitlines():
            if line.startswith("$ "):
                below = found[line.removeprefix("$ ")] = []
            else:
                below.append(line)
    return found


@pytest.mark.process
def test_every_arena_command_shown_works(tmp_path: Path) -> None:
    inline = re.findall(r"`(arena (?:games|rules|new)\b[^`]*)`", re.sub(r"```.*?```", "", README, flags=re.DOTALL))
    commands = [shlex.split(line) for line in [*CONSOLE, *inline] if line.startswith("arena ")]
    served = [words for words in commands if words[1] == "serve"]
    assert served, "the README shows how to serve"
    assert {words[1] for words in commands} >= {"ladder", "match", "new", "replay", "rules", "why"}
    outputs = {tuple(shlex.split(line)): below for line, below in shown_outputs().items() if below}
    assert outputs, "the README shows what a command prints"
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        tokens = tmp_path / ".arena" / "tokens"
        tokens.mkdir(parents=True)
        let_play(server.server, tokens, 1, bots=["random", "rules"])
        register(server.server, "my-bot")
        for words in commands:
            if words[1] != "serve":
                ran = subprocess.run(
                    [*ARENA, *words[1:]],
                    check=False,
                    capture_output=True,
                    text=True,
                    cwd=tmp_path,
                    env={**os.environ, "ARENA_SERVER": server.server},
                    timeout=PATIENCE,
                )
                assert ran.returncode == 0, (words, ran.stderr)
                assert ran.stdout
                printed = [line.rstrip() for line in ran.stdout.splitlines()]
                assert [line for line in outputs.get(tuple(words), ()) if line not in printed] == [], ran.stdout


@pytest.mark.process
@pytest.mark.parametrize("line", sorted({line for line in CONSOLE if line.startswith("make ")}))
def test_every_make_target_shown_exists(line: str) -> None:
    subprocess.run(["make", "--dry-run", line.split()[1]], check=True, cwd=ROOT, capture_output=True)
