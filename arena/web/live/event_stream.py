"""The changes of a board, sent to one viewer as server-sent events, and the limit on viewers."""

from __future__ import annotations

import resource
from contextlib import aclosing
from typing import Final

import structlog
import trio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from arena.web.live.board import MOST_OF_ADDRESS, MOST_VIEWERS, RETRY, Board
from trio_grpc.limits.connection_limits import OpenByOrigin, Origin, TooManyOpen

READERS: Final = 4
"""One in this many of the files that the process may open is reserved for everything but streams."""

log = structlog.get_logger("arena.web")


class EventStream(Response):
    """A stream of server-sent events.

    The operating system drops a viewer that does not read (`arena.web.serving.UNREAD_LIMIT`). The stream starts with
    the delay before a reconnection.
    """

    def __init__(self, board: Board, viewers: OpenByOrigin, origin: Origin) -> None:
        super().__init__(
            headers={"content-type": "text/event-stream", "cache-control": "no-store", "x-accel-buffering": "no"}
        )
        del self.headers["content-length"]
        self._board = board
        self._viewers = viewers
        self._origin = origin

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send changes until the viewer is gone or does not read."""
        try:
            with self._viewers.counted(self._origin):
                await self._send_all(receive, send)
        except TooManyOpen as full:
            headers = {"retry-after": "60", "content-type": "text/plain; charset=utf-8"}
            if not scope.get("http_version", "1.1").startswith("2"):  # A refused viewer must not occupy an open file.
                headers["connection"] = "close"
            await Response(f"streams of events: {full}; come back later\n", 503, headers)(scope, receive, send)

    async def _send_all(self, receive: Receive, send: Send) -> None:
        async with trio.open_nursery() as nursery, aclosing(self._board.messages()) as messages:
            nursery.start_soon(self._gone, receive, nursery.cancel_scope)
            await send({"type": "http.response.start", "status": 200, "headers": self.raw_headers})
            await send({"type": "http.response.body", "body": b"retry: %d\n\n" % RETRY, "more_body": True})
            async for message in messages:
                await send({"type": "http.response.body", "body": message, "more_body": True})

    @staticmethod
    async def _gone(receive: Receive, scope: trio.CancelScope) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        scope.cancel()


class Viewers(OpenByOrigin):
    """A count of the open event streams, each of which is an open file of this process."""

    def __init__(self) -> None:
        """Allow `MOST_VIEWERS`, or as many as the limit on open files permits. Log it if fewer are permitted."""
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        few = MOST_VIEWERS if files == resource.RLIM_INFINITY else files - files // READERS
        self.most = max(1, min(MOST_VIEWERS, few))
        super().__init__(self.most, MOST_OF_ADDRESS)
        if self.most < MOST_VIEWERS:
            log.warning("fewer viewers than allowed: the process may open few files", viewers=self.most, files=files)


def raise_file_limit() -> None:
    """Raise this process's limit on open files to what the viewers need, if the system allows it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = MOST_VIEWERS * READERS
    if soft != resource.RLIM_INFINITY and soft < wanted:
        resource.setrlimit(
            resource.RLIMIT_NOFILE, (wanted if hard == resource.RLIM_INFINITY else min(wanted, hard), hard)
        )
