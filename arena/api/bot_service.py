"""`BotService`: registration, lists of bots and of the operator's decisions, invitations, tokens and parked bots."""

from __future__ import annotations

from dataclasses import replace

from arena_client.v1 import bots_pb2

from arena.api.list_pages import LARGEST_PAGE, cut, page_number, page_place, page_token, row_limit
from arena.api.statuses import looked_up, of_owner, read
from arena.protobuf.rows import pack
from arena.replay.header import OfferOutcome
from arena.server.arena import Arena
from arena.server.sessions.player import BotPlayer
from arena.store.base.rows import BotRow
from arena.store.bots import bots
from arena.store.bots.entry import NewInvitations
from arena.store.moderation import moderation
from trio_grpc.grpc.call import Call, bearer
from trio_grpc.limits.connection_limits import origin_of_peer


class BotService:
    """Servicer of the gRPC service `BotService`. Refusals raise CallRefused."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._accounts = arena.accounts
        self._authorization = arena.authorization
        self._by_invitation = arena.config.registration == "invited"

    async def RegisterBot(self, request: bots_pb2.RegisterBotRequest, call: Call) -> bots_pb2.RegisterBotResponse:
        """Register a bot."""
        registering = self._accounts.register(
            request.name,
            request.owner,
            request.invitation,
            self._by_invitation,
            request.token,
            origin=origin_of_peer(call.peer),
        )
        registered = await looked_up(of_owner(request.owner if request.owner != request.name else "", registering))
        return bots_pb2.RegisterBotResponse(name=registered.bot.name, token=registered.token)

    async def CreateInvitation(
        self, request: bots_pb2.CreateInvitationRequest, call: Call
    ) -> bots_pb2.CreateInvitationResponse:
        """Create an invitation. Only the operator may do this."""
        await looked_up(self._authorization.require_operator(bearer(call), "only the operator invites"))
        call.trust()
        creating = self._accounts.invite(NewInvitations(request.owner))
        ((_, code),) = await looked_up(of_owner(request.owner, creating))
        return bots_pb2.CreateInvitationResponse(invitation=code)

    async def ListBots(self, request: bots_pb2.ListBotsRequest, _: Call) -> bots_pb2.ListBotsResponse:
        """List bots with their state in the running server."""
        limit, place = row_limit(request, default=LARGEST_PAGE), page_place(request, ".+")
        after = "" if place is None else place[0]
        rows, more = cut(await read(self._arena, bots.list_bots, limit + 1, after), limit)
        here = {player.name: player for player in self._arena.players}
        entries = [pack(_now(row, here.get(row.name)), bots_pb2.BotEntry) for row in rows]
        return bots_pb2.ListBotsResponse(
            bots=entries, next_page_token=page_token(request, rows[-1].name) if more else ""
        )

    async def UnparkBot(self, request: bots_pb2.UnparkBotRequest, call: Call) -> bots_pb2.UnparkBotResponse:
        """Resume a parked bot. Only the bot itself and the operator may do this."""
        await self._require_control(call, request.name)
        await looked_up(self._accounts.unpark(request.name))
        return bots_pb2.UnparkBotResponse()

    async def RotateToken(self, request: bots_pb2.RotateTokenRequest, call: Call) -> bots_pb2.RotateTokenResponse:
        """Replace the token of a bot. Only the bot itself and the operator may do this."""
        await self._require_control(call, request.name)
        return bots_pb2.RotateTokenResponse(token=(await looked_up(self._accounts.rotate(request.name))).token)

    async def RevokeToken(self, request: bots_pb2.RevokeTokenRequest, call: Call) -> bots_pb2.RevokeTokenResponse:
        """Revoke the token of a bot. Only the bot itself and the operator may do this."""
        await self._require_control(call, request.name)
        await looked_up(self._accounts.revoke(request.name))
        return bots_pb2.RevokeTokenResponse()

    async def ChallengeBots(self, request: bots_pb2.ChallengeBotsRequest, call: Call) -> bots_pb2.ChallengeBotsResponse:
        """Challenge other bots in the name of the caller's bot. Return when the match starts."""
        bot = await looked_up(self._authorization.bot(bearer(call)))
        call.trust()
        challenge = self._arena.matchmaker.challenge(bot.name, request.opponents, request.game, request.ladder)
        return bots_pb2.ChallengeBotsResponse(match_id=await looked_up(challenge))

    async def JoinLadder(self, request: bots_pb2.JoinLadderRequest, call: Call) -> bots_pb2.JoinLadderResponse:
        """Let the caller's bot enter a ladder."""
        bot = await looked_up(self._authorization.bot(bearer(call)))
        call.trust()
        await looked_up(self._accounts.join(bot, request.ladder, request.invitation))
        return bots_pb2.JoinLadderResponse()

    async def EnterEvent(self, request: bots_pb2.EnterEventRequest, call: Call) -> bots_pb2.EnterEventResponse:
        """Enter a bot into an event. Only the bot itself and the operator may do this."""
        await self._require_control(call, request.bot)
        invited = self._authorization.is_operator(bearer(call))
        await looked_up(self._arena.events.enter(request.event, request.bot, invited))
        return bots_pb2.EnterEventResponse()

    async def ListBotEvents(self, request: bots_pb2.ListBotEventsRequest, _: Call) -> bots_pb2.ListBotEventsResponse:
        """List the operator's decisions about bots and owners, newest first."""
        limit = row_limit(request)
        rows, more = cut(await read(self._arena, moderation.list_events, limit + 1, page_number(request)), limit)
        return bots_pb2.ListBotEventsResponse(
            events=[pack(row, bots_pb2.BotEvent) for row in rows],
            next_page_token=page_token(request, rows[-1].number) if more else "",
        )

    async def _require_control(self, call: Call, name: str) -> None:
        """Check that the call's token belongs to this bot or to the operator. Raises: CallRefused."""
        await looked_up(self._authorization.require_control(bearer(call), name))
        call.trust()


def _now(row: BotRow, player: BotPlayer | None) -> BotRow:
    """Return a bot's row with its state on the server. `player` is None for a bot that is neither connected nor
    playing.
    """
    row = replace(row, connected=False, playing=0 if player is None else len(player.playing.running))
    if player is not None:
        failed = player.offers.availability.failed
        row = replace(row, declined=failed[OfferOutcome.DECLINED], silent=failed[OfferOutcome.SILENT])
        pace = player.offers.pace_now()
        row = replace(row, pace_ms=None if pace is None else pace * 1000)
    if player is None or player.session is None:
        return row
    trip = player.session.round_trip
    return replace(row, connected=True, version=player.version, round_trip_ms=None if trip is None else trip * 1000)
