"""A helper process that runs a module of this program: start, readiness, end and restart with back-off.

The module enters `parent.connected()`, which tells the parent that it is ready. The start has its own generous limit,
because imports take many times as long on a busy machine. A helper killed during its imports would be restarted and
killed forever.
"""

from __future__ import annotations

import socket
import subprocess
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Final, NoReturn

import trio

from arena.processes.channel import Channel
from arena.processes.frames import FrameTooLarge
from arena.processes.launch import OWN_GROUP, command, environment

START: Final = 60.0
"""Seconds within which a helper must be ready."""
GRACE: Final = 1.0
"""Seconds from closing the parent's socket to killing a helper that has not ended."""
_failed: Final = trio.lowlevel.RunVar[dict[str, str]]("failed")
FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0
"""Seconds before a failed helper is started again: the first pause, which doubles each time, and its maximum."""
LONG_ENOUGH: Final = 10.0
"""A helper that ran for at least this many seconds is restarted at once, because its start worked."""


def failed_starts() -> dict[str, str]:
    """The reason why each module's last start failed, by module, in the current trio run."""
    try:
        return _failed.get()
    except LookupError:
        _failed.set({})
        return _failed.get()


class HelperFailed(Exception):  # noqa: N818 - the name says what is the matter
    """Error of a helper process that cannot be started. The message states the reason."""


class Helper:
    """A running helper process."""

    def __init__(self, process: trio.Process, channel: Channel) -> None:
        self.channel: Final = channel
        self._process: Final = process

    @property
    def pid(self) -> int:
        """Process id."""
        return self._process.pid

    @property
    def status(self) -> int | None:
        """Exit status, negative for a signal. None while the process is running."""
        return self._process.returncode

    def kill(self) -> None:
        """Kill the process."""
        self._process.kill()

    async def end(self) -> None:
        """Close the socket and wait for the process. Kill it after `GRACE` seconds. Shielded from cancellation."""
        self.channel.close()
        with trio.CancelScope(shield=True):
            with trio.move_on_after(GRACE):
                await self._process.wait()
            self.kill()
            await self._process.wait()


@asynccontextmanager
async def helper(module: str, *arguments: str, files: Sequence[int] = ()) -> AsyncIterator[Helper]:
    """Run `python -m module arguments…` as a helper process that ends with the block.

    It also inherits the open file descriptors `files`. A HelperFailed raised inside the block counts as a failed
    start, too. Raises: HelperFailed.
    """
    failed = failed_starts()
    try:
        started = await _start(command(module, arguments), files)
        try:
            await _ready(started, module)
            failed.pop(module, None)
            yield started
        finally:
            await started.end()
    except HelperFailed as error:
        failed[module] = str(error)
        raise


async def _start(words: list[str], files: Sequence[int]) -> Helper:
    ours, theirs = socket.socketpair()
    with theirs:
        try:
            process = await trio.lowlevel.open_process(
                words,
                stdin=theirs,
                stdout=subprocess.DEVNULL,
                env=environment(),
                process_group=OWN_GROUP,
                pass_fds=files,
            )
        except BaseException as error:
            ours.close()
            if isinstance(error, OSError):
                raise HelperFailed(str(error)) from error
            raise
    return Helper(process, Channel(ours))


async def _ready(started: Helper, module: str) -> None:
    with trio.move_on_after(START):
        try:
            if await started.channel.receive():
                return
        except FrameTooLarge as error:
            raise HelperFailed(f"{module}: {error}") from error
        raise HelperFailed(f"{module} ended before it was ready")
    started.kill()
    raise HelperFailed(f"{module} was not ready within {START:.0f} s")


async def keep(run: Callable[[], Awaitable[bool]]) -> NoReturn:
    """Call `run` in a loop until cancelled. Each call runs a helper until it ends.

    After a call that returns True, because the helper did some work, the next follows at once. Otherwise it follows
    after a pause.
    """
    pause = 0.0
    while True:
        await trio.sleep(pause)
        pause = 0.0 if await run() else min(LONGEST_PAUSE, 2 * pause or FIRST_PAUSE)
