"""Connections of browsers, limited in number and independent of each other.

anycorn accepts without a limit and runs all connections in one nursery. So an error in one connection, or one open file
too many, would end all connections and the pages.
"""

from __future__ import annotations

import resource
from collections.abc import Awaitable, Callable
from contextlib import suppress
from time import monotonic
from typing import Final

from anycorn import tcp_server
from anyio import TypedAttributeLookupError
from anyio.abc import SocketAttribute

from arena.web.requests.failures import FailureLog
from trio_grpc.http2.proxy_protocol import Networks, among
from trio_grpc.limits.connection_limits import ConnectionLimits

MOST: Final = 8000
MOST_OF_ADDRESS: Final = 200
"""Maximum numbers of open connections: in total (less if fewer files may be open), and per address."""
SECOND_FILES: Final = 8
"""The relays of playing bots get one `SECOND_FILES`th of the files that the process may open."""
THIS_MACHINE: Final = "127.0.0.1"


def files_allowed() -> int:
    """Return the number of files that this process may open, but at most `MOST`."""
    files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MOST if files == resource.RLIM_INFINITY else min(MOST, files)


class Connections:
    """The open connections."""

    def __init__(self, proxies: Networks) -> None:
        """`proxies` are addresses with many readers behind them.

        Only the total number of their connections is limited.
        """
        files = files_allowed()
        self._limits = ConnectionLimits(files - files // SECOND_FILES, MOST_OF_ADDRESS)
        self._proxies = proxies
        self._log = FailureLog()

    async def serve(self, host: str, run: Callable[[], Awaitable[None]]) -> None:
        """Serve a connection from the numeric address `host`. Return at once if there are too many."""
        origin = self._limits.admit(THIS_MACHINE if among(host, self._proxies) else host, monotonic())
        if origin is None:
            return
        try:
            await run()
        except Exception as error:  # noqa: BLE001 - any error concerns only this connection
            self._log.record(origin, "a connection failed", error)
        finally:
            self._limits.release(origin)


def serve_by(connections: Connections) -> None:
    """Make anycorn serve all connections of this process through `connections`."""

    class Connection(tcp_server.TCPServer):
        """A counted connection. It fails alone, and ends when the client can send no more requests."""

        _ended = False

        async def run(self) -> None:
            """Serve the connection, or close it at once."""
            with suppress(OSError, TypedAttributeLookupError):  # The connection has ended already.
                peer = self.stream.extra(SocketAttribute.remote_address)  # noqa: S610 - no database is involved
                await connections.serve(str(peer[0]), super().run)
            await self.stream.aclose()

        async def _read_data(self) -> None:
            await super()._read_data()
            self._ended = True
            await self.idle_task.stop()

        async def _idle_timeout(self) -> None:
            if not self._ended:
                await super()._idle_timeout()

    tcp_server.TCPServer = Connection  # type: ignore[misc]
