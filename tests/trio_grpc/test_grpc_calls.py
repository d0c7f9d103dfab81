"""Messages, half-close, cancellation and statuses between a handler and its peer, over real sockets."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from functools import partial
from typing import Any

import grpc
import pytest
import structlog
import trio

from tests.trio_grpc.echo import GET, LIST, SAY, EchoStream, Item, Stub, service
from tests.trio_grpc.grpc_rig import (
    PATIENCE,
    RequestSource,
    converse,
    echo,
    echo_service,
    in_thread,
    numbers,
    raw,
    refusal,
    serving,
    stub_at,
)
from tests.trio_grpc.memory import MemoryPeer
from tests.trio_grpc.raw_http2 import EMPTY, END_HEADERS, Kind, RawConnection, frame, message, reset
from trio_grpc.grpc.call import Call, CallRefused, PeerVanished, Stream, bearer
from trio_grpc.grpc.server import Service, serve
from trio_grpc.limits.settings import TransportSettings

pytestmark = pytest.mark.process

CODE = grpc.StatusCode


class Answers:
    """A handler that answers with the request, with the call's peer and metadata, or with the requested number of
    items.
    """

    async def Get(self, request: Item, call: Call) -> Item:
        if request.text == "nobody":
            raise CallRefused(CODE.NOT_FOUND, "no such name: nobody")
        if request.text == "a fault":
            raise ValueError("the token is swordfish")
        if request.text == "who":
            return Item(text=f"{call.metadata.get('authorization')} {call.peer}")
        return request

    async def List(self, request: Item, stream: Stream[None, Item]) -> None:
        for number in range(request.number):
            await stream.send(Item(number=number))
        if request.number == 0:
            raise CallRefused(CODE.FAILED_PRECONDITION, "it has not begun")


ANSWERS = service(Answers())


async def test_a_stream_echoes_in_order() -> None:
    async with serving(echo_service(echo)) as address:
        assert await in_thread(converse, address, *range(1000)) == list(range(1000))


async def test_many_streams_echo_at_once() -> None:
    answers: list[list[int]] = []

    async def client(address: str, first: int) -> None:
        answers.append(await in_thread(converse, address, *range(first, first + 100)))

    async with serving(echo_service(echo)) as address, trio.open_nursery() as nursery:
        for first in range(0, 3200, 100):
            nursery.start_soon(client, address, first)
    assert sorted(answers) == [list(range(first, first + 100)) for first in range(0, 3200, 100)]


async def test_a_raising_handler_ends_one_call_with_INTERNAL_and_the_server_lives() -> None:
    async def handler(stream: EchoStream) -> None:
        while (message := await stream.receive()) is not None:
            if message.number == 13:
                raise ValueError("the token is swordfish")
            await stream.send(Item(number=message.number))

    def clients(address: str) -> None:
        requests = RequestSource(1)
        with stub_at(address) as stub:
            bystander = stub.Say(requests, timeout=PATIENCE)
            assert next(bystander).number == 1
            code, text = refusal(lambda: list(stub.Say(numbers(13), timeout=PATIENCE)))
            assert code is CODE.INTERNAL
            assert "swordfish" not in text
            requests.put(2)
            requests.close()
            assert [answer.number for answer in bystander] == [2]

    with structlog.testing.capture_logs() as logs:
        async with serving(echo_service(handler)) as address:
            await in_thread(clients, address)
            assert await in_thread(converse, address, 5, 6) == [5, 6]
    (line,) = logs
    assert line["method"] == SAY
    assert "ValueError" in line["traceback"]


@pytest.mark.parametrize("in_a_nursery", [False, True])
async def test_refused_ends_the_call_with_its_status_and_no_line_in_the_log(in_a_nursery: bool) -> None:
    async def refuse() -> None:
        raise CallRefused(CODE.UNAUTHENTICATED, "no such token")

    async def handler(stream: EchoStream) -> None:
        if not in_a_nursery:
            await refuse()
        async with trio.open_nursery() as nursery:
            nursery.start_soon(stream.receive)
            nursery.start_soon(refuse)

    with structlog.testing.capture_logs() as logs:
        async with serving(echo_service(handler)) as address:
            ended = await in_thread(refusal, partial(converse, address))
    assert ended == (CODE.UNAUTHENTICATED, "no such token")
    assert logs == []


async def test_returning_ends_the_call_after_everything_sent_has_arrived() -> None:
    async def handler(stream: EchoStream) -> None:
        for number in range(50):
            await stream.send(Item(number=number, text="x" * 100_000))

    async with serving(echo_service(handler)) as address:
        assert await in_thread(converse, address) == list(range(50))


async def test_clients_on_asyncio_in_other_threads_of_the_servers_process_are_served() -> None:
    async def client(address: str) -> list[int]:
        async with grpc.aio.insecure_channel(address) as channel:
            stub: Any = Stub(channel)
            call = stub.Say(timeout=PATIENCE)
            answers = []
            for number in range(300):
                await call.write(Item(number=number))
                answers.append((await call.read()).number)
            return answers

    async def check(address: str) -> None:
        assert await in_thread(asyncio.run, client(address)) == list(range(300))

    async with serving(echo_service(echo)) as address, trio.open_nursery() as nursery:
        nursery.start_soon(check, address)
        nursery.start_soon(check, address)
        nursery.start_soon(in_thread, converse, address, *range(300))
    async with serving(echo_service(echo)) as address:
        await check(address)


async def test_half_close_is_none_and_answers_go_on() -> None:
    async def handler(stream: EchoStream) -> None:
        assert (await stream.receive()) is not None
        assert (await stream.receive()) is None
        assert (await stream.receive()) is None
        for number in (7, 8, 9):
            await stream.send(Item(number=number))

    async with serving(echo_service(handler)) as address:
        assert await in_thread(converse, address, 1) == [7, 8, 9]


async def test_a_peer_that_cancels_its_call_has_vanished_for_both_receive_and_send() -> None:
    seen = trio.Event()

    async def handler(stream: EchoStream) -> None:
        await echo_once(stream)
        with pytest.raises(PeerVanished):
            await stream.receive()
        with pytest.raises(PeerVanished):
            await stream.send(Item())
        seen.set()

    def client(address: str) -> None:
        with stub_at(address) as stub, RequestSource(1) as requests:
            call = stub.Say(requests, timeout=PATIENCE)
            next(call)
            call.cancel()

    async with serving(echo_service(handler)) as address:
        await in_thread(client, address)
        with trio.fail_after(PATIENCE):
            await seen.wait()


async def test_what_arrived_before_the_peer_vanished_is_still_received() -> None:
    received: list[int] = []
    done = trio.Event()

    async def send_for_ever(stream: EchoStream) -> None:
        while True:
            await stream.send(Item())

    async def receive_all(stream: EchoStream) -> None:
        while (message := await stream.receive()) is not None:
            received.append(message.number)

    async def handler(stream: EchoStream) -> None:
        await echo_once(stream)
        # `send` raises first, although there are still messages to receive
        with pytest.raises(PeerVanished):
            await send_for_ever(stream)
        with pytest.raises(PeerVanished):
            await receive_all(stream)
        done.set()

    def client(address: str) -> None:
        with RawConnection(address) as connection:
            call = connection.open(SAY)
            for number in (1, 2, 3):
                connection.data(call, message(Item(number=number).SerializeToString()))
            connection.until(lambda: len(connection.answers[call].messages) == 100)
            connection.send(reset(call))
            connection.call()  # the server answers after it has handled the reset

    async with serving(echo_service(handler)) as address:
        await in_thread(client, address)
        with trio.fail_after(PATIENCE):
            await done.wait()
    assert received == [2, 3]


@pytest.mark.skipif(not hasattr(socket, "TCP_INFO"), reason="the system does not tell")
async def test_the_system_of_a_peer_tells_how_near_it_is_however_late_the_peer_answers() -> None:
    told: list[float | None] = []

    async def handler(stream: EchoStream) -> None:
        while (request := await stream.receive()) is not None:
            told.append(stream.shortest_round_trip())
            await stream.send(Item(number=request.number))

    def client(address: str) -> None:
        with grpc.insecure_channel(address) as channel, RequestSource(1) as requests:
            call = Stub(channel).Say(requests, timeout=PATIENCE)
            for number in (1, 2, 3):
                assert next(call).number == number
                time.sleep(0.2)
                requests.put(number + 1)

    async with serving(echo_service(handler)) as address:
        await in_thread(client, address)
    assert len(told) >= 3
    assert all(each is not None and 0 < each < 0.1 for each in told[1:]), told


async def test_a_message_is_stamped_when_it_arrives_though_the_handler_is_busy() -> None:
    arrived = trio.Event()

    async def handler(stream: EchoStream) -> None:
        stamps = []
        await echo_once(stream)
        await arrived.wait()
        asked = trio.current_time()
        for _ in range(2):
            await stream.receive()
            stamps.append(stream.received_at)
        assert stamps == sorted(stamps)
        assert stamps[-1] < asked
        await stream.send(Item(number=2))

    class Signal:
        async def Get(self, request: object, call: Call) -> Item:
            arrived.set()
            return Item()

    def client(address: str) -> None:
        # Messages sent before the signal arrive before it, because they use one connection.
        with grpc.insecure_channel(address) as channel, RequestSource(1) as requests:
            call = Stub(channel).Say(requests, timeout=PATIENCE)
            assert next(call).number == 1
            requests.put(2, 3, 4)
            requests.wait_until_asked_for_more()
            Stub(channel).Get(Item(), timeout=PATIENCE)
            assert next(call).number == 2

    signal = service(Signal())
    async with serving(echo_service(handler), signal) as address:
        await in_thread(client, address)


async def test_cancelling_a_receive_loses_no_message() -> None:
    cancelled = 0
    has_cancelled = threading.Event()

    async def handler(stream: EchoStream) -> None:
        nonlocal cancelled
        going_on = True
        while going_on:
            # cancel at every possible point: before the handler waits, during the wait, and just when a message
            # arrives
            with trio.move_on_after(0.0001 * (cancelled % 3)) as scope:
                message = await stream.receive()
                going_on = message is not None
                if message is not None:
                    with trio.CancelScope(shield=True):
                        await stream.send(Item(number=message.number))
            if scope.cancelled_caught:
                cancelled += 1
                has_cancelled.set()

    def client(address: str) -> None:
        with stub_at(address) as stub, RequestSource() as requests:
            call = stub.Say(requests, timeout=PATIENCE)
            for first in range(0, 1000, 10):
                # Each batch meets a handler that has just been cancelled, however busy the machine is.
                has_cancelled.clear()
                assert has_cancelled.wait(PATIENCE)
                batch = range(first, first + 10)
                requests.put(*batch)
                assert [next(call).number for _ in batch] == list(batch)
            requests.close()
            assert list(call) == []

    async with serving(echo_service(handler)) as address:
        await in_thread(client, address)
    assert cancelled >= 100


async def test_metadata_and_peer_are_the_calls() -> None:
    async with serving(ANSWERS) as address:

        def client() -> str:
            with grpc.insecure_channel(address) as channel:
                metadata = (("authorization", "Bearer x"), ("trace-bin", b"\xff"))
                return str(Stub(channel).Get(Item(text="who"), metadata=metadata, timeout=PATIENCE).text)

        assert (await in_thread(client)).startswith("Bearer x ipv4:127.0.0.1:")


async def test_unary_and_server_stream_calls_under_load() -> None:
    def clients(address: str, number: int) -> None:
        with grpc.insecure_channel(address) as channel:
            stub = Stub(channel)
            for turn in range(20):
                name = f"name {number} {turn}"
                assert stub.Get(Item(text=name), timeout=PATIENCE).text == name
            assert [item.number for item in stub.List(Item(number=200), timeout=PATIENCE)] == list(range(200))

    async with serving(echo_service(echo), ANSWERS) as address, trio.open_nursery() as nursery:
        for number in range(4):
            nursery.start_soon(in_thread, clients, address, number)
            nursery.start_soon(in_thread, partial(converse, address, *range(200)))


async def test_unary_and_server_stream_calls_end_with_statuses() -> None:
    async with serving(ANSWERS) as address:

        def client() -> list[tuple[grpc.StatusCode, str]]:
            with grpc.insecure_channel(address) as channel:
                stub = Stub(channel)
                return [
                    refusal(lambda: stub.Get(Item(text="nobody"), timeout=PATIENCE)),
                    refusal(lambda: list(stub.List(Item(), timeout=PATIENCE))),
                    refusal(lambda: stub.Get(Item(text="a fault"), timeout=PATIENCE)),
                ]

        with structlog.testing.capture_logs() as logs:
            unknown, early, internal = await in_thread(client)
    assert unknown == (CODE.NOT_FOUND, "no such name: nobody")
    assert early == (CODE.FAILED_PRECONDITION, "it has not begun")
    assert internal[0] is CODE.INTERNAL
    assert "swordfish" not in internal[1]
    assert [line["method"] for line in logs] == [GET]


@pytest.mark.parametrize("kind", ["unary", "server stream"])
async def test_a_handler_without_input_is_cancelled_when_its_peer_vanishes(kind: str) -> None:
    cancelled = trio.Event()

    class Sleepers:
        async def Get(self, request: object, call: Call) -> None:
            try:
                await trio.sleep_forever()
            finally:
                cancelled.set()

        List = Get

    def client(address: str) -> None:
        with grpc.insecure_channel(address) as channel:
            stub = Stub(channel)
            if kind == "unary":
                code, _ = refusal(lambda: stub.Get(Item(), timeout=0.2))
            else:
                code, _ = refusal(lambda: list(stub.List(Item(), timeout=0.2)))
            assert code is CODE.DEADLINE_EXCEEDED

    async with serving(service(Sleepers())) as address:
        await in_thread(client, address)
        with trio.fail_after(PATIENCE):
            await cancelled.wait()


@pytest.mark.parametrize("method", [SAY, GET, LIST])
async def test_malformed_bytes_end_the_call_with_INVALID_ARGUMENT(method: str) -> None:
    def client(address: str) -> tuple[grpc.StatusCode, str]:
        with grpc.insecure_channel(address) as channel:
            return refusal(lambda: list(raw(channel, method)(iter([b"\xff\xff\xff"]), timeout=PATIENCE)))

    with structlog.testing.capture_logs() as logs:
        async with serving(echo_service(echo), ANSWERS) as address:
            assert await in_thread(client, address) == (CODE.INVALID_ARGUMENT, "the message cannot be parsed")
            assert await in_thread(converse, address, 1) == [1]
    assert logs == []


async def test_no_more_calls_of_a_connection_run_at_once_than_allowed() -> None:
    inside = most = 0

    class Counting:
        async def Get(self, request: object, call: Call) -> Item:
            nonlocal inside, most
            inside += 1
            most = max(most, inside)
            await trio.sleep(0.01)
            inside -= 1
            return Item()

    def client(address: str) -> None:
        with grpc.insecure_channel(address) as channel:
            stub = Stub(channel)
            # The other calls wait in the client. The server refuses some while the two sides disagree about which calls
            # are over.
            calls = [stub.Get.future(Item(), timeout=PATIENCE) for _ in range(12)]
            assert {call.code() for call in calls} <= {CODE.OK, CODE.UNAVAILABLE}

    counting = service(Counting())
    async with serving(counting, settings=TransportSettings(calls_per_connection=3)) as address:
        await in_thread(client, address)
    assert 0 < most <= 3


async def test_a_method_that_streams_requests_only_is_not_offered() -> None:
    class Collector:
        async def Collect(self, stream: EchoStream) -> None:
            raise AssertionError("never called")

    def register(servicer: Any, server: Any) -> None:
        method: Any = grpc.stream_unary_rpc_method_handler(servicer.Collect)
        server.add_registered_method_handlers("test.Collector", {"Collect": method})

    with pytest.raises(TypeError, match=r"/test\.Collector/Collect"):
        await serve([Service(register, Collector())], "127.0.0.1:0")


async def echo_once(stream: EchoStream) -> None:
    message = await stream.receive()
    assert message is not None
    await stream.send(Item(number=message.number))


async def test_a_client_that_probes_the_network_sends_as_much_as_it_likes() -> None:
    def client(address: str) -> None:
        options = [("grpc.use_local_subchannel_pool", 1), ("grpc.http2.bdp_probe", 1)]
        with grpc.insecure_channel(address, options=options) as channel:
            call = Stub(channel).Say(numbers(*range(20_000)), timeout=PATIENCE)
            assert [answer.number for answer in call] == list(range(20_000))

    async with serving(echo_service(echo)) as address:
        await in_thread(client, address)


async def test_a_client_that_waits_for_headers_before_it_speaks_has_them_when_it_is_trusted() -> None:
    """The library tonic does this: the program gets its call only after the server's headers."""

    async def greet(stream: EchoStream) -> None:
        if bearer(stream) == "right":
            stream.trust()
        await echo(stream)

    def client(address: str) -> None:
        with RawConnection(address) as connection:
            calls = [connection.open(SAY, ("authorization", f"Bearer {word}")) for word in ("right", "wrong")]
            trusted, stranger = (connection.answers[call] for call in calls)
            connection.until(lambda: trusted.headers)
            assert (trusted.headers[":status"], trusted.headers["content-type"]) == ("200", "application/grpc")
            assert not trusted.content
            connection.settle()
            assert not stranger.headers, "nothing is said to a stranger that says nothing"
            connection.data(calls[0], message(Item(number=7).SerializeToString()), end=True)
            connection.outcome(calls[0])
            assert (trusted.status, trusted.messages) == (0, [Item(number=7).SerializeToString()])

    async with serving(echo_service(greet)) as address:
        await in_thread(client, address)


async def test_answers_to_pings_of_who_is_trusted_leave_with_the_next_message_or_soon() -> None:
    async def trust(stream: EchoStream) -> None:
        stream.trust()
        await echo(stream)

    def client(address: str) -> None:
        with RawConnection(address) as connection:
            call = connection.open(SAY)
            connection.until(lambda: connection.answers[call].headers)
            ping = frame(Kind.PING, 0, 0, b"12345678")
            for told in range(1, 4):
                content = message(Item(number=told).SerializeToString())
                connection.send(ping, ping, frame(Kind.DATA, 0, call, content))
                connection.until(lambda told=told: len(connection.answers[call].messages) == told)  # type: ignore[misc]
                connection.until(lambda told=told: len(connection.pongs) == 2 * told)  # type: ignore[misc]
            connection.send(ping)
            connection.until(lambda: len(connection.pongs) == 7)

    async with serving(echo_service(trust)) as address:
        await in_thread(client, address)


async def test_a_trusted_call_that_is_refused_ends_with_its_status_after_its_headers() -> None:
    async def refuse(stream: EchoStream) -> None:
        stream.trust()
        raise CallRefused(CODE.FAILED_PRECONDITION, "not today")

    async with serving(echo_service(refuse)) as address:
        said = await in_thread(partial(refusal, partial(converse, address, 1)))
        assert said == (CODE.FAILED_PRECONDITION, "not today")


@pytest.mark.parametrize("header", ["Bearer word", "bearer word", "BEARER word", "Bearer  word "])
async def test_the_scheme_of_a_token_is_read_in_any_letters(header: str) -> None:
    peer: MemoryPeer[object, object] = MemoryPeer({"authorization": header})
    assert bearer(peer.stream) == "word"


@pytest.mark.parametrize("header", ["Basic word", "word", "Bearerword", ""])
async def test_what_is_no_token_is_none(header: str) -> None:
    peer: MemoryPeer[object, object] = MemoryPeer({"authorization": header})
    assert bearer(peer.stream) == ""


@pytest.mark.parametrize(
    ("kind", "status"),
    [
        ("application/grpc", "200"),
        ("application/grpc+proto", "200"),
        ("Application/GRPC; charset=utf-8", "200"),
        ("application/grpc-web", "415"),
        ("application/grpc-web+proto", "415"),
        ("application/grpc-web-text", "415"),
        ("application/grpc+json", "415"),
        ("application/json", "415"),
        ("", "415"),
    ],
)
async def test_another_protocol_is_refused_whole_and_not_half_answered(kind: str, status: str) -> None:
    def client(address: str) -> None:
        with RawConnection(address) as connection:
            names = ((":method", "POST"), (":scheme", "http"), (":path", SAY), (":authority", "localhost"))
            block = connection.encoded(*names, ("content-type", kind), ("te", "trailers"))
            stream = connection.stream()
            connection.send(frame(Kind.HEADERS, END_HEADERS, stream, block))
            if status == "200":
                connection.data(stream, EMPTY, end=True)
            answer = connection.outcome(stream)
            assert answer.headers[":status"] == status
            assert (answer.status, bool(answer.content)) == ((0, True) if status == "200" else (None, False))

    async with serving(echo_service(echo)) as address:
        await in_thread(client, address)
