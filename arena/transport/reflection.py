"""The standard reflection service, with which tools such as `grpcurl` list services and messages.

Requests are answered by the library `grpc_reflection`; this module only connects it to a `Stream`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grpc_reflection.v1alpha import reflection

from arena.transport.call import send_within

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest, ServerReflectionResponse

    from arena.transport.call import Stream


class Reflection:
    """The servicer of `grpc.reflection.v1alpha.ServerReflection`."""

    def __init__(self, services: Iterable[str]) -> None:
        """Describe these services, by full name."""
        self._library = reflection.ReflectionServicer(services)
        self._context: Any = None  # the library does not use it

    async def ServerReflectionInfo(  # noqa: N802
        self, stream: Stream[ServerReflectionRequest, ServerReflectionResponse]
    ) -> None:
        """Answer requests until the peer half-closes."""
        while (request := await stream.receive()) is not None:
            for response in self._library.ServerReflectionInfo(iter([request]), self._context):
                await send_within(stream, response)
