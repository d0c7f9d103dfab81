"""Forked helper processes, in programs of their own, because a fork must happen before threads or loops exist."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest

PROGRAM = """
import os, sys
from arena.processes.frames import Frames, packed
from arena.processes.launch import forked

def work(parent):
    if sys.argv[1] == "fault":
        raise ZeroDivisionError("a fault")
    while messages := parent.receive():
        parent.send([(os.getpid(), message) for message in messages])

with forked(work) as helper:
    if sys.argv[1] == "echo":
        helper.line.sendall(packed("one") + packed("two"))
        frames, answers = Frames(), []
        while len(answers) < 2:
            answers += frames.take(helper.line.recv(1000))
        assert answers == [(helper.pid, "one"), (helper.pid, "two")]
    if sys.argv[1] == "unread":
        helper.line.sendall(packed(bytes(3_000_000)))
    if sys.argv[1] == "fault":
        assert not helper.line.recv(1)
    pid = helper.pid
try:
    os.kill(pid, 0)
except ProcessLookupError:
    print("gone")
"""


@pytest.mark.parametrize("case", ["echo", "unread", "fault"])
def test_a_forked_helper_works_and_is_gone_after_the_block(case: str) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", PROGRAM, case], capture_output=True, text=True, check=True, timeout=60
    )
    assert done.stdout == "gone\n"
    assert ("ZeroDivisionError: a fault" in done.stderr) == (case == "fault")
    assert case == "fault" or not done.stderr


def test_there_is_none_where_nothing_can_be_forked(monkeypatch: pytest.MonkeyPatch) -> None:
    from arena.processes.launch import forked

    monkeypatch.delattr(os, "fork")
    with forked(lambda parent: None) as helper:
        assert helper is None
