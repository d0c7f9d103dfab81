"""An asyncio loop inside trio, for grpcio, which knows no other; the only file that imports asyncio.

Callbacks enter an asyncio loop by four doors: at once, from another thread, at an instant, when a socket is readable.
`NestedLoop` hands each of them to trio and runs single iterations of a stock loop when there is something to run: one
thread, no locks, trio's clock. The loop's own selector watches nothing: it serves grpc.aio, not asyncio's transports.

grpc has one completion queue a process, hence one such loop at a time.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Callable, Coroutine
from contextlib import AbstractContextManager, asynccontextmanager, nullcontext, suppress
from contextvars import Context
from functools import partial
from typing import Any, ClassVar, Final, TypeAlias, TypeVar, TypeVarTuple

import trio

T = TypeVar("T")
Ts = TypeVarTuple("Ts")

Turn: TypeAlias = AbstractContextManager[None, None]
NO_TURN: Final[Turn] = nullcontext()


@asynccontextmanager
async def nested_loop(turn: Turn = NO_TURN) -> AsyncIterator[NestedLoop]:
    """Have a loop for the block; it goes on while the block is being cancelled, so that calls can be ended properly.

    `turn` is entered around all that grpc reports at a time. Raises RuntimeError where the process has a loop already.
    """
    if NestedLoop.alive is not None:
        raise RuntimeError("another server is running in this process")
    loop = NestedLoop.alive = NestedLoop(turn)
    opened, closed = trio.Event(), trio.Event()

    async def live() -> None:
        try:
            with loop.life:
                async with trio.open_nursery() as loop.nursery:
                    opened.set()
                    await trio.sleep_forever()
        finally:
            NestedLoop.alive = None
            loop.close()
            closed.set()

    # A system task: outside of the block's cancel scopes, and never interrupted by Ctrl-C.
    trio.lowlevel.spawn_system_task(live)
    try:
        await opened.wait()
        yield loop
    finally:
        loop.life.cancel()
        with trio.CancelScope(shield=True):
            await closed.wait()


class Operation(asyncio.Future[Any]):
    """A future that can call back the moment it is done: an iteration of the loop costs as much as grpc's own work."""

    _then: Callable[[], object] | None = None

    def at_once(self, callback: Callable[[], object]) -> None:
        """Has this called when it is done, by whoever makes it done; once, and by one only."""
        self._then = callback

    def set_result(self, result: Any) -> None:
        """As in any future."""
        super().set_result(result)
        if self._then is not None:
            self._then()

    def set_exception(self, exception: type | BaseException) -> None:
        """As in any future."""
        super().set_exception(exception)
        if self._then is not None:
            self._then()


class NestedLoop(asyncio.SelectorEventLoop):
    """A stock asyncio loop whose four doors lead to trio."""

    alive: ClassVar[NestedLoop | None] = None
    nursery: trio.Nursery

    def __init__(self, turn: Turn) -> None:
        super().__init__()
        self.life = trio.CancelScope()
        self.stepped_at = trio.current_time()
        """Instant of the last step: when the operations that it finds finished were reported."""
        self._turn = turn
        self._afterwards: list[Callable[[], None]] = []
        self._trio = trio.lowlevel.current_trio_token()
        self._watchers: dict[socket.socket, trio.CancelScope] = {}
        self._stepping = self._dirty = False

    async def run(self, coroutine: Coroutine[Any, Any, T]) -> T:
        """Run an asyncio coroutine; when cancelled, abandon it to the loop."""
        finished = trio.Event()
        task = self.create_task(coroutine)
        task.add_done_callback(lambda _: finished.set())
        await finished.wait()
        return task.result()

    async def settle(self, seconds: float) -> None:
        """Wait for the tasks that are left to end, at most so long."""

        async def others() -> None:
            if rest := asyncio.all_tasks() - {asyncio.current_task()}:
                await asyncio.wait(rest, timeout=seconds)

        await self.run(others())

    def create_future(self) -> Operation:
        """What grpc waits with for an operation."""
        return Operation(loop=self)

    def step(self, first: Callable[[], object] | None = None) -> None:
        """Run what is ready, and what that makes ready; it ends, as grpc's tasks wait for nothing but grpc.

        All of it is one turn. `first` comes before; where it makes nothing ready, as the operations of an open call do
        not, that is all.
        """
        if self._stepping or self.is_closed():
            return
        self._stepping, self._dirty = True, first is None
        self.stepped_at = trio.current_time()
        try:
            with self._turn:
                if first is not None:
                    first()
                while self._dirty:
                    self._dirty = False
                    self.stop()
                    self.run_forever()
        finally:
            self._stepping = False
        if self._dirty:  # the end of the turn has made something ready
            self._trio.run_sync_soon(self.step, idempotent=True)
        afterwards, self._afterwards = self._afterwards, []
        for callback in afterwards:
            callback()

    def after_turn(self, callback: Callable[[], None]) -> None:
        """Call something when the present step is over."""
        self._afterwards.append(callback)

    def time(self) -> float:
        """trio's clock."""
        return trio.current_time()

    def call_soon(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """First door."""
        handle = super().call_soon(callback, *args, context=context)
        self._dirty = True
        if not self._stepping:
            self._trio.run_sync_soon(self.step, idempotent=True)
        return handle

    def call_soon_threadsafe(
        self, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.Handle:
        """Second door."""
        handle = super().call_soon_threadsafe(callback, *args, context=context)
        self._trio.run_sync_soon(self.step, idempotent=True)
        return handle

    def call_at(
        self, when: float, callback: Callable[[*Ts], object], *args: *Ts, context: Context | None = None
    ) -> asyncio.TimerHandle:
        """Third door; call_later comes through here."""
        self.nursery.start_soon(self._alarm, when)
        return super().call_at(when, callback, *args, context=context)

    async def _alarm(self, when: float) -> None:
        await trio.sleep_until(when)
        self.step()

    def add_reader(self, fd: Any, callback: Callable[[*Ts], object], *args: *Ts) -> None:
        """Fourth door: grpc's poller thread writes a byte to this socket for each finished operation."""
        self._watchers[fd] = trio.CancelScope()
        self.nursery.start_soon(self._watch, fd, partial(callback, *args), self._watchers[fd])

    def remove_reader(self, fd: Any) -> bool:
        """Close the fourth door; possible when the loop is closed, too, as grpc may do it from a destructor."""
        scope = self._watchers.pop(fd, None)
        if scope is not None:
            scope.cancel()
        return scope is not None

    async def _watch(self, wakeup: socket.socket, callback: Callable[[], object], scope: trio.CancelScope) -> None:
        def finish_operations() -> None:
            # A client's asyncio loop in another thread has the same socket, and may be quicker. So only grpc's callback
            # takes bytes, one each time, and then finishes everything queued: no operation is left without its byte.
            with suppress(BlockingIOError):
                for _ in wakeup.recv(65536, socket.MSG_PEEK):
                    with suppress(RuntimeError):  # an operation of a loop that was closed while it was in flight
                        callback()

        with scope:
            while True:
                await trio.lowlevel.wait_readable(wakeup)
                self.step(finish_operations)


async def run_asyncio(coroutine: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine of a stock servicer, such as `HealthServicer.set`, in the loop of the server that is running."""
    if NestedLoop.alive is None:
        coroutine.close()
        raise RuntimeError("no server is running")
    return await NestedLoop.alive.run(coroutine)
