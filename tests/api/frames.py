"""Serialized messages of fuzzing bots: well-formed messages with wrong contents, damaged copies, and random bytes.

All randomness comes from a seeded `Random`, so that failures can be reproduced.
"""

from __future__ import annotations

from collections import deque
from random import Random
from typing import Any

from arena_client.v1 import play_pb2 as pb
from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.message_factory import GetMessageClass

from engine.registry import GAMES

EDGES = (0, 1, 2, 3, 127, 128, 255, 256, 65535, (1 << 31) - 1, 1 << 31, (1 << 32) - 1)
"""Numbers that fit into every number field."""
LARGE = (1 << 32, (1 << 63) - 1, 1 << 63, (1 << 64) - 1)
"""Numbers that fit only into 64-bit fields."""
TEXTS = ("", *GAMES, "chess", "\0", "ä" * 300, "../../etc/passwd", "'; DROP TABLE bots; --", "%s%n")


class Frames:
    """Generator of one bot's messages, based on the matches, decisions and legal actions that it has received."""

    def __init__(self, rng: Random) -> None:
        self._rng = rng
        self._heard: deque[pb.Decision] = deque(maxlen=40)
        self._invited: deque[int] = deque(maxlen=20)
        self._said: deque[bytes] = deque(maxlen=200)
        self._polite_for = 0

    def hear(self, message: pb.PlayResponse) -> None:
        """Remember the matches and decisions in a message from the server."""
        self._heard.extend(message.decisions)
        self._invited.extend(invitation.invitation_id for invitation in message.invitations)

    def hello(self) -> bytes:
        """Return a first message, usually a valid one. Well-formed messages follow it, so that matches begin."""
        rng = self._rng
        self._polite_for = rng.choice((0, 5, 300, 600))
        if rng.random() < 0.15:
            return self.frame()
        games = rng.choice(([*GAMES], [*GAMES][::-1], [[*GAMES][-1], "chess", [*GAMES][-1]]))
        capacity = rng.choice((1, 1, 2, 3, 5, (1 << 32) - 1))
        return pb.PlayRequest(hello=pb.Hello(games=games, capacity=capacity, client="fuzz")).SerializeToString()

    def frame(self) -> bytes:
        """Return a message of a random kind."""
        rng = self._rng
        kind = rng.random()
        self._polite_for -= 1
        if self._polite_for > 0 or kind < 0.50:
            frame = self._sensible().SerializeToString()
            self._said.append(frame)
        elif kind < 0.70:
            frame = filled(pb.PlayRequest.DESCRIPTOR, rng, without=("hello",) if rng.random() < 0.9 else ())
        elif kind < 0.90 and self._said:
            frame = damaged(rng.choice(self._said), rng, self._said)
        elif kind < 0.97 and self._said:
            frame = rng.choice(self._said)
        else:
            frame = rng.randbytes(rng.choice((0, 1, 2, 10, 100, 5000)))
        return frame

    def proper(self, message: pb.PlayResponse) -> bytes:
        """Return the reply of a correct bot."""
        reply = pb.PlayRequest()
        for invitation in message.invitations:
            reply.ready.add(
                invitation_id=invitation.invitation_id, nonce=self._rng.randbytes(self._rng.choice((0, 16)))
            )
        for decision in message.decisions:
            action = self._rng.choice(decision.legal)
            reply.answers.add(match_id=decision.match_id, decision_id=decision.decision_id, action=action)
        frame = reply.SerializeToString()
        self._said.append(frame)
        return frame

    def prying(self) -> bytes:
        """Return answers to other decisions than the last one received."""
        rng = self._rng
        request = pb.PlayRequest()
        match, own = (self._heard[-1].match_id, self._heard[-1].decision_id) if self._heard else (0, 0)
        for _ in range(rng.choice((1, 2, 5))):
            decision = rng.choice([number for number in (0, 1, 2, 3, 4, 5, 6, (1 << 32) - 1) if number != own])
            request.answers.add(match_id=match, decision_id=decision, action=self._number() % (1 << 32))
        if rng.random() < 0.2:
            request.ready.add(invitation_id=rng.choice((match, self._number())), nonce=rng.randbytes(16))
        if rng.random() < 0.2:
            request.declined.append(match)
        return request.SerializeToString()

    def _sensible(self) -> pb.PlayRequest:
        """Return the message of a bot that mixes up matches, decisions and actions."""
        rng = self._rng
        request = pb.PlayRequest()
        for _ in range(rng.choice((0, 1, 1, 1, 2, 5))):
            match, decision, legal = self._question()
            right = rng.random() < 0.6
            request.answers.add(
                match_id=match if right or rng.random() < 0.8 else self._number(),
                decision_id=decision if right else max(0, decision + rng.choice((-1, 1, 2, 5))) % (1 << 32),
                action=rng.choice(legal) if legal and rng.random() < 0.8 else self._number() % (1 << 32),
            )
        if rng.random() < 0.3:
            for _ in range(rng.choice((1, 1, 3))):
                request.ready.add(invitation_id=self._match(), nonce=rng.randbytes(rng.choice((0, 16))))
        if rng.random() < 0.03:
            request.declined.append(self._match())
        if rng.random() < 0.1:
            request.heartbeat = rng.choice((*EDGES, *LARGE))
        if rng.random() < 0.05:
            request.capacity = rng.choice((0, 1, 2, 4, (1 << 32) - 1))
        return request

    def _question(self) -> tuple[int, int, list[int]]:
        if self._heard and self._rng.random() < 0.95:
            newest = self._rng.random() < 0.7
            decision = self._heard[-1] if newest else self._rng.choice(self._heard)
            return decision.match_id, decision.decision_id, list(decision.legal)
        return self._match(), self._rng.randrange(200), []

    def _match(self) -> int:
        return self._rng.choice(self._invited) if self._invited and self._rng.random() < 0.9 else self._number()

    def _number(self) -> int:
        return self._rng.choice((*EDGES, *LARGE, self._rng.randrange(300)))


def damaged(frame: bytes, rng: Random, others: deque[bytes]) -> bytes:
    """Return a copy with one to three faults: changed bytes, or parts of other messages."""
    content = bytearray(frame)
    for _ in range(rng.randint(1, 3)):
        at = rng.randrange(len(content) + 1)
        match rng.randrange(6):
            case 0 if content:
                content[at % len(content)] ^= 1 << rng.randrange(8)
            case 1:
                del content[at:]
            case 2:
                del content[at : at + rng.randrange(1, 5)]
            case 3:
                content[at:at] = rng.randbytes(rng.randrange(1, 5))
            case 4:
                content += bytes(content)
            case _:
                content[at:] = rng.choice(others)[rng.randrange(3) :]
    return bytes(content[:20_000])


def filled(kind: Descriptor, rng: Random, without: tuple[str, ...] = (), depth: int = 0) -> bytes:
    """Return a well-formed message with random values in its fields."""
    message: Any = GetMessageClass(kind)()
    for field in kind.fields:
        if field.name in without or rng.random() < 0.5:
            continue
        for _ in range(rng.choice((1, 1, 2, 7)) if field.is_repeated else 1):
            if field.message_type is not None:
                part = filled(field.message_type, rng, (), depth + 1) if depth < 4 else b""
                target = getattr(message, field.name)
                (target.add() if field.is_repeated else target).MergeFromString(part)
            elif field.is_repeated:
                getattr(message, field.name).append(_value(field, rng))
            else:
                setattr(message, field.name, _value(field, rng))
    return bytes(message.SerializeToString())


def _value(field: FieldDescriptor, rng: Random) -> Any:
    match field.cpp_type:
        case FieldDescriptor.CPPTYPE_STRING if field.type == FieldDescriptor.TYPE_BYTES:
            return rng.randbytes(rng.choice((0, 1, 15, 16, 17, 1000)))
        case FieldDescriptor.CPPTYPE_STRING:
            return rng.choice(TEXTS)
        case FieldDescriptor.CPPTYPE_UINT64:
            return rng.choice((*EDGES, *LARGE))
        case FieldDescriptor.CPPTYPE_INT64:
            return rng.choice((*EDGES, *LARGE, *(-number for number in LARGE))) % (1 << 64) - (1 << 63)
        case FieldDescriptor.CPPTYPE_INT32:
            return rng.choice(EDGES) - (1 << 31)
        case FieldDescriptor.CPPTYPE_UINT32:
            return rng.choice(EDGES)
        case FieldDescriptor.CPPTYPE_ENUM:
            return rng.choice((0, 1, 2, 3, 17, (1 << 31) - 1))
        case FieldDescriptor.CPPTYPE_BOOL:
            return rng.random() < 0.5
        case other:
            raise NotImplementedError(f"{field.full_name} is of type {other}")
