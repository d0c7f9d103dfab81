"""Server shutdown and detection of lost peers. Tests kill, freeze and interrupt processes."""

from __future__ import annotations

import gc
import os
import re
import signal
import sys
import threading
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from subprocess import run

import grpc
import pytest
import structlog
import trio

from tests.trio_grpc.echo import EchoStream, Item, Stub, service
from tests.trio_grpc.grpc_rig import (
    PATIENCE,
    RequestSource,
    converse,
    echo,
    echo_service,
    in_thread,
    program,
    raw,
    refusal,
    serving,
    stub_at,
)
from trio_grpc.grpc.call import Call, CallRefused, PeerVanished
from trio_grpc.grpc.server import serve
from trio_grpc.http2.tls import load_credentials
from trio_grpc.limits.settings import TransportSettings

pytestmark = pytest.mark.process

CODE = grpc.StatusCode
AFTER_A_RESET = 0.05
"""Maximum number of seconds until the server detects a broken connection."""


class Watch:
    """An echo handler that records how and when each stream ended."""

    def __init__(self) -> None:
        self.ends: list[tuple[str, float]] = []
        self._ended = trio.Event()

    async def __call__(self, stream: EchoStream) -> None:
        end = "half-closed"
        try:
            await echo(stream)
        except PeerVanished:
            end = "vanished"
        except trio.Cancelled:
            end = "cancelled"
            raise
        finally:
            self.ends.append((end, time.monotonic()))
            self._ended.set()

    async def end(self) -> None:
        """Wait for the next stream to end."""
        with trio.fail_after(PATIENCE):
            await self._ended.wait()
        self._ended = trio.Event()


async def test_a_killed_client_is_noticed_by_its_broken_connection() -> None:
    watch = Watch()
    delays = []
    # Pings cannot have detected the loss: none is due for ten minutes.
    async with serving(echo_service(watch), settings=TransportSettings(ping_after=600)) as address:
        for _ in range(5):
            async with program("grpc_client.py", address) as bot:
                assert await bot.line() == "open"
                killed = time.monotonic()
                bot.process.send_signal(signal.SIGKILL)
                await watch.end()
            delays.append(watch.ends[-1][1] - killed)
    assert [end for end, _ in watch.ends] == ["vanished"] * 5
    assert sorted(delays)[2] < AFTER_A_RESET, delays


class FaultyTurn:
    """A turn context that fails when a test sets a flag."""

    def __init__(self) -> None:
        self.fails = False

    def __enter__(self) -> None:
        if self.fails:
            raise KeyboardInterrupt("a fault of the server's own")

    def __exit__(self, *_: object) -> None:
        pass


async def test_a_fault_of_the_server_cancels_its_handlers_and_no_peer_has_vanished() -> None:
    """A handler must distinguish the end of its server from its peer's departure, or it would blame the peer."""
    watch, turn = Watch(), FaultyTurn()

    def client(address: str) -> tuple[grpc.StatusCode, str]:
        with stub_at(address) as stub, RequestSource(1) as requests:
            call = stub.Say(requests, timeout=PATIENCE)
            next(call)
            turn.fails = True
            requests.put(2)
            return refusal(lambda: next(call))

    began = time.monotonic()
    with pytest.raises(BaseExceptionGroup, match="nursery") as ended:
        async with serving(echo_service(watch), turn=turn, grace=PATIENCE) as address:
            await in_thread(client, address)
    assert ended.group_contains(KeyboardInterrupt, match="a fault of the server's own")
    assert [end for end, _ in watch.ends] == ["cancelled"]
    assert time.monotonic() - began < PATIENCE, "nobody waits for connections that nothing serves"


async def test_a_frozen_client_is_noticed_within_the_ping_timeout_however_long_it_was_idle() -> None:
    watch = Watch()
    settings = TransportSettings(ping_after=1, ping_timeout=0.5)
    async with serving(echo_service(watch), settings=settings) as address, program("grpc_client.py", address) as bot:
        assert await bot.line() == "open"
        # the peer is silent for longer than a ping interval but alive, so the server must not disconnect it
        with trio.move_on_after(4):
            await watch.end()
        assert watch.ends == []
        frozen = time.monotonic()
        bot.process.send_signal(signal.SIGSTOP)
        await watch.end()
    ((end, noticed),) = watch.ends
    assert end == "vanished"
    assert noticed - frozen < settings.ping_after + settings.ping_timeout + 1


async def test_a_client_that_pings_often_is_not_cut_off() -> None:
    watch = Watch()
    options = [
        ("grpc.keepalive_time_ms", 1000),
        ("grpc.http2.max_pings_without_data", 0),
        ("grpc.use_local_subchannel_pool", 1),
    ]

    def client(address: str) -> None:
        with grpc.insecure_channel(address, options=options) as channel, RequestSource(1) as requests:
            call = Stub(channel).Say(requests, timeout=PATIENCE)
            next(call)
            quiet.wait(6)
            requests.put(2)
            assert next(call).number == 2
            requests.close()
            assert list(call) == []

    quiet = threading.Event()
    async with serving(echo_service(watch)) as address:
        await in_thread(client, address)


async def test_a_client_that_never_reads_stalls_its_own_stream_only_and_memory_is_flat() -> None:
    sent = 0
    stalled = trio.Event()

    async def flood(stream: EchoStream) -> None:
        nonlocal sent
        notice = Item(text="x" * 100_000)
        assert (await stream.receive()) is not None
        while True:
            with trio.move_on_after(1) as patience:
                await stream.send(notice)
                sent += 1
            if patience.cancelled_caught:
                stalled.set()
                await trio.sleep_forever()

    class Quick:
        async def Get(self, request: object, call: Call) -> Item:
            return Item()

    def others(address: str) -> None:
        with grpc.insecure_channel(address) as channel:
            for _ in range(200):
                Stub(channel).Get(Item(), timeout=PATIENCE)

    quick = service(Quick())
    async with serving(echo_service(flood), quick) as address:
        await in_thread(others, address)
        async with program("grpc_client.py", address, "deaf") as bot:
            assert await bot.line() == "open"
            before = resident_bytes()
            with trio.fail_after(PATIENCE):
                await stalled.wait()
            await in_thread(others, address)
            # the sockets' buffers and the client's window are full, and the server itself accumulates nothing
            assert sent < 200
            assert resident_bytes() - before < 16 << 20


async def test_a_busy_handler_holds_a_flooding_client_back() -> None:
    busy = trio.Event()

    async def handler(stream: EchoStream) -> None:
        stream.trust()
        for _ in range(200):  # long enough for the windows to grow
            assert (await stream.receive()) is not None
        busy.set()
        await trio.sleep_forever()

    async def until_busy() -> None:
        with trio.fail_after(PATIENCE):
            await busy.wait()

    said = 0
    over = threading.Event()

    def flood() -> Iterator[Item]:
        nonlocal said
        while not over.is_set():
            said += 1
            yield Item(text="x" * 100_000)

    def client(address: str) -> None:
        with stub_at(address) as stub:
            call = stub.Say(flood(), timeout=PATIENCE)
            trio.from_thread.run(until_busy)
            before = -1
            while said > before:
                before = said
                over.wait(0.5)
            assert said - 200 < 20, "more than what is read ahead and what a window and gRPC hold"
            over.set()
            call.cancel()

    async with serving(echo_service(handler)) as address:
        await in_thread(client, address)


async def test_stopping_ends_open_calls_with_UNAVAILABLE_and_lets_handlers_say_goodbye() -> None:
    async def handler(stream: EchoStream) -> None:
        try:
            await echo(stream)
        finally:
            with trio.CancelScope(shield=True):
                await stream.send(Item(number=99))

    playing = trio.Event()
    heard: list[int] = []

    def client(address: str) -> tuple[grpc.StatusCode, str]:
        with stub_at(address) as stub, RequestSource(1) as requests:
            call = stub.Say(requests, timeout=PATIENCE)
            heard.append(next(call).number)
            trio.from_thread.run_sync(playing.set)
            return refusal(lambda: heard.extend(answer.number for answer in call))

    async with trio.open_nursery() as nursery:
        server = trio.CancelScope()

        async def cancellable(task_status: trio.TaskStatus[str]) -> None:
            with server:
                async with serving(echo_service(handler), grace=5.0) as address:
                    task_status.started(address)
                    await trio.sleep_forever()
            with pytest.raises(grpc.RpcError):
                await in_thread(converse, address, 1)

        async def stop() -> None:
            await playing.wait()
            server.cancel()

        address: str = await nursery.start(cancellable)
        nursery.start_soon(stop)
        asked = trio.current_time()
        assert await in_thread(client, address) == (CODE.UNAVAILABLE, "the server is stopping")
    assert trio.current_time() - asked < 4, "the grace was waited out"
    assert heard == [1, 99]


async def test_stopping_drops_a_peer_that_does_not_take_its_answers_after_the_grace() -> None:
    stalled = trio.Event()

    async def flood(stream: EchoStream) -> None:
        assert (await stream.receive()) is not None
        with trio.CancelScope(shield=True):
            while True:
                with trio.move_on_after(0.5) as patience:
                    await stream.send(Item(text="x" * 100_000))
                if patience.cancelled_caught:
                    stalled.set()

    async with serving(echo_service(flood), grace=0.5) as address, program("grpc_client.py", address, "deaf") as bot:
        assert await bot.line() == "open"
        with trio.fail_after(PATIENCE):
            await stalled.wait()
        with structlog.testing.capture_logs() as logs:
            with trio.move_on_after(0):
                await trio.sleep_forever()
    assert logs == []


@pytest.mark.parametrize("repetition", range(4))
async def test_SIGINT_under_load_shuts_down_cleanly(repetition: int) -> None:
    def client(address: str, playing: threading.Semaphore) -> None:
        with stub_at(address) as stub, RequestSource(0) as requests:
            call = stub.Say(requests, timeout=PATIENCE)

            def play() -> None:
                for answer in call:
                    requests.put(answer.number + 1)
                    if answer.number == 20 * repetition:
                        playing.release()

            code, _ = refusal(play)
            assert code is CODE.UNAVAILABLE

    playing = threading.Semaphore(0)
    async with program("grpc_server_program.py") as server, trio.open_nursery() as nursery:
        address = await server.line()
        for _ in range(8):
            nursery.start_soon(in_thread, client, address, playing)
        for _ in range(8):
            assert await in_thread(partial(playing.acquire, timeout=PATIENCE))
        server.process.send_signal(signal.SIGINT)
        assert await server.line() == "stopped"
        with trio.fail_after(PATIENCE):
            assert await server.process.wait() == 0


async def test_starting_and_stopping_again_and_again_leaks_nothing() -> None:
    async def once() -> None:
        async with serving(echo_service(echo)) as address:
            await in_thread(converse, address, 1, 2, 3)

    def resources() -> tuple[int, int]:
        gc.collect()
        return native_threads(), len(list(Path("/dev/fd").iterdir()))

    for _ in range(3):
        await once()
    before = resources()
    for _ in range(10):
        await once()
    with trio.fail_after(PATIENCE):
        while not all(now <= then for now, then in zip(resources(), before, strict=True)):
            await trio.sleep(0.01)  # gRPC's threads end some time after the call


async def test_a_server_cancelled_before_it_is_up_leaves_nothing_in_the_way() -> None:
    for _ in range(3):
        with trio.move_on_after(0) as at_once:
            await serve([echo_service(echo)], "127.0.0.1:0")
        assert at_once.cancelled_caught
    async with serving(echo_service(echo)) as address:
        assert await in_thread(converse, address, 1) == [1]


async def test_two_servers_in_one_process_do_not_know_of_each_other() -> None:
    async with serving(echo_service(echo)) as kept:
        async with serving(echo_service(echo)) as address:
            assert await in_thread(converse, address, 1) == [1]
        assert await in_thread(converse, kept, 2) == [2]


async def test_an_address_in_use_is_a_RuntimeError_and_not_shared() -> None:
    async with program("grpc_server_program.py") as other:
        address = await other.line()
        with pytest.raises(RuntimeError, match=re.escape(address)), trio.fail_after(PATIENCE):
            await serve([echo_service(echo)], address)
    async with serving(echo_service(echo)) as address:
        assert await in_thread(converse, address, 1) == [1]


async def test_TLS(tmp_path: Path) -> None:
    key, certificate = tmp_path / "key.pem", tmp_path / "certificate.pem"
    command = (
        "openssl req -x509 -newkey rsa:2048 -nodes -days 1 -subj /CN=localhost -addext subjectAltName=IP:127.0.0.1"
    )
    run([*command.split(), "-keyout", key, "-out", certificate], check=True, capture_output=True)
    credentials = load_credentials(certificate, key)

    def trusting(address: str, root: bytes | None) -> list[int]:
        with grpc.secure_channel(address, grpc.ssl_channel_credentials(root)) as channel:
            request = Item(number=7).SerializeToString()
            return [Item.FromString(answer).number for answer in raw(channel)(iter([request]), timeout=5)]

    async with serving(echo_service(echo), credentials=credentials) as address:
        assert await in_thread(trusting, address, certificate.read_bytes()) == [7]
        for stranger in (partial(trusting, address, None), partial(converse, address, 1)):
            code, _ = await in_thread(refusal, stranger)
            assert code is CODE.UNAVAILABLE
        assert await in_thread(trusting, address, certificate.read_bytes()) == [7]


def resident_bytes() -> int:
    return int(ps("-o", "rss=")) * 1024


def native_threads() -> int:
    return len(ps("-M" if sys.platform == "darwin" else "-T").splitlines()) - 1


def ps(*options: str) -> bytes:
    return run(["ps", *options, "-p", str(os.getpid())], check=True, capture_output=True).stdout


async def test_a_client_that_reads_again_long_after_it_was_let_go_finds_the_reason(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr("trio_grpc.http2.connection.LINGER", 0.3)
    let_go = trio.Event()

    async def chatter(stream: EchoStream) -> None:
        with trio.move_on_after(1):
            while True:
                await stream.send(Item(text="s" * 3001))
        let_go.set()
        raise CallRefused(CODE.RESOURCE_EXHAUSTED, "nothing was read")

    async with serving(echo_service(chatter)) as address:
        with stub_at(address) as stub:
            call, messages = stub.Say(RequestSource()), list[Item]()
            await let_go.wait()
            await trio.sleep(3)  # well beyond LINGER; the server checks every half second
            code, text = await in_thread(refusal, partial(messages.extend, call))
    assert (code, text) == (CODE.RESOURCE_EXHAUSTED, "nothing was read")
    assert {len(message.text) for message in messages} == {3001}
