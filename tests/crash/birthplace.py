"""Where the servers of a trial come from: a process that has imported everything and forks one for each line it reads.

So a server is there in a fraction of a second. A line is JSON: the step to die at or "", the time, options and log.
What is said in turn: the server's pid, whatever the server says, and how it ended.
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
