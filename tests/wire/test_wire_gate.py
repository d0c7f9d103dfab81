"""The gate: so many connections of one address, so many in all, and room again when one is gone."""

from __future__ import annotations

import resource
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
import structlog

from arena.wire import gate
from arena.wire.gate import LOOPBACK, QUIET, RESERVED, Gate, Origin, origin_of
from arena.wire.settings import Settings
from tests.end_to_end.e2e_rig import until
from tests.wire.grpc_rig import PATIENCE, converse, echo, in_thread, play_service, refusal, serving
from tests.wire.raw_http2 import PLAY, Line
from tests.wire.siege import Siege

THERE = "192.0.2.1"
ELSEWHERE = "192.0.2.2"
ONE = b"8\x00"
"""A message."""


@pytest.mark.parametrize(
    ("host", "origin"),
    [
        (THERE, THERE),
        ("::ffff:192.0.2.1", THERE),
        ("2001:db8:1:2:3:4:5:6", "2001:db8:1:2::/64"),
        ("2001:db8:1:2:ffff::", "2001:db8:1:2::/64"),
        ("2001:db8:1:3::", "2001:db8:1:3::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        ("127.0.0.1", LOOPBACK),
        ("127.1.2.3", LOOPBACK),
        ("::1", LOOPBACK),
        ("::ffff:127.0.0.1", LOOPBACK),
    ],
)
def test_what_counts_as_one_address(host: str, origin: str) -> None:
    assert origin_of(host) == origin


def test_an_address_has_so_many_and_another_the_same() -> None:
    one = Gate(100, 2)
    assert [one.enter(host, 0.0) for host in (THERE, THERE, THERE, ELSEWHERE)] == [THERE, THERE, None, ELSEWHERE]
    one.leave(Origin(THERE))
    assert [one.enter(THERE, 0.0), one.enter(THERE, 0.0)] == [THERE, None]


def test_loopback_counts_in_all_only() -> None:
    one = Gate(4, 2)
    assert [one.enter("127.0.0.1", 0.0) for _ in range(5)] == [LOOPBACK] * 4 + [None]
    assert one.enter(THERE, 0.0) is None
    one.leave(LOOPBACK)
    assert one.enter(THERE, 0.0) == THERE


def test_the_log_is_not_filled_by_those_sent_away() -> None:
    one = Gate(1, 1)
    one.enter(THERE, 0.0)
    with structlog.testing.capture_logs() as said:
        for second in range(int(2 * QUIET) + 1):
            for _ in range(100):
                one.enter(ELSEWHERE, float(second))
    assert [line["count"] for line in said] == [1, 1000, 1000]
    assert said[0]["last"] == "there are 1, the most at once"


@pytest.fixture
def few_files() -> Iterator[int]:
    """The process may open so few."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = 1000
    resource.setrlimit(resource.RLIMIT_NOFILE, (few, hard))
    yield few
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_files_stay_for_what_is_no_connection(few_files: int) -> None:
    assert Gate(100, 1).most == 100
    with structlog.testing.capture_logs() as said:
        assert Gate(4000, 1).most == few_files - RESERVED
    assert [line["connections"] for line in said] == [few_files - RESERVED]


# --- over sockets ---


@asynccontextmanager
async def narrow(**limits: Any) -> AsyncIterator[str]:
    async with serving(play_service(echo), settings=Settings(**limits)) as address:
        yield address


def came_in(address: str, source: str = "127.0.0.1") -> Line | None:
    """A connection from there on which a greeting was answered, if it was."""
    host, _, port = address.rpartition(":")
    line = Line(address, over=socket.create_connection((host, int(port)), 30, source_address=(source, 0)))
    if line.hear():
        return line
    line.socket.close()
    return None


async def test_who_comes_beyond_the_limit_of_all_is_sent_away_until_one_goes() -> None:
    def crowd(address: str) -> None:
        with ExitStack() as inside:
            lines = [came_in(address) for _ in range(4)]
            for line in lines[:3]:
                assert line
                inside.enter_context(line)
            assert lines[3] is None
            assert refusal(lambda: converse(address, 1))[0] is grpc.StatusCode.UNAVAILABLE
            assert lines[0]
            lines[0].socket.close()
            until(lambda: (line := came_in(address)) and inside.enter_context(line), "room for one more")

    async with narrow(connections=3) as address:
        await in_thread(crowd, address)


async def test_who_comes_beyond_the_limit_of_an_address_is_sent_away_and_others_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """All of loopback counts as one address; here it does not."""
    monkeypatch.setattr(gate, "origin_of", Origin)

    def crowd(address: str) -> None:
        lines = [came_in(address, "127.0.0.2") for _ in range(6)]
        assert [line is not None for line in lines] == [True] * 4 + [False] * 2
        assert converse(address, 1, 2, 3) == [1, 2, 3]
        for line in lines:
            if line is not None:
                line.socket.close()

    async with narrow(connections_per_address=4) as address:
        await in_thread(crowd, address)


async def test_a_connection_without_a_call_is_asked_to_go_and_one_with_a_call_is_not() -> None:
    def linger(address: str) -> None:
        with Line(address) as idle, Line(address) as busy:
            stream = busy.open(PLAY)
            idle.until(lambda: idle.farewell is not None)
            assert idle.farewell == 0
            busy.data(stream, bytes(5))
            busy.until(lambda: busy.answers[stream].content)
            assert busy.farewell is None

    async with narrow(idle_timeout=1.0) as address:
        await in_thread(linger, address)


async def test_who_is_asked_to_go_and_stays_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.wire.line.LINGER", 0.5)

    def stay(address: str) -> None:
        with Line(address) as line:
            assert line.is_cut_off()
            assert line.farewell == 0

    async with narrow(idle_timeout=2.0) as address:
        await in_thread(stay, address)


async def test_a_client_that_was_asked_to_go_comes_again_with_its_next_call() -> None:
    def call_now_and_then(address: str) -> None:
        left = threading.Semaphore(0)

        def hear(state: grpc.ChannelConnectivity) -> None:
            if state is grpc.ChannelConnectivity.IDLE:
                left.release()

        with grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
            channel.subscribe(hear)
            assert left.acquire(timeout=PATIENCE), "idle before the first call"
            call: Any = channel.stream_stream(PLAY)
            for _ in range(3):
                assert list(call(iter([ONE]), timeout=PATIENCE)) == [ONE]
                assert left.acquire(timeout=PATIENCE), "idle because it was asked to go"

    async with narrow(idle_timeout=0.5) as address:
        await in_thread(call_now_and_then, address)


def test_a_crowd_is_kept_out_while_bots_play_on(tmp_path: Path) -> None:
    most = 50
    with (
        Siege.begun(tmp_path / "data", "--connections", str(most)) as siege,
        siege.undisturbed(),
        ExitStack() as crowd,
    ):
        lines = [crowd.enter_context(Line(siege.address)) for _ in range(3 * most)]
        inside = [line for line in lines if line.hear()]
        assert most - 10 < len(inside) < most, "the bots are inside, too"
        siege.play_on()
        for line in inside:
            line.socket.close()
        until(lambda: (line := came_in(siege.address)) and crowd.enter_context(line), "room again")
        assert 0 < siege.server.log.count("connections sent away") < 10
