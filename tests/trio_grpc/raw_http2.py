"""An HTTP/2 client over a plain socket that can send any bytes in any order, including bytes that no library would
send.

It enforces no rules and no flow-control windows. It sorts received frames by stream. If the server closes the
connection, that is a result and not an error.
"""

from __future__ import annotations

import socket
import struct
from collections import defaultdict
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from enum import IntEnum
from typing import Final, NamedTuple

from hpack import Decoder, Encoder

PATIENCE: Final = 120.0
"""Seconds after which a test fails."""
PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
CHECK: Final = "/grpc.health.v1.Health/Check"
EMPTY: Final = bytes(5)
"""An empty gRPC message with its length prefix."""
MAX_WINDOW: Final = (1 << 31) - 1
"""The largest flow-control window, and the largest stream identifier."""
DEFAULT_WINDOW: Final = (1 << 16) - 1
"""The initial size of a window if the peer sets no other."""


class Kind(IntEnum):
    """Types of frames (RFC 9113, section 6)."""

    DATA = 0
    HEADERS = 1
    PRIORITY = 2
    RST_STREAM = 3
    SETTINGS = 4
    PUSH_PROMISE = 5
    PING = 6
    GOAWAY = 7
    WINDOW_UPDATE = 8
    CONTINUATION = 9


class Setting(IntEnum):
    """Identifiers of settings (RFC 9113, section 6.5.2)."""

    HEADER_TABLE_SIZE = 1
    ENABLE_PUSH = 2
    MAX_CONCURRENT_STREAMS = 3
    INITIAL_WINDOW_SIZE = 4
    MAX_FRAME_SIZE = 5
    MAX_HEADER_LIST_SIZE = 6


ACK = END_STREAM = 0x1
END_HEADERS: Final = 0x4
PADDED: Final = 0x8
PRIORITY: Final = 0x20


class Frame(NamedTuple):
    """A received frame."""

    kind: int
    flags: int
    stream: int
    content: bytes


def frame(kind: int, flags: int = 0, stream: int = 0, content: bytes = b"", *, length: int | None = None) -> bytes:
    """Serialize a frame. A test may give it a wrong length."""
    size = len(content) if length is None else length
    return struct.pack(">I", size)[1:] + struct.pack(">BBI", kind, flags, stream) + content


def settings(**values: int) -> bytes:
    """Serialize the payload of a SETTINGS frame. The names are those of `Setting` in lower case."""
    return b"".join(struct.pack(">HI", Setting[name.upper()], value) for name, value in values.items())


def window(stream: int, increment: int) -> bytes:
    return frame(Kind.WINDOW_UPDATE, 0, stream, struct.pack(">I", increment))


def reset(stream: int, code: int = 8) -> bytes:
    return frame(Kind.RST_STREAM, 0, stream, struct.pack(">I", code))


def message(content: bytes, *, flag: int = 0, length: int | None = None) -> bytes:
    """Serialize a gRPC message. A test may give it a wrong length."""
    return struct.pack(">BI", flag, len(content) if length is None else length) + content


@dataclass
class Answer:
    """All frames received on one stream."""

    headers: dict[str, str] = field(default_factory=dict)
    content: bytes = b""
    ended: bool = False
    reset: int | None = None

    @property
    def over(self) -> bool:
        return self.ended or self.reset is not None

    @property
    def status(self) -> int | None:
        """The gRPC status code, or None if none was received."""
        return int(self.headers["grpc-status"]) if "grpc-status" in self.headers else None

    @property
    def messages(self) -> list[bytes]:
        """The complete messages."""
        found, at = [], 0
        while len(self.content) >= at + 5 and len(self.content) >= at + 5 + (
            size := int.from_bytes(self.content[at + 1 : at + 5], "big")
        ):
            found.append(self.content[at + 5 : at + 5 + size])
            at += 5 + size
        return found


class RawConnection:
    """A connection. With `auto_reply` it acknowledges settings and pings and enlarges windows, as real clients do."""

    def __init__(
        self, address: str, *, preamble: bytes | None = None, auto_reply: bool = True, sock: socket.socket | None = None
    ) -> None:
        host, _, port = address.rpartition(":")
        self.socket = sock or socket.create_connection((host, int(port)), timeout=PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.auto_reply = auto_reply
        self.closed = False
        """True if the server has closed the connection."""
        self.windows: defaultdict[int, int] = defaultdict(lambda: DEFAULT_WINDOW)
        """Number of bytes that the server accepts now on the connection (key 0) and on each stream. Only `upload`
        respects these limits.
        """
        self.goaway_code: int | None = None
        """The error code of the server's GOAWAY, or None if it sent none."""
        self.answers: defaultdict[int, Answer] = defaultdict(Answer)
        self.pongs: list[bytes] = []
        self.pings: list[bytes] = []
        self.acknowledged = 0
        self._encoder, self._decoder = Encoder(), Decoder()
        self._decoder.max_header_list_size = self._decoder.max_allowed_table_size = 1 << 32
        self._unread = b""
        self._block = b""
        self._next = 1
        if preamble is None:
            preamble = PREFACE + frame(Kind.SETTINGS)
        self.send(preamble)

    def __repr__(self) -> str:
        state = "closed" if self.closed else "open"
        calls = {stream: (answer.status, answer.reset) for stream, answer in list(self.answers.items())[-3:]}
        return f"<RawConnection {state}, GOAWAY {self.goaway_code}, (status, reset) of the last streams {calls}>"

    def __enter__(self) -> RawConnection:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    # --- sending ---

    def send(self, *pieces: bytes) -> None:
        """Send bytes. On a connection that the server has closed, do nothing."""
        with suppress(ConnectionError):
            self.socket.sendall(b"".join(pieces))

    def send_until_blocked(self, pieces: Iterable[bytes], patience: float = 2.0) -> int:
        """Send without reading until the server accepts no data for `patience` seconds. Return the number of pieces
        sent.
        """
        self.socket.settimeout(patience)
        taken = 0
        try:
            for piece in pieces:
                self.socket.sendall(piece)
                taken += 1
        except (ConnectionError, TimeoutError):
            pass
        finally:
            self.socket.settimeout(PATIENCE)
        return taken

    def stream(self) -> int:
        """Return the next unused stream identifier."""
        self._next += 2
        return self._next - 2

    def used(self, stream: int) -> None:
        """Mark all stream identifiers up to this one as used."""
        self._next = max(self._next, stream + 1 | 1)

    def block(self, path: str, *more: tuple[str, str], method: str = "POST") -> bytes:
        """Encode the header block of a request."""
        return self.encoded(
            (":method", method),
            (":scheme", "http"),
            (":path", path),
            (":authority", "localhost"),
            ("content-type", "application/grpc"),
            ("te", "trailers"),
            *more,
        )

    def encoded(self, *headers: tuple[str, str]) -> bytes:
        return self._encoder.encode(headers)

    def opening(self, stream: int, path: str = CHECK, *more: tuple[str, str], end: bool = False) -> bytes:
        """Return the HEADERS frame that opens a call."""
        self.used(stream)
        return frame(Kind.HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, self.block(path, *more))

    def open(self, path: str = CHECK, *more: tuple[str, str]) -> int:
        """Open a call; return its stream identifier."""
        self.send(self.opening(stream := self.stream(), path, *more))
        return stream

    def ping(self, flags: int = 0) -> None:
        self.send(frame(Kind.PING, flags, 0, bytes(8)))

    def data(self, stream: int, content: bytes, *, end: bool = False) -> None:
        """Send data in frames of at most 16 KiB, regardless of the windows."""
        pieces = [content[at : at + 16384] for at in range(0, len(content), 16384)] or [b""]
        for piece in pieces[:-1]:
            self.send(frame(Kind.DATA, 0, stream, piece))
        self.send(frame(Kind.DATA, END_STREAM if end else 0, stream, pieces[-1]))

    def upload(self, stream: int, content: bytes) -> None:
        """Send data within the windows, as a correct client does, and half-close. Stop if the call ends first."""
        at = 0
        while True:
            size = min(len(content) - at, 16384, self.windows[0], self.windows[stream])
            if size > 0 or not content:
                for each in (0, stream):
                    self.windows[each] -= size
                at += size
                self.send(frame(Kind.DATA, END_STREAM if at == len(content) else 0, stream, content[at - size : at]))
            if at == len(content) or self.answers[stream].over:
                return
            if size <= 0 and not self.receive():
                return

    def call(self, path: str = CHECK, content: bytes = EMPTY, *more: tuple[str, str]) -> Answer:
        """Make a unary call."""
        stream = self.open(path, *more)
        self.upload(stream, content)
        return self.outcome(stream)

    # --- receiving ---

    @property
    def table(self) -> int:
        """Size in bytes of the dynamic table with which the server compresses headers on this connection."""
        return int(self._decoder.header_table_size)

    def receive(self) -> Frame | None:
        """Receive the next frame. Return None if the server has closed the connection."""
        head = self._read(9)
        if head is None:
            return None
        kind, flags, stream = struct.unpack(">BBI", head[3:])
        content = self._read(int.from_bytes(head[:3], "big"))
        if content is None:
            return None
        received = Frame(kind, flags, stream & MAX_WINDOW, content)
        self._sort(received)
        return received

    def until(self, done: Callable[[], object]) -> None:
        """Receive frames until a condition holds or the connection is closed."""
        while not done() and self.receive():
            pass

    def outcome(self, stream: int) -> Answer:
        """Receive the rest of a call; fail if the connection is closed instead."""
        self.until(lambda: self.answers[stream].over)
        assert self.answers[stream].over, f"the connection was closed; GOAWAY {self.goaway_code}"
        return self.answers[stream]

    def settle(self) -> None:
        """Receive the server's answers to everything sent before. The answer to a ping comes after them."""
        self.pongs.clear()
        self.ping()
        self.until(lambda: self.pongs)

    def is_alive(self) -> bool:
        """Return True if a new call on this connection succeeds."""
        stream = self.open()
        self.data(stream, EMPTY, end=True)
        self.until(lambda: self.answers[stream].over)
        return self.answers[stream].status == 0

    def wait_closed(self) -> bool:
        """Wait for the server to close the connection."""
        self.until(lambda: False)
        return self.closed

    def closed_or_alive(self) -> str:
        """Return the state of the connection; fail if it is open but does not answer."""
        if self.is_alive():
            return "alive"
        assert self.wait_closed()
        return "closed"

    def _read(self, size: int) -> bytes | None:
        while len(self._unread) < size:
            try:
                some = self.socket.recv(1 << 16)
            except ConnectionError:
                some = b""
            if not some:
                self.closed = True
                return None
            self._unread += some
        taken, self._unread = self._unread[:size], self._unread[size:]
        return taken

    def _sort(self, received: Frame) -> None:
        answer = self.answers[received.stream] if received.stream else Answer()
        match received.kind:
            case Kind.HEADERS | Kind.CONTINUATION:
                self._block += received.content
                if received.flags & END_HEADERS:
                    headers = self._decoder.decode(self._block)
                    self._block = b""
                    answer.headers.update({str(name): str(value) for name, value in headers})
                answer.ended |= received.kind == Kind.HEADERS and bool(received.flags & END_STREAM)
            case Kind.DATA:
                answer.content += received.content
                answer.ended |= bool(received.flags & END_STREAM)
                if received.content and self.auto_reply:
                    self.send(window(0, len(received.content)), window(received.stream, len(received.content)))
            case Kind.RST_STREAM:
                answer.reset = int.from_bytes(received.content, "big")
            case Kind.WINDOW_UPDATE:
                self.windows[received.stream] += int.from_bytes(received.content, "big")
            case Kind.GOAWAY:
                self.goaway_code = int.from_bytes(received.content[4:8], "big")
            case Kind.SETTINGS | Kind.PING:
                self._reply(received)
            case _:
                pass

    def _reply(self, received: Frame) -> None:
        match received.kind, received.flags & ACK:
            case Kind.SETTINGS, 1:
                self.acknowledged += 1
            case _, 1:
                self.pongs.append(received.content)
            case Kind.PING, _:
                self.pings.append(received.content)
        if self.auto_reply and not received.flags & ACK:
            self.send(frame(received.kind, ACK, 0, received.content if received.kind == Kind.PING else b""))
