"""The program of the process that fits ladders for a server.

    python -m arena.server.ratings.fit_process DIRECTORY QUOTA …

It answers the requests of `fit_client`. QUOTA … are the fields of `arena.ladder.ladder.Quota`, in order. numpy, SciPy
and SQLAlchemy load with the first request, because a server without results sends none.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Final

from arena.ladder.ladder import Quota
from arena.processes.launch import give_way
from arena.processes.parent import Parent, connected

YIELDING: Final = 10
"""The process's `nice` value, so that matches have precedence."""


def serve(server: Parent, directory: Path, quota: Quota) -> None:
    """Answer requests until the server ends."""
    while requests := server.receive():
        from arena.server.ratings.fit_answers import answer

        for request in requests:
            server.send([answer(quota, directory, request)])


if __name__ == "__main__":
    give_way(YIELDING)
    with connected() as parent:
        serve(parent, Path(sys.argv[1]), Quota(*map(int, sys.argv[2:])))
