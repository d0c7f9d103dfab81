"""Run a module that gets SIGINT when its standard input ends: `python -m arena.processes.supervised MODULE …`.

Use it for programs that exchange no messages with their parent but must not outlive it. A program that has not ended
`LIMIT` seconds later is killed, because SIGINT may arrive when the program cannot end by itself.
"""

from __future__ import annotations

import os
import runpy
import signal
import sys
from typing import Final

from arena.processes.parent import when_closed

LIMIT: Final = 30.0
"""Seconds from SIGINT until the program is killed. A demo's server takes 5 of them to finish matches."""


def main() -> None:
    """Run the module that the first argument names, with the remaining arguments."""
    when_closed(0, _interrupt)
    del sys.argv[0]
    runpy.run_module(sys.argv[0], run_name="__main__", alter_sys=True)


def _interrupt() -> None:
    signal.setitimer(signal.ITIMER_REAL, LIMIT)  # SIGALRM kills, whatever Python is doing.
    os.kill(os.getpid(), signal.SIGINT)


if __name__ == "__main__":
    main()
