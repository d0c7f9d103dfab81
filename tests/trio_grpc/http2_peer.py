"""A client of `Http2Connection` without a socket, built with `h2`, which can also send frames that h2 would refuse."""

from __future__ import annotations

from collections.abc import Callable
from struct import pack
from typing import Generic, TypeVar

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived, Event, StreamReset

from trio_grpc.http2.http2 import Http2Connection
from trio_grpc.http2.http2_stream import Headers, Http2Stream

REQUEST = [(":method", "POST"), (":scheme", "http"), (":path", "/echo"), (":authority", "here")]

S = TypeVar("S", bound=Http2Stream)


def raise_again() -> None:
    """Re-raise the current exception; used as `on_failure` of a connection without a server."""
    raise  # noqa: PLE0704


class Peer(Generic[S]):
    """A client and the server's end of its connection."""

    def __init__(self, stream_type: Callable[[Http2Connection, int], S]) -> None:
        self.streams: list[S] = []
        self.flush_requests = 0
        self.events: list[Event] = []
        self.h2 = H2Connection(H2Configuration(client_side=True))
        self.h2.initiate_connection()

        def accept_request(connection: Http2Connection, stream_id: int, _: Headers) -> S:
            self.streams.append(stream_type(connection, stream_id))
            return self.streams[-1]

        def request_flush() -> None:
            self.flush_requests += 1

        self.server = Http2Connection(
            calls_per_connection=200,
            max_metadata=8192,
            accept_request=accept_request,
            request_flush=request_flush,
            on_failure=raise_again,
        )
        self.talk()

    def __repr__(self) -> str:
        return f"<Peer of streams {sorted(self.server.streams)}, window {self.server.window}, heard {self.events[-3:]}>"

    def talk(self, piece: int = 1 << 20) -> None:
        """Exchange output between both sides until neither has more. The client's output arrives in pieces of `piece`
        bytes.
        """
        while (sent := self.h2.data_to_send()) or self.server.outgoing:
            for at in range(0, len(sent), piece):
                self.server.receive(sent[at : at + piece])
            self.hear()

    def hear(self) -> None:
        """Deliver the server's output to the client."""
        output = b"".join(self.server.outgoing)
        self.server.outgoing.clear()
        self.events += self.h2.receive_data(output)
        self.server.outgoing_sent()

    def open(self) -> S:
        """Open a stream and return the server's stream object."""
        stream_id = self.h2.get_next_available_stream_id()
        self.h2.send_headers(stream_id, REQUEST)
        self.talk()
        return self.streams[-1]

    def frame(self, kind: int, flags: int, stream_id: int, payload: bytes) -> None:
        """Send any frame without informing h2."""
        self.server.receive(len(payload).to_bytes(3, "big") + pack(">BBI", kind, flags, stream_id) + payload)

    def got(self) -> bytes:
        """Return all data received from the server."""
        return b"".join(event.data for event in self.events if isinstance(event, DataReceived) and event.data)

    def reset(self) -> ErrorCodes | int | None:
        """Return the code of the last RST_STREAM that the server sent, or None."""
        self.hear()
        return next((event.error_code for event in self.events[::-1] if isinstance(event, StreamReset)), None)
