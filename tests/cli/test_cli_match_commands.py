"""`arena match` with commands as bots: stopped at any moment it leaves no process, and continues where it stopped."""

from __future__ import annotations

import json
import shlex
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from tests.cli.cli_rig import ARENA, PATIENCE, arena, shown
from tests.cli.test_cli_match import times_left_out
from tests.local.bots import FIRST, written

pytestmark = pytest.mark.process
TALKS = """
import os, sys
from arena_client import run
if __name__ == "__main__":
    open(os.path.join(sys.argv[1], str(os.getpid())), "w").close()
    run(First(), "localhost:1", verbose=False)
"""


def is_gone(pid: int) -> bool:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.01)
    return False


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_what_was_stopped_leaves_no_bot_and_goes_on(tmp_path: Path, how: signal.Signals) -> None:
    out, pids = tmp_path / "bot.sets", tmp_path / "pids"
    pids.mkdir()
    bot = f"cmd:{shlex.quote(sys.executable)} {written(tmp_path, FIRST + TALKS)} {pids}"
    words = ("match", bot, "house:random", "--game", "nullern", "--seats", "2", "--seed", "5", "--sets", "60")
    with subprocess.Popen([*ARENA, *words, "--out", str(out)], stderr=subprocess.PIPE, text=True) as match:
        until = time.monotonic() + PATIENCE
        while not out.exists() or out.read_bytes().count(b"\n") < 5:
            assert match.poll() is None
            assert time.monotonic() < until
            time.sleep(0.01)
        match.send_signal(how)
        assert match.stderr is not None
        said = match.stderr.read()
    if how is signal.SIGINT:
        assert match.returncode == 130
        assert f"the same command goes on, with --seed 5 --out {out}" in said
    assert all(is_gone(int(pid)) for pid in [path.name for path in pids.iterdir()])
    assert 4 <= out.read_bytes().count(b"\n") - 1 < 60, "it was stopped in the middle"
    gone_on = json.loads(shown(*words, "--out", out, "--json"))
    assert out.read_bytes().count(b"\n") == 61
    assert times_left_out(gone_on) == times_left_out(json.loads(shown(*words, "--json")))
    assert (tmp_path / "bot.sets.logs" / "bot.log").exists()


def test_a_command_that_ends_is_said_with_its_status_and_its_last_lines(tmp_path: Path) -> None:
    bot = written(tmp_path, "import sys; sys.exit('no licence')")
    ran = arena("match", f"cmd:{shlex.quote(sys.executable)} {bot}", "house:random", "--sets", 2)
    assert ran.exit_code == 1
    assert "ended with exit status 1; its last lines:\nno licence\nAll that it printed is in " in ran.output
