"""Limits on connections: in total, per address and for idle ones. A connection that closes frees its place."""

from __future__ import annotations

import resource
import socket
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager
from typing import Any

import grpc
import pytest
import structlog

from tests.trio_grpc.echo import SAY
from tests.trio_grpc.grpc_rig import PATIENCE, converse, echo, echo_service, in_thread, refusal, serving
from tests.trio_grpc.raw_http2 import RawConnection
from tests.waiting import until
from trio_grpc.limits import connection_limits
from trio_grpc.limits.connection_limits import (
    LOG_INTERVAL,
    LOOPBACK,
    RESERVED_FILES,
    ConnectionLimits,
    Origin,
    origin_of,
)
from trio_grpc.limits.settings import TransportSettings

pytestmark = pytest.mark.process

THERE = "192.0.2.1"
ELSEWHERE = "192.0.2.2"
ONE = b"\x08\x00"
"""A serialized message."""


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
    limits = ConnectionLimits(100, 2)
    assert [limits.admit(host, 0.0) for host in (THERE, THERE, THERE, ELSEWHERE)] == [THERE, THERE, None, ELSEWHERE]
    limits.release(Origin(THERE))
    assert [limits.admit(THERE, 0.0), limits.admit(THERE, 0.0)] == [THERE, None]


def test_loopback_counts_in_all_only() -> None:
    limits = ConnectionLimits(4, 2)
    assert [limits.admit("127.0.0.1", 0.0) for _ in range(5)] == [LOOPBACK] * 4 + [None]
    assert limits.admit(THERE, 0.0) is None
    limits.release(LOOPBACK)
    assert limits.admit(THERE, 0.0) == THERE


def test_the_log_is_not_filled_by_those_sent_away() -> None:
    limits = ConnectionLimits(1, 1)
    limits.admit(THERE, 0.0)
    with structlog.testing.capture_logs() as said:
        for second in range(int(2 * LOG_INTERVAL) + 1):
            for _ in range(100):
                limits.admit(ELSEWHERE, float(second))
    assert [line["count"] for line in said] == [1, 1000, 1000]
    assert said[0]["last"] == "1 are open, the most at once (connections)"


@pytest.fixture
def few_files() -> Iterator[int]:
    """Lower the number of files that the process may open; return it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    few = 1000
    resource.setrlimit(resource.RLIMIT_NOFILE, (few, hard))
    yield few
    resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_files_stay_for_what_is_no_connection(few_files: int) -> None:
    assert ConnectionLimits(100, 1).connections == 100
    with structlog.testing.capture_logs() as said:
        assert ConnectionLimits(4000, 1).connections == few_files - RESERVED_FILES
    assert [line["connections"] for line in said] == [few_files - RESERVED_FILES]


# --- over sockets ---


@asynccontextmanager
async def narrow(**limits: Any) -> AsyncIterator[str]:
    async with serving(echo_service(echo), settings=TransportSettings(**limits)) as address:
        yield address


def admitted(address: str, source: str = "127.0.0.1") -> RawConnection | None:
    """Connect from a source address. Return None if the server closes the connection instead of sending SETTINGS."""
    host, _, port = address.rpartition(":")
    connection = RawConnection(
        address, sock=socket.create_connection((host, int(port)), 30, source_address=(source, 0))
    )
    if connection.receive():
        return connection
    connection.socket.close()
    return None


async def test_who_comes_beyond_the_limit_of_all_is_sent_away_until_one_goes() -> None:
    def crowd(address: str) -> None:
        with ExitStack() as inside:
            connections = [admitted(address) for _ in range(4)]
            for connection in connections[:3]:
                assert connection
                inside.enter_context(connection)
            assert connections[3] is None
            assert refusal(lambda: converse(address, 1))[0] is grpc.StatusCode.UNAVAILABLE
            assert connections[0]
            connections[0].socket.close()
            until(lambda: (connection := admitted(address)) and inside.enter_context(connection), "room for one more")

    async with narrow(connections=3) as address:
        await in_thread(crowd, address)


async def test_who_comes_beyond_the_limit_of_an_address_is_sent_away_and_others_are_not(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Loopback addresses are exempt from the limit. In this test each counts as an ordinary address."""
    monkeypatch.setattr(connection_limits, "origin_of", Origin)

    def crowd(address: str) -> None:
        connections = [admitted(address, "127.0.0.2") for _ in range(6)]
        assert [connection is not None for connection in connections] == [True] * 4 + [False] * 2
        assert converse(address, 1, 2, 3) == [1, 2, 3]
        for connection in connections:
            if connection is not None:
                connection.socket.close()

    async with narrow(connections_per_address=4) as address:
        await in_thread(crowd, address)


async def test_a_connection_without_a_call_is_asked_to_go_and_one_with_a_call_is_not() -> None:
    def linger(address: str) -> None:
        with RawConnection(address) as idle, RawConnection(address) as busy:
            stream = busy.open(SAY)
            idle.until(lambda: idle.goaway_code is not None)
            assert idle.goaway_code == 0
            busy.data(stream, bytes(5))
            busy.until(lambda: busy.answers[stream].content)
            assert busy.goaway_code is None

    async with narrow(idle_timeout=1.0) as address:
        await in_thread(linger, address)


@pytest.mark.sources_only("it replaces a constant")
async def test_who_is_asked_to_go_and_stays_is_closed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("trio_grpc.http2.connection.LINGER", 0.0)  # even a late check sends GOAWAY first

    def stay(address: str) -> None:
        with RawConnection(address) as connection:
            assert connection.wait_closed()
            assert connection.goaway_code == 0

    async with narrow(idle_timeout=2.0) as address:
        await in_thread(stay, address)


async def test_a_client_that_was_asked_to_go_comes_again_with_its_next_call() -> None:
    def call_now_and_then(address: str) -> None:
        idle = threading.Semaphore(0)

        def note_state(state: grpc.ChannelConnectivity) -> None:
            if state is grpc.ChannelConnectivity.IDLE:
                idle.release()

        with grpc.insecure_channel(address, options=[("grpc.use_local_subchannel_pool", 1)]) as channel:
            channel.subscribe(note_state)
            assert idle.acquire(timeout=PATIENCE), "idle before the first call"
            call: Any = channel.stream_stream(SAY)
            for _ in range(3):
                assert list(call(iter([ONE]), timeout=PATIENCE)) == [ONE]
                assert idle.acquire(timeout=PATIENCE), "idle because it was asked to go"

    async with narrow(idle_timeout=0.5) as address:
        await in_thread(call_now_and_then, address)
