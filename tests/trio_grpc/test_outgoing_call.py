"""A call that the process relays for another client to a real server at a Unix socket."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import grpc
import pytest
import trio
import trio.testing
from google.rpc import error_details_pb2, status_pb2

from tests.trio_grpc.echo import SAY, EchoStream, Item
from tests.trio_grpc.grpc_rig import PATIENCE, echo, echo_service, serving
from tests.trio_grpc.raw_http2 import Kind, frame
from trio_grpc.grpc.call import CallRefused, PeerVanished, bearer
from trio_grpc.grpc.outgoing_call import ANSWER_LIMIT, PING_AFTER, PINGS, OutgoingCall, ServerUnreachableError, calling
from trio_grpc.grpc.refusals import explained
from trio_grpc.grpc.server import serve
from trio_grpc.limits.settings import TransportSettings

pytestmark = pytest.mark.process


@asynccontextmanager
async def at_socket(tmp_path: Path, handler: Any, **settings: Any) -> AsyncIterator[str]:
    """Run a server with one handler and yield the path of its socket."""
    path = tmp_path / "server.sock"
    async with serving(echo_service(handler), settings=TransportSettings(unix_socket=path, **settings)):
        with trio.fail_after(PATIENCE):
            yield str(path)


async def tell_peer(stream: EchoStream) -> None:
    await stream.receive()
    await stream.send(Item(text=stream.peer))


async def ask(path: str, host: str) -> bytes:
    """Return the response to a unary call."""
    async with calling(path, SAY, host) as call:
        await call.send(b"")
        return await call.receive()
    raise AssertionError


async def said(call: OutgoingCall) -> Item:
    return Item.FromString(await call.receive())


@pytest.mark.parametrize(
    ("host", "peer"),
    [
        ("192.0.2.7", "ipv4:192.0.2.7:0"),
        ("::ffff:192.0.2.7", "ipv4:192.0.2.7:0"),
        ("2001:db8::9", "ipv6:[2001:db8::9]:0"),
        ("127.0.0.1", "ipv4:127.0.0.1:0"),
    ],
)
async def test_a_relayed_call_is_of_whom_it_is_relayed_for(tmp_path: Path, host: str, peer: str) -> None:
    async with at_socket(tmp_path, tell_peer) as path:
        answer = Item.FromString(await ask(path, host))
        assert answer.text == peer


async def test_connections_are_counted_by_whom_they_are_for(tmp_path: Path) -> None:
    async with at_socket(tmp_path, echo, connections_per_address=1) as path, calling(path, SAY, "192.0.2.7") as first:
        await first.send(b"")
        await first.receive()
        with pytest.raises(CallRefused, match="lost"):
            await ask(path, "192.0.2.7")
        await ask(path, "192.0.2.8")


async def test_messages_larger_than_every_window_come_through_both_ways(tmp_path: Path) -> None:
    async def mirror(stream: EchoStream) -> None:
        stream.trust()
        while (message := await stream.receive()) is not None:
            await stream.send(Item(text=message.text))

    async with at_socket(tmp_path, mirror) as path, calling(path, SAY, "127.0.0.1") as call:
        for size in (0, 1, 16_384, 65_535, 65_536, 500_000, 7):
            await call.send(Item(text="x" * size).SerializeToString())
            assert len((await said(call)).text) == size


async def test_a_token_is_accepted_before_anything_is_said_and_refused_with_its_details(tmp_path: Path) -> None:
    async def keep(stream: EchoStream) -> None:
        if bearer(stream) != "right":
            raise explained(grpc.StatusCode.UNAUTHENTICATED, "who? ∅", "TOKEN_UNKNOWN", "example", 2.5)
        stream.trust()
        await echo(stream)

    async with at_socket(tmp_path, keep) as path:
        async with calling(path, SAY, "127.0.0.1", "right") as call:
            await call.accepted()
        async with calling(path, SAY, "127.0.0.1", "wrong") as call:
            with pytest.raises(CallRefused) as refused:
                await call.accepted()
    assert (refused.value.code, refused.value.text) == (grpc.StatusCode.UNAUTHENTICATED, "who? ∅")
    retry, info = status_pb2.Status.FromString(refused.value.details).details
    pause, reason = error_details_pb2.RetryInfo(), error_details_pb2.ErrorInfo()
    assert retry.Unpack(pause)
    assert info.Unpack(reason)
    assert (pause.retry_delay.ToTimedelta().total_seconds(), reason.reason) == (2.5, "TOKEN_UNKNOWN")


async def test_the_end_of_the_call_comes_after_its_messages(tmp_path: Path) -> None:
    async with at_socket(tmp_path, tell_peer) as path, calling(path, SAY, "192.0.2.7") as call:
        await call.send(b"")
        await trio.testing.wait_all_tasks_blocked()
        assert (await said(call)).text
        with pytest.raises(CallRefused) as ended:
            await call.receive()
        assert ended.value.code is grpc.StatusCode.OK


async def test_who_takes_nothing_holds_the_server_back_and_answers_its_pings(tmp_path: Path) -> None:
    sent = 0

    async def flood(stream: EchoStream) -> None:
        nonlocal sent
        stream.trust()
        while True:
            await stream.send(Item(text="x" * 10_000))
            sent += 1

    async with (
        at_socket(tmp_path, flood, ping_after=0.1, ping_timeout=0.5) as path,
        calling(path, SAY, "127.0.0.1") as call,
    ):
        await call.accepted()
        await trio.sleep(2)  # several pings are due in this time; each ends the connection unless the peer answers
        assert sent <= 2 * (1 << 16) // 10_000
        before = sent
        for _ in range(50):
            assert len((await said(call)).text) == 10_000
        assert sent > before


async def test_a_server_that_is_gone_is_a_lost_connection(tmp_path: Path) -> None:
    with pytest.raises(CallRefused, match="does not answer"):
        await ask(str(tmp_path / "nothing"), "127.0.0.1")
    gone = trio.Event()

    async def wait(stream: EchoStream) -> None:
        stream.trust()
        with pytest.raises(PeerVanished):
            await stream.receive()
        gone.set()
        raise PeerVanished

    path = tmp_path / "server.sock"
    async with trio.open_nursery() as nursery:
        settings = TransportSettings(unix_socket=path)
        scope = trio.CancelScope()

        async def run() -> None:
            with scope:
                await serve([echo_service(wait)], "127.0.0.1:0", settings=settings, grace=0)

        nursery.start_soon(run)
        while not path.exists():
            await trio.sleep(0.01)
        async with calling(str(path), SAY, "127.0.0.1") as call:
            await call.accepted()
        with trio.fail_after(PATIENCE):
            await gone.wait()
        async with calling(str(path), SAY, "127.0.0.1") as call:
            await call.accepted()
            scope.cancel()
            with trio.fail_after(PATIENCE), pytest.raises(CallRefused) as lost:
                await call.receive()
        assert lost.value.code is grpc.StatusCode.UNAVAILABLE


@pytest.mark.parametrize("answers", [False, True])
async def test_a_server_that_stands_still_is_given_up(
    tmp_path: Path, autojump_clock: trio.testing.MockClock, *, answers: bool
) -> None:
    path = str(tmp_path / "server.sock")
    with socket.socket(socket.AF_UNIX) as still:
        still.bind(path)
        still.listen()

        async def talk() -> None:
            async with calling(path, SAY, "127.0.0.1") as call:
                await call.accepted()

        async with trio.open_nursery() as nursery:
            expected = CallRefused if answers else ServerUnreachableError

            async def given_up() -> None:
                with pytest.raises(expected) as lost:
                    await talk()
                assert lost.value.code is grpc.StatusCode.UNAVAILABLE

            nursery.start_soon(given_up)
            await trio.testing.wait_all_tasks_blocked()
            with still.accept()[0] as accepted:
                if answers:
                    accepted.send(frame(Kind.SETTINGS, 0, 0, b""))
                await trio.sleep(ANSWER_LIMIT - 0.1)
                assert nursery.child_tasks
                await trio.sleep(PINGS * PING_AFTER if answers else 0.2)
                assert not nursery.child_tasks


async def test_what_a_stranger_at_the_socket_sends_in_pieces_is_no_header(tmp_path: Path) -> None:
    def stranger(path: str) -> bytes:
        with socket.socket(socket.AF_UNIX) as mine:
            mine.settimeout(PATIENCE)
            mine.connect(path)
            mine.sendall(b"PROXY TCP4 192.0.2")
            return mine.recv(1 << 16)

    async with at_socket(tmp_path, tell_peer) as path:
        answer = await trio.to_thread.run_sync(stranger, path)
        assert answer, "it is spoken to as an HTTP/2 client, which it is not"
