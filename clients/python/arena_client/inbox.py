"""Queue of a bot's messages: the network's thread adds them, the bot's event loop or thread removes them."""

from __future__ import annotations

import asyncio
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from threading import Event
from typing import TYPE_CHECKING

from arena_client.network import calls_here
from arena_client.v1.play_pb2 import PlayRequest, PlayResponse

if TYPE_CHECKING:
    from arena_client.session import Session


@dataclass(slots=True, eq=False)
class Delivery:
    """A message for the bot, with its session."""

    session: Session
    message: PlayResponse
    received: float
    """Time of arrival, in seconds of `time.monotonic`."""


class Gathered:
    """Messages of several streams, combined into one. This object also serves as their session."""

    over = False

    def __init__(self, deliveries: Sequence[Delivery]) -> None:
        self.message = PlayResponse()
        self.received = deliveries[0].received
        self.games = deliveries[0].session.games
        self.session = self
        self.open = self
        self._streams = {each.session for each in deliveries}
        self._sessions: dict[int, Session] = {}
        for each in deliveries:
            if each.session.over:
                each.message.ClearField("decisions")
            self.message.MergeFrom(each.message)
            matches = [decision.match_id for decision in each.message.decisions]
            matches += [notice.match_id for notice in each.message.notices]
            self._sessions |= dict.fromkeys(matches, each.session)

    def __contains__(self, decision: object) -> bool:
        """Return True if a decision, given as (match number, decision number), is open."""
        return any(decision in session.open for session in self._streams)

    def plays(self, match_id: int) -> bool:
        """Return True if a match is still running, as far as the client knows."""
        return self._sessions[match_id].plays(match_id)

    def send(self, request: PlayRequest) -> None:
        """Send each answer on the stream of its match."""
        parts: dict[Session, PlayRequest] = {}
        for answer in request.answers:
            parts.setdefault(self._sessions[answer.match_id], PlayRequest()).answers.append(answer)
        for match_id in request.resumed:
            parts.setdefault(self._sessions[match_id], PlayRequest()).resumed.append(match_id)
        for session, part in parts.items():
            session.send(part)


class _Deliveries(ABC):
    """Deliveries for one bot, in order, until the connection ends."""

    wants_all = False
    """True to deliver also the messages that matter only to a bot that works on several decisions at once.

    These are closed decisions, and the end of a stream as an empty message.
    """

    def __init__(self) -> None:
        self._deliveries: deque[Delivery] = deque()
        self._ended = False
        self._error: BaseException | None = None

    def put(self, delivery: Delivery) -> None:
        """Add a delivery, in any thread."""
        self._deliveries.append(delivery)
        self._rouse()

    def end(self, error: BaseException | None) -> None:
        """Close the inbox. `error`: the reason if the connection ended because of an error."""
        self._error = error
        self._ended = True
        self._rouse()

    def gather(self, delivery: Delivery) -> Delivery | Gathered:
        """Combine a delivery with waiting ones; stop at the next message of a stream whose decisions are included.

        Return the delivery itself if the next message belongs to the same stream.
        """
        waiting = self._deliveries
        if not waiting or waiting[0].session is delivery.session:
            return delivery
        deliveries, asking = [delivery], {delivery.session} if delivery.message.decisions else set()
        while waiting and waiting[0].session not in asking:
            deliveries.append(each := waiting.popleft())
            if each.message.decisions:
                asking.add(each.session)
        return Gathered(deliveries)

    def _next(self) -> Delivery | None:
        """Return the next delivery. After the last one, return None or raise the error given to `end`."""
        if self._deliveries:
            return self._deliveries.popleft()
        if self._error is not None:
            raise self._error
        return None

    @abstractmethod
    def _rouse(self) -> None:
        """Wake the reader if it is waiting. Callable in any thread."""


class Inbox(_Deliveries):
    """An inbox that an event loop reads. Create it in that loop."""

    def __init__(self) -> None:
        super().__init__()
        self._attach()

    async def get(self) -> Delivery | None:
        """Return the next delivery. After the last one, return None or raise the error given to `end`.

        Even if a delivery is waiting already, other tasks of the loop run first.
        """
        if self._deliveries:
            await self._rest()
        while not (self._deliveries or self._ended):  # `gather` may have removed the delivery since the wake-up.
            await self._wait()
        return self._next()

    async def ended(self) -> None:
        """Wait for the end, ignoring deliveries."""
        while not self._ended:
            self._deliveries.clear()
            await self._wait()

    def _attach(self) -> None:
        """Record the loop of the current task."""
        self._loop = asyncio.get_running_loop()
        self._calls = calls_here()
        self._waiter: asyncio.Future[None] | None = None

    def _rouse(self) -> None:
        if self._waiter is not None:
            self._calls.soon(self._wake)

    async def _rest(self) -> None:
        """Let other tasks run."""
        await asyncio.sleep(0)

    async def _wait(self) -> None:
        """Wait for a delivery or for the end."""
        self._waiter = self._loop.create_future()
        if not (self._deliveries or self._ended):  # Deliveries before this line could not wake the waiter.
            await self._waiter
        self._waiter = None

    def _wake(self) -> None:
        if self._waiter is not None and not self._waiter.done():
            self._waiter.set_result(None)


class ThreadInbox(_Deliveries):
    """An inbox that a thread reads and waits for. An event loop may wait for its end."""

    def __init__(self, over: Inbox) -> None:
        """`over`: an inbox of the event loop, without deliveries, that ends with the connection."""
        super().__init__()
        self._roused = Event()
        self._over = over

    def end(self, error: BaseException | None) -> None:
        """Close the inbox. `error`: the reason if the connection ended because of an error."""
        super().end(error)
        self._over.end(None)

    def get(self) -> Delivery | None:
        """Wait for the next delivery. After the last one, return None or raise the error given to `end`."""
        while not (self._deliveries or self._ended):
            self._roused.wait()
            self._roused.clear()
        return self._next()

    async def ended(self) -> None:
        """Wait for the end in the event loop."""
        await self._over.ended()

    def _rouse(self) -> None:
        self._roused.set()
