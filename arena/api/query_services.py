"""The read-only services, for games, events, ladders, matches, the log and the status."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, Protocol

import grpc
import trio
from arena_client.v1 import events_pb2, game_pb2, ladder_pb2, log_pb2, matches_pb2, status_pb2

from arena import build
from arena.api.codec import (
    encode_conduct,
    encode_event,
    encode_event_head,
    encode_event_table,
    encode_report,
)
from arena.api.game_codecs import encode_catalog
from arena.api.list_pages import (
    LARGEST_PAGE,
    PagedLadders,
    cut,
    not_valid,
    page_number,
    page_offset,
    page_place,
    page_token,
    row_limit,
)
from arena.api.statuses import LARGEST_NUMBER, read, refused
from arena.api.watching import Watching
from arena.protobuf.rows import UnknownValueError, member, pack
from arena.rules import language_for, languages_of, rules_of
from arena.server.ratings.fit_client import NotFitted
from arena.server.runtime.wall_clock import now_us
from arena.store.base import leaves as log
from arena.store.base.rows import LadderRows, MatchState, instant, microseconds
from arena.store.bots import bots
from arena.store.ladder import publishing, seasons, standings
from arena.store.ladder.opponents import LAST, opponents
from arena.store.ladder.publishing import published_at
from arena.store.ladder.version_standings import version_standings
from arena.store.matches import matches
from arena.store.matches import search as match_search
from arena.store.matches.event_documents import bundle_parts, event_head, event_rows, event_tables
from arena.store.matches.search import MatchFilter
from arena.version import __version__
from engine.game import option_text
from trio_grpc.grpc.call import CallRefused, send_within

if TYPE_CHECKING:
    from arena.server.arena import Arena
    from arena.server.matches.live import LiveMatch
    from engine.game import Game
    from trio_grpc.grpc.call import Call, Stream

    class OfLadder(Protocol):
        """A request that names a game, a ladder and a season."""

        game: str
        ladder: str
        season: int


CHUNK: Final = 64 * 1024
"""Number of bytes of a replay in one message."""
EVENT_AGE: Final = 2.0
"""Seconds for which an event is cached."""
HISTORY: Final = 1000
"""Number of matches in a history if the request sets no limit."""
LARGEST_HISTORY: Final = 10_000
_LADDER_PLACE: Final = r"(?P<ladder>[0-9a-f]{16}) (?P<first>[0-9]{1,10})"
_PAST_PLACE: Final = r"(?P<published>[0-9]{1,16}) (?P<first>[0-9]{1,10})"
"""Formats of the positions in page tokens, for present and past ladders. A position names the ladder and the number of
standings on earlier pages.
"""


ACCESS: Final = {
    "open": ladder_pb2.LADDER_ACCESS_OPEN,
    "invited": ladder_pb2.LADDER_ACCESS_INVITED,
}
"""The protocol's values for a ladder's kinds of entry. Any other kind is a list of owners."""


class NamedLadder(NamedTuple):
    """The season of a ladder that a request names."""

    id: str
    game: Game


class QueryServices:
    """Servicer of `GameService`, `LadderService` and `MatchService`. Refusals raise CallRefused."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._watching = Watching(arena)
        self._ladders = PagedLadders()
        self._games = {ladder.name: ladder.game for ladder in arena.config.ladders}

    async def ListGames(self, _: game_pb2.ListGamesRequest, __: Call) -> game_pb2.ListGamesResponse:
        """Return the catalogues of the games that the server plays."""
        return game_pb2.ListGamesResponse(games=[encode_catalog(game) for game in self._arena.config.games])

    async def GetRules(self, request: game_pb2.GetRulesRequest, _: Call) -> game_pb2.GetRulesResponse:
        """Return the rules of a game."""
        game = self._game(request.game)
        languages, language = languages_of(game), language_for(game, request.language)
        if language is None:
            text = f"the rules of {game.name} are there in {', '.join(languages)}, not in {request.language[:40]!r}"
            if not languages:
                text = f"the server has no rules of {game.name}"
            raise refused(grpc.StatusCode.NOT_FOUND, "NO_RULES", text)
        text = rules_of(game, language)
        return game_pb2.GetRulesResponse(text=text, language=language, languages=languages)

    async def ListLadders(self, _: ladder_pb2.ListLaddersRequest, __: Call) -> ladder_pb2.ListLaddersResponse:
        """Return the server's ladders with their terms and seasons."""
        config = self._arena.config
        answer = ladder_pb2.ListLaddersResponse()
        for ladder in config.ladders:
            summaries = await read(self._arena, seasons.summaries, ladder.name)
            entry = pack(
                ladder,
                ladder_pb2.LadderEntry,
                game=ladder.game.name,
                options={name: option_text(value) for name, value in ladder.options.items()},
                conduct=encode_conduct(ladder.policy, ladder.answer_limits, config.park_after),
                access=ACCESS.get(str(ladder.entry), ladder_pb2.LADDER_ACCESS_LISTED),
                seasons=[pack(each, ladder_pb2.LadderSeason) for each in summaries],
            )
            answer.ladders.append(entry)
        return answer

    async def GetLadder(self, request: ladder_pb2.GetLadderRequest, _: Call) -> ladder_pb2.GetLadderResponse:
        """Return a page of a game's ladder, for all tables or for one table size."""
        named, limit = await self._named(request), row_limit(request, default=LARGEST_PAGE)
        place = page_place(request, _LADDER_PLACE)
        if place is None:
            name, first = "", 0
            ladder = await (
                self._of_tables(named, request.seats) if request.HasField("seats") else self._of_all_tables(named)
            )
        else:
            name, first = place["ladder"], int(place["first"])
            stored = self._ladders.find(name)
            if stored is None:
                raise not_valid("the ladder of this page was replaced since")
            ladder = stored
        last = first + limit
        page, further = replace(ladder, standings=ladder.standings[first:last], flags=ladder.flags[first:last]), ""
        if max(len(ladder.standings), len(ladder.flags)) > last:
            further = page_token(request, f"{name or self._ladders.store(ladder)} {last}")
        return pack(page, ladder_pb2.GetLadderResponse, next_page_token=further)

    async def GetPastLadder(
        self, request: ladder_pb2.GetPastLadderRequest, _: Call
    ) -> ladder_pb2.GetPastLadderResponse:
        """Return the latest ladder of a game that was published by the given time."""
        named = await self._named(request)
        limit, place = row_limit(request, default=LARGEST_PAGE), page_place(request, _PAST_PLACE)
        try:
            at = request.at.ToMicroseconds() if request.HasField("at") else now_us()
        except ValueError as error:
            raise CallRefused(grpc.StatusCode.INVALID_ARGUMENT, f"at: {error}") from error
        first = 0
        if place is not None:
            at, first = int(place["published"]), int(place["first"])
        ladder = await read(self._arena, publishing.published_until, named.id, named.game.name, at)
        if place is not None and (ladder.published is None or microseconds(ladder.published) != at):
            raise not_valid("the ladder of this page is no longer stored")
        last = first + limit
        page, further = replace(ladder, standings=ladder.standings[first:last]), ""
        if ladder.published is not None and len(ladder.standings) > last:
            further = page_token(request, f"{microseconds(ladder.published)} {last}")
        return pack(page, ladder_pb2.GetPastLadderResponse, next_page_token=further)

    async def GetHistory(self, request: ladder_pb2.GetHistoryRequest, _: Call) -> ladder_pb2.GetHistoryResponse:
        """Return a bot's rating after each of its latest matches."""
        named = await self._named(request)
        limit, before = row_limit(request, HISTORY, LARGEST_HISTORY), page_number(request)
        rows = await read(self._arena, standings.history, request.bot, named.id, limit + 1, before)
        further = ""
        if len(rows) > limit:  # Rows are in the order of the results, pages in the order of match numbers.
            beyond = min(row.match_id for row in rows)
            rows = tuple(row for row in rows if row.match_id != beyond)
            further = page_token(request, beyond + 1)
        return ladder_pb2.GetHistoryResponse(
            matches=[pack(row, ladder_pb2.RatedMatch) for row in rows], next_page_token=further
        )

    async def ListVersions(self, request: ladder_pb2.ListVersionsRequest, _: Call) -> ladder_pb2.ListVersionsResponse:
        """List the versions of a bot in a game, newest first."""
        named = await self._named(request)
        limit, before = row_limit(request), page_number(request)
        rows, more = cut(await read(self._arena, version_standings, request.bot, named.id, limit + 1, before), limit)
        return ladder_pb2.ListVersionsResponse(
            versions=[pack(row, ladder_pb2.VersionEntry) for row in rows],
            next_page_token=page_token(request, rows[-1].number) if more else "",
        )

    async def GetOpponents(self, request: ladder_pb2.GetOpponentsRequest, _: Call) -> ladder_pb2.GetOpponentsResponse:
        """Return a bot's results against each other bot."""
        named = await self._named(request)
        limit, last = row_limit(request), request.last if request.HasField("last") else LAST
        if not 1 <= last <= LAST:
            raise CallRefused(grpc.StatusCode.INVALID_ARGUMENT, f"last is 1 to {LAST}, not {last}")
        after = page_offset(request)
        rows, more = cut(await read(self._arena, opponents, request.bot, named.id, limit + 1, after, last), limit)
        return ladder_pb2.GetOpponentsResponse(
            opponents=[pack(row, ladder_pb2.OpponentEntry) for row in rows],
            next_page_token=page_token(request, after + limit) if more else "",
        )

    async def ListMatches(self, request: matches_pb2.ListMatchesRequest, _: Call) -> matches_pb2.ListMatchesResponse:
        """List matches, newest first."""
        limit, before = row_limit(request), page_number(request)
        game, ladder_id = await self._wanted(request)
        wanted = MatchFilter(
            game=game,
            ladder_id=ladder_id,
            bot=request.bot,
            opponent=request.opponent,
            seats=request.seats,
            since=_instant(request, "since"),
            until=_instant(request, "until"),
            faults=request.faults,
            lost=request.lost,
            state=_state(request.state),
        )
        page = await read(self._arena, match_search.search, wanted, limit + 1, before)
        rows, more = cut(page.matches, limit)
        further = rows[-1].match_id if more else page.next
        return matches_pb2.ListMatchesResponse(
            matches=[pack(row, matches_pb2.MatchEntry) for row in rows],
            next_page_token="" if further is None else page_token(request, further),
        )

    async def GetMatch(self, request: matches_pb2.GetMatchRequest, _: Call) -> matches_pb2.GetMatchResponse:
        """Return one match, with its finished rounds if it is still running."""
        number = min(request.match_id, LARGEST_NUMBER)
        live = self._arena.live.get(number)
        row = await read(self._arena, matches.get_match, number)
        response = matches_pb2.GetMatchResponse(match=pack(row, matches_pb2.MatchEntry))
        if live is not None and row.state is MatchState.PLAYING:
            for report in live.rounds:
                response.rounds.add().MergeFromString(encode_report(number, report))
        return response

    async def WatchMatches(
        self,
        request: matches_pb2.WatchMatchesRequest,
        stream: Stream[object, matches_pb2.WatchMatchesResponse],
    ) -> None:
        """Stream the events of matches."""
        bot, match_id = "", None
        game, ladder_id = await self._wanted(request)
        if request.HasField("bot"):
            bot = (await read(self._arena, bots.known, request.bot)).name
        if request.HasField("match_id"):
            match_id = min(request.match_id, LARGEST_NUMBER)

        def wants(match: LiveMatch) -> bool:
            return (
                (not game or match.game == game)
                and (not ladder_id or match.ladder_id == ladder_id)
                and (not bot or bot in match.bots)
                and (match_id is None or match.match_id == match_id)
            )

        filtered = bool(game or ladder_id or bot or match_id is not None)
        await self._watching.watch(wants if filtered else None, stream)

    async def GetReplay(
        self, request: matches_pb2.GetReplayRequest, stream: Stream[object, matches_pb2.GetReplayResponse]
    ) -> None:
        """Stream the replay file of a match in chunks."""
        number = min(request.match_id, LARGEST_NUMBER)
        content = await read(self._arena, matches.get_replay, number)
        for start in range(0, len(content), CHUNK):
            await send_within(stream, matches_pb2.GetReplayResponse(chunk=content[start : start + CHUNK]))

    async def _of_all_tables(self, named: NamedLadder) -> LadderRows:
        """Read the published ladder, with the changes since then."""
        ladder = await read(self._arena, standings.current, named.id, named.game.name)
        if (unfitted := self._arena.publisher.unfitted(named.id)) is not None:
            ladder = replace(ladder, not_fitted_since=instant(unfitted.since), not_fitted_reason=unfitted.why)
        return ladder

    async def _of_tables(self, named: NamedLadder, seats: int) -> LadderRows:
        """Fit a ladder from the matches at tables of one size only."""
        game = named.game
        if seats not in game.seats:
            text = f"{game.name} is played by {game.seats.start} to {game.seats.stop - 1}, not by {seats}"
            raise CallRefused(grpc.StatusCode.INVALID_ARGUMENT, text)
        try:
            ladder = await self._arena.publisher.of_tables(named.id, seats)
        except NotFitted as error:
            raise refused(grpc.StatusCode.UNAVAILABLE, "NOT_FITTED", str(error)) from error
        rows = await read(self._arena, standings.of_tables, named.id, game.name, seats, ladder)
        return replace(rows, published=instant(now_us()))

    async def _named(self, request: OfLadder) -> NamedLadder:
        """Return the season of the ladder that a request names.

        Raises:
            CallRefused: there is no such season.
        """
        if request.game or not (request.ladder or request.season):
            self._game(request.game)
        if request.ladder and request.ladder not in self._games:
            text = f"this server has no ladder {request.ladder[:60]!r}; it has {', '.join(self._games)}"
            raise CallRefused(grpc.StatusCode.NOT_FOUND, text)
        known = {name: game.name for name, game in self._games.items()}
        season = await read(self._arena, seasons.resolve, known, request.game, request.ladder, request.season)
        return NamedLadder(season.id, self._games[season.ladder])

    async def _wanted(
        self, request: matches_pb2.ListMatchesRequest | matches_pb2.WatchMatchesRequest
    ) -> tuple[str, str]:
        """Return the requested game and ladder id as filters for matches. Each is empty without a restriction.

        Raises:
            CallRefused: there is no such game or ladder.
        """
        if request.HasField("ladder") or request.HasField("season"):
            return "", (await self._named(request)).id
        return self._game(request.game).name if request.HasField("game") else "", ""

    def _game(self, name: str) -> Game:
        for game in self._arena.config.games:
            if game.name == name:
                return game
        played = ", ".join(game.name for game in self._arena.config.games)
        raise CallRefused(grpc.StatusCode.NOT_FOUND, f"this server does not play {name!r}; it plays {played}")


def _instant(request: matches_pb2.ListMatchesRequest, field: Literal["since", "until"]) -> int | None:
    """Return a time from a request in microseconds since 1970, or None if it is absent.

    Raises:
        CallRefused: the time is invalid.
    """
    if not request.HasField(field):
        return None
    try:
        at: int = getattr(request, field).ToMicroseconds()
    except ValueError as error:
        raise CallRefused(grpc.StatusCode.INVALID_ARGUMENT, f"{field}: {error}") from error
    return max(0, min(at, LARGEST_NUMBER))


def _state(number: int) -> MatchState | None:
    """Return the state that a request names, or None.

    Raises:
        CallRefused: the state is unknown.
    """
    try:
        return member(MatchState, matches_pb2.MatchState.DESCRIPTOR, number) if number else None
    except UnknownValueError as error:
        text = f"there is no state {number} of a match"
        raise CallRefused(grpc.StatusCode.INVALID_ARGUMENT, text) from error


class EventService:
    """Servicer of the gRPC service `EventService`. Refusals raise CallRefused."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._turn = trio.Lock()
        """Lock held while an event is read, because its standings are expensive to compute."""
        self._known: dict[str, tuple[float, events_pb2.GetEventResponse]] = {}
        """Cached events, each with the time at which it was read."""

    async def ListEvents(self, request: events_pb2.ListEventsRequest, _: Call) -> events_pb2.ListEventsResponse:
        """Return a page of the list of events."""
        limit, before = row_limit(request), page_number(request)
        rows, more = cut(await read(self._arena, event_rows, limit + 1, before), limit)
        return events_pb2.ListEventsResponse(
            events=map(encode_event, rows), next_page_token=page_token(request, rows[-1].number) if more else ""
        )

    async def GetEvent(self, request: events_pb2.GetEventRequest, _: Call) -> events_pb2.GetEventResponse:
        """Return an event without its tables."""
        async with self._turn:
            oldest = trio.current_time() - EVENT_AGE
            self._known = {name: each for name, each in self._known.items() if each[0] > oldest}
            if request.name not in self._known:
                found = await read(self._arena, event_head, request.name)
                self._known[request.name] = trio.current_time(), encode_event_head(found)
            return self._known[request.name][1]

    async def ListEventTables(
        self, request: events_pb2.ListEventTablesRequest, _: Call
    ) -> events_pb2.ListEventTablesResponse:
        """Return a page of the tables of an event."""
        limit, first = row_limit(request), page_offset(request)
        rows, more = cut(await read(self._arena, event_tables, request.name, first, limit + 1), limit)
        return events_pb2.ListEventTablesResponse(
            tables=map(encode_event_table, rows), next_page_token=page_token(request, first + limit) if more else ""
        )

    async def GetEventBundle(
        self, request: events_pb2.GetEventBundleRequest, stream: Stream[object, events_pb2.GetEventBundleResponse]
    ) -> None:
        """Stream the bundle of a finished event in chunks."""
        for part in await read(self._arena, bundle_parts, request.name):
            content = (await read(self._arena, part)).encode()
            for start in range(0, len(content), CHUNK):
                await send_within(stream, events_pb2.GetEventBundleResponse(chunk=content[start : start + CHUNK]))


class LogService:
    """Servicer of the gRPC service `LogService`. Refusals raise CallRefused."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def GetLog(self, _: log_pb2.GetLogRequest, __: Call) -> log_pb2.GetLogResponse:
        """Return the current log."""
        state = await read(self._arena, log.state)
        if state is None:
            raise CallRefused(grpc.StatusCode.NOT_FOUND, "this server has no log of results")
        return log_pb2.GetLogResponse(log=pack(state, log_pb2.LogState))

    async def GetConsistency(self, request: log_pb2.GetConsistencyRequest, _: Call) -> log_pb2.GetConsistencyResponse:
        """Return the proof that an earlier log is a prefix of a later one."""
        first, second = min(request.first, LARGEST_NUMBER), min(request.second, LARGEST_NUMBER)
        try:
            proof = await read(self._arena, log.consistency, first, second)
        except ValueError as error:
            raise CallRefused(grpc.StatusCode.INVALID_ARGUMENT, str(error)) from error
        return log_pb2.GetConsistencyResponse(proof=proof)

    async def ListEntries(self, request: log_pb2.ListEntriesRequest, _: Call) -> log_pb2.ListEntriesResponse:
        """Return the log's entries about a match."""
        number = min(request.match_id, LARGEST_NUMBER)
        found = await read(self._arena, log.entries, number)
        return log_pb2.ListEntriesResponse(entries=[pack(each, log_pb2.LogEntry) for each in found])


class StatusService:
    """Servicer of the gRPC service `StatusService`. Refusals raise CallRefused."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def GetStatus(self, _: status_pb2.GetStatusRequest, __: Call) -> status_pb2.GetStatusResponse:
        """Return the queue, matches and standings of each ladder."""
        arena = self._arena
        status = status_pb2.GetStatusResponse(
            server=__version__,
            compiled=build.kind() == "compiled",
            draining=arena.stopping.is_set(),
            bots=len(arena.players.sessions()),
            watchers=arena.live.watchers,
        )
        status.started.FromMicroseconds(arena.started)
        for ladder in arena.config.ladders:
            game, ladder_id = ladder.game.name, arena.ladder_ids[ladder.name]
            published = await read(arena, published_at, ladder_id)
            unfitted = arena.publisher.unfitted(ladder_id)
            entry = (status.ladders if ladder.further_name else status.games).add(
                game=game,
                waiting=arena.matchmaker.waiting[ladder.name],
                playing=arena.live.playing(ladder.name),
                ended=arena.live.ended(ladder.name),
                unfitted_results=arena.publisher.news(ladder_id),
                not_fitted_reason="" if unfitted is None else unfitted.why,
            )
            entry.ladder, entry.season = seasons.named(ladder_id, game)
            if published is not None:
                entry.published.FromMicroseconds(published)
        return status
