"""The addresses of the nodes of one server: given as a list, or as one address with consecutive ports."""

from __future__ import annotations

import socket
from collections.abc import Callable
from typing import Final

from trio_grpc.http2.sockets import host_and_port

_LAST_PORT: Final = 65535
_ANY: Final = ("", "0.0.0.0", "[::]")  # noqa: S104 - compared, not bound


def addresses_of(text: str, processes: int, parse: Callable[[str], object] = host_and_port) -> list[str]:
    """Return the addresses of `processes` nodes, from one address or a list separated by commas. `parse` checks each.

    Raises:
        ValueError: An address is invalid, or their number is wrong.
    """
    listed = [each.strip() for each in text.split(",")]
    for each in listed:
        parse(each)
    if len(listed) == processes:
        return listed
    if len(listed) > 1:
        raise ValueError(
            f"{text} lists {len(listed)} addresses, but processes is {processes}: list one for each, or the first alone"
        )
    host, _, port = text.rpartition(":")
    first = int(port)
    if first and first + processes - 1 > _LAST_PORT:
        raise ValueError(f"{text} leaves no ports for {processes} processes: choose a lower one")
    return [f"{host}:{first + index if first else 0}" for index in range(processes)]


def dialled(address: str) -> str:
    """Return an address for bots, as `HOST:PORT` without a scheme.

    The host is empty if the address stands for all interfaces.
    """
    host, _, port = address.rpartition("//")[2].rpartition(":")
    return f":{port}" if host in _ANY else f"{host}:{port}"


def with_port(address: str) -> str:
    """Return the address. Port 0 is replaced by a free port."""
    host, port = host_and_port(address)
    if port:
        return address
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    with socket.socket(family, socket.SOCK_STREAM) as trial:
        trial.bind((host, 0))
        return f"{address.rpartition(':')[0]}:{trial.getsockname()[1]}"
