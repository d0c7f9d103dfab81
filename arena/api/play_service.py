"""`PlayService.Play`: a bot's stream, from authentication to its end."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, Protocol, TypeAlias

import grpc
import trio

from arena.api.codec import PROTOBUF, decode_hello
from arena.api.statuses import looked_up, refused
from arena.server.config import Config
from arena.server.sessions.admission import Admission, Authorization
from arena.server.sessions.messages import Closed, Hello, Link, MessageCodec, Reason
from arena.store.base.errors import StoreError
from arena.store.bots.bots import Bot
from trio_grpc.grpc.call import PeerVanished, Stream, bearer

PlayStream: TypeAlias = Stream[bytes, bytes]

STATUS: Final = {
    Reason.TAKEN_OVER: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.STOPPING: grpc.StatusCode.UNAVAILABLE,
    Reason.NOT_READING: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.BAD_MESSAGE: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.NO_SUCH_GAME: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.NO_SUCH_LADDER: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.ENTRY_REFUSED: grpc.StatusCode.PERMISSION_DENIED,
    Reason.NO_CASUAL: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.FLOODING: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.NO_HELLO: grpc.StatusCode.DEADLINE_EXCEEDED,
    Reason.TOKEN_REVOKED: grpc.StatusCode.UNAUTHENTICATED,
    Reason.OWNER_BANNED: grpc.StatusCode.PERMISSION_DENIED,
}
"""Statuses of closed streams. Clients reconnect only after UNAVAILABLE, RESOURCE_EXHAUSTED and DEADLINE_EXCEEDED."""


class PlayHost(Protocol):
    """A host of bots: a server, or the runner of a local match."""

    @property
    def config(self) -> Config:
        """The settings."""

    @property
    def authorization(self) -> Authorization:
        """The authorization, which finds the bot to which a token belongs."""

    @property
    def admission(self) -> Admission:
        """The admission, which limits open streams."""

    async def attend(
        self, link: Link, codec: MessageCodec, authorize: Callable[[], Awaitable[Bot]], hello: Hello
    ) -> None:
        """Let a bot play on a link until its stream ends, like `Arena.attend`."""


class PlayService:
    """Servicer of the gRPC service `PlayService`."""

    def __init__(self, arena: PlayHost) -> None:
        self._arena = arena

    async def Play(self, stream: PlayStream) -> None:
        """Authenticate a bot, receive its hello, and let it play until the stream ends.

        Raises: CallRefused: with the status that corresponds to the reason.
        """
        arena, token = self._arena, bearer(stream)

        def authorize() -> Awaitable[Bot]:
            return looked_up(arena.authorization.bot(token))

        try:
            bot = await authorize()
            stream.trust()
            with arena.admission.opened(bot, stream.received_at):
                await arena.attend(stream, PROTOBUF, authorize, await self._hello(stream))
        except PeerVanished:
            return
        except StoreError as error:
            raise refused(grpc.StatusCode.UNAVAILABLE, "STORE_UNAVAILABLE", str(error)) from error
        except Closed as closed:
            raise refused(STATUS[closed.reason], closed.reason.name, str(closed), closed.wait) from closed

    async def _hello(self, stream: PlayStream) -> Hello:
        hello_timeout = self._arena.config.limits.hello_timeout
        with trio.move_on_after(hello_timeout):
            message = await stream.receive()
            if message is None:
                raise PeerVanished
            return decode_hello(message)
        raise Closed(Reason.NO_HELLO, f"no hello came within {hello_timeout:g} s of the opening of the stream")
