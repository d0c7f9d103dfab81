"""What programs of the house ask a running server: what is there, and what bots and the operator may change."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Final, cast

import grpc

from arena.v1 import (
    bots_pb2,
    bots_pb2_grpc,
    game_pb2,
    game_pb2_grpc,
    ladder_pb2,
    ladder_pb2_grpc,
    matches_pb2,
    matches_pb2_grpc,
    operator_pb2,
    operator_pb2_grpc,
)
from arena.wire.rows import BotRow, DrainRow, LadderRow, LadderRows, LuckRow, MatchRow, MatchState, RatedRow, SeatRow

if TYPE_CHECKING:
    from google.protobuf.timestamp_pb2 import Timestamp

PATIENCE: Final = 10.0
"""Seconds a call may take."""
FIT_PATIENCE: Final = 120.0
"""Seconds a ladder may take that has to be computed."""
OPTIONS: Final = (
    ("grpc.enable_retries", 0),
    ("grpc.max_receive_message_length", 64 << 20),
    ("grpc.keepalive_time_ms", 10_000),  # a drain is watched for as long as it takes
    ("grpc.http2.ping_timeout_ms", 10_000),
)
STATE: Final = {matches_pb2.MatchState.Value(f"MATCH_STATE_{state.name}"): state for state in MatchState}


class NoAnswer(Exception):  # noqa: N818 - the name says what is the matter
    """No server answers at the address."""


class Declined(Exception):  # noqa: N818 - the name says what is the matter
    """The server answers, but does not do what was asked; the message says why."""


@contextmanager
def connect(address: str, tls: bool = False, roots: bytes | None = None) -> Iterator[Client]:
    """A client of the server at "host:port".

    With `tls` or `roots` (certificate authorities to trust instead of the system's, PEM) the line is encrypted. What
    the client raises is NoAnswer or Declined.
    """
    if tls or roots is not None:
        channel = grpc.secure_channel(address, grpc.ssl_channel_credentials(roots), OPTIONS)
    else:
        channel = grpc.insecure_channel(address, OPTIONS)
    with channel:
        yield Client(address, channel)


class Client:
    """An open line to a server."""

    def __init__(self, address: str, channel: grpc.Channel) -> None:
        self._address = address
        self._games = game_pb2_grpc.GameServiceStub(channel)
        self._bots = bots_pb2_grpc.BotServiceStub(channel)
        self._ladder = ladder_pb2_grpc.LadderServiceStub(channel)
        self._matches = matches_pb2_grpc.MatchServiceStub(channel)
        self._operator = operator_pb2_grpc.OperatorServiceStub(channel)

    def games(self) -> tuple[str, ...]:
        """The games it plays, by name."""
        with self._naming():
            answer = self._games.ListGames(game_pb2.ListGamesRequest(), timeout=PATIENCE)
        return tuple(game.name for game in answer.games)

    def ladder(self, game: str, seats: int = 0) -> LadderRows:
        """The ladder of a game, best first; with `seats` that of tables of this size alone, computed now."""
        request = ladder_pb2.GetLadderRequest(game=game, seats=seats)
        with self._naming():
            answer = self._ladder.GetLadder(request, timeout=FIT_PATIENCE if seats else PATIENCE)
        return LadderRows(
            game=answer.game,
            seats=seats,
            standings=tuple(map(_ladder_row, answer.standings)),
            through=answer.through,
            digest=answer.digest,
            published=_instant(answer.published) if answer.HasField("published") and not seats else None,
        )

    def history(self, bot: str, game: str, limit: int = 1000) -> tuple[RatedRow, ...]:
        """The last so many rated matches of a bot in a game, in the order they were rated; at most 10000."""
        request = ladder_pb2.GetHistoryRequest(game=game, bot=bot, limit=limit)
        with self._naming():
            answer = self._ladder.GetHistory(request, timeout=PATIENCE)
        return tuple(
            RatedRow(
                match=row.match_id,
                ended=_instant(row.ended),
                version=row.version,
                before=row.before,
                after=row.after,
                deviation=row.deviation,
                voided=row.voided,
            )
            for row in answer.matches
        )

    def matches(self, game: str = "", bot: str = "", limit: int = 50, before: int = 0) -> tuple[MatchRow, ...]:
        """The newest matches, newest first, as `arena.store.matches.list_matches`; at most 1000."""
        request = matches_pb2.ListMatchesRequest(game=game, bot=bot, limit=limit, before=before)
        with self._naming():
            answer = self._matches.ListMatches(request, timeout=PATIENCE)
        return tuple(map(_match, answer.matches))

    def bots(self) -> tuple[BotRow, ...]:
        """The bots, by name."""
        with self._naming():
            answer = self._bots.ListBots(bots_pb2.ListBotsRequest(), timeout=PATIENCE)
        return tuple(
            BotRow(
                bot=row.name,
                owner=row.owner,
                house=row.house,
                connected=row.connected,
                playing=row.playing,
                matches=row.matches,
                registered=_instant(row.registered),
                round_trip_ms=row.round_trip_ms if row.HasField("round_trip_ms") else None,
                parked=row.parked,
                version=row.version,
            )
            for row in answer.bots
        )

    def invite(self, owner: str, operator_token: str) -> str:
        """A new invitation for a bot of that owner."""
        request = bots_pb2.CreateInvitationRequest(owner=owner)
        with self._naming():
            right = _right(operator_token)
            return self._bots.CreateInvitation(request, timeout=PATIENCE, metadata=right).invitation

    def unpark(self, bot: str, token: str) -> None:
        """Has a parked bot given seats again; `token` is its own or the operator's."""
        with self._naming():
            self._bots.UnparkBot(bots_pb2.UnparkBotRequest(name=bot), timeout=PATIENCE, metadata=_right(token))

    def rotate(self, bot: str, token: str) -> str:
        """A new token for a bot; `token` is its present one or the operator's."""
        request = bots_pb2.RotateTokenRequest(name=bot)
        with self._naming():
            return self._bots.RotateToken(request, timeout=PATIENCE, metadata=_right(token)).token

    def revoke(self, bot: str, token: str) -> None:
        """Kills a bot's token; `token` is that or the operator's."""
        with self._naming():
            self._bots.RevokeToken(bots_pb2.RevokeTokenRequest(name=bot), timeout=PATIENCE, metadata=_right(token))

    def drain(self, limit: float | None, operator_token: str) -> Iterator[DrainRow]:
        """Has the server drain and tells how far it is; the last row is done. A limit in seconds, or its own."""
        request = operator_pb2.DrainRequest(limit_ms=None if limit is None else round(limit * 1000))
        with self._naming():
            for row in self._operator.Drain(request, metadata=_right(operator_token)):
                yield DrainRow(row.playing, row.done)
                if row.done:
                    return

    def void(self, match: int, reason: str, operator_token: str) -> None:
        """Takes the result of a match off the ladder."""
        request = operator_pb2.VoidResultRequest(match_id=match, reason=reason)
        with self._naming():
            self._operator.VoidResult(request, timeout=PATIENCE, metadata=_right(operator_token))

    def replay(self, match: int) -> bytes:
        """The replay file of a finished match."""
        with self._naming():
            pieces = self._matches.GetReplay(matches_pb2.GetReplayRequest(match_id=match), timeout=PATIENCE)
            return b"".join(piece.chunk for piece in pieces)

    @contextmanager
    def _naming(self) -> Iterator[None]:
        """Gives failures of gRPC the names of this module."""
        try:
            yield
        except grpc.RpcError as error:
            call = cast("grpc.Call", error)  # what grpc raises from a call is the call
            text = " ".join((call.details() or "no reason given").split())
            if text.startswith("failed to connect"):  # to this address and that one, over and over; the last says why
                text = text.rpartition(": ")[2].partition(" (")[0]
            match call.code():
                case grpc.StatusCode.UNAVAILABLE | grpc.StatusCode.DEADLINE_EXCEEDED:
                    raise NoAnswer(f"no arena answers at {self._address} ({text})") from error
                case grpc.StatusCode.UNIMPLEMENTED:
                    raise Declined(f"what answers at {self._address} is no arena, or one of another version") from error
                case _:
                    raise Declined(text) from error


def _right(token: str) -> tuple[tuple[str, str], ...]:
    return (("authorization", f"Bearer {token}"),)


def _ladder_row(row: ladder_pb2.Standing) -> LadderRow:
    return LadderRow(
        rank=row.rank,
        bot=row.bot,
        owner=row.owner,
        house=row.house,
        rating=row.rating,
        deviation=row.deviation,
        matches=row.matches,
        wins=row.wins,
        mean_rank=row.mean_rank,
        last_change=row.last_change,
        version=row.version,
        rank_low=row.rank_low,
        rank_high=row.rank_high,
        best=row.best if row.HasField("best") else None,
        opponents=row.opponents,
        provisional=row.provisional,
        live=row.live,
        live_deviation=row.live_deviation,
        forced_share=row.forced_share if row.HasField("forced_share") else None,
        think_95_us=row.think_95_us if row.HasField("think_95_us") else None,
        luck=_luck(row.luck) if row.HasField("luck") else None,
    )


def _luck(luck: ladder_pb2.Luck) -> LuckRow:
    return LuckRow(
        matches=luck.matches,
        plain=luck.plain,
        plain_error=luck.plain_error if luck.HasField("plain_error") else None,
        adjusted=luck.adjusted,
        adjusted_error=luck.adjusted_error if luck.HasField("adjusted_error") else None,
    )


def _match(row: matches_pb2.MatchEntry) -> MatchRow:
    return MatchRow(
        match=row.match_id,
        game=row.game,
        state=STATE[row.state],
        started=_instant(row.started),
        ended=_instant(row.ended) if row.HasField("ended") else None,
        reason=row.reason,
        seats=tuple(
            SeatRow(
                bot=seat.bot,
                score=seat.score if seat.HasField("score") else None,
                place=seat.place if seat.HasField("place") else None,
                rating_before=seat.rating_before if seat.HasField("rating_before") else None,
                rating_after=seat.rating_after if seat.HasField("rating_after") else None,
                forced=seat.forced,
                version=seat.version,
            )
            for seat in row.seats
        ),
        voided=row.voided,
    )


def _instant(stamp: Timestamp) -> datetime:
    return stamp.ToDatetime(tzinfo=UTC)
