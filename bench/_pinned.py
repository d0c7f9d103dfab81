"""Processes of a benchmark, each pinned to one core: the server to one, the clients to the other."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Final

import click

SERVER_CORE: Final = 0
CLIENT_CORE: Final = 1


def pin(process: int, core: int) -> None:
    """Pin a newly started process and its future threads to one core, if the system supports it."""
    if hasattr(os, "sched_setaffinity") and core in os.sched_getaffinity(0):
        os.sched_setaffinity(process, {core})


@contextmanager
def program(command: Sequence[str], core: int) -> Iterator[Callable[[], str]]:
    """Run a program that prints one line when it is ready and one line per line of input. Kill it at the end.

    Yield a function that returns the program's next line. From its second call on, the function first sends a line of
    input.
    """
    # Go counts the cores at its start, before the process is pinned. This variable gives it the right number.
    process = subprocess.Popen(
        command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env={**os.environ, "GOMAXPROCS": "1"}
    )
    pin(process.pid, core)
    asked = False

    def ask() -> str:
        nonlocal asked
        assert process.stdin is not None
        assert process.stdout is not None
        if asked:
            process.stdin.write("\n")
            process.stdin.flush()
        asked = True
        if not (line := process.stdout.readline().strip()):
            raise click.ClickException(f"{' '.join(command)} ended with status {process.wait()}")
        return line

    try:
        yield ask
    finally:
        process.kill()
        with process:
            pass
