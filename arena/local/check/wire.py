"""The connection between server and bot: a link that records, alters or delays messages for a check, and a relay.

The relay imitates a bad network, or a server that was killed or falls silent.
"""

from __future__ import annotations

import socket
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final, Generic, NamedTuple, TypeVar

import trio
from arena_client.v1 import play_pb2
from google.protobuf.message import DecodeError

from arena.local.sandbox.sandbox import Sandbox
from arena.local.server.command_bot import SOCKET
from arena.server.runtime.turns import Turns
from arena.server.sessions.messages import Hello
from trio_grpc.grpc.call import Stream

NONCE_SIZES: Final = (0, 16)
MOST: Final = 65536
"""Maximum number of bytes forwarded at once."""
LOOPBACK: Final = "127.0.0.1"
Sent = TypeVar("Sent", play_pb2.PlayResponse, play_pb2.PlayRequest)


class Timed(NamedTuple, Generic[Sent]):
    """A message from the server or the bot, with its time."""

    at: float
    message: Sent


class Wire:
    """A session's link that records the messages. A check can change them or hold them back."""

    def __init__(self, stream: Stream[bytes, bytes], hello: Hello, turns: Turns) -> None:
        self.hello = hello
        self.said: list[Timed[play_pb2.PlayResponse]] = []
        self.heard: list[Timed[play_pb2.PlayRequest]] = []
        self.bad_nonces: list[int] = []
        """Sizes of invalid nonces. A server would close the stream; here such a nonce counts as missing."""
        self.altered: Callable[[play_pb2.PlayResponse], bytes] | None = None
        """Function that may replace each message from the server."""
        self.heard_as: Callable[[play_pb2.PlayRequest], play_pb2.PlayRequest] | None = None
        """Function that may replace each message from the bot."""
        self.holds = False
        """True if the bot's messages are held back."""
        self.held: list[play_pb2.PlayRequest] = []
        """The bot's messages that are currently held back."""
        self.over = False
        self.end = ""
        """The reason why the server ended the stream. Empty if the server did not end it."""
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
        """True if the last message is still being sent."""
        return self._stream.busy

    @property
    def received_at(self) -> float:
        """Time at which the latest message reached the server."""
        return self._stream.received_at if self._at is None else self._at

    def shortest_round_trip(self) -> float | None:
        """Return None: a check does not measure the round trip."""
        return None

    def hand_over(self, message: bytes) -> None:
        """Send a message from the server to the bot."""
        parsed = play_pb2.PlayResponse.FromString(message)
        if self.altered is not None:
            message = self.altered(parsed)
        self.said.append(Timed(trio.current_time(), parsed))
        self._stream.hand_over(message)

    async def inject(self, message: play_pb2.PlayResponse) -> None:
        """Send an extra message after the server's current one."""
        while self._stream.busy:
            await trio.sleep(0.005)
        with suppress(trio.BrokenResourceError):
            self.said.append(Timed(trio.current_time(), message))
            self._stream.hand_over(message.SerializeToString())

    async def deliver(self, take: Callable[[bytes], None], left: Callable[[], None]) -> None:
        """Deliver the bot's messages to the server."""
        self._take = take
        await self._stream.deliver(self._hear, left)

    def release(self) -> None:
        """Deliver the held-back messages as if they arrived now."""
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
            self._take(encoded)  # the session's error states the cause
            return
        self.heard.append(Timed(self._stream.received_at, message))
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


class Relay:
    """Forwards bytes between its own port, which never changes, and the server's port."""

    def __init__(self, server_port: int, nursery: trio.Nursery, boxed: tuple[Path, Sandbox] | None = None) -> None:
        """`boxed` is for sandboxed bots, which have no network: the folder of a Unix socket, and the sandbox."""
        self.port = 0
        self._boxed = boxed
        self.usual_piece = self.piece = MOST
        """Maximum number of bytes sent to the bot at once."""
        self._server_port = server_port
        self._nursery = nursery
        self._connections: set[trio.SocketStream] = set()
        self._silent: set[trio.SocketStream] = set()
        """Connections that stay open although the relay delivers no more data on them."""
        self._listening = trio.CancelScope()
        self._deaf = trio.Event()
        """Event that is set while the relay refuses connections."""
        self._deaf.set()

    async def up(self) -> None:
        """Accept connections on the same port as before."""
        self._listening, self._deaf = trio.CancelScope(), trio.Event()
        if self._boxed is None:
            listeners = await trio.open_tcp_listeners(self.port, host=LOOPBACK)
            self.port = listeners[0].socket.getsockname()[1]
        else:
            listeners = [await self._open_unix(*self._boxed)]
        self._nursery.start_soon(self._listen, listeners)

    @property
    def address(self) -> str:
        """The address that the bot connects to."""
        return f"{LOOPBACK}:{self.port}" if self._boxed is None else f"unix:{self._boxed[0] / SOCKET}"

    async def _open_unix(self, folder: Path, sandbox: Sandbox) -> trio.SocketListener:
        path = folder / SOCKET
        path.unlink(missing_ok=True)
        listening = trio.socket.socket(socket.AF_UNIX)
        await listening.bind(str(path))
        sandbox.admit(folder, path)
        listening.listen()
        return trio.SocketListener(listening)

    async def down(self) -> None:
        """Refuse new connections and cut existing connections."""
        self._listening.cancel()
        await self._deaf.wait()
        self.cut()

    async def restored(self) -> None:
        """Restore the initial state."""
        self.piece = MOST
        if self._deaf.is_set():
            await self.up()

    def cut(self) -> None:
        """Cut all connections, even in the middle of a message."""
        for connection in list(self._connections):
            connection.socket.close()

    def fall_silent(self) -> None:
        """Deliver no more data on the existing connections, not even their end, as in a network failure."""
        self._silent |= self._connections

    async def _listen(self, listeners: Iterable[trio.SocketListener]) -> None:
        try:
            with self._listening:
                await trio.serve_listeners(self._pass_on, [*listeners], handler_nursery=self._nursery)
        finally:
            self._deaf.set()

    async def _pass_on(self, bot: trio.SocketStream) -> None:
        try:
            server = await trio.open_tcp_stream(LOOPBACK, self._server_port)
        except OSError:
            await bot.aclose()
            return
        self._connections |= {bot, server}
        try:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(self._copy, bot, server, nursery, False)
                nursery.start_soon(self._copy, server, bot, nursery, True)
        finally:
            self._connections -= {bot, server}
            self._silent -= {bot, server}
            for side in (bot, server):
                side.socket.close()

    async def _copy(
        self, source: trio.SocketStream, target: trio.SocketStream, nursery: trio.Nursery, to_bot: bool
    ) -> None:
        with suppress(trio.BrokenResourceError, trio.ClosedResourceError):
            async for chunk in source:
                piece = self.piece if to_bot else MOST
                for at in range(0, 0 if source in self._silent else len(chunk), piece):
                    await target.send_all(chunk[at : at + piece])
        if not (to_bot and source in self._silent):
            nursery.cancel_scope.cancel()
