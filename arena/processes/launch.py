"""Command line, environment and priority of a module of this program that runs as another process."""

from __future__ import annotations

import os
import sys
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path


def command(module: str, arguments: Sequence[str]) -> list[str]:
    """Return the command line that runs a module with this interpreter; it finds none in the current directory (-P)."""
    return [sys.executable, "-P", "-m", module, *arguments]


def environment() -> Mapping[str, str]:
    """Return this process's environment with a PYTHONPATH on which the same modules are found."""
    return {**os.environ, "PYTHONPATH": os.pathsep.join(path or str(Path.cwd()) for path in sys.path)}


def give_way(steps: int, process: int = 0) -> None:
    """Lower the priority of a process, by default this one, by so many steps of `nice`, and to 19 at most.

    Nothing depends on it: where the process has ended or the system refuses, all stays as it is.
    """
    with suppress(OSError):
        own = os.getpriority(os.PRIO_PROCESS, process)
        os.setpriority(os.PRIO_PROCESS, process, own + steps)


OWN_GROUP = 0
"""Value of `process_group`: Ctrl-C in a terminal reaches only the parent, which then ends its helpers in order."""
