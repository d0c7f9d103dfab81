"""The gRPC client of a running server: queries, and the changes that bot authors and the operator may make."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import datetime
from functools import partial
from itertools import islice
from math import inf
from pathlib import Path
from typing import Any, Final, TypeVar, cast
from urllib.parse import quote

import grpc
from arena_client.descriptors import pool_of, unpacked
from arena_client.errors import ProtocolMismatchError
from arena_client.v1 import (
    bots_pb2,
    bots_pb2_grpc,
    events_pb2,
    events_pb2_grpc,
    game_pb2,
    game_pb2_grpc,
    ladder_pb2,
    ladder_pb2_grpc,
    log_pb2,
    log_pb2_grpc,
    matches_pb2,
    matches_pb2_grpc,
    operator_pb2,
    operator_pb2_grpc,
    status_pb2,
    status_pb2_grpc,
)
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message import Message
from google.rpc import error_details_pb2
from google.rpc import status_pb2 as rpc_status_pb2

from arena.log.head import LogEntry, LogHead, LogState
from arena.protobuf.rows import UnknownValueError, member, unpack
from arena.queries.live import RoundRow, StatusRow, Watch, round_row
from arena.queries.source import DataSource
from arena.store.base.errors import Refused, UnknownBot
from arena.store.base.rows import (
    BotEventRow,
    BotRow,
    DrainRow,
    EventRow,
    EventState,
    InvitationRow,
    LadderEntryRow,
    LadderRows,
    MatchRow,
    MatchState,
    OpponentRow,
    PastLadder,
    RatedRow,
    VersionRow,
)
from arena.store.bots.entry import NewInvitations
from arena.store.matches.contests import EventPlan
from arena.store.matches.search import MatchFilter, MatchPage

T = TypeVar("T")
CALL_TIMEOUT: Final = 10.0
"""Time limit of a call in seconds."""
CHALLENGE_TIMEOUT: Final = 60.0
"""Time limit of a challenge in seconds. Up to half a minute passes until all bots have free capacity, and more until
all are ready.
"""
PAGE: Final = 1000
"""Number of rows per request when all rows of a list are needed."""
LADDER_TRIES: Final = 3
"""Number of attempts to read all pages of a ladder. An attempt fails if the server publishes a newer version of the
ladder in the meantime.
"""
FIT_TIMEOUT: Final = 120.0
"""Time limit in seconds of a call for which the server computes a ladder."""
BUNDLE_TIMEOUT: Final = 600.0
"""Time limit, in seconds, of the call that streams the bundle of an event."""
EVENTS: Final = "events"
"""Name of the calls that older servers lack, for the error about such a server."""
OPTIONS: Final = (
    ("grpc.enable_retries", 0),
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.keepalive_time_ms", 10_000),  # There is no time limit on watching a drain.
    ("grpc.http2.ping_timeout_ms", 10_000),
)


class NoAnswer(Exception):  # noqa: N818 - the name says what is the matter
    """No server answers at an address."""


class LateAnswer(NoAnswer):
    """A server does not answer in time, or not yet because this client's address has sent too many calls."""


class Declined(Refused):
    """A server refuses a request. The message states the reason."""


def at_socket(path: Path) -> str:
    """Return gRPC's name for the Unix socket at a path, with special characters escaped."""
    return f"unix:{quote(str(path))}"


@contextmanager
def connect(address: str, tls: bool = False, roots: bytes | None = None) -> Iterator[Client]:
    """Open a client of the server at "host:port". Its methods raise NoAnswer or Declined.

    With `tls`, or with `roots` (PEM certificates to trust instead of the system's), the connection is encrypted.
    """
    if tls or roots is not None:
        channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(roots), OPTIONS)
    else:
        channel = grpc.insecure_channel(address, OPTIONS)
    with channel:
        yield Client(address, channel)


class Client(DataSource):
    """A gRPC client of one server. Its methods raise NoAnswer or Declined."""

    def __init__(self, address: str, channel: grpc.Channel) -> None:
        self._address = address
        self._described: DescriptorPool | None = None
        self._games = game_pb2_grpc.GameServiceStub(channel)
        self._bots = bots_pb2_grpc.BotServiceStub(channel)
        self._events = events_pb2_grpc.EventServiceStub(channel)
        self._ladder = ladder_pb2_grpc.LadderServiceStub(channel)
        self._log = log_pb2_grpc.LogServiceStub(channel)
        self._status = status_pb2_grpc.StatusServiceStub(channel)
        self._matches = matches_pb2_grpc.MatchServiceStub(channel)
        self._operator = operator_pb2_grpc.OperatorServiceStub(channel)

    def games(self) -> tuple[str, ...]:
        return tuple(game.name for game in self._call(self._games.ListGames, game_pb2.ListGamesRequest()).games)

    def ladders(self) -> tuple[LadderEntryRow, ...]:
        with self._translated_errors():
            answer = self._ladder.ListLadders(ladder_pb2.ListLaddersRequest(), timeout=CALL_TIMEOUT)
            return tuple(
                unpack(each, LadderEntryRow, soft_limit_ms=each.conduct.soft_limit_ms, bank_ms=each.conduct.bank_ms)
                for each in answer.ladders
            )

    def ladder(self, game: str = "", seats: int = 0, ladder: str = "", season: int = 0) -> LadderRows:
        request = ladder_pb2.GetLadderRequest(game=game, seats=seats or None, limit=PAGE, ladder=ladder, season=season)
        with self._translated_errors():
            answer = _whole(self._ladder.GetLadder, request, FIT_TIMEOUT if seats else CALL_TIMEOUT)
            found = unpack(answer, LadderRows, seats=seats)
        # This ladder is computed for the call and was never published.
        return replace(found, published=None) if seats else found

    def past_ladder(self, game: str, at: datetime, ladder: str = "", season: int = 0) -> PastLadder:
        request = ladder_pb2.GetPastLadderRequest(game=game, limit=PAGE, ladder=ladder, season=season)
        request.at.FromDatetime(at)
        with self._translated_errors():
            return unpack(_whole(self._ladder.GetPastLadder, request, CALL_TIMEOUT), PastLadder)

    def history(
        self, bot: str, game: str = "", limit: int = 1000, ladder: str = "", season: int = 0
    ) -> tuple[RatedRow, ...]:
        request = ladder_pb2.GetHistoryRequest(game=game, bot=bot, limit=limit, ladder=ladder, season=season)
        return tuple(unpack(match, RatedRow) for match in self._call(self._ladder.GetHistory, request, bot=bot).matches)

    def versions(
        self, bot: str, game: str = "", limit: int = 1000, ladder: str = "", season: int = 0
    ) -> tuple[VersionRow, ...]:
        request = ladder_pb2.ListVersionsRequest(game=game, bot=bot, limit=limit, ladder=ladder, season=season)
        found = self._call(self._ladder.ListVersions, request, bot=bot).versions
        return tuple(unpack(version, VersionRow) for version in found)

    def opponents(
        self,
        bot: str,
        game: str = "",
        limit: int = 50,
        after: int = 0,
        last: int = 1000,
        ladder: str = "",
        season: int = 0,
    ) -> tuple[OpponentRow, ...]:
        request = ladder_pb2.GetOpponentsRequest(
            game=game, bot=bot, limit=min(after + limit, PAGE), last=last, ladder=ladder, season=season
        )
        with self._translated_errors(bot):
            found = (each for page in _pages(self._ladder.GetOpponents, request) for each in page.opponents)
            return tuple(unpack(opponent, OpponentRow) for opponent in islice(found, after, after + limit))

    def all_matches(
        self, game: str = "", bot: str = "", before: int | None = None, ladder: str = "", season: int = 0
    ) -> Iterator[MatchRow]:
        with self._translated_errors():
            yield from self._found(MatchFilter(game=game, bot=bot), PAGE, before, ladder, season)

    def search(
        self, wanted: MatchFilter, limit: int = 50, before: int | None = None, ladder: str = "", season: int = 0
    ) -> MatchPage:
        with self._translated_errors():
            found = tuple(islice(self._found(wanted, limit, before, ladder, season), limit))
        return MatchPage(found, found[-1].match_id if len(found) == limit else None)

    def _found(
        self, wanted: MatchFilter, limit: int, before: int | None, ladder: str, season: int
    ) -> Iterator[MatchRow]:
        """Yield the wanted matches with numbers below `before`, newest first. Each request asks for `limit` matches."""
        request = matches_pb2.ListMatchesRequest(
            game=wanted.game or None,
            bot=wanted.bot or None,
            opponent=wanted.opponent or None,
            seats=wanted.seats or None,
            faults=wanted.faults,
            lost=wanted.lost,
            state=matches_pb2.MatchState.Value(f"MATCH_STATE_{wanted.state.name if wanted.state else 'UNSPECIFIED'}"),
            limit=limit,
            ladder=ladder or None,
            season=season or None,
        )
        if wanted.since is not None:
            request.since.FromMicroseconds(wanted.since)
        until = [each for each in (wanted.until, self._begun_by(before)) if each is not None]
        if until:
            request.until.FromMicroseconds(min(until))
        for page in _pages(self._matches.ListMatches, request):
            for match in page.matches:
                if before is None or match.match_id < before:
                    yield unpack(match, MatchRow)

    def _begun_by(self, before: int | None) -> int | None:
        """Return a time by which all matches with numbers below `before` had started, in microseconds since 1970; None
        if the match `before` does not exist.

        Matches are numbered in the order in which they start.
        """
        if before is None:
            return None
        try:
            answer = self._matches.GetMatch(matches_pb2.GetMatchRequest(match_id=before), timeout=CALL_TIMEOUT)
        except grpc.RpcError as error:
            if cast("grpc.Call", error).code() is grpc.StatusCode.NOT_FOUND:
                return None
            raise
        return int(answer.match.started.ToMicroseconds()) + 1

    def match(self, match_id: int) -> tuple[MatchRow, tuple[RoundRow, ...]]:
        with self._translated_errors():
            answer = self._matches.GetMatch(matches_pb2.GetMatchRequest(match_id=match_id), timeout=CALL_TIMEOUT)
            return unpack(answer.match, MatchRow), tuple([round_row(each, self._read) for each in answer.rounds])

    def _read(self, packed: AnyMessage) -> Message | None:
        """Return the message in an `Any`, parsed with the descriptors in the server's catalogues; None if these do not
        describe it.
        """
        try:
            if self._described is None:
                answer = self._games.ListGames(game_pb2.ListGamesRequest(), timeout=CALL_TIMEOUT)
                self._described = pool_of(answer.games)
            return unpacked(packed, self._described)
        except ProtocolMismatchError:
            return None

    def status(self) -> StatusRow:
        """Return the server's status."""
        return unpack(self._call(self._status.GetStatus, status_pb2.GetStatusRequest()), StatusRow)

    @contextmanager
    def watch(self) -> Iterator[Watch]:
        """Yield a stream of the events of all matches, which ends with the `with` block."""
        with self._translated_errors():
            watch = Watch(self._matches.WatchMatches(matches_pb2.WatchMatchesRequest()), self._read)
            try:
                yield watch
            finally:
                watch.cancel()

    def bots(self) -> tuple[BotRow, ...]:
        request = bots_pb2.ListBotsRequest(limit=PAGE)
        with self._translated_errors():
            return tuple(unpack(bot, BotRow) for page in _pages(self._bots.ListBots, request) for bot in page.bots)

    def bot_events(self, limit: int = 50, before: int | None = None) -> tuple[BotEventRow, ...]:
        request = bots_pb2.ListBotEventsRequest(limit=limit if before is None else PAGE)
        with self._translated_errors():
            listed = (event for page in _pages(self._bots.ListBotEvents, request) for event in page.events)
            older = (event for event in listed if before is None or event.number < before)
            return tuple(unpack(event, BotEventRow) for event in islice(older, limit))

    def invite(self, new: NewInvitations, operator_token: str) -> tuple[tuple[str, str], ...]:
        """Create invitations. Return pairs of an owner and the invitation's code."""
        request = operator_pb2.CreateInvitationsRequest(
            owner=new.owner, owner_prefix=new.prefix, count=new.count, ladder=new.ladder
        )
        if new.expires is not None:
            request.expires.seconds = new.expires // 1_000_000  # The server refuses an invalid time.
        made = self._call(self._operator.CreateInvitations, request, operator_token).invitations
        return tuple((each.owner, each.invitation) for each in made)

    def invitations(self, operator_token: str) -> tuple[InvitationRow, ...]:
        """Return all invitations, in the order of their numbers."""
        call = partial(self._operator.ListInvitations, metadata=_authorization(operator_token))
        with self._translated_errors():
            pages = _pages(call, operator_pb2.ListInvitationsRequest(limit=PAGE))
            return tuple(unpack(each, InvitationRow) for page in pages for each in page.invitations)

    def revoke_invitation(self, number: int, operator_token: str) -> None:
        """Revoke an invitation that no bot has used."""
        request = operator_pb2.RevokeInvitationRequest(number=number)
        self._call(self._operator.RevokeInvitation, request, operator_token)

    def join(self, ladder: str, invitation: str, token: str) -> None:
        """Let the bot with this token enter a ladder with an invitation."""
        self._call(self._bots.JoinLadder, bots_pb2.JoinLadderRequest(ladder=ladder, invitation=invitation), token)

    def create_event(self, plan: EventPlan, entrants: Sequence[str], operator_token: str) -> None:
        """Announce an event."""
        request = operator_pb2.CreateEventRequest(
            name=plan.name,
            ladder=plan.ladder,
            seats=plan.seats,
            everyone=plan.format == "all",
            matches=plan.matches or 0,
            seconds=plan.seconds or 0,
            invited=plan.entry == "invited",
            entrants=entrants,
        )
        request.start.FromMicroseconds(plan.start)
        self._call(self._operator.CreateEvent, request, operator_token)

    def start_event(self, name: str, operator_token: str) -> None:
        """Start an event at once."""
        self._call(self._operator.StartEvent, operator_pb2.StartEventRequest(name=name), operator_token)

    def cancel_event(self, name: str, reason: str, operator_token: str) -> None:
        """Cancel an event that has not started."""
        request = operator_pb2.CancelEventRequest(name=name, reason=reason)
        self._call(self._operator.CancelEvent, request, operator_token)

    def enter_event(self, event: str, bot: str, token: str) -> None:
        """Enter a bot into an event, with its token or the operator's."""
        self._call(self._bots.EnterEvent, bots_pb2.EnterEventRequest(event=event, bot=bot), token)

    def begin_season(self, ladder: str, operator_token: str) -> int:
        """Start the next season of a ladder. Return its number."""
        request = operator_pb2.BeginSeasonRequest(ladder=ladder)
        return self._call(self._operator.BeginSeason, request, operator_token).season

    def challenge(self, opponents: Sequence[str], game: str, token: str, ladder: str = "") -> int:
        """Challenge other bots in the name of the bot with this token, by default on the game's default ladder.

        Return the number of the match when the match starts.
        """
        request = bots_pb2.ChallengeBotsRequest(opponents=opponents, game=game, ladder=ladder)
        return int(self._call(self._bots.ChallengeBots, request, token, timeout=CHALLENGE_TIMEOUT).match_id)

    def unpark(self, bot: str, token: str) -> None:
        """Resume a parked bot. `token` is the bot's or the operator's."""
        self._call(self._bots.UnparkBot, bots_pb2.UnparkBotRequest(name=bot), token, bot)

    def rotate(self, bot: str, token: str) -> str:
        """Replace a bot's token and return the new one. `token` is the bot's current token or the operator's."""
        return self._call(self._bots.RotateToken, bots_pb2.RotateTokenRequest(name=bot), token, bot).token

    def revoke(self, bot: str, token: str) -> None:
        """Revoke a bot's token. `token` is that token or the operator's."""
        self._call(self._bots.RevokeToken, bots_pb2.RevokeTokenRequest(name=bot), token, bot)

    def drain(self, limit: float | None, operator_token: str) -> Iterator[DrainRow]:
        """Drain the server and yield its progress. In the last row, `done` is true.

        `limit`: in seconds; None for the server's own limit.
        """
        request = operator_pb2.DrainRequest(limit_ms=None if limit is None else round(limit * 1000))
        with self._translated_errors():
            for answer in self._operator.Drain(request, metadata=_authorization(operator_token)):
                yield (row := unpack(answer, DrainRow))
                if row.done:
                    return

    def void(self, match_id: int, reason: str, operator_token: str) -> None:
        """Annul the result of a match. `reason` is public."""
        request = operator_pb2.VoidResultRequest(match_id=match_id, reason=reason)
        self._call(self._operator.VoidResult, request, operator_token)

    def void_results(self, bot: str, since: int, reason: str, operator_token: str) -> list[int]:
        """Annul the results of a bot that were stored since a time, in microseconds since 1970. Return their
        matches.
        """
        request = operator_pb2.VoidResultsRequest(bot=bot, reason=reason)
        request.since.FromMicroseconds(since)
        voided: list[int] = []
        while found := self._call(self._operator.VoidResults, request, operator_token, bot).match_ids:
            voided += found
            request.after = voided[-1]
        return voided

    def decide(self, decision: str, operator_token: str, **fields: str) -> None:
        """Make a decision about an owner or a bot. `fields`: the fields of its request; `reason` is public."""
        decisions: dict[str, tuple[Callable[..., object], type[Message]]] = {
            "ban": (self._operator.BanOwner, operator_pb2.BanOwnerRequest),
            "unban": (self._operator.UnbanOwner, operator_pb2.UnbanOwnerRequest),
            "hide": (self._operator.HideBot, operator_pb2.HideBotRequest),
            "show": (self._operator.ShowBot, operator_pb2.ShowBotRequest),
            "delete": (self._operator.DeleteBot, operator_pb2.DeleteBotRequest),
            "rename": (self._operator.RenameBot, operator_pb2.RenameBotRequest),
        }
        call, request = decisions[decision]
        self._call(call, request(**fields), operator_token, fields.get("name", ""))

    def events(self, limit: int = 50, before: int | None = None) -> tuple[EventRow, ...]:
        request = events_pb2.ListEventsRequest(limit=limit if before is None else PAGE)
        with self._translated_errors(since=EVENTS):
            listed = (event for page in _pages(self._events.ListEvents, request) for event in page.events)
            older = (event for event in listed if before is None or event.number < before)
            return tuple(_event_row(event) for event in islice(older, limit))

    def event(self, name: str) -> dict[str, Any]:
        tables_of = events_pb2.ListEventTablesRequest(name=name, limit=PAGE)
        with self._translated_errors(since=EVENTS):
            answer = self._events.GetEvent(events_pb2.GetEventRequest(name=name), timeout=FIT_TIMEOUT)
            tables = [each for page in _pages(self._events.ListEventTables, tables_of) for each in page.tables]
            return _event_document(answer, tables)

    def event_bundle(self, name: str) -> Iterator[bytes]:
        with self._translated_errors(since=EVENTS):
            pieces = self._events.GetEventBundle(events_pb2.GetEventBundleRequest(name=name), timeout=BUNDLE_TIMEOUT)
            for piece in pieces:
                yield piece.chunk

    def replay(self, match_id: int) -> bytes:
        with self._translated_errors():
            pieces = self._matches.GetReplay(matches_pb2.GetReplayRequest(match_id=match_id), timeout=CALL_TIMEOUT)
            return b"".join(piece.chunk for piece in pieces)

    def log_state(self) -> LogState:
        log = self._call(self._log.GetLog, log_pb2.GetLogRequest()).log
        return LogState(tuple(log.keys), _head(log.head), tuple(map(_entry, log.restores)))

    def log_entries(self, match_id: int) -> tuple[LogEntry, ...]:
        request = log_pb2.ListEntriesRequest(match_id=match_id)
        return tuple(map(_entry, self._call(self._log.ListEntries, request).entries))

    def log_consistency(self, first: int, second: int) -> tuple[bytes, ...]:
        request = log_pb2.GetConsistencyRequest(first=first, second=second)
        return tuple(self._call(self._log.GetConsistency, request).proof)

    def _call(
        self, call: Callable[..., T], request: Message, token: str = "", bot: str = "", timeout: float = CALL_TIMEOUT
    ) -> T:
        with self._translated_errors(bot):
            return call(request, timeout=timeout, metadata=_authorization(token) if token else None)

    @contextmanager
    def _translated_errors(self, bot: str = "", since: str = "") -> Iterator[None]:
        """Translate gRPC errors and unknown values to NoAnswer and Declined, and to UnknownBot for the named bot.

        `since`: the name of calls that older servers lack; empty for calls of every server.
        """
        try:
            yield
        except UnknownValueError as error:
            text = f"the arena at {self._address} is newer than this program, which does not know {error}"
            raise Declined(f"{text}; update the program") from error
        except grpc.RpcError as error:
            call = cast("grpc.Call", error)  # grpc raises the call object itself.
            text = " ".join((call.details() or "no reason given").split())
            # The text lists every address tried. The last entry states the reason.
            if text.startswith("failed to connect"):
                text = text.rpartition(": ")[2].partition(" (")[0]
            match call.code():
                case grpc.StatusCode.UNAVAILABLE:
                    raise NoAnswer(f"no arena answers at {self._address} ({text})") from error
                case grpc.StatusCode.DEADLINE_EXCEEDED:
                    raise LateAnswer(f"the arena at {self._address} did not answer in time; try again") from error
                case grpc.StatusCode.NOT_FOUND if bot and _reason(call) == "UNKNOWN_BOT":
                    raise UnknownBot(bot) from error
                case grpc.StatusCode.UNIMPLEMENTED if since:
                    text = f"the arena at {self._address} is older than this program and does not answer about {since}"
                    raise Declined(f"{text}: update the server, or read its data directory with --data") from error
                case grpc.StatusCode.UNIMPLEMENTED:
                    raise Declined(f"what answers at {self._address} is no arena, or one of another version") from error
                case grpc.StatusCode.RESOURCE_EXHAUSTED if _reason(call) == "OVER_BUDGET":
                    raise LateAnswer(text) from error
                case _:
                    raise Declined(text) from error


def _pages(call: Callable[..., Any], request: Any, timeout: float = CALL_TIMEOUT) -> Iterator[Any]:
    """Yield the pages of a list one after the other, each when it is needed."""
    while True:
        page = call(request, timeout=timeout)
        yield page
        if not page.next_page_token:
            return
        request.page_token = page.next_page_token


def _whole(call: Callable[..., Any], request: Any, timeout: float) -> Any:
    """Return all pages of a ladder as one. If the server replaces the ladder meanwhile, start again with the first
    page.
    """
    for further_tries in reversed(range(LADDER_TRIES)):
        request.ClearField("page_token")
        pages = _pages(call, request, timeout)
        try:
            answer = next(pages)
            for page in pages:
                answer.MergeFrom(page)
        except grpc.RpcError as error:
            if not further_tries or _reason(cast("grpc.Call", error)) != "PAGE_TOKEN_NOT_VALID":
                raise
        else:
            break
    return answer


def _reason(call: grpc.Call) -> str:
    """Return the reason in the error details of a call, or an empty text."""
    packed = dict(call.trailing_metadata() or ()).get("grpc-status-details-bin", b"")
    info = error_details_pb2.ErrorInfo()
    for detail in rpc_status_pb2.Status.FromString(packed).details:
        if detail.Unpack(info):
            return str(info.reason)
    return ""


def _event_row(message: events_pb2.EventSummary) -> EventRow:
    return unpack(
        message,
        EventRow,
        format="all" if message.everyone else "race",
        entry="invited" if message.invited else "open",
        state=member(EventState, events_pb2.EventState.DESCRIPTOR, message.state).value,
    )


def _event_document(message: events_pb2.GetEventResponse, tables: Sequence[events_pb2.EventTable]) -> dict[str, Any]:
    """Return an event as `arena.store.matches.event_documents.event_document` does."""
    result = {
        "decided": message.result.decided,
        "winner": message.result.winner or None,
        "matches": message.result.matches,
        "standings": [_values(each) for each in message.result.standings],
        "looks": [
            _values(each) | {"means": [None if mean == -inf else mean for mean in each.means]}
            for each in message.result.looks
        ],
    }
    return {
        "event": _event_row(message.event),
        "reason": message.reason,
        "entrants": [_values(each) for each in message.entrants],
        "earlier": _values(message.earlier),
        "rounds": message.rounds,
        "tables": [
            _values(each) | {"state": member(MatchState, matches_pb2.MatchState.DESCRIPTOR, each.state).value}
            for each in tables
        ],
        "leaves": [*message.leaves],
        "result": result if message.HasField("result") else None,
    }


def _values(message: Message) -> dict[str, Any]:
    """Return the fields of a message that has no nested messages. Absent fields are None."""
    found = {}
    for field in message.DESCRIPTOR.fields:
        value = getattr(message, field.name)
        absent = field.has_presence and not message.HasField(field.name)
        found[field.name] = None if absent else [*value] if field.is_repeated else value
    return found


def _entry(message: log_pb2.LogEntry) -> LogEntry:
    return LogEntry(message.number, message.leaf, _head(message.head), tuple(message.proof))


def _head(message: log_pb2.LogHead) -> LogHead:
    return LogHead(message.size, message.root, message.signature)


def _authorization(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)
