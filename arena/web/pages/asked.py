"""Parsing and checking of the parameters in a page's address."""

from __future__ import annotations

from datetime import UTC, datetime, time

from starlette.requests import Request

from arena.queries.directory import games_named
from arena.queries.source import LARGEST_MATCH
from arena.store.base.errors import Refused
from arena.web.reading.reader import Missing
from arena.web.requests.numbers import SHOWN, whole_number


def game_asked(request: Request) -> str:
    """Return the game named in the path.

    Raises: Missing: there is no such game.
    """
    return known_game(request.path_params["game"])


def known_game(name: str) -> str:
    """Return `name` if it is the name of a game.

    Raises: Missing: there is no such game.
    """
    try:
        games_named(name)
    except Refused as error:
        raise Missing(str(error)) from error
    return name


def number_asked(request: Request, name: str, largest: int = LARGEST_MATCH) -> int | None:
    """Return a whole number from 0 to `largest`; None if it is not given. Raises: Missing."""
    typed = request.query_params.get(name, "")
    if not typed:
        return None
    number = whole_number(typed, 0, largest)
    if number is None:
        raise Missing(f"{name} is a whole number from 0 to {largest}, not {typed[:SHOWN]!r}")
    return number


def instant_asked(request: Request, name: str, *, begins: bool = False) -> datetime | None:
    """Return a time, in UTC unless it names another zone.

    A day without a time means its end, or its beginning if `begins`.

    None if the parameter is not given. Raises: Missing: it is not a date or time.
    """
    typed = request.query_params.get(name, "")
    if not typed:
        return None
    try:
        found = datetime.fromisoformat(typed)
        if len(typed) <= len("2026-11-23"):
            found = datetime.combine(found, time.min if begins else time.max)
        return found.astimezone(UTC) if found.tzinfo else found.replace(tzinfo=UTC)
    except (ValueError, OverflowError):
        raise Missing(f"{name} is a date or an instant such as 2026-11-23T18:30, not {typed[:SHOWN]!r}") from None
