"""The real stream: a gRPC call whose reads and writes are stepped from trio.

grpc swallows what a completion callback raises, so such a callback records and wakes, nothing else. A raw read is never
cancelled, for that would lose its message: only the waiting for it is.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from typing import Any, Final

import grpc
import trio

from arena.wire.stream import Refused, Vanished

Done = Callable[[Any, Exception | None], None]

READ_AHEAD: Final = 4
"""Messages taken from a peer before the handler asks: their arrival is stamped although the handler is busy."""

DOUBT: Final = 0.1
"""Seconds for which an end of input is not believed. A broken connection ends the input, too, and the news that it was
the connection may come some milliseconds later: a killed bot would now and then seem to have said goodbye."""

MALFORMED: Final = Refused(grpc.StatusCode.INVALID_ARGUMENT, "the message cannot be parsed")
"""Stands in the place of a message that cannot be parsed."""


class GrpcStream:
    """A `Stream` over gRPC. After `end` nothing touches the context: gRPC has freed what is behind it."""

    def __init__(
        self,
        clock: Callable[[], float],
        after_turn: Callable[[Callable[[], None]], None],
        context: grpc.aio.ServicerContext[Any, Any],
    ) -> None:
        """`after_turn` calls something once all that has completed by now is handled."""
        self.peer: str = context.peer()
        self.metadata: Mapping[str, str] = {
            key: value for key, value in context.invocation_metadata() or () if isinstance(value, str)
        }
        self.received_at = clock()
        self.scope = trio.CancelScope()
        self._clock = clock
        self._after_turn = after_turn
        self._context = context
        self._ended: type[Exception] | None = None
        self._arrived: deque[tuple[Any, float]] = deque()
        self._input_ended_at: float | None = None
        self._reading = self._writing = self._opened = False
        self._reader = trio.lowlevel.ParkingLot()
        self._writer = trio.lowlevel.ParkingLot()
        self._take: Callable[[Any], None] | None = None
        self._left: Callable[[], None] | None = None
        self._fault: Exception | None = None

    def end(self, reason: type[Exception]) -> None:
        """From now on `receive` and `send` raise this, once what arrived has been taken."""
        self._ended = self._ended or reason
        self._reader.unpark_all()
        self._writer.unpark_all()

    def read(self) -> None:
        """Have the next message read, unless enough is read ahead."""
        over = self._ended or self._input_ended_at is not None
        if not (self._reading or over or len(self._arrived) >= READ_AHEAD):
            self._reading = True
            _drive(self._context.read(), self._has_read)

    def _has_read(self, message: Any, error: Exception | None) -> None:
        self._reading = False
        if error is not None or message is grpc.aio.EOF:
            self._input_ended_at = self._clock()
        elif self._take is not None and self._reader and message is not MALFORMED:
            self._hand(message, self._take)
            return
        else:
            self._arrived.append((message, self._clock()))
            self.read()
        if self._reader:
            self._reader.unpark_all()

    def _hand(self, message: Any, take: Callable[[Any], None]) -> None:
        """To whoever waits in `deliver`; what that makes of it must not get lost in grpc."""
        self.received_at = self._clock()
        try:
            take(message)
        except Exception as fault:  # noqa: BLE001 - handed on
            self._fault = fault
            self._reader.unpark_all()
        else:
            self._after_turn(self.read)

    async def deliver(self, take: Callable[[Any], None], left: Callable[[], None]) -> None:
        """As `Stream.deliver`."""
        self._take, self._left = take, left
        try:
            while (message := await self.receive()) is not None:
                take(message)
        finally:
            self._take = self._left = None

    async def receive(self) -> Any:
        """As `Stream.receive`. A checkpoint only where it has to wait, and `READ_AHEAD` bounds how long it need not."""
        while not self._arrived:
            if self._fault is not None:
                raise self._fault
            if self._ended is None and self._input_ended_at is not None:
                with trio.move_on_at(self._input_ended_at + DOUBT):
                    while not self._ended:
                        await self._reader.park()
            if self._ended:
                raise self._ended
            if self._input_ended_at is not None:
                return None
            await self._reader.park()
        message, self.received_at = self._arrived.popleft()
        self.read()
        if message is MALFORMED:
            raise Refused(MALFORMED.code, MALFORMED.text)
        return message

    async def send(self, message: Any) -> None:
        """As `Stream.send`. A checkpoint only where it has to wait."""
        while self.busy:
            await self._writer.park()
        self.hand_over(message)

    @property
    def busy(self) -> bool:
        """As `Stream.busy`."""
        return self._writing and not self._ended

    def hand_over(self, message: Any) -> None:
        """As `Stream.hand_over`."""
        if self._ended:
            raise self._ended
        self._writing = True
        _drive(self._context.write(message), self._has_written)

    async def opened(self) -> None:
        """Wait until the first message, if there is one, has left: gRPC loses a status that comes in its middle."""
        while self._writing and not (self._opened or self._ended):
            await self._writer.park()

    def _has_written(self, _: Any, error: Exception | None) -> None:
        self._writing = False
        self._opened = True
        if error is not None:
            self.end(Vanished)
        if self._writer:
            self._writer.unpark_all()
        if self._left is not None:
            self._left()


def _drive(coroutine: Coroutine[Any, Any, object], done: Done) -> None:
    """Step a coroutine of grpc's by hand, without a task; in the end call done(value, error)."""
    try:
        future = coroutine.send(None)
    except StopIteration as stop:
        done(stop.value, None)
    except Exception as error:  # noqa: BLE001 - handed on
        done(None, error)
    else:
        future.at_once(partial(_drive, coroutine, done))
