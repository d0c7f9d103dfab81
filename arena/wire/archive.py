"""The services that only look things up: games, ladder, matches."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import grpc

from arena.store import ladder, matches
from arena.v1 import game_pb2, ladder_pb2, matches_pb2
from arena.wire.answers import looked_up, send_within, timestamp
from arena.wire.catalog import encode_catalog
from arena.wire.stream import Refused

if TYPE_CHECKING:
    from arena.server.arena import Arena
    from arena.wire.stream import Call, Stream

CHUNK: Final = 64 * 1024
"""Bytes of a replay in one message."""
PAGE: Final = 50
"""Matches listed where no limit is given."""
LARGEST_PAGE: Final = 1000
LARGEST_NUMBER: Final = (1 << 63) - 1
"""Of a match; larger ones cannot be stored."""

MATCH_STATE: Final = {state: matches_pb2.MatchState.Value(f"MATCH_STATE_{state.name}") for state in matches.MatchState}


class Archive:
    """The servicer of `GameService`, `LadderService` and `MatchService`."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def ListGames(self, _: game_pb2.ListGamesRequest, __: Call) -> game_pb2.ListGamesResponse:  # noqa: N802
        """The catalogues."""
        return game_pb2.ListGamesResponse(games=[encode_catalog(game) for game in self._arena.config.games])

    async def GetLadder(  # noqa: N802
        self, request: ladder_pb2.GetLadderRequest, _: Call
    ) -> ladder_pb2.GetLadderResponse:
        """A ladder."""
        self._require_game(request.game)
        rows = await looked_up(self._arena.store.read(partial(ladder.standings, game=request.game)))
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
        found = await looked_up(
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
        content = await looked_up(self._arena.store.read(partial(matches.get_replay, match=number)))
        for start in range(0, len(content), CHUNK):
            await send_within(stream, matches_pb2.GetReplayResponse(chunk=content[start : start + CHUNK]))

    def _require_game(self, name: str) -> None:
        played = [game.name for game in self._arena.config.games]
        if name not in played:
            raise Refused(
                grpc.StatusCode.NOT_FOUND, f"this server does not play {name!r}; it plays {', '.join(played)}"
            )


def _match(match: matches.Match) -> matches_pb2.MatchEntry:
    return matches_pb2.MatchEntry(
        match_id=match.id,
        game=match.game,
        state=MATCH_STATE[match.state],
        started=timestamp(match.started),
        ended=None if match.ended is None else timestamp(match.ended),
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
