"""Errors as `application/problem+json` (RFC 9457)."""

from __future__ import annotations

from collections.abc import Mapping
from http import HTTPStatus
from typing import Any, Final

from starlette.responses import Response

from arena.queries.json_form import json_text

MEDIA_TYPE: Final = "application/problem+json"
FAULT: Final = "a fault of the server; its log says more"
"""Detail of an error that nobody expected."""
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


def problem(status: int, detail: str, headers: Mapping[str, str] | None = None, **more: str) -> Response:
    """Return an error with what was wrong; `more` are further members."""
    document = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail, **more}
    return Response(json_text(document), status, headers=dict(headers or {}), media_type=MEDIA_TYPE)
