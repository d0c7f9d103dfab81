# Compiled: every decision passes through here.
"""A bot's call of `Play` to another process of the server, represented in the first process, which answers it.

Until the bot's first message, the call is like any other stream. Then it becomes a `RemoteSession`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import trio

from arena.server.processes.remote_session import RemoteSession
from trio_grpc.grpc.call import PeerVanished

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from arena.server.processes.line import ProcessLine
    from arena.server.runtime.turns import Turns
    from arena.server.sessions.messages import Hello, MessageCodec
    from arena.server.sessions.player import BotPlayer


class RemoteCall:
    """A call held by the process at the other end of a line."""

    def __init__(self, line: ProcessLine, number: int, token: str, peer: str, received_at: float) -> None:
        self.number = number
        """The number of the session that the call may become."""
        self.peer = peer
        self.metadata: Mapping[str, str] = {"authorization": f"Bearer {token}"}
        self.received_at = received_at
        self.session: RemoteSession | None = None
        self._line = line
        self._hello: bytes | None = None
        self._end: Exception | None = None
        self._ended = False
        self._heard = trio.Event()

    @property
    def over(self) -> bool:
        """True if the bot has sent its last message or is gone."""
        return self._ended

    @property
    def busy(self) -> bool:
        """False: messages never wait here, because the other process sends them."""
        return False

    def shortest_round_trip(self) -> float | None:
        """Return None, because it is measured in the process that has the bot's connection."""
        return None

    def trust(self) -> None:
        """Lift the limits that apply before authentication."""
        self._line.call("session", self.number, "trust")

    async def receive(self) -> bytes | None:
        """Return the bot's first message. Raises: PeerVanished."""
        await self._heard.wait()
        if self._hello is None:
            raise PeerVanished
        return self._hello

    async def send(self, message: bytes) -> None:
        """Raise an error: messages are sent through the session."""
        raise NotImplementedError

    def hand_over(self, message: bytes) -> None:
        """Raise an error: messages are sent through the session."""
        raise NotImplementedError

    async def deliver(self, on_message: Callable[[bytes], None], on_sent: Callable[[], None]) -> None:
        """Raise an error: messages are received by the session."""
        raise NotImplementedError

    def begin(self, codec: MessageCodec, hello: Hello, turns: Turns, bot_player: BotPlayer) -> RemoteSession:
        """Begin the session, whose connection the other process holds."""
        session = self.session = RemoteSession(self, codec, hello, turns, self._line, self.number)
        self._line.call("session", self.number, "begin", bot_player.bot_id, bot_player.name, hello.capacity)
        if self._ended:
            session.ended(self._end)
        return session

    def hello(self, message: bytes) -> None:
        """Handle the bot's first message."""
        self._hello = message
        self._heard.set()

    def ended(self, end: Exception | None) -> None:
        """Record that the bot has sent its last message or is gone."""
        self._end, self._ended = end, True
        self._heard.set()
        if self.session is not None:
            self.session.ended(end)
