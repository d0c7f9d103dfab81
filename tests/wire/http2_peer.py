"""The far end of a connection without a socket: an `h2` client, which now and then says what it must not."""

from __future__ import annotations

from collections.abc import Callable
from struct import pack
from typing import Generic, TypeVar

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived, Event, StreamReset

from arena.wire.http2 import Http2Connection
from arena.wire.http2_stream import Headers, Http2Stream

REQUEST = [(":method", "POST"), (":scheme", "http"), (":path", "/echo"), (":authority", "here")]

S = TypeVar("S", bound=Http2Stream)


class Peer(Generic[S]):
    """A client, and the server's end of its connection."""

    def __init__(self, kind: Callable[[Http2Connection, int], S]) -> None:
        self.streams: list[S] = []
        self.woken = 0
        self.events: list[Event] = []
        self.h2 = H2Connection(H2Configuration(client_side=True))
        self.h2.initiate_connection()

        def accept(connection: Http2Connection, number: int, _: Headers) -> S:
            self.streams.append(kind(connection, number))
            return self.streams[-1]

        def wake() -> None:
            self.woken += 1

        self.server = Http2Connection(calls=200, metadata=8192, accept=accept, wake=wake)
        self.talk()

    def talk(self, piece: int = 1 << 20) -> None:
        """All that either has to say is said, in pieces of this size."""
        while (said := self.h2.data_to_send()) or self.server.outgoing:
            for at in range(0, len(said), piece):
                self.server.receive(said[at : at + piece])
            self.hear()

    def hear(self) -> None:
        """What the server has to say is said."""
        heard = b"".join(self.server.outgoing)
        self.server.outgoing.clear()
        self.events += self.h2.receive_data(heard)
        self.server.left()

    def open(self) -> S:
        number = self.h2.get_next_available_stream_id()
        self.h2.send_headers(number, REQUEST)
        self.talk()
        return self.streams[-1]

    def frame(self, kind: int, flags: int, number: int, payload: bytes) -> None:
        """Something that no client says."""
        self.server.receive(len(payload).to_bytes(3, "big") + pack(">BBI", kind, flags, number) + payload)

    def got(self) -> bytes:
        """Data of the server."""
        return b"".join(event.data for event in self.events if isinstance(event, DataReceived) and event.data)

    def reset(self) -> ErrorCodes | int | None:
        """How the server broke the last stream off."""
        self.hear()
        return next((event.error_code for event in self.events[::-1] if isinstance(event, StreamReset)), None)
