"""A server with one handler, and clients that block a thread. Every call has a timeout."""

from __future__ import annotations

import queue
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from functools import partial
from pathlib import Path
from subprocess import PIPE
from typing import Any

import grpc
import trio

from tests.trio_grpc.echo import SAY, EchoStream, Item, Stub, service
from trio_grpc.grpc.server import Service, serve

PATIENCE = 60.0
"""Seconds after which a client gives up and the test fails."""

HERE = Path(__file__).parent
ROOT = HERE.parents[1]


class Say:
    """A servicer with a handler that the test supplies."""

    def __init__(self, handler: Callable[[EchoStream], Awaitable[None]]) -> None:
        self.Say = handler


def echo_service(handler: Callable[[EchoStream], Awaitable[None]]) -> Service:
    return service(Say(handler))


async def echo(stream: EchoStream) -> None:
    while (message := await stream.receive()) is not None:
        await stream.send(Item(number=message.number))


@asynccontextmanager
async def serving(*services: Service, **keywords: Any) -> AsyncIterator[str]:
    """Run a server during the `with` block and yield its address."""
    async with trio.open_nursery() as nursery:
        port: int = await nursery.start(partial(serve, services, "127.0.0.1:0", **keywords))
        yield f"127.0.0.1:{port}"
        nursery.cancel_scope.cancel()


@contextmanager
def stub_at(address: str) -> Iterator[Stub]:
    """Yield a client with a connection of its own."""
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", -1)]
    with grpc.insecure_channel(address, options=options) as channel:
        yield Stub(channel)


class RequestSource:
    """A queue of requests for a streaming call. The end of the `with` block closes it."""

    def __init__(self, *sent: int) -> None:
        self._queue: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._asked = threading.Semaphore(0)
        self._put = 0
        self.put(*sent)

    def __repr__(self) -> str:
        return f"<RequestSource with {self._queue.qsize()} requests unsent>"

    def put(self, *sent: int) -> None:
        for number in sent:
            self._queue.put(number)
            self._put += 1

    def close(self) -> None:
        self._queue.put(None)

    def wait_until_asked_for_more(self) -> None:
        """Block until gRPC has read and forwarded all requests put so far."""
        for _ in range(self._put + 1):
            assert self._asked.acquire(timeout=PATIENCE)
        self._put = 0

    def __enter__(self) -> RequestSource:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __iter__(self) -> Iterator[Item]:
        return self

    def __next__(self) -> Item:
        self._asked.release()
        number = self._queue.get()
        if number is None:
            raise StopIteration
        return Item(number=number)


def raw(channel: grpc.Channel, method: str = SAY) -> Any:
    """Return a method whose requests and responses are bytes."""
    return channel.stream_stream(method)


def numbers(*sent: int) -> Iterator[Item]:
    return iter([Item(number=number) for number in sent])


def converse(address: str, *sent: int) -> list[int]:
    """Send these numbers in a call on a separate connection and half-close it. Return the numbers received."""
    with stub_at(address) as stub:
        return [answer.number for answer in stub.Say(numbers(*sent), timeout=PATIENCE)]


def refusal(call: Callable[[], object]) -> tuple[grpc.StatusCode, str]:
    """Return the status of a call that must fail."""
    try:
        call()
    except grpc.RpcError as error:
        return error.code(), error.details() or ""
    raise AssertionError("the call ended well")


in_thread = trio.to_thread.run_sync


@asynccontextmanager
async def program(name: str, *arguments: str) -> AsyncIterator[Program]:
    """Run a program from this folder during the `with` block. Kill it if it still runs at the end."""
    process = await trio.lowlevel.open_process([sys.executable, str(HERE / name), *arguments], stdout=PIPE, cwd=ROOT)
    try:
        yield Program(process)
    finally:
        process.kill()
        with trio.CancelScope(shield=True):
            await process.wait()
            if process.stdout is not None:
                await process.stdout.aclose()


class Program:
    """A process that reports each of its states as a line on standard output."""

    def __init__(self, process: trio.Process) -> None:
        self.process = process
        self._output = b""

    def __repr__(self) -> str:
        return f"<Program {self.process.args!r} pid {self.process.pid} status {self.process.returncode}>"

    async def line(self) -> str:
        """Return the next line of the process's output."""
        assert self.process.stdout is not None
        with trio.fail_after(PATIENCE):
            while b"\n" not in self._output:
                some = await self.process.stdout.receive_some()
                assert some, "the program ended without a line"
                self._output += some
        line, self._output = self._output.split(b"\n", 1)
        return line.decode()
