"""Limits on the sockets, memory and time that peers may use."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TransportSettings:
    """Limits of one server. Sizes are in bytes, times in seconds."""

    max_request: int = field(
        default=1 << 20,
        metadata={
            "unit": "B",
            "least": 1024,
            "help": "Largest message a peer may send; a larger one ends its call with RESOURCE_EXHAUSTED.",
        },
    )
    max_request_untrusted: int = field(
        default=16 << 10,
        metadata={"unit": "B", "least": 1024, "help": "The same in a call that is not authenticated yet."},
    )
    max_memory_untrusted: int = field(
        default=8 << 20,
        metadata={
            "unit": "B",
            "least": 1 << 20,
            "help": "Memory for waiting messages of all such calls, unpacked, and an eighth of their unread answers; "
            "beyond it the largest end.",
        },
    )
    request_timeout: float = field(
        default=10.0,
        metadata={
            "unit": "s",
            "least": 0.1,
            "help": "Time from the beginning of a message to its end; then its call ends.",
        },
    )
    work_untrusted: float = field(
        default=10.0,
        metadata={
            "unit": "%",
            "least": 0.1,
            "most": 10_000,
            "help": "Share of a core that one address may use for calls without a valid token, saved up for 10 s; "
            "beyond it such calls are refused or wait.",
        },
    )
    max_response: int = field(
        default=16 << 20,
        metadata={"unit": "B", "least": 1024, "help": "Largest message the server may send."},
    )
    max_unsent: int = field(
        default=32 << 20,
        metadata={
            "unit": "B",
            "least": 1024,
            "help": "Unread bytes at which a peer is disconnected; flow control keeps most far below.",
        },
    )
    max_metadata: int = field(
        default=4 << 10,
        metadata={
            "unit": "B",
            "least": 1024,
            "help": "Largest headers of a call; larger ones end it with RESOURCE_EXHAUSTED.",
        },
    )
    calls_per_connection: int = field(
        default=8,
        metadata={"least": 1, "help": "Most open calls of a connection; more wait at the client."},
    )
    ping_after: float = field(
        default=5.0,
        metadata={
            "unit": "s",
            "least": 0.1,
            "help": "Silence on a connection with an open call after which the peer is pinged.",
        },
    )
    ping_timeout: float = field(
        default=5.0,
        metadata={
            "unit": "s",
            "least": 0.1,
            "help": "Time for a pinged peer to answer before its connection counts as lost.",
        },
    )
    handshake_timeout: float = field(
        default=5.0,
        metadata={"unit": "s", "least": 0.1, "help": "Time for TLS and HTTP/2 settings of a new connection."},
    )
    idle_timeout: float = field(
        default=60.0,
        metadata={
            "unit": "s",
            "least": 0.1,
            "help": "Time without a call after which a peer gets GOAWAY.",
        },
    )
    connections: int = field(
        default=4000,
        metadata={
            "least": 1,
            "help": "Most connections, of bots and readers; fewer if the process may open fewer files.",
        },
    )
    connections_per_address: int = field(
        default=200,
        metadata={
            "least": 1,
            "help": "Most of them from one IPv4 address or IPv6 /64; this machine has no such limit.",
        },
    )
    proxies: str | None = field(
        default=None,
        metadata={
            "help": "Addresses and networks of proxies, separated by commas. Their connections begin with a PROXY "
            "protocol header, version 1 or 2, and count for its address.",
        },
    )
    unix_socket: Path | None = field(
        default=None,
        metadata={
            "help": "Path of a further socket, for unix:PATH without TLS, for this user's programs; by default "
            "arena.socket in the data directory. Its connections have their own budget, or a PROXY protocol "
            "header.",
        },
    )
