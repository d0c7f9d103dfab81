"""A bot's life on a server: register once, connect, play, and connect again when the connection is lost.

The bot's code runs in the event loop's own thread: a hand-over to another would cost more than most decisions do.
While it computes nothing is read, but the transport below answers the server's pings by itself.
"""

from __future__ import annotations

import asyncio
import contextlib
import logging
import random
import time
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn, cast, get_args

import grpc
import grpc.aio

from arena_client.bot import Bot
from arena_client.channel import DroppedError, Tls, error_reason, open_channel, play_failure, registration_failure
from arena_client.errors import ArenaError, TokenRefusedError, UnreachableError
from arena_client.session import OnError, Progress, Session
from arena_client.tokens import NewToken, default_token_file, read_token
from arena_client.v1.bots_pb2 import RegisterBotRequest
from arena_client.v1.bots_pb2_grpc import BotServiceStub
from arena_client.v1.play_pb2 import Hello, PlayRequest, PlayResponse
from arena_client.v1.play_pb2_grpc import PlayServiceStub
from arena_client.version import __version__

if TYPE_CHECKING:
    from arena_client.v1.bots_pb2_grpc import BotServiceAsyncStub
    from arena_client.v1.play_pb2_grpc import PlayServiceAsyncStub

    Call = grpc.aio.StreamStreamCall[PlayRequest, PlayResponse]

_log = logging.getLogger("arena_client")
_chance = random.SystemRandom()  # leaves the bot's own random numbers alone

ANSWER_TIME = 20.0
"""Seconds that the server has for a registration and for its welcome."""
FIRST_WAIT = 0.1
"""Seconds before the first try to come back, at most."""
LONGEST_WAIT = 5.0
"""Seconds between two tries at most, while the server may only be starting again."""
LONG_OUTAGE = 120.0
"""Seconds without a connection after which that is no longer likely."""
LONGEST_OUTAGE_WAIT = 30.0
"""Seconds between two tries at most after that."""
LONGEST_VERSION = 40
"""Characters of a bot's version."""
LEAVE_TIME = 2.0
"""Seconds that the server has to take leave of a bot that stops in the middle of matches."""
STEADY = 1.0
"""Seconds after which a connection counts as a good one, and the waiting times begin anew."""

_ENDS = (grpc.aio.AioRpcError, asyncio.InvalidStateError)
"""What says that the stream has ended, now or before."""


def waiting_time(outage: float) -> float:
    """Return the seconds before the next try, `outage` seconds after the last good connection: any part of as many.

    A bot so prolongs no outage to more than twice its length, nor by more than 5 s in its first two minutes, 30 s
    later; and bots that lost the server at the same time come back one by one.
    """
    longest = LONGEST_WAIT if outage <= LONG_OUTAGE else LONGEST_OUTAGE_WAIT
    return _chance.uniform(0.0, min(longest, max(FIRST_WAIT, outage)))


class Connection:
    """The arguments of `play` and `run`, and one stream at a time."""

    def __init__(
        self,
        bot: Bot,
        address: str,
        *,
        token: str | None,
        token_file: str | Path | None,
        invitation: str | None,
        owner: str | None,
        tls: Tls,
        matches: int | None,
        on_error: OnError,
        give_up_after: float | None,
    ) -> None:
        if matches is not None and matches < 1:
            raise ValueError(f"matches is {matches}: it takes 1 or more, or None for no end")
        if bot.capacity < 1:
            raise ValueError(f"the bot's capacity is {bot.capacity}: it takes 1 or more")
        if len(bot.version) > LONGEST_VERSION or not bot.version.isprintable():
            most = f"it takes at most {LONGEST_VERSION} printable characters"
            raise ValueError(f"the bot's version is {bot.version!r}: {most}")
        if on_error not in get_args(OnError):
            raise ValueError(f"on_error is {on_error!r}: it is 'raise' or 'continue'")
        self._bot = bot
        self._name = bot.name or type(bot).__name__
        self._address = address
        self._token = token
        self._token_file = Path(token_file) if token_file else default_token_file(address, self._name)
        self._invitation = invitation or ""
        self._owner = owner or bot.owner
        self._tls = tls
        self._on_error = on_error
        self._give_up_after = give_up_after
        self._progress = Progress(matches)
        self._session: Session | None = None
        self._call: Call | None = None
        self._writing = asyncio.Lock()
        """Held while a message is written: gRPC takes one at a time."""
        self._leaving: asyncio.Task[None] | None = None

    @property
    def thinking(self) -> bool:
        """Whether the bot's own code is running."""
        return self._session is not None and self._session.thinking

    def stop(self, playing: asyncio.Task[None]) -> None:
        """End the task that plays: after leaving its matches in order, or at once where there are none or it is late.

        Cancelling it while it reads would cancel the call, and nothing could be said any more.
        """
        if self._leaving is not None or self._call is None or not (self._progress.playing or self._progress.accepted):
            playing.cancel()
            return
        self._leaving = asyncio.get_running_loop().create_task(self._leave(self._call))
        asyncio.get_running_loop().call_later(LEAVE_TIME, playing.cancel)

    async def play(self) -> None:
        """Play until the matches wanted are played; raises `ArenaError` and what the bot raises."""
        good = seen = time.monotonic()
        while True:
            begun = time.monotonic()
            try:
                return await self._stream()
            except DroppedError as dropped:
                if (task := asyncio.current_task()) is not None and task.cancelling():
                    raise asyncio.CancelledError from None  # both at once: of the two, gRPC tells the other
                if self._leaving is not None:
                    raise asyncio.CancelledError from None  # the server has taken leave
                now = time.monotonic()
                if self._session is not None:
                    # One that ended at once may end so again; but the server is there.
                    good, seen = now if now - begun > STEADY else max(good, now - LONGEST_WAIT), now
                    self._session = None
                wait = waiting_time(now - good)
                if self._give_up_after is not None and now + wait - seen > self._give_up_after:
                    raise UnreachableError(f"no connection to {self._address}: {dropped}") from None
                _log.warning("no connection to %s: %s; next try in %.1f s", self._address, dropped, wait)
                await asyncio.sleep(wait)

    async def _stream(self) -> None:
        async with open_channel(self._address, self._tls) as channel:
            token = self._token or read_token(self._token_file) or await self._register(channel)
            stub = cast("PlayServiceAsyncStub", PlayServiceStub(channel))
            call = stub.Play(metadata=(("authorization", f"Bearer {token}"),))
            try:
                message = await self._greet(call)
                self._progress.reconnect()
                self._session, self._call = Session(self._bot, message.welcome, self._progress, self._on_error), call
                await self._converse(call, self._session, message)
            except KeyboardInterrupt:  # the bot was computing
                with contextlib.suppress(DroppedError, ArenaError, TimeoutError):
                    async with asyncio.timeout(LEAVE_TIME):
                        await self._leave(call)
                        while True:
                            await _read(call)
                raise
            except TokenRefusedError as refused:
                kept = "" if self._token else f" (from {self._token_file}; remove it to register the bot anew)"
                raise TokenRefusedError(f"{refused}{kept}") from None
            finally:
                self._call = None
                call.cancel()

    async def _leave(self, call: Call) -> None:
        """Tell the server that the bot leaves, which then ends the stream."""
        _log.info("leaving its matches in order: house bots play them on")
        with contextlib.suppress(DroppedError, ArenaError):
            async with self._writing:
                await _write(call, PlayRequest(leave=True))

    async def _register(self, channel: grpc.aio.Channel) -> str:
        stub = cast("BotServiceAsyncStub", BotServiceStub(channel))
        new = NewToken(self._token_file)
        request = RegisterBotRequest(name=self._name, owner=self._owner, invitation=self._invitation, token=new.token)
        try:
            response = await stub.RegisterBot(request, timeout=ANSWER_TIME)
        except grpc.aio.AioRpcError as error:
            reason = error_reason(error.trailing_metadata())
            failure = registration_failure(error.code(), error.details(), reason)
            if isinstance(failure, ArenaError):
                new.drop()
            raise failure from None
        new.keep(response.token)
        _log.info("registered %s at %s; its token is in %s", response.name, self._address, self._token_file)
        return response.token

    async def _greet(self, call: Call) -> PlayResponse:
        capacity = self._progress.room(self._bot.capacity)
        hello = Hello(
            playing=sorted(self._progress.playing),
            games=self._bot.games,
            capacity=capacity,
            client=f"arena-client-python {__version__}",
            version=self._bot.version,
        )
        await _write(call, PlayRequest(hello=hello))
        try:
            async with asyncio.timeout(ANSWER_TIME):
                message = await _read(call)
        except TimeoutError:
            raise DroppedError(f"no welcome within {ANSWER_TIME:.0f} s") from None
        _log.info("%s is connected to %s (Arena %s)", message.welcome.bot, self._address, message.welcome.server)
        return message

    async def _converse(self, call: Call, session: Session, message: PlayResponse) -> None:
        requests = session.react(message)
        while True:
            for request in requests:
                async with self._writing:
                    await _write(call, request)
            if self._progress.done:
                break
            requests = session.react(await _read(call))  # named nowhere here, the message goes when it is understood
        with contextlib.suppress(DroppedError, ArenaError, TimeoutError):  # whatever is said to a goodbye
            await call.done_writing()
            async with asyncio.timeout(ANSWER_TIME):
                while True:
                    await _read(call)


async def _read(call: Call) -> PlayResponse:
    """Return the next message. Raises the error that the end of the stream means."""
    try:
        message = await call.read()
    except _ENDS:
        await _ended(call)
    if message is grpc.aio.EOF:
        await _ended(call)
    return cast("PlayResponse", message)


async def _write(call: Call, request: PlayRequest) -> None:
    try:
        await call.write(request)
    except _ENDS:
        await _ended(call)


async def _ended(call: Call) -> NoReturn:
    code, details, trailers = await call.code(), await call.details(), await call.trailing_metadata()
    raise (
        play_failure(code, details, error_reason(trailers))
        if code is not grpc.StatusCode.OK
        else DroppedError("the server closed the connection")
    ) from None
