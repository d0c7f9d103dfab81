"""The program of a worker process. It plays the sets that its parent sends, with its own bots, and ends with its
parent.

python -m arena.local.match.worker DESCRIPTOR

DESCRIPTOR is the number of an open file with a `ThinkingRecord`. The process leads its own group, so Ctrl-C does not
reach it, and the bots' child processes end with it.
"""

from __future__ import annotations

import mmap
import sys

from arena.local.errors import LocalMatchError
from arena.local.match.play_set import play_task
from arena.local.match.thinking import ThinkingRecord
from arena.local.play.player_process import parent_of_bots


def main() -> None:
    """Play until the parent sends no more sets."""
    record = ThinkingRecord(memoryview(mmap.mmap(int(sys.argv[1]), 0)).cast("d"))
    with parent_of_bots() as parent:
        while tasks := parent.receive():
            for subject, numbers in tasks:
                try:
                    outcome: object = play_task(subject, numbers, record)
                except LocalMatchError as error:
                    outcome = error
                parent.send([outcome])


if __name__ == "__main__":
    main()
