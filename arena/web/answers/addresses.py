"""The addresses that a page prints: its own, and the one at which bots connect.

They come from the operator's settings, or else from the socket on which the request arrived. The Host header is never
used: the client chooses it, and other users may get a cached copy of the page.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from ipaddress import IPv4Address, IPv6Address, ip_address
from typing import Any, Final

import structlog
from starlette.requests import Request
from starlette.types import Scope

from trio_grpc.http2.sockets import host_and_port

ORIGIN: Final = re.compile(r"(https?)://((?:\[[0-9a-f:.]+\]|[a-z0-9._-]+)(?::\d{1,5})?)")
"""Pattern of an origin in lower case (RFC 6454, 6.2), and its parts."""
URL: Final = re.compile(rf"({ORIGIN.pattern})((?:/[A-Za-z0-9._~-]+)*)/?", re.IGNORECASE)
"""Pattern of an origin with a path."""
WILDCARDS: Final = ("", "0.0.0.0", "::")  # noqa: S104 - to be recognized, not to be bound
"""Host names that mean every address of the machine when a server listens on them."""
SERVER: Final = re.compile(r"(https://)?(\[[0-9a-f:.]+\]|[a-z0-9._-]+):(\d{1,5})", re.ASCII | re.IGNORECASE)
"""Pattern of a host and a port, with an optional scheme for TLS."""

log = structlog.get_logger("arena.web")


@dataclass(frozen=True, slots=True)
class BotAddress:
    """The address at which bots connect."""

    server: str
    """Host and port."""
    tls: bool = False

    @property
    def options(self) -> str:
        """The command-line options that name this server, for a bot or for `arena`."""
        return f"--server {self.server}" + (" --tls" if self.tls else "")


@dataclass(frozen=True, slots=True)
class OwnAddresses:
    """The addresses that a page may print for one request."""

    origin: str | None
    """Scheme, host and port of the pages, before the path of a page. None if unknown."""
    root: str
    """The path of the home page, without a trailing slash."""
    bots: BotAddress | None
    """The address of the bots' server; None if the reader can reach no known address."""

    @property
    def pages(self) -> str | None:
        """The address of the home page, without a trailing slash. None if unknown."""
        return None if self.origin is None else self.origin + self.root


def pages_address(public_url: str) -> tuple[str, str]:
    """Parse the setting `public_url`. Return origin and path, without a trailing slash.

    Raises:
        ValueError: the setting is invalid.
    """
    found = URL.fullmatch(public_url)
    if found is None:
        raise ValueError(
            f"{public_url!r} is no address of pages, such as https://arena.example or http://192.0.2.7:8080"
        )
    return found[1].lower(), found[4]


def bot_address(public_address: str, tls: bool = False) -> BotAddress:
    """Parse the setting `public_address`. `tls` is true if the server itself uses TLS.

    Raises:
        ValueError: the setting is invalid.
    """
    found = SERVER.fullmatch(public_address)
    if found is None or not 0 < int(found[3]) < 65536:
        raise ValueError(
            f"{public_address!r} is no address of a server, such as arena.example:50051, or https://arena.example:443 "
            "with TLS"
        )
    return BotAddress(f"{found[2]}:{found[3]}", tls or found[1] is not None)


class Addresses:
    """The known addresses of the pages and of the server for bots."""

    def __init__(
        self, public_url: str = "", public_address: str = "", listens: BotAddress | None = None, root: str = ""
    ) -> None:
        """`listens` is the address of the bots' server, if these pages have a server. `root` is the path if
        `public_url` is empty.

        Raises: ValueError.
        """
        self.origin, self.root = pages_address(public_url) if public_url else ("", root)
        self._bots = bot_address(public_address, listens is not None and listens.tls) if public_address else None
        self._listens = listens
        self._missing = [] if public_url else ["public_url"]
        if listens is not None and not public_address:
            self._missing.append("public_address")
        self._warned = False

    def of(self, scope: Scope) -> OwnAddresses:
        """Return the addresses for a request."""
        local = None if scope["proxied"] else _local(scope.get("server"))
        if scope["proxied"] and self._missing and not self._warned:
            self._warned = True
            log.warning("pages behind a proxy print no address until it is set", settings=", ".join(self._missing))
        origin = self.origin or (None if local is None else f"http://{_joined(*local)}".removesuffix(":80"))
        bots = self._bots or (None if local is None else self._reachable(local[0]))
        return OwnAddresses(origin, self.root, bots)

    def _reachable(self, local: str) -> BotAddress | None:
        """Return the address of the bots' server for a reader whose request arrived at the local address `local`."""
        if self._listens is None:
            return None
        host, port = host_and_port(self._listens.server)
        if host in WILDCARDS and (host != "0.0.0.0" or ":" not in local):  # noqa: S104 - compared
            return BotAddress(_joined(local, port), self._listens.tls)
        if host in WILDCARDS or (_is_loopback(host) and not _is_loopback(local)):
            return None
        return self._listens


def own_addresses(request: Request) -> OwnAddresses:
    """Return the addresses that the response to a request may contain."""
    addresses: Addresses = request.scope["addresses"]
    return addresses.of(request.scope)


def _local(server: Any) -> tuple[str, int] | None:
    """Return the socket's own address, or None for a Unix socket."""
    if not isinstance(server, tuple | list) or not isinstance(server[1], int):
        return None
    address = numeric_address(server[0].partition("%")[0])
    if address is None:
        return None
    return str(getattr(address, "ipv4_mapped", None) or address), server[1]


def _joined(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _is_loopback(host: str) -> bool:
    address = numeric_address(host)
    return host == "localhost" or (address is not None and address.is_loopback)


def numeric_address(host: str) -> IPv4Address | IPv6Address | None:
    """Return an address written in numbers, or None for other text."""
    try:
        return ip_address(host)
    except ValueError:
        return None
