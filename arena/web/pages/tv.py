"""The TV: one board that plays the newest finished matches of the best bots, one after the other."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final

from starlette.requests import Request
from starlette.responses import Response

from arena.queries.programme import programme
from arena.queries.source import LARGEST_MATCH, DataSource
from arena.replay.render.show import ShowError
from arena.web.answers.responses import page
from arena.web.pages.asked import known_game
from arena.web.pages.matches import board
from arena.web.reading.reader import Missing, NotShown
from arena.web.reading.ready_replays import ReadyReplays
from arena.web.requests.numbers import SHOWN, whole_number

MOST_SEEN: Final = 64
"""Maximum number of matches that an address may name as seen."""


async def tv(request: Request) -> Response:
    """Play the newest matches of the best bots."""
    game = request.query_params.get("game", "")
    if game:
        known_game(game)
    shown = await on_tv(request, game, _seen(request))
    return page(request, "tv.html", tv=shown, game=game, kiosk="kiosk" in request.query_params)


async def on_tv(request: Request, game: str = "", seen: Sequence[int] = ()) -> dict[str, Any] | None:
    """Return the values of the board that the TV shows next; None before the first match."""
    replays: ReadyReplays = request.app.state.replays
    matches = await request.app.state.fresh.read(("tv", game), lambda source: programme(source, game))

    def query(source: DataSource) -> dict[str, Any] | None:
        waiting = sorted(matches, key=lambda row: row.match_id in seen)
        while waiting:
            row = waiting.pop(0)
            try:
                shown = board(replays.ready(source, row.match_id), row, 1, None, None)
            except (Missing, NotShown, ShowError):
                continue  # the replay was pruned in the meantime, or has another version
            named = [row.match_id] if row.match_id in seen else [*seen, row.match_id][-MOST_SEEN:]
            return shown | {"queue": waiting, "seen": ",".join(map(str, named))}
        return None

    found: dict[str, Any] | None = await request.app.state.reader.read(query)
    return found


def _seen(request: Request) -> list[int]:
    """Return the matches that the reader has seen. Raises: Missing."""
    typed = request.query_params.get("seen", "")
    numbers = [whole_number(each, 0, LARGEST_MATCH) for each in typed.split(",")] if typed else []
    if len(numbers) > MOST_SEEN or None in numbers:
        raise Missing(f"seen is at most {MOST_SEEN} numbers of matches with commas between, not {typed[:SHOWN]!r}")
    return [each for each in numbers if each is not None]
