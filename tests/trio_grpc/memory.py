"""A `Stream` without a network. It tests code that uses streams under a virtual clock.

Arrival times, back-pressure, half-close and vanishing peers are like those of a real stream. Messages are neither
serialized nor copied.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, TypeVar

import trio

from trio_grpc.grpc.call import CallRefused, PeerVanished

Incoming = TypeVar("Incoming")
Outgoing = TypeVar("Outgoing")


class MemoryStream(Generic[Incoming, Outgoing]):
    """The handler's end of an in-memory stream, created by a `MemoryPeer`.

    The peer may send any number of messages ahead. In the other direction the stream contains at most one unread
    message. Then `send` waits, as on a real stream with a slow peer.
    """

    def __init__(self, metadata: Mapping[str, str], peer: str) -> None:
        self.metadata = metadata
        self.peer = peer
        self.received_at = trio.current_time()
        self.incoming: deque[tuple[Incoming, float]] = deque()
        """Messages for `receive`, each with its arrival time."""
        self.outgoing: deque[Outgoing] = deque()
        self.half_closed = self.vanished = self.closed = False
        self.changed = trio.lowlevel.ParkingLot()
        self.on_sent: Callable[[], None] = lambda: None

    def trust(self) -> None:
        """Do nothing: there are no limits to lift."""

    async def receive(self) -> Incoming | None:
        """Implement `Stream.receive`."""
        await trio.lowlevel.checkpoint()
        while not self.incoming:
            if self.vanished:
                raise PeerVanished
            if self.half_closed:
                return None
            await self.changed.park()
        message, self.received_at = self.incoming.popleft()
        return message

    async def send(self, message: Outgoing) -> None:
        """Implement `Stream.send`."""
        await trio.lowlevel.checkpoint()
        while self.busy:
            await self.changed.park()
        self.hand_over(message)

    @property
    def busy(self) -> bool:
        """Implement `Stream.busy`."""
        return bool(self.outgoing) and not (self.vanished or self.closed)

    def hand_over(self, message: Outgoing) -> None:
        """Implement `Stream.hand_over`."""
        if self.closed:
            raise trio.ClosedResourceError
        if self.vanished:
            raise PeerVanished
        self.outgoing.append(message)
        self.changed.unpark_all()

    def shortest_round_trip(self) -> float | None:
        """Return None: there is no network."""
        return None

    async def deliver(self, on_message: Callable[[Incoming], None], on_sent: Callable[[], None]) -> None:
        """Implement `Stream.deliver`."""
        self.on_sent = on_sent
        while (message := await self.receive()) is not None:
            on_message(message)


class MemoryPeer(Generic[Incoming, Outgoing]):
    """The client's end of an in-memory stream. Its `stream` is for the handler."""

    def __init__(self, metadata: Mapping[str, str] | None = None, name: str = "memory") -> None:
        self.stream: MemoryStream[Incoming, Outgoing] = MemoryStream(metadata or {}, name)
        self.status: CallRefused | None = None
        """The refusal of the call after `converse` is over, or None for a call that ended with OK."""

    async def converse(self, handler: Callable[[MemoryStream[Incoming, Outgoing]], Awaitable[None]]) -> None:
        """Run a handler on the stream to its end, as the server does. Unexpected exceptions propagate."""
        try:
            await handler(self.stream)
        except CallRefused as refused:
            self.status = refused
        finally:
            self.stream.closed = True
            self.stream.changed.unpark_all()

    def send(self, message: Incoming) -> None:
        """Send a message to the handler; it arrives at the current instant."""
        self.stream.incoming.append((message, trio.current_time()))
        self.stream.changed.unpark_all()

    async def receive(self) -> Outgoing | None:
        """Return the handler's next message, or None after the handler has ended and every message is received."""
        await trio.lowlevel.checkpoint()
        stream = self.stream
        while not stream.outgoing:
            if stream.closed:
                return None
            await stream.changed.park()
        message = stream.outgoing.popleft()
        stream.on_sent()
        stream.changed.unpark_all()
        return message

    def half_close(self) -> None:
        """End the requests. The handler may still send."""
        self.stream.half_closed = True
        self.stream.changed.unpark_all()

    def vanish(self) -> None:
        """Vanish without half-closing, as in a crash. The handler gets PeerVanished."""
        self.stream.vanished = True
        self.stream.changed.unpark_all()
