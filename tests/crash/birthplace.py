"""The process that forks the servers of a trial. It imports everything once, then forks a server for each input line.

A server therefore starts within a fraction of a second. An input line is JSON: the step at which the server dies or "",
the number of times it reaches the step, options, and log file. The output lines are the server's pid, its own output,
and how it ended.
"""

from __future__ import annotations

import json
import os
import sys

from tests.crash.dying_server import serve


def main() -> None:
    for line in sys.stdin:
        step, time, options, log = json.loads(line)
        child = os.fork()
        if child == 0:
            print(f"pid {os.getpid()}", flush=True)
            os.dup2(os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND), 2)
            serve(step, time, options)
            return
        _, status = os.waitpid(child, 0)
        print(f"ended {os.waitstatus_to_exitcode(status)}", flush=True)


if __name__ == "__main__":
    main()
