"""Protobuf messages of the Play stream to and from the server's own. `VIEWS` and `ROUNDS` tell the games apart."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any, Final, NamedTuple

from google.protobuf.message import DecodeError

from arena.server.messages import (
    Answer,
    Closed,
    Hello,
    Invitation,
    MatchOver,
    Notice,
    NoticeKind,
    Outgoing,
    Question,
    Ready,
    Reason,
    RoundOver,
    Said,
    Welcome,
)
from arena.v1 import play_pb2
from arena.version import __version__
from arena.wire import nullern, sixth_sense
from arena.wire.answered import read_answers
from arena.wire.catalog import encode_catalog
from arena.wire.packed import Head, packed
from engine.game import RoundReport, SeatView
from engine.nullern import NullernRound, NullernView
from engine.sixth_sense import SixthSenseRound, SixthSenseView

NONCE_SIZE: Final = 16
LARGEST_HELLO: Final = 4096
LONGEST_VERSION: Final = 40
"""Characters."""
MOST_AT_ONCE: Final = 10_000
"""Acceptances and answers in one message: far more than a bot can owe, and no long turn for the others."""
RECENT: Final = 128
"""Reports of rounds kept serialized until every seat has been told."""


class Codec(NamedTuple):
    """How one game travels: the field that carries it, and what is put there."""

    field: str
    encode: Callable[[Any], Any]


VIEWS: Final[dict[type[SeatView], Codec]] = {
    SixthSenseView: Codec("sixth_sense", sixth_sense.encode_view),
    NullernView: Codec("nullern", nullern.encode_view),
}
"""The fields of `Decision.view`, which take it serialized."""
ROUNDS: Final[dict[type[RoundReport], Codec]] = {
    SixthSenseRound: Codec("sixth_sense", sixth_sense.encode_round),
    NullernRound: Codec("nullern", nullern.encode_round),
}
"""The fields of `RoundReport.record`."""

_DECISIONS: Final = Head(play_pb2.PlayResponse, "decisions")
_ROUNDS: Final = Head(play_pb2.PlayResponse, "rounds")
_OF_MATCH: Final = Head(play_pb2.RoundReport, "match_id")
_MATCH: Final = Head(play_pb2.Decision, "match_id")
_DECISION: Final = Head(play_pb2.Decision, "decision_id")
_SOFT: Final = Head(play_pb2.Decision, "soft_ms")
_BANK: Final = Head(play_pb2.Decision, "bank_ms")
_LEGAL: Final = Head(play_pb2.Decision, "legal")
_VIEWS: Final = {view: (Head(play_pb2.Decision, codec.field), codec.encode) for view, codec in VIEWS.items()}


def decode_hello(message: bytes) -> Hello:
    """The first message of a bot; raises `Closed` where it is no hello or asks for nothing."""
    if len(message) > LARGEST_HELLO:
        raise Closed(Reason.NONSENSE, f"the first message has at most {LARGEST_HELLO} bytes, not {len(message)}")
    request = _parsed(message)
    hello = request.hello
    if not request.HasField("hello"):
        raise Closed(Reason.NONSENSE, "the first message must hold a hello")
    if not hello.games:
        raise Closed(Reason.NONSENSE, "hello.games is empty; name the games the bot plays")
    if hello.capacity < 1:
        raise Closed(Reason.NONSENSE, "hello.capacity is 0; say how many matches the bot can play at once, 1 or more")
    if len(hello.version) > LONGEST_VERSION or not hello.version.isprintable():
        text = f"hello.version has at most {LONGEST_VERSION} printable characters; it is {hello.version[:60]!r}"
        raise Closed(Reason.NONSENSE, text)
    return Hello(
        tuple(dict.fromkeys(hello.games)), hello.capacity, hello.client[:100], hello.version, tuple(hello.playing)
    )


def decode(message: bytes, at: float) -> Said:
    """A later message of a bot, which arrived at an instant; raises `Closed` where the protocol does not allow it."""
    if (said := read_answers(message)) is not None and len(said) <= MOST_AT_ONCE:
        return Said(at, (), said, None, None, (), len(message))
    request = _parsed(message)
    if request.HasField("hello"):
        raise Closed(Reason.NONSENSE, "a hello came twice; it belongs in the first message only")
    answers, acceptances, declined = request.answers, request.ready, request.declined
    if len(answers) + len(acceptances) + len(declined) > MOST_AT_ONCE:
        raise Closed(Reason.NONSENSE, f"a message carries at most {MOST_AT_ONCE} acceptances and answers")
    ready: Sequence[Ready] = ()
    if acceptances:
        ready = [Ready(each.match_id, each.nonce) for each in acceptances]
        for _, nonce in ready:
            if len(nonce) not in (0, NONCE_SIZE):
                raise Closed(Reason.NONSENSE, f"a nonce has {NONCE_SIZE} bytes or none, not {len(nonce)}")
    return Said(
        at,
        ready,
        [Answer(each.match_id, each.decision_id, each.action) for each in answers],
        request.heartbeat if request.HasField("heartbeat") else None,
        request.capacity if request.HasField("capacity") else None,
        declined or (),
        len(message),
    )


def _parsed(message: bytes) -> play_pb2.PlayRequest:
    try:
        return play_pb2.PlayRequest.FromString(message)
    except DecodeError:
        raise Closed(Reason.NONSENSE, "the message cannot be parsed") from None


def encode(message: Outgoing) -> bytes:
    """A message to a bot: a serialized PlayResponse. Two of them in a row are one with the fields of both."""
    parts = [_round(over) for over in message.rounds]
    parts += [_decision(question) for question in message.questions]
    if message.routine:
        return b"".join(parts)
    response = play_pb2.PlayResponse(
        welcome=None if message.welcome is None else _welcome(message.welcome),
        invitations=map(_invitation, message.invitations),
        notices=map(_notice, message.notices),
        reports=map(_report, message.reports),
        heartbeat=message.heartbeat,
    )
    return b"".join((response.SerializeToString(), *parts))


def _decision(question: Question) -> bytes:
    """A question as a serialized PlayResponse with this one decision."""
    ask = question.ask
    view, encode_view = _VIEWS[type(ask.view)]
    actions, seen = packed(ask.legal), encode_view(ask.view)
    decided = b"".join(
        (
            _MATCH.of(question.match_id),
            _DECISION.of(ask.decision),
            _SOFT.of(ask.soft // 1000),
            _BANK.of(ask.bank // 1000),
            _LEGAL.of(len(actions)),
            actions,
            view.of(len(seen)),
            seen,
        )
    )
    return _DECISIONS.of(len(decided)) + decided


def _round(over: RoundOver) -> bytes:
    """A report as a serialized PlayResponse with this one round."""
    match_id, report = over
    told = _OF_MATCH.of(match_id) + _told(report)
    return _ROUNDS.of(len(told)) + told


@lru_cache(maxsize=RECENT, typed=True)
def _told(report: RoundReport) -> bytes:
    """What every seat is told alike."""
    field, encode_round = ROUNDS[type(report)]
    return play_pb2.RoundReport(
        round=report.round, points=report.points, scores=report.scores, **{field: encode_round(report)}
    ).SerializeToString()


def _welcome(welcome: Welcome) -> play_pb2.Welcome:
    policy = welcome.policy
    return play_pb2.Welcome(
        server=__version__,
        bot=welcome.bot,
        games=[encode_catalog(game) for game in welcome.games],
        conduct=play_pb2.Conduct(
            soft_limit_ms=policy.soft_limit // 1000,
            bank_ms=policy.bank // 1000,
            rejections_per_decision=policy.rejections_per_decision,
            rejections_per_match=policy.rejections_per_match,
            lates_in_a_row=policy.lates_in_a_row,
            ready_ms=round(welcome.ready_limit * 1000),
            lag_allowance_ms=policy.lag_allowance // 1000,
            grace_ms=policy.grace // 1000,
            incidents=policy.incidents,
            restart_hold_ms=policy.restart_hold // 1000,
            substituted_percent=policy.substituted_percent,
            park_after=welcome.park_after,
        ),
    )


def _invitation(invitation: Invitation) -> play_pb2.Invitation:
    return play_pb2.Invitation(
        match_id=invitation.match_id,
        game=invitation.game,
        seat=invitation.seat,
        bots=invitation.bots,
        options=invitation.options,
        commitment=invitation.commitment,
    )


def _notice(notice: Notice) -> play_pb2.Notice:
    return play_pb2.Notice(
        match_id=notice.match_id,
        decision_id=notice.decision,
        kind=NOTICE_KINDS[notice.kind],
        text=notice.text,
        action=notice.action,
        legal=notice.legal,
        time_ms=None if notice.time is None else notice.time // 1000,
        seat=notice.seat,
    )


NOTICE_KINDS: Final = {kind: play_pb2.NoticeKind.Value(f"NOTICE_KIND_{kind.name}") for kind in NoticeKind}


def _report(over: MatchOver) -> play_pb2.MatchReport:
    return play_pb2.MatchReport(
        match_id=over.match_id,
        seat=over.seat,
        scores=over.scores,
        places=over.places,
        rating=over.rating and play_pb2.RatingChange(before=over.rating.before, after=over.rating.after),
        counts=over.counts,
        interrupted=over.interrupted,
    )
