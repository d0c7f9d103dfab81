# Compiled: every decision passes through here.
"""The codec of the Play stream, between protobuf messages and the server's own messages."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import lru_cache
from math import inf
from typing import Any, Final

from arena_client.v1 import events_pb2, log_pb2, matches_pb2, play_pb2
from google.protobuf.message import DecodeError

from arena import build
from arena.api.answer_decoder import read_answers
from arena.api.game_codecs import ROUNDS, VIEWS, any_encoder, encode_catalog, in_any
from arena.match.policy import Policy, ReadyLimits
from arena.protobuf.fields import CACHED_PARTS, FieldPrefix, packed
from arena.protobuf.rows import pack
from arena.replay.header import MatchKind
from arena.server.sessions.messages import (
    MAX_RESPONSE,
    Answer,
    BotMessage,
    Closed,
    Hello,
    Invitation,
    ListedNode,
    MatchOver,
    MatchStart,
    MessageCodec,
    Notice,
    NoticeKind,
    Outgoing,
    Question,
    Ready,
    Reason,
    RoundOver,
    Welcome,
)
from arena.store.base.rows import EventRow, Interruption
from arena.version import __version__
from engine.deal import NONCE_BYTES
from engine.game import RoundReport, SeatView

LARGEST_HELLO: Final = 4096
LONGEST_VERSION: Final = 40
"""Maximum number of characters of a bot's version."""
MOST_FEATURES: Final = 32
LONGEST_FEATURE: Final = 40
"""Maximum number of features in a hello, and of characters in each."""
MOST_EVENTS: Final = 8
"""Maximum number of events in a hello."""
MOST_AT_ONCE: Final = 10_000
"""Maximum number of acceptances and answers in one message: more than any bot owes, but quick to process."""
RECENT: Final = 128
"""Number of serialized round reports that are cached. All seats get the same report, so each report is encoded only
once.
"""

_FEATURE: Final = re.compile(f"[a-z0-9-]{{1,{LONGEST_FEATURE}}}")
HANDLED: Final = (
    "welcome",
    "heartbeat",
    "nodes",
    "invitations",
    "starts",
    "closed",
    "rounds",
    "reports",
    "notices",
    "decisions",
)
"""The fields of a PlayResponse in the order in which a bot handles them."""
_SINGLE: Final = ("welcome", "heartbeat")
_response: Final[Callable[..., play_pb2.PlayResponse]] = play_pb2.PlayResponse

_DECISIONS: Final = FieldPrefix(play_pb2.PlayResponse, "decisions")
_ROUNDS: Final = FieldPrefix(play_pb2.PlayResponse, "rounds")
_OF_MATCH: Final = FieldPrefix(play_pb2.RoundReport, "match_id")
_MATCH: Final = FieldPrefix(play_pb2.Decision, "match_id")
_DECISION: Final = FieldPrefix(play_pb2.Decision, "decision_id")
_SOFT: Final = FieldPrefix(play_pb2.Decision, "soft_ms")
_BANK: Final = FieldPrefix(play_pb2.Decision, "bank_ms")
_LEGAL: Final = FieldPrefix(play_pb2.Decision, "legal")
_VIEWS: Final = {
    view: (FieldPrefix(play_pb2.Decision, codec.game), codec.encode)
    if codec.other is None
    else (FieldPrefix(play_pb2.Decision, "other"), any_encoder(codec.other, codec.encode))
    for view, codec in VIEWS.items()
}


def decode_hello(message: bytes) -> Hello:
    """Decode the first message of a bot.

    Raises:
        Closed: the message is not a valid hello.
    """
    if len(message) > LARGEST_HELLO:
        raise Closed(Reason.BAD_MESSAGE, f"the first message has at most {LARGEST_HELLO} bytes, not {len(message)}")
    request = _parsed(message)
    hello = request.hello
    if not request.HasField("hello"):
        raise Closed(Reason.BAD_MESSAGE, "the first message must hold a hello")
    if not hello.games:
        raise Closed(Reason.BAD_MESSAGE, "hello.games is empty; name the games the bot plays")
    if len(hello.version) > LONGEST_VERSION or not hello.version.isprintable():
        text = f"hello.version has at most {LONGEST_VERSION} printable characters; it is {hello.version[:60]!r}"
        raise Closed(Reason.BAD_MESSAGE, text)
    if len(hello.features) > MOST_FEATURES:
        text = f"hello.features has at most {MOST_FEATURES} names, not {len(hello.features)}"
        raise Closed(Reason.BAD_MESSAGE, text)
    for name in hello.features:
        if not _FEATURE.fullmatch(name):
            text = f"a name in hello.features has 1 to {LONGEST_FEATURE} of a-z, 0-9 and '-'; one is {name[:60]!r}"
            raise Closed(Reason.BAD_MESSAGE, text)
    if len(hello.events) > MOST_EVENTS:
        raise Closed(Reason.BAD_MESSAGE, f"hello.events has at most {MOST_EVENTS} names, not {len(hello.events)}")
    for entry in hello.events:
        if (size := len(entry.nonce)) not in (0, NONCE_BYTES):
            text = f"hello.events has {NONCE_BYTES} bytes or none for an event; for {entry.event[:60]!r} it has {size}"
            raise Closed(Reason.BAD_MESSAGE, text)
    return Hello(
        tuple(dict.fromkeys(hello.games)),
        hello.capacity,
        hello.client[:100],
        hello.version,
        hello.reports_after if hello.HasField("reports_after") else None,
        hello.casual,
        hello.challenges,
        tuple(dict.fromkeys(hello.features)),
        tuple(dict.fromkeys(hello.ladders)),
        tuple((entry.event, entry.nonce) for entry in hello.events),
    )


def decode(message: bytes, at: float) -> BotMessage:
    """Decode a later message of a bot that arrived at the time `at`.

    Raises:
        Closed: the message violates the protocol.
    """
    if (only := read_answers(message)) is not None and len(only) <= MOST_AT_ONCE:
        return BotMessage(at, (), only, None, size=len(message))
    request = _parsed(message)
    if request.HasField("hello"):
        raise Closed(Reason.BAD_MESSAGE, "a hello came twice; it belongs in the first message only")
    answers, acceptances, declined = request.answers, request.ready, request.declined
    if len(answers) + len(acceptances) + len(declined) + len(request.resumed) > MOST_AT_ONCE:
        raise Closed(Reason.BAD_MESSAGE, f"a message carries at most {MOST_AT_ONCE} acceptances and answers")
    ready: Sequence[Ready] = ()
    if acceptances:
        ready = [Ready(each.invitation_id, each.nonce) for each in acceptances]
    return BotMessage(
        at,
        ready,
        [Answer(each.match_id, each.decision_id, each.action) for each in answers],
        request.heartbeat if request.HasField("heartbeat") else None,
        request.capacity if request.HasField("capacity") else None,
        declined or (),
        request.resumed or (),
        request.leave,
        len(message),
    )


def _parsed(message: bytes) -> play_pb2.PlayRequest:
    try:
        return play_pb2.PlayRequest.FromString(message)
    except DecodeError:
        raise Closed(Reason.BAD_MESSAGE, "the message cannot be parsed") from None


def encode(message: Outgoing) -> bytes:
    """Encode a message to a bot as a serialized PlayResponse. Concatenating two such results merges their fields."""
    parts = [_decision(question) for question in message.questions]
    if message.rounds:
        parts += [_round(over) for over in message.rounds]
    if message.routine:
        return b"".join(parts)
    response = play_pb2.PlayResponse(
        welcome=None if message.welcome is None else _welcome(message.welcome),
        invitations=map(_invitation, message.invitations),
        starts=map(_start, message.starts),
        notices=map(_notice, message.notices),
        reports=map(_report, message.reports),
        closed=[play_pb2.ClosedDecision(match_id=match, decision_id=decision) for match, decision in message.closed],
        heartbeat=message.heartbeat,
        nodes=_nodes(message.nodes),
    )
    return b"".join((response.SerializeToString(), *parts))


def _nodes(nodes: Mapping[int, ListedNode]) -> list[play_pb2.Node]:
    return [pack(node, play_pb2.Node, number=number) for number, node in nodes.items()]


def split(encoded: bytes, most: int) -> list[bytes]:
    """Divide a serialized PlayResponse into several of at most `most` bytes, in the order of `HANDLED`."""
    present = {field.name: value for field, value in play_pb2.PlayResponse.FromString(encoded).ListFields()}
    fields: list[bytes] = []
    for name in HANDLED:
        value: Any = present.get(name, ())
        contents = [value] if name in _SINGLE and name in present else [[each] for each in value]
        fields += [_response(**{name: content}).SerializeToString() for content in contents]
    parts: list[bytes] = []
    part: list[bytes] = []
    size = 0
    for field in fields:
        if part and size + len(field) > most:
            parts.append(b"".join(part))
            part, size = [], 0
        part.append(field)
        size += len(field)
    return [*parts, b"".join(part)]


PROTOBUF: Final = MessageCodec(decode, encode, split)
"""The codec of `PlayService`."""


def _decision(question: Question) -> bytes:
    """Encode a question as a serialized PlayResponse that contains only this decision."""
    ask = question.ask
    view, encode_seen = _VIEWS[type(ask.view)]
    actions, seen = packed(ask.legal), encode_seen(ask.view)
    decided = b"".join(
        (
            _MATCH.of(question.match_id),
            _DECISION.of(ask.decision),
            _time_left(ask.soft, ask.bank),
            _LEGAL.of(len(actions)),
            actions,
            view.of(len(seen)),
            seen,
        )
    )
    return _DECISIONS.of(len(decided)) + decided


def encode_view(view: SeatView) -> bytes:
    """Encode a view as a serialized Decision that contains only this view."""
    field, encode_seen = _VIEWS[type(view)]
    seen = encode_seen(view)
    return field.of(len(seen)) + seen


@lru_cache(maxsize=CACHED_PARTS)
def _time_left(soft: int, bank: int) -> bytes:
    """Serialize the remaining soft limit and bank. The result is cached, because the values rarely change."""
    return _SOFT.of(soft // 1000) + _BANK.of(bank // 1000)


def _round(over: RoundOver) -> bytes:
    """Encode a report as a serialized PlayResponse that contains only this round."""
    encoded = encode_report(*over)
    return _ROUNDS.of(len(encoded)) + encoded


def encode_report(match_id: int, report: RoundReport) -> bytes:
    """Encode a round of a match as a serialized RoundReport."""
    return _OF_MATCH.of(match_id) + _report_fields(report)


@lru_cache(maxsize=RECENT, typed=True)
def _report_fields(report: RoundReport) -> bytes:
    """Serialize the fields of a report. They are the same for every seat."""
    codec = ROUNDS[type(report)]
    record = codec.encode(report)
    shown = {codec.game: record} if codec.other is None else {"other": in_any(record)}
    return play_pb2.RoundReport(
        round=report.round, points=report.points, scores=report.scores, **shown
    ).SerializeToString()


def _welcome(welcome: Welcome) -> play_pb2.Welcome:
    return play_pb2.Welcome(
        server=__version__,
        bot=welcome.bot,
        games=[encode_catalog(game) for game in welcome.games],
        conduct=encode_conduct(welcome.policy, welcome.answer_limits, welcome.park_after),
        limits=play_pb2.StreamLimits(
            capacity=welcome.capacity,
            max_request=welcome.transport.max_request,
            max_metadata=welcome.transport.max_metadata,
            heartbeat_ms=round(welcome.heartbeat * 1000),
            max_response=MAX_RESPONSE,
        ),
        log=None if welcome.log is None else pack(welcome.log, log_pb2.LogState),
        features=welcome.features,
        build=build.kind(),
        ladders=[
            pack(
                ladder,
                play_pb2.LadderTerms,
                options=ladder.options,
                conduct=encode_conduct(ladder.policy, ladder.answer_limits, welcome.park_after),
            )
            for ladder in welcome.ladders
        ],
        events=welcome.events,
        nodes=_nodes(welcome.nodes),
        node=welcome.node,
    )


def encode_conduct(policy: Policy, limits: ReadyLimits, park_after: int) -> play_pb2.Conduct:
    """Encode the terms of a ladder."""
    return play_pb2.Conduct(
        soft_limit_ms=policy.soft_limit // 1000,
        bank_ms=policy.bank // 1000,
        rejections_per_decision=policy.rejections_per_decision,
        rejections_per_match=policy.rejections_per_match,
        lates_in_a_row=policy.lates_in_a_row,
        ready_ms=round(limits.answer * 1000),
        lag_allowance_ms=policy.lag_allowance // 1000,
        grace_ms=policy.grace // 1000,
        incidents=policy.incidents,
        restart_hold_ms=policy.restart_hold // 1000,
        substituted_percent=policy.substituted_percent,
        park_after=park_after,
        newcomer_grace_ms=policy.newcomer_grace // 1000,
        offer_limit_ms=round(limits.offer * 1000),
        seat_limit_ms=round(limits.seat * 1000),
    )


def _invitation(invitation: Invitation) -> play_pb2.Invitation:
    return play_pb2.Invitation(
        invitation_id=invitation.invitation_id,
        game=invitation.game,
        kind=KINDS[invitation.kind],
        options=invitation.options,
        commitment=invitation.commitment,
        bots=invitation.bots,
        ladder=invitation.ladder,
    )


def _start(start: MatchStart) -> play_pb2.MatchStart:
    return play_pb2.MatchStart(
        match_id=start.match_id,
        invitation_id=start.invitation_id,
        game=start.game,
        kind=KINDS[start.kind],
        seat=start.seat,
        bots=start.bots,
        options=start.options,
        commitment=start.commitment,
        salt=start.salt,
        ladder=start.ladder,
    )


def _notice(notice: Notice) -> play_pb2.Notice:
    return play_pb2.Notice(
        match_id=notice.match_id,
        decision_id=notice.decision,
        kind=NOTICE_KINDS[notice.kind],
        text=notice.text,
        rejected_action=notice.rejected_action,
        chosen_action=notice.chosen_action,
        legal=notice.legal,
        left_ms=_ms(notice.left),
        late_ms=_ms(notice.late),
        return_ms=_ms(notice.return_time),
        hold_ms=_ms(notice.hold),
        casual_ms=_ms(notice.casual_wait),
        seat=notice.seat,
        invitation_id=notice.invitation_id,
    )


def _ms(microseconds: int | None) -> int | None:
    return None if microseconds is None else microseconds // 1000


KINDS: Final = {kind: play_pb2.MatchKind.Value(f"MATCH_KIND_{kind.name}") for kind in MatchKind}
INTERRUPTIONS: Final = {cause: play_pb2.Interruption.Value(f"INTERRUPTION_{cause.name}") for cause in Interruption}
NOTICE_KINDS: Final = {kind: play_pb2.NoticeKind.Value(f"NOTICE_KIND_{kind.name}") for kind in NoticeKind}


def interruption_number(reason: str) -> play_pb2.Interruption.ValueType:
    """Return the protocol's value for the cause of an interruption, or 0 if the cause is absent or unknown."""
    cause = Interruption.of(reason)
    return play_pb2.INTERRUPTION_UNSPECIFIED if cause is None else INTERRUPTIONS[cause]


def _report(over: MatchOver) -> play_pb2.MatchReport:
    return play_pb2.MatchReport(
        match_id=over.match_id,
        seat=over.seat,
        scores=over.scores,
        places=over.places,
        rating=over.rating and play_pb2.RatingChange(before=over.rating.before, after=over.rating.after),
        counts=over.counts,
        spoilt=over.spoilt,
        interrupted=over.interrupted,
        interruption=interruption_number(over.interrupted),
        kind=KINDS[over.kind],
        entry=None if over.entry is None else pack(over.entry, log_pb2.LogEntry),
    )


def encode_event(row: EventRow) -> events_pb2.EventSummary:
    """Return an event as a message."""
    state = events_pb2.EventState.Value(f"EVENT_STATE_{row.state.upper()}")
    everyone, invited = row.format == "all", row.entry == "invited"
    return pack(row, events_pb2.EventSummary, everyone=everyone, invited=invited, state=state)


def encode_event_head(found: Mapping[str, Any]) -> events_pb2.GetEventResponse:
    """Return the document of an event, without its tables, as a message."""
    result = found["result"]
    if result is not None:
        looks = [
            each | {"means": [-inf if mean is None else mean for mean in each["means"]]} for each in result["looks"]
        ]
        result = result | {"looks": looks}
    return events_pb2.GetEventResponse(
        event=encode_event(found["event"]),
        reason=found["reason"],
        entrants=found["entrants"],
        earlier=found["earlier"],
        rounds=found["rounds"],
        leaves=found["leaves"],
        result=result,
    )


def encode_event_table(table: Mapping[str, Any]) -> events_pb2.EventTable:
    """Return a table of an event as a message."""
    state = matches_pb2.MatchState.Value(f"MATCH_STATE_{table['state'].upper()}")
    return events_pb2.EventTable(**{**table, "state": state})
