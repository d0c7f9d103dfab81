"""Floods over a real socket: each ends its own stream with a named reason, and the others' match goes on."""

from __future__ import annotations

import gzip
import socket
from collections.abc import Iterator
from contextlib import suppress
from itertools import count
from typing import Any

import grpc
import pytest
from arena_client.v1 import play_pb2 as pb

from arena.queries.remote import connect
from arena.replay.read import read
from arena.replay.verify import verify
from arena.server.matches.driver import MOST_STRAYS
from tests.end_to_end.e2e_rig import (
    PATIENCE,
    Crowd,
    Ended,
    RawBot,
    Server,
    audit,
    channel_to,
    register,
    replay_of,
    server,
    until,
)

NUMBERS = count()
UNKNOWN_FIELD = b"\x9a\x06\x80\x10" + bytes(2048)
"""Two KiB in field 99, which a later version of the protocol may have."""
LIMITS = ("--unsolicited-rate", "10", "--byte-rate", "4096", "--bots-per-owner", "3", "--streams-per-owner", "2")


@pytest.fixture(scope="module")
def arena(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    with server(tmp_path_factory.mktemp("limits") / "data", "--drain", "0", *LIMITS) as arena:
        yield arena


@pytest.fixture
def crowd(arena: Server) -> Iterator[Crowd]:
    with Crowd(arena.address) as crowd:
        yield crowd


def paired(crowd: Crowd) -> tuple[RawBot, RawBot]:
    """One before its first decision, and one that plays well."""
    good, bad = (crowd.come(f"bot-{next(NUMBERS)}") for _ in range(2))
    good.play_in_background()
    bad.read_until(lambda: bad.decisions)
    return bad, good


def flood(bad: RawBot, request: pb.PlayRequest | bytes, times: int) -> Ended:
    for _ in range(times):
        bad.send(request)
    with suppress(Ended):
        while True:
            bad.read()
    assert bad.end is not None
    return bad.end


def goes_on(crowd: Crowd, bad: RawBot, good: RawBot) -> int:
    """The bot comes back and the match ends as it should; its number."""
    back = crowd.stranger(bad.token)
    back.play_until(lambda: back.reports)
    report = back.reports[0]
    assert report.scores
    assert not report.interrupted
    until(lambda: report.match_id in {each.match_id for each in good.reports}, "the other to be told")
    assert good.end is None
    return report.match_id


@pytest.mark.parametrize(
    ("request_", "times", "text"),
    [
        (pb.PlayRequest(), 2100, "flooding: more than 10 answers and other things a second"),
        (pb.PlayRequest(heartbeat=1), 2100, "flooding: more than 10 answers and other things a second"),
        (
            pb.PlayRequest(answers=[pb.Answer(match_id=10**9)] * 9000),
            1,
            "flooding: more than 10 answers and other things a second",
        ),
        (pb.PlayRequest(declined=[1] * 9000), 1, "flooding: more than 10 answers and other things a second"),
        (UNKNOWN_FIELD, 40, "flooding: more than 4 KiB a second"),
    ],
    ids=["empty", "heartbeats", "unknown match", "declined", "bytes"],
)
def test_a_flood_ends_its_stream_with_a_reason(
    crowd: Crowd, request_: pb.PlayRequest | bytes, times: int, text: str
) -> None:
    bad, good = paired(crowd)
    end = flood(bad, request_, times)
    assert (end.code, text in end.text) == (grpc.StatusCode.RESOURCE_EXHAUSTED, True), end
    goes_on(crowd, bad, good)


def test_stale_answers_do_not_swell_the_record(arena: Server, crowd: Crowd) -> None:
    bad, good = paired(crowd)
    decision = bad.decisions[0]
    stray = pb.Answer(match_id=decision.match_id, decision_id=decision.decision_id + 1000)
    end = flood(bad, pb.PlayRequest(answers=[stray] * 100), 12)
    assert end.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert f"flooding: {MOST_STRAYS} answers to no open decision in match {decision.match_id}" in end.text
    match = goes_on(crowd, bad, good)
    replay = replay_of(arena.address, match)
    assert verify(read(replay)).verified
    assert gzip.decompress(replay).count(b'"acted"') < 2 * MOST_STRAYS


def test_an_owner_has_so_many_bots(arena: Server) -> None:
    for number in range(3):
        register(arena.address, f"ann-{number}", owner="ann")
    with pytest.raises(grpc.RpcError) as caught:
        register(arena.address, "ann-3", owner="ann")
    assert caught.value.code() is grpc.StatusCode.FAILED_PRECONDITION
    assert caught.value.details() == "ann has 3 bots, and more are not allowed here; use one of them"


def test_the_bots_of_an_owner_have_so_many_streams(arena: Server, crowd: Crowd) -> None:
    tokens = [register(arena.address, f"zoe-{number}", owner="zoe") for number in range(3)]
    first, second = (crowd.stranger(token, games=("nullern",)) for token in tokens[:2])
    for bot in (first, second):
        assert bot.read().HasField("welcome")
    end = crowd.stranger(tokens[2]).last_word()
    assert end.code is grpc.StatusCode.RESOURCE_EXHAUSTED
    assert "the bots of zoe have 2 streams open" in end.text
    second.close()

    def comes_in() -> bool:
        third = crowd.stranger(tokens[2], games=("nullern",))
        with suppress(Ended):
            return third.read().HasField("welcome")
        return False

    until(comes_in, "the stream that was closed to make room")


def test_who_reconnects_in_a_storm_is_held_off(crowd: Crowd) -> None:
    token = register(crowd.address, f"bot-{next(NUMBERS)}")
    ends = []
    for _ in range(35):
        bot = crowd.stranger(token)
        with suppress(Ended):
            bot.read()
            bot.close()
        if bot.end is not None:
            ends.append(bot.end)
    assert ends
    assert {end.code for end in ends} == {grpc.StatusCode.RESOURCE_EXHAUSTED}
    assert all("connects too often" in end.text for end in ends)


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


def test_a_connection_that_does_not_greet_is_closed(arena: Server) -> None:
    host, _, port = arena.address.rpartition(":")
    with socket.create_connection((host, int(port)), timeout=PATIENCE) as line:
        while line.recv(65536):
            pass


def test_afterwards_everything_is_in_order(arena: Server, crowd: Crowd) -> None:
    bad, good = paired(crowd)
    goes_on(crowd, bad, good)
    assert audit(arena.data).finished
    assert "a handler failed" not in arena.log


@pytest.mark.parametrize("page", [1, 2, 1000])
def test_the_client_reads_every_page_of_bots(
    arena: Server, crowd: Crowd, monkeypatch: pytest.MonkeyPatch, page: int
) -> None:
    for _ in range(3):
        register(crowd.address, f"bot-{next(NUMBERS)}")
    monkeypatch.setattr("arena.queries.remote.PAGE", 1000)
    with connect(arena.address) as client:
        everybody = client.bots()
        monkeypatch.setattr("arena.queries.remote.PAGE", page)
        assert [bot.name for bot in client.bots()] == [bot.name for bot in everybody]
    assert len(everybody) >= 3
