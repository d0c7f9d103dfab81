"""Commands: their output is stored, their ends are reported, and no process survives, whichever process is killed."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from arena.local.commands import keeper
from arena.local.commands.command import CommandEnd, RunningCommand
from arena.local.errors import CommandNotStarted
from arena.processes.launch import environment

pytestmark = pytest.mark.process
PATIENCE = 120.0


def python(text: str, folder: Path, **variables: str) -> RunningCommand:
    return RunningCommand([sys.executable, "-c", text], {**os.environ, **variables}, folder / "log")


def until_printed(log: Path, lines: int = 1) -> list[str]:
    """Return the lines of a log as soon as it has enough complete lines."""
    until = time.monotonic() + PATIENCE
    while (found := log.read_text()).count("\n") < lines:
        assert time.monotonic() < until, found
        time.sleep(0.01)
    return found.splitlines()


def is_gone(pid: int) -> bool:
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        try:
            stat = Path(f"/proc/{pid}/stat").read_text()
        except (FileNotFoundError, ProcessLookupError):
            return True
        if stat.rpartition(")")[2].split()[0] == "Z":  # its parent has not read its exit status, but it is dead
            return True
        time.sleep(0.01)
    return False


def test_its_end_is_said_with_its_last_lines(tmp_path: Path) -> None:
    command = python(
        "import os, sys; print(os.environ['WORD']); print('no', file=sys.stderr); sys.exit(7)", tmp_path, WORD="ja"
    )
    end = command.ended(PATIENCE)
    assert end is not None
    assert (end.status, sorted(end.last)) == (7, ["ja", "no"])
    assert str(end).startswith("ended with exit status 7; its last lines:\n")
    assert sorted(command.log.read_text().splitlines()) == ["ja", "no"]
    assert command.end() == end
    assert str(CommandEnd(-11, ())) == "was killed by signal 11, and printed nothing"


@pytest.mark.parametrize(("word", "why"), [("./no-such-bot", "No such file"), ("/etc/passwd", "Permission denied")])
def test_a_command_that_is_none_is_named(tmp_path: Path, word: str, why: str) -> None:
    with pytest.raises(CommandNotStarted, match=f"the command {word} --flag cannot be started: {why}"):
        RunningCommand([word, "--flag"], os.environ, tmp_path / "log")


def test_it_has_no_other_environment_than_it_is_given(tmp_path: Path) -> None:
    command = RunningCommand(["/usr/bin/env"], {"ONLY": "this"}, tmp_path / "log")
    end = command.ended(PATIENCE)
    assert end is not None
    assert end.last == ("ONLY=this",)
    command.end()


def test_much_that_it_prints_is_kept_at_both_ends(tmp_path: Path) -> None:
    much = f"for _ in range({3 * keeper.KEPT >> 16}): print('x' * 65535)"
    command = python(f"print('first')\n{much}\nprint('last')", tmp_path)
    end = command.ended(PATIENCE)
    assert end is not None
    command.end()
    kept = command.log.read_bytes()
    assert len(kept) < keeper.KEPT + keeper.TAIL + 100
    assert kept.startswith(b"first\n")
    assert kept.endswith(b"x\nlast\n")
    missing = int(kept.partition(b"\n[")[2].partition(b" bytes are left out here]")[0])
    assert missing == (3 * keeper.KEPT >> 16) * 65536 + 11 - keeper.KEPT - keeper.TAIL


STAYS = """
import os, signal, sys, time
signal.signal(signal.SIGTERM, signal.SIG_IGN)
def say(who):  # at once: print writes word by word where PYTHONUNBUFFERED is set, and two processes write here
    os.write(1, f"{who} {os.getpid()}\\n".encode())
if not os.fork():
    os.setsid()          # leaves the group
    if os.fork():
        os._exit(0)      # and its parent
    say("grandchild")
    time.sleep(1000)
say("child")
time.sleep(1000)
"""


def test_whoever_ignores_the_end_and_leaves_the_group_is_killed(tmp_path: Path) -> None:
    command = python(STAYS, tmp_path)
    pids = [int(line.split()[1]) for line in until_printed(command.log, 2)]
    end = command.end()
    assert end is not None
    assert end.status == -signal.SIGKILL
    assert all(map(is_gone, pids))


def test_it_is_asked_before_it_is_killed(tmp_path: Path) -> None:
    command = python(
        "import signal, sys, time\nsignal.signal(15, lambda *_: sys.exit(3))\nprint(1, flush=True)\ntime.sleep(1000)",
        tmp_path,
    )
    until_printed(command.log)
    assert select.select([command], [], [], 0)[0] == []
    assert command.ended() is None
    end = command.end()
    assert end is not None
    assert end.status == 3


def test_it_may_be_told_to_end_and_take_its_time_and_it_may_be_killed_at_once(tmp_path: Path) -> None:
    text = """
import os, signal, time
signal.signal(signal.SIGTERM, lambda *_: os.write(1, b"told\\n"))
os.write(1, b"runs\\n")
while True:
    time.sleep(1000)
"""
    command = python(text, tmp_path)
    until_printed(command.log)
    for times in (1, 2):
        command.tell_to_end()
        until_printed(command.log, 1 + times)
    assert command.ended() is None
    end = command.end(at_once=True)
    assert end == CommandEnd(-signal.SIGKILL, ("runs", "told", "told"), printed=15)
    assert command.end() == end
    command.tell_to_end()


RUNNER = """
import os, sys, time
from pathlib import Path
from arena.local.commands.command import RunningCommand
command = RunningCommand([sys.executable, "-c", sys.argv[2]], os.environ, Path(sys.argv[1]))
print("runs", flush=True)
time.sleep(1000)
"""


@pytest.mark.parametrize("who", ["runner", "keeper"])
def test_nothing_is_left_where_the_runner_or_the_keeper_is_killed(tmp_path: Path, who: str) -> None:
    words = [sys.executable, "-c", RUNNER, str(tmp_path / "log"), STAYS]
    with subprocess.Popen(words, env=environment(), stdout=subprocess.PIPE, text=True) as runner:
        assert runner.stdout is not None
        assert runner.stdout.readline() == "runs\n"
        pids = dict(line.split() for line in until_printed(tmp_path / "log", 2))
        kept_by = int(Path(f"/proc/{pids['child']}/stat").read_text().rpartition(")")[2].split()[1])
        os.kill(runner.pid if who == "runner" else kept_by, signal.SIGKILL)
        assert is_gone(int(pids["child"]))
        if who == "runner":
            assert is_gone(int(pids["grandchild"]))
        else:
            os.kill(int(pids["grandchild"]), signal.SIGKILL)  # a limit of the system: only the command itself dies
        runner.kill()
