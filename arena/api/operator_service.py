"""`OperatorService`: draining the server for a planned stop, voiding results, moderation."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import trio
from arena_client.v1 import operator_pb2

from arena.api.statuses import LARGEST_NUMBER, looked_up
from trio_grpc.grpc.call import bearer, send_within

if TYPE_CHECKING:
    from arena.server.arena import Arena
    from trio_grpc.grpc.call import Call, Stream

LAST_MESSAGE_TIMEOUT: Final = 1.0
"""Seconds that the stopping server allows for sending the last message of a drain."""


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
        await self._require_operator(call, "takes results back")
        number = min(request.match_id, LARGEST_NUMBER)
        await looked_up(self._arena.void(number, request.reason))
        return operator_pb2.VoidResultResponse()

    async def VoidResults(  # noqa: N802
        self, request: operator_pb2.VoidResultsRequest, call: Call
    ) -> operator_pb2.VoidResultsResponse:
        """Void the next results of a bot."""
        await self._require_operator(call, "takes results back")
        since = request.since.seconds * 1_000_000 + request.since.nanos // 1000
        after = min(request.after, LARGEST_NUMBER)
        since = min(max(0, since), LARGEST_NUMBER)
        voided = await looked_up(self._arena.void_results(request.bot, since, request.reason, after))
        return operator_pb2.VoidResultsResponse(match_ids=voided)

    async def BanOwner(  # noqa: N802
        self, request: operator_pb2.BanOwnerRequest, call: Call
    ) -> operator_pb2.BanOwnerResponse:
        """Ban an owner."""
        await self._require_operator(call, "bans owners")
        await looked_up(self._arena.accounts.ban(request.owner, request.reason))
        return operator_pb2.BanOwnerResponse()

    async def UnbanOwner(  # noqa: N802
        self, request: operator_pb2.UnbanOwnerRequest, call: Call
    ) -> operator_pb2.UnbanOwnerResponse:
        """Lift the ban of an owner."""
        await self._require_operator(call, "lifts bans")
        await looked_up(self._arena.accounts.unban(request.owner, request.reason))
        return operator_pb2.UnbanOwnerResponse()

    async def HideBot(self, request: operator_pb2.HideBotRequest, call: Call) -> operator_pb2.HideBotResponse:  # noqa: N802
        """Hide a bot."""
        await self._require_operator(call, "hides bots")
        await looked_up(self._arena.accounts.hide(request.name, request.reason))
        return operator_pb2.HideBotResponse()

    async def ShowBot(self, request: operator_pb2.ShowBotRequest, call: Call) -> operator_pb2.ShowBotResponse:  # noqa: N802
        """List a hidden bot again."""
        await self._require_operator(call, "shows bots")
        await looked_up(self._arena.accounts.show(request.name, request.reason))
        return operator_pb2.ShowBotResponse()

    async def DeleteBot(  # noqa: N802
        self, request: operator_pb2.DeleteBotRequest, call: Call
    ) -> operator_pb2.DeleteBotResponse:
        """Delete a bot."""
        await self._require_operator(call, "deletes bots")
        await looked_up(self._arena.accounts.delete(request.name, request.reason))
        return operator_pb2.DeleteBotResponse()

    async def RenameBot(  # noqa: N802
        self, request: operator_pb2.RenameBotRequest, call: Call
    ) -> operator_pb2.RenameBotResponse:
        """Give a bot another name."""
        await self._require_operator(call, "renames bots")
        await looked_up(self._arena.accounts.rename(request.name, request.new_name, request.reason))
        return operator_pb2.RenameBotResponse()

    async def _require_operator(self, call: Call, does: str) -> None:
        """Check that the call has the operator's token; `does`: the action to name in a refusal. Raises:
        CallRefused."""
        await looked_up(self._arena.authorization.require_operator(bearer(call), f"only the operator {does}"))
        call.trust()
