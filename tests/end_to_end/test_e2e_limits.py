"""Limits on the first messages, over a real socket."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import count
from typing import Any

import grpc
import pytest
from arena_client.v1 import play_pb2 as pb

from tests.end_to_end.e2e_rig import PATIENCE, Crowd, Server, channel_to, register, server

NUMBERS = count()


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("limits") / "data", "--drain", "0") as arena:
        yield arena


@pytest.fixture
def crowd(arena: Server) -> Iterator[Crowd]:
    with Crowd(arena.address) as crowd:
        yield crowd


def test_large_headers_and_a_large_hello_are_refused(arena: Server, crowd: Crowd) -> None:
    token = register(crowd.address, f"bot-{next(NUMBERS)}")
    with channel_to(arena.address) as channel:
        call: Any = channel.unary_unary(
            "/arena.v1.BotService/ListBots", request_serializer=lambda _: b"", response_deserializer=bytes
        )
        with pytest.raises(grpc.RpcError) as caught:
            call(None, metadata=(("x-large", "x" * 6_000),), timeout=PATIENCE)
        assert caught.value.code() is grpc.StatusCode.RESOURCE_EXHAUSTED
        assert call(None, metadata=(("x-small", "x" * 2000),), timeout=PATIENCE)
    bot = crowd.stranger(token, games=["x" * 5000])
    end = bot.last_word()
    assert end.code is grpc.StatusCode.INVALID_ARGUMENT
    assert "the first message has at most 4096 bytes" in end.text


@pytest.mark.parametrize("size", [1, 15, 17])
def test_a_nonce_of_a_wrong_size_is_told_and_the_invitation_stays_open(crowd: Crowd, size: int) -> None:
    good = crowd.come(f"bot-{next(NUMBERS)}").play_in_background()
    bad = crowd.come(f"bot-{next(NUMBERS)}")
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
