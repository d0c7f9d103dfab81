"""The declaration of one endpoint, and the sources from which endpoints read."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass
from typing import Any, TypeVar
from urllib.parse import parse_qsl, urlsplit

from arena.queries.source import LARGEST_PAGE, DataSource
from arena.web.api.parameters import Asked, Parameter, number
from arena.web.live.boards import Live
from arena.web.reading.reader import FreshRows, Reader, TableLadders
from arena.web.reading.ready_replays import ReadyReplays
from arena.web.reading.reviews import Reviews

Result = TypeVar("Result")


@dataclass(frozen=True)
class Sources:
    """The sources from which pages and endpoints read."""

    reader: Reader
    table_ladders: TableLadders
    fresh: FreshRows
    replays: ReadyReplays
    reviews: Reviews
    live: Live

    async def read(self, query: Callable[[DataSource], Result]) -> Result:
        """Return the result of a query of the data source. Raises: Missing, Unavailable."""
        return await self.reader.read(query)


@dataclass(frozen=True, slots=True)
class Reply:
    """A document, and the parameters to change for the next page; None on the last page."""

    document: object
    following: Mapping[str, object] | None = None


Replying = Callable[[Sources, Asked], Awaitable[Reply]]


@dataclass(frozen=True, slots=True)
class Endpoint:
    """One address for GET requests."""

    path: str
    """Path below the interface's own, with parameters in braces."""
    name: str
    """Unique name in the description."""
    summary: str
    answers: Any
    """The document's shape (see `Schemas.schema`); None for the bytes of a replay."""
    answer: Replying
    parameters: tuple[Parameter, ...] = ()
    fresh: int = 1
    """Number of seconds for which a proxy or browser may reuse the response."""
    of_replay: bool = False
    """True if the endpoint needs the replay of a match, which may be pruned (410) or damaged (501)."""
    example: str = ""
    """An example address with a query, in the form of `path`. Empty if `path` itself is an example."""

    @property
    def values(self) -> Mapping[str, str]:
        """The values of the parameters in the example."""
        address = urlsplit(self.example)
        found = re.fullmatch(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", self.path), address.path)
        return {**(found.groupdict() if found else {}), **dict(parse_qsl(address.query))}


def limit(of: str, default: int = 50) -> Parameter:
    """Return the parameter `limit`, the maximum number of rows on a page. `of`: the rows in words."""
    return number("limit", f"{of} of a page, at most.", 1, LARGEST_PAGE, default)
