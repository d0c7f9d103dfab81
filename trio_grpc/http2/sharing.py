"""Connections that one process accepts and another serves, each as an open file with its peer's address.

Datagrams on a pair of Unix sockets carry them. The end of the other process is not noticed here: whoever started it
knows.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Callable
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol

from trio_grpc.http2.proxy_protocol import PeerAddress

if TYPE_CHECKING:
    from trio_grpc.limits.connection_limits import Origin

LARGEST: Final = 256
"""Bytes of an address as it is written, at most."""


class Sockets(Protocol):
    """Whoever waits for the sockets of a listener, and for others with them."""

    def watch(self, other: socket.socket, ready: Callable[[int], None]) -> None:
        """Have `ready` called in the listener's turns whenever there is something to read from another socket."""

    def unwatch(self, other: socket.socket) -> None:
        """Stop that, before the socket is closed."""

    def release(self, origin: Origin) -> None:
        """Stop counting a connection that was given away and is closed."""

    def adopt(self, accepted: socket.socket, address: PeerAddress) -> None:
        """Serve a connection of another process, which passes on what somebody at an address asked it."""


class Sharer(Protocol):
    """Whoever finds other processes to serve connections."""

    def listening(self, sockets: Sockets) -> None:
        """Know who waits for sockets from now on."""

    def share(self, accepted: socket.socket, address: PeerAddress, origin: Origin, kept: int) -> bool:
        """Give a connection to another process, if one is to have it; `Sockets.release` follows when it is closed.

        `kept`: how many connections this process has.
        """


class Received(NamedTuple):
    """Where the connections that this process serves come from."""

    line: socket.socket
    """They come here."""
    closed: Callable[[Origin], None]
    """Told of each that is closed."""
    listening: Callable[[Sockets], None]
    """Told who waits for sockets."""


def pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected sockets, one to give connections to and one to take them from; neither blocks."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.setblocking(False)
    theirs.setblocking(False)
    return ours, theirs


def connection_for(line: socket.socket, address: PeerAddress) -> socket.socket:
    """Return a connection whose other end is given away, for what somebody at an address asks. Raises: OSError."""
    ours, theirs = socket.socketpair()
    if not give(line, theirs, address):
        ours.close()
        theirs.close()
        raise OSError("the other process takes no connection now")
    return ours


def give(line: socket.socket, accepted: socket.socket, address: PeerAddress) -> bool:
    """Give a connection away, which is closed here then; False if it cannot be taken now."""
    try:
        socket.send_fds(line, [json.dumps(address).encode()], [accepted.fileno()])
    except OSError:
        return False
    accepted.close()
    return True


def take(line: socket.socket) -> tuple[socket.socket | None, PeerAddress] | None:
    """Return a connection that was given, None for one that cannot be opened here; None where none waits."""
    try:
        written, files, _, _ = socket.recv_fds(line, LARGEST, 1)
    except OSError:
        return None
    if not written:
        return None
    address: PeerAddress = tuple(json.loads(written))
    if not files:  # this process may open no more files
        return None, address
    accepted = socket.socket(fileno=files[0])
    accepted.setblocking(False)
    return accepted, address
