"""A small HTTP/1.1 server in the arena server's own event loop, for a few documents such as metrics.

It answers only GET and HEAD, one request per connection. The number and the duration of connections are limited. So a
client with bad or slow requests costs next to nothing.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from http import HTTPStatus
from typing import Final, NamedTuple

import h11
import trio

from trio_grpc.http2.sockets import bind

DEADLINE: Final = 5.0
"""Maximum duration of a connection in seconds."""
MOST: Final = 16
"""Maximum number of simultaneous connections. Further connections are closed."""
LONGEST: Final = 8192
"""Maximum number of bytes of a request's head."""
PIECE: Final = 4096


class Document(NamedTuple):
    """The content of an answer to a request."""

    content: bytes
    media_type: str
    status: int = 200


Documents = Mapping[str, Callable[[str], Document]]
"""Functions by path. Each creates a document from the request's `Accept` header."""


async def serve_documents(
    address: str, documents: Documents, *, task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED
) -> None:
    """Serve documents at "host:port" until cancelled. Report the port.

    Raises:
        RuntimeError: the address cannot be bound.
    """
    listeners = [trio.SocketListener(trio.socket.from_stdlib_socket(each)) for each in bind(address)]
    room = trio.CapacityLimiter(MOST)
    async with trio.open_nursery() as nursery:
        nursery.start_soon(partial(trio.serve_listeners, partial(_serve, documents, room), listeners))
        task_status.started(listeners[0].socket.getsockname()[1])


async def _serve(documents: Documents, room: trio.CapacityLimiter, stream: trio.SocketStream) -> None:
    """Answer the single request of a connection."""
    async with stream:
        try:
            room.acquire_nowait()
        except trio.WouldBlock:
            return
        try:
            with trio.move_on_after(DEADLINE):
                await _answer(documents, stream)
        except (trio.BrokenResourceError, trio.ClosedResourceError, h11.LocalProtocolError):
            pass  # The client has left.
        finally:
            room.release()


async def _answer(documents: Documents, stream: trio.SocketStream) -> None:
    connection = h11.Connection(h11.SERVER, max_incomplete_event_size=LONGEST)
    try:
        while (event := connection.next_event()) is h11.NEED_DATA:
            connection.receive_data(await stream.receive_some(PIECE))
    except h11.RemoteProtocolError as error:
        await _send(stream, connection, _wrong(error.error_status_hint), b"GET")
        return
    if isinstance(event, h11.Request):
        await _send(stream, connection, _document(documents, event), event.method)


def _document(documents: Documents, request: h11.Request) -> Document:
    if request.method not in (b"GET", b"HEAD"):
        return _wrong(405)
    make = documents.get(request.target.decode("ascii", "replace").partition("?")[0])
    if make is None:
        return _wrong(404)
    accepted = b",".join(value for name, value in request.headers if name == b"accept")
    return make(accepted.decode("ascii", "replace"))


def _wrong(status: int) -> Document:
    return Document(f"{HTTPStatus(status).phrase}\n".encode(), "text/plain; charset=utf-8", status)


async def _send(stream: trio.SocketStream, connection: h11.Connection, document: Document, method: bytes) -> None:
    headers = [
        ("content-type", document.media_type),
        ("content-length", str(len(document.content))),
        ("cache-control", "no-store"),
        ("connection", "close"),
        *([("allow", "GET, HEAD")] if document.status == 405 else []),
    ]
    reason = HTTPStatus(document.status).phrase.encode()
    head = connection.send(h11.Response(status_code=document.status, headers=headers, reason=reason)) or b""
    await stream.send_all(head + (b"" if method == b"HEAD" else document.content))
