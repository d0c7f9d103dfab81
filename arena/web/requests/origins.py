"""Whose a request is: the peer's address, or what a proxy that is named tells of it."""

from __future__ import annotations

import re
from ipaddress import ip_address
from typing import Final

from starlette.datastructures import Headers

from arena.transport.proxy_protocol import Networks, among

FOR: Final = re.compile(r'(?:^|;)\s*for\s*=\s*("[^"]*"|[^;,\s]*)', re.IGNORECASE)
"""The address in an element of `Forwarded` (RFC 7239, section 4)."""
HOPS: Final = 20
"""Addresses of a header that are looked at, the last ones."""


def reader_address(peer: str, headers: Headers, proxies: Networks) -> str:
    """Return the numeric address of who asks.

    A proxy adds whom it had the request from at the end of `X-Forwarded-For` or `Forwarded`; what stands before that
    anybody may have made up. So the last address counts that is no named proxy's; what another peer tells does not.
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
    """Return the address of "192.0.2.1", "192.0.2.1:80", "2001:db8::1" or "[2001:db8::1]:80"; None of anything else."""
    if told.startswith("["):
        told = told[1:].partition("]")[0]
    elif told.count(":") == 1:
        told = told.partition(":")[0]
    try:
        return str(ip_address(told))
    except ValueError:
        return None
