"""`run` for a separate program, and `play` for a program with an event loop.

The connection has its own thread. With `run`, the bot's code runs in the calling thread. With `play`, it runs in a
separate thread, or in the event loop if `decide` is an async function.
"""

from __future__ import annotations

import _thread
import asyncio
import logging
import signal
import sys
import threading
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import asynccontextmanager, contextmanager
from contextvars import copy_context
from types import FrameType, TracebackType
from typing import TYPE_CHECKING, Unpack

from arena_client.async_caller import AsyncCaller, is_async
from arena_client.bot import Bot
from arena_client.caller import Caller
from arena_client.errors import ArenaError
from arena_client.inbox import Inbox, ThreadInbox
from arena_client.loops import AsyncioLoop, Loop, loop_here
from arena_client.network import Calls, Network
from arena_client.options import DRAIN_TERMINATED, Options, check_names, drain_seconds
from arena_client.thinking_watch import ThinkingWatch

if TYPE_CHECKING:
    from arena_client.connection import Connection

_log = logging.getLogger("arena_client")

GLANCE = 0.5
"""Seconds between two checks for Ctrl-C, because on Windows Ctrl-C does not interrupt a waiting event loop."""


async def play(bot: Bot, address: str | None = None, **options: Unpack[Options]) -> None:
    """Play like `run`, but as a task of the caller's event loop, which may be asyncio's or trio's.

    An `async def decide` is called in the loop. All methods of any other bot are called in one separate thread, so that
    they do not block the loop.

    Cancel the task to stop: the bot then leaves its running matches with notice. In asyncio, a second cancellation does
    not wait for that. `play` does not wait for a bot still computing in its thread, and does not send its answer.
    """
    check_names(options, "play")
    caller, connection = prepared(bot, address, options)
    loop = loop_here()
    if isinstance(caller, AsyncCaller):
        await play_here(caller, connection, loop)
    else:
        await _play_in_thread(caller, connection, loop)


def prepared(bot: Bot, address: str | None, options: Options) -> tuple[Caller | AsyncCaller, Connection]:
    """Return the caller of the bot's methods, and the bot's connection."""
    on_error = options.get("on_error", "raise")
    caller = Caller(bot, on_error)
    return (AsyncCaller(caller, bot, on_error) if is_async(bot) else caller), new_connection(bot, address, options)


def new_connection(bot: Bot, address: str | None, options: Options) -> Connection:
    """Return a new connection. The first connection of a process imports gRPC, with the setting of `polling`."""
    from arena_client import polling  # noqa: F401 - before anything else imports gRPC
    from arena_client.connection import Connection

    return Connection(bot, address, **options)


def run(bot: Bot, address: str | None = None, *, verbose: bool = True, **options: Unpack[Options]) -> None:
    """Connect a bot to the server at "host:port" and play until Ctrl-C or until enough matches are finished.

    The default address is ARENA_SERVER, or localhost:50051. At Ctrl-C the bot starts no more matches and finishes the
    current ones, for at most 30 s (ARENA_DRAIN); after SIGTERM for 8 s. Then, or at the second Ctrl-C, it leaves the
    remaining matches, and house bots take its seats.

    At the first run the bot is registered (`owner` overrides the bot's own; `invitation` is for servers that require
    one). Its token is stored in `token_file`, by default a separate file in `~/.arena/tokens`; a `token` given here is
    used instead. `tls` is True or the path of a PEM file with the certificate authorities to trust.

    `matches` ends the run after this number of matches with a result. With `casual` all matches are unrated and against
    house bots only, so that a first crash costs nothing. `challenges` accepts challenges, which are unrated matches
    between named bots; it may list the bots whose challenges are accepted. `ladders` names the ladders to play on; the
    default is ARENA_LADDERS, or else the default ladders of the bot's games. `events` names the events to enter; the
    default is ARENA_EVENTS.

    If the bot thinks for more than 10 s, a warning names the decision and its time. An exception in the bot ends the
    run and is raised here; with `on_error="continue"` it is logged, and the first legal action is played.

    After a lost connection the bot reconnects. The pauses are a random part of the outage so far, at most 5 s in the
    first two minutes and 30 s later. After `give_up_after` seconds without a connection it raises `UnreachableError`;
    by default it never gives up. Permanent failures raise other kinds of `ArenaError`. If the program does not catch
    them, it ends with their message and status instead of a traceback.

    `receipts` stores the log entries of the bot's matches in a file beside the token; the server's log is compared with
    it at each connection. `verbose` logs to standard error, unless the program has set up logging.
    """
    check_names(options, "run")
    if _in_event_loop():
        raise RuntimeError("an event loop runs here already (a notebook?): use `await play(...)` instead of `run(...)`")
    if verbose:
        logging.basicConfig(level=logging.INFO, format="%(asctime)s %(message)s")
    try:
        caller, connection = prepared(bot, address, options)
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
    """Make the program end with the error's message and status if the program does not catch the error."""
    before = sys.excepthook
    if before is not sys.__excepthook__:
        return  # The program handles its end itself.

    def hook(kind: type[BaseException], value: BaseException, trace: TracebackType | None) -> None:
        if value is not error:
            before(kind, value, trace)
            return
        sys.stderr.write(error.told(bot.name or type(bot).__name__))
        raise SystemExit(error.status)

    sys.excepthook = hook


async def play_here(caller: Caller | AsyncCaller, connection: Connection, loop: Loop) -> None:
    """Play in the caller's thread."""
    inbox = loop.inbox()
    if isinstance(caller, AsyncCaller):
        inbox.wants_all = True
        await _play(caller, connection, inbox, loop, lambda: caller.answer(inbox, loop))
    else:
        await _play(caller, connection, inbox, loop, lambda: answer(caller, inbox))


async def _play_in_thread(caller: Caller, connection: Connection, loop: Loop) -> None:
    """Play in a new thread."""
    inbox, answered = ThreadInbox(loop.inbox()), loop.inbox()

    def answer_all() -> None:
        try:
            while (delivery := inbox.get()) is not None:
                arrived = inbox.gather(delivery)
                session = arrived.session
                said = caller.react(arrived.message, session, arrived.received)
                del delivery, arrived  # Frees the message's memory for the next message.
                for request in said:
                    session.send(request)
        except BaseException as error:  # noqa: BLE001 - raised in the caller's thread
            answered.end(error)
        else:
            answered.end(None)

    async def answers() -> None:
        threading.Thread(target=copy_context().run, args=(answer_all,), name="arena-bot", daemon=True).start()
        try:
            await answered.get()
        finally:
            caller.stop()

    await _play(caller, connection, inbox, loop, answers)


async def _play(
    caller: Caller | AsyncCaller,
    connection: Connection,
    inbox: Inbox | ThreadInbox,
    loop: Loop,
    answers: Callable[[], Awaitable[None]],
) -> None:
    """Connect, and await the answers to everything in the inbox."""
    async with connected(connection, inbox, loop) as network:
        watch = ThinkingWatch(caller)
        network.soon(watch.begin)
        try:
            await answers()
        finally:
            network.soon(watch.end)


@asynccontextmanager
async def connected(connection: Connection, inbox: Inbox | ThreadInbox, loop: Loop) -> AsyncIterator[Calls]:
    """Context manager for a connection. If the block is cancelled, the bot leaves its matches with notice."""
    with Network() as network:
        network.soon(lambda: connection.begin(inbox, network))
        try:
            yield network
        except (loop.cancelled, KeyboardInterrupt, SystemExit):
            network.soon(connection.leave)
            with loop.shield():
                await inbox.ended()
            raise
        finally:
            network.soon(connection.end)
            with loop.shield():
                await inbox.ended()


async def answer(caller: Caller, inbox: Inbox) -> None:
    """Call the bot for each message in its inbox and send its replies, until the end.

    Errors of the bot and of the connection are raised.
    """
    while (delivery := await inbox.get()) is not None:
        arrived = inbox.gather(delivery)
        session = arrived.session
        said = caller.react(arrived.message, session, arrived.received)
        del delivery, arrived  # Frees the message's memory for the next message.
        for request in said:
            session.send(request)


def _in_event_loop() -> bool:
    if not isinstance(loop_here(), AsyncioLoop):
        return True
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


async def _play_until(stopping: _Stopping, caller: Caller | AsyncCaller, connection: Connection) -> None:
    glances = asyncio.create_task(_glance())
    try:
        await play_here(caller, connection, AsyncioLoop())
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
    """Handler of Ctrl-C and SIGTERM. At the first signal the bot finishes its matches; at the second it leaves them."""

    def __init__(self, caller: Caller | AsyncCaller, connection: Connection, drain: float) -> None:
        """`drain`: the number of seconds for finishing current matches."""
        self.asked = False
        """True after a signal."""
        self.at_once = False
        """True if the bot must stop without finishing its matches."""
        self._caller, self._connection = caller, connection
        self._drain = drain

    @contextmanager
    def signals(self, task: asyncio.Task[None]) -> Iterator[None]:
        """Handle the signals in this `with` block, except those that the program handles itself."""

        def stop(number: int, _frame: FrameType | None) -> None:
            seconds = self._drain if number == signal.SIGINT else min(self._drain, DRAIN_TERMINATED)
            first, self.asked = not self.asked, True
            if first and seconds and self._connection.soon(lambda: self._connection.drain(seconds, hurry)):
                return
            self.at_once = True
            self._caller.interrupt()
            task.get_loop().call_soon_threadsafe(end_wait)

        def end_wait() -> None:
            """End the wait for a message, unless the next message has arrived and its handling was interrupted."""
            if not self._caller.interrupted:
                task.cancel()

        def hurry() -> None:
            """Interrupt the bot's own code in the main thread, as a signal would."""
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
