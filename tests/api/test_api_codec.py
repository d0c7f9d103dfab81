"""Encoding and decoding of the messages of the Play stream."""

from __future__ import annotations

import re
from dataclasses import replace
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from random import Random
from types import NoneType, SimpleNamespace
from typing import Any, cast, get_args, get_type_hints

import pytest
from arena_client.v1 import play_pb2 as pb
from arena_client.v1 import sixth_sense_pb2
from google.protobuf.descriptor import FieldDescriptor
from google.protobuf.message_factory import GetMessageClass
from hypothesis import given, settings
from hypothesis import strategies as st

from arena import build
from arena.api.codec import MOST_AT_ONCE, decode, decode_hello, encode
from arena.api.game_codecs import ROUNDS, VIEWS, in_any
from arena.match.effects import Ask
from arena.match.policy import Policy, ReadyLimits
from arena.protobuf.fields import tag, varint
from arena.replay.header import MatchKind
from arena.server.sessions.messages import (
    Answer,
    BotMessage,
    Closed,
    Hello,
    Invitation,
    ListedNode,
    MatchOver,
    MatchStart,
    Notice,
    NoticeKind,
    Outgoing,
    Question,
    RatingMove,
    Ready,
    Reason,
    Welcome,
)
from arena.version import __version__
from engine.deal import SeededDecks
from engine.game import Game
from engine.registry import GAMES
from tests.api.frames import EDGES, LARGE, Frames, filled
from tests.conformance.sent_fields import RENAMED, sent_fields
from tests.conformance.table import tables
from trio_grpc.limits.settings import TransportSettings

GAME = GAMES["sixth_sense"]
DECKS = SeededDecks(bytes(32))


def sent(**parts: object) -> pb.PlayResponse:
    """Encode a message and return it as a bot decodes it."""
    message = Outgoing()
    for name, part in parts.items():
        setattr(message, name, part)
    return pb.PlayResponse.FromString(encode(message))


def closed(request: pb.PlayRequest, *, hello: bool = False) -> tuple[Reason, str]:
    with pytest.raises(Closed) as caught:
        decode_hello(request.SerializeToString()) if hello else decode(request.SerializeToString(), 1.0)
    return caught.value.reason, str(caught.value)


# --- from the bot ---


def test_a_hello_is_taken() -> None:
    hello = pb.Hello(games=["b", "a", "b"], capacity=3, client="x" * 1000)
    assert decode_hello(pb.PlayRequest(hello=hello).SerializeToString()) == Hello(("b", "a"), 3, "x" * 100)
    for number in (0, 7, (1 << 64) - 1):
        hello.reports_after = number
        assert decode_hello(pb.PlayRequest(hello=hello).SerializeToString()).reports_after == number
    hello.ladders.extend(["b", "a", "b"])
    assert decode_hello(pb.PlayRequest(hello=hello).SerializeToString()).ladders == ("b", "a")
    hello.events.add(event="friday", nonce=bytes(16))
    hello.events.add(event="sunday")
    events = decode_hello(pb.PlayRequest(hello=hello).SerializeToString()).events
    assert events == (("friday", bytes(16)), ("sunday", b""))
    hello.version = "2.0 – the bold one"
    assert decode_hello(pb.PlayRequest(hello=hello).SerializeToString()).version == "2.0 – the bold one"


@pytest.mark.parametrize(
    ("request_", "text"),
    [
        (pb.PlayRequest(heartbeat=1), "the first message must hold a hello"),
        (pb.PlayRequest(hello=pb.Hello(capacity=1)), "hello.games is empty; name the games the bot plays"),
        (
            pb.PlayRequest(hello=pb.Hello(games=["a"], capacity=1, version="x" * 41)),
            f"hello.version has at most 40 printable characters; it is {'x' * 41!r}",
        ),
        (
            pb.PlayRequest(hello=pb.Hello(games=["a"], events=[pb.EventEntry(event="friday", nonce=b"x")])),
            "hello.events has 16 bytes or none for an event; for 'friday' it has 1",
        ),
        (
            pb.PlayRequest(hello=pb.Hello(games=["a"], events=[pb.EventEntry(event="friday")] * 9)),
            "hello.events has at most 8 names, not 9",
        ),
        (
            pb.PlayRequest(hello=pb.Hello(games=["a"], capacity=1, version="1\n2")),
            "hello.version has at most 40 printable characters; it is '1\\n2'",
        ),
        (
            pb.PlayRequest(hello=pb.Hello(games=["a"], features=map(str, range(33)))),
            "hello.features has at most 32 names, not 33",
        ),
        *(
            (
                pb.PlayRequest(hello=pb.Hello(games=["a"], features=["good-1", name])),
                f"a name in hello.features has 1 to 40 of a-z, 0-9 and '-'; one is {name!r}",
            )
            for name in ("", "x" * 41, "Big", "under_score", "a b", "line\n", "é")
        ),
    ],
)
def test_a_first_message_that_is_no_good_hello_says_why(request_: pb.PlayRequest, text: str) -> None:
    assert closed(request_, hello=True) == (Reason.BAD_MESSAGE, text)


def test_a_hello_names_as_many_features_as_it_may() -> None:
    names = [f"{number:0>40}" for number in range(32)]
    hello = pb.Hello(games=["a"], features=names)
    assert decode_hello(pb.PlayRequest(hello=hello).SerializeToString()).features == tuple(names)
    hello = pb.Hello(games=["a"], features=["b", "a", "b"])
    assert decode_hello(pb.PlayRequest(hello=hello).SerializeToString()).features == ("b", "a")


def test_a_bot_may_come_without_room() -> None:
    assert decode_hello(pb.PlayRequest(hello=pb.Hello(games=["a"])).SerializeToString()).capacity == 0


def test_a_message_carries_many_things() -> None:
    request = pb.PlayRequest(
        ready=[pb.Ready(invitation_id=1, nonce=bytes(16)), pb.Ready(invitation_id=2)],
        answers=[pb.Answer(match_id=3, decision_id=4, action=5), pb.Answer(match_id=6)],
        heartbeat=0,
        capacity=9,
        declined=[7, 8],
        resumed=[9],
        leave=True,
    )
    said = decode(request.SerializeToString(), 2.5)
    assert said == BotMessage(
        2.5,
        [Ready(1, bytes(16)), Ready(2, b"")],
        [Answer(3, 4, 5), Answer(6, 0, 0)],
        0,
        9,
        [7, 8],
        [9],
        leaves=True,
        size=request.ByteSize(),
    )


def test_an_empty_message_says_nothing() -> None:
    assert decode(b"", 2.5) == BotMessage(2.5, (), [], None, None, ())


def test_a_second_hello_is_nonsense() -> None:
    reason, text = closed(pb.PlayRequest(hello=pb.Hello()))
    assert reason is Reason.BAD_MESSAGE
    assert "a hello came twice" in text


@pytest.mark.parametrize(
    "many",
    [
        {"answers": [pb.Answer()] * (MOST_AT_ONCE + 1)},
        {"ready": [pb.Ready()] * (MOST_AT_ONCE + 1)},
        {"ready": [pb.Ready()] * MOST_AT_ONCE, "answers": [pb.Answer()]},
    ],
)
def test_more_than_anybody_can_owe_in_one_message_is_nonsense(many: dict[str, list[pb.Answer]]) -> None:
    reason, text = closed(pb.PlayRequest(**many))  # type: ignore[arg-type]
    assert reason is Reason.BAD_MESSAGE
    assert str(MOST_AT_ONCE) in text
    assert decode(pb.PlayRequest(answers=[pb.Answer()] * MOST_AT_ONCE).SerializeToString(), 0.0).answers


# --- from the bot, in a message with a single answer ---

OTHERWISE = b"\xc0\x3e\x00"
"""A field that no version defines. A message that starts with this field takes the parser's slow path, with the same
meaning.
"""


def outcome(message: bytes, *, parsed: bool) -> BotMessage | tuple[Reason, str]:
    """Return the decoded message, or the reason why it ends the stream. With `parsed`, use the protocol's parser."""
    try:
        said = decode(OTHERWISE + message if parsed else message, 1.0)
    except Closed as closed:
        return closed.reason, str(closed)
    assert parsed or said.size == len(message)
    return replace(said, declined=list(said.declined), resumed=list(said.resumed), size=0)


NUMBERS = st.sampled_from([*EDGES, *LARGE]) | st.integers(0, 300)
FIELDS = st.one_of(
    st.builds(lambda number, value: varint(number << 3) + varint(value), st.integers(1, 4), NUMBERS),
    st.builds(lambda value: b"\x1a" + varint(len(value)) + value, st.binary(max_size=4)),
    st.binary(max_size=3),
)
"""The fields of an answer, unknown fields, and impossible fields."""
INSIDE = st.lists(FIELDS, max_size=6).map(b"".join)
ERRORS = st.sampled_from((0, 0, 0, -1, 1, 3))
ANSWERS = st.builds(lambda inside, error: b"\x1a" + varint(max(0, len(inside) + error)) + inside, INSIDE, ERRORS)


@settings(max_examples=1000)
@given(st.lists(ANSWERS | FIELDS, max_size=3).map(b"".join))
@pytest.mark.thorough
def test_bytes_say_what_they_say_when_parsed(message: bytes) -> None:
    assert outcome(message, parsed=False) == outcome(message, parsed=True)


@pytest.mark.parametrize("seed", range(5))
def test_whatever_bots_send_says_what_it_says_when_parsed(seed: int) -> None:
    rng = Random(seed)
    frames, descriptor = Frames(rng), pb.PlayRequest.DESCRIPTOR
    said = 0
    for _ in range(1000):
        for message in (frames.frame(), filled(descriptor, rng, without=("hello",))):
            found = outcome(message, parsed=False)
            assert found == outcome(message, parsed=True)
            said += isinstance(found, BotMessage)
    assert said > 500, "most of it should make sense"


@pytest.mark.parametrize("message", [b"\x1a", b"\x1a\x05\x08", b"\x1a\x01\x08", b"\xff" * 30])
def test_bytes_that_cannot_be_parsed_are_nonsense(message: bytes) -> None:
    assert outcome(message, parsed=False) == (Reason.BAD_MESSAGE, "the message cannot be parsed")


@pytest.mark.parametrize("number", [*EDGES, *LARGE])
def test_a_lone_answer_has_its_numbers(number: int) -> None:
    action = number & 0xFFFFFFFF
    answer = pb.Answer(match_id=number, decision_id=action, action=action)
    message = pb.PlayRequest(answers=[answer]).SerializeToString()
    assert decode(message, 2.5) == BotMessage(2.5, (), [Answer(number, action, action)], None, size=len(message))


# --- to the bot ---


def test_an_empty_message_is_empty() -> None:
    assert encode(Outgoing()) == b""


@pytest.mark.parametrize("compiled", [False, True])
def test_the_protocol_names_each_kind_of_build(compiled: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    origin = "bots" + EXTENSION_SUFFIXES[0] if compiled else "bots.py"
    with monkeypatch.context() as changed:
        changed.setattr("importlib.util.find_spec", lambda name: SimpleNamespace(origin=origin))
        kind = build.kind()
    comment = re.search(r"// (.*)\n  string build = ", Path("proto/arena/v1/play.proto").read_text("utf-8"))
    assert comment
    assert f'"{kind}"' in comment[1]


def test_a_welcome_tells_the_games_and_the_limits() -> None:
    policy = Policy(1_500_000, 20_000_000, 4, 11, 5, 240_000, 31_000_000, 6_000_000, 6, 61_000_000, 26)
    welcome = sent(
        welcome=Welcome("ann", (GAME,), policy, ReadyLimits(12.5, 1.25, 3.5), 3, 7, 2.5, TransportSettings())
    ).welcome
    assert (welcome.server, welcome.build, welcome.bot) == (__version__, build.kind(), "ann")
    assert welcome.conduct == pb.Conduct(
        soft_limit_ms=1500,
        bank_ms=20_000,
        rejections_per_decision=4,
        rejections_per_match=11,
        lates_in_a_row=5,
        ready_ms=12_500,
        lag_allowance_ms=240,
        grace_ms=31_000,
        incidents=6,
        restart_hold_ms=61_000,
        substituted_percent=26,
        park_after=3,
        newcomer_grace_ms=6000,
        offer_limit_ms=1250,
        seat_limit_ms=3500,
    )
    assert welcome.limits == pb.StreamLimits(
        capacity=7, max_request=1 << 20, max_metadata=4 << 10, heartbeat_ms=2500, max_response=1 << 20
    )
    (catalog,) = welcome.games
    assert (catalog.name, catalog.title) == (GAME.name, GAME.title)


def test_an_invitation_names_nobody() -> None:
    invitation = Invitation(9, "sixth_sense", MatchKind.CASUAL, {"novice": "true"}, bytes(range(32)))
    assert list(sent(invitations=[invitation]).invitations) == [
        pb.Invitation(
            invitation_id=9,
            game="sixth_sense",
            kind=pb.MATCH_KIND_CASUAL,
            options={"novice": "true"},
            commitment=bytes(range(32)),
        )
    ]
    (of_ladder,) = sent(invitations=[replace(invitation, ladder="slow")]).invitations
    assert of_ladder.ladder == "slow"


def test_a_start_names_everybody_and_opens_the_commitment() -> None:
    start = MatchStart(
        4, 9, "sixth_sense", MatchKind.RATED, 2, ("ann", "bob", "cleo"), {"novice": "true"}, bytes(range(32)), b"s" * 32
    )
    assert list(sent(starts=[start]).starts) == [
        pb.MatchStart(
            match_id=4,
            invitation_id=9,
            game="sixth_sense",
            kind=pb.MATCH_KIND_RATED,
            seat=2,
            bots=["ann", "bob", "cleo"],
            options={"novice": "true"},
            commitment=bytes(range(32)),
            salt=b"s" * 32,
        )
    ]
    (of_ladder,) = sent(starts=[replace(start, ladder="slow")]).starts
    assert of_ladder.ladder == "slow"


def test_a_decision_carries_its_times_in_milliseconds() -> None:
    state = GAME.new(3, DECKS)
    legal = state.legal(1)
    (decision,) = sent(questions=[Question(5, Ask(1, 4, legal, state.view(1), 1_999_999, 30_000_000))]).decisions
    assert (decision.match_id, decision.decision_id) == (5, 4)
    assert (decision.soft_ms, decision.bank_ms) == (1999, 30_000)
    assert list(decision.legal) == list(legal)
    assert decision.WhichOneof("view") == "sixth_sense"


SMALL = st.integers(0, 127)
LISTS = st.lists(SMALL, max_size=127).map(bytes)
UINT32 = st.sampled_from(EDGES) | st.integers(0, 20_000)
SINT32 = st.integers(-(1 << 31), (1 << 31) - 1)
MESSAGES: dict[type, Any] = {
    view: each.other or GetMessageClass(cast("Any", pb.Decision.DESCRIPTOR.fields_by_name[each.game].message_type))
    for view, each in VIEWS.items()
}


def values(field: FieldDescriptor, *, optional: bool) -> st.SearchStrategy[Any]:
    """A strategy for values of a view's fields."""
    if field.message_type is not None:  # a map by seat; the engine stores a list of these numbers plus one
        return st.lists(SMALL, max_size=8).map(bytes)
    if field.type == FieldDescriptor.TYPE_BOOL:
        return st.lists(st.integers(0, 1), max_size=127).map(bytes) if field.is_repeated else st.booleans()
    if field.is_repeated:
        return LISTS if field.type == FieldDescriptor.TYPE_UINT32 else st.lists(SINT32, max_size=8).map(tuple)
    if optional:
        return st.none() | SMALL
    return SMALL if field.name == "seat" else UINT32


def views(kind: Any) -> st.SearchStrategy[Any]:
    """A strategy for views of any game, including made-up games."""
    fields, types = MESSAGES[kind].DESCRIPTOR.fields_by_name, get_type_hints(kind)
    return st.builds(
        kind,
        **{
            name: values(fields[name if name in fields else RENAMED[name]], optional=NoneType in get_args(types[name]))
            for name in kind._fields
        },
    )


def by_field(question: Question) -> pb.Decision:
    """Encode the question with the protocol's generated code."""
    ask = question.ask
    codec, message = VIEWS[type(ask.view)], MESSAGES[type(ask.view)]
    view = message(**sent_fields(ask.view, message.DESCRIPTOR))
    return pb.Decision(
        match_id=question.match_id,
        decision_id=ask.decision,
        soft_ms=ask.soft // 1000,
        bank_ms=ask.bank // 1000,
        legal=list(ask.legal),
        **{codec.game: view} if codec.other is None else {"other": in_any(view)},
    )


QUESTIONS = st.builds(
    Question,
    st.sampled_from([*EDGES, *LARGE]),
    st.builds(
        Ask,
        seat=st.just(0),
        decision=UINT32,
        legal=LISTS | st.binary() | st.lists(UINT32, max_size=20),
        view=st.one_of([views(kind) for kind in VIEWS]),
        soft=st.integers(0, 10**8),
        bank=st.integers(0, 10**12),
    ),
)


@settings(max_examples=200)
@given(st.lists(QUESTIONS, max_size=4))
@pytest.mark.thorough
def test_decisions_are_read_as_if_they_were_written_field_by_field(questions: list[Question]) -> None:
    assert sent(questions=questions) == pb.PlayResponse(decisions=map(by_field, questions))


@pytest.mark.parametrize("game", GAMES.values(), ids=lambda game: game.name)
def test_every_seat_is_shown_every_position_as_if_it_were_written_field_by_field(game: Game) -> None:
    shown = 0
    for table in tables(game)[::4]:
        for state in table.walk(0, Random(str(table))):
            asked = state.waiting()
            for seat in range(table.seats):
                legal = state.legal(seat) if seat in asked else b""
                question = Question(1, Ask(seat, 1, legal, state.view(seat), 2_000_000, 30_000_000))
                assert list(sent(questions=[question]).decisions) == [by_field(question)]
                shown += 1
    assert shown


def test_decisions_travel_with_all_else() -> None:
    question = Question(5, Ask(1, 4, b"\1", GAME.new(3, DECKS).view(1), 0, 0))
    notice = Notice(NoticeKind.STALE, "text")
    assert sent(questions=[question], notices=[notice], heartbeat=7) == pb.PlayResponse(
        decisions=[by_field(question)], notices=[pb.Notice(kind=pb.NOTICE_KIND_STALE, text="text")], heartbeat=7
    )


@pytest.mark.parametrize("wrong", [{"legal": [-1]}, {"soft": -1}, {"bank": -1}, {"decision": -1}])
def test_a_negative_number_is_not_written(wrong: dict[str, Any]) -> None:
    ask = Ask(1, 4, b"\1", GAME.new(3, DECKS).view(1), 0, 0)
    with pytest.raises(ValueError, match="must be in range"):
        encode(Outgoing(questions=[Question(5, replace(ask, **wrong))]))


@pytest.mark.parametrize("name", ["scores"])
def test_a_field_that_is_written_otherwise_has_no_tag_here(name: str) -> None:
    with pytest.raises(KeyError):
        tag(sixth_sense_pb2.SixthSenseView, name)


@pytest.mark.parametrize("kind", NoticeKind)
def test_every_kind_of_notice_has_a_number_of_its_own(kind: NoticeKind) -> None:
    (notice,) = sent(notices=[Notice(kind, "text")]).notices
    assert pb.NoticeKind.Name(notice.kind) == f"NOTICE_KIND_{kind.name}"
    assert notice == pb.Notice(kind=notice.kind, text="text"), "what does not apply is absent"


def test_every_kind_of_notice_of_the_protocol_is_used() -> None:
    assert {0, *(pb.NoticeKind.Value(f"NOTICE_KIND_{kind.name}") for kind in NoticeKind)} == set(pb.NoticeKind.values())


def test_a_notice_carries_what_it_is_about() -> None:
    times = {
        "left": 1_234_567,
        "late": 2_345_678,
        "return_time": 3_456_789,
        "hold": 4_567_890,
        "casual_wait": 5_678_901,
    }
    said = Notice(NoticeKind.ILLEGAL, "text", 3, 2, 4, 0, 9, (5, 6), **times, invitation_id=8)
    (notice,) = sent(notices=[said]).notices
    assert notice == pb.Notice(
        match_id=3,
        decision_id=4,
        kind=pb.NOTICE_KIND_ILLEGAL,
        text="text",
        rejected_action=0,
        chosen_action=9,
        legal=[5, 6],
        left_ms=1234,
        late_ms=2345,
        return_ms=3456,
        hold_ms=4567,
        casual_ms=5678,
        seat=2,
        invitation_id=8,
    )
    assert notice.HasField("rejected_action"), "action 0 is an action"


def test_a_match_report_with_a_result() -> None:
    over = MatchOver(3, 1, (-4, 10), (2, 1), RatingMove(1500.0, 1512.25), (True, False), "", MatchKind.RATED)
    assert list(sent(reports=[over]).reports) == [
        pb.MatchReport(
            match_id=3,
            seat=1,
            scores=[-4, 10],
            places=[2, 1],
            rating=pb.RatingChange(before=1500.0, after=1512.25),
            counts=[True, False],
            kind=pb.MATCH_KIND_RATED,
        )
    ]


def test_a_match_report_without_a_result() -> None:
    (report,) = sent(reports=[MatchOver(3, 1, (), (), None, (), "the server was stopped", MatchKind.CASUAL)]).reports
    assert report == pb.MatchReport(match_id=3, seat=1, interrupted="the server was stopped", kind=pb.MATCH_KIND_CASUAL)
    assert not report.HasField("rating")


REASONS = {
    "the server died and left no journal of the match": pb.INTERRUPTION_JOURNAL_LOST,
    "the server died and the journal of the match is damaged": pb.INTERRUPTION_JOURNAL_DAMAGED,
    "the server died and the match cannot be restored: this server does not play go": pb.INTERRUPTION_NOT_RESTORED,
    "a process of the server died and the match cannot be restored: it is empty": pb.INTERRUPTION_NOT_RESTORED,
    "a process of the server died and left no journal of the match": pb.INTERRUPTION_JOURNAL_LOST,
    "the server could not record the result": pb.INTERRUPTION_NOT_RECORDED,
}
"""Reasons that data directories of older servers may contain."""


@pytest.mark.parametrize("reason", REASONS)
def test_a_match_report_names_the_cause_of_an_interruption(reason: str) -> None:
    (report,) = sent(reports=[MatchOver(3, 1, (), (), None, (), reason, MatchKind.RATED)]).reports
    assert (report.interrupted, report.interruption) == (reason, REASONS[reason])


def test_every_cause_of_an_interruption_of_the_protocol_occurs() -> None:
    assert {*REASONS.values(), pb.INTERRUPTION_UNSPECIFIED} == {*pb.Interruption.values()}


def test_a_rating_of_zero_is_a_rating() -> None:
    (report,) = sent(
        reports=[MatchOver(3, 1, (0, 0), (1, 1), RatingMove(0.0, 0.0), (True, True), "", MatchKind.RATED)]
    ).reports
    assert report.HasField("rating")


def test_a_heartbeat_of_zero_is_a_heartbeat() -> None:
    assert sent(heartbeat=0).HasField("heartbeat")
    assert not sent().HasField("heartbeat")


def test_a_changed_list_of_nodes_has_numbers_addresses_and_the_one_of_the_events() -> None:
    nodes = sent(nodes={1: ListedNode(":50051"), 3: ListedNode("there:50051", plays_event=True)}).nodes
    read = [(each.number, each.address, each.plays_event) for each in nodes]
    assert read == [(1, ":50051", False), (3, "there:50051", True)]


# --- every game ---


def test_the_protocol_has_a_codec_for_every_view_it_knows() -> None:
    proto = Path(__file__).parents[2] / "proto/arena/v1/play.proto"
    for oneof, codecs in (("view", VIEWS), ("record", ROUNDS)):
        body = re.search(rf"oneof {oneof} \{{(.*?)\}}", proto.read_text(), re.DOTALL)
        assert body is not None
        assert set(re.findall(r"(\w+) = \d+;", body[1])) == {
            each.game for each in codecs.values() if each.other is None
        }
