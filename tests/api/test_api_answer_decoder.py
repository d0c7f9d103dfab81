"""The server decodes answers without the protocol's parser if they are encoded as most libraries encode them."""

from __future__ import annotations

import pytest
from arena_client.v1 import play_pb2 as pb
from google.protobuf.message import DecodeError

from arena.api.answer_decoder import read_answers
from arena.server.sessions.messages import Answer

LARGEST = (1 << 28) - 1
NUMBERS = [0, 1, 127, 128, 300, 16_383, 16_384, 2_097_151, 2_097_152, LARGEST]


def message(*answers: Answer) -> bytes:
    """Return the message of a bot that sends an answer."""
    written = [pb.Answer(match_id=each.match_id, decision_id=each.decision, action=each.action) for each in answers]
    return pb.PlayRequest(answers=written).SerializeToString()


def test_answers_are_read_whatever_their_numbers() -> None:
    answers = [Answer(match, decision, action) for match in NUMBERS for decision in NUMBERS for action in NUMBERS]
    assert read_answers(message(*answers)) == answers


@pytest.mark.parametrize("number", [LARGEST + 1, 1 << 35, (1 << 64) - 1])
def test_numbers_too_large_are_left_to_the_parser(number: int) -> None:
    assert read_answers(message(Answer(number, 1, 1))) is None


@pytest.mark.parametrize(
    "request_",
    [
        pb.PlayRequest(heartbeat=1),
        pb.PlayRequest(capacity=1),
        pb.PlayRequest(ready=[pb.Ready(invitation_id=1)]),
        pb.PlayRequest(declined=[1]),
        pb.PlayRequest(hello=pb.Hello(capacity=1)),
    ],
)
def test_what_says_anything_else_is_left_to_the_parser(request_: pb.PlayRequest) -> None:
    request_.answers.append(pb.Answer(match_id=1))
    assert read_answers(request_.SerializeToString()) is None


def test_of_a_message_cut_off_nothing_is_made_up() -> None:
    answers = [Answer(300, 2, 3), Answer(4, 500, 6), Answer(7, 8, 70_000)]
    whole = message(*answers)
    for end in range(len(whole)):
        try:
            parsed = pb.PlayRequest.FromString(whole[:end])
        except DecodeError:
            assert read_answers(whole[:end]) is None
        else:
            assert read_answers(whole[:end]) == answers[: len(parsed.answers)]
