"""The messages between server and bot on one stream: recorded, and altered or delayed on a check's demand."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Final, NamedTuple

import trio
from arena_client.v1 import play_pb2
from google.protobuf.message import DecodeError

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.server.runtime.turns import Turns
    from arena.server.sessions.messages import Hello
    from trio_grpc.grpc.call import Stream

NONCE_SIZES: Final = (0, 16)


class Said(NamedTuple):
    """A message of the server."""

    at: float
    message: play_pb2.PlayResponse


class Heard(NamedTuple):
    """A message of the bot."""

    at: float
    message: play_pb2.PlayRequest


class Wire:
    """The link of a session."""

    def __init__(self, stream: Stream[bytes, bytes], hello: Hello, turns: Turns) -> None:
        self.hello = hello
        self.said: list[Said] = []
        self.heard: list[Heard] = []
        self.bad_nonces: list[int] = []
        """Sizes of invalid nonces. A server would close the stream; here they count as missing, so that the check goes
        on."""
        self.altered: Callable[[play_pb2.PlayResponse], bytes] | None = None
        """Replaces a message of the server."""
        self.heard_as: Callable[[play_pb2.PlayRequest], play_pb2.PlayRequest] | None = None
        """Replaces a message of the bot."""
        self.holds = False
        """True if the bot's messages are held back."""
        self.held: list[play_pb2.PlayRequest] = []
        """The bot's messages that are held back."""
        self.over = False
        self.end = ""
        """The reason why the server ended the stream; empty if it did not."""
        self._stream = stream
        self._turns = turns
        self._take: Callable[[bytes], None] = lambda _: None
        self._at: float | None = None

    @property
    def peer(self) -> str:
        """The bot's address."""
        return self._stream.peer

    @property
    def busy(self) -> bool:
        """True if the last message has not left yet."""
        return self._stream.busy

    @property
    def received_at(self) -> float:
        """Time of arrival of the latest message at the server."""
        return self._stream.received_at if self._at is None else self._at

    def shortest_round_trip(self) -> float | None:
        """Return None: the check measures no round trip."""
        return None

    def hand_over(self, message: bytes) -> None:
        """Send a message of the server."""
        parsed = play_pb2.PlayResponse.FromString(message)
        if self.altered is not None:
            message = self.altered(parsed)
        self.said.append(Said(trio.current_time(), parsed))
        self._stream.hand_over(message)

    async def inject(self, message: play_pb2.PlayResponse) -> None:
        """Send an extra message after the server's current one."""
        while self._stream.busy:
            await trio.sleep(0.005)
        with suppress(trio.BrokenResourceError):
            self.said.append(Said(trio.current_time(), message))
            self._stream.hand_over(message.SerializeToString())

    async def deliver(self, take: Callable[[bytes], None], left: Callable[[], None]) -> None:
        """Deliver the bot's messages to the server."""
        self._take = take
        await self._stream.deliver(self._hear, left)

    def hold(self, message: play_pb2.PlayRequest) -> None:
        """Hold back an earlier message of the bot."""
        self.held.append(message)

    def release(self) -> None:
        """Deliver the held messages as if they came now."""
        self.holds = False
        held, self.held = self.held, []
        if self.over:
            return
        with self._turns:
            self._at = trio.current_time()
            for message in held:
                self._pass(message)
            self._at = None

    def _hear(self, encoded: bytes) -> None:
        try:
            message = play_pb2.PlayRequest.FromString(encoded)
        except DecodeError:
            self._take(encoded)  # which names the cause
            return
        self.heard.append(Heard(self._stream.received_at, message))
        for ready in message.ready:
            if len(ready.nonce) not in NONCE_SIZES:
                self.bad_nonces.append(len(ready.nonce))
        if self.holds:
            self.held.append(message)
        else:
            self._pass(message)

    def _pass(self, message: play_pb2.PlayRequest) -> None:
        heard = play_pb2.PlayRequest.FromString(message.SerializeToString())
        for ready in heard.ready:
            if len(ready.nonce) not in NONCE_SIZES:
                ready.nonce = b""
        if self.heard_as is not None:
            heard = self.heard_as(heard)
        self._take(heard.SerializeToString())
