# Compiled: every decision passes through here.
"""A gRPC call over one HTTP/2 stream. It implements `call.Stream` with the protocol "gRPC over HTTP2".

Five bytes precede each message: a flag for compression and the length. Messages that arrive before the handler asks for
them wait in a queue with their arrival times. Flow control limits the queue to one window.
"""

from __future__ import annotations

import zlib
from base64 import b64encode
from collections import deque
from collections.abc import Callable, Mapping
from struct import Struct
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote

import grpc
import trio
from google.protobuf.message import DecodeError

from trio_grpc.grpc.call import CallRefused, PeerVanished
from trio_grpc.http2.http2 import Http2Connection
from trio_grpc.http2.http2_stream import Http2Stream, do_nothing
from trio_grpc.limits.connection_limits import LOOPBACK, Origin

if TYPE_CHECKING:
    from trio_grpc.http2.listener import Listener
    from trio_grpc.limits.memory_budget import MemoryBudget

MAX_STATUS_TEXT: Final = 1000
"""Maximum number of characters of a status text. Clients accept only a few kilobytes of headers."""
UNESCAPED: Final = " !\"#$&'()*+,/:;<=>?@[\\]^`{|}"
"""Characters that grpc-message contains unencoded, in addition to those that `quote` never encodes."""
PREFIX_SIZE: Final = 5
"""Number of bytes that precede each message."""
QUEUED_COST: Final = 128
"""Approximate overhead of a queued message in bytes."""
GZIP_WBITS: Final = 31
"""Parameter `wbits` of zlib that selects the gzip format."""
RESPONSE_HEADERS: Final = (
    (b":status", b"200"),
    (b"content-type", b"application/grpc"),
    (b"grpc-accept-encoding", b"identity,gzip"),
)

EVICTED: Final = CallRefused(
    grpc.StatusCode.UNAVAILABLE, "the server is short of memory for calls without a valid token; try again later"
)

_prefix: Final = Struct(">BI").pack


def unknown() -> float | None:
    """Return None: the connection does not report its round trip."""
    return None


class GrpcStream(Http2Stream):
    """A `call.Stream` over HTTP/2."""

    def __init__(
        self,
        listener: Listener,
        connection: Http2Connection,
        stream_id: int,
        peer: str,
        metadata: Mapping[str, str],
        parse: Callable[[bytes], Any],
        serialize: Callable[[Any], bytes],
        origin: Origin = LOOPBACK,
        metadata_size: int = 0,
        shortest_round_trip: Callable[[], float | None] = unknown,
    ) -> None:
        super().__init__(connection, stream_id)
        self.peer = peer
        self.metadata = metadata
        self.shortest_round_trip = shortest_round_trip
        """Function that implements `Stream.shortest_round_trip`."""
        self.received_at = listener.now
        # A separate cancel scope, so that the call can still be closed with a status.
        self.scope = trio.CancelScope(shield=True)
        """Cancel scope of the handler."""
        self.timer = trio.CancelScope()
        """Cancel scope of the task that enforces the deadline of a bidirectional call, if it has one."""
        self.respond_at_once: Callable[[], None] = do_nothing
        """Function that sends the response of a call without a handler as soon as the stream is open."""
        self.on_vanished: Callable[[], None] = do_nothing
        """Called when the peer is gone or has cancelled the call."""
        self.busy = False
        """True if `send` would wait (`Stream.busy`)."""
        self.held = 0
        """Number of bytes that the budget counts for the call (`Holder.held`)."""
        self._budget: MemoryBudget | None = listener.untrusted
        """The budget that counts the call's memory. None after the call is trusted or has ended."""
        self._metadata_size = metadata_size
        self.origin = origin
        """The origin that is charged for the call's processor time until the call is trusted."""
        self.trusted = False
        """True if the handler has authenticated the peer."""
        self.charged = 0.0
        """Processor time in seconds that the call used before `trust`."""
        self._reserved = 0.0
        self._waiting = self._in_hand = 0
        """Number of bytes that the handler has not received, and the unpacked size of the last message it received.
        Both are counted until `trust`.
        """
        self._largest = listener.settings.max_request_untrusted
        """Maximum size in bytes of an accepted message."""
        self._listener = listener
        self._parse = parse
        self._serialize = serialize
        self._closed: type[Exception] | None = None
        self._headers_sent = False
        self._partial = bytearray()
        self._partial_needed = PREFIX_SIZE
        self._partial_since = 0.0
        self._received: deque[tuple[int, bytes, float]] = deque()
        """Messages that `receive` has not returned yet: compression flag, content and arrival time."""
        self._delivery_turn = 0
        self._on_message: Callable[[Any], None] | None = None
        self._on_message_sent: Callable[[], None] | None = None
        self._receive_error: Exception | None = None
        self._ignoring = False
        """True if incoming data is dropped: the call has ended, or will end when its handler receives an error."""
        self._receivers = trio.lowlevel.ParkingLot()
        self._senders = trio.lowlevel.ParkingLot()

    async def receive(self) -> Any:
        """Implement `Stream.receive`.

        It is a checkpoint only if it has to wait. Flow control limits how often it returns without waiting.
        """
        while not self._received:
            self._refuse_oversized()
            if self._receive_error is not None:
                raise self._receive_error
            if self._closed:
                raise self._closed
            if self.ended:
                return None
            await self._receivers.park()
        return self._next_message()

    async def deliver(self, on_message: Callable[[Any], None], on_sent: Callable[[], None]) -> None:
        """Implement `Stream.deliver`."""
        self._on_message, self._on_message_sent = on_message, on_sent
        if self._received:
            self._listener.run_next_turn(self._deliver_next)
        self._refuse_oversized()
        try:
            while self._receive_error is None and (self._received or not (self._closed or self.ended)):
                await self._receivers.park()
        finally:
            self._on_message = self._on_message_sent = None
        if self._receive_error is not None:
            raise self._receive_error
        if self._closed:
            raise self._closed

    async def send(self, message: Any) -> None:
        """Implement `Stream.send`.

        It is always a checkpoint, because otherwise sending to a fast reader would never yield.
        """
        await trio.lowlevel.checkpoint()
        while self.busy:
            await self._senders.park()
        self.hand_over(message)

    def hand_over(self, message: Any) -> None:
        """Implement `Stream.hand_over`. Raises CallRefused with RESOURCE_EXHAUSTED for a message that is too large."""
        if self._closed:
            raise self._closed
        if not isinstance(message, bytes):
            message = self._serialize(message)
        if len(message) > (max_response := self._listener.settings.max_response):
            text = f"an answer has at most {max_response} bytes, and this one would have {len(message)}; ask for less"
            raise CallRefused(grpc.StatusCode.RESOURCE_EXHAUSTED, text)
        if not self._headers_sent:
            self._send_headers()
        self.busy = True
        self.write(_prefix(0, len(message)) + message)

    def close(
        self,
        status: grpc.StatusCode,
        text: str = "",
        reason: type[Exception] = trio.ClosedResourceError,
        details: bytes = b"",
    ) -> None:
        """End the call with a status once all messages have been sent; from now on `receive` and `send` raise `reason`.

        `details`: a serialized `google.rpc.Status`. Does nothing on a call that has ended.
        """
        if self._closed:
            return
        code: int = status.value[0]  # The value is a pair of number and name.
        trailers = [(b"grpc-status", b"%d" % code)]
        if text:
            trailers.append((b"grpc-message", quote(text[:MAX_STATUS_TEXT], safe=UNESCAPED).encode()))
        if details:
            trailers.append((b"grpc-status-details-bin", b64encode(details).rstrip(b"=")))
        self._mark_closed(reason)
        if reason is trio.ClosedResourceError:
            self._forget()
        try:
            self.end(trailers if self._headers_sent else (*RESPONSE_HEADERS, *trailers))
        except Exception:  # noqa: BLE001 - a timer or another peer may have closed the call
            self.connection.on_failure()

    def on_open(self) -> None:
        """Send the immediate response, if there is one."""
        respond, self.respond_at_once = self.respond_at_once, do_nothing  # This breaks a reference cycle.
        respond()
        self._count()

    def trust(self) -> None:
        """Implement `Call.trust`."""
        if not (self.trusted or self._closed):
            self.trusted = True
            self._leave_budget()
            self._listener.work.charge(self.origin, -self.charged - self._reserved, self._listener.now)
            self._listener.work.remember(self.metadata)
            self._reserved = 0.0
            self._largest = self._listener.settings.max_request
            self.connection.trusted = True
            self._partial_since = self._listener.now
            if not self._headers_sent:
                self._send_headers()
                self.connection.request_flush()
            self._update_window()

    def charge(self, seconds: float) -> None:
        """Charge an untrusted call's processor time to its origin, after using up the call's reservation."""
        if self.trusted:
            return
        covered = min(seconds, self._reserved)
        self._reserved -= covered
        self.charged += seconds
        self._listener.work.charge(self.origin, seconds - covered, self._listener.now)

    def reserve(self, seconds: float) -> None:
        """Reserve the expected processor time of the call. 0 returns the unused rest."""
        self._listener.work.charge(self.origin, seconds - self._reserved, self._listener.now)
        self._reserved = seconds

    def evict(self) -> None:
        """End the call to implement `Holder.evict`. Its handler gets PeerVanished."""
        self.close(EVICTED.code, EVICTED.text, PeerVanished)
        self._forget()
        self.on_vanished()

    def check_timeouts(self, now: float, linger: float) -> None:
        """Implement `Http2Stream.check_timeouts`. Also fail if a message has been incomplete for too long."""
        super().check_timeouts(now, linger)
        if self._received:
            self._partial_since = now  # The peer may be waiting for a larger window.
        elif self._partial and now - self._partial_since > self._listener.settings.request_timeout:
            self._fail(incomplete(self._listener.settings.request_timeout))

    def on_data(self, data: bytes) -> None:
        """Split received data into messages."""
        if self._ignoring:
            return
        if self._budget is not None:
            self._waiting += len(data)
        if self._partial:
            self._partial += data
            if len(self._partial) < self._partial_needed:
                self.connection.charge_useless_frame()
                self._update_window()
                self._count()
                return
            data = bytes(self._partial)
            self._partial.clear()
            self._partial_needed = PREFIX_SIZE
            self.connection.refund_useless_frames(1)
        at, size, needed = 0, len(data), PREFIX_SIZE
        while size - at >= PREFIX_SIZE:
            length = int.from_bytes(data[at + 1 : at + PREFIX_SIZE], "big")
            if length > self._listener.settings.max_request:
                self._fail(self._too_large(length))
                return
            needed = PREFIX_SIZE + length
            if size - at < needed:
                break
            self._queue(data[at], data[at + PREFIX_SIZE : at + needed])
            at, needed = at + needed, PREFIX_SIZE
        if at < size:
            self.connection.charge_useless_frame()
            self._partial += data[at:]
            self._partial_needed = needed
            self._partial_since = self._listener.now
            if self._receivers:
                self._refuse_oversized()
        self._update_window()
        if self._budget is not None:
            self._count()

    def on_end(self) -> None:
        """Wake the receiver when the peer half-closes. Fail if the last message is incomplete."""
        if self._partial:
            self._fail(malformed())
        self._receivers.unpark_all()

    def on_lost(self) -> None:
        """End the call: the peer is gone, or has cancelled it."""
        self._mark_closed(PeerVanished)
        self.on_vanished()

    def on_sent(self) -> None:
        """Accept the next message after the previous one has been passed to the socket."""
        self.busy = False
        if self._senders:
            self._senders.unpark_all()
        if self._on_message_sent is not None:
            self._on_message_sent()

    def _send_headers(self) -> None:
        self._headers_sent = True
        self.open(RESPONSE_HEADERS)

    def _mark_closed(self, reason: type[Exception]) -> None:
        self._closed = self._closed or reason
        self.busy = False
        self._leave_budget()
        self._receivers.unpark_all()
        self._senders.unpark_all()

    def _fail(self, error: Exception) -> None:
        """Queue no more messages. `deliver` raises `error` at once, and `receive` raises it when the queue is empty."""
        self._receive_error = self._receive_error or error
        self._ignoring = True
        self._partial.clear()
        self._receivers.unpark_all()

    def _refuse_oversized(self) -> None:
        """Fail if the handler is waiting for an unfinished message that is too large for an untrusted peer.

        Before that, the message stays within one window, because the handler may still be looking up the token.
        """
        length = self._partial_needed - PREFIX_SIZE
        if length > self._largest and not (self._received or self._ignoring):
            self._fail(self._too_large(length))

    def _forget(self) -> None:
        """Drop all received data and accept no more, because no handler will read it."""
        self._received.clear()
        self._partial.clear()
        self._ignoring = True

    def _leave_budget(self) -> None:
        budget, self._budget = self._budget, None
        if budget is not None:
            budget.hold(self, 0)

    def _count(self) -> None:
        """Count the call's memory against the budget of untrusted peers."""
        if self._budget is not None:
            queued = QUEUED_COST * len(self._received)
            self._budget.hold(self, self._metadata_size + self._waiting + self._in_hand + queued)

    def _queue(self, compressed: int, message: bytes) -> None:
        if self._ignoring:
            return
        self._received.append((compressed, message, self._listener.now))
        if self._on_message is None:
            self._receivers.unpark_all()
        elif self._delivery_turn != self._listener.turn_number:
            self._deliver_next()
        elif len(self._received) == 1:
            self._listener.run_next_turn(self._deliver_next)

    def _deliver_next(self) -> None:
        """Call `on_message` of `deliver` with the next message, and again in the next turn if more are queued."""
        if self._on_message is None or not self._received:
            return
        self._delivery_turn = self._listener.turn_number
        try:
            self._on_message(self._next_message())
        except Exception as error:  # noqa: BLE001 - raised by `deliver`
            self._fail(error)
            return
        if self._received:
            self._listener.run_next_turn(self._deliver_next)
        elif self._closed or self.ended:
            self._receivers.unpark_all()

    def _next_message(self) -> Any:
        compressed, message, self.received_at = self._received.popleft()
        self._update_window()
        if compressed or self._budget is not None:
            self._waiting -= PREFIX_SIZE + len(message)
            if len(message) > self._largest:
                raise self._too_large(len(message))
            if compressed:
                message = self._decompress(message)
            self._in_hand = len(message)
            self._count()
        try:
            return self._parse(message)
        except DecodeError:
            raise malformed() from None

    def _update_window(self) -> None:
        """Enlarge the peer's window, unless messages are queued or an unfinished message must wait for `trust`."""
        if not self._received and self._partial_needed <= PREFIX_SIZE + self._largest:
            self.return_window()

    def _decompress(self, message: bytes) -> bytes:
        """Decompress a message up to the largest accepted size.

        Raises:
            CallRefused: the message is invalid or too large.
        """
        if self.metadata.get("grpc-encoding") != "gzip":
            raise CallRefused(
                grpc.StatusCode.INTERNAL, "the message is compressed, but 'grpc-encoding' does not say how"
            )
        try:
            decompressed = zlib.decompressobj(GZIP_WBITS).decompress(message, self._largest + 1)
        except zlib.error:
            raise malformed() from None
        if len(decompressed) > self._largest:
            raise CallRefused(grpc.StatusCode.RESOURCE_EXHAUSTED, f"{self._limit()} when decompressed")
        return decompressed

    def _too_large(self, length: int) -> CallRefused:
        return CallRefused(grpc.StatusCode.RESOURCE_EXHAUSTED, f"{self._limit()}, not {length}")

    def _limit(self) -> str:
        """Return the limit on messages as a text for the peer."""
        stranger = "" if self._budget is None else " in a call without a valid token"
        return f"a message has at most {self._largest} bytes{stranger}"


def incomplete(request_timeout: float) -> CallRefused:
    """Return the refusal of a call with a message that is still incomplete after `request_timeout` seconds."""
    return CallRefused(grpc.StatusCode.RESOURCE_EXHAUSTED, f"the message was not complete within {request_timeout:g} s")


def malformed() -> CallRefused:
    """Return the refusal of a call with a message that cannot be parsed."""
    return CallRefused(grpc.StatusCode.INVALID_ARGUMENT, "the message cannot be parsed")
