"""The documentation: the site that `make docs` builds, if its wheel is installed."""

from __future__ import annotations

import gzip
import re
from base64 import b64encode
from functools import lru_cache
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path
from typing import Final, NamedTuple

import trio
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from arena.version import __version__
from arena.web.answers.responses import HEADERS, packed, page
from arena.web.answers.static_files import TYPES
from arena.web.reading.reader import Missing

PACKAGE: Final = "arena_docs"
WHEEL: Final = f"{PACKAGE}-{__version__}+file-py3-none-any.whl"
SITE_TYPES: Final = {
    **TYPES,
    "html": "text/html",
    "mjs": "text/javascript",
    "webp": "image/webp",
}
"""Media types by file extension. All others are plain text."""
INLINE_SCRIPT: Final = re.compile(rb"<script(?![^>]*\ssrc=)[^>]*>(.*?)</script>", re.DOTALL)


class SiteFile(NamedTuple):
    """A compressed file of the site, with its additional headers."""

    compressed: bytes
    media_type: str
    headers: dict[str, str]


class Documentation:
    """The files of the site. Each is read and compressed at its first request."""

    def __init__(self) -> None:
        """Find the site. This happens only once, so restart the pages after you have installed the site."""
        found = find_spec(PACKAGE)
        self._folder = None if found is None or found.origin is None else Path(found.origin).parent / "site"
        paths = [] if self._folder is None else [path for path in self._folder.rglob("*") if path.is_file()]
        self._paths = {path.relative_to(self._folder).as_posix(): path for path in paths if self._folder}
        self._file = lru_cache(maxsize=None)(_read)

    @property
    def installed(self) -> bool:
        """True if the site is installed."""
        return bool(self._paths)

    async def file(self, name: str) -> SiteFile | None:
        """Return a file, or None if the site has none with this name."""
        path = self._paths.get(name)
        return None if path is None else await trio.to_thread.run_sync(self._file, path)


def _read(path: Path) -> SiteFile:
    content = path.read_bytes()
    media_type = SITE_TYPES.get(path.suffix[1:], "text/plain")
    headers = {"content-security-policy": _policy(content)} if media_type == "text/html" else {}
    return SiteFile(gzip.compress(content, mtime=0), media_type, headers)


def _policy(content: bytes) -> str:
    """Return the content security policy of a page of the site.

    It adds permissions to the rules of the other pages. The site's theme and diagrams need the page's own scripts (each
    by its digest), styles within elements, and pictures within style sheets.
    """
    digests = {b64encode(sha256(script).digest()).decode() for script in INLINE_SCRIPT.findall(content)}
    scripts = " ".join(["script-src 'self'", *(f"'sha256-{digest}'" for digest in sorted(digests))])
    policy = HEADERS["content-security-policy"].replace("script-src 'self'", scripts)
    policy = policy.replace("style-src 'self'", "style-src 'self' 'unsafe-inline'")
    return policy.replace("img-src 'self'", "img-src 'self' data:")


async def documentation(request: Request) -> Response:
    """Show a file of the site, or instructions for getting the site.

    Raises: HTTPException, Missing: there is no such file.
    """
    site: Documentation = request.app.state.documentation
    name = request.path_params.get("path")
    if not site.installed:
        if name:
            raise Missing(f"the documentation is not installed here; {request.scope['root']}/docs says where it is")
        return page(request, "documentation.html", wheel=WHEEL)
    if name is None:  # Without the redirect, the links on the first page would be wrong.
        return RedirectResponse(f"{request.scope['root']}/docs/", 302)
    found = await site.file(name or "index.html")
    if found is None:
        raise HTTPException(404)
    return packed(request, found.compressed, found.media_type, found.headers)
