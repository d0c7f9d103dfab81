"""The analysis of a match: points beside a house bot's, bids, and the choices that cost most."""

from __future__ import annotations

from typing import Any

from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from arena.queries.source import DataSource
from arena.transport.connection_limits import origin_of
from arena.web.answers.responses import page
from arena.web.reading.reader import Busy
from arena.web.reading.ready_replays import replay_file
from arena.web.reading.reviews import TooManyReviews


async def analysis(request: Request) -> Response:
    """Show an analysis as far as it has come, or a button that asks for it."""
    number = request.path_params["number"]
    review = request.app.state.reviews.of(number)

    def query(source: DataSource) -> dict[str, Any]:
        ready = request.app.state.replays.ready(source, number)
        found = None if review is None else review.found
        decisions = [each["decision"] for seat in (found or {"seats": []})["seats"] for each in seat["costly"] or ()]
        return {"header": ready.course.replay.header, "steps": {each: ready.step_of(each) for each in decisions}}

    shown = await request.app.state.reader.read(query)
    return page(request, "analysis.html", number=number, review=review, **shown)


async def ask(request: Request) -> Response:
    """Have a match analysed, and show what comes of it.

    Raises:
        SiteRefused: a page of another site asks.
        Busy: too many analyses wait, in all or of the reader's address.
    """
    request.app.state.sites.check(request.headers)
    number = request.path_params["number"]
    address = request.client.host if request.client is not None else ""
    content = await request.app.state.reader.read(lambda source: replay_file(source, number))
    try:
        request.app.state.reviews.ask(number, content, origin_of(address))
    except TooManyReviews as error:
        raise Busy(str(error)) from error
    return RedirectResponse(f"{request.scope['root']}/matches/{number}/analysis", 303)
