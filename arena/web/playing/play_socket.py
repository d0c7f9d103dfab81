"""`/play`: the conversation of `PlayService.Play` over a WebSocket, relayed to the server.

Each frame is one message, binary or as JSON (protobuf's mapping). For JSON, the welcome's catalogues describe the views
of later games. Before the conversation, the client sends frames with the bot's token and, if needed, a registration.
The server counts the connection under the browser's address. The relay reads frames of the conversation after the
server has accepted the token. In each direction, it reads only as fast as the receiver does.

With several nodes, a bot plays on the first that answers. A bot that has lost its node returns to it within 15 s,
because its matches wait there; after that, other nodes may have interrupted them.
"""

from __future__ import annotations

import json
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any, Final

import grpc
import trio
from arena_client.descriptors import pool_of
from arena_client.v1 import bots_pb2, play_pb2
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.json_format import MessageToJson, ParseDict, ParseError
from google.protobuf.message import Message
from google.rpc import error_details_pb2, status_pb2
from starlette.types import Receive, Scope, Send
from starlette.websockets import WebSocket, WebSocketDisconnect

from arena.store.nodes import LEASE
from arena.web.answers.responses import problem
from arena.web.requests.connections import SECOND_FILES, files_allowed
from arena.web.requests.sites import SiteRefused, Sites
from trio_grpc.grpc.call import CallRefused
from trio_grpc.grpc.outgoing_call import OutgoingCall, ServerUnreachableError, calling
from trio_grpc.grpc.refusals import explained
from trio_grpc.limits.connection_limits import OpenByOrigin, TooManyOpen, origin_of

LARGEST_FRAME: Final = 1 << 16
"""Maximum size of a frame from a bot, in bytes, or in characters for text."""
LARGEST_OPENING: Final = 4096
"""Maximum size of a frame before the conversation, in characters."""
OPENING_LIMIT: Final = 10.0
"""Maximum number of seconds until each frame before the conversation arrives."""
MOST_SOCKETS: Final = 500
MOST_OF_ADDRESS: Final = 50
"""Maximum numbers of open WebSockets: in total (less if fewer files may be open), and per address."""
FULL_RETRY: Final = 60
"""Seconds before a refused client should retry."""
FIRST_CODE: Final = 4000
"""The code of a close frame is this number plus the status. 1000 stands for OK (RFC 6455, 7.4.2)."""
DOMAIN: Final = "arena"
PLAY: Final = "/arena.v1.PlayService/Play"
REGISTER: Final = "/arena.v1.BotService/RegisterBot"
DETAILS: Final = (error_details_pb2.ErrorInfo, error_details_pb2.RetryInfo)
"""Message types that may be in a status's details, so that JSON can represent them."""


class PlaySocket:
    """An ASGI application that connects bots to the nodes of a server. Each node listens on a Unix socket."""

    def __init__(self, unix_sockets: Sequence[str], sites: Sites) -> None:
        self._unix_sockets = unix_sockets
        self._sites = sites
        self._latest: dict[str, OutgoingCall] = {}
        """The latest conversation of each bot, by token. It is forgotten when its node has been silent for `LEASE`."""
        self._open = OpenByOrigin(min(MOST_SOCKETS, files_allowed() // SECOND_FILES), MOST_OF_ADDRESS)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one WebSocket, or refuse it."""
        socket = WebSocket(scope, receive, send)
        host = socket.client.host if socket.client is not None else "127.0.0.1"
        try:
            self._sites.check(socket.headers)
            with self._open.counted(origin_of(host)):
                await self._serve(socket, host)
        except SiteRefused as refused:
            await socket.send_denial_response(problem(403, str(refused), reason=refused.reason))
        except TooManyOpen as full:
            retry = {"retry-after": f"{FULL_RETRY}"}
            await socket.send_denial_response(problem(503, f"WebSockets: {full}; come back later", retry))
        except WebSocketDisconnect:
            pass

    async def _serve(self, socket: WebSocket, host: str) -> None:
        await socket.accept()
        try:
            token = await self._opened(socket, host)
            async with self._calling(PLAY, host, token) as call:
                await call.accepted()
                now = trio.current_time()
                self._latest = {of: each for of, each in self._latest.items() if now - each.heard < LEASE}
                self._latest[token] = call
                await _converse(socket, call)
        except CallRefused as end:
            await _close(socket, end)

    @asynccontextmanager
    async def _calling(self, path: str, host: str, token: str = "") -> AsyncIterator[OutgoingCall]:
        """Make a call to the node where the bot was last playing, or else to the first node that answers.

        Raises:
            CallRefused: The node ended the call, or no node answers.
        """
        nodes = self._unix_sockets
        if (latest := self._latest.get(token)) is not None and trio.current_time() - latest.heard < LEASE:
            nodes = [latest.unix_socket]
        async with AsyncExitStack() as stack:
            for node in nodes:
                try:
                    call = await stack.enter_async_context(calling(node, path, host, token))
                    break
                except ServerUnreachableError:
                    if node == nodes[-1]:
                        raise
            yield call

    async def _opened(self, socket: WebSocket, host: str) -> str:
        """Read the frames before the conversation, and register the bot if requested. Return its token.

        Raises:
            CallRefused: a frame is invalid, or the server refuses the registration.
        """
        while True:
            with trio.move_on_after(OPENING_LIMIT) as waiting:
                opening = _opening(await socket.receive())
            if waiting.cancelled_caught:
                text = f"no token came within {OPENING_LIMIT:g} s"
                raise explained(grpc.StatusCode.DEADLINE_EXCEEDED, text, "NO_HELLO", DOMAIN, 2.0)
            if "token" in opening:
                return str(opening["token"])
            request = _parsed(opening["register"], bots_pb2.RegisterBotRequest())
            async with self._calling(REGISTER, host) as call:
                await call.send(request.SerializeToString())
                response = bots_pb2.RegisterBotResponse.FromString(await call.receive())
            await socket.send_text(_json(response))


async def no_server(socket: WebSocket) -> None:
    """Refuse a WebSocket, because these pages have no server."""
    text = "bots play over a WebSocket at the pages of `arena serve --web`; these pages only read"
    await socket.send_denial_response(problem(501, text))


async def _converse(socket: WebSocket, call: OutgoingCall) -> None:
    """Relay messages in both directions until either side ends the conversation.

    Raises:
        CallRefused: the server ended the call with this status.
        WebSocketDisconnect: the client closed the connection.
    """
    ended: list[Exception] = []
    described: DescriptorPool | None = None
    binary = False  # Answers use the format of the bot's latest frame.

    async def hear() -> None:
        nonlocal binary
        try:
            while True:
                frame = _frame(await socket.receive())
                if binary := isinstance(frame, bytes):
                    message = frame
                else:
                    message = _parsed(_document(frame), play_pb2.PlayRequest()).SerializeToString()
                try:
                    await call.send(message)
                except CallRefused:
                    return  # `receive` raises the same error after the server's earlier messages.
        except (WebSocketDisconnect, CallRefused) as end:
            ended.append(end)
        nursery.cancel_scope.cancel()

    async with trio.open_nursery() as nursery:
        nursery.start_soon(hear)
        try:
            while True:
                response = await call.receive()
                if described is None:  # The first message contains the catalogues.
                    described = pool_of(play_pb2.PlayResponse.FromString(response).welcome.games)
                if binary:
                    await socket.send_bytes(response)
                else:
                    await socket.send_text(_json(play_pb2.PlayResponse.FromString(response), described))
        except (CallRefused, WebSocketDisconnect) as end:
            ended.append(end)
        nursery.cancel_scope.cancel()
    raise ended[0]


async def _close(socket: WebSocket, end: CallRefused) -> None:
    """Send the status as JSON, and close the socket with the status's number and reason."""
    number: int = end.code.value[0]
    if end.code is grpc.StatusCode.OK:
        await socket.close()
        return
    status = status_pb2.Status(code=number, message=end.text)
    if end.details:
        status.ParseFromString(end.details)
    info = error_details_pb2.ErrorInfo()
    for detail in status.details:
        detail.Unpack(info)
    await socket.send_text(_json(status))
    await socket.close(FIRST_CODE + number, info.reason or end.code.name)


def _frame(received: Any) -> str | bytes:
    """Return the content of a frame.

    Raises:
        WebSocketDisconnect: the client has closed the connection.
    """
    if received["type"] == "websocket.disconnect":
        raise WebSocketDisconnect(received.get("code", 1005))
    text: str | None = received.get("text")
    content: bytes = received.get("bytes") or b""
    return content if text is None else text


def _opening(received: Any) -> dict[str, Any]:
    """Parse a frame before the conversation: an object with a token or a registration.

    Raises:
        CallRefused: the frame is invalid.
    """
    frame = _frame(received)
    document: Any = _document(frame) if isinstance(frame, str) and len(frame) <= LARGEST_OPENING else None
    match document:
        case {"token": str() as token} if len(document) == 1 and token.isascii() and token.isprintable():
            return {"token": token}
        case {"register": dict() as registration} if len(document) == 1:
            return {"register": registration}
    what = '{"token": "…"} or {"register": {"name": "…"}}'
    raise _bad(f"the first frame is text with {what}, of at most {LARGEST_OPENING} characters")


def _document(frame: str) -> Any:
    """Parse a text as JSON.

    Raises:
        CallRefused: the text is not JSON.
    """
    try:
        return json.loads(frame)
    except (ValueError, RecursionError) as error:
        raise _bad(f"the frame is no JSON: {error}") from None


def _parsed(document: Any, message: Message) -> Message:
    """Fill `message` from protobuf's JSON mapping and return it.

    Raises:
        CallRefused: the object does not fit the message.
    """
    try:
        return ParseDict(document, message)
    except (ParseError, RecursionError, TypeError, ValueError, AttributeError) as error:
        raise _bad(f"the frame is no {message.DESCRIPTOR.name} in protobuf's JSON: {error}") from None


def _bad(text: str) -> CallRefused:
    return explained(grpc.StatusCode.INVALID_ARGUMENT, text, "BAD_MESSAGE", DOMAIN)


def _json(message: Message, described: DescriptorPool | None = None) -> str:
    return MessageToJson(message, indent=None, descriptor_pool=described)
