"""HTTP/2 as a server speaks it, without a socket: bytes in, bytes out.

The `h2` library keeps the protocol: headers and their compression, settings, resets, the states of streams. A frame
costs it dozens of microseconds, though, so what every message brings does not pass through it: DATA, WINDOW_UPDATE,
PING and GOAWAY are handled here, and windows are kept here alone (RFC 9113, sections 5.2, 6.1, 6.7 to 6.9).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any, Final

import hpack
from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import Event, RemoteSettingsChanged, RequestReceived, StreamEnded, StreamReset, TrailersReceived
from h2.exceptions import NoSuchStreamError, ProtocolError
from h2.settings import SettingCodes, Settings
from hyperframe.frame import GoAwayFrame

from arena.wire.http2_stream import (
    DATA,
    GRANT,
    LARGEST_FRAME,
    WINDOW,
    WINDOW_UPDATE,
    Headers,
    Http2Stream,
    frame,
    window_update,
)

PREFACE: Final = 24
"""Bytes with which every client begins."""
FRAME: Final = 9
"""Bytes before the payload of a frame."""
LARGEST_WINDOW: Final = (1 << 31) - 1
TABLE: Final = 4096
"""Bytes of headers that either side remembers; the protocol's default."""
MOST_RESETS: Final = 100
"""Calls a peer may take back, beyond as many as it lets end, before it is cut off."""
MOST_WASTE: Final = 10_000
"""Frames that carry nothing which a peer may send, beyond those that answers or time make up for."""
DEAR: Final = 10
"""What such a frame for h2 counts for: it takes as long as so many others."""
ANSWERED: Final = 4
"""Such frames that a message makes up for: to each some clients answer with a ping, and windows."""

MOST_AT_ONCE: Final = 250
"""Frames for h2 that may come in one piece: a peer with some calls has a few, and each takes dozens of microseconds."""

HEADERS, RST_STREAM, SETTINGS, PING, GOAWAY, CONTINUATION = 1, 3, 4, 6, 7, 9
END_STREAM = ACK = 1
END_HEADERS, PADDED = 4, 8


class _Encoder(hpack.Encoder):
    """Of headers. The library's would fill a table of any size that a peer asks for, and is slow to pack long texts."""

    @property
    def header_table_size(self) -> int:
        return super().header_table_size

    @header_table_size.setter
    def header_table_size(self, size: int) -> None:
        hpack.Encoder.header_table_size.fset(self, min(size, TABLE))  # type: ignore[attr-defined]

    def encode(self, headers: Any, huffman: bool = False) -> bytes:
        """As the library's, but not packed."""
        return super().encode(headers, huffman)


class Http2Error(Exception):
    """The peer broke the protocol and is to be cut off; what is in `outgoing` tells it why."""


class Http2Connection:
    """The streams of one peer."""

    def __init__(
        self,
        *,
        calls: int,
        metadata: int,
        accept: Callable[[Http2Connection, int, Headers], Http2Stream | None],
        wake: Callable[[], None],
    ) -> None:
        """So many calls at once and bytes of headers are announced. `accept` makes the stream of a request.

        With twice as many bytes of headers a peer is cut off; what lies between is for `accept` to refuse.

        `wake` is called when there is something in `outgoing` that has not come of `receive`.
        """
        self.outgoing: list[bytes | memoryview] = []
        """What is to be sent, in this order; whoever sends it empties the list."""
        self.leaving: list[Http2Stream] = []
        """Streams that have written all they had to; told by `left`."""
        self.stalled: dict[Http2Stream, None] = {}
        """Streams that have more to write than the peer takes."""
        self.streams: dict[int, Http2Stream] = {}
        self.window = self.first_window = WINDOW
        self.wake = wake
        self.greeted = False
        """The peer has said its settings."""
        self.pinged = False
        """A ping waits for its answer."""
        self.parting = False
        """No more calls come."""
        self.newest = 0
        """The number of the last call."""
        self._accept = accept
        self._rest = b""
        self._untouched = PREFACE
        self._headers = 0
        self._owed = 0
        self._resets = 0
        self._wasted = 0
        self._h2 = H2Connection(H2Configuration(client_side=False, header_encoding=None))
        self._h2.encoder = _Encoder()
        self._h2.decoder.max_header_list_size = self._most_headers = 2 * metadata
        self._h2.local_settings = Settings(
            client=False,
            initial_values={
                SettingCodes.MAX_CONCURRENT_STREAMS: calls,
                SettingCodes.MAX_HEADER_LIST_SIZE: metadata,
                SettingCodes.ENABLE_CONNECT_PROTOCOL: 0,
            },
        )
        self._h2.initiate_connection()
        self._speak()

    def receive(self, data: bytes) -> None:
        """What came of the peer, in pieces of any size. Raises Http2Error."""
        buffer = self._rest + data if self._rest else data
        at, size, passed = 0, len(buffer), 0
        if self._untouched:
            at = min(self._untouched, size)
            self._untouched -= at
            self._pass_on(buffer[:at])
        while size - at >= FRAME:
            length = int.from_bytes(buffer[at : at + 3], "big")
            end = at + FRAME + length
            if length > LARGEST_FRAME:
                self._fail(ErrorCodes.FRAME_SIZE_ERROR, f"a frame of {length} bytes")
            if end > size:
                break
            kind, flags = buffer[at + 3], buffer[at + 4]
            number = int.from_bytes(buffer[at + 5 : at + FRAME], "big") & LARGEST_WINDOW
            if not self.greeted and kind != SETTINGS:
                self._fail(ErrorCodes.PROTOCOL_ERROR, "a connection begins with settings")
            if self._headers or not self._take(kind, flags, number, buffer[at + FRAME : end]):
                if kind in (HEADERS, CONTINUATION):
                    self._count_headers(length, over=bool(flags & END_HEADERS))
                passed += 1
                if passed > MOST_AT_ONCE:
                    self._fail(
                        ErrorCodes.ENHANCE_YOUR_CALM, f"more than {MOST_AT_ONCE} frames at once that ask for nothing"
                    )
                if kind == HEADERS and number > self.newest:
                    self.newest = number
                elif kind != RST_STREAM or number not in self.streams:
                    self.waste(DEAR)
                self._pass_on(buffer[at:end])
            at = end
        self._rest = buffer[at:]
        if self._owed >= GRANT:
            self.outgoing.append(window_update(0, self._owed))
            self._owed = 0

    def left(self) -> None:
        """All of `outgoing` has left."""
        leaving, self.leaving = self.leaving, []
        if self._wasted:
            self.forgive(ANSWERED * len(leaving))
        for stream in leaving:
            stream.on_left()

    def waste(self, cost: int = 1) -> None:
        """A frame came that carries nothing, or next to nothing. Raises Http2Error where those are too many by now."""
        self._wasted += cost
        if self._wasted > MOST_WASTE:
            self._fail(ErrorCodes.ENHANCE_YOUR_CALM, "too many frames that ask for nothing")

    def forgive(self, frames: int) -> None:
        """So many of them no longer count."""
        self._wasted = max(0, self._wasted - frames)

    def lost(self) -> None:
        """The peer is gone."""
        self.outgoing.clear()
        self.stalled.clear()
        streams, self.streams = self.streams, {}
        for stream in streams.values():
            stream.on_lost()

    def ping(self) -> None:
        """Asks the peer for a sign of life."""
        self.pinged = True
        self.outgoing.append(frame(8, PING, 0, 0) + bytes(8))

    def part(self) -> None:
        """No more calls are taken, and the peer is told."""
        self.parting = True
        # h2 would close the connection at once, and with it the calls that are still to end.
        self.outgoing.append(GoAwayFrame(0, last_stream_id=LARGEST_WINDOW).serialize())

    def pump(self) -> None:
        """Sends what the peer takes by now, a frame of each stream in turn."""
        moved = True
        while moved and self.window > 0:
            moved = False
            for stream in list(self.stalled):
                moved |= stream.move()

    def send_headers(self, number: int, headers: Headers, *, end: bool = False) -> None:
        """Of a stream."""
        self._h2.send_headers(number, list(headers), end_stream=end)
        self._speak()

    def drop(self, stream: Http2Stream, code: ErrorCodes) -> None:
        """Forgets a stream; the peer is told unless both have said all."""
        if self.streams.pop(stream.number, None) is None:
            return
        self.stalled.pop(stream, None)
        if code is ErrorCodes.NO_ERROR:
            self._resets = max(0, self._resets - 1)
        with suppress(NoSuchStreamError):
            self._h2.reset_stream(stream.number, code)
            # h2 never learns of the end of a request, which comes with DATA: this is how it does.
            if stream.ended and code is ErrorCodes.NO_ERROR:
                self._h2.data_to_send()
        self._speak()

    def _count_headers(self, size: int, *, over: bool) -> None:
        """Of a block of headers that has yet to end, so many bytes have come; h2 would take a megabyte of them."""
        self._headers += FRAME + size
        if self._headers > self._most_headers:
            self._fail(ErrorCodes.ENHANCE_YOUR_CALM, f"more than {self._most_headers} bytes of headers")
        if over:
            self._headers = 0

    def _take(self, kind: int, flags: int, number: int, payload: bytes) -> bool:
        """A frame that h2 need not see; False for the others."""
        if kind == DATA:
            stream = self.streams.get(number)
            if stream is None:
                return False  # h2 knows whether it is over or never was
            self._data(stream, flags, payload)
            return True
        if kind == WINDOW_UPDATE and len(payload) == 4:
            self.waste()
            return self._enlarge(number, int.from_bytes(payload, "big") & LARGEST_WINDOW)
        if kind == PING and len(payload) == 8 and not number:
            self.waste()
            if flags & ACK:
                self.pinged = False
            else:
                self.outgoing.append(frame(8, PING, ACK, 0) + payload)
            return True
        if kind == GOAWAY and len(payload) >= 8 and not number:
            self.waste()
            self.parting = True  # to h2 it would be the end of the calls, too
            return True
        return False

    def _data(self, stream: Http2Stream, flags: int, payload: bytes) -> None:
        self._owed += len(payload)
        stream.credit -= len(payload)
        if stream.credit < 0 or stream.ended:
            self.drop(stream, ErrorCodes.STREAM_CLOSED if stream.ended else ErrorCodes.FLOW_CONTROL_ERROR)
            stream.on_lost()
            return
        if flags & PADDED:
            if not payload or payload[0] >= len(payload):
                self._fail(ErrorCodes.PROTOCOL_ERROR, "padding longer than its frame")
            payload = payload[1 : len(payload) - payload[0]]
        if not payload and not flags & END_STREAM:
            self.waste()
        stream.on_data(payload)
        if flags & END_STREAM:
            self._end(stream)

    def _end(self, stream: Http2Stream) -> None:
        if not stream.ended:
            stream.ended = True
            stream.on_end()

    def _enlarge(self, number: int, increment: int) -> bool:
        stream = self.streams.get(number)
        if increment == 0 or (number > self._h2.highest_inbound_stream_id):
            return False  # h2 complains
        if number == 0:
            self.window += increment
            if self.window > LARGEST_WINDOW:
                self._fail(ErrorCodes.FLOW_CONTROL_ERROR, "the connection's window is too large")
        elif stream is not None:
            stream.window += increment
            if stream.window > LARGEST_WINDOW:
                self.drop(stream, ErrorCodes.FLOW_CONTROL_ERROR)
                stream.on_lost()
        if self.stalled:
            self.pump()
        return True

    def _pass_on(self, frame: bytes) -> None:
        """To h2."""
        try:
            events = self._h2.receive_data(frame)
        except ProtocolError as error:
            self._speak()
            raise Http2Error(str(error)) from error
        self._speak()
        self._hear(events)

    def _hear(self, events: Iterable[Event]) -> None:
        for event in events:
            match event:
                case RequestReceived(stream_id=number, headers=headers):
                    self._request(number, headers)
                case StreamEnded(stream_id=int(number)):
                    if (stream := self.streams.get(number)) is not None:
                        self._end(stream)
                case TrailersReceived(stream_id=int(number)):
                    if (stream := self.streams.get(number)) is not None and stream.ended:
                        self.drop(stream, ErrorCodes.STREAM_CLOSED)
                        stream.on_lost()
                case StreamReset(stream_id=number):
                    self._was_reset(number)
                case RemoteSettingsChanged(changed_settings=changed):
                    self.greeted = True
                    if (window := changed.get(SettingCodes.INITIAL_WINDOW_SIZE)) is not None:
                        self._resize(window.new_value)

    def _request(self, number: int, headers: Headers) -> None:
        stream = None if self.parting else self._accept(self, number, headers)
        if stream is not None:
            self.streams[number] = stream
            stream.on_open()
        else:
            self._h2.reset_stream(number, ErrorCodes.REFUSED_STREAM)
            self._speak()

    def _was_reset(self, number: int) -> None:
        stream = self.streams.pop(number, None)
        if stream is not None:
            self.stalled.pop(stream, None)
            self._resets += 1
            stream.on_lost()
            if self._resets > MOST_RESETS:
                self._fail(ErrorCodes.ENHANCE_YOUR_CALM, "calls are opened only to be taken back")

    def _resize(self, window: int) -> None:
        """The peer has changed what it takes on every stream."""
        for stream in self.streams.values():
            stream.window += window - self.first_window
            if stream.window > LARGEST_WINDOW:
                self._fail(ErrorCodes.FLOW_CONTROL_ERROR, "a stream's window is too large")
        self.first_window = window
        self.pump()

    def _fail(self, code: ErrorCodes, text: str) -> None:
        self._h2.close_connection(code, text.encode())
        self._speak()
        raise Http2Error(text)

    def _speak(self) -> None:
        """Takes over what h2 has to say."""
        if said := self._h2.data_to_send():
            self.outgoing.append(said)
