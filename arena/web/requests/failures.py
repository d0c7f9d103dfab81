"""The response and the log lines for requests that fail unexpectedly.

A client can cause failures at will, so the log has only one line per minute for each address.
"""

from __future__ import annotations

from collections.abc import Callable
from time import monotonic
from typing import Final

import structlog
from starlette.requests import HTTPConnection
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.web.caches import LruCache
from arena.web.requests.each_request import LONGEST, STARTS
from trio_grpc.limits.connection_limits import Origin, origin_of

log = structlog.get_logger("arena.web")

INTERVAL: Final = 60.0
"""Minimum number of seconds between two log lines about failures from one address."""
MOST: Final = 10_000
"""Maximum number of addresses in memory."""


class FailureLog:
    """Log of failures, with at most one line per minute for each address."""

    def __init__(self, clock: Callable[[], float] = monotonic) -> None:
        self._clock = clock
        self._logged: LruCache[Origin, tuple[float, int]] = LruCache(MOST)
        """For each address, the time of its last log line, and the number of its failures since then."""

    def record(self, origin: Origin, event: str, error: Exception, path: str = "") -> None:
        """Log a failure with its traceback but without the address, which is personal data, or only count it."""
        now = self._clock()
        at, unlogged = self._logged.get(origin, (now - INTERVAL, 0))
        if now - at < INTERVAL:
            self._logged[origin] = at, unlogged + 1
            return
        self._logged[origin] = now, 0
        log.error(event, path=path[:LONGEST], unlogged=unlogged, exc_info=error)


class Failures:
    """Middleware that responds to unexpectedly failing requests. It cuts off a response that has started."""

    def __init__(self, app: ASGIApp, answer: Callable[[HTTPConnection], ASGIApp]) -> None:
        """`answer` returns the response to a failed request."""
        self._application = app
        self._answer = answer
        self._log = FailureLog()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        begun = False

        async def sending(message: Message) -> None:
            nonlocal begun
            begun = begun or message["type"] in STARTS
            await send(message)

        try:
            await self._application(scope, receive, sending)
        except Exception as error:  # noqa: BLE001 - logged here; the server would log each one
            host, _ = scope["client"] or ("", 0)
            self._log.record(origin_of(host), "a request failed", error, scope["path"])
            if not begun:
                await self._answer(HTTPConnection(scope))(scope, receive, send)
