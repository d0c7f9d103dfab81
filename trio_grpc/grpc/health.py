"""The standard health service `grpc.health.v1.Health`: every service is SERVING until the server begins to stop."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

import grpc
import trio
from grpc_health.v1 import health_pb2

from trio_grpc.grpc.call import Call, CallRefused, Stream, send_within

SERVING: Final = health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVING)
NOT_SERVING: Final = health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.NOT_SERVING)
SERVICE_UNKNOWN: Final = health_pb2.HealthCheckResponse(status=health_pb2.HealthCheckResponse.SERVICE_UNKNOWN)


class Health:
    """The servicer of `grpc.health.v1.Health`."""

    def __init__(self, services: Iterable[str], stopping: trio.Event) -> None:
        """Report on the services with these full names and on the whole server.

        `stopping` is set when the server begins to stop.
        """
        self._services = ("", *services)  # The empty name stands for the whole server.
        self._stopping = stopping

    async def Check(self, request: health_pb2.HealthCheckRequest, _: Call) -> health_pb2.HealthCheckResponse:
        """Return the status of a service. Raises CallRefused with NOT_FOUND for an unknown one."""
        if request.service not in self._services:
            raise CallRefused(grpc.StatusCode.NOT_FOUND, f"there is no service {request.service!r} here")
        return self._status()

    async def List(self, _: object, __: Call) -> Any:  # its messages are missing from the type stubs
        """Return the status of every service."""
        return health_pb2.HealthListResponse(  # type: ignore[attr-defined]
            statuses=dict.fromkeys(self._services, self._status())
        )

    async def Watch(
        self, request: health_pb2.HealthCheckRequest, stream: Stream[object, health_pb2.HealthCheckResponse]
    ) -> None:
        """Send the status of a service now and whenever it changes."""
        if request.service not in self._services:
            # The protocol keeps the call open, because the service might be added.
            await send_within(stream, SERVICE_UNKNOWN)
        elif not self._stopping.is_set():
            await send_within(stream, SERVING)
        await self._stopping.wait()
        if request.service in self._services:
            await send_within(stream, NOT_SERVING)

    def _status(self) -> health_pb2.HealthCheckResponse:
        return NOT_SERVING if self._stopping.is_set() else SERVING
