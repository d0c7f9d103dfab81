"""The list of matches, with filters that apply to all of its pages."""

from __future__ import annotations

from typing import Final
from urllib.parse import urlencode

from starlette.requests import Request
from starlette.responses import Response

from arena.store.base.rows import MatchState, microseconds
from arena.store.matches.search import SEARCHED, MatchFilter
from arena.web.answers.responses import page
from arena.web.pages.asked import instant_asked, known_game, number_asked
from arena.web.reading.reader import Missing

LISTED: Final = 50
STATES: Final = {"": "all", "finished": "finished", "playing": "being played", "interrupted": "interrupted"}
NAMES: Final = ("game", "bot", "opponent", "seats", "since", "until", "state", "faults", "lost")
"""Names of the filters, in their order in an address."""


async def matches(request: Request) -> Response:
    """List matches, newest first."""
    wanted, before = _wanted(request), number_asked(request, "before")
    found = await request.app.state.reader.read(lambda source: source.search(wanted, LISTED, before))
    typed = {name: request.query_params.get(name, "") for name in NAMES}
    kept = {name: value for name, value in typed.items() if value}
    return page(
        request,
        "matches.html",
        matches=found.matches,
        typed=typed,
        states=STATES,
        filtered=bool(kept),
        searched=SEARCHED,
        older=None if found.next is None else urlencode(kept | {"before": str(found.next)}),
        newest=urlencode(kept) if before is not None else None,
    )


def _wanted(request: Request) -> MatchFilter:
    """Return the filters that the address has. Raises: Missing."""
    given = request.query_params
    game, state = given.get("game", ""), given.get("state", "")
    if game:
        known_game(game)
    if state not in STATES:
        raise Missing(f"a match is {', '.join(filter(None, STATES))}, not {state[:40]!r}")
    since, until = instant_asked(request, "since", begins=True), instant_asked(request, "until")
    return MatchFilter(
        game=game,
        bot=given.get("bot", "").strip(),
        opponent=given.get("opponent", "").strip(),
        seats=number_asked(request, "seats", 100) or 0,
        since=None if since is None else microseconds(since),
        until=None if until is None else microseconds(until),
        faults=_ticked(request, "faults"),
        lost=_ticked(request, "lost"),
        state=MatchState(state) if state else None,
    )


def _ticked(request: Request, name: str) -> bool:
    typed = request.query_params.get(name, "")
    if typed not in {"", "0", "1"}:
        raise Missing(f"{name} is 1 or 0, not {typed[:40]!r}")
    return typed == "1"
