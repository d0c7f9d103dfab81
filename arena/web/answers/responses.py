"""Responses: pages from templates with their headers, downloads, 304 for cached content, and problems.

Conditional requests follow RFC 9110 (section 13), and problems follow RFC 9457.
"""

from __future__ import annotations

import gzip
import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from http import HTTPStatus
from typing import Any, Final, Protocol
from urllib.parse import quote

from jinja2 import Environment, PackageLoader, StrictUndefined
from markupsafe import Markup, escape
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.analysis.timeline_document import duration
from arena.queries.figures import (
    CONFIDENCE,
    SHARED,
    flag_in_words,
    is_house,
    ladder_in_words,
    leaders,
    quota_in_words,
    share_in_words,
)
from arena.queries.json_form import json_text
from arena.replay.render.table_svg import SHAPES
from arena.version import __version__
from arena.web.answers.addresses import Addresses, own_addresses
from arena.web.answers.static_files import DIGEST, FILES, static_path
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
"""Headers of every response. The page loads nothing from other sites, runs only our scripts, and cannot be framed."""
REPLAY_TYPE: Final = "application/octet-stream"
OF_ALL: Final = {"access-control-allow-origin": "*"}
"""Header of files that a frame without an origin may load: scripts and drawn steps."""
FOREVER: Final = {"cache-control": "public, max-age=31536000, immutable"}
"""Header of a file whose content at its address never changes."""
PROBLEM_TYPE: Final = "application/problem+json"
FAULT: Final = "a fault of the server; its log says more"
"""Detail text of an unexpected error."""
SCHEMA: Final[Mapping[str, Any]] = {
    "type": "object",
    "description": "An error (RFC 9457).",
    "properties": {
        "type": {"type": "string"},
        "title": {"type": "string", "description": "What the status says."},
        "status": {"type": "integer"},
        "detail": {"type": "string", "description": "What was wrong, with which value."},
        "parameter": {"type": "string", "description": "The parameter that was wrong, where one was."},
        "value": {"type": "string", "description": "What it was."},
    },
    "required": ["type", "title", "status", "detail"],
}


class WithHeaders:
    """Middleware that adds `HEADERS` to responses that lack them, and passes the addresses to the pages."""

    def __init__(self, app: ASGIApp, addresses: Addresses) -> None:
        self._application = app
        self._own = {"root": addresses.root, "addresses": addresses}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""

        async def sending(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        if scope["type"] == "http":
            await self._application({**scope, **self._own}, receive, sending)
        else:
            await self._application(scope, receive, send)


def page(request: Request, template: str, status: int = 200, **context: Any) -> Response:
    """Return a page from a template, or 304 if the browser has the same page."""
    text = _TEMPLATES.get_template(template).render(
        root=request.scope["root"],
        static=static_path(request.scope["root"]),
        path=request.scope["root"] + request.url.path,
        origin=own_addresses(request).origin,
        **context,
    )
    if status != 200:
        return HTMLResponse(text, status)
    return conditional(request, text.encode(), "text/html", {})


def fragment(template: str, macro: str, *values: Any) -> str:
    """Return a part of a page, from a template's macro and values."""
    return str(getattr(_TEMPLATES.get_template(template).module, macro)(*values)).strip()


def _margin(error: float, digits: int = 0) -> str:
    """Return half the width of a 95 % interval."""
    return f"{CONFIDENCE * error:.{digits}f}"


def _instant(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M:%S} UTC"


def _rfc3339(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%dT%H:%M:%SZ}"


def _stamp(at: datetime) -> str:
    """Return a time in the form used in addresses."""
    return at.astimezone(UTC).replace(tzinfo=None).isoformat()


def _code(text: str) -> Markup:
    """Return text as HTML, with the parts between backticks as code."""
    return Markup(re.sub(r"`([^`]+)`", r"<code>\1</code>", str(escape(text))))  # noqa: S704 - it is escaped


def _long(time: timedelta) -> str:
    """Return a duration in words, to the minute."""
    minutes = time // timedelta(minutes=1)
    for size, unit in ((1440, "day"), (60, "hour"), (1, "minute")):
        if minutes >= size or unit == "minute":
            break
    return f"{minutes // size} {unit}{'' if minutes // size == 1 else 's'}"


class OfLadder(Protocol):
    """A row about a season of a ladder, with the names of game and ladder.

    In the first season of the default ladder, `ladder` is empty and `season` 0.
    """

    @property
    def game(self) -> str: ...  # noqa: D102 - the class says it

    @property
    def ladder(self) -> str: ...  # noqa: D102

    @property
    def season(self) -> int: ...  # noqa: D102


def ladder_title(row: OfLadder) -> str:
    """Return the display name of a row's ladder, with the title of its game."""
    title = GAMES[row.game].title if row.game in GAMES else ""
    return ladder_in_words(row.game, row.ladder, row.season, title)


def ladder_path(row: OfLadder) -> str:
    """Return the path of the page of a row's ladder, below the home page."""
    path = f"/ladder/{quote(row.ladder or row.game, safe='')}"
    return f"{path}?season={row.season}" if row.season else path


def _ladder_mark(row: OfLadder) -> str:
    """Return the words that name a row's ladder after its game; empty in the first season of the default ladder."""
    words = [row.ladder] if row.ladder not in {"", row.game} else []
    return ", ".join([*words, f"season {row.season}"] if row.season > 1 else words)


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
    code=_code,
    flag_in_words=flag_in_words,
    instant=_rfc3339,
    long=_long,
    margin=_margin,
    segment=lambda text: quote(text, safe=""),
    share=share_in_words,
    signed=_signed,
    stamp=_stamp,
)
_TEMPLATES.globals.update(
    duration=duration,
    games=GAMES,
    is_house=is_house,
    ladder_mark=_ladder_mark,
    ladder_path=ladder_path,
    ladder_title=ladder_title,
    leaders=leaders,
    suits=SHAPES,
    shared=SHARED,
    quota_in_words=quota_in_words,
    server_version=__version__,
)


def entity_tag(content: bytes) -> str:
    """Return the entity tag of content. It is weak, because the content may be sent with or without compression."""
    return f'W/"{sha256(content).hexdigest()[:32]}"'


def held(request: Request, tag: str) -> bool:
    """Return True if the client has the content with this entity tag, even if a proxy has made the tag weak."""
    known = [each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")]
    return "*" in known or tag.removeprefix("W/") in known


def conditional(request: Request, content: bytes, media_type: str, headers: Mapping[str, str]) -> Response:
    """Return a response with the content, or 304 if the client has it."""
    tag = entity_tag(content)
    if held(request, tag):
        return Response(status_code=304, headers={**headers, "etag": tag})
    return Response(content, media_type=media_type, headers={**headers, "etag": tag})


def framed(answer: Response, ancestors: str) -> Response:
    """Allow other sites to show a page in a frame. Framed pages are read-only and have no forms."""
    policy = HEADERS["content-security-policy"].replace("form-action 'self'", "form-action 'none'")
    policy = policy.replace("frame-ancestors 'none'", f"frame-ancestors {ancestors}")
    answer.headers["content-security-policy"] = policy
    return answer


def packed(request: Request, content: bytes, media_type: str, headers: Mapping[str, str] = {}) -> Response:
    """Return a response with content stored in gzip form, or 304 if the client has it."""
    headers = {**OF_ALL, "vary": "accept-encoding", **headers}
    if "gzip" in request.headers.get("accept-encoding", ""):
        return conditional(request, content, media_type, headers | {"content-encoding": "gzip"})
    return conditional(request, gzip.decompress(content), media_type, headers)


async def static_file(request: Request) -> Response:
    """Return a script, style or picture. Redirect an address of another version to the current one.

    Raises:
        HTTPException: there is no such file.
    """
    folder, _, name = request.path_params["path"].rpartition("/")
    found = FILES.get(name)
    if found is None:
        raise HTTPException(404)
    if folder != DIGEST:
        return RedirectResponse(f"{static_path(request.scope['root'])}/{name}", 302, OF_ALL)
    if found.compressed is None:
        return conditional(request, found.content, found.media_type, OF_ALL | FOREVER)
    return packed(request, found.compressed, found.media_type, FOREVER)


def replay_download(request: Request, match_id: int, content: bytes) -> Response:
    """Return a response with a replay file. It is always sent whole, because ranges would not help for so few bytes."""
    name = f"match-{match_id}.replay"
    headers = {"content-disposition": f'attachment; filename="{name}"', "accept-ranges": "none"}
    return conditional(request, content, REPLAY_TYPE, headers)


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None, **more: str) -> Response:
    """Return an error with its description. `more`: further members of the JSON document."""
    document = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}
    return Response(json_text(document), status, headers=dict(headers or {}), media_type=PROBLEM_TYPE)
