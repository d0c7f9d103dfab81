"""`run` for a program of its own, `play` for whoever already has an event loop.

The bot's code runs in the thread of either, and nothing else of a connection does.
"""

from __future__ import annotations

import _thread
import asyncio
import logging
import signal
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Unpack

from arena_client import polling  # noqa: F401 - before anything else imports gRPC
from arena_client.bot import Bot
from arena_client.caller import Caller
from arena_client.connection import Connection
from arena_client.errors import ArenaError
from arena_client.inbox import Inbox
from arena_client.network import Network
from arena_client.options import DRAIN_TERMINATED, Options, check_names, drain_seconds
from arena_client.thinking_watch import ThinkingWatch

_log = logging.getLogger("arena_client")

GLANCE = 0.5
"""Seconds between two looks for Ctrl-C: Windows does not interrupt a waiting event loop for it."""


async def play(bot: Bot, address: str | None = None, **options: Unpack[Options]) -> None:
    """Play like `run`, inside the caller's event loop, which waits while the bot computes.

    Cancel it to stop: the bot leaves its running matches in order, and a second time it does not wait for that.
    """
    check_names(options, "play")
    await _play(Caller(bot, options.get("on_error", "raise")), Connection(bot, address, **options))


def run(bot: Bot, address: str | None = None, *, verbose: bool = True, **options: Unpack[Options]) -> None:
    """Connect a bot to the server at "host:port" and play until Ctrl-C or until enough matches are finished.

    Without an address it is the one in ARENA_SERVER, or localhost:50051. At Ctrl-C it begins no more matches and
    finishes those that go on, for 30 s at most or what ARENA_DRAIN says; after SIGTERM for 8 s. Then, or at the
    second Ctrl-C, it leaves what is left in order: house bots play on, and nobody waits for it.

    At the first run the bot is registered (`owner` goes before the bot's own, `invitation` where the server wants
    one) and its token kept in `token_file`, by default a file of its own in `~/.arena/tokens`; a `token` given here
    is used as it is. `tls` is True or the path of a PEM file with the certificate authorities to trust. `matches`
    ends the run after so many matches with a result.

    A bot that has been thinking for 10 s is named while it thinks, with the decision and the time that it had.
    An exception in the bot ends the run and comes out here; with `on_error="continue"` it is logged, and the first
    legal action is played. A lost connection is tried again after any part of the outage so far, 5 s at most in the
    first two minutes and 30 s later, without end or until nothing was reached for `give_up_after` seconds
    (`UnreachableError`). What trying again cannot change is another `ArenaError`; a program that catches none of them
    ends with its sentence and status instead of a traceback.
    `receipts`: whether what the server's log of results says of the matches is kept in a file beside the token, and the
    log compared with it at each connection.
    With `casual` all its matches are with house bots only and unrated, so that a first crash costs nothing.
    `challenges`: whether it accepts challenges, unrated matches whose bots are named, or the names of the bots whose
    challenges it accepts.
    `verbose` shows on standard error what happens, unless the program has set up logging for itself.
    """
    check_names(options, "run")
    if _in_event_loop():
        raise RuntimeError("an event loop runs here already (a notebook?): use `await play(...)` instead of `run(...)`")
    if verbose:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        caller, connection = Caller(bot, options.get("on_error", "raise")), Connection(bot, address, **options)
        stopping = _Stopping(caller, connection, drain_seconds())
        with asyncio.Runner() as runner:
            loop = runner.get_loop()
            task = loop.create_task(_play_until(stopping, caller, connection))
            with stopping.signals(task):
                try:
                    loop.run_until_complete(task)
                except asyncio.CancelledError:
                    if not stopping.at_once:
                        raise
        if stopping.asked:
            _log.info("stopped")
    except ArenaError as error:
        _end_with_sentence(bot, error)
        raise


def _end_with_sentence(bot: Bot, error: ArenaError) -> None:
    """Have the program end with the error's sentence and status if it does not catch it."""
    before = sys.excepthook
    if before is not sys.__excepthook__:
        return  # the program says itself what it ends with

    def hook(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        if value is not error:
            before(kind, value, trace)
            return
        sys.stderr.write(error.told(bot.name or type(bot).__name__))
        raise SystemExit(error.status)

    sys.excepthook = hook


async def _play(caller: Caller, connection: Connection) -> None:
    with Network() as network:
        inbox = Inbox()
        watch = ThinkingWatch(caller)
        network.soon(lambda: connection.begin(inbox, network))
        network.soon(watch.begin)
        try:
            await answer(caller, inbox)
        except (asyncio.CancelledError, KeyboardInterrupt, SystemExit):
            network.soon(connection.leave)
            await inbox.ended()
            raise
        finally:
            network.soon(watch.end)
            network.soon(connection.end)
            await inbox.ended()


async def answer(caller: Caller, inbox: Inbox) -> None:
    """Call the bot for what comes into its inbox, and send what it says, until the end. Raises what either raises."""
    while (delivery := await inbox.get()) is not None:
        session = delivery.session
        said = caller.react(delivery.message, session.games, delivery.received, decide=not session.over)
        del delivery  # its memory serves the next one
        for request in said:
            session.send(request)


def _in_event_loop() -> bool:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _play_until(stopping: _Stopping, caller: Caller, connection: Connection) -> None:
    glances = asyncio.create_task(_glance())
    try:
        await _play(caller, connection)
    except KeyboardInterrupt:
        if not stopping.at_once:
            raise
        raise asyncio.CancelledError from None
    finally:
        glances.cancel()


async def _glance() -> None:
    while True:
        await asyncio.sleep(GLANCE)


class _Stopping:
    """The end by Ctrl-C or SIGTERM: in order at the first, at once at the second."""

    def __init__(self, caller: Caller, connection: Connection, drain: float) -> None:
        """`drain`: seconds in which the matches that go on are finished."""
        self.asked = False
        """True if there was a signal."""
        self.at_once = False
        """True if nothing is to be finished."""
        self._caller, self._connection = caller, connection
        self._drain = drain

    @contextmanager
    def signals(self, task: asyncio.Task[None]) -> Iterator[None]:
        """Handle the signals in this block. Where the program handles one of them itself, that stays so."""

        def stop(number: int, _frame: FrameType | None) -> None:
            seconds = self._drain if number == signal.SIGINT else min(self._drain, DRAIN_TERMINATED)
            first, self.asked = not self.asked, True
            if first and seconds and self._connection.soon(lambda: self._connection.drain(seconds, hurry)):
                return
            self.at_once = True
            self._caller.interrupt()
            task.get_loop().call_soon_threadsafe(end_wait)

        def end_wait() -> None:
            """End the wait for a message, unless the next one came first and was interrupted."""
            if not self._caller.interrupted:
                task.cancel()

        def hurry() -> None:
            """Interrupt the bot's own code, in the main thread, which a signal alone does."""
            if ours:
                number = next(iter(ours))
                if hasattr(signal, "pthread_kill"):
                    signal.pthread_kill(threading.main_thread().ident or 0, number)
                else:
                    _thread.interrupt_main(number)

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
