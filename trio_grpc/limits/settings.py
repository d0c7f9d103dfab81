"""Limits on the sockets, memory and time that peers may use."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

T = TypeVar("T")


def setting(default: T, help_text: str, **more: object) -> T:
    """Declare a setting with its default and its meaning. `more`: its unit, minimum and maximum value, or choices.

    Compiled modules use `dataclasses.field`, because mypyc does not know this function.
    """
    declared: Any = field(default=default, metadata={"help": help_text, **more})
    value: T = declared
    return value


@dataclass(frozen=True, slots=True)
class TransportSettings:
    """Limits of one server. Sizes are in bytes, times in seconds."""

    max_request: int = setting(
        1 << 20,
        "Largest message a peer may send; a larger one ends its call with RESOURCE_EXHAUSTED.",
        unit="B",
        least=1024,
    )
    max_request_untrusted: int = setting(
        16 << 10, "The same in a call that is not authenticated yet.", unit="B", least=1024
    )
    max_memory_untrusted: int = setting(
        8 << 20,
        "Memory for waiting messages of all such calls, unpacked, and an eighth of their unread answers; "
        "beyond it the largest end.",
        unit="B",
        least=1 << 20,
    )
    request_timeout: float = setting(
        10.0, "Time from the beginning of a message to its end; then its call ends.", unit="s", least=0.1
    )
    work_untrusted: float = setting(
        10.0,
        "Share of a core that one address may use for calls without a valid token, saved up for 10 s; "
        "beyond it such calls are refused or wait.",
        unit="%",
        least=0.1,
        most=10_000,
    )
    max_response: int = setting(16 << 20, "Largest message the server may send.", unit="B", least=1024)
    max_unsent: int = setting(
        32 << 20,
        "Unread bytes at which a peer is disconnected; flow control keeps most far below.",
        unit="B",
        least=1024,
    )
    max_metadata: int = setting(
        4 << 10, "Largest headers of a call; larger ones end it with RESOURCE_EXHAUSTED.", unit="B", least=1024
    )
    calls_per_connection: int = setting(8, "Most open calls of a connection; more wait at the client.", least=1)
    ping_after: float = setting(
        5.0, "Silence on a connection with an open call after which the peer is pinged.", unit="s", least=0.1
    )
    ping_timeout: float = setting(
        5.0, "Time for a pinged peer to answer before its connection counts as lost.", unit="s", least=0.1
    )
    handshake_timeout: float = setting(
        5.0, "Time for TLS and HTTP/2 settings of a new connection.", unit="s", least=0.1
    )
    idle_timeout: float = setting(60.0, "Time without a call after which a peer gets GOAWAY.", unit="s", least=0.1)
    connections: int = setting(
        4000, "Most connections, of bots and readers; fewer if the process may open fewer files.", least=1
    )
    connections_per_address: int = setting(
        200, "Most of them from one IPv4 address or IPv6 /64; this machine has no such limit.", least=1
    )
    proxies: str | None = setting(
        None,
        "Addresses and networks of proxies, separated by commas. Their connections begin with a PROXY "
        "protocol header, version 1 or 2, and count for its address.",
    )
    unix_socket: Path | None = setting(
        None,
        "Path of a further socket, for unix:PATH without TLS, for this user's programs; by default "
        "arena.socket in the data directory. Its connections have their own budget, or a PROXY protocol "
        "header.",
    )
