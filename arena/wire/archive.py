"""The services that only look things up or register: games, bots, ladder, matches."""

from __future__ import annotations

from functools import partial
from hmac import compare_digest
from typing import TYPE_CHECKING, Final

import grpc
from google.protobuf.timestamp_pb2 import Timestamp

from arena.store import bots, ladder, matches
from arena.store.errors import (
    InvitationRefused,
    NameNotAllowed,
    NameTaken,
    NoReplay,
    StoreError,
    UnknownMatch,
)
from arena.store.errors import Refused as StoreRefused
from arena.v1 import bots_pb2, game_pb2, ladder_pb2, matches_pb2
from arena.wire.catalog import encode_catalog
from arena.wire.stream import Refused, bearer

if TYPE_CHECKING:
    from collections.abc import Awaitable
    from typing import TypeVar

    from arena.server.arena import Arena
    from arena.wire.stream import Call, Stream

    T = TypeVar("T")

CHUNK: Final = 64 * 1024
"""Bytes of a replay in one message."""
PAGE: Final = 50
"""Matches listed where no limit is given."""
LARGEST_PAGE: Final = 1000
LARGEST_NUMBER: Final = (1 << 63) - 1
"""Of a match; larger ones cannot be stored."""

STATUS: Final[dict[type[StoreRefused], grpc.StatusCode]] = {
    NameTaken: grpc.StatusCode.ALREADY_EXISTS,
    NameNotAllowed: grpc.StatusCode.INVALID_ARGUMENT,
    InvitationRefused: grpc.StatusCode.PERMISSION_DENIED,
    UnknownMatch: grpc.StatusCode.NOT_FOUND,
    NoReplay: grpc.StatusCode.FAILED_PRECONDITION,
}
MATCH_STATE: Final = {state: matches_pb2.MatchState.Value(f"MATCH_STATE_{state.name}") for state in matches.MatchState}


class Archive:
    """The servicer of `GameService`, `BotService`, `LadderService` and `MatchService`."""

    def __init__(self, arena: Arena, by_invitation: bool) -> None:
        self._arena = arena
        self._by_invitation = by_invitation

    async def ListGames(self, _: game_pb2.ListGamesRequest, __: Call) -> game_pb2.ListGamesResponse:  # noqa: N802
        """The catalogues."""
        return game_pb2.ListGamesResponse(games=[encode_catalog(game) for game in self._arena.config.games])

    async def RegisterBot(  # noqa: N802
        self, request: bots_pb2.RegisterBotRequest, _: Call
    ) -> bots_pb2.RegisterBotResponse:
        """A new bot."""
        registered = await _looked_up(
            self._arena.register(request.name, request.owner, request.invitation, self._by_invitation)
        )
        return bots_pb2.RegisterBotResponse(name=registered.bot.name, token=registered.token)

    async def CreateInvitation(  # noqa: N802
        self, request: bots_pb2.CreateInvitationRequest, call: Call
    ) -> bots_pb2.CreateInvitationResponse:
        """An invitation, for the operator only."""
        if not compare_digest(bearer(call).encode(), self._arena.store.operator_token.encode()):
            text = "only the operator invites: send the token in operator.token of the server's data directory"
            raise Refused(grpc.StatusCode.PERMISSION_DENIED, text)
        return bots_pb2.CreateInvitationResponse(invitation=await _looked_up(self._arena.invite(request.owner)))

    async def ListBots(self, _: bots_pb2.ListBotsRequest, __: Call) -> bots_pb2.ListBotsResponse:  # noqa: N802
        """The bots."""
        here = self._arena.hall.contestants
        entries = []
        for bot, played in await _looked_up(self._arena.store.read(bots.list_bots)):
            entry = bots_pb2.BotEntry(
                name=bot.name,
                owner=bot.owner,
                house=bot.house,
                matches=played,
                registered=_timestamp(bot.registered),
            )
            contestant = here.get(bot.id)
            if contestant is not None:
                entry.playing = len(contestant.tables)
                if contestant.session is not None:
                    entry.connected = True
                    if contestant.session.round_trip is not None:
                        entry.round_trip_ms = contestant.session.round_trip * 1000
            entries.append(entry)
        return bots_pb2.ListBotsResponse(bots=entries)

    async def GetLadder(  # noqa: N802
        self, request: ladder_pb2.GetLadderRequest, _: Call
    ) -> ladder_pb2.GetLadderResponse:
        """A ladder."""
        self._require_game(request.game)
        rows = await _looked_up(self._arena.store.read(partial(ladder.standings, game=request.game)))
        return ladder_pb2.GetLadderResponse(
            game=request.game,
            standings=[
                ladder_pb2.Standing(
                    rank=row.rank,
                    bot=row.record.bot,
                    owner=row.record.owner,
                    house=row.record.house,
                    rating=row.record.rating.value,
                    deviation=row.record.rating.deviation,
                    matches=row.record.matches,
                    wins=row.record.wins,
                    mean_rank=row.mean_rank,
                    last_change=row.record.last_change,
                )
                for row in rows
            ],
        )

    async def ListMatches(  # noqa: N802
        self, request: matches_pb2.ListMatchesRequest, _: Call
    ) -> matches_pb2.ListMatchesResponse:
        """Matches."""
        if request.limit > LARGEST_PAGE:
            text = f"a limit of {request.limit} is too high; ask for {LARGEST_PAGE} at most and page with 'before'"
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, text)
        if request.game:
            self._require_game(request.game)
        found = await _looked_up(
            self._arena.store.read(
                partial(
                    matches.list_matches,
                    game=request.game,
                    bot=request.bot,
                    limit=request.limit or PAGE,
                    before=min(request.before, LARGEST_NUMBER),
                )
            )
        )
        return matches_pb2.ListMatchesResponse(matches=map(_match, found))

    async def GetReplay(  # noqa: N802
        self, request: matches_pb2.GetReplayRequest, stream: Stream[object, matches_pb2.GetReplayResponse]
    ) -> None:
        """A replay."""
        number = min(request.match_id, LARGEST_NUMBER)
        content = await _looked_up(self._arena.store.read(partial(matches.get_replay, match=number)))
        for start in range(0, len(content), CHUNK):
            await stream.send(matches_pb2.GetReplayResponse(chunk=content[start : start + CHUNK]))

    def _require_game(self, name: str) -> None:
        played = [game.name for game in self._arena.config.games]
        if name not in played:
            raise Refused(
                grpc.StatusCode.NOT_FOUND, f"this server does not play {name!r}; it plays {', '.join(played)}"
            )


async def _looked_up(answer: Awaitable[T]) -> T:
    """What the store says, or the status for its refusal."""
    try:
        return await answer
    except StoreRefused as refused:
        raise Refused(STATUS[type(refused)], str(refused)) from refused
    except StoreError as error:
        raise Refused(grpc.StatusCode.UNAVAILABLE, str(error)) from error


def _match(match: matches.Match) -> matches_pb2.MatchEntry:
    return matches_pb2.MatchEntry(
        match_id=match.id,
        game=match.game,
        state=MATCH_STATE[match.state],
        started=_timestamp(match.started),
        ended=None if match.ended is None else _timestamp(match.ended),
        reason=match.reason,
        seats=[
            matches_pb2.MatchSeat(
                bot=seat.bot,
                score=seat.score,
                place=seat.place,
                rating_before=None if seat.rating is None else seat.rating.before.value,
                rating_after=None if seat.rating is None else seat.rating.after.value,
                forced=seat.forced,
            )
            for seat in match.seats
        ],
    )


def _timestamp(instant: int) -> Timestamp:
    """An instant in microseconds since 1970."""
    seconds, micros = divmod(instant, 1_000_000)
    return Timestamp(seconds=seconds, nanos=micros * 1000)
