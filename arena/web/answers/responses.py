"""Pages from templates, with the headers that every answer has."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.queries.figures import CONFIDENCE, is_house, quota_in_words, share_in_words
from arena.queries.flags import sentence
from arena.queries.leaders import SHARED, leaders
from arena.version import __version__
from arena.web.answers.conditional import conditional
from engine.registry import GAMES

HEADERS: Final[Mapping[str, str]] = {
    "content-security-policy": (
        "default-src 'none'; style-src 'self'; script-src 'self'; img-src 'self'; connect-src 'self';"
        " base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
    ),
    "referrer-policy": "same-origin",
    "x-content-type-options": "nosniff",
    "cross-origin-opener-policy": "same-origin",
    "cache-control": "no-cache",
}
"""Headers of every answer. Nothing is loaded from elsewhere, only files of ours run, no page is framed."""


class WithHeaders:
    """Adds `HEADERS` to every answer that does not set them itself, and tells the pages what precedes their paths."""

    def __init__(self, app: ASGIApp, root: str) -> None:
        self._application = app
        self._root = root

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] == "http":
            await self._application({**scope, "root": self._root}, receive, sending)
        else:
            await self._application(scope, receive, send)


def page(request: Request, template: str, status: int = 200, **context: Any) -> Response:
    """Return a page from a template; a browser that has just this page already is told so."""
    text = _TEMPLATES.get_template(template).render(
        root=request.scope["root"],
        path=request.scope["root"] + request.url.path,
        origin=f"{request.url.scheme}://{request.url.netloc}",
        **context,
    )
    if status != 200:
        return HTMLResponse(text, status)
    return conditional(request, text.encode(), "text/html", {})


def fragment(template: str, macro: str, *values: Any) -> str:
    """Return a part of a page, which a macro of a template makes of values."""
    return str(getattr(_TEMPLATES.get_template(template).module, macro)(*values)).strip()


def _margin(error: float, digits: int = 0) -> str:
    """Return what lies to either side in a 95 % interval."""
    return f"{CONFIDENCE * error:.{digits}f}"


def _instant(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _stamp(at: datetime) -> str:
    """Return an instant as an address names it."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat()


def _long(time: timedelta) -> str:
    """Return a length of time in words, to the minute."""
    minutes = time // timedelta(minutes=1)
    for size, unit in ((1440, "day"), (60, "hour"), (1, "minute")):
        if minutes >= size or unit == "minute":
            break
    return f"{minutes // size} {unit}{'' if minutes // size == 1 else 's'}"


def _signed(value: float, digits: int = 0) -> str:
    return f"{value:+.{digits}f}".replace("-", "−")


_TEMPLATES: Final = Environment(
    loader=PackageLoader("arena.web"),
    autoescape=True,
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
)
_TEMPLATES.filters.update(
    at=_instant,
    flag_in_words=sentence,
    long=_long,
    margin=_margin,
    segment=lambda text: quote(text, safe=""),
    share=share_in_words,
    signed=_signed,
    stamp=_stamp,
)
_TEMPLATES.globals.update(
    games=GAMES,
    is_house=is_house,
    leaders=leaders,
    shared=SHARED,
    quota_in_words=quota_in_words,
    server_version=__version__,
)
