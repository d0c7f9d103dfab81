"""A stream without a network: what stands above `Stream` is tested with it, under a virtual clock.

It keeps the promises of the real one: arrival instants, back-pressure, half-close and vanishing. It encodes nothing.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Awaitable, Callable, Mapping
from typing import Generic, TypeVar

import trio

from arena.wire.stream import Refused, Vanished

Incoming = TypeVar("Incoming")
Outgoing = TypeVar("Outgoing")


class MemoryStream(Generic[Incoming, Outgoing]):
    """A Stream in memory; its peer makes it.

    Messages are handed over as they are. The peer may send any number ahead; the stream holds one message the peer has
    not read, and then its `send` waits like that of a real stream whose peer does not read.
    """

    def __init__(self, metadata: Mapping[str, str], peer: str) -> None:
        self.metadata = metadata
        self.peer = peer
        self.received_at = trio.current_time()
        self.incoming: deque[tuple[Incoming, float]] = deque()
        self.outgoing: deque[Outgoing] = deque()
        self.half_closed = self.vanished = self.closed = False
        self.changed = trio.lowlevel.ParkingLot()
        self.left: Callable[[], None] = lambda: None

    async def receive(self) -> Incoming | None:
        """As `Stream.receive`."""
        await trio.lowlevel.checkpoint()
        while not self.incoming:
            if self.vanished:
                raise Vanished
            if self.half_closed:
                return None
            await self.changed.park()
        message, self.received_at = self.incoming.popleft()
        return message

    async def send(self, message: Outgoing) -> None:
        """As `Stream.send`."""
        await trio.lowlevel.checkpoint()
        while self.busy:
            await self.changed.park()
        self.hand_over(message)

    @property
    def busy(self) -> bool:
        """As `Stream.busy`."""
        return bool(self.outgoing) and not (self.vanished or self.closed)

    def hand_over(self, message: Outgoing) -> None:
        """As `Stream.hand_over`."""
        if self.closed:
            raise trio.ClosedResourceError
        if self.vanished:
            raise Vanished
        self.outgoing.append(message)
        self.changed.unpark_all()

    async def deliver(self, take: Callable[[Incoming], None], left: Callable[[], None]) -> None:
        """As `Stream.deliver`."""
        self.left = left
        while (message := await self.receive()) is not None:
            take(message)


class MemoryPeer(Generic[Incoming, Outgoing]):
    """The far end of a MemoryStream: what a bot would do, and what it would see."""

    def __init__(self, metadata: Mapping[str, str] | None = None, name: str = "memory") -> None:
        self.stream: MemoryStream[Incoming, Outgoing] = MemoryStream(metadata or {}, name)
        self.status: Refused | None = None
        """How the handler refused the call, once `converse` is over; None when it ended well."""

    async def converse(self, handler: Callable[[MemoryStream[Incoming, Outgoing]], Awaitable[None]]) -> None:
        """Run a handler on the stream to its end, as the server would; its unexpected exceptions pass through."""
        try:
            await handler(self.stream)
        except Refused as refused:
            self.status = refused
        finally:
            self.stream.closed = True
            self.stream.changed.unpark_all()

    def send(self, message: Incoming) -> None:
        """Say something; it arrives now."""
        self.stream.incoming.append((message, trio.current_time()))
        self.stream.changed.unpark_all()

    async def receive(self) -> Outgoing | None:
        """The next message from the handler; None when it has ended and all is read."""
        await trio.lowlevel.checkpoint()
        stream = self.stream
        while not stream.outgoing:
            if stream.closed:
                return None
            await stream.changed.park()
        message = stream.outgoing.popleft()
        stream.left()
        stream.changed.unpark_all()
        return message

    def half_close(self) -> None:
        """Say that there is no more to come."""
        self.stream.half_closed = True
        self.stream.changed.unpark_all()

    def vanish(self) -> None:
        """Be gone without a word."""
        self.stream.vanished = True
        self.stream.changed.unpark_all()
