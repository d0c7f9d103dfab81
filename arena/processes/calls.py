"""Calls to a helper process that answers them in order."""

from __future__ import annotations

import math
from collections import deque
from typing import Any, Final

import trio

from arena.processes.channel import Channel


class HelperEnded(Exception):  # noqa: N818 - the name says what is the matter
    """Error of a helper process that ended or failed before its answer. The message states the reason."""


class Ticket:
    """A pending call: its answer, and the event that wakes its caller."""

    __slots__ = ("_answer", "_done")

    def __init__(self) -> None:
        self._done: Final = trio.Event()
        self._answer: Any = None

    def settle(self, answer: Any) -> None:
        """Set the answer and wake the waiting task."""
        self._answer = answer
        self._done.set()

    async def answer(self) -> Any:
        """Wait for the answer."""
        await self._done.wait()
        return self._answer


class Calls:
    """The pending calls to one helper. A cancelled caller neither stops its call nor disturbs the answers to other
    callers.
    """

    def __init__(self, channel: Channel, limit: float | None = None) -> None:
        """Call through `channel`. `limit` is the number of seconds within which the next answer must arrive, or
        None.
        """
        self.limit = limit
        """The limit. It may change between calls, but once `run` has begun, neither from None nor to None."""
        self._channel: Final = channel
        self._tickets: Final[deque[Ticket]] = deque()
        self._ended = trio.Event()
        self._why = ""

    async def call(self, message: object) -> Any:
        """Return the helper's answer. The message is sent before the first wait.

        Raises:
            HelperEnded: the helper ended before its answer.
            FrameTooLarge: the message is too large.
        """
        ticket = Ticket()
        if not self._ended.is_set():
            self._channel.send(message)
            self._tickets.append(ticket)
            if (answer := await ticket.answer()) is not ticket:
                return answer
        raise HelperEnded(self._why)

    async def answered(self) -> None:
        """Wait until every call so far is answered, including cancelled calls."""
        if self._tickets:
            await self._tickets[-1].answer()

    async def close(self) -> None:
        """Wait until the helper has answered all calls and has ended. Make no calls afterwards."""
        self._channel.complete()
        await self._ended.wait()

    async def run(self) -> str:
        """Deliver answers until the helper ends. Return the result of `Channel.run`."""
        self._why = "cancelled"
        try:
            wrong = await self._channel.run(self._take, None if self.limit is None else self._allowed_silence)
            self._why = wrong or "it has ended"
        finally:
            self._ended.set()
            while self._tickets:
                ticket = self._tickets.popleft()
                ticket.settle(ticket)  # A ticket settled with itself means that the helper gave no answer.
        return wrong

    def _take(self, answers: list[Any]) -> None:
        for answer in answers:
            self._tickets.popleft().settle(answer)

    def _allowed_silence(self) -> float:
        return self.limit if self._tickets and self.limit is not None else math.inf
