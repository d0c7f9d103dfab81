# Compiled: every decision passes through here.
"""A fast decoder of messages that contain only answers, as nearly all messages of bots do.

Any other message, and any encoding that protobuf libraries do not produce, goes to the protobuf parser. Both decode the
same messages to the same values.
"""

from __future__ import annotations

from typing import Final

from arena_client.v1 import play_pb2

from arena.protobuf.fields import tag
from arena.server.sessions.messages import Answer

_ANSWERS: Final = tag(play_pb2.PlayRequest, "answers")[0]
_MATCH: Final = tag(play_pb2.Answer, "match_id")[0]
_DECISION: Final = tag(play_pb2.Answer, "decision_id")[0]
_ACTION: Final = tag(play_pb2.Answer, "action")[0]
_LARGE: Final = 1 << 28
"""Smallest number that goes to the parser. Varints from here on have at least five bytes, and some are invalid."""


def read_answers(message: bytes) -> list[Answer] | None:
    """Decode a serialized PlayRequest that contains only answers. Return None for any other message."""
    answers: list[Answer] = []
    at, size = 0, len(message)
    try:
        while at < size:
            length = message[at + 1]
            if message[at] != _ANSWERS or length > 127:
                return None
            at += 2
            end = at + length
            match_id = decision = action = 0
            while at < end:
                field, number = message[at], message[at + 1]
                at += 2
                if number > 127:
                    number -= 128
                    weight = 128
                    while (byte := message[at]) > 127:
                        number += (byte - 128) * weight
                        weight *= 128
                        at += 1
                        if weight == _LARGE:
                            return None
                    number += byte * weight
                    at += 1
                if field == _MATCH:
                    match_id = number
                elif field == _DECISION:
                    decision = number
                elif field == _ACTION:
                    action = number
                else:
                    return None
            if at > end:
                return None
            answers.append(Answer(match_id, decision, action))
    except IndexError:
        return None
    return answers
