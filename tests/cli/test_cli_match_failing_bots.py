"""`arena match` with bots that exit, crash or never answer. The command names these bots and counts no such match as
decided.
"""

from __future__ import annotations

import os
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.cli_rig import ARENA, PATIENCE, Terminal, arena, terminal
from tests.local.bots import FIRST, written
from tests.local.test_local_command import is_gone

LOOPS = """
import os, subprocess, sys
from arena_client import Bot

class Loops(Bot):
    games = ("nullern",)

    def decide(self, decision):
        here = os.path.dirname(os.path.abspath(__file__))
        child = subprocess.Popen(["sleep", "1000"])
        for pid in (os.getpid(), child.pid):
            open(os.path.join(here, f"{pid}.pid"), "w").close()
        while True:
            try:
                while True:
                    pass
            except BaseException:
                pass
"""


def match_of(spec: str, *more: object) -> tuple[object, ...]:
    return ("match", spec, "house:random", "--game", "nullern", "--seats", 2, "--sets", 40, *more)


def replaced(line: str) -> str:
    return FIRST.replace("return", f"import os, sys; {line}\n        return")


@pytest.mark.parametrize("concurrency", [1, 2])
@pytest.mark.parametrize(
    ("line", "words"),
    [
        ("sys.exit()", "failed in seat"),
        ("sys.exit('no licence')", "SystemExit: no licence"),
        ("os._exit(0)", "ended with exit status 0: the bot ended it"),
        ("os.kill(os.getpid(), 11)", "was ended by signal 11: the bot ended it or crashed"),
        ("raise KeyboardInterrupt", "was ended by signal 2"),
    ],
)
def test_a_bot_that_exits_is_named_and_the_status_is_not_that_of_a_better_one(
    tmp_path: Path, line: str, words: str, concurrency: int
) -> None:
    spec = written(tmp_path, replaced(line))
    command = map(str, match_of(spec, "--sprt", "t0=0,t1=0.1", "--concurrency", concurrency))
    ran = subprocess.run([*ARENA, *command], check=False, capture_output=True, text=True, timeout=PATIENCE)
    assert ran.returncode == 1, ran.stderr
    assert f"{spec}" in ran.stderr
    assert words in ran.stderr


def test_a_bot_that_exits_while_it_is_made_is_named(tmp_path: Path) -> None:
    made = FIRST.replace("    def decide", "    def __init__(self):\n        import sys; sys.exit()\n\n    def decide")
    ran = arena(*match_of(written(tmp_path, made), "--concurrency", 1))
    assert ran.exit_code == 1
    assert "First() raises" in ran.output
    assert "SystemExit" in ran.output


def test_what_bots_print_leaves_the_document_whole(tmp_path: Path) -> None:
    spec = written(tmp_path, replaced("print('my hand', flush=True)"))
    command = map(str, match_of(spec, "--sets", 1, "--concurrency", 1, "--json"))
    ran = subprocess.run([*ARENA, *command], check=True, capture_output=True, text=True, timeout=PATIENCE)
    assert ran.stdout.startswith('{"match"')
    assert "my hand" in ran.stderr


def pids_in(folder: Path, count: int) -> list[int]:
    until = time.monotonic() + PATIENCE
    while len(found := [int(each.stem) for each in folder.glob("*.pid")]) < count:
        assert time.monotonic() < until, "no bot thinks"
        time.sleep(0.01)
    return found


def test_a_bot_that_loops_is_named_while_it_does_and_dies_at_the_first_ctrl_c(tmp_path: Path) -> None:
    """In a real terminal Ctrl-C ends the match with all its processes, even a process that ignores signals."""
    spec, out = written(tmp_path, LOOPS), tmp_path / "some.sets"
    match: Terminal
    with terminal(*match_of(spec, "--concurrency", 2, "--out", out, "--seed", 5), columns=300) as match:
        pids = pids_in(tmp_path, 4)
        match.expect(f"{spec} has been thinking for 1")
        began = time.monotonic()
        match.press("\x03")
        match.expect(f"Interrupted; the same command goes on, with --seed 5 --out {out}.")
        assert match.end() == 130
        assert time.monotonic() - began < 10.0
    assert all(map(is_gone, pids))


def test_a_bot_that_loops_ends_with_the_match_however_that_ends(tmp_path: Path) -> None:
    command = map(str, match_of(written(tmp_path, LOOPS), "--concurrency", 2))
    with subprocess.Popen([*ARENA, *command], stderr=subprocess.DEVNULL) as match:
        pids = pids_in(tmp_path, 4)
        os.kill(match.pid, signal.SIGKILL)
    assert all(map(is_gone, pids))
