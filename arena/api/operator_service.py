"""`OperatorService`: draining the server for a planned stop, annulling results, moderation, invitations, seasons."""

from __future__ import annotations

from typing import Final

import trio
from arena_client.v1 import operator_pb2
from google.protobuf.timestamp_pb2 import Timestamp

from arena.api.list_pages import LARGEST_PAGE, cut, page_number, page_token, row_limit
from arena.api.statuses import LARGEST_NUMBER, looked_up, of_owner, read
from arena.protobuf.rows import pack
from arena.server.arena import Arena
from arena.store.bots import entry
from arena.store.bots.entry import NewInvitations
from arena.store.matches.contests import EventPlan
from trio_grpc.grpc.call import Call, Stream, bearer, send_within

LAST_MESSAGE_TIMEOUT: Final = 1.0
"""Seconds within which a stopping server sends the last message of a drain."""


class OperatorService:
    """Servicer of the gRPC service `OperatorService`. Refusals raise CallRefused."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def Drain(
        self, request: operator_pb2.DrainRequest, stream: Stream[object, operator_pb2.DrainResponse]
    ) -> None:
        """Start a drain and stream its progress until the server is drained, then send a last message."""
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

    async def VoidResult(self, request: operator_pb2.VoidResultRequest, call: Call) -> operator_pb2.VoidResultResponse:
        """Annul the result of a match."""
        await self._require_operator(call, "takes results back")
        number = min(request.match_id, LARGEST_NUMBER)
        await looked_up(self._arena.void(number, request.reason))
        return operator_pb2.VoidResultResponse()

    async def VoidResults(
        self, request: operator_pb2.VoidResultsRequest, call: Call
    ) -> operator_pb2.VoidResultsResponse:
        """Annul the next results of a bot."""
        await self._require_operator(call, "takes results back")
        after = min(request.after, LARGEST_NUMBER)
        since = min(max(0, _microseconds(request.since)), LARGEST_NUMBER)
        voided = await looked_up(self._arena.void_results(request.bot, since, request.reason, after))
        return operator_pb2.VoidResultsResponse(match_ids=voided)

    async def BanOwner(self, request: operator_pb2.BanOwnerRequest, call: Call) -> operator_pb2.BanOwnerResponse:
        """Ban an owner."""
        await self._require_operator(call, "bans owners")
        await looked_up(self._arena.accounts.ban(request.owner, request.reason))
        return operator_pb2.BanOwnerResponse()

    async def UnbanOwner(self, request: operator_pb2.UnbanOwnerRequest, call: Call) -> operator_pb2.UnbanOwnerResponse:
        """Lift the ban of an owner."""
        await self._require_operator(call, "lifts bans")
        await looked_up(self._arena.accounts.unban(request.owner, request.reason))
        return operator_pb2.UnbanOwnerResponse()

    async def HideBot(self, request: operator_pb2.HideBotRequest, call: Call) -> operator_pb2.HideBotResponse:
        """Hide a bot."""
        await self._require_operator(call, "hides bots")
        await looked_up(self._arena.accounts.hide(request.name, request.reason))
        return operator_pb2.HideBotResponse()

    async def ShowBot(self, request: operator_pb2.ShowBotRequest, call: Call) -> operator_pb2.ShowBotResponse:
        """List a hidden bot again."""
        await self._require_operator(call, "shows bots")
        await looked_up(self._arena.accounts.show(request.name, request.reason))
        return operator_pb2.ShowBotResponse()

    async def DeleteBot(self, request: operator_pb2.DeleteBotRequest, call: Call) -> operator_pb2.DeleteBotResponse:
        """Delete a bot."""
        await self._require_operator(call, "deletes bots")
        await looked_up(self._arena.accounts.delete(request.name, request.reason))
        return operator_pb2.DeleteBotResponse()

    async def RenameBot(self, request: operator_pb2.RenameBotRequest, call: Call) -> operator_pb2.RenameBotResponse:
        """Rename a bot."""
        await self._require_operator(call, "renames bots")
        await looked_up(self._arena.accounts.rename(request.name, request.new_name, request.reason))
        return operator_pb2.RenameBotResponse()

    async def CreateInvitations(
        self, request: operator_pb2.CreateInvitationsRequest, call: Call
    ) -> operator_pb2.CreateInvitationsResponse:
        """Create invitations."""
        await self._require_operator(call, "invites")
        expires = _microseconds(request.expires) if request.HasField("expires") else None
        new = NewInvitations(request.owner, request.owner_prefix, request.count, request.ladder, expires)
        creating = self._arena.accounts.invite(new)
        made = await looked_up(of_owner(request.owner or f"{request.owner_prefix}{request.count}", creating))
        rows = [operator_pb2.NewInvitation(owner=owner, invitation=code) for owner, code in made]
        return operator_pb2.CreateInvitationsResponse(invitations=rows)

    async def ListInvitations(
        self, request: operator_pb2.ListInvitationsRequest, call: Call
    ) -> operator_pb2.ListInvitationsResponse:
        """List invitations."""
        await self._require_operator(call, "lists invitations")
        limit, after = row_limit(request, default=LARGEST_PAGE), page_number(request) or 0
        rows, more = cut(await read(self._arena, entry.list_invitations, limit + 1, after), limit)
        return operator_pb2.ListInvitationsResponse(
            invitations=[pack(row, operator_pb2.InvitationEntry) for row in rows],
            next_page_token=page_token(request, rows[-1].number) if more else "",
        )

    async def RevokeInvitation(
        self, request: operator_pb2.RevokeInvitationRequest, call: Call
    ) -> operator_pb2.RevokeInvitationResponse:
        """Revoke an invitation."""
        await self._require_operator(call, "revokes invitations")
        await looked_up(self._arena.accounts.revoke_invitation(min(request.number, LARGEST_NUMBER)))
        return operator_pb2.RevokeInvitationResponse()

    async def BeginSeason(
        self, request: operator_pb2.BeginSeasonRequest, call: Call
    ) -> operator_pb2.BeginSeasonResponse:
        """Start a season of a ladder."""
        await self._require_operator(call, "begins seasons")
        season = await looked_up(self._arena.begin_season(request.ladder))
        return operator_pb2.BeginSeasonResponse(season=season.number)

    async def CreateEvent(
        self, request: operator_pb2.CreateEventRequest, call: Call
    ) -> operator_pb2.CreateEventResponse:
        """Announce an event."""
        await self._require_operator(call, "announces events")
        plan = EventPlan(
            name=request.name,
            ladder=request.ladder,
            seats=request.seats,
            format="all" if request.everyone else "race",
            matches=request.matches or None,
            seconds=request.seconds or None,
            entry="invited" if request.invited else "open",
            start=min(_microseconds(request.start), LARGEST_NUMBER),
        )
        await looked_up(self._arena.events.create(plan, request.entrants))
        return operator_pb2.CreateEventResponse()

    async def StartEvent(self, request: operator_pb2.StartEventRequest, call: Call) -> operator_pb2.StartEventResponse:
        """Start an event at once."""
        await self._require_operator(call, "begins events")
        await looked_up(self._arena.events.start(request.name))
        return operator_pb2.StartEventResponse()

    async def CancelEvent(
        self, request: operator_pb2.CancelEventRequest, call: Call
    ) -> operator_pb2.CancelEventResponse:
        """Cancel an event that has not started."""
        await self._require_operator(call, "cancels events")
        await looked_up(self._arena.events.cancel(request.name, request.reason))
        return operator_pb2.CancelEventResponse()

    async def _require_operator(self, call: Call, does: str) -> None:
        """Check that the call has the operator's token. `does` is the action that a refusal names.

        Raises:
            CallRefused: the token is missing or wrong.
        """
        await looked_up(self._arena.authorization.require_operator(bearer(call), f"only the operator {does}"))
        call.trust()


def _microseconds(instant: Timestamp) -> int:
    """Return a time in microseconds since 1970, even for an invalid message."""
    return instant.seconds * 1_000_000 + instant.nanos // 1000
