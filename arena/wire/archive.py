"""The services that only look things up: games, ladder, matches."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import grpc

from arena.server.fitter import NotFitted
from arena.server.wall import now_us
from arena.store import matches, standings
from arena.v1 import game_pb2, ladder_pb2, matches_pb2
from arena.wire.answers import LARGEST_NUMBER, looked_up, send_within, timestamp
from arena.wire.catalog import encode_catalog
from arena.wire.stream import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.ladder.fortune import Fortune
    from arena.server.arena import Arena
    from arena.wire.stream import Call, Stream
    from engine.game import Game

CHUNK: Final = 64 * 1024
"""Bytes of a replay in one message."""
PAGE: Final = 50
"""Matches listed where no limit is given."""
LARGEST_PAGE: Final = 1000
HISTORY: Final = 1000
"""Matches of a history where no limit is given."""
LARGEST_HISTORY: Final = 10_000

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
        game = self._game(request.game)
        if request.seats:
            lines, made = await self._of_tables(game, request.seats)
        else:
            lines, made = await looked_up(self._arena.store.read(partial(standings.current, game=game.name)))
        return ladder_pb2.GetLadderResponse(
            game=game.name,
            standings=map(_standing, lines),
            through=0 if made is None else made.through,
            digest="" if made is None else made.digest,
            published=None if made is None else timestamp(made.at),
        )

    async def GetHistory(  # noqa: N802
        self, request: ladder_pb2.GetHistoryRequest, _: Call
    ) -> ladder_pb2.GetHistoryResponse:
        """How a rating moved."""
        self._game(request.game)
        if request.limit > LARGEST_HISTORY:
            text = f"a limit of {request.limit} is too high; ask for {LARGEST_HISTORY} matches at most"
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, text)
        limit = request.limit or HISTORY
        job = partial(standings.history, bot=request.bot, game=request.game, limit=limit)
        return ladder_pb2.GetHistoryResponse(matches=map(_moment, await looked_up(self._arena.store.read(job))))

    async def ListMatches(  # noqa: N802
        self, request: matches_pb2.ListMatchesRequest, _: Call
    ) -> matches_pb2.ListMatchesResponse:
        """Matches."""
        if request.limit > LARGEST_PAGE:
            text = f"a limit of {request.limit} is too high; ask for {LARGEST_PAGE} at most and page with 'before'"
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, text)
        if request.game:
            self._game(request.game)
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

    async def _of_tables(
        self, game: Game, seats: int
    ) -> tuple[Sequence[standings.Standing], standings.Published | None]:
        """The ladder of a game at tables of one size, made now."""
        if seats not in game.seats:
            text = f"{game.name} is played by {game.seats.start} to {game.seats.stop - 1}, not by {seats}"
            raise Refused(grpc.StatusCode.INVALID_ARGUMENT, text)
        try:
            ladder = await self._arena.truth.of_tables(game.name, seats)
        except NotFitted as error:
            raise Refused(grpc.StatusCode.UNAVAILABLE, str(error)) from error
        lines = await looked_up(self._arena.store.read(partial(standings.of_ladder, game=game.name, ladder=ladder)))
        return lines, standings.Published(ladder.through, ladder.digest, now_us())

    def _game(self, name: str) -> Game:
        for game in self._arena.config.games:
            if game.name == name:
                return game
        played = ", ".join(game.name for game in self._arena.config.games)
        raise Refused(grpc.StatusCode.NOT_FOUND, f"this server does not play {name!r}; it plays {played}")


def _standing(line: standings.Standing) -> ladder_pb2.Standing:
    return ladder_pb2.Standing(
        rank=line.rank,
        bot=line.bot,
        owner=line.owner,
        house=line.house,
        rating=line.rating,
        deviation=line.error,
        matches=line.matches,
        wins=line.wins,
        mean_rank=line.mean_rank,
        last_change=line.last_change,
        version=line.version,
        rank_low=line.rank_low,
        rank_high=line.rank_high,
        best=line.best,
        opponents=line.opponents,
        provisional=line.provisional,
        live=line.live.value,
        live_deviation=line.live.deviation,
        forced_share=line.forced_share,
        think_95_us=line.think_95,
        luck=None if line.luck is None else _luck(line.luck),
    )


def _luck(fortune: Fortune) -> ladder_pb2.Luck:
    return ladder_pb2.Luck(
        matches=fortune.matches,
        plain=fortune.plain,
        plain_error=fortune.plain_error,
        adjusted=fortune.adjusted,
        adjusted_error=fortune.adjusted_error,
    )


def _moment(moment: standings.Moment) -> ladder_pb2.RatedMatch:
    return ladder_pb2.RatedMatch(
        match_id=moment.match,
        ended=timestamp(moment.at),
        version=moment.version,
        before=moment.before.value,
        after=moment.after.value,
        deviation=moment.after.deviation,
        voided=moment.voided,
    )


def _match(match: matches.Match) -> matches_pb2.MatchEntry:
    return matches_pb2.MatchEntry(
        match_id=match.id,
        game=match.game,
        state=MATCH_STATE[match.state],
        started=timestamp(match.started),
        ended=None if match.ended is None else timestamp(match.ended),
        reason=match.reason,
        voided=match.voided,
        seats=[
            matches_pb2.MatchSeat(
                bot=seat.bot,
                score=seat.score,
                place=seat.place,
                rating_before=None if seat.rating is None else seat.rating.before.value,
                rating_after=None if seat.rating is None else seat.rating.after.value,
                forced=seat.forced,
                version=seat.version,
            )
            for seat in match.seats
        ],
    )
