"""Sockets that listen at an address or a path, and the names of peers.

IPv4 and IPv6 addresses of one host are bound separately, so that each peer has the right name.
"""

from __future__ import annotations

import os
import socket
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from trio_grpc.http2.proxy_protocol import PeerAddress

BACKLOG: Final = 1024
"""Maximum number of connections that wait to be accepted; see listen(2)."""
UNIX_SCHEME: Final = "unix:"
"""Prefix of the path in gRPC's name for a Unix socket."""
LONGEST_UNIX_PATH: Final = 107 if sys.platform == "linux" else 103
"""Maximum length of a Unix socket's path in bytes, see unix(7)."""


def host_and_port(address: str) -> tuple[str, int]:
    """Return the parts of "host:port", or "[host]:port" for IPv6; an empty host means every address.

    Raises: ValueError.
    """
    host, colon, port = address.rpartition(":")
    if not (colon and port.isascii() and port.isdecimal() and int(port) <= 65535):
        raise ValueError(f"{address!r} is no HOST:PORT, such as 127.0.0.1:50051 or [::1]:50051")
    return host.removeprefix("[").removesuffix("]"), int(port)


def bind(address: str) -> list[socket.socket]:
    """Return listening sockets for every address that "host:port" resolves to, all with the same port number.

    The address may also be "unix:PATH". Raises RuntimeError.
    """
    if address.startswith(UNIX_SCHEME):
        return [bind_unix(Path(address.removeprefix(UNIX_SCHEME)))]
    sockets: list[socket.socket] = []
    try:
        host, port = host_and_port(address)
        found = socket.getaddrinfo(host or None, port, type=socket.SOCK_STREAM, flags=socket.AI_PASSIVE)
        for family, kind, protocol, _, where in found:
            listening = socket.socket(family, kind, protocol)
            sockets.append(listening)
            listening.setblocking(False)
            listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            if family == socket.AF_INET6:
                listening.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, host != "::")
            listening.bind(where if len(sockets) == 1 else (where[0], sockets[0].getsockname()[1], *where[2:]))
            listening.listen(BACKLOG)
    except (OSError, ValueError) as error:
        for listening in sockets:
            listening.close()
        raise RuntimeError(f"cannot listen at {address}: {error}") from error
    return sockets


def bound(sockets: Sequence[socket.socket]) -> str:
    """Return the address of the first of these sockets as "host:port"."""
    host, port = sockets[0].getsockname()[:2]
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def bind_unix(unix_socket: Path) -> socket.socket:
    """Return a socket that listens at a path and is accessible only to this user. An existing socket file
    is replaced if no process listens on it.

    Raises:
        RuntimeError: the path cannot be bound.
    """
    listening = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    try:
        if (length := len(os.fsencode(unix_socket))) > LONGEST_UNIX_PATH:
            raise OSError(f"a path of {length} bytes; {LONGEST_UNIX_PATH} is the most: choose a shorter one")
        if unix_socket.is_socket():
            if _answers(unix_socket):
                raise OSError("another server listens there")
            unix_socket.unlink()
        listening.setblocking(False)
        listening.bind(str(unix_socket))
        unix_socket.chmod(0o600)  # No client can connect before `listen`.
        listening.listen(BACKLOG)
    except OSError as error:
        listening.close()
        raise RuntimeError(f"cannot listen at {UNIX_SCHEME}{unix_socket}: {error}") from error
    return listening


def _answers(unix_socket: Path) -> bool:
    """Return True if a process listens at a socket's path.

    Raises:
        OSError: It cannot be determined.
    """
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as other:
        other.setblocking(False)  # If the listener's backlog is full, `connect` must not wait.
        try:
            other.connect(str(unix_socket))
        except ConnectionRefusedError:
            return False
        except BlockingIOError:
            pass
    return True


def peer_name(address: PeerAddress) -> str:
    """Format a peer's socket address as gRPC does: "ipv4:127.0.0.1:40312" or "ipv6:[::1]:40312"."""
    host, port, *ipv6 = address
    return f"ipv6:[{host}]:{port}" if ipv6 else f"ipv4:{host}:{port}"
