"""What the server's tests share: a server with one handler, and clients that block a thread and never for ever."""

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

from arena.v1 import play_pb2 as pb
from arena.v1 import play_pb2_grpc as play
from arena.wire.grpc_server import Service, serve
from arena.wire.stream import Stream

PATIENCE = 60.0
"""Seconds after which a client gives up: only ever reached when a test fails."""

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
PlayStream = Stream[pb.PlayRequest, pb.PlayResponse]


class Play:
    """A play service that is one function."""

    def __init__(self, handler: Callable[[PlayStream], Awaitable[None]]) -> None:
        self.Play = handler


class NoHistory:
    """The part of a ladder service that no test of the server asks for."""

    async def GetHistory(self, request: object, call: object) -> None:
        raise NotImplementedError


def play_service(handler: Callable[[PlayStream], Awaitable[None]]) -> Service:
    return Service(play.add_PlayServiceServicer_to_server, Play(handler))


async def echo(stream: PlayStream) -> None:
    while (message := await stream.receive()) is not None:
        await stream.send(pb.PlayResponse(heartbeat=message.heartbeat))


@asynccontextmanager
async def serving(*services: Service, **keywords: Any) -> AsyncIterator[str]:
    """A server for the block; gives its address."""
    async with trio.open_nursery() as nursery:
        port: int = await nursery.start(partial(serve, services, "127.0.0.1:0", **keywords))
        yield f"127.0.0.1:{port}"
        nursery.cancel_scope.cancel()


@contextmanager
def player(address: str) -> Iterator[play.PlayServiceStub]:
    """A client of its own connection."""
    options = [("grpc.use_local_subchannel_pool", 1), ("grpc.max_receive_message_length", -1)]
    with grpc.insecure_channel(address, options=options) as channel:
        yield play.PlayServiceStub(channel)


class Mouth:
    """What a client says, while it says it; shut at the end of the block."""

    def __init__(self, *heartbeats: int) -> None:
        self._words: queue.SimpleQueue[int | None] = queue.SimpleQueue()
        self._asked = threading.Semaphore(0)
        self._said = 0
        self.say(*heartbeats)

    def say(self, *heartbeats: int) -> None:
        for heartbeat in heartbeats:
            self._words.put(heartbeat)
            self._said += 1

    def shut(self) -> None:
        self._words.put(None)

    def wait_until_asked_for_more(self) -> None:
        """Until gRPC has taken and passed on all that was said up to now."""
        for _ in range(self._said + 1):
            assert self._asked.acquire(timeout=PATIENCE)
        self._said = 0

    def __enter__(self) -> Mouth:
        return self

    def __exit__(self, *_: object) -> None:
        self.shut()

    def __iter__(self) -> Iterator[pb.PlayRequest]:
        return self

    def __next__(self) -> pb.PlayRequest:
        self._asked.release()
        word = self._words.get()
        if word is None:
            raise StopIteration
        return pb.PlayRequest(heartbeat=word)


def raw(channel: grpc.Channel, method: str = "arena.v1.PlayService/Play") -> Any:
    """A method called with bytes, for bytes."""
    return channel.stream_stream(f"/{method}")


def numbers(*heartbeats: int) -> Iterator[pb.PlayRequest]:
    return iter([pb.PlayRequest(heartbeat=heartbeat) for heartbeat in heartbeats])


def converse(address: str, *heartbeats: int) -> list[int]:
    """Send these numbers on a stream of its own connection, close it and return what came back."""
    with player(address) as stub:
        return [answer.heartbeat for answer in stub.Play(numbers(*heartbeats), timeout=PATIENCE)]


def refusal(call: Callable[[], object]) -> tuple[grpc.StatusCode, str]:
    """The status a call ends with that does not end well."""
    try:
        call()
    except grpc.RpcError as error:
        return error.code(), error.details() or ""
    raise AssertionError("the call ended well")


in_thread = trio.to_thread.run_sync


@asynccontextmanager
async def program(name: str, *arguments: str) -> AsyncIterator[Program]:
    """One of the programs beside this file, for the block; killed if it still runs at the end."""
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
    """A process that says what it does, line by line."""

    def __init__(self, process: trio.Process) -> None:
        self.process = process
        self._said = b""

    async def line(self) -> str:
        """What it says next."""
        assert self.process.stdout is not None
        with trio.fail_after(PATIENCE):
            while b"\n" not in self._said:
                some = await self.process.stdout.receive_some()
                assert some, "the program ended without a word"
                self._said += some
        line, self._said = self._said.split(b"\n", 1)
        return line.decode()
