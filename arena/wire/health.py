"""The standard health service: every service is SERVING until the server stops, and then forms no more matches."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Final

import grpc
from grpc_health.v1 import health_pb2

from arena.wire.answers import send_within
from arena.wire.stream import Refused

if TYPE_CHECKING:
    from collections.abc import Iterable

    import trio

    from arena.wire.stream import Call, Stream

SERVING: Final = health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING)
NOT_SERVING: Final = health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.NOT_SERVING)
SERVICE_UNKNOWN: Final = health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVICE_UNKNOWN)


class Health:
    """The servicer of `grpc.health.v1.Health`."""

    def __init__(self, services: Iterable[str], stopping: trio.Event) -> None:
        self._services = ("", *services)  # the empty name is the whole server
        self._stopping = stopping

    async def Check(self, request: health_pb2.HealthCheckRequest, _: Call) -> health_pb2.HealthCheckResponse:  # noqa: N802
        """How a service is now."""
        if request.service not in self._services:
            raise Refused(grpc.StatusCode.NOT_FOUND, f"there is no service {request.service!r} here")
        return self._now()

    async def List(self, _: object, __: Call) -> Any:  # noqa: N802 - and its messages are missing from the type stubs
        """How every service is now."""
        return health_pb2.HealthListResponse(  # type: ignore[attr-defined]
            statuses=dict.fromkeys(self._services, self._now())
        )

    async def Watch(  # noqa: N802
        self, request: health_pb2.HealthCheckRequest, stream: Stream[object, health_pb2.HealthCheckResponse]
    ) -> None:
        """How a service is now and whenever that changes."""
        if request.service not in self._services:
            await send_within(stream, SERVICE_UNKNOWN)  # as the protocol has it: it might come
        elif not self._stopping.is_set():
            await send_within(stream, SERVING)
        await self._stopping.wait()
        if request.service in self._services:
            await send_within(stream, NOT_SERVING)

    def _now(self) -> health_pb2.HealthCheckResponse:
        return NOT_SERVING if self._stopping.is_set() else SERVING
