"""The changes of a board, sent to one viewer as server-sent events."""

from __future__ import annotations

from contextlib import aclosing

import trio
from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from arena.transport.connection_limits import OpenByOrigin, Origin, TooManyOpen
from arena.web.live.board import RETRY, Board


class EventStream(Response):
    """A stream of server-sent events. A viewer that does not read is dropped by the operating system, as any reader is
    (`arena.web.serving.UNREAD_LIMIT`), and is told at the beginning when to come back.
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
        """Send what changes until the viewer is gone or does not read."""
        try:
            with self._viewers.counted(self._origin):
                await self._send_all(receive, send)
        except TooManyOpen as full:
            headers = {"retry-after": "60", "content-type": "text/plain; charset=utf-8"}
            if not scope.get("http_version", "1.1").startswith("2"):  # whoever waits for nothing holds no open file
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
