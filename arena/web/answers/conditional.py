"""Answers that a client may have already: `ETag`, `If-None-Match` and 304 (RFC 9110, section 13)."""

from __future__ import annotations

from collections.abc import Mapping
from hashlib import sha256

from starlette.requests import Request
from starlette.responses import Response


def entity_tag(content: bytes) -> str:
    """Return the tag of a content, a weak one: the same content may be sent compressed or not."""
    return f'W/"{sha256(content).hexdigest()[:32]}"'


def held(request: Request, tag: str) -> bool:
    """Return whether the client has the content of this tag, however a proxy has weakened its own."""
    known = [each.strip().removeprefix("W/") for each in request.headers.get("if-none-match", "").split(",")]
    return "*" in known or tag.removeprefix("W/") in known


def conditional(request: Request, content: bytes, media_type: str, headers: Mapping[str, str]) -> Response:
    """Return a content, or 304 where the client has it."""
    tag = entity_tag(content)
    if held(request, tag):
        return Response(status_code=304, headers={**headers, "etag": tag})
    return Response(content, media_type=media_type, headers={**headers, "etag": tag})
