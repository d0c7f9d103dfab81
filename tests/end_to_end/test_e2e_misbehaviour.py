"""Bots that send forbidden messages: each gets the reason, and the others' matches end normally."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count

import grpc
import pytest
from arena_client.v1 import play_pb2 as pb

from tests.end_to_end.e2e_rig import Crowd, Ended, RawBot, Server, audit, server

NUMBERS = count()


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("misbehaviour") / "data", "--quiet", "--drain", "0") as arena:
        yield arena


@pytest.fixture
def crowd(arena: Server) -> Iterator[Crowd]:
    with Crowd(arena.address) as crowd:
        yield crowd


def new(crowd: Crowd, **how: object) -> RawBot:
    return crowd.come(f"bot-{next(NUMBERS)}", **how)


def paired(crowd: Crowd) -> tuple[RawBot, RawBot]:
    """The bot under test before its first decision, and one that plays well."""
    good = new(crowd)
    bad = new(crowd)
    good.play_in_background()
    bad.read_until(lambda: bad.decisions)
    return bad, good


def others_play_on(crowd: Crowd) -> None:
    """Two new bots play a match to a normal end."""
    ann, bob = new(crowd), new(crowd)
    bob.play_in_background()
    ann.play_until(lambda: ann.reports)
    assert ann.reports[0].scores
    assert not ann.reports[0].interrupted


def ended(bot: RawBot) -> Ended:
    return bot.last_word()


@pytest.mark.parametrize(
    ("message", "code", "text"),
    [
        (b"\xff\xff\xff\xff", grpc.StatusCode.INVALID_ARGUMENT, "the message cannot be parsed"),
        (bytes(2 << 20), grpc.StatusCode.RESOURCE_EXHAUSTED, "a message has at most 1048576 bytes, not 2097152"),
        (
            pb.PlayRequest(hello=pb.Hello(games=["sixth_sense"], capacity=1)),
            grpc.StatusCode.INVALID_ARGUMENT,
            "a hello came twice",
        ),
    ],
    ids=["malformed", "oversized", "second hello"],
)
def test_what_the_protocol_does_not_allow_ends_the_stream_with_a_reason(
    crowd: Crowd, message: pb.PlayRequest | bytes, code: grpc.StatusCode, text: str
) -> None:
    bad, good = paired(crowd)
    bad.send(message)
    end = ended(bad)
    assert end.code is code
    assert text in end.text
    back = crowd.stranger(bad.token)
    back.play_until(lambda: back.reports)
    assert back.reports[0].scores, "the match that the bot left goes on to its end"
    assert good.end is None


@pytest.mark.parametrize(
    ("token", "text"),
    [("", "send the metadata 'authorization: Bearer TOKEN'"), ("arena_guess", "no bot has this token")],
)
def test_a_token_that_is_missing_or_unknown_is_refused(crowd: Crowd, token: str, text: str) -> None:
    end = ended(crowd.stranger(token))
    assert end.code is grpc.StatusCode.UNAUTHENTICATED
    assert text in end.text


@pytest.mark.parametrize(
    ("first", "code", "text"),
    [
        (pb.PlayRequest(heartbeat=1), grpc.StatusCode.INVALID_ARGUMENT, "the first message must hold a hello"),
        (pb.PlayRequest(hello=pb.Hello(capacity=1)), grpc.StatusCode.INVALID_ARGUMENT, "hello.games is empty"),
        (
            pb.PlayRequest(hello=pb.Hello(games=["chess"], capacity=1)),
            grpc.StatusCode.FAILED_PRECONDITION,
            "this server plays",
        ),
    ],
)
def test_a_bad_first_message_is_refused(crowd: Crowd, first: pb.PlayRequest, code: grpc.StatusCode, text: str) -> None:
    bot = new(crowd, hello=False)
    bot.send(first)
    end = ended(bot)
    assert end.code is code
    assert text in end.text


def test_an_answer_to_an_unknown_match_is_a_notice(crowd: Crowd) -> None:
    bad, _ = paired(crowd)
    bad.send(pb.PlayRequest(answers=[pb.Answer(match_id=10**9, decision_id=3, action=4)]))
    bad.read_until(lambda: bad.notices)
    notice = bad.notices[0]
    assert (notice.kind, notice.match_id, notice.decision_id, notice.rejected_action) == (3, 10**9, 3, 4)
    assert "no seat at match 1000000000" in notice.text
    bad.play_until(lambda: bad.reports)
    assert bad.reports[0].scores


def test_an_illegal_action_is_explained_twice_and_then_the_server_plays(crowd: Crowd) -> None:
    bad, good = paired(crowd)
    decision = bad.decisions.pop()
    illegal = max(decision.legal) + 1
    for mistakes in (1, 2):
        bad.answer(decision, action=illegal)
        bad.read_until(lambda mistakes=mistakes: len(bad.notices) == mistakes)  # type: ignore[misc]
        notice = bad.notices[-1]
        assert (notice.kind, notice.decision_id, notice.rejected_action) == (1, decision.decision_id, illegal)
        assert list(notice.legal) == list(decision.legal)
        assert notice.left_ms > 0
    bad.answer(decision, action=1 << 31)
    bad.read_until(lambda: len(bad.notices) == 4)
    assert [notice.kind for notice in bad.notices] == [1, 1, 1, 5]
    assert bad.notices[3].chosen_action in decision.legal
    bad.play_until(lambda: bad.reports)
    assert bad.reports[0].scores
    assert not good.notices


def test_after_all_that_others_play_and_everything_is_in_order(arena: Server, crowd: Crowd) -> None:
    others_play_on(crowd)
    assert audit(arena.data).finished
    assert "a handler failed" not in arena.log


@pytest.mark.parametrize("size", [1, 15, 17])
def test_a_nonce_of_a_wrong_size_is_told_and_the_invitation_stays_open(crowd: Crowd, size: int) -> None:
    good = new(crowd).play_in_background()
    bad = new(crowd)
    bad.accepts = False
    bad.read_until(lambda: bad.invitations)
    number = bad.invitations[0].invitation_id
    bad.send(pb.PlayRequest(ready=[pb.Ready(invitation_id=number, nonce=bytes(size))]))
    bad.read_until(lambda: bad.notices)
    notice = bad.notices[0]
    assert (notice.kind, notice.invitation_id) == (pb.NOTICE_KIND_ILLEGAL, number)
    assert notice.text == f"a nonce has 16 bytes or none, not {size}; accept the invitation with another"
    bad.send(pb.PlayRequest(ready=[pb.Ready(invitation_id=number, nonce=bytes(range(16)))]))
    bad.play_until(lambda: bad.reports)
    assert bad.starts[0].invitation_id == number
    assert good.end is None
