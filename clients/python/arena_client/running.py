"""`run` for a program of its own, `play` for whoever already has an event loop.

The bot's code runs in the thread of either, and nothing else of a connection does.
"""

from __future__ import annotations

import asyncio
import logging
import signal
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from arena_client.bot import Bot
from arena_client.caller import Caller, OnError
from arena_client.channel import Tls
from arena_client.connection import Connection
from arena_client.inbox import Inbox
from arena_client.network import Network

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
    receipts: bool = True,
    casual: bool = False,
    challenges: bool | Iterable[str] = False,
) -> None:
    """Play like `run`, inside the caller's event loop, which waits while the bot computes.

    Cancel it to stop: the bot leaves its running matches in order, and a second time it does not wait for that.
    """
    await _play(
        Caller(bot, on_error),
        Connection(
            bot,
            address,
            token=token,
            token_file=token_file,
            invitation=invitation,
            owner=owner,
            tls=tls,
            matches=matches,
            give_up_after=give_up_after,
            receipts=receipts,
            casual=casual,
            challenges=challenges,
        ),
    )


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
    receipts: bool = True,
    casual: bool = False,
    challenges: bool | Iterable[str] = False,
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
    `receipts`: whether what the server's log of results says of the matches is kept in a file beside the token, and the
    log compared with it at each connection.
    With `casual` all its matches are with house bots only and unrated, so that a first crash costs nothing.
    `challenges`: whether it accepts challenges, unrated matches whose bots are named, or the names of the bots whose
    challenges it accepts.
    `verbose` shows on standard error what happens, unless the program has set up logging for itself.
    """
    if _in_event_loop():
        raise RuntimeError("an event loop runs here already (a notebook?): use `await play(...)` instead of `run(...)`")
    if verbose:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    caller = Caller(bot, on_error)
    connection = Connection(
        bot,
        address,
        token=token,
        token_file=token_file,
        invitation=invitation,
        owner=owner,
        tls=tls,
        matches=matches,
        give_up_after=give_up_after,
        receipts=receipts,
        casual=casual,
        challenges=challenges,
    )
    stopped = threading.Event()
    with asyncio.Runner() as runner:
        loop = runner.get_loop()
        task = loop.create_task(_play_until(stopped, caller, connection))
        with _stop_signals(stopped, caller, task):
            try:
                loop.run_until_complete(task)
            except asyncio.CancelledError:
                if not stopped.is_set():
                    raise
                _log.info("stopped")


async def _play(caller: Caller, connection: Connection) -> None:
    with Network() as network:
        inbox = Inbox()
        network.soon(lambda: connection.begin(inbox, network))
        try:
            while (delivery := await inbox.get()) is not None:
                session = delivery.session
                said = caller.react(delivery.message, session.games, delivery.received, decide=not session.over)
                del delivery  # its memory serves the next one
                for request in said:
                    session.send(request)
        except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
            network.soon(connection.leave)
            await inbox.ended()
            raise
        finally:
            network.soon(connection.end)
            await inbox.ended()


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _play_until(stopped: threading.Event, caller: Caller, connection: Connection) -> None:
    glances = asyncio.create_task(_glance())
    try:
        await _play(caller, connection)
    except KeyboardInterrupt:
        if not stopped.is_set():
            raise
        raise asyncio.CancelledError from None
    finally:
        glances.cancel()


async def _glance() -> None:
    while True:
        await asyncio.sleep(GLANCE)


@contextmanager
def _stop_signals(stopped: threading.Event, caller: Caller, task: asyncio.Task[None]) -> Iterator[None]:
    """Turn Ctrl-C and SIGTERM into an orderly end: at once where the bot computes, between two messages otherwise.

    The bot leaves its matches in order; a second signal does not wait for that. Where the program handles one of them
    itself, that stays so."""

    def stop(_signal: int, _frame: FrameType | None) -> None:
        stopped.set()
        if caller.thinking:
            raise KeyboardInterrupt
        task.get_loop().call_soon_threadsafe(task.cancel)

    before = {signal.SIGINT: signal.default_int_handler, signal.SIGTERM: signal.SIG_DFL}
    if threading.current_thread() is not threading.main_thread():
        before = {}
    ours = {number: handler for number, handler in before.items() if signal.getsignal(number) is handler}
    for number in ours:
        signal.signal(number, stop)
    try:
        yield
    finally:
        for number, handler in ours.items():
            signal.signal(number, handler)
