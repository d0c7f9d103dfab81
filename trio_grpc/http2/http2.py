# Compiled: every decision passes through here.
"""The server's side of one HTTP/2 connection, without a socket: bytes in, bytes out (RFC 9113).

The `h2` library handles headers and their compression, settings, resets and the states of streams. However, it needs
dozens of microseconds per frame. So this module itself handles the frames that come with every message (DATA,
WINDOW_UPDATE, PING and GOAWAY) and the flow-control windows (sections 5.2, 6.1, 6.7 to 6.9).

Frames that cause work without any content are called useless here: pings, window updates, empty DATA, priorities. A
budget is charged for each of them. The server's own messages and time refund the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from time import thread_time
from typing import Any, Final

import hpack
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import Event, RemoteSettingsChanged, RequestReceived, StreamEnded, StreamReset, TrailersReceived
from h2.exceptions import NoSuchStreamError, ProtocolError
from h2.settings import SettingCodes, Settings
from hyperframe.frame import GoAwayFrame

from trio_grpc.http2.http2_stream import (
    DATA,
    MAX_FRAME_SIZE,
    WINDOW,
    WINDOW_UPDATE,
    WINDOW_UPDATE_THRESHOLD,
    Headers,
    Http2Stream,
    do_nothing,
    frame_header,
    window_update,
)

PREFACE_SIZE: Final = 24
"""Number of bytes of the connection preface, which every client sends first (section 3.4)."""
FRAME_HEADER_SIZE: Final = 9
"""Length of a frame's header in bytes (section 4.1)."""
MAX_WINDOW: Final = (1 << 31) - 1
"""The largest flow-control window in bytes; also the largest stream identifier."""
HEADER_TABLE_SIZE: Final = 4096
"""Size of the dynamic table of header compression on either side, in bytes: the default (section 6.5.2)."""
MAX_RESETS: Final = 100
"""Maximum number of calls that a peer resets, minus calls that end otherwise. Beyond it the peer is disconnected."""
USELESS_FRAME_BUDGET: Final = 10_000
"""Maximum number of useless frames minus refunds. Beyond it a peer is disconnected."""
H2_FRAME_COST: Final = 10
"""Charge for a useless frame that h2 handles. It takes as long as ten frames handled here."""
REFUND_PER_MESSAGE: Final = 4
"""Number of useless frames refunded for each sent message, because some clients answer each with a ping and window
updates.
"""
MAX_H2_FRAMES_AT_ONCE: Final = 250
"""Maximum number of frames for h2 in one piece of input. Each takes dozens of microseconds."""

HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, CONTINUATION = 1, 3, 4, 6, 7, 9
END_STREAM = ACK = 1
END_HEADERS, PADDED = 4, 8


class _Encoder(hpack.Encoder):
    """A header encoder with a bounded table. The library's table grows to any size that a peer requests (RFC 7541)."""

    @property
    def header_table_size(self) -> int:
        return super().header_table_size

    @header_table_size.setter
    def header_table_size(self, size: int) -> None:
        hpack.Encoder.header_table_size.fset(self, min(size, HEADER_TABLE_SIZE))  # type: ignore[attr-defined]

    def encode(self, headers: Any, huffman: bool = False) -> bytes:
        """Encode headers, by default without Huffman coding, in which the library is slow for long texts."""
        return super().encode(headers, huffman)


class _H2(H2Connection):
    """The library's connection, changed so that it remembers fewer closed streams. Each takes a hundred bytes."""

    MAX_CLOSED_STREAMS = 1000


def _refuse(_: Http2Connection, __: int, ___: Headers) -> None:
    """Refuse a request: the `accept_request` of a closed connection."""


class Http2Error(Exception):
    """The peer has violated or abused the protocol. Once `outgoing`, which contains the reason, has been sent, the
    peer is disconnected.
    """


class Http2Connection:
    """The server's side of a connection, with the streams that are open on it."""

    def __init__(
        self,
        *,
        calls_per_connection: int,
        max_metadata: int,
        accept_request: Callable[[Http2Connection, int, Headers], Http2Stream | None],
        request_flush: Callable[[], None],
        on_failure: Callable[[], None],
    ) -> None:
        """Announce the limits on concurrent streams and on bytes of headers to the peer.

        A peer that sends four times as many bytes of headers is disconnected; `accept_request` may refuse smaller
        excesses. `accept_request` creates the stream of a request from its identifier and headers, or returns None to
        reset it. `request_flush` is called when `outgoing` has grown outside `receive`. `on_failure` is called while
        handling an exception that must not leave the connection.
        """
        self.outgoing: list[bytes | memoryview] = []
        """Bytes to send, in order. After you have sent them, empty the list and call `outgoing_sent`."""
        self.ping_answers: list[bytes] = []
        """Answers to pings. They are sent together with `outgoing`, or alone after a delay.

        Go clients ping after every message. Separate answers took a tenth of the server's time per decision and woke
        the clients once more.
        """
        self.fully_queued: list[Http2Stream] = []
        """Streams whose written data is completely in `outgoing`. `outgoing_sent` calls their `on_sent`."""
        self.stalled: dict[Http2Stream, None] = {}
        """Streams with data that waits for a flow-control window."""
        self.streams: dict[int, Http2Stream] = {}
        """Open streams by identifier."""
        self.window = self.initial_window = WINDOW
        """Number of bytes that the peer accepts: now on the whole connection, and initially on each new stream."""
        self.request_flush = request_flush
        self.on_failure = on_failure
        self.settings_received = False
        """True if the peer has sent its SETTINGS, which completes the handshake."""
        self.ping_pending = False
        """True if a ping is still unanswered."""
        self.going_away = False
        """True if either side has sent GOAWAY: no new calls are accepted."""
        self.newest_stream_id = 0
        """The highest identifier of a stream that the peer has opened."""
        self.trusted = False
        """True if a call on the connection has been authenticated."""
        self.consumed = 0
        """Number of bytes received in complete frames."""
        self.h2_work = 0.0
        """Processor time in seconds of frames that h2 handles, mostly headers. Reset when charged."""
        self._accept_request = accept_request
        self._incomplete = b""
        self._preface_missing = PREFACE_SIZE
        self._header_block_size = 0
        self._window_owed = 0
        self._resets = 0
        self._useless_frames = 0
        self._h2 = _H2(H2Configuration(client_side=False, header_encoding=None))
        self._h2.encoder = _Encoder()
        self._h2.decoder.max_header_list_size = self._max_header_block = 4 * max_metadata
        self._h2.local_settings = Settings(
            client=False,
            initial_values={
                SettingCodes.MAX_CONCURRENT_STREAMS: calls_per_connection,
                SettingCodes.MAX_HEADER_LIST_SIZE: max_metadata,
                SettingCodes.ENABLE_CONNECT_PROTOCOL: 0,
            },
        )
        self._h2.initiate_connection()
        self._collect_output()

    def receive(self, data: bytes) -> None:
        """Handle bytes from the peer, split anywhere.

        Raises:
            Http2Error: the peer violates or abuses the protocol.
        """
        buffer = self._incomplete + data if self._incomplete else data
        at, size, h2_frames = 0, len(buffer), 0
        if self._preface_missing:
            at = min(self._preface_missing, size)
            self._preface_missing -= at
            self._pass_to_h2(buffer[:at])
        while size - at >= FRAME_HEADER_SIZE:
            length = int.from_bytes(buffer[at : at + 3], "big")
            end = at + FRAME_HEADER_SIZE + length
            if length > MAX_FRAME_SIZE:
                self._fail(ErrorCodes.FRAME_SIZE_ERROR, f"a frame has at most {MAX_FRAME_SIZE} bytes, not {length}")
            if end > size:
                break
            kind, flags = buffer[at + 3], buffer[at + 4]
            stream_id = int.from_bytes(buffer[at + 5 : at + FRAME_HEADER_SIZE], "big") & MAX_WINDOW
            if not self.settings_received and kind != SETTINGS:
                self._fail(ErrorCodes.PROTOCOL_ERROR, "the first frame must be SETTINGS")
            if self._header_block_size or not self._handle(
                kind, flags, stream_id, buffer[at + FRAME_HEADER_SIZE : end]
            ):
                if kind in (HEADERS, CONTINUATION):
                    self._count_headers(length, complete=bool(flags & END_HEADERS))
                h2_frames += 1
                if h2_frames > MAX_H2_FRAMES_AT_ONCE:
                    text = f"more than {MAX_H2_FRAMES_AT_ONCE} frames at once besides DATA, PING and WINDOW_UPDATE"
                    self._fail(ErrorCodes.ENHANCE_YOUR_CALM, text)
                if kind == HEADERS and stream_id > self.newest_stream_id:
                    self.newest_stream_id = stream_id
                elif kind != RST_STREAM or stream_id not in self.streams:
                    self.charge_useless_frame(H2_FRAME_COST)
                self._pass_to_h2(buffer[at:end])
            at = end
        self._incomplete = buffer[at:]
        self.consumed += at
        if self._window_owed >= WINDOW_UPDATE_THRESHOLD:
            self.outgoing.append(window_update(0, self._window_owed))
            self._window_owed = 0

    @property
    def incomplete(self) -> int:
        """Number of bytes stored for an incomplete frame and an incomplete header block."""
        return len(self._incomplete) + self._header_block_size

    @property
    def stalled_size(self) -> int:
        """Number of bytes that wait for a flow-control window."""
        size = 0
        for stream in self.stalled:
            size += stream.unsent_size
        return size

    def outgoing_sent(self) -> None:
        """Call `on_sent` of the streams in `fully_queued`: the socket has accepted all of `outgoing`."""
        fully_queued, self.fully_queued = self.fully_queued, []
        if self._useless_frames:
            self.refund_useless_frames(REFUND_PER_MESSAGE * len(fully_queued))
        for stream in fully_queued:
            stream.on_sent()

    def charge_useless_frame(self, cost: int = 1) -> None:
        """Count a frame with little or no payload against the peer's budget.

        Raises Http2Error if the budget is spent.
        """
        self._useless_frames += cost
        if self._useless_frames > USELESS_FRAME_BUDGET:
            self._fail(ErrorCodes.ENHANCE_YOUR_CALM, "too many useless frames")

    def refund_useless_frames(self, count: int) -> None:
        """Return `count` frames to the peer's budget for useless frames."""
        self._useless_frames = max(0, self._useless_frames - count)

    def connection_lost(self) -> None:
        """Drop unsent data and call `on_lost` of every open stream, because the connection is closed.

        Break all reference cycles, so that the connection's memory is freed without a garbage collection.
        """
        self.outgoing.clear()
        self.ping_answers.clear()
        self.stalled.clear()
        self._incomplete = b""
        self._accept_request, self.request_flush = _refuse, do_nothing
        streams, self.streams = self.streams, {}
        for stream in streams.values():
            try:
                stream.on_lost()
            except Exception:  # noqa: BLE001 - the other streams have to learn of it, too
                self.on_failure()
        self.on_failure = do_nothing
        vars(self._h2).clear()  # This object refers to its own methods.

    def check_timeouts(self, now: float, linger: float) -> None:
        """Call `Http2Stream.check_timeouts` of every open stream. Stop if this closes the connection."""
        for stream in list(self.streams.values()):
            if stream.stream_id in self.streams:
                stream.check_timeouts(now, linger)

    def take_ping_answers(self) -> None:
        """Append the answers to pings to the output."""
        self.outgoing += self.ping_answers
        self.ping_answers.clear()

    def ping(self) -> None:
        """Send a PING; `ping_pending` is true until the peer has answered it."""
        self.ping_pending = True
        self.outgoing.append(frame_header(8, PING, 0, 0) + bytes(8))

    def send_goaway(self) -> None:
        """Send GOAWAY and refuse new calls; open calls continue."""
        self.going_away = True
        # h2's own close_connection would end open calls as well.
        self.outgoing.append(GoAwayFrame(0, last_stream_id=MAX_WINDOW).serialize())

    def disconnect(self, code: ErrorCodes, text: str) -> None:
        """Queue GOAWAY with this code and text. The caller then closes the connection."""
        self._h2.close_connection(code, text.encode())
        self._collect_output()

    def send_stalled(self) -> None:
        """Send waiting data as far as the windows allow: one frame of each stream in turn."""
        progress = True
        while progress and self.window > 0:
            progress = False
            for stream in list(self.stalled):
                progress |= stream.send_next_frame()

    def send_headers(self, stream_id: int, headers: Headers, *, end: bool = False) -> None:
        """Send a HEADERS frame on a stream. With `end`, it is the last frame of the stream."""
        self._h2.send_headers(stream_id, list(headers), end_stream=end)
        self._collect_output()

    def close_stream(self, stream: Http2Stream, code: ErrorCodes) -> None:
        """Remove a stream. Send RST_STREAM with this code unless both sides have ended the stream."""
        if self.streams.pop(stream.stream_id, None) is None:
            return
        self.stalled.pop(stream, None)
        if code is ErrorCodes.NO_ERROR:
            self._resets = max(0, self._resets - 1)
        with suppress(NoSuchStreamError):
            self._h2.reset_stream(stream.stream_id, code)
            # h2 has not seen the DATA frame that ended the request, so it wants to send RST_STREAM. Drop that frame.
            if stream.ended and code is ErrorCodes.NO_ERROR:
                self._h2.data_to_send()
        self._collect_output()

    def _count_headers(self, size: int, *, complete: bool) -> None:
        """Limit the bytes of an incomplete header block; h2 itself would buffer a megabyte."""
        self._header_block_size += FRAME_HEADER_SIZE + size
        if self._header_block_size > self._max_header_block:
            self._fail(ErrorCodes.ENHANCE_YOUR_CALM, f"more than {self._max_header_block} bytes of headers")
        if complete:
            self._header_block_size = 0

    def _handle(self, kind: int, flags: int, stream_id: int, payload: bytes) -> bool:
        """Handle a frame without h2. Return False for a frame that h2 has to see."""
        if kind == DATA:
            stream = self.streams.get(stream_id)
            if stream is None:
                return False  # h2 knows whether the stream is closed or was never opened
            self._handle_data(stream, flags, payload)
            return True
        if kind == WINDOW_UPDATE and len(payload) == 4:
            self.charge_useless_frame()
            return self._handle_window_update(stream_id, int.from_bytes(payload, "big") & MAX_WINDOW)
        if kind == PING and len(payload) == 8 and not stream_id:
            self.charge_useless_frame()
            if flags & ACK:
                self.ping_pending = False
            else:
                self.ping_answers.append(frame_header(8, PING, ACK, 0) + payload)
            return True
        if kind == GOAWAY and len(payload) >= 8 and not stream_id:
            self.charge_useless_frame()
            self.going_away = True  # h2 would also end open calls.
            return True
        return False

    def _handle_data(self, stream: Http2Stream, flags: int, payload: bytes) -> None:
        self._window_owed += len(payload)
        stream.receive_window -= len(payload)
        if stream.receive_window < 0 or stream.ended:
            self.close_stream(stream, ErrorCodes.STREAM_CLOSED if stream.ended else ErrorCodes.FLOW_CONTROL_ERROR)
            stream.on_lost()
            return
        if flags & PADDED:
            if not payload or payload[0] >= len(payload):
                self._fail(ErrorCodes.PROTOCOL_ERROR, "padding longer than its frame")
            payload = payload[1 : len(payload) - payload[0]]
        if not payload and not flags & END_STREAM:
            self.charge_useless_frame()
        stream.on_data(payload)
        if flags & END_STREAM:
            self._end_request(stream)

    def _end_request(self, stream: Http2Stream) -> None:
        if not stream.ended:
            stream.ended = True
            stream.on_end()

    def _handle_window_update(self, stream_id: int, increment: int) -> bool:
        """Return False for a violation of the protocol, which h2 reports to the peer."""
        stream = self.streams.get(stream_id)
        if increment == 0 or (stream_id > self._h2.highest_inbound_stream_id):
            return False
        if stream_id == 0:
            self.window += increment
            if self.window > MAX_WINDOW:
                self._fail(ErrorCodes.FLOW_CONTROL_ERROR, "the connection's window is too large")
        elif stream is not None:
            stream.window += increment
            if stream.window > MAX_WINDOW:
                self.close_stream(stream, ErrorCodes.FLOW_CONTROL_ERROR)
                stream.on_lost()
        if self.stalled:
            self.send_stalled()
        return True

    def _pass_to_h2(self, data: bytes) -> None:
        start = thread_time()
        try:
            events = self._h2.receive_data(data)
        except ProtocolError as error:
            self._collect_output()
            raise Http2Error(str(error)) from error
        self._collect_output()
        self._handle_events(events)
        self.h2_work += thread_time() - start

    def _handle_events(self, events: Iterable[Event]) -> None:
        for event in events:
            match event:
                case RequestReceived(stream_id=stream_id, headers=headers):
                    self._open_stream(stream_id, headers)
                case StreamEnded(stream_id=int(stream_id)):
                    if (stream := self.streams.get(stream_id)) is not None:
                        self._end_request(stream)
                case TrailersReceived(stream_id=int(stream_id)):
                    if (stream := self.streams.get(stream_id)) is not None and stream.ended:
                        self.close_stream(stream, ErrorCodes.STREAM_CLOSED)
                        stream.on_lost()
                case StreamReset(stream_id=stream_id):
                    self._handle_reset(stream_id)
                case RemoteSettingsChanged(changed_settings=changed):
                    self.settings_received = True
                    if (window := changed.get(SettingCodes.INITIAL_WINDOW_SIZE)) is not None:
                        self._change_initial_window(window.new_value)

    def _open_stream(self, stream_id: int, headers: Headers) -> None:
        stream = None if self.going_away else self._accept_request(self, stream_id, headers)
        if stream is not None:
            self.streams[stream_id] = stream
            stream.on_open()
        else:
            self._h2.reset_stream(stream_id, ErrorCodes.REFUSED_STREAM)
            self._collect_output()

    def _handle_reset(self, stream_id: int) -> None:
        stream = self.streams.pop(stream_id, None)
        if stream is not None:
            self.stalled.pop(stream, None)
            self._resets += 1
            stream.on_lost()
            if self._resets > MAX_RESETS:
                self._fail(ErrorCodes.ENHANCE_YOUR_CALM, "too many calls are opened and reset")

    def _change_initial_window(self, window: int) -> None:
        """Adjust the windows of all streams by the change of SETTINGS_INITIAL_WINDOW_SIZE (section 6.9.2)."""
        for stream in self.streams.values():
            stream.window += window - self.initial_window
            if stream.window > MAX_WINDOW:
                self._fail(ErrorCodes.FLOW_CONTROL_ERROR, "a stream's window is too large")
        self.initial_window = window
        self.send_stalled()

    def _fail(self, code: ErrorCodes, text: str) -> None:
        """Disconnect, and raise Http2Error."""
        self.disconnect(code, text)
        raise Http2Error(text)

    def _collect_output(self) -> None:
        """Move the bytes that h2 wants to send to `outgoing`."""
        if output := self._h2.data_to_send():
            self.outgoing.append(output)
