"""The real stream: a gRPC call over HTTP/2, as the gRPC protocol has it ("gRPC over HTTP2").

Each message has five bytes before it: whether it is compressed, and its length. What the peer sends while nobody asks
is kept, stamped with its arrival, and it may send no more than a window of it.
"""

from __future__ import annotations

import zlib
from collections import deque
from collections.abc import Callable, Mapping
from struct import Struct
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import grpc
import trio
from google.protobuf.message import DecodeError

from arena.wire.http2 import Http2Connection
from arena.wire.http2_stream import Http2Stream
from arena.wire.stream import Refused, Vanished

if TYPE_CHECKING:
    from arena.wire.port import Port

LONGEST_TEXT: Final = 1000
"""Characters of a status; clients take no headers beyond some kilobytes."""
PLAIN: Final = " !\"#$&'()*+,/:;<=>?@[\\]^`{|}"
"""What stands for itself in the text of a status, beyond letters, digits and some signs that always do."""
PREFIX: Final = 5
"""Bytes before a message."""
GZIP: Final = 31
"""What zlib calls this format."""
RESPONSE: Final = (
    (b":status", b"200"),
    (b"content-type", b"application/grpc"),
    (b"grpc-accept-encoding", b"identity,gzip"),
)

_prefix: Final = Struct(">BI").pack


class GrpcStream(Http2Stream):
    """A `Stream` over HTTP/2."""

    def __init__(
        self,
        port: Port,
        connection: Http2Connection,
        number: int,
        peer: str,
        metadata: Mapping[str, str],
        parse: Callable[[bytes], Any],
        serialize: Callable[[Any], bytes],
    ) -> None:
        super().__init__(connection, number)
        self.peer = peer
        self.metadata = metadata
        self.received_at = port.now
        self.scope = trio.CancelScope(shield=True)  # of the handler, whose end is this call's to say
        self.timer = trio.CancelScope()
        """Of its deadline, where it has one."""
        self.first: Callable[[], None] = lambda: None
        """What is done with the stream when it is open."""
        self.vanished: Callable[[], None] = lambda: None
        self.busy = False
        """As `Stream.busy`."""
        self._port = port
        self._parse = parse
        self._serialize = serialize
        self._over: type[Exception] | None = None
        self._opened = False
        self._partial = bytearray()
        self._needed = PREFIX
        self._arrived: deque[tuple[int, bytes, float]] = deque()
        self._turn = 0
        self._take: Callable[[Any], None] | None = None
        self._left: Callable[[], None] | None = None
        self._fault: Exception | None = None
        self._reader = trio.lowlevel.ParkingLot()
        self._writer = trio.lowlevel.ParkingLot()

    async def receive(self) -> Any:
        """As `Stream.receive`. A checkpoint only where it has to wait, and the window bounds how long it need not."""
        while not self._arrived:
            if self._fault is not None:
                raise self._fault
            if self._over:
                raise self._over
            if self.ended:
                return None
            await self._reader.park()
        return self._next()

    async def deliver(self, take: Callable[[Any], None], left: Callable[[], None]) -> None:
        """As `Stream.deliver`."""
        self._take, self._left = take, left
        if self._arrived:
            self._port.later(self._hand_on)
        try:
            while self._fault is None and (self._arrived or not (self._over or self.ended)):
                await self._reader.park()
        finally:
            self._take = self._left = None
        if self._fault is not None:
            raise self._fault
        if self._over:
            raise self._over

    async def send(self, message: Any) -> None:
        """As `Stream.send`. Always a checkpoint: to a peer that reads fast one could send for ever."""
        await trio.lowlevel.checkpoint()
        while self.busy:
            await self._writer.park()
        self.hand_over(message)

    def hand_over(self, message: Any) -> None:
        """As `Stream.hand_over`."""
        if self._over:
            raise self._over
        if not isinstance(message, bytes):
            message = self._serialize(message)
        if len(message) > (most := self._port.settings.max_response):
            text = f"an answer has at most {most} bytes, and this one would have {len(message)}; ask for less"
            raise Refused(grpc.StatusCode.RESOURCE_EXHAUSTED, text)
        if not self._opened:
            self._opened = True
            self.open(RESPONSE)
        self.busy = True
        self.write(_prefix(0, len(message)) + message)

    def close(
        self, status: grpc.StatusCode, text: str = "", reason: type[Exception] = trio.ClosedResourceError
    ) -> None:
        """Ends the call, once what was sent has left; `receive` and `send` raise `reason` from now on."""
        if self._over:
            return
        code: int = status.value[0]  # a pair of number and name
        trailers = [(b"grpc-status", b"%d" % code)]
        if text:
            trailers.append((b"grpc-message", quote(text[:LONGEST_TEXT], safe=PLAIN).encode()))
        self._stop(reason)
        self.end(trailers if self._opened else (*RESPONSE, *trailers))

    def on_open(self) -> None:
        """Nothing was said before."""
        self.first()

    def on_data(self, data: bytes) -> None:
        """Messages, or parts of them."""
        if self._partial:
            self._partial += data
            if len(self._partial) < self._needed:
                self.connection.waste()
                self._grant()
                return
            data = bytes(self._partial)
            self._partial.clear()
            self.connection.forgive(1)
        at, size, needed = 0, len(data), PREFIX
        while size - at >= PREFIX:
            length = int.from_bytes(data[at + 1 : at + PREFIX], "big")
            if length > self._port.settings.max_request:
                most = self._port.settings.max_request
                text = f"a message has at most {most} bytes, not {length}"
                self._fail(Refused(grpc.StatusCode.RESOURCE_EXHAUSTED, text))
                return
            needed = PREFIX + length
            if size - at < needed:
                break
            self._arrive(data[at], data[at + PREFIX : at + needed])
            at, needed = at + needed, PREFIX
        if at < size:
            self.connection.waste()
            self._partial += data[at:]
            self._needed = needed
        self._grant()

    def on_end(self) -> None:
        """Half-close."""
        if self._partial:
            self._fail(malformed())
        self._reader.unpark_all()

    def on_lost(self) -> None:
        """The peer is gone, or has taken the call back."""
        self._stop(Vanished)
        self.vanished()

    def on_left(self) -> None:
        """What was sent has left."""
        self.busy = False
        if self._writer:
            self._writer.unpark_all()
        if self._left is not None:
            self._left()

    def _stop(self, reason: type[Exception]) -> None:
        self._over = self._over or reason
        self.busy = False
        self._reader.unpark_all()
        self._writer.unpark_all()

    def _fail(self, fault: Exception) -> None:
        """From now on nothing more is received, and this is why."""
        self._fault = self._fault or fault
        self._reader.unpark_all()

    def _arrive(self, compressed: int, message: bytes) -> None:
        if self._fault is not None:
            return
        self._arrived.append((compressed, message, self._port.now))
        if self._take is None:
            self._reader.unpark_all()
        elif self._turn != self._port.turn:
            self._hand_on()
        elif len(self._arrived) == 1:
            self._port.later(self._hand_on)

    def _hand_on(self) -> None:
        """The next message to whoever waits in `deliver`, where it arrives: one in each turn."""
        if self._take is None or not self._arrived:
            return
        self._turn = self._port.turn
        try:
            self._take(self._next())
        except Exception as fault:  # noqa: BLE001 - raised by `deliver`
            self._fail(fault)
            return
        if self._arrived:
            self._port.later(self._hand_on)
        elif self._over or self.ended:
            self._reader.unpark_all()

    def _next(self) -> Any:
        compressed, message, self.received_at = self._arrived.popleft()
        self._grant()
        try:
            return self._parse(self._unpacked(message) if compressed else message)
        except DecodeError:
            raise malformed() from None

    def _grant(self) -> None:
        if not self._arrived:
            self.grant()

    def _unpacked(self, message: bytes) -> bytes:
        """Of a message that is compressed."""
        if self.metadata.get("grpc-encoding") != "gzip":
            raise Refused(grpc.StatusCode.INTERNAL, "the message is compressed, but 'grpc-encoding' does not say how")
        most = self._port.settings.max_request
        try:
            unpacker = zlib.decompressobj(GZIP)
            unpacked = unpacker.decompress(message, most + 1)
        except zlib.error:
            raise malformed() from None
        if len(unpacked) > most:
            raise Refused(grpc.StatusCode.RESOURCE_EXHAUSTED, f"a message has at most {most} bytes when unpacked")
        return unpacked


def malformed() -> Refused:
    """How a call ends whose message is none."""
    return Refused(grpc.StatusCode.INVALID_ARGUMENT, "the message cannot be parsed")
