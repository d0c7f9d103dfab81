"""The service of the operator: a planned stop, and results taken off the ladder."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio

from arena.v1 import operator_pb2
from arena.wire.answers import LARGEST_NUMBER, looked_up, send_within
from arena.wire.roster import require_operator

if TYPE_CHECKING:
    from arena.server.arena import Arena
    from arena.wire.stream import Call, Stream

LAST_WORDS: Final = 1.0
"""Seconds that the last message has to leave when the server stops."""


class Operator:
    """The servicer of `OperatorService`."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def Drain(  # noqa: N802
        self, request: operator_pb2.DrainRequest, stream: Stream[object, operator_pb2.DrainResponse]
    ) -> None:
        """Begins a drain and tells how it goes on; the stop of the server, which cancels this, has a last message."""
        arena = self._arena
        require_operator(arena, stream, "only the operator drains a server")
        arena.begin_drain(request.limit_ms / 1000 if request.HasField("limit_ms") else arena.config.drain)
        try:
            while not arena.drained.is_set():
                change = arena.next_change
                await send_within(stream, operator_pb2.DrainResponse(playing=arena.playing))
                await change.wait()
        finally:
            if arena.drained.is_set():
                with trio.move_on_after(LAST_WORDS, shield=True):
                    await stream.send(operator_pb2.DrainResponse(playing=arena.playing, done=True))

    async def VoidResult(  # noqa: N802
        self, request: operator_pb2.VoidResultRequest, call: Call
    ) -> operator_pb2.VoidResultResponse:
        """A result counts no more."""
        require_operator(self._arena, call, "only the operator takes results back")
        number = min(request.match_id, LARGEST_NUMBER)
        await looked_up(self._arena.void(number, request.reason))
        return operator_pb2.VoidResultResponse()
