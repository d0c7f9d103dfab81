"""Pages from templates, with the headers that every answer has."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Final
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from starlette.datastructures import MutableHeaders
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.client.figures import CONFIDENCE, is_house, share_in_words
from arena.version import __version__
from arena.web.conditional import conditional
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
"""Of every answer. Nothing is loaded from elsewhere, nothing runs that is not a file of ours, no page is framed."""


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
        root=request.scope["root"], path=request.scope["root"] + request.url.path, **context
    )
    if status != 200:
        return HTMLResponse(text, status)
    return conditional(request, text.encode(), "text/html", {})


def _margin(error: float, digits: int = 0) -> str:
    """Return what lies to either side in a 95 % interval."""
    return f"{CONFIDENCE * error:.{digits}f}"


def _instant(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


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
    at=_instant, margin=_margin, signed=_signed, share=share_in_words, segment=lambda text: quote(text, safe="")
)
_TEMPLATES.globals.update(games=GAMES, is_house=is_house, server_version=__version__)
