"""A replay as a file to download."""

from __future__ import annotations

from starlette.requests import Request
from starlette.responses import Response

from arena.web.answers.conditional import conditional

MEDIA_TYPE = "application/octet-stream"


def replay_download(request: Request, match_id: int, content: bytes) -> Response:
    """Return a replay's bytes. They are few, and sent whole: no part can be asked for."""
    name = f"match-{match_id}.replay"
    headers = {"content-disposition": f'attachment; filename="{name}"', "accept-ranges": "none"}
    return conditional(request, content, MEDIA_TYPE, headers)
