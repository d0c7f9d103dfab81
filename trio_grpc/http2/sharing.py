"""Connections that one process accepts and another serves, each as an open file with its peer's address.

Datagrams on a pair of Unix sockets carry them. This module does not notice the end of the other process; its starter
does.
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
"""Maximum length of an address in bytes, as it is written."""


class Sockets(Protocol):
    """An object that waits for a listener's sockets, and for other sockets with them."""

    def watch(self, other: socket.socket, ready: Callable[[int], None]) -> None:
        """Call `ready` in the listener's turns whenever there is something to read from another socket."""

    def unwatch(self, other: socket.socket) -> None:
        """Stop watching a socket, before it is closed."""

    def release(self, origin: Origin) -> None:
        """Stop counting a connection that was given away and is closed."""

    def adopt(self, accepted: socket.socket, address: PeerAddress) -> None:
        """Serve a connection of another process, which forwards calls of a client at an address."""


class Sharer(Protocol):
    """An object that finds other processes to serve connections."""

    def listening(self, sockets: Sockets) -> None:
        """Set the object that waits for sockets."""

    def share(self, accepted: socket.socket, address: PeerAddress, origin: Origin, kept: int) -> bool:
        """Give a connection to another process, if one should have it; `Sockets.release` follows when it is closed.

        `kept` is the number of connections of this process.
        """


class Received(NamedTuple):
    """The source of the connections that this process serves."""

    line: socket.socket
    """The socket on which they arrive."""
    closed: Callable[[Origin], None]
    """Called with each connection that is closed."""
    listening: Callable[[Sockets], None]
    """Called with the object that waits for sockets."""


def pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected sockets, one to give connections to and one to take them from; neither blocks."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.setblocking(False)
    theirs.setblocking(False)
    return ours, theirs


def connection_for(line: socket.socket, address: PeerAddress) -> socket.socket:
    """Return a connection whose other end is given away, on behalf of a client at an address. Raises: OSError."""
    ours, theirs = socket.socketpair()
    if not give(line, theirs, address):
        ours.close()
        theirs.close()
        raise OSError("the other process takes no connection now")
    return ours


def give(line: socket.socket, accepted: socket.socket, address: PeerAddress) -> bool:
    """Give a connection away, and close it here; return False if it cannot be received now."""
    try:
        socket.send_fds(line, [json.dumps(address).encode()], [accepted.fileno()])
    except OSError:
        return False
    accepted.close()
    return True


def take(line: socket.socket) -> tuple[socket.socket | None, PeerAddress] | None:
    """Return a received connection, or None for one that cannot be opened here; None if none waits."""
    try:
        written, files, _, _ = socket.recv_fds(line, LARGEST, 1)
    except OSError:
        return None
    if not written:
        return None
    address: PeerAddress = tuple(json.loads(written))
    if not files:  # This process may open no more files.
        return None, address
    accepted = socket.socket(fileno=files[0])
    accepted.setblocking(False)
    return accepted, address
