"""`python -m arena.cli.leashed MODULE …`: runs a module that is told to end, as by Ctrl-C, when standard input does.

So a program cannot outlive the one that holds the other end of its input, however that one ends.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
from threading import Thread


def main() -> None:
    """Runs the module that the command line names, with the rest of the command line."""
    Thread(target=_watch, daemon=True).start()
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def _watch() -> None:
    while os.read(0, 1024):
        pass
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    main()
