"""The program of a worker process. It plays the sets that its parent sends, with its own bots, and ends with its
parent.

python -m arena.local.match.worker DESCRIPTOR

DESCRIPTOR is an open file for a `ThinkingRecord`. The process leads its own group, so Ctrl-C does not reach it, and the
bots' child processes end with it.
"""

from __future__ import annotations

import mmap
import os
import signal
import socket
import sys
from contextlib import suppress

from arena.local.errors import LocalMatchError
from arena.local.match.play_set import play_task
from arena.local.match.thinking import ThinkingRecord
from arena.processes.parent import Parent, when_closed


def main() -> None:
    """Play until the parent sends no more sets."""
    record = ThinkingRecord(memoryview(mmap.mmap(int(sys.argv[1]), 0)).cast("d"))
    with _socket() as line, suppress(ConnectionError):
        when_closed(line.fileno(), lambda: os.killpg(0, signal.SIGKILL))
        parent = Parent(line)
        while tasks := parent.receive():
            for subject, numbers in tasks:
                try:
                    outcome: object = play_task(subject, numbers, record)
                except LocalMatchError as error:
                    outcome = error
                parent.send([outcome])


def _socket() -> socket.socket:
    """Return the socket to the parent. It is moved away from standard input so that no bot reads it."""
    line = socket.socket(fileno=os.dup(0))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, 0)
    os.close(nothing)
    return line


if __name__ == "__main__":
    main()
