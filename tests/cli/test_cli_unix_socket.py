"""A server on a Unix socket: bots and the command line connect with `unix:PATH`."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.cli.cli_rig import PATIENCE, arena, serving, shown

pytestmark = pytest.mark.process


def test_a_bot_of_the_sdk_plays_over_a_unix_socket(tmp_path: Path) -> None:
    path = tmp_path / "arena.sock"
    with serving(tmp_path / "data", "--unix-socket", str(path), "--patience", "0", "--seats", "2"):
        words = ["-m", "arena_client.samples.random_bot", "--server", f"unix:{path}", "--matches", "1"]
        subprocess.run([sys.executable, *words, "--token-file", str(tmp_path / "token")], check=True, timeout=PATIENCE)
        assert "random" in shown("bots", "show", "random", "--server", f"unix:{path}")
        other = arena("serve", "--address", "127.0.0.1:0", "--data", tmp_path / "other", "--unix-socket", path)
        assert (other.exit_code, "another server listens there" in other.output) == (1, True)
    assert not path.exists()
