"""Limits on the number of open connections, in total and per address.

Connections beyond a limit are closed without GOAWAY: after GOAWAY, gRPC clients reconnect at once, but otherwise they
wait first. Loopback and Unix sockets have no limit per address, because their connections come from users of
this machine, or from a proxy with many clients that does not report their addresses.
"""

from __future__ import annotations

import math
import resource
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Final, NewType

import structlog

Origin = NewType("Origin", str)
"""The address or network whose connections are counted together (see `origin_of`)."""

LOOPBACK: Final = Origin("loopback")
UNIX: Final = Origin("unix socket")
RESERVED_FILES: Final = 64
"""Number of open files reserved for purposes other than connections: the process's own files, pipes and databases."""
IPV6_PREFIX: Final = 64
"""Number of bits of an IPv6 address that identify its network. The network's owner can choose the other bits freely."""
LOG_INTERVAL: Final = 10.0
"""Minimum time in seconds between two log lines about rejected connections."""

log = structlog.get_logger(__name__)


class TooManyOpen(Exception):  # noqa: N818 - the name says what is the matter
    """A limit on open connections or calls has been reached."""

    def __init__(self, count: int, origin: Origin | None) -> None:
        super().__init__(f"{count} are open, the most at once{'' if origin is None else f' of {origin}'}")
        self.count = count
        """Number of open connections, in total or of the origin."""
        self.origin = origin
        """The origin that has reached its limit, or None for the limit on the total."""


class OpenByOrigin:
    """Counts of open connections or calls, in total and by origin. Only the total limits origins on this machine."""

    def __init__(self, most: int, most_of_origin: int) -> None:
        self.count = 0
        self._most = most
        self._most_of_origin = most_of_origin
        self._by_origin: Counter[Origin] = Counter()

    def add(self, origin: Origin) -> None:
        """Add one to an origin's count. Raises: TooManyOpen."""
        if self.count >= self._most:
            raise TooManyOpen(self.count, None)
        if origin not in (LOOPBACK, UNIX) and self._by_origin[origin] >= self._most_of_origin:
            raise TooManyOpen(self._by_origin[origin], origin)
        self.count += 1
        self._by_origin[origin] += 1

    def remove(self, origin: Origin) -> None:
        """Subtract one from an origin's count."""
        self.count -= 1
        self._by_origin[origin] -= 1
        if not self._by_origin[origin]:
            del self._by_origin[origin]

    @contextmanager
    def counted(self, origin: Origin) -> Iterator[None]:
        """Add one to an origin's count for the duration of the block. Raises: TooManyOpen."""
        self.add(origin)
        try:
            yield
        finally:
            self.remove(origin)


class ConnectionLimits:
    """Admits connections, and logs those that are rejected."""

    def __init__(self, connections: int, connections_per_address: int) -> None:
        """Set the limits; the process's limit on open files bounds the total."""
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.connections = (
            connections if files == resource.RLIM_INFINITY else max(1, min(connections, files - RESERVED_FILES))
        )
        self._open = OpenByOrigin(self.connections, connections_per_address)
        self._rejected = 0
        self._logged_at = -math.inf
        if self.connections < connections:
            log.info(
                "fewer connections than allowed: the process may open few files",
                connections=self.connections,
                files=files,
            )

    def admit(self, host: str, now: float) -> Origin | None:
        """Count a new connection from a numeric address. Return its origin, or None if a limit is reached and the
        connection must be closed.

        Pass the origin to `release` when the connection is closed.
        """
        origin = origin_of(host)
        try:
            self._open.add(origin)
        except TooManyOpen as full:
            self._rejected += 1
            if now - self._logged_at >= LOG_INTERVAL:
                setting = "connections" if full.origin is None else "connections_per_address"
                log.warning("connections rejected", count=self._rejected, last=f"{full} ({setting})")
                self._logged_at, self._rejected = now, 0
            return None
        return origin

    def release(self, origin: Origin) -> None:
        """Stop counting an admitted connection."""
        self._open.remove(origin)


def origin_of_peer(peer: str) -> Origin:
    """Return the origin of a call's peer, such as "ipv4:127.0.0.1:40312", "ipv6:[::1]:40312" or "unix:"."""
    family, _, address = peer.partition(":")
    return UNIX if family == "unix" else origin_of(address.rpartition(":")[0].strip("[]"))


def origin_of(host: str) -> Origin:
    """Return the origin of a numeric address: `LOOPBACK`, the IPv4 address, or the /64 network of an IPv6 address.

    For a peer at a Unix socket, which has no address, it is `UNIX`.
    """
    if not host:
        return UNIX
    address = ip_address(host.partition("%")[0])
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is None:
            return LOOPBACK if address.is_loopback else Origin(str(IPv6Network((address, IPV6_PREFIX), strict=False)))
        address = address.ipv4_mapped
    return LOOPBACK if address.is_loopback else Origin(str(address))
