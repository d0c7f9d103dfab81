"""The service of the registered bots: who they are, their tokens, and who is parked."""

from __future__ import annotations

from hmac import compare_digest
from typing import TYPE_CHECKING

import grpc

from arena.store import bots
from arena.v1 import bots_pb2
from arena.wire.answers import looked_up, timestamp
from arena.wire.stream import Refused, bearer

if TYPE_CHECKING:
    from arena.server.arena import Arena
    from arena.wire.stream import Call


class Roster:
    """The servicer of `BotService`."""

    def __init__(self, arena: Arena, by_invitation: bool) -> None:
        self._arena = arena
        self._roster = arena.roster
        self._by_invitation = by_invitation

    async def RegisterBot(  # noqa: N802
        self, request: bots_pb2.RegisterBotRequest, _: Call
    ) -> bots_pb2.RegisterBotResponse:
        """A new bot."""
        registered = await looked_up(
            self._roster.register(request.name, request.owner, request.invitation, self._by_invitation, request.token)
        )
        return bots_pb2.RegisterBotResponse(name=registered.bot.name, token=registered.token)

    async def CreateInvitation(  # noqa: N802
        self, request: bots_pb2.CreateInvitationRequest, call: Call
    ) -> bots_pb2.CreateInvitationResponse:
        """An invitation, for the operator only."""
        require_operator(self._arena, call, "only the operator invites")
        return bots_pb2.CreateInvitationResponse(invitation=await looked_up(self._roster.invite(request.owner)))

    async def ListBots(self, _: bots_pb2.ListBotsRequest, __: Call) -> bots_pb2.ListBotsResponse:  # noqa: N802
        """The bots."""
        here = self._arena.hall.contestants
        entries = []
        for bot, played, version in await looked_up(self._arena.store.read(bots.list_bots)):
            entry = bots_pb2.BotEntry(
                name=bot.name,
                owner=bot.owner,
                house=bot.house,
                matches=played,
                registered=timestamp(bot.registered),
                parked=bot.why_parked,
                version=version,
            )
            contestant = here.get(bot.id)
            if contestant is not None:
                entry.playing = len(contestant.tables)
                if contestant.session is not None:
                    entry.connected = True
                    entry.version = contestant.version
                    if contestant.session.round_trip is not None:
                        entry.round_trip_ms = contestant.session.round_trip * 1000
            entries.append(entry)
        return bots_pb2.ListBotsResponse(bots=entries)

    async def UnparkBot(self, request: bots_pb2.UnparkBotRequest, call: Call) -> bots_pb2.UnparkBotResponse:  # noqa: N802
        """A parked bot is given seats again."""
        await self._require_right(request.name, call)
        await looked_up(self._roster.unpark(request.name))
        return bots_pb2.UnparkBotResponse()

    async def RotateToken(self, request: bots_pb2.RotateTokenRequest, call: Call) -> bots_pb2.RotateTokenResponse:  # noqa: N802
        """A new token for a bot."""
        await self._require_right(request.name, call)
        return bots_pb2.RotateTokenResponse(token=(await looked_up(self._roster.rotate(request.name))).token)

    async def RevokeToken(self, request: bots_pb2.RevokeTokenRequest, call: Call) -> bots_pb2.RevokeTokenResponse:  # noqa: N802
        """A bot's token is dead."""
        await self._require_right(request.name, call)
        await looked_up(self._roster.revoke(request.name))
        return bots_pb2.RevokeTokenResponse()

    async def _require_right(self, name: str, call: Call) -> None:
        """Refuses whoever is neither the bot of that name nor the operator; strangers learn nothing of names."""
        if is_operator(self._arena, call):
            return
        bot = await looked_up(self._roster.authenticate(bearer(call)))
        if bot is None or bot.name.lower() != name.lower():
            text = f"only {name} itself and the operator may do that: send the bot's token or the operator's"
            raise Refused(grpc.StatusCode.PERMISSION_DENIED, text)


def is_operator(arena: Arena, call: Call) -> bool:
    """Whether a call carries the operator's token; takes as long however much of a guess is right."""
    return compare_digest(bearer(call).encode(), arena.store.operator_token.encode())


def require_operator(arena: Arena, call: Call, only: str) -> None:
    """Refuses everybody else."""
    if not is_operator(arena, call):
        text = f"{only}: send the token in operator.token of the server's data directory"
        raise Refused(grpc.StatusCode.PERMISSION_DENIED, text)
