"""Processes of a benchmark, each pinned to one core: server on one, clients on another."""

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
    """Pin a process that has just been started, with its future threads, to one core, if the system supports it."""
    if hasattr(os, "sched_setaffinity") and core in os.sched_getaffinity(0):
        os.sched_setaffinity(process, {core})


@contextmanager
def program(command: Sequence[str], core: int) -> Iterator[Callable[[], str]]:
    """Run a program that prints a line when it is ready, and one for each line of input; it is killed at the end."""
    # A program in Go that is to run on one core counts the cores before it is pinned.
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
