"""A relay in front of the server that imitates a bad network or a killed server."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING, Final

import trio

from arena.local.server.command_bot import SOCKET

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from arena.local.sandbox.sandbox import Sandbox

MOST: Final = 65536
"""Bytes forwarded at once."""
LOOPBACK: Final = "127.0.0.1"


class Relay:
    """Forwards bytes between its own constant port and the server's."""

    def __init__(self, server_port: int, nursery: trio.Nursery, boxed: tuple[Path, Sandbox] | None = None) -> None:
        """For bots in boxes, which have no network, the port is a Unix socket in a folder."""
        self.port = 0
        self._boxed = boxed
        self.usual_piece = self.piece = MOST
        """Bytes sent to the bot at once."""
        self._server_port = server_port
        self._nursery = nursery
        self._connections: set[trio.SocketStream] = set()
        self._listening = trio.CancelScope()
        self._deaf = trio.Event()
        """Set while nothing listens."""
        self._deaf.set()

    async def up(self) -> None:
        """Accept connections, at the same port as before."""
        self._listening, self._deaf = trio.CancelScope(), trio.Event()
        if self._boxed is None:
            listeners = await trio.open_tcp_listeners(self.port, host=LOOPBACK)
            self.port = listeners[0].socket.getsockname()[1]
        else:
            listeners = [await self._open_unix(*self._boxed)]
        self._nursery.start_soon(self._listen, listeners)

    @property
    def address(self) -> str:
        """The address for the bot."""
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
        """Refuse new connections and cut existing ones."""
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
            for side in (bot, server):
                side.socket.close()

    async def _copy(
        self, source: trio.SocketStream, target: trio.SocketStream, nursery: trio.Nursery, to_bot: bool
    ) -> None:
        try:
            async for chunk in source:
                piece = self.piece if to_bot else MOST
                for at in range(0, len(chunk), piece):
                    await target.send_all(chunk[at : at + piece])
        except (trio.BrokenResourceError, trio.ClosedResourceError):
            pass
        nursery.cancel_scope.cancel()
