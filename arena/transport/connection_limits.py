"""Limits on the number of open connections, in all and of one address.

Connections beyond a limit are closed without GOAWAY: gRPC clients answer one by reconnecting at once, but wait after a
connection that was closed. Loopback and Unix sockets have no limit of their own: behind their connections are users of
this machine, or a proxy with many clients that does not tell whose they are.
"""

from __future__ import annotations

import math
import resource
from collections import Counter
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Final, NewType

import structlog

Origin = NewType("Origin", str)
"""The address or network whose connections are counted together; see `origin_of`."""

LOOPBACK: Final = Origin("loopback")
UNIX: Final = Origin("unix socket")
RESERVED_FILES: Final = 64
"""Open files kept for everything but connections: the process's own files, pipes and databases."""
IPV6_PREFIX: Final = 64
"""Bits of an IPv6 address that identify its network; its owner chooses the others freely."""
LOG_INTERVAL: Final = 10.0
"""Seconds between two lines in the log about rejected connections, at least."""

log = structlog.get_logger(__name__)


class ConnectionLimits:
    """Counters of the open connections, in all and by origin."""

    def __init__(self, connections: int, connections_per_address: int) -> None:
        """Set the limits; that on all connections is lowered to what the process may open files for."""
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.connections = (
            connections if files == resource.RLIM_INFINITY else max(1, min(connections, files - RESERVED_FILES))
        )
        self._connections_per_address = connections_per_address
        self._by_origin: Counter[Origin] = Counter()
        self._count = 0
        self._rejected = 0
        self._logged_at = -math.inf
        if self.connections < connections:
            log.info(
                "fewer connections than allowed: the process may open few files",
                connections=self.connections,
                files=files,
            )

    def admit(self, host: str, now: float) -> Origin | None:
        """Count a new connection from a numeric address; None where a limit is reached and it has to be closed.

        The returned origin is to be passed to `release` when the connection is closed.
        """
        origin = origin_of(host)
        if self._count >= self.connections:
            reason = f"there are {self._count}, the most at once (connections)"
        elif origin not in (LOOPBACK, UNIX) and self._by_origin[origin] >= self._connections_per_address:
            reason = f"{origin} has {self._by_origin[origin]}, the most of one address (connections_per_address)"
        else:
            self._count += 1
            self._by_origin[origin] += 1
            return origin
        self._rejected += 1
        if now - self._logged_at >= LOG_INTERVAL:
            log.warning("connections rejected", count=self._rejected, last=reason)
            self._logged_at, self._rejected = now, 0
        return None

    def release(self, origin: Origin) -> None:
        """Stop counting a connection that was admitted."""
        self._count -= 1
        self._by_origin[origin] -= 1
        if not self._by_origin[origin]:
            del self._by_origin[origin]


def origin_of_peer(peer: str) -> Origin:
    """Return the origin of a call's peer, such as "ipv4:127.0.0.1:40312", "ipv6:[::1]:40312" or "unix:"."""
    family, _, address = peer.partition(":")
    return UNIX if family == "unix" else origin_of(address.rpartition(":")[0].strip("[]"))


def origin_of(host: str) -> Origin:
    """Return the origin of a numeric address: `LOOPBACK`, the IPv4 address, or the /64 network of an IPv6 address.

    A peer of a Unix socket has none: `UNIX`.
    """
    if not host:
        return UNIX
    address = ip_address(host.partition("%")[0])
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is None:
            return LOOPBACK if address.is_loopback else Origin(str(IPv6Network((address, IPV6_PREFIX), strict=False)))
        address = address.ipv4_mapped
    return LOOPBACK if address.is_loopback else Origin(str(address))
