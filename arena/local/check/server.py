"""The server of a check: the transport, codec, sessions, ready checks and drivers of `arena serve`.

It has no store and no matchmaker. Accounts last as long as the check, and the check decides which matches are played.
"""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Final

import grpc
import trio
from arena_client.v1 import bots_pb2, bots_pb2_grpc, game_pb2, game_pb2_grpc, log_pb2_grpc, play_pb2_grpc
from grpc_health.v1 import health_pb2_grpc

from arena.api.codec import PROTOBUF, decode_hello
from arena.api.game_codecs import encode_catalog
from arena.api.play_service import STATUS
from arena.api.server import NAMES, SERVICES
from arena.api.statuses import ERROR_DOMAIN, refused
from arena.local.check.log import CheckLog, PartOfService
from arena.local.check.match import CONFIG, Matches
from arena.local.check.wire import LOOPBACK, Wire
from arena.local.server.host import beat, let_play, new_token
from arena.server.runtime.timers import Timers
from arena.server.runtime.turns import Turns
from arena.server.sessions.messages import Closed, Reason
from arena.server.sessions.player import BotPlayer
from arena.server.workers.pool import WorkerPool
from arena.store.base.errors import NameNotAllowed
from arena.store.bots.bots import check_free, check_name
from arena.store.journal.journal import Journal
from engine.registry import GAMES
from trio_grpc.grpc.call import Call, PeerVanished, Stream, bearer
from trio_grpc.grpc.health import Health
from trio_grpc.grpc.reflection import Reflection, register
from trio_grpc.grpc.server import Service, serve

TOKEN: Final = re.compile(r"arena_[A-Za-z0-9_-]{43}")
"""The pattern for a token that a bot may choose."""


class CheckServer:
    """The server of a check: the accounts, the only bot, and the messages on each of the bot's streams."""

    def __init__(self, journal: Journal, nursery: trio.Nursery, ladders: Sequence[str] = ()) -> None:
        """`ladders` are the names of ladders that the bot may choose besides the default ladders."""
        self.turns = Turns(journal.commit, 1.0)
        self.timers = Timers()
        self.log = CheckLog()
        self.matches = Matches(WorkerPool(0, self.turns), journal, self.timers, self.log, nursery, ladders)
        self.names: dict[str, str] = {}
        """Names of bots by token."""
        self.registrations: list[bots_pb2.RegisterBotRequest] = []
        self.lenient = False
        """True if a name in use may be registered again."""
        self.tried_at: list[float] = []
        """Times at which streams were opened."""
        self.hello_fault = ""
        """The fault of the latest hello, or an empty text if it was valid."""
        self.wires: list[Wire] = []
        """Streams on which the bot has sent a hello, in order."""
        self.bot: BotPlayer | None = None
        self.welcome_delay = 0.0
        """Number of seconds before the server sends the welcome."""
        self.refusal: Closed | None = None
        """The error with which every new stream ends, or None if the server accepts streams."""
        self.early = 0
        """Number of messages that the bot sent before the welcome."""
        self.script: Callable[[Stream[bytes, bytes]], Awaitable[None]] | None = None
        """A function that replaces the server on every stream with a valid token, or None."""
        self._stopping = trio.Event()

    async def run(self, task_status: trio.TaskStatus[int] = trio.TASK_STATUS_IGNORED) -> None:
        """Serve until cancelled. Report the port after the start."""
        services = (
            Service(play_pb2_grpc.add_PlayServiceServicer_to_server, self, as_bytes=True),
            Service(bots_pb2_grpc.add_BotServiceServicer_to_server, _BotService(self)),
            Service(game_pb2_grpc.add_GameServiceServicer_to_server, _GameService()),
            Service(log_pb2_grpc.add_LogServiceServicer_to_server, self.log),
            Service(health_pb2_grpc.add_HealthServicer_to_server, Health(NAMES, self._stopping)),
            Service(register, Reflection(SERVICES)),
        )
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self.turns.run)
            nursery.start_soon(self.timers.run)
            nursery.start_soon(beat, lambda: [self.bot] if self.bot else [], CONFIG.heartbeat)
            serving = partial(serve, settings=CONFIG.transport, turn=self.turns, grace=0.1, error_domain=ERROR_DOMAIN)
            task_status.started(await nursery.start(serving, services, f"{LOOPBACK}:0"))

    def restored(self) -> None:
        """Restore the initial state."""
        self.welcome_delay, self.refusal = 0.0, None

    def forget(self) -> None:
        """Discard the bot and its matches, so that the next program counts as a new bot."""
        self.matches.forget()
        if self.bot is not None and self.bot.session is not None:
            self.bot.session.close(Reason.STOPPING, "the check goes on with the bot started anew")
        self.bot = None

    async def Play(self, stream: Stream[bytes, bytes]) -> None:
        """Play with the bot until its stream ends."""
        self.tried_at.append(trio.current_time())
        token = bearer(stream)
        if (name := self.names.get(token)) is None:
            text = "no bot has this token; register one with BotService.RegisterBot"
            if not token:
                text = "send the metadata 'authorization: Bearer TOKEN'"
            raise refused(grpc.StatusCode.UNAUTHENTICATED, "TOKEN_UNKNOWN", text)
        stream.trust()
        if self.script is not None:
            await self.script(stream)
            return
        wire: Wire | None = None
        try:
            if self.refusal is not None:
                raise self.refusal
            wire = await self._greeted(stream)
            await self._attend(wire, name)
        except PeerVanished:
            return
        except Closed as closed:
            if wire is not None:
                wire.end = str(closed)
            raise refused(STATUS[closed.reason], closed.reason.name, str(closed), closed.wait) from closed
        finally:
            if wire is not None:
                wire.over = True

    async def _greeted(self, stream: Stream[bytes, bytes]) -> Wire:
        with trio.move_on_after(CONFIG.limits.hello_timeout):
            message = await stream.receive()
            if message is None:
                raise PeerVanished
            try:
                hello = self.matches.offer_ladders(decode_hello(message))
                if not any(name in GAMES for name in hello.games):
                    text = f"this server plays {', '.join(GAMES)}; the bot asked for {', '.join(hello.games)}"
                    raise Closed(Reason.NO_SUCH_GAME, text)
            except Closed as closed:
                self.hello_fault = str(closed)
                raise
            self.hello_fault = ""
            if self.welcome_delay:
                with trio.move_on_after(self.welcome_delay):
                    while await stream.receive() is not None:
                        self.early += 1
                    raise PeerVanished
            return Wire(stream, hello, self.turns)
        self.hello_fault = f"nothing was said within {CONFIG.limits.hello_timeout:g} s of the opening of the stream"
        raise Closed(Reason.NO_HELLO, self.hello_fault)

    async def _attend(self, wire: Wire, name: str) -> None:
        bot = self.bot
        if bot is None or bot.name != name:
            bot = self.bot = BotPlayer(1, name, name, lambda _: None)
        self.wires.append(wire)
        games = [GAMES[game] for game in wire.hello.games if game in GAMES]
        past = self.matches.ended_after(wire.hello.reports_after)
        await let_play(
            bot,
            wire,
            PROTOBUF,
            wire.hello,
            games,
            self.matches.config,
            self.turns,
            log_state=self.log.state,
            reports=past,
        )


class _BotService(PartOfService):
    """The service that registers bots."""

    def __init__(self, server: CheckServer) -> None:
        self._server = server

    async def RegisterBot(self, request: bots_pb2.RegisterBotRequest, _: Call) -> bots_pb2.RegisterBotResponse:
        server = self._server
        server.registrations.append(request)
        try:
            check_name(request.name)
            check_free(request.name)
        except NameNotAllowed as error:
            raise refused(grpc.StatusCode.INVALID_ARGUMENT, "NAME_NOT_ALLOWED", str(error)) from error
        if request.token and not TOKEN.fullmatch(request.token):
            text = "the token is not allowed: 'arena_' and 32 random bytes in base64url, 43 characters"
            raise refused(grpc.StatusCode.INVALID_ARGUMENT, "TOKEN_NOT_ALLOWED", text)
        known = {name.lower() for name in server.names.values()}
        taken = request.name.lower() in known and server.names.get(request.token) != request.name
        if taken and not server.lenient:
            raise refused(grpc.StatusCode.ALREADY_EXISTS, "NAME_TAKEN", f"the name {request.name!r} is taken")
        token = request.token or new_token()
        server.names[token] = request.name
        return bots_pb2.RegisterBotResponse(name=request.name, token=token)


class _GameService(PartOfService):
    """The service that sends the catalogues."""

    async def ListGames(self, _: object, __: Call) -> game_pb2.ListGamesResponse:
        return game_pb2.ListGamesResponse(games=[encode_catalog(game) for game in GAMES.values()])
