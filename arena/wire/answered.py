"""Answers read from their bytes: what bots say with every decision, and mostly nothing else.

Whatever may be anything else, or is not written as libraries write it, is left to the protocol's own parser. What is
read here says the same there.
"""

from __future__ import annotations

from typing import Final

from arena.server.messages import Answer
from arena.v1 import play_pb2
from arena.wire.packed import tag

_ANSWERS: Final = tag(play_pb2.PlayRequest, "answers")[0]
_MATCH: Final = tag(play_pb2.Answer, "match_id")[0]
_DECISION: Final = tag(play_pb2.Answer, "decision_id")[0]
_ACTION: Final = tag(play_pb2.Answer, "action")[0]
_LARGE: Final = 1 << 28
"""Numbers from here on are left to the parser: they take five bytes and more, and not all of them are allowed."""


def read_answers(message: bytes) -> list[Answer] | None:
    """The answers of a serialized PlayRequest; None where there is anything else in it."""
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
