"""A worker process of a server: connections that the primary accepted, and matches that the primary assigned.

    python -m arena.api.further_process DESCRIPTOR

Connections come through the socket with the number DESCRIPTOR, and everything else through standard input. The worker
serves calls of `Play` itself. It forwards every other call to the primary over a separate connection.
"""

from __future__ import annotations

import socket
import ssl
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any, Final

import grpc
import trio
from arena_client.v1 import (
    bots_pb2_grpc,
    events_pb2_grpc,
    game_pb2_grpc,
    ladder_pb2_grpc,
    log_pb2_grpc,
    matches_pb2_grpc,
    operator_pb2_grpc,
    play_pb2_grpc,
    status_pb2_grpc,
)
from google.protobuf.descriptor import ServiceDescriptor
from grpc_health.v1 import health_pb2_grpc

from arena.api.codec import PROTOBUF
from arena.api.server import FILES, NAMES, SERVICES
from arena.api.statuses import ERROR_DOMAIN
from arena.processes.channel import Channel
from arena.processes.memory import collect_rarely, keep_in_huge_pages
from arena.server.processes.further import Further
from arena.server.processes.task import Task
from trio_grpc.grpc import reflection
from trio_grpc.grpc.call import Call, CallRefused, Stream, bearer, send_within
from trio_grpc.grpc.health import Health
from trio_grpc.grpc.outgoing_call import OutgoingCall, calling_through
from trio_grpc.grpc.server import Service, serve
from trio_grpc.http2.sharing import Received, connection_for
from trio_grpc.http2.tls import load_credentials, renew

PASSED_ON: Final[Mapping[str, Callable[[Any, Any], None]]] = {
    "GameService": game_pb2_grpc.add_GameServiceServicer_to_server,
    "BotService": bots_pb2_grpc.add_BotServiceServicer_to_server,
    "EventService": events_pb2_grpc.add_EventServiceServicer_to_server,
    "LadderService": ladder_pb2_grpc.add_LadderServiceServicer_to_server,
    "LogService": log_pb2_grpc.add_LogServiceServicer_to_server,
    "MatchService": matches_pb2_grpc.add_MatchServiceServicer_to_server,
    "OperatorService": operator_pb2_grpc.add_OperatorServiceServicer_to_server,
    "StatusService": status_pb2_grpc.add_StatusServiceServicer_to_server,
}
"""Services that only the primary process implements."""


class PlayServiceHere:
    """Servicer of `PlayService`.

    It serves a bot's stream in this process; the primary decides what happens with the bot.
    """

    def __init__(self, further: Further) -> None:
        self._further = further

    async def Play(self, stream: Stream[bytes, bytes]) -> None:  # noqa: N802 - the proto's name
        """Serve a bot's stream until the primary closes the stream. Raises: CallRefused."""
        end = await self._further.serve(stream, bearer(stream))
        if end is not None:
            code, text, details = end
            raise CallRefused(grpc.StatusCode[code], text, details)


class PassedOn:
    """Servicer that forwards every call of a service to the primary process."""

    def __init__(self, service: ServiceDescriptor, line: socket.socket) -> None:
        """`line`: the socket through which connections to the primary are sent."""
        self._line = line
        for method in service.methods:
            passed = self._watch if method.server_streaming else self._ask
            path = f"/{service.full_name}/{method.name}"
            setattr(self, method.name, partial(passed, path))

    def _calling(self, path: str, call: Call) -> AbstractAsyncContextManager[OutgoingCall]:
        """Repeat the call at the primary, on behalf of the same peer. Raises: CallRefused."""
        try:
            host = _host(call.peer)
            ours = connection_for(self._line, (host, 0, 0, 0) if ":" in host else (host, 0))
        except OSError as error:
            raise CallRefused(grpc.StatusCode.UNAVAILABLE, f"the server does not answer: {error}") from error
        return calling_through(trio.SocketStream(trio.socket.from_stdlib_socket(ours)), path, bearer(call))

    async def _ask(self, path: str, request: bytes, call: Call) -> bytes:
        async with self._calling(path, call) as outgoing:
            await outgoing.send(request)
            return await outgoing.receive()
        raise AssertionError

    async def _watch(self, path: str, request: bytes, stream: Stream[bytes, bytes]) -> None:
        try:
            async with self._calling(path, stream) as outgoing:
                await outgoing.send(request)
                while True:
                    await send_within(stream, await outgoing.receive())
        except CallRefused as refused:
            if refused.code is not grpc.StatusCode.OK:
                raise


def _host(peer: str) -> str:
    """Return the numeric address of a peer."""
    return peer.partition(":")[2].rpartition(":")[0].strip("[]")


async def _run(taking: socket.socket) -> None:
    with socket.socket(fileno=0) as line:
        channel = Channel(line)
        channel.send(None)  # The process is ready.
        for task in await channel.receive():
            await _serve(task, channel, taking)


async def _serve(task: Task, channel: Channel, taking: socket.socket) -> None:
    further = Further(task, PROTOBUF, channel)
    services = {each.name: each for file in FILES for each in file.DESCRIPTOR.services_by_name.values()}
    health = Health(NAMES, trio.Event())
    credentials = _credentials(task)
    collect_rarely()
    async with trio.open_nursery() as nursery:
        nursery.start_soon(
            partial(
                serve,
                (
                    Service(play_pb2_grpc.add_PlayServiceServicer_to_server, PlayServiceHere(further), as_bytes=True),
                    *(Service(add, PassedOn(services[name], taking), as_bytes=True) for name, add in PASSED_ON.items()),
                    Service(health_pb2_grpc.add_HealthServicer_to_server, health),
                    Service(reflection.register, reflection.Reflection(SERVICES)),
                ),
                Received(taking, further.connection_closed, further.listening),
                settings=task.transport,
                credentials=credentials,
                turn=further.turns,
                error_domain=ERROR_DOMAIN,
            )
        )
        nursery.start_soon(keep_in_huge_pages)
        if credentials is not None and task.tls_cert is not None and task.tls_key is not None:
            nursery.start_soon(
                renew, credentials, task.tls_cert, task.tls_key, lambda _: None
            )  # The first process logs.
        await further.run()
        nursery.cancel_scope.cancel()


def _credentials(task: Task) -> ssl.SSLContext | None:
    if task.tls_cert is None or task.tls_key is None:
        return None
    return load_credentials(task.tls_cert, task.tls_key)


if __name__ == "__main__":
    trio.run(_run, socket.socket(fileno=int(sys.argv[1])))
