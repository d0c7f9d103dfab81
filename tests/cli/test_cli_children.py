"""Child processes of a command, and the signals that it waits for."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path
from subprocess import PIPE

import pytest

from arena.cli.demo.children import Child, ChildFailed, caught_signals, children
from arena.processes.launch import environment
from tests.cli.cli_rig import PATIENCE

STUBBORN = """
import os, signal, time
signal.signal(signal.SIGINT, lambda *_: "{tell}" and os.kill(os.getppid(), signal.SIGTERM))
print("ready", flush=True)
while True:
    time.sleep(0.05)  # a signal just before pause() would wait for another
"""
"""A program that ignores SIGTERM. With `tell` it also sends SIGTERM to its parent."""
TALKER = """
import sys
for number in range(20):
    print("line", number, file=sys.stderr)
sys.exit(3)
"""


@pytest.fixture(autouse=True)
def modules(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Create modules that every child process can import and run."""
    (tmp_path / "stubborn.py").write_text(STUBBORN.format(tell=""))
    (tmp_path / "telling.py").write_text(STUBBORN.format(tell="yes"))
    (tmp_path / "talker.py").write_text(TALKER)
    monkeypatch.syspath_prepend(tmp_path)


def test_a_child_that_does_not_heed_is_killed_at_a_further_signal(tmp_path: Path) -> None:
    with caught_signals() as signals, children(signals) as programs:
        child = programs.start("mule", ("telling",), tmp_path / "log", piped=True)
        assert child.lines(signals, 30, 1) == ["ready"]
        programs.check()
        os.kill(os.getpid(), signal.SIGINT)
        signals.sleep(30)
        assert signals.count == 1
    assert child.process.returncode == -signal.SIGKILL


def test_a_child_that_does_not_heed_is_killed_in_the_end(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.cli.demo.children.GRACE", 0.2)
    with caught_signals() as signals, children(signals) as programs:
        child = programs.start("mule", ("stubborn",), tmp_path / "log", piped=True)
        child.lines(signals, 30, 1)
    assert child.process.returncode == -signal.SIGKILL


def test_a_child_that_ends_is_reported_with_the_end_of_its_log(tmp_path: Path) -> None:
    with caught_signals() as signals, children(signals) as programs:
        child = programs.start("talker", ("talker",), tmp_path / "log", piped=True)
        with pytest.raises(ChildFailed) as failed:
            child.lines(signals, 30, 1)
    text = str(failed.value)
    assert "the talker ended with status 3" in text
    assert "line 19" in text
    assert "line 7\n" not in text


def test_a_child_that_says_nothing_is_reported_as_such(tmp_path: Path) -> None:
    (tmp_path / "quiet.py").write_text("")
    with caught_signals() as signals, children(signals) as programs:
        child = programs.start("mouse", ("quiet",), tmp_path / "log", piped=True)
        with pytest.raises(ChildFailed, match="it said nothing"):
            child.lines(signals, 30, 1)


def test_a_child_that_does_not_speak_in_time_is_reported(tmp_path: Path) -> None:
    with caught_signals() as signals, children(signals) as programs:
        child = programs.start("mule", ("stubborn",), tmp_path / "log", piped=True)
        with pytest.raises(ChildFailed, match="did not start within 0 s"):
            child.lines(signals, 0, 1)


def test_a_signal_ends_the_wait_for_a_childs_words(tmp_path: Path) -> None:
    (tmp_path / "quiet.py").write_text("input()")
    with caught_signals() as signals, children(signals) as programs:
        child: Child = programs.start("mule", ("stubborn",), tmp_path / "log", piped=True)
        os.kill(os.getpid(), signal.SIGTERM)
        assert child.lines(signals, 30, 1) is None
        child.process.kill()


def test_a_child_whose_parent_is_gone_is_killed_where_it_does_not_heed() -> None:
    program = "from arena.processes import supervised; supervised.LIMIT = 0.2; supervised.main()"
    with subprocess.Popen(
        [sys.executable, "-c", program, "stubborn"], stdin=PIPE, stdout=PIPE, env=environment()
    ) as child:
        try:
            assert child.stdin is not None
            assert child.stdout is not None
            assert child.stdout.readline() == b"ready\n"
            child.stdin.close()
            assert child.wait(PATIENCE) == -signal.SIGALRM
        finally:
            child.kill()


def test_signals_do_what_they_did_before_once_they_are_no_longer_caught() -> None:
    before = signal.getsignal(signal.SIGINT)
    with caught_signals() as signals:
        signals.sleep(0)
        assert not signals.wait(0)
    assert signal.getsignal(signal.SIGINT) is before
