"""The read-only services: `GameService`, `LadderService` and `MatchService`."""

from __future__ import annotations

import math
from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Final, Literal

import grpc
import trio
from arena_client.v1 import bots_pb2, game_pb2, ladder_pb2, matches_pb2

from arena.api.catalog import encode_catalog
from arena.api.codec import encode_report
from arena.api.statuses import LARGEST_NUMBER, looked_up, refused
from arena.api.watching import Watching
from arena.protobuf.rows import pack
from arena.server.ratings.fit_client import NotFitted
from arena.server.runtime.wall_clock import now_us
from arena.store.base.rows import LadderRows, MatchState, instant
from arena.store.bots import bots
from arena.store.ladder import publishing, standings
from arena.store.ladder.opponents import LAST, opponents
from arena.store.ladder.version_standings import version_standings
from arena.store.matches import matches
from arena.store.matches import search as match_search
from arena.store.matches.search import MatchFilter
from trio_grpc.grpc.call import CallRefused, send_within

if TYPE_CHECKING:
    from arena.server.arena import Arena
    from arena.server.matches.live import LiveMatch
    from engine.game import Game
    from trio_grpc.grpc.call import Call, Stream

CHUNK: Final = 64 * 1024
"""Number of bytes of a replay in one message."""
PAGE: Final = 50
"""Number of rows in a list if the request sets no limit."""
LARGEST_PAGE: Final = 1000
HISTORY: Final = 1000
"""Number of matches in a history if the request sets no limit."""
LARGEST_HISTORY: Final = 10_000
LADDER_KEPT: Final = 60.0
"""Seconds for which a ladder with further pages is cached, so that all pages belong to the same ladder."""


class QueryServices:
    """Servicer of `GameService`, `LadderService` and `MatchService`; refusals raise CallRefused."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._watching = Watching(arena)
        self._ladders: dict[tuple[str, int], tuple[float, LadderRows]] = {}
        """Ladders with further pages, by game and table size, each with the time at which it was read."""

    async def ListGames(self, _: game_pb2.ListGamesRequest, __: Call) -> game_pb2.ListGamesResponse:  # noqa: N802
        """Return the catalogues of the games that the server plays."""
        return game_pb2.ListGamesResponse(games=[encode_catalog(game) for game in self._arena.config.games])

    async def GetLadder(  # noqa: N802
        self, request: ladder_pb2.GetLadderRequest, _: Call
    ) -> ladder_pb2.GetLadderResponse:
        """Return a page of a game's ladder, for all tables or for one table size."""
        game, limit, first = self._game(request.game), row_limit(request, default=LARGEST_PAGE), request.after
        key = (game.name, request.seats if request.HasField("seats") else -1)
        at, ladder = self._ladders.get(key, (-math.inf, None))
        if not first or ladder is None or trio.current_time() - at > LADDER_KEPT:
            ladder = await (
                self._of_tables(game, request.seats) if request.HasField("seats") else self._of_all_tables(game)
            )
            self._ladders.pop(key, None)
            if max(len(ladder.standings), len(ladder.flags)) > limit:
                self._ladders[key] = trio.current_time(), ladder
        last = first + limit
        page = replace(ladder, standings=ladder.standings[first:last], flags=ladder.flags[first:last])
        return pack(page, ladder_pb2.GetLadderResponse)

    async def GetPastLadder(  # noqa: N802
        self, request: ladder_pb2.GetPastLadderRequest, _: Call
    ) -> ladder_pb2.GetPastLadderResponse:
        """Return the last ladder of a game that was published by a given instant."""
        self._game(request.game)
        try:
            at = request.at.ToMicroseconds() if request.HasField("at") else now_us()
        except ValueError as error:
            raise CallRefused(grpc.StatusCode.INVALID_ARGUMENT, f"at: {error}") from error
        limit = row_limit(request, default=LARGEST_PAGE)
        job = partial(publishing.published_until, game=request.game, at=at)
        ladder = await looked_up(self._arena.store.read(job))
        page = ladder.standings[request.after : request.after + limit]
        return pack(replace(ladder, standings=page), ladder_pb2.GetPastLadderResponse)

    async def GetHistory(  # noqa: N802
        self, request: ladder_pb2.GetHistoryRequest, _: Call
    ) -> ladder_pb2.GetHistoryResponse:
        """Return a bot's rating after each of its latest matches."""
        self._game(request.game)
        limit = row_limit(request, HISTORY, LARGEST_HISTORY)
        before = numbers_before(request)
        job = partial(standings.history, bot=request.bot, game=request.game, limit=limit, before=before)
        rows = await looked_up(self._arena.store.read(job))
        return ladder_pb2.GetHistoryResponse(matches=[pack(row, ladder_pb2.RatedMatch) for row in rows])

    async def ListVersions(  # noqa: N802
        self, request: ladder_pb2.ListVersionsRequest, _: Call
    ) -> ladder_pb2.ListVersionsResponse:
        """List the versions of a bot in a game, the newest first."""
        self._game(request.game)
        limit, before = row_limit(request), numbers_before(request)
        job = partial(version_standings, bot=request.bot, game=request.game, limit=limit, before=before)
        rows = await looked_up(self._arena.store.read(job))
        return ladder_pb2.ListVersionsResponse(versions=[pack(row, ladder_pb2.VersionEntry) for row in rows])

    async def GetOpponents(  # noqa: N802
        self, request: ladder_pb2.GetOpponentsRequest, _: Call
    ) -> ladder_pb2.GetOpponentsResponse:
        """Return a bot's results against each other bot."""
        self._game(request.game)
        limit, last = row_limit(request), request.last if request.HasField("last") else LAST
        if not 1 <= last <= LAST:
            raise CallRefused(grpc.StatusCode.INVALID_ARGUMENT, f"last is 1 to {LAST}, not {last}")
        after = request.after
        job = partial(opponents, bot=request.bot, game=request.game, limit=limit, after=after, last=last)
        rows = await looked_up(self._arena.store.read(job))
        return ladder_pb2.GetOpponentsResponse(opponents=[pack(row, ladder_pb2.OpponentEntry) for row in rows])

    async def ListMatches(  # noqa: N802
        self, request: matches_pb2.ListMatchesRequest, _: Call
    ) -> matches_pb2.ListMatchesResponse:
        """List matches, the newest first."""
        limit, before = row_limit(request), numbers_before(request)
        if request.HasField("game"):
            self._game(request.game)
        wanted = MatchFilter(
            game=request.game,
            bot=request.bot,
            opponent=request.opponent,
            seats=request.seats,
            since=_instant(request, "since"),
            until=_instant(request, "until"),
            faults=request.faults,
            lost=request.lost,
            state=_state(request.state),
        )
        page = await looked_up(
            self._arena.store.read(partial(match_search.search, wanted=wanted, limit=limit, before=before))
        )
        return matches_pb2.ListMatchesResponse(
            matches=[pack(row, matches_pb2.MatchEntry) for row in page.matches], next=page.next
        )

    async def GetMatch(  # noqa: N802
        self, request: matches_pb2.GetMatchRequest, _: Call
    ) -> matches_pb2.GetMatchResponse:
        """Return one match, with its finished rounds if it is still being played."""
        number = min(request.match_id, LARGEST_NUMBER)
        live = self._arena.live.get(number)
        row = await looked_up(self._arena.store.read(partial(matches.get_match, match_id=number)))
        response = matches_pb2.GetMatchResponse(match=pack(row, matches_pb2.MatchEntry))
        if live is not None and row.state is MatchState.PLAYING:
            for report in live.rounds:
                response.rounds.add().MergeFromString(encode_report(number, report))
        return response

    async def WatchMatches(  # noqa: N802
        self,
        request: matches_pb2.WatchMatchesRequest,
        stream: Stream[object, matches_pb2.WatchMatchesResponse],
    ) -> None:
        """Stream the events of matches."""
        game, bot, match_id = "", "", None
        if request.HasField("game"):
            game = self._game(request.game).name
        if request.HasField("bot"):
            bot = (await looked_up(self._arena.store.read(partial(bots.known, name=request.bot)))).name
        if request.HasField("match_id"):
            match_id = min(request.match_id, LARGEST_NUMBER)

        def wants(match: LiveMatch) -> bool:
            return (
                (not game or match.game == game)
                and (not bot or bot in match.bots)
                and (match_id is None or match.match_id == match_id)
            )

        filtered = bool(game or bot or match_id is not None)
        await self._watching.watch(wants if filtered else None, stream)

    async def GetReplay(  # noqa: N802
        self, request: matches_pb2.GetReplayRequest, stream: Stream[object, matches_pb2.GetReplayResponse]
    ) -> None:
        """Stream the replay file of a match in chunks."""
        number = min(request.match_id, LARGEST_NUMBER)
        content = await looked_up(self._arena.store.read(partial(matches.get_replay, match_id=number)))
        for start in range(0, len(content), CHUNK):
            await send_within(stream, matches_pb2.GetReplayResponse(chunk=content[start : start + CHUNK]))

    async def _of_all_tables(self, game: Game) -> LadderRows:
        """Read the published ladder of a game, with the changes since."""
        ladder = await looked_up(self._arena.store.read(partial(standings.current, game=game.name)))
        if (unfitted := self._arena.publisher.unfitted(game.name)) is not None:
            ladder = replace(ladder, not_fitted_since=instant(unfitted.since), not_fitted_why=unfitted.why)
        return ladder

    async def _of_tables(self, game: Game, seats: int) -> LadderRows:
        """Fit the ladder of a game from the matches at tables of one size only."""
        if seats not in game.seats:
            text = f"{game.name} is played by {game.seats.start} to {game.seats.stop - 1}, not by {seats}"
            raise CallRefused(grpc.StatusCode.INVALID_ARGUMENT, text)
        try:
            ladder = await self._arena.publisher.of_tables(game.name, seats)
        except NotFitted as error:
            raise refused(grpc.StatusCode.UNAVAILABLE, "NOT_FITTED", str(error)) from error
        job = partial(standings.of_tables, game=game.name, seats=seats, ladder=ladder)
        return replace(await looked_up(self._arena.store.read(job)), published=instant(now_us()))

    def _game(self, name: str) -> Game:
        for game in self._arena.config.games:
            if game.name == name:
                return game
        played = ", ".join(game.name for game in self._arena.config.games)
        raise CallRefused(grpc.StatusCode.NOT_FOUND, f"this server does not play {name!r}; it plays {played}")


def row_limit(
    request: ladder_pb2.GetLadderRequest
    | ladder_pb2.GetPastLadderRequest
    | ladder_pb2.GetHistoryRequest
    | ladder_pb2.ListVersionsRequest
    | ladder_pb2.GetOpponentsRequest
    | matches_pb2.ListMatchesRequest
    | bots_pb2.ListBotsRequest
    | bots_pb2.ListBotEventsRequest,
    default: int = PAGE,
    largest: int = LARGEST_PAGE,
) -> int:
    """Return the number of rows that a request asks for. Raises CallRefused."""
    if not request.HasField("limit"):
        return default
    if not 1 <= request.limit <= largest:
        text = f"a limit is 1 to {largest}, not {request.limit}"
        raise CallRefused(grpc.StatusCode.INVALID_ARGUMENT, text)
    return request.limit


def numbers_before(
    request: ladder_pb2.GetHistoryRequest
    | ladder_pb2.ListVersionsRequest
    | matches_pb2.ListMatchesRequest
    | bots_pb2.ListBotEventsRequest,
) -> int | None:
    """Return the number below which the next page begins; None for the first page."""
    return min(request.before, LARGEST_NUMBER) if request.HasField("before") else None


def _instant(request: matches_pb2.ListMatchesRequest, field: Literal["since", "until"]) -> int | None:
    """Return an instant of a request, in microseconds since 1970; None if it is absent. Raises CallRefused."""
    if not request.HasField(field):
        return None
    try:
        at: int = getattr(request, field).ToMicroseconds()
    except ValueError as error:
        raise CallRefused(grpc.StatusCode.INVALID_ARGUMENT, f"{field}: {error}") from error
    return max(0, min(at, LARGEST_NUMBER))


def _state(number: int) -> MatchState | None:
    """Return the state that a request names; None if it names none. Raises CallRefused."""
    if not number:
        return None
    named = matches_pb2.MatchState.DESCRIPTOR.values_by_number.get(number)
    if named is None:
        raise CallRefused(grpc.StatusCode.INVALID_ARGUMENT, f"there is no state {number} of a match")
    return MatchState[named.name.removeprefix("MATCH_STATE_")]
