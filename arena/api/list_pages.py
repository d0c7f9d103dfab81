"""Pages of lists: the number of rows per page, and the token for the position at which the next page starts.

A token is valid only for one query and one build of the server, because its position has no meaning elsewhere. The
token contains a digest of query, build and position, so the server refuses a token that was changed, shortened or
invented. It contains no secret: a client that computes the digest can only start a page elsewhere in a public list.
"""

from __future__ import annotations

import re
from base64 import b64decode, urlsafe_b64encode
from hashlib import sha256
from secrets import token_hex
from typing import TYPE_CHECKING, Any, Final, Literal, Protocol, TypeVar, cast

import grpc
import trio

from arena.api.statuses import LARGEST_NUMBER, refused
from arena.version import __version__
from trio_grpc.grpc.call import CallRefused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from google.protobuf.descriptor import Descriptor

    from arena.store.base.rows import LadderRows

    class Listing(Protocol):
        """A request for a page of a list."""

        DESCRIPTOR: Descriptor
        limit: int
        page_token: str

        def HasField(self, field_name: Literal["limit"], /) -> bool: ...  # noqa: D102, N802 - protobuf's

    Row = TypeVar("Row")

LADDER_KEPT: Final = 60.0
"""Seconds for which a ladder of several pages is stored after its first page was read."""
LADDERS: Final = 8
"""Maximum number of stored ladders. Beyond it, a new one replaces the oldest."""
PAGE: Final = 50
"""Number of rows on a page if the request sets no limit."""
LARGEST_PAGE: Final = 1000
FORMAT: Final = 1
"""Version of the format of positions in tokens. It is increased whenever the format changes."""
DIGEST: Final = 12
"""Number of bytes of the digest in a token."""
LONGEST: Final = 200
"""Maximum number of characters of a token."""


def row_limit(request: Listing, default: int = PAGE, largest: int = LARGEST_PAGE) -> int:
    """Return the number of rows on the requested page.

    Raises:
        CallRefused: the limit is not allowed.
    """
    if not request.HasField("limit"):
        return default
    if not 1 <= request.limit <= largest:
        text = f"a limit is 1 to {largest}, not {request.limit}"
        raise CallRefused(grpc.StatusCode.INVALID_ARGUMENT, text)
    return request.limit


def page_token(request: Listing, place: str | int) -> str:
    """Return the token for the page that starts at this position in a request's list."""
    content = str(place).encode()
    return urlsafe_b64encode(_digest(request, content) + content).decode().rstrip("=")


def page_place(request: Listing, form: str) -> re.Match[str] | None:
    """Return the position at which the requested page starts, or None for the first page.

    Raises:
        CallRefused: this build did not create the token for the same query.
    """
    token = request.page_token
    if not token:
        return None
    try:
        if len(token) > LONGEST:
            raise ValueError("no token is so long")
        place = b64decode(token + "=" * (-len(token) % 4), b"-_", validate=True)[DIGEST:].decode()
    except ValueError as error:
        raise not_valid() from error
    found = re.fullmatch(form, place)
    if found is None or token != page_token(request, place):
        raise not_valid()
    return found


def page_number(request: Listing) -> int | None:
    """Return the number below which the requested page starts, or None for the first page.

    Raises:
        CallRefused: as in `page_place`.
    """
    found = page_place(request, "[0-9]{1,19}")
    return None if found is None else min(int(found[0]), LARGEST_NUMBER)


def page_offset(request: Listing) -> int:
    """Return the number of rows before the requested page. Raises CallRefused like `page_place`."""
    found = page_place(request, "[0-9]{1,10}")
    return 0 if found is None else int(found[0])


def cut(rows: Sequence[Row], limit: int) -> tuple[Sequence[Row], bool]:
    """Return the rows of a page, and True if more follow. `rows`: up to `limit` + 1 rows from the page's start."""
    return rows[:limit], len(rows) > limit


def not_valid(text: str = "") -> CallRefused:
    """Return the error for an invalid page token."""
    why = text or "the page token is not of this list and query, or the server has another version now"
    return refused(grpc.StatusCode.INVALID_ARGUMENT, "PAGE_TOKEN_NOT_VALID", f"{why}: ask for the first page again")


def _digest(request: Listing, place: bytes) -> bytes:
    query = cast("Any", type(request)())
    query.CopyFrom(request)
    for field in ("limit", "page_token"):
        query.ClearField(field)
    query.DiscardUnknownFields()
    build = f"{FORMAT} {__version__} {request.DESCRIPTOR.full_name} {len(place)}".encode()
    return sha256(build + b"\0" + place + query.SerializeToString(deterministic=True)).digest()[:DIGEST]


class PagedLadders:
    """Ladders stored for a while under random names, so that their further pages can be read."""

    def __init__(self) -> None:
        self._stored: dict[str, tuple[float, LadderRows]] = {}
        """Each ladder with the time at which it was first read, the oldest first."""

    def store(self, ladder: LadderRows) -> str:
        """Store a ladder that was just read, unless it is stored already. Return its name."""
        self._forget_old()
        name = next((name for name, (_, stored) in self._stored.items() if stored == ladder), None) or token_hex(8)
        self._stored.pop(name, None)
        if len(self._stored) == LADDERS:
            del self._stored[next(iter(self._stored))]
        self._stored[name] = trio.current_time(), ladder
        return name

    def find(self, name: str) -> LadderRows | None:
        """Return the ladder stored under a name, or None if it is no longer stored."""
        self._forget_old()
        return self._stored[name][1] if name in self._stored else None

    def _forget_old(self) -> None:
        oldest = trio.current_time() - LADDER_KEPT
        for name in [name for name, (at, _) in self._stored.items() if at < oldest]:
            del self._stored[name]
