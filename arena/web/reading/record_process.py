"""Reads replays in a process of its own: each comes with its length before it and is answered with a JSON line.

It runs at the lowest priority, so that neither a server nor the pages wait for it, and ends with its parent.
"""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence
from typing import Final

from arena.processes.launch import give_way
from arena.replay.read import read
from arena.replay.render.show import ShowError, renderer_of
from arena.replay.replay import ReplayError
from arena.replay.steps import Course

LENGTH: Final = 4
"""Bytes of the length before a replay, big-endian."""


def main() -> None:
    """Answer until there is no more."""
    give_way(19)
    while length := sys.stdin.buffer.read(LENGTH):
        replay = sys.stdin.buffer.read(int.from_bytes(length, "big"))
        try:
            answer = _rounds(replay)
        except (ReplayError, ShowError):
            answer = None
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _rounds(replay: bytes) -> Sequence[tuple[Sequence[int], Sequence[bool]]] | None:
    """Return by round the points of each seat, and whether it kept its bid; that is empty in a game without bids."""
    course = Course(read(replay))
    renderer = renderer_of(course.replay.header.game)
    return [(renderer.worth(report), renderer.kept(report) or ()) for report in course.reports]


if __name__ == "__main__":
    try:
        main()
    except BrokenPipeError:
        os._exit(0)  # whoever asked is gone; an ordinary end would complain of what is still to be written
