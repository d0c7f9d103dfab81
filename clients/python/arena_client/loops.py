"""The event loops in which `play` runs: asyncio's, and trio's if the program uses it.

Both have the same few operations, so no other module needs to distinguish them. trio is imported only if the program
uses it.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
from collections.abc import AsyncIterator, Callable, Coroutine, Hashable
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING, Any, TypeAlias

from arena_client.inbox import Inbox

if TYPE_CHECKING:
    import trio


Loop: TypeAlias = "AsyncioLoop | TrioLoop"
"""The operations of an event loop."""
Tasks: TypeAlias = "_AsyncioTasks | _TrioTasks"
"""Tasks of a `with` block. At its end, running tasks are cancelled and awaited."""


def loop_here() -> Loop:
    """Return the event loop of the current task."""
    if (trio := sys.modules.get("trio")) is not None:
        with contextlib.suppress(RuntimeError):  # The current task does not belong to trio.
            trio.lowlevel.current_task()
            return TrioLoop()
    return AsyncioLoop()


class AsyncioLoop:
    """Operations of asyncio's event loop."""

    cancelled: type[BaseException] = asyncio.CancelledError
    """The exception raised in a cancelled task."""

    def inbox(self) -> Inbox:
        """Return an inbox for the loop of the current task."""
        return Inbox()

    def shield(self) -> AbstractContextManager[object]:
        """Return a context manager without effect: in asyncio a cancellation interrupts only one wait."""
        return contextlib.nullcontext()

    def soon(self, call: Callable[[], object]) -> None:
        """Make a call in the next turn of the loop."""
        asyncio.get_running_loop().call_soon(call)

    @contextlib.asynccontextmanager
    async def tasks(self) -> AsyncIterator[Tasks]:
        """Return a context manager for tasks."""
        tasks = _AsyncioTasks()
        try:
            yield tasks
        finally:
            await tasks.end()

    async def rest(self) -> None:
        """Let other tasks run."""
        await asyncio.sleep(0)


class _AsyncioTasks:
    def __init__(self) -> None:
        self._running: dict[Hashable, asyncio.Task[None]] = {}

    def start(self, key: Hashable, call: Callable[[], Coroutine[Any, Any, None]], done: Callable[[], object]) -> None:
        """Start a task, which may raise nothing but its cancellation. `done` is called when it ends, for any reason."""

        def ended(_: asyncio.Task[None]) -> None:
            del self._running[key]
            done()

        self._running[key] = task = asyncio.get_running_loop().create_task(call())
        task.add_done_callback(ended)

    def cancel(self, key: Hashable) -> None:
        """Cancel a task, unless it has ended."""
        if (task := self._running.get(key)) is not None:
            task.cancel()

    def runs_now(self) -> bool:
        """Return true if one of the tasks is running in this thread; a signal handler may call this."""
        return asyncio.current_task() in self._running.values()

    async def end(self) -> None:
        tasks = [*self._running.values()]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


class TrioLoop:
    """Operations of trio's event loop."""

    def __init__(self) -> None:
        import trio

        self._trio = trio
        self._token = trio.lowlevel.current_trio_token()
        self.cancelled: type[BaseException] = trio.Cancelled

    def inbox(self) -> Inbox:
        """Return an inbox for the loop of the current task."""
        return _TrioInbox()

    def shield(self) -> AbstractContextManager[object]:
        """Return a context manager in which a cancellation from outside interrupts no wait."""
        return self._trio.CancelScope(shield=True)

    def soon(self, call: Callable[[], object]) -> None:
        """Make a call in the next turn of the loop."""
        self._token.run_sync_soon(call)

    @contextlib.asynccontextmanager
    async def tasks(self) -> AsyncIterator[Tasks]:
        """Return a context manager for tasks that raises an exception from its block unwrapped, not in a group."""
        failure: BaseException | None = None
        with self._trio.CancelScope() as outer:
            async with self._trio.open_nursery() as nursery:
                try:
                    yield _TrioTasks(nursery, self._trio.CancelScope)
                except BaseException as error:  # noqa: BLE001 - raised below
                    failure = error
                outer.shield = True  # Otherwise trio would wrap a cancellation from outside in a group.
                nursery.cancel_scope.cancel()
        if failure is not None:
            raise failure

    async def rest(self) -> None:
        """Let other tasks run."""
        await self._trio.lowlevel.checkpoint()


class _TrioTasks:
    def __init__(self, nursery: trio.Nursery, scope: type[trio.CancelScope]) -> None:
        self._nursery = nursery
        self._scope = scope
        self._running: dict[Hashable, trio.CancelScope] = {}

    def start(self, key: Hashable, call: Callable[[], Coroutine[Any, Any, None]], done: Callable[[], object]) -> None:
        scope = self._running[key] = self._scope()

        async def called() -> None:
            try:
                with scope:
                    await call()
            finally:
                del self._running[key]
                done()

        self._nursery.start_soon(called)

    def cancel(self, key: Hashable) -> None:
        if (scope := self._running.get(key)) is not None:
            scope.cancel()

    def runs_now(self) -> bool:
        return False  # trio interrupts its own tasks.


class _TrioInbox(Inbox):
    """An inbox that a task of trio reads."""

    def _attach(self) -> None:
        import trio

        self._trio = trio
        self._token = trio.lowlevel.current_trio_token()
        self._event: trio.Event | None = None

    def _rouse(self) -> None:
        if self._event is not None:
            with contextlib.suppress(self._trio.RunFinishedError):
                self._token.run_sync_soon(self._event.set)

    async def _rest(self) -> None:
        await self._trio.lowlevel.checkpoint()

    async def _wait(self) -> None:
        self._event = self._trio.Event()
        if not (self._deliveries or self._ended):  # Deliveries before this line could not set the event.
            await self._event.wait()
        self._event = None
