"""The thread that talks to servers, shared by all bots of a process, so that bots may compute for any length of time.

The thread runs no code of a bot. It has its own event loop and ends with the last bot.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from weakref import WeakKeyDictionary


class Calls:
    """Calls that other threads pass to an event loop, with one wake-up for all waiting calls."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[Callable[[], object]] = deque()
        self._woken = False

    def soon(self, call: Callable[[], object]) -> None:
        """Let the loop make a call, unless the loop is closed."""
        self._waiting.append(call)
        if not self._woken:
            self._woken = True
            with contextlib.suppress(RuntimeError):  # The loop is closed.
                self._loop.call_soon_threadsafe(self._make)

    def _make(self) -> None:
        self._woken = False
        for _ in range(len(self._waiting)):
            self._waiting.popleft()()


_calls: WeakKeyDictionary[asyncio.AbstractEventLoop, Calls] = WeakKeyDictionary()


def calls_here() -> Calls:
    """Return the `Calls` of this thread's event loop."""
    loop = asyncio.get_running_loop()
    if (calls := _calls.get(loop)) is None:
        calls = _calls[loop] = Calls(loop)
    return calls


class Network:
    """Context manager for a bot that uses the network thread. The last bot to exit ends the thread."""

    _lock = threading.Lock()
    _thread: _Thread | None = None
    _users = 0

    def __enter__(self) -> Calls:
        """Start the thread if necessary, and return the `Calls` of its event loop."""
        with Network._lock:
            if Network._thread is None:
                Network._thread = _Thread()
            Network._users += 1
            return Network._thread.calls

    def __exit__(self, *_: object) -> None:
        with Network._lock:
            Network._users -= 1
            if Network._users or Network._thread is None:
                return
            thread, Network._thread = Network._thread, None
        thread.end()


class _Thread:
    def __init__(self) -> None:
        self._started = threading.Event()
        self._thread = threading.Thread(target=self._run, name="arena-network", daemon=True)
        self._thread.start()
        self._started.wait()

    def end(self) -> None:
        """Cancel the remaining tasks, and wait for them."""
        self.calls.soon(self._over.set)
        self._thread.join()

    def _run(self) -> None:
        # The default loop of some platforms cannot watch the socket through which gRPC wakes it. A selector loop can.
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        asyncio.get_running_loop().set_exception_handler(_report)
        self.calls, self._over = calls_here(), asyncio.Event()
        self._started.set()
        await self._over.wait()


def _report(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
    """Report an error in a callback, unless another grpc.aio loop of the program has read the wake-up first.

    All loops of a process share the socket on which gRPC reports finished work, so one may read another's wake-up.
    """
    if not isinstance(context.get("exception"), BlockingIOError):
        loop.default_exception_handler(context)
