"""The order in which the fields of a message are handled, as stated in the protocol's comments."""

from __future__ import annotations

import re
from pathlib import Path

import pytest
import trio
from arena_client.v1 import play_pb2

from arena.api.codec import HANDLED
from arena.server.sessions.messages import Answer, NoticeKind, Ready
from tests.server.server_rig import Bot, Hall

PROTO = Path(__file__).parents[2] / "proto" / "arena" / "v1" / "play.proto"


def said_order(message: str) -> list[str]:
    """Return the fields of a message in the order that its comment states."""
    comment = re.search(rf"((?://.*\n)+)message {message} ", PROTO.read_text())
    assert comment is not None
    text = " ".join(line.removeprefix("//").strip() for line in comment[1].splitlines())
    found = re.search(r"in this order: ([a-z, ]+)\.", text)
    assert found is not None
    return found[1].split(", ")


@pytest.mark.parametrize("message", ["PlayRequest", "PlayResponse"])
def test_the_order_names_every_field(message: str) -> None:
    fields = play_pb2.DESCRIPTOR.message_types_by_name[message].fields
    assert sorted(said_order(message)) == sorted(field.name for field in fields)


def test_what_comes_in_several_messages_has_the_order_of_one() -> None:
    assert list(HANDLED) == said_order("PlayResponse")


async def test_the_server_handles_the_fields_of_a_request_in_their_order(hall: Hall, ann: Bot) -> None:
    async with hall.open(ann):
        await ann.until(lambda: ann.welcome)
        number = {"declined": 1, "ready": 2, "resumed": 3, "answers": 4}
        ann.line.say(
            answers=[Answer(number["answers"], 1, 1)],
            resumed=[number["resumed"]],
            ready=[Ready(number["ready"], b"")],
            declined=[number["declined"]],
            leaves=True,
        )
        await trio.sleep(10)
        assert ann.end is None, "it left in order, after all of this"
        assert {notice.kind for notice in ann.notices} == {NoticeKind.UNKNOWN}
        numbers = [notice.match_id or notice.invitation_id for notice in ann.notices]
        assert numbers == [number[name] for name in said_order("PlayRequest") if name in number]
        assert said_order("PlayRequest")[-1] == "leave"
