"""Requests to the pages without a socket. The application runs in this process over any data source."""

from __future__ import annotations

import gzip
from collections.abc import Iterator, Mapping, MutableMapping, Sequence
from typing import Any, NamedTuple

import trio
from starlette.routing import BaseRoute, Mount, Route
from starlette.types import ASGIApp

from arena.web.application import application
from arena.web.reading.reader import OpenSource
from arena.web.requests.each_request import USUAL, RequestRules


def routes(listed: Sequence[BaseRoute], before: str = "") -> Iterator[tuple[str, str, Sequence[str]]]:
    """Return the methods and paths of routes, and the parameters of the paths."""
    for each in listed:
        if isinstance(each, Mount):
            if each.routes:
                yield from routes(each.routes, before + each.path)
            else:
                yield "GET", before + each.path + "/{path}", ["path"]
        elif isinstance(each, Route):
            for method in sorted({*(each.methods or ())} - {"HEAD"}):
                endless = each.path.startswith("/live/events/")
                yield "HEAD" if endless else method, before + each.path_format, list(each.param_convertors)


class WebAnswer(NamedTuple):
    """A response of the pages."""

    status: int
    headers: Mapping[str, str]
    text: str
    content: bytes


class WebPages:
    """The pages over a data source."""

    def __init__(self, open_source: OpenSource, rules: RequestRules = USUAL) -> None:
        self.app: ASGIApp = application(open_source, rules)

    def get(
        self, path: str, method: str = "GET", server: tuple[str, int] = ("127.0.0.1", 80), **headers: str
    ) -> WebAnswer:
        """Request a path with its query from a local address."""
        return trio.run(self._asked, path, method, server, headers)

    async def _asked(self, path: str, method: str, server: tuple[str, int], headers: Mapping[str, str]) -> WebAnswer:
        place, _, query = path.partition("?")
        scope: dict[str, Any] = {"type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": method}
        scope |= {"scheme": "http", "path": place, "raw_path": place.encode(), "query_string": query.encode()}
        given = [(name.replace("_", "-").encode(), value.encode()) for name, value in headers.items()]
        scope |= {"root_path": "", "headers": given, "client": ("127.0.0.1", 1), "server": server}
        sent = list[MutableMapping[str, Any]]()

        asked = iter([{"type": "http.request", "body": b"", "more_body": False}])

        async def receive() -> MutableMapping[str, Any]:
            for message in asked:
                return message
            await trio.sleep_forever()  # the client never disconnects
            raise AssertionError

        async def send(message: MutableMapping[str, Any]) -> None:
            sent.append(message)

        await self.app(scope, receive, send)
        answered = {name.decode(): value.decode() for name, value in sent[0]["headers"]}
        content = b"".join(message.get("body", b"") for message in sent[1:])
        if answered.get("content-encoding") == "gzip":
            content = gzip.decompress(content)
        return WebAnswer(sent[0]["status"], answered, content.decode(errors="replace"), content)
