# Compiled: every decision passes through here.
"""The connection between two processes of a server. It carries calls, each with its addressee, several in one frame.

Calls made in a turn leave at its end, once everything that led to them is stored. Instants are converted to the clock
that all processes of a machine share.
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
"""A session's number consists of the process's number and, in this many low bits, a number within the process."""
SOON: Final = 0.005
"""Maximum number of seconds for which a call that is not urgent waits for an urgent one."""


class ProcessCall(NamedTuple):
    """A request from one process to another."""

    to: str
    """The kind of addressee: "process", "session" or "match"."""
    number: int
    """The addressee's number."""
    method: str
    arguments: tuple[Any, ...]


class ProcessLine:
    """This process's end of the connection. Its calls leave at the end of a turn."""

    def __init__(self, channel: Channel, turns: Turns, watch: Callable[[ProcessLine], None]) -> None:
        """`watch` is called when the deadline may have moved."""
        self.channel = channel
        self.deadline = math.inf
        """When the waiting calls must leave, in seconds of this process's clock."""
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
        """Queue a call that leaves at the end of this turn."""
        self._calls.append((to, number, method, arguments))
        self._turns.due(self)

    def call_soon(self, to: str, number: int, method: str, *arguments: Any) -> None:
        """Queue a call that leaves with the next other call, or in a few milliseconds."""
        self._calls.append((to, number, method, arguments))
        if self.deadline == math.inf:
            self.deadline = trio.current_time() + SOON
            self._watch(self)

    def call_at_once(self, to: str, number: int, method: str, *arguments: Any) -> None:
        """Send a call ahead of the waiting calls, whose causes may not be stored yet. It must not depend on them."""
        if not self._over:
            self.channel.send([(to, number, method, arguments)])

    def on_timer(self, now: float) -> None:
        """Send the calls that have waited long enough."""
        self.deadline = math.inf
        self._turns.due(self)

    def send(self) -> None:
        """Send the waiting calls, now that everything that led to them is stored.

        Remote sessions that also send in this turn send first, so that a bot's messages leave together with calls about
        its matches.
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
        """Convert an instant of this process's clock to the clock that both processes share."""
        return instant - self._clock

    def heard(self, instant: float) -> float:
        """Convert an instant of the shared clock to this process's clock."""
        return instant + self._clock

    async def run(self, take: Callable[[list[ProcessCall]], None], sockets: Sockets) -> None:
        """Call `take` with the calls from the other process, in turns of the listener, until that process ends."""
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
