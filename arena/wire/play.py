"""`PlayService.Play`: a bot's stream, from its token to its last word."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final, TypeAlias

import grpc
import trio

from arena.server.messages import Closed, LinkLost, Outgoing, Reason, Said
from arena.store.errors import StoreError
from arena.wire.codec import decode, decode_hello, encode
from arena.wire.stream import Refused, Stream, Vanished, bearer

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.server.arena import Arena
    from arena.server.messages import Hello
    from arena.store.bots import Bot

PlayStream: TypeAlias = Stream[bytes, bytes]

STATUS: Final = {
    Reason.TAKEN_OVER: grpc.StatusCode.ABORTED,
    Reason.STOPPING: grpc.StatusCode.UNAVAILABLE,
    Reason.NOT_READING: grpc.StatusCode.DEADLINE_EXCEEDED,
    Reason.NONSENSE: grpc.StatusCode.INVALID_ARGUMENT,
    Reason.NO_SUCH_GAME: grpc.StatusCode.FAILED_PRECONDITION,
    Reason.FLOODING: grpc.StatusCode.RESOURCE_EXHAUSTED,
    Reason.SILENT: grpc.StatusCode.CANCELLED,
    Reason.TOKEN_DEAD: grpc.StatusCode.UNAUTHENTICATED,
}


class PlayLink:
    """A bot's stream as the server sees it."""

    def __init__(self, stream: PlayStream) -> None:
        self._stream = stream

    @property
    def peer(self) -> str:
        """The bot's address."""
        return self._stream.peer

    @property
    def busy(self) -> bool:
        """As `Link.busy`."""
        return self._stream.busy

    def send(self, message: Outgoing) -> None:
        """As `Link.send`."""
        try:
            self._stream.hand_over(encode(message))
        except Vanished as gone:
            raise LinkLost from gone

    async def listen(self, hear: Callable[[Said], None], free: Callable[[], None]) -> None:
        """As `Link.listen`."""
        stream = self._stream
        try:
            await stream.deliver(lambda message: hear(decode(message, stream.received_at)), free)
        except Vanished as gone:
            raise LinkLost from gone


class Play:
    """The servicer."""

    def __init__(self, arena: Arena) -> None:
        self._arena = arena

    async def Play(self, stream: PlayStream) -> None:  # noqa: N802 - the proto's name
        """One call: authenticates, takes the hello, and lets the bot play."""
        token = bearer(stream)
        if not token:
            raise Refused(grpc.StatusCode.UNAUTHENTICATED, "send the metadata 'authorization: Bearer TOKEN'")
        try:
            with self._arena.door.opened(await self._bot(token), stream.received_at):
                hello = await self._hello(stream)
                # The token may have been revoked since the stream was opened.
                await self._arena.attend(PlayLink(stream), await self._bot(token), hello)
        except LinkLost:
            return
        except StoreError as error:
            raise Refused(grpc.StatusCode.UNAVAILABLE, str(error)) from error
        except Closed as closed:
            raise Refused(STATUS[closed.reason], str(closed)) from closed

    async def _bot(self, token: str) -> Bot:
        try:
            bot = await self._arena.roster.authenticate(token)
        except StoreError as error:
            raise Refused(grpc.StatusCode.UNAVAILABLE, str(error)) from error
        if bot is None:
            raise Refused(
                grpc.StatusCode.UNAUTHENTICATED, "no bot has this token; register one with BotService.RegisterBot"
            )
        return bot

    async def _hello(self, stream: PlayStream) -> Hello:
        limit = self._arena.config.limits.hello
        with trio.move_on_after(limit):
            message = await stream.receive()
            if message is None:
                raise LinkLost
            return decode_hello(message)
        raise Closed(Reason.SILENT, f"no hello came within {limit:g} s of the opening of the stream")
