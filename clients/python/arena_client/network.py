"""The thread that speaks to servers, one for all bots of a process, so that a bot may compute for as long as it likes.

Nothing of a bot runs in it. It has an event loop of its own, and ends with the last bot.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections import deque
from collections.abc import Callable
from weakref import WeakKeyDictionary


class Calls:
    """Calls that other threads ask an event loop for: one wake-up for however many wait."""

    def __init__(self, loop: asyncio.AbstractEventLoop) -> None:
        self._loop = loop
        self._waiting: deque[Callable[[], object]] = deque()
        self._woken = False

    def soon(self, call: Callable[[], object]) -> None:
        """Have the loop make a call; a loop that is closed makes none."""
        self._waiting.append(call)
        if not self._woken:
            self._woken = True
            with contextlib.suppress(RuntimeError):  # it is closed
                self._loop.call_soon_threadsafe(self._make)

    def _make(self) -> None:
        self._woken = False
        for _ in range(len(self._waiting)):
            self._waiting.popleft()()


_calls: WeakKeyDictionary[asyncio.AbstractEventLoop, Calls] = WeakKeyDictionary()


def calls_here() -> Calls:
    """Return the calls of the loop that runs in this thread."""
    loop = asyncio.get_running_loop()
    if (calls := _calls.get(loop)) is None:
        calls = _calls[loop] = Calls(loop)
    return calls


class Network:
    """The use of the thread by one bot; a context manager, which ends the thread where nobody else uses it."""

    _lock = threading.Lock()
    _thread: _Thread | None = None
    _users = 0

    def __enter__(self) -> Calls:
        """Start the thread, if it does not run, and return the calls of its loop."""
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
        """Cancel what still goes on, and wait for it."""
        self.calls.soon(self._over.set)
        self._thread.join()

    def _run(self) -> None:
        # Not every platform's default loop can watch the socket that grpc wakes it with; this one can everywhere.
        with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
            runner.run(self._serve())

    async def _serve(self) -> None:
        asyncio.get_running_loop().set_exception_handler(_report)
        self.calls, self._over = calls_here(), asyncio.Event()
        self._started.set()
        await self._over.wait()


def _report(loop: asyncio.AbstractEventLoop, context: dict[str, object]) -> None:
    """Report what went wrong in a callback, unless a program that uses grpc.aio itself was quicker to read its wake-up.

    Loops of one process share the socket on which grpc tells that something is done, and take their own of what is.
    """
    if not isinstance(context.get("exception"), BlockingIOError):
        loop.default_exception_handler(context)
