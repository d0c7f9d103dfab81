"""`run` for a program of its own, `play` for whoever already has an event loop."""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from arena_client.bot import Bot
from arena_client.channel import Tls
from arena_client.connection import Connection
from arena_client.session import OnError

_log = logging.getLogger("arena_client")

GLANCE = 0.5
"""Seconds between two looks for Ctrl-C: Windows does not interrupt a waiting event loop for it."""


async def play(
    bot: Bot,
    address: str,
    *,
    token: str | None = None,
    token_file: str | Path | None = None,
    invitation: str | None = None,
    owner: str | None = None,
    tls: Tls = None,
    matches: int | None = None,
    on_error: OnError = "raise",
    give_up_after: float | None = None,
) -> None:
    """Play like `run`, inside the caller's event loop; cancel it to stop."""
    await Connection(
        bot,
        address,
        token=token,
        token_file=token_file,
        invitation=invitation,
        owner=owner,
        tls=tls,
        matches=matches,
        on_error=on_error,
        give_up_after=give_up_after,
    ).play()


def run(
    bot: Bot,
    address: str,
    *,
    token: str | None = None,
    token_file: str | Path | None = None,
    invitation: str | None = None,
    owner: str | None = None,
    tls: Tls = None,
    matches: int | None = None,
    on_error: OnError = "raise",
    give_up_after: float | None = None,
    verbose: bool = True,
) -> None:
    """Connect a bot to the server at "host:port" and plays until Ctrl-C or until enough matches are finished.

    At Ctrl-C it leaves its running matches in order: house bots play them on, and nobody waits for it.

    At the first run the bot is registered (`owner` goes before the bot's own, `invitation` where the server wants
    one) and its token kept in `token_file`, by default a file of its own in `~/.arena/tokens`; a `token` given here
    is used as it is. `tls` is True or the path of a PEM file with the certificate authorities to trust. `matches`
    ends the run after so many matches with a result.

    An exception in the bot ends the run and comes out here; with `on_error="continue"` it is logged, and the first
    legal action is played. A lost connection is tried again after any part of the outage so far, 5 s at most in the
    first two minutes and 30 s later, without end or until nothing was reached for `give_up_after` seconds
    (`UnreachableError`). What trying again cannot change is another `ArenaError`.
    `verbose` shows on standard error what happens, unless the program has set up logging for itself.
    """
    if _in_event_loop():
        raise RuntimeError("an event loop runs here already (a notebook?): use `await play(...)` instead of `run(...)`")
    if verbose:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    connection = Connection(
        bot,
        address,
        token=token,
        token_file=token_file,
        invitation=invitation,
        owner=owner,
        tls=tls,
        matches=matches,
        on_error=on_error,
        give_up_after=give_up_after,
    )
    pressed = threading.Event()
    # Not every platform's default loop can watch the socket that grpc wakes it with; this one can everywhere.
    with asyncio.Runner(loop_factory=asyncio.SelectorEventLoop) as runner:
        loop = runner.get_loop()
        task = loop.create_task(_play_until(pressed, connection))
        with _ctrl_c(pressed, connection, task):
            try:
                loop.run_until_complete(task)
            except asyncio.CancelledError:
                if not pressed.is_set():
                    raise
                _log.info("stopped")


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _play_until(pressed: threading.Event, connection: Connection) -> None:
    glances = asyncio.create_task(_glance())
    try:
        await connection.play()
    except KeyboardInterrupt:
        if not pressed.is_set():
            raise
        raise asyncio.CancelledError from None
    finally:
        glances.cancel()


async def _glance() -> None:
    while True:
        await asyncio.sleep(GLANCE)


@contextmanager
def _ctrl_c(pressed: threading.Event, connection: Connection, task: asyncio.Task[None]) -> Iterator[None]:
    """Turn Ctrl-C into an orderly end: at once where the bot computes, between two messages otherwise.

    The bot leaves its matches in order; a second Ctrl-C does not wait for that."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        pressed.set()
        if connection.thinking:
            raise KeyboardInterrupt
        task.get_loop().call_soon_threadsafe(connection.stop, task)

    in_main = threading.current_thread() is threading.main_thread()
    if not in_main or signal.getsignal(signal.SIGINT) is not signal.default_int_handler:
        yield
        return
    signal.signal(signal.SIGINT, stop)
    try:
        yield
    finally:
        signal.signal(signal.SIGINT, signal.default_int_handler)
