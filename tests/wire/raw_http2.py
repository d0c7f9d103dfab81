"""A client of HTTP/2 over a plain socket, which says what no library would: any bytes, in any order.

It keeps no rules. What it hears it sorts by call; a line that the server closes is an answer, never an error.
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

PATIENCE: Final = 30.0
"""Seconds after which a test gives up; only ever reached when it fails."""
PREFACE: Final = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
CHECK: Final = "/grpc.health.v1.Health/Check"
LIST_GAMES: Final = "/arena.v1.GameService/ListGames"
PLAY: Final = "/arena.v1.PlayService/Play"
EMPTY: Final = bytes(5)
"""A message of no bytes, as gRPC frames it."""
WIDEST: Final = (1 << 31) - 1
"""The largest window and the largest stream number."""


class Kind(IntEnum):
    """Types of frames."""

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
    """Names of settings."""

    HEADER_TABLE_SIZE = 1
    ENABLE_PUSH = 2
    MAX_CONCURRENT_STREAMS = 3
    INITIAL_WINDOW_SIZE = 4
    MAX_FRAME_SIZE = 5
    MAX_HEADER_LIST_SIZE = 6


ACK = END_STREAM = 0x1
END_HEADERS: Final = 0x4
PADDED: Final = 0x8
PRIORITISED: Final = 0x20


class Frame(NamedTuple):
    """One frame heard."""

    kind: int
    flags: int
    stream: int
    content: bytes


def frame(kind: int, flags: int = 0, stream: int = 0, content: bytes = b"", *, length: int | None = None) -> bytes:
    """The bytes of a frame, which may lie about its length."""
    size = len(content) if length is None else length
    return struct.pack(">I", size)[1:] + struct.pack(">BBI", kind, flags, stream) + content


def settings(**values: int) -> bytes:
    """The content of a SETTINGS frame; names as in `Setting`, in small letters."""
    return b"".join(struct.pack(">HI", Setting[name.upper()], value) for name, value in values.items())


def window(stream: int, increment: int) -> bytes:
    return frame(Kind.WINDOW_UPDATE, 0, stream, struct.pack(">I", increment))


def reset(stream: int, code: int = 8) -> bytes:
    return frame(Kind.RST_STREAM, 0, stream, struct.pack(">I", code))


def message(content: bytes, *, flag: int = 0, length: int | None = None) -> bytes:
    """A message as gRPC frames it, which may lie about its length."""
    return struct.pack(">BI", flag, len(content) if length is None else length) + content


@dataclass
class Answer:
    """What came back on one stream."""

    headers: dict[str, str] = field(default_factory=dict)
    content: bytes = b""
    ended: bool = False
    reset: int | None = None

    @property
    def over(self) -> bool:
        return self.ended or self.reset is not None

    @property
    def status(self) -> int | None:
        """gRPC's, where there is one."""
        return int(self.headers["grpc-status"]) if "grpc-status" in self.headers else None

    @property
    def messages(self) -> list[bytes]:
        """The whole ones."""
        found, at = [], 0
        while len(self.content) >= at + 5 and len(self.content) >= at + 5 + (
            size := int.from_bytes(self.content[at + 1 : at + 5], "big")
        ):
            found.append(self.content[at + 5 : at + 5 + size])
            at += 5 + size
        return found


class Line:
    """One connection. `polite` answers settings and pings and gives back the room that data took."""

    def __init__(
        self, address: str, *, greeting: bytes | None = None, polite: bool = True, over: socket.socket | None = None
    ) -> None:
        host, _, port = address.rpartition(":")
        self.socket = over or socket.create_connection((host, int(port)), timeout=PATIENCE)
        self.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.polite = polite
        self.gone = False
        """Whether the server has closed it."""
        self.farewell: int | None = None
        """The code of its GOAWAY."""
        self.answers: defaultdict[int, Answer] = defaultdict(Answer)
        self.pongs: list[bytes] = []
        self.pings: list[bytes] = []
        self.acknowledged = 0
        self._encoder, self._decoder = Encoder(), Decoder()
        self._decoder.max_header_list_size = self._decoder.max_allowed_table_size = 1 << 32
        self._unread = b""
        self._block = b""
        self._next = 1
        if greeting is None:
            greeting = PREFACE + frame(Kind.SETTINGS)
        self.say(greeting)

    def __enter__(self) -> Line:
        return self

    def __exit__(self, *_: object) -> None:
        self.socket.close()

    # --- what it says ---

    def say(self, *pieces: bytes) -> None:
        """Sends bytes, if there still is anybody."""
        with suppress(ConnectionError):
            self.socket.sendall(b"".join(pieces))

    def pour(self, pieces: Iterable[bytes], patience: float = 2.0) -> int:
        """Sends as much as the server takes and reads nothing; the number of pieces that were taken."""
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
        """The number of the next stream."""
        self._next += 2
        return self._next - 2

    def used(self, stream: int) -> None:
        """Says that a number is taken: streams begin after it."""
        self._next = max(self._next, stream + 1 | 1)

    def block(self, path: str, *more: tuple[str, str], method: str = "POST") -> bytes:
        """The header block of a call."""
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
        """The frame that opens a call."""
        self.used(stream)
        return frame(Kind.HEADERS, END_HEADERS | (END_STREAM if end else 0), stream, self.block(path, *more))

    def open(self, path: str = CHECK, *more: tuple[str, str]) -> int:
        """Opens a call; its stream."""
        self.say(self.opening(stream := self.stream(), path, *more))
        return stream

    def data(self, stream: int, content: bytes, *, end: bool = False) -> None:
        """Sends data in frames of at most 16 KiB, minding no window."""
        pieces = [content[at : at + 16384] for at in range(0, len(content), 16384)] or [b""]
        for piece in pieces[:-1]:
            self.say(frame(Kind.DATA, 0, stream, piece))
        self.say(frame(Kind.DATA, END_STREAM if end else 0, stream, pieces[-1]))

    def call(self, path: str = CHECK, content: bytes = EMPTY, *more: tuple[str, str]) -> Answer:
        """A whole unary call and what came of it."""
        stream = self.open(path, *more)
        self.data(stream, content, end=True)
        return self.outcome(stream)

    # --- what it hears ---

    @property
    def table(self) -> int:
        """Bytes of headers that the server has said it keeps for this line."""
        return int(self._decoder.header_table_size)

    def hear(self) -> Frame | None:
        """The next frame; None when the server has closed the line."""
        head = self._take(9)
        if head is None:
            return None
        kind, flags, stream = struct.unpack(">BBI", head[3:])
        content = self._take(int.from_bytes(head[:3], "big"))
        if content is None:
            return None
        heard = Frame(kind, flags, stream & WIDEST, content)
        self._sort(heard)
        return heard

    def until(self, done: Callable[[], object]) -> None:
        """Hears until something holds or the line is closed."""
        while not done() and self.hear():
            pass

    def outcome(self, stream: int) -> Answer:
        """What came of a call; fails where the line was closed instead."""
        self.until(lambda: self.answers[stream].over)
        assert self.answers[stream].over, f"the line was closed; GOAWAY {self.farewell}"
        return self.answers[stream]

    def lives(self) -> bool:
        """Whether a call on this line is answered as ever."""
        stream = self.open()
        self.data(stream, EMPTY, end=True)
        self.until(lambda: self.answers[stream].over)
        return self.answers[stream].status == 0

    def is_cut_off(self) -> bool:
        """Waits for the server to close the line."""
        self.until(lambda: False)
        return self.gone

    def cut_off_or_alive(self) -> str:
        """Which of the two; fails where it is neither."""
        if self.lives():
            return "alive"
        assert self.is_cut_off()
        return "cut off"

    def _take(self, size: int) -> bytes | None:
        while len(self._unread) < size:
            try:
                some = self.socket.recv(1 << 16)
            except ConnectionError:
                some = b""
            if not some:
                self.gone = True
                return None
            self._unread += some
        taken, self._unread = self._unread[:size], self._unread[size:]
        return taken

    def _sort(self, heard: Frame) -> None:
        answer = self.answers[heard.stream] if heard.stream else Answer()
        match heard.kind:
            case Kind.HEADERS | Kind.CONTINUATION:
                self._block += heard.content
                if heard.flags & END_HEADERS:
                    headers = self._decoder.decode(self._block)
                    self._block = b""
                    answer.headers.update({str(name): str(value) for name, value in headers})
                answer.ended |= heard.kind == Kind.HEADERS and bool(heard.flags & END_STREAM)
            case Kind.DATA:
                answer.content += heard.content
                answer.ended |= bool(heard.flags & END_STREAM)
                if heard.content and self.polite:
                    self.say(window(0, len(heard.content)), window(heard.stream, len(heard.content)))
            case Kind.RST_STREAM:
                answer.reset = int.from_bytes(heard.content, "big")
            case Kind.GOAWAY:
                self.farewell = int.from_bytes(heard.content[4:8], "big")
            case Kind.SETTINGS | Kind.PING:
                self._reply(heard)
            case _:
                pass

    def _reply(self, heard: Frame) -> None:
        match heard.kind, heard.flags & ACK:
            case Kind.SETTINGS, 1:
                self.acknowledged += 1
            case _, 1:
                self.pongs.append(heard.content)
            case Kind.PING, _:
                self.pings.append(heard.content)
        if self.polite and not heard.flags & ACK:
            self.say(frame(heard.kind, ACK, 0, heard.content if heard.kind == Kind.PING else b""))
