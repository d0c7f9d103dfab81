"""Connections that one process accepts and another serves. They are sent as open files with their peers' addresses.

Datagrams on a pair of Unix sockets contain the files. This module does not detect the end of the other process.
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
"""Maximum length in bytes of an address as text."""


class Sockets(Protocol):
    """An object that waits for a listener's sockets and, at the same time, for other sockets."""

    def watch(self, other: socket.socket, ready: Callable[[int], None]) -> None:
        """Call `ready` in the listener's turns whenever another socket is readable."""

    def unwatch(self, other: socket.socket) -> None:
        """Stop watching a socket that is about to be closed."""

    def release(self, origin: Origin) -> None:
        """Stop counting a connection that was given to another process and is now closed."""

    def adopt(self, accepted: socket.socket, address: PeerAddress) -> None:
        """Serve a connection from another process, which forwards the calls of a client at `address`."""


class Sharer(Protocol):
    """An object that finds other processes to serve connections."""

    def listening(self, sockets: Sockets) -> None:
        """Set the object that waits for sockets."""

    def share(self, accepted: socket.socket, address: PeerAddress, origin: Origin, kept: int) -> bool:
        """Give a connection to another process if that process should serve it. When it is closed, `Sockets.release` is
        called.

        `kept` is the number of connections that this process serves itself. Return True if the connection was given
        away.
        """


class Received(NamedTuple):
    """The source of the connections that this process serves."""

    line: socket.socket
    """The socket on which the connections arrive."""
    closed: Callable[[Origin], None]
    """Function to call with each closed connection."""
    listening: Callable[[Sockets], None]
    """Function to call with the object that waits for sockets."""


def pair() -> tuple[socket.socket, socket.socket]:
    """Return two connected non-blocking sockets. A connection sent on one can be received on the other."""
    ours, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
    ours.setblocking(False)
    theirs.setblocking(False)
    return ours, theirs


def connection_for(line: socket.socket, address: PeerAddress) -> socket.socket:
    """Create a connection on behalf of a client at `address`: give one end to the other process, and return the other
    end. Raises: OSError.
    """
    ours, theirs = socket.socketpair()
    if not give(line, theirs, address):
        ours.close()
        theirs.close()
        raise OSError("the other process takes no connection now")
    return ours


def give(line: socket.socket, accepted: socket.socket, address: PeerAddress) -> bool:
    """Give a connection away and close it here. Return False if the other process cannot receive it now."""
    try:
        socket.send_fds(line, [json.dumps(address).encode()], [accepted.fileno()])
    except OSError:
        return False
    accepted.close()
    return True


def take(line: socket.socket) -> tuple[socket.socket | None, PeerAddress] | None:
    """Return a received connection (None if it cannot be opened) and its peer's address. Return None if no connection
    waits.
    """
    try:
        written, files, _, _ = socket.recv_fds(line, LARGEST, 1)
    except OSError:
        return None
    if not written:
        return None
    address: PeerAddress = tuple(json.loads(written))
    if not files:  # This process cannot open more files.
        return None, address
    accepted = socket.socket(fileno=files[0])
    accepted.setblocking(False)
    return accepted, address
