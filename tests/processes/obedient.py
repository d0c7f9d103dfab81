"""A helper process for tests that obeys its arguments: `python -m tests.processes.obedient [WORDS …]`."""

from __future__ import annotations

import os
import sys
import time
from typing import Any

from arena.processes.parent import Parent, connected

LARGE = 3_000_000
"""More bytes than any buffer holds."""


def obey(parent: Parent) -> None:
    while messages := parent.receive():
        for what, value in messages:
            parent.send([done(parent, what, value)])


def done(parent: Parent, what: str, value: Any) -> Any:
    match what:
        case "echo":
            return value
        case "words":
            return sys.argv[1:], os.getpid(), os.getppid(), os.getpgid(0)
        case "sleep":
            return time.sleep(value)
        case "end":
            sys.exit(value)
        case "large frame":
            return parent.line.sendall(bytes([255] * 8))
    raise ValueError(what)


if __name__ == "__main__":
    with connected() as program:
        obey(program)
