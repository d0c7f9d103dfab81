"""The gate: how many connections there may be at once, of one address and in all. Whoever comes beyond is sent away.

Without a word: to a farewell in HTTP/2 gRPC clients answer by connecting again at once, to a closed gate after a while.
Loopback counts in all only, for what comes from there has a user of this machine, or a proxy, behind it.
"""

from __future__ import annotations

import math
import resource
from collections import Counter
from ipaddress import IPv6Address, IPv6Network, ip_address
from typing import Final, NewType

import structlog

Origin = NewType("Origin", str)
"""What counts as one address."""

LOOPBACK: Final = Origin("loopback")
RESERVED: Final = 64
"""Files the process may open that are not for connections: the database, the journal, pipes to its workers."""
SUBNET: Final = 64
"""Bits of an IPv6 address that tell networks apart; the rest its owner chooses freely."""
QUIET: Final = 10.0
"""Seconds between two lines in the log."""

log = structlog.get_logger(__name__)


class Gate:
    """Counts who is in."""

    def __init__(self, most: int, most_of_one: int) -> None:
        """So many at once in all, or as many as the process may open files for, and of one address."""
        files, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
        self.most = most if files == resource.RLIM_INFINITY else max(1, min(most, files - RESERVED))
        self._most_of_one = most_of_one
        self._inside: Counter[Origin] = Counter()
        self._count = 0
        self._sent_away = 0
        self._said_at = -math.inf
        if self.most < most:
            log.info(
                "fewer connections than allowed: the process may open few files", connections=self.most, files=files
            )

    def enter(self, host: str, now: float) -> Origin | None:
        """Counts one that came from there, for `leave` to be told; None where there is no room for it."""
        origin = origin_of(host)
        if self._count >= self.most:
            reason = f"there are {self._count}, the most at once"
        elif origin != LOOPBACK and self._inside[origin] >= self._most_of_one:
            reason = f"{origin} has {self._inside[origin]}, the most of one address"
        else:
            self._count += 1
            self._inside[origin] += 1
            return origin
        self._sent_away += 1
        if now - self._said_at >= QUIET:
            log.warning("connections sent away", count=self._sent_away, last=reason)
            self._said_at, self._sent_away = now, 0
        return None

    def leave(self, origin: Origin) -> None:
        """One of those is gone."""
        self._count -= 1
        self._inside[origin] -= 1
        if not self._inside[origin]:
            del self._inside[origin]


def origin_of(host: str) -> Origin:
    """Of a numeric address: itself, its /64 where it is of IPv6, or `LOOPBACK`."""
    address = ip_address(host.partition("%")[0])
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is None:
            return LOOPBACK if address.is_loopback else Origin(str(IPv6Network((address, SUBNET), strict=False)))
        address = address.ipv4_mapped
    return LOOPBACK if address.is_loopback else Origin(str(address))
