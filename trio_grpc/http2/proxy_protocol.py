"""The PROXY protocol, versions 1 and 2: a proxy sends the client's address before a connection's first byte.

https://www.haproxy.org/download/3.0/doc/proxy-protocol.txt
"""

from __future__ import annotations

import socket
import struct
from ipaddress import IPv4Network, IPv6Network, ip_address, ip_network
from typing import Final, NamedTuple, TypeAlias

Networks: TypeAlias = tuple[IPv4Network | IPv6Network, ...]
PeerAddress: TypeAlias = tuple[str, int] | tuple[str, int, int, int]
"""A socket's address, of IPv4 or IPv6; see `socket.socket.getpeername`."""

MOST: Final = 4096
"""Maximum length of an accepted header in bytes."""
_FIRST: Final = b"PROXY "
_LONGEST_FIRST: Final = 107
_SECOND: Final = b"\r\n\r\n\0\r\nQUIT\n"
_LOCAL, _PROXY = 0x20, 0x21
_TCP4, _TCP6 = 0x11, 0x21


class ProxyHeader(NamedTuple):
    """The content of a PROXY protocol header."""

    length: int
    """Number of bytes of the header."""
    peer: PeerAddress | None
    """Address of the client. None if the proxy itself is the client, or if the proxy does not know the address."""


class ProxiedConnection:
    """A connection from a proxy that has not sent its header yet, or from a Unix socket, which may send a header."""

    def __init__(self, accepted: socket.socket, address: PeerAddress | None, until: float) -> None:
        self.socket = accepted
        self.address = address
        """Address of the proxy; None for a Unix socket."""
        self.until = until
        """Time until which the header must arrive."""
        self._received = b""

    def read(self) -> ProxyHeader | None:
        """Read the header as far as it has arrived. Return None if it is incomplete.

        From a Unix socket a header arrives in one piece or not at all; without one, nothing is read. Raises: OSError,
        ValueError.
        """
        peeked = self.socket.recv(MOST, socket.MSG_PEEK)
        if not peeked:
            raise ValueError("it was closed before")
        if self.address is None:
            return self._of_unix_socket(peeked)
        header = parse_header(self._received + peeked)
        mine = len(peeked) if header is None else header.length - len(self._received)
        self._received += self.socket.recv(mine)
        return header

    def _of_unix_socket(self, peeked: bytes) -> ProxyHeader:
        try:
            header = parse_header(peeked)
        except ValueError:
            header = None
        if header is None:
            return ProxyHeader(0, None)
        self.socket.recv(header.length)
        return header


def header_for(host: str, port: int) -> bytes:
    """Return a header (version 1) for the connection of a client with a numeric address. Raises: ValueError."""
    address = ip_address(host.partition("%")[0])
    address = getattr(address, "ipv4_mapped", None) or address
    return b"PROXY TCP%d %s %s %d 0\r\n" % (address.version, str(address).encode(), str(address).encode(), port)


def parse_header(received: bytes) -> ProxyHeader | None:
    """Return the header at the beginning of the received bytes; None if it is incomplete.

    Raises ValueError for bytes that are not a header.
    """
    if received.startswith(_SECOND):
        return _second(received)
    if received.startswith(_FIRST):
        return _first(received)
    if _SECOND.startswith(received) or _FIRST.startswith(received):
        return None
    raise ValueError(f"it begins with {received[:16]!r}")


def networks(proxies: str) -> Networks:
    """Parse a text with addresses and networks, separated by commas. Raises: ValueError."""
    return tuple([ip_network(each.strip()) for each in proxies.split(",")])


def among(host: str, known: Networks) -> bool:
    """Return True if a numeric address, possibly an IPv4-mapped IPv6 address, is in one of the networks."""
    address = ip_address(host.partition("%")[0])
    address = getattr(address, "ipv4_mapped", None) or address
    return any(address in network for network in known)


def _first(received: bytes) -> ProxyHeader | None:
    line, end, _ = received[:_LONGEST_FIRST].partition(b"\r\n")
    if not end:
        if len(received) >= _LONGEST_FIRST:
            raise ValueError(f"it has {_LONGEST_FIRST} bytes without an end of line")
        return None
    length = len(line) + len(end)
    words = line.decode("ascii", "replace").split(" ")
    if words[1] == "UNKNOWN":
        return ProxyHeader(length, None)
    if len(words) != 6 or words[1] not in ("TCP4", "TCP6") or not words[4].isdecimal() or int(words[4]) > 65535:
        raise ValueError(f"it begins with {line!r}")
    return ProxyHeader(length, _peer(words[2], int(words[4]), 4 if words[1] == "TCP4" else 6))


def _second(received: bytes) -> ProxyHeader | None:
    if len(received) < 16:
        return None
    command, family, size = struct.unpack_from("!BBH", received, 12)
    length = 16 + size
    if command not in (_LOCAL, _PROXY) or length > MOST:
        raise ValueError(f"it has command {command:#x} and {length} bytes")
    if len(received) < length:
        return None
    if command == _LOCAL or family not in (_TCP4, _TCP6):
        return ProxyHeader(length, None)
    kind, width, version = (socket.AF_INET, 4, 4) if family == _TCP4 else (socket.AF_INET6, 16, 6)
    if size < 2 * width + 4:
        raise ValueError(f"its addresses have {size} bytes")
    (port,) = struct.unpack_from("!H", received, 16 + 2 * width)
    return ProxyHeader(length, _peer(socket.inet_ntop(kind, received[16 : 16 + width]), port, version))


def _peer(host: str, port: int, version: int) -> PeerAddress:
    address = ip_address(host)
    if address.version != version:
        raise ValueError(f"{host} is no IPv{version} address")
    return (str(address), port) if version == 4 else (str(address), port, 0, 0)
