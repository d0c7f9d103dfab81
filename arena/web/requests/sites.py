"""The origin of a request: its address, and the site of the page that sends it. Few sites may do more than read.

A browser sends a page's origin, and the name by which it reached the server. Any visited page can open a WebSocket or
send a form to a server on the visitor's machine. So the origin must be the server's own or one from the settings. Any
page's host name can resolve to that machine (DNS rebinding). So the name must be one of the server's.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from starlette.datastructures import Headers

from arena.web.answers.addresses import ORIGIN, WILDCARDS, numeric_address
from trio_grpc.http2.proxy_protocol import Networks, among

LOOPBACK: Final = ("localhost", "127.0.0.1", "::1")
FOR: Final = re.compile(r'(?:^|;)\s*for\s*=\s*("[^"]*"|[^;,\s]*)', re.IGNORECASE)
"""The address in an element of `Forwarded` (RFC 7239, section 4)."""
HOPS: Final = 20
"""Maximum number of addresses that are read from a header, counted from its end."""


class SiteRefused(Exception):  # noqa: N818 - a decision, not an error
    """A request from a page, or with a server name, that may only read. The message states the reason."""

    def __init__(self, reason: str, text: str) -> None:
        super().__init__(text)
        self.reason = reason
        """The reason for programs: HOST_UNKNOWN or ORIGIN_REFUSED."""


def site_names(web_origin: str) -> Mapping[str, str]:
    """Parse origins separated by commas. Return the host and port of each.

    Raises:
        ValueError: an origin is invalid.
    """
    named: dict[str, str] = {}
    for word in web_origin.split(","):
        found = ORIGIN.fullmatch(word.strip().lower())
        if found is None:
            raise ValueError(f"{word.strip()!r} is no origin, such as https://arena.example or http://192.0.2.7:8080")
        named[found[0]] = found[2]
    return named


def frame_ancestors(embed_origins: str) -> str:
    """Parse the setting of the sites that may show a match in a frame. Return them in the format of a content security
    policy.

    Raises:
        ValueError: a site is invalid.
    """
    if embed_origins in {"", "*"}:
        return "*"
    if embed_origins == "none":
        return "'none'"
    try:
        return " ".join(site_names(embed_origins))
    except ValueError as error:
        raise ValueError(f"{error}; * allows all sites, none no site") from None


class Sites:
    """The origins and names that are allowed to do more than read."""

    def __init__(self, listens: str, web_origin: str, own: str = "") -> None:
        """`listens` is the host on which the server listens. The other arguments may be empty.

        `web_origin`: origins as for `site_names`. `own`: the public origin of the pages themselves.
        """
        self._origins = {name: host for each in (web_origin, own) if each for name, host in site_names(each).items()}
        self._everywhere = listens in WILDCARDS
        self._hosts = {*LOOPBACK, listens.lower(), *map(_without_port, self._origins.values())}

    def check(self, headers: Headers) -> None:
        """Check the headers Host and Origin of a request.

        Raises:
            SiteRefused: the name or the page is not allowed.
        """
        host, origin = headers.get("host", ""), headers.get("origin")
        named = _without_port(host.lower())
        if named not in self._hosts and not (self._everywhere and numeric_address(named) is not None):
            raise SiteRefused(
                "HOST_UNKNOWN",
                f"only reading is allowed at the name {host[:100]!r}: it is neither what the server was told to listen "
                "at nor a name of this machine; the operator names it by --web-origin",
            )
        if origin is None or origin.lower() in self._origins:
            return
        found = ORIGIN.fullmatch(origin.lower())
        if found is None or found[2] != host.lower():
            raise SiteRefused(
                "ORIGIN_REFUSED",
                f"pages of {origin[:100]!r} may only read here; the operator names them by --web-origin",
            )


def _without_port(host: str) -> str:
    return re.sub(r":\d+$", "", host).strip("[]")


UNNAMED: Final = Sites("", "")
"""Sites of a server that listens on all addresses of the machine and has no other name."""


def reader_address(peer: str, headers: Headers, proxies: Networks) -> str:
    """Return the numeric address of a client.

    A proxy appends its peer's address to `X-Forwarded-For` or `Forwarded`, but anybody may have forged the earlier
    addresses. So the last address that is not a trusted proxy's counts. From other peers, these headers are ignored.
    """
    address = peer
    for told in reversed(_told(headers)[-HOPS:]):
        if not address or not among(address, proxies):
            return address
        found = _numeric(told)
        if found is None:
            return address
        address = found
    return address


def _told(headers: Headers) -> list[str]:
    """Return the addresses in the order in which proxies added them."""
    if forwarded := headers.getlist("forwarded"):
        elements = ",".join(forwarded).split(",")
        return [found[1].strip('"') if (found := FOR.search(each)) else "" for each in elements]
    return [each.strip() for each in ",".join(headers.getlist("x-forwarded-for")).split(",")]


def _numeric(told: str) -> str | None:
    """Return the address in "192.0.2.1", "192.0.2.1:80", "2001:db8::1" or "[2001:db8::1]:80", or None."""
    if told.startswith("["):
        told = told[1:].partition("]")[0]
    elif told.count(":") == 1:
        told = told.partition(":")[0]
    address = numeric_address(told)
    return None if address is None else str(address)
