"""`LogService`: public heads, proofs and entries of the log of results."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

import grpc
from arena_client.v1 import log_pb2

from arena.api.codec import encode_entry, encode_state
from arena.api.statuses import LARGEST_NUMBER, looked_up
from arena.store.base import leaves as log
from trio_grpc.grpc.call import CallRefused

if TYPE_CHECKING:
    from arena.server.arena import Arena
    from trio_grpc.grpc.call import Call


class LogService:
    """Servicer of the gRPC service `LogService`; refusals raise CallRefused."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def GetLog(self, _: log_pb2.GetLogRequest, __: Call) -> log_pb2.GetLogResponse:  # noqa: N802
        """Return the current log."""
        state = await looked_up(self._arena.store.read(log.state))
        if state is None:
            raise CallRefused(grpc.StatusCode.NOT_FOUND, "this server has no log of results")
        return log_pb2.GetLogResponse(log=encode_state(state))

    async def GetConsistency(  # noqa: N802
        self, request: log_pb2.GetConsistencyRequest, _: Call
    ) -> log_pb2.GetConsistencyResponse:
        """Return the proof that an earlier log begins a later one."""
        first, second = min(request.first, LARGEST_NUMBER), min(request.second, LARGEST_NUMBER)
        try:
            proof = await looked_up(self._arena.store.read(partial(log.consistency, first=first, second=second)))
        except ValueError as error:
            raise CallRefused(grpc.StatusCode.INVALID_ARGUMENT, str(error)) from error
        return log_pb2.GetConsistencyResponse(proof=proof)

    async def ListEntries(self, request: log_pb2.ListEntriesRequest, _: Call) -> log_pb2.ListEntriesResponse:  # noqa: N802
        """Return the log's entries about a match."""
        number = min(request.match_id, LARGEST_NUMBER)
        found = await looked_up(self._arena.store.read(partial(log.entries, match_id=number)))
        return log_pb2.ListEntriesResponse(entries=map(encode_entry, found))
