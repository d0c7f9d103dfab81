"""Answers to requests for ladders and match values, from the database, which is only read."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import Connection

from arena.ladder.errors import LadderError
from arena.ladder.estimates import estimates
from arena.ladder.ladder import Ladder, Quota
from arena.scheduling.information_gain import MatchValues, match_values
from arena.store.base.errors import StoreError
from arena.store.ladder import publishing, versions
from arena.store.ladder.fits import Fits
from arena.store.opening import open_readonly

if TYPE_CHECKING:
    from arena.server.ratings.fit_client import Request

_fits = cache(Fits)
"""The fits of this process, by quota."""


def answer(quota: Quota, directory: Path, request: Request) -> Ladder | MatchValues[int] | str:
    """Return the ladder or the match values of a request, or the reason for a failure.

    The process computes match values, because they would block the server's own process. The answer to None is empty.
    """
    try:
        with open_readonly(directory) as connection:
            if request is None:
                _fits(quota).read(connection)
                return ""
            if isinstance(request, str):
                return _match_values(connection, request)
            return _fits(quota).ladder(connection, *request)
    except (LadderError, StoreError, ValueError) as error:
        return str(error)


def _match_values(connection: Connection, ladder_id: str) -> MatchValues[int]:
    """Return each bot's match value for a published ladder. Raises: ValueError: A value is not a number."""
    ladder = publishing.as_published(connection, ladder_id)
    if ladder is None:
        return MatchValues()
    bots = {node: int(bot) for node, (bot, _) in versions.titles(connection).items()}
    return match_values(estimates(ladder, bots))
