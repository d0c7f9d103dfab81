"""Queue of a bot's messages: the network's thread adds them, the bot's own thread removes them."""

from __future__ import annotations

import asyncio
from collections import deque
from typing import TYPE_CHECKING

from arena_client.network import calls_here

if TYPE_CHECKING:
    from arena_client.session import Session
    from arena_client.v1.play_pb2 import PlayResponse


class Delivery:
    """A message for the bot, with its session."""

    __slots__ = ("message", "received", "session")

    def __init__(self, session: Session, message: PlayResponse, received: float) -> None:
        self.session = session
        self.message = message
        self.received = received
        """Time of arrival, in seconds of `time.monotonic`."""


class Inbox:
    """Deliveries for one bot in order, followed by an end. Create it in the event loop that reads it."""

    def __init__(self) -> None:
        self._deliveries: deque[Delivery] = deque()
        self._loop = asyncio.get_running_loop()
        self._calls = calls_here()
        self._waiter: asyncio.Future[None] | None = None
        self._ended = False
        self._error: BaseException | None = None

    def put(self, delivery: Delivery) -> None:
        """Add a delivery, in any thread."""
        self._deliveries.append(delivery)
        if self._waiter is not None:
            self._calls.soon(self._wake)

    def end(self, error: BaseException | None) -> None:
        """Close the inbox; `error` is the reason if the connection ended badly."""
        self._error = error
        self._ended = True
        if self._waiter is not None:
            self._calls.soon(self._wake)

    async def get(self) -> Delivery | None:
        """Return the next delivery; after the last, return None or raise the error given to `end`.

        Even if a delivery is waiting already, other tasks of the loop run first.
        """
        if self._deliveries:
            await asyncio.sleep(0)
        elif not self._ended:
            await self._wait()
        if self._deliveries:
            return self._deliveries.popleft()
        if self._error is not None:
            raise self._error
        return None

    async def ended(self) -> None:
        """Wait for the end, ignoring deliveries."""
        while not self._ended:
            self._deliveries.clear()
            await self._wait()

    async def _wait(self) -> None:
        self._waiter = self._loop.create_future()
        if not (self._deliveries or self._ended):  # Earlier deliveries had no waiter to wake.
            await self._waiter
        self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)
