"""The process that fits ladders, a helper of its server: `python -m arena.server.ratings.fit_process DIRECTORY QUOTA`.

It reads the database and never writes. A game and a number of seats ask for a ladder, and the answer is that, or in
words why there is none; None has it read what there is, so that later requests take but a moment. Two guests count
QUOTA matches of a day together at most, all if it is 0.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Final, TypeAlias

from arena.ladder.errors import LadderError
from arena.ladder.ladder import Ladder
from arena.processes.parent import Parent, connected
from arena.store.errors import StoreError
from arena.store.fits import Fits
from arena.store.opening import open_readonly

YIELDING: Final = 10
"""How much it gives way to matches when the machine is busy (`nice`)."""

Request: TypeAlias = tuple[str, int] | None


def serve(server: Parent, directory: Path, pair_quota: int) -> None:
    """Answer until the server is gone."""
    fits = Fits(pair_quota)
    while requests := server.receive():
        for request in requests:
            server.send([_answer(fits, directory, request)])


def _answer(fits: Fits, directory: Path, request: Request) -> Ladder | str:
    try:
        with open_readonly(directory) as connection:
            if request is None:
                fits.read(connection)
                return ""
            return fits.ladder(connection, *request)
    except (LadderError, StoreError) as error:
        return str(error)


if __name__ == "__main__":
    os.nice(YIELDING)
    with connected() as parent:
        serve(parent, Path(sys.argv[1]), int(sys.argv[2]))
