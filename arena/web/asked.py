"""What an address asks for after its question mark, checked."""

from __future__ import annotations

from starlette.requests import Request

from arena.client.directory import games_named
from arena.store.errors import Refused
from arena.web.reader import Missing


def game_asked(request: Request) -> str:
    """Return the game that the path names; Missing if there is none of this name."""
    return known_game(request.path_params["game"])


def known_game(name: str) -> str:
    """Return the name of a game; Missing if there is none."""
    try:
        games_named(name)
    except Refused as error:
        raise Missing(str(error)) from error
    return name


def number_asked(request: Request, name: str, largest: int = (1 << 63) - 1) -> int | None:
    """Return a whole number from 0 to `largest`; None where it is not asked for. Missing."""
    typed = request.query_params.get(name, "")
    if not typed:
        return None
    if not typed.isascii() or not typed.isdigit() or int(typed[:20]) > largest:
        raise Missing(f"{name} is a whole number from 0 to {largest}, not {typed[:40]!r}")
    return int(typed)
