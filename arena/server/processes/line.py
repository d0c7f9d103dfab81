# Compiled: every decision comes by here.
"""The way from one process of a server to another: calls that name whom they are for, a frame of them at a time.

What is called in a turn leaves at its end, once all that led to it is stored. Instants are told by the clock that all
processes of a machine share.
"""

from __future__ import annotations

import math
from time import perf_counter
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import trio

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.processes.channel import Channel
    from arena.server.runtime.turns import Turns
    from trio_grpc.http2.sharing import Sockets

NUMBERS: Final = 40
"""Bits of a session's number that count it in its process; above them is that one's number."""
SOON: Final = 0.005
"""Seconds that what is no news to the other process waits for something that is."""


class ProcessCall(NamedTuple):
    """A request of one process to another."""

    to: str
    """Whom it is for: "process", "session" or "match"."""
    number: int
    """Which one."""
    method: str
    arguments: tuple[Any, ...]


class ProcessLine:
    """This process's end; its calls leave with turns."""

    def __init__(self, channel: Channel, turns: Turns, watch: Callable[[ProcessLine], None]) -> None:
        """`watch` is told when the deadline may have moved."""
        self.channel = channel
        self.deadline = math.inf
        """When what waits has to leave, in seconds of this process's clock."""
        self.wakes_at = math.inf
        self.timer_id = 0
        self._turns = turns
        self._watch = watch
        self._calls: list[tuple[Any, ...]] = []
        self._clock = trio.current_time() - perf_counter()
        self._over = False
        self._last = False

    @property
    def over(self) -> bool:
        """True if the other process has ended."""
        return self._over

    def call(self, to: str, number: int, method: str, *arguments: Any) -> None:
        """Call at the end of this turn."""
        self._calls.append((to, number, method, arguments))
        self._turns.due(self)

    def call_soon(self, to: str, number: int, method: str, *arguments: Any) -> None:
        """Call with whatever else is called next, or in a few milliseconds."""
        self._calls.append((to, number, method, arguments))
        if self.deadline == math.inf:
            self.deadline = trio.current_time() + SOON
            self._watch(self)

    def call_at_once(self, to: str, number: int, method: str, *arguments: Any) -> None:
        """Call ahead of what waits, stored or not: it must not depend on that."""
        if not self._over:
            self.channel.send([(to, number, method, arguments)])

    def on_timer(self, now: float) -> None:
        """Send what has waited for long enough."""
        self.deadline = math.inf
        self._turns.due(self)

    def send(self) -> None:
        """Send what waits; what led to it is stored.

        Remote sessions that send in this turn, too, come first: what a bot is said and what its matches are told of it
        leave together.
        """
        if not self._last:
            self._last = True
            self._turns.due(self)
            return
        self._last = False
        if self._over:
            self._calls.clear()
        if not self._calls:
            return
        self.deadline = math.inf
        calls, self._calls = self._calls, []
        self.channel.send(calls)

    def told(self, instant: float) -> float:
        """The instant of this process's clock as the other process is told it."""
        return instant - self._clock

    def heard(self, instant: float) -> float:
        """The instant of this process's clock that the other process told."""
        return instant + self._clock

    async def run(self, take: Callable[[list[ProcessCall]], None], sockets: Sockets) -> None:
        """Have `take` called with what the other process calls, in turns of the listener, until it ends."""
        ended = trio.Event()

        def ready(_: int) -> None:
            frames = self.channel.received()
            if frames is None:
                sockets.unwatch(self.channel.socket)
                ended.set()
                return
            for calls in frames:
                take(calls)

        sockets.watch(self.channel.socket, ready)
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self.channel.send_on)
                await ended.wait()
                nursery.cancel_scope.cancel()
        finally:
            self._over = True
            if not ended.is_set():
                sockets.unwatch(self.channel.socket)
