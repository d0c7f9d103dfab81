"""Middleware for every request: its address, its limit, and its line in the access log."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from time import monotonic, perf_counter
from typing import Final

import structlog
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from arena.web.answers.addresses import Addresses
from arena.web.answers.responses import OF_ALL, problem
from arena.web.caches import LruCache
from arena.web.requests.sites import UNNAMED, Sites, reader_address
from trio_grpc.http2.proxy_protocol import Networks, among
from trio_grpc.limits.connection_limits import LOOPBACK, UNIX, Origin, origin_of

log = structlog.get_logger("arena.web")

STARTS: Final = ("http.response.start", "websocket.http.response.start", "websocket.accept")
"""Types of the messages that start a response."""
LONGEST: Final = 200
"""Maximum number of characters of a path that are logged."""
BUCKETS: Final = (0.005, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
"""Upper bounds of the buckets for response times, in seconds."""
MOST: Final = 100_000
"""Maximum number of addresses in memory. The least recently active one is dropped first."""
SAVED: Final = 10.0
"""Seconds for which an address can save unused requests."""


@dataclass(frozen=True, slots=True)
class RequestRules:
    """An operator's settings for requests."""

    rate: float = 20.0
    """Requests per second from one address. 0 means no limit."""
    proxies: Networks = ()
    """Trusted proxies, which report the address of a request."""
    access_log: bool = False
    sites: Sites = UNNAMED
    """Sites whose pages may do more than read."""
    addresses: Addresses = field(default_factory=Addresses)
    """The addresses that pages print."""
    frames: str = "*"
    """The sites that may show a match in a frame, in the format of a content security policy."""


USUAL: Final = RequestRules()


class RequestCounts:
    """Counts of answered requests for `/metrics`."""

    def __init__(self) -> None:
        self.by_status: Counter[int] = Counter()
        self.times = [0] * (len(BUCKETS) + 1)
        """Number of responses in each bucket."""
        self.seconds = 0.0
        self.limited = 0
        """Number of requests refused by the limit."""
        self.open = 0

    def answered(self, status: int, seconds: float) -> None:
        """Count a response that started `seconds` after its request. The response itself may last for hours."""
        self.by_status[status] += 1
        self.seconds += seconds
        self.times[next((place for place, most in enumerate(BUCKETS) if seconds <= most), len(BUCKETS))] += 1


class EachRequest:
    """Middleware that limits requests by address, and logs and counts them."""

    def __init__(self, app: ASGIApp, rules: RequestRules, counts: RequestCounts) -> None:
        self._application = app
        self._limit = AddressLimit(rules.rate)
        self._proxies = rules.proxies
        self._access_log = rules.access_log
        self._counts = counts

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._application(scope, receive, send)
            return
        began, status, sent, until_answer = perf_counter(), 0, 0, 0.0
        host, port = scope["client"] or ("", 0)
        address = reader_address(host, Headers(scope=scope), self._proxies)
        scope["proxied"] = bool(host) and among(host, self._proxies)
        scope["client"] = (address, port)  # The handlers also count requests by address.

        async def sending(message: Message) -> None:
            nonlocal status, sent, until_answer
            if message["type"] in STARTS:
                status, until_answer = message.get("status", 101), perf_counter() - began
            elif message["type"] == "http.response.body":
                sent += len(message.get("body", b""))
            await send(message)

        self._counts.open += 1
        try:
            wait = self._limit.wait(origin_of(address))
            if wait > 0:
                self._counts.limited += 1
                await _too_many(wait)(scope, receive, sending)
            else:
                await self._application(scope, receive, sending)
        finally:
            self._counts.open -= 1
            seconds = perf_counter() - began
            self._counts.answered(status or 500, until_answer or seconds)
            if self._access_log:  # Without query and headers, which may contain a secret.
                log.info(
                    "request",
                    address=address,
                    method=scope.get("method", "GET"),
                    path=scope["path"][:LONGEST],
                    status=status or 500,
                    ms=round(1000 * seconds, 1),
                    bytes=sent,
                )


def _too_many(wait: float) -> ASGIApp:
    seconds = math.ceil(wait)
    text = f"too many requests from your address; ask again in {seconds} s"
    return problem(429, text, OF_ALL | {"retry-after": str(seconds)})


class AddressLimit:
    """The remaining requests of each address, stored as the time at which its bucket is full again."""

    def __init__(self, rate: float, most: int = MOST, clock: Callable[[], float] = monotonic) -> None:
        """Allow `rate` requests per second, saved for up to `SAVED` seconds. A rate of 0 allows any number."""
        self._each = 1 / rate if rate else 0.0
        """Number of seconds of the allowance that one request uses."""
        self._clock = clock
        self._full_at: LruCache[Origin, float] = LruCache(most)

    def __len__(self) -> int:
        return len(self._full_at)

    def wait(self, origin: Origin) -> float:
        """Count a request and return 0. If the request must be refused, return the seconds until a retry instead.

        Programs on this machine have no limit, because one of them may be a proxy that the settings do not name.
        """
        if not self._each or origin in (LOOPBACK, UNIX):
            return 0.0
        now = self._clock()
        full_at = max(self._full_at.get(origin, now), now)
        allowed = full_at + self._each <= now + SAVED
        self._full_at[origin] = full_at + self._each if allowed else full_at
        return 0.0 if allowed else full_at + self._each - now - SAVED
