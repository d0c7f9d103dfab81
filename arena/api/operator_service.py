"""`OperatorService`: draining the server for a planned stop, and voiding results."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from arena.api.statuses import LARGEST_NUMBER, looked_up
from arena.transport.call import bearer, send_within
from arena.v1 import operator_pb2

if TYPE_CHECKING:
    from arena.server.arena import Arena
    from arena.transport.call import Call, Stream

LAST_MESSAGE_TIMEOUT: Final = 1.0
"""Seconds to send the last message when the server stops."""


class OperatorService:
    """Servicer of the gRPC service `OperatorService`; refusals raise CallRefused."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def Drain(  # noqa: N802
        self, request: operator_pb2.DrainRequest, stream: Stream[object, operator_pb2.DrainResponse]
    ) -> None:
        """Begin a drain and stream its progress until the server stops, which sends a last message."""
        arena = self._arena
        await looked_up(arena.authorization.require_operator(bearer(stream), "only the operator drains a server"))
        stream.trust()
        arena.begin_drain(request.limit_ms / 1000 if request.HasField("limit_ms") else arena.config.drain)
        try:
            while not arena.drained.is_set():
                change = arena.next_change
                await send_within(stream, operator_pb2.DrainResponse(playing=arena.playing))
                await change.wait()
        finally:
            if arena.drained.is_set():
                with trio.move_on_after(LAST_MESSAGE_TIMEOUT, shield=True):
                    await stream.send(operator_pb2.DrainResponse(playing=arena.playing, done=True))

    async def VoidResult(  # noqa: N802
        self, request: operator_pb2.VoidResultRequest, call: Call
    ) -> operator_pb2.VoidResultResponse:
        """Void the result of a match."""
        authorized = self._arena.authorization.require_operator(bearer(call), "only the operator takes results back")
        await looked_up(authorized)
        call.trust()
        number = min(request.match_id, LARGEST_NUMBER)
        await looked_up(self._arena.void(number, request.reason))
        return operator_pb2.VoidResultResponse()
