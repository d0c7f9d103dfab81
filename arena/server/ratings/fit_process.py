"""The program of the process that fits ladders for a server.

    python -m arena.server.ratings.fit_process DIRECTORY QUOTA …

It reads the database and never writes. A request with a ladder id and a number of seats returns that ladder, or a text
with the reason for a failure. A ladder id alone returns the match values of the published ladder, because computing
them would block the server's own process. None only makes the process read all results, so that later requests are
quick. QUOTA … are the fields of `arena.ladder.ladder.Quota`, in order.
"""

from __future__ import annotations

import sys
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Final

from sqlalchemy import Connection

from arena.ladder.errors import LadderError
from arena.ladder.ladder import Ladder, Quota
from arena.processes.launch import give_way
from arena.processes.parent import Parent, connected
from arena.scheduling.information_gain import MatchValues, match_values
from arena.store.base.errors import StoreError
from arena.store.ladder import events, publishing, versions
from arena.store.opening import open_readonly

if TYPE_CHECKING:
    from arena.server.ratings.fit_client import Request
    from arena.store.ladder.fits import Fits

YIELDING: Final = 10
"""The process's `nice` value, so that matches have precedence."""


def serve(server: Parent, directory: Path, quota: Quota) -> None:
    """Answer requests until the server ends."""
    while requests := server.receive():
        for request in requests:
            server.send([_answer(quota, directory, request)])


@cache
def _fits(quota: Quota) -> Fits:
    """Return the fits of this process. Load numpy and SciPy, which a server without results does not need."""
    from arena.store.ladder.fits import Fits

    return Fits(quota)


def _answer(quota: Quota, directory: Path, request: Request) -> Ladder | MatchValues[int] | str:
    try:
        with open_readonly(directory) as connection:
            if request is None:
                if events.ladders(connection):
                    _fits(quota).read(connection)
                return ""
            if isinstance(request, str):
                return _match_values(connection, request)
            return _fits(quota).ladder(connection, *request)
    except (LadderError, StoreError, ValueError) as error:
        return str(error)


def _match_values(connection: Connection, ladder_id: str) -> MatchValues[int]:
    """Return each bot's match value for a published ladder. Raises: ValueError: A value is not a number."""
    from arena.ladder.estimates import estimates

    ladder = publishing.as_published(connection, ladder_id)
    if ladder is None:
        return MatchValues()
    bots = {node: int(bot) for node, (bot, _) in versions.titles(connection).items()}
    return match_values(estimates(ladder, bots))


if __name__ == "__main__":
    give_way(YIELDING)
    with connected() as parent:
        serve(parent, Path(sys.argv[1]), Quota(*map(int, sys.argv[2:])))
