"""The standard reflection service: what is there, for `grpcurl` and its like. The answers are the library's."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from grpc_reflection.v1alpha import reflection

from arena.wire.answers import send_within

if TYPE_CHECKING:
    from collections.abc import Iterable

    from grpc_reflection.v1alpha.reflection_pb2 import ServerReflectionRequest, ServerReflectionResponse

    from arena.wire.stream import Stream


class Reflection:
    """The servicer of `grpc.reflection.v1alpha.ServerReflection`."""

    def __init__(self, services: Iterable[str]) -> None:
        self._library = reflection.ReflectionServicer(services)
        self._context: Any = None  # not looked at

    async def ServerReflectionInfo(  # noqa: N802
        self, stream: Stream[ServerReflectionRequest, ServerReflectionResponse]
    ) -> None:
        """Answers as long as there are questions."""
        while (request := await stream.receive()) is not None:
            for response in self._library.ServerReflectionInfo(iter([request]), self._context):
                await send_within(stream, response)
