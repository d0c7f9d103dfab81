"""A gRPC call on trio to a server at a Unix socket. Processes use it to relay the calls of clients.

The library `h2` handles frames and windows. A message is acknowledged to the server only when the caller receives it,
so a slow receiver slows the server down. Pings are answered at any time, and a silent server is pinged.
"""

from __future__ import annotations

from base64 import b64decode
from collections import deque
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from struct import Struct
from typing import Final
from urllib.parse import unquote

import grpc
import trio
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import (
    ConnectionTerminated,
    DataReceived,
    Event,
    ResponseReceived,
    StreamEnded,
    StreamReset,
    TrailersReceived,
)
from h2.exceptions import ProtocolError

from trio_grpc.grpc.call import CallRefused
from trio_grpc.http2.http2 import FRAME_HEADER_SIZE, GOAWAY
from trio_grpc.http2.proxy_protocol import header_for

RECEIVE_SIZE: Final = 1 << 16
"""Maximum number of bytes read from the socket at once."""
ANSWER_LIMIT: Final = 5.0
"""Maximum number of seconds until a server answers a new connection. A stopped process accepts it but never answers."""
PING_AFTER: Final = 5.0
"""Seconds of silence after which the server is pinged."""
PINGS: Final = 3
"""Number of unanswered pings after which the connection counts as lost."""
STATUSES: Final = {code.value[0]: code for code in grpc.StatusCode}
"""Statuses by their numbers."""

_prefix: Final = Struct(">BI")


class ServerUnreachableError(CallRefused):
    """The server does not answer a new connection, so it has received no part of the call."""

    def __init__(self, reason: object) -> None:
        super().__init__(grpc.StatusCode.UNAVAILABLE, f"the server does not answer: {reason}")


class OutgoingCall:
    """One call on a separate connection. Its methods raise CallRefused with the final status."""

    def __init__(self, unix_socket: str, socket: trio.SocketStream, host: str) -> None:
        self.unix_socket: Final = unix_socket
        """The path of the server's socket."""
        self.heard = trio.current_time()
        """Time at which the server last sent anything."""
        self._socket = socket
        self._header = header_for(host, 0)
        self._writing = trio.Lock()
        self._changed = trio.lowlevel.ParkingLot()
        self._received: deque[bytes] = deque()
        self._unread = self._partial = b""
        """The bytes of an unfinished frame, and of an unfinished message."""
        self._owed = 0
        """Number of received bytes not yet acknowledged."""
        self._headers: dict[str, str] = {}
        self._answered = self._accepted = False
        self._end: CallRefused | None = None
        self._h2 = H2Connection(H2Configuration(client_side=True, header_encoding="utf-8"))
        self._h2.initiate_connection()
        self._stream = self._h2.get_next_available_stream_id()

    async def begin(self, path: str, token: str) -> None:
        """Send the headers once the server answers the connection. Raises: ServerUnreachableError."""
        with trio.move_on_after(ANSWER_LIMIT) as waiting:
            await self._until(lambda: self._answered)
        if waiting.cancelled_caught:
            raise ServerUnreachableError(f"it was silent for {ANSWER_LIMIT:g} s")
        headers = [(":method", "POST"), (":scheme", "http"), (":path", path), (":authority", "localhost")]
        headers += [("content-type", "application/grpc"), ("te", "trailers")]
        self._h2.send_headers(self._stream, headers + ([("authorization", f"Bearer {token}")] if token else []))
        await self._flush()

    async def run(self) -> None:
        """Read the server's data until the call has ended."""
        while self._end is None:
            await self._flush()
            try:
                some = await self._hear()
                events = self._h2.receive_data(self._open_frames(some)) if some else [ConnectionTerminated()]
            except (trio.BrokenResourceError, ProtocolError):
                events = [ConnectionTerminated()]
            for event in events:
                self._take(event)
            self._changed.unpark_all()

    async def accepted(self) -> None:
        """Wait for the response headers, which show that the server has accepted the token."""
        await self._until(lambda: self._accepted)

    async def send(self, message: bytes) -> None:
        """Send a message as fast as the server accepts it."""
        rest = _prefix.pack(0, len(message)) + message
        while rest:
            await self._until(self._window)
            size = min(len(rest), self._window())
            self._h2.send_data(self._stream, rest[:size])
            rest = rest[size:]
            await self._flush()

    async def receive(self) -> bytes:
        """Return the next message from the server."""
        await self._until(lambda: bool(self._received))
        message = self._received.popleft()
        self._acknowledge()
        await self._flush()
        return message

    async def _hear(self) -> bytes:
        """Return the next bytes from the server, or no bytes if the connection is lost."""
        for _ in range(PINGS):
            with trio.move_on_after(PING_AFTER):
                some = await self._socket.receive_some(RECEIVE_SIZE)
                self._answered = True
                self.heard = trio.current_time()
                return some
            self._h2.ping(bytes(8))
            await self._flush()
        return b""

    async def _until(self, happened: Callable[[], object]) -> None:
        while not happened():
            if self._end is not None:
                raise self._end
            await self._changed.park()

    def _window(self) -> int:
        if self._end is not None:
            return 0
        return min(self._h2.local_flow_control_window(self._stream), self._h2.max_outbound_frame_size)

    def _open_frames(self, some: bytes) -> bytes:
        """Return the complete frames except GOAWAY. Calls continue after GOAWAY, but h2 would end them."""
        self._unread += some
        frames = []
        while len(self._unread) >= FRAME_HEADER_SIZE:
            end = FRAME_HEADER_SIZE + int.from_bytes(self._unread[:3], "big")
            if len(self._unread) < end:
                break
            if self._unread[3] != GOAWAY:
                frames.append(self._unread[:end])
            self._unread = self._unread[end:]
        return b"".join(frames)

    def _take(self, event: Event) -> None:
        match event:
            case ResponseReceived(headers=list(headers)) | TrailersReceived(headers=list(headers)):
                self._headers.update((str(name), str(value)) for name, value in headers)
                if "grpc-status" in self._headers:
                    self._end = self._end or _ended(self._headers)
                else:
                    self._accepted = True
            case DataReceived(data=bytes(data), flow_controlled_length=int(size)):
                self._owed += size
                self._cut(data)
            case StreamEnded() | StreamReset() | ConnectionTerminated():
                lost = CallRefused(grpc.StatusCode.UNAVAILABLE, "the connection to the server is lost")
                self._end = self._end or lost
            case _:
                pass

    def _cut(self, data: bytes) -> None:
        """Split the received data into messages."""
        self._partial += data
        while len(self._partial) >= _prefix.size:
            end = _prefix.size + _prefix.unpack_from(self._partial)[1]
            if len(self._partial) < end:
                break
            self._received.append(self._partial[_prefix.size : end])
            self._partial = self._partial[end:]
        self._acknowledge()

    def _acknowledge(self) -> None:
        """Enlarge the server's window, unless a message is still waiting for `receive`."""
        if self._owed and not self._received and self._end is None:
            self._h2.acknowledge_received_data(self._owed, self._stream)
            self._owed = 0

    async def _flush(self) -> None:
        async with self._writing:
            if data := self._header + self._h2.data_to_send():
                self._header = b""
                with suppress(trio.BrokenResourceError):  # `run` receives the same error
                    await self._socket.send_all(data)


@asynccontextmanager
async def calling(unix_socket: str, path: str, host: str, token: str = "") -> AsyncIterator[OutgoingCall]:
    """Make a call on behalf of a client at a numeric address. The end of the block cancels it.

    The server counts the call towards the limits of that address.

    Raises:
        ServerUnreachableError: The server does not answer the connection.
        CallRefused: The server ended the call.
    """
    try:
        socket = await trio.open_unix_socket(unix_socket)
    except OSError as error:
        raise ServerUnreachableError(error) from error
    failure: Exception | None = None
    async with socket, trio.open_nursery() as nursery:
        call = OutgoingCall(unix_socket, socket, host)
        nursery.start_soon(call.run)
        try:
            await call.begin(path, token)
            yield call
        except Exception as error:  # noqa: BLE001 - raised below, outside the nursery's exception group
            failure = error
        nursery.cancel_scope.cancel()
    if failure is not None:
        raise failure


def _ended(headers: dict[str, str]) -> CallRefused:
    """Return the status in a response's trailers."""
    number = int(headers["grpc-status"])
    code = STATUSES.get(number, grpc.StatusCode.UNKNOWN)
    details = headers.get("grpc-status-details-bin", "")
    return CallRefused(code, unquote(headers.get("grpc-message", "")), b64decode(details + "=" * (-len(details) % 4)))
