"""Limits on the sockets, memory and time that peers may cost the server; nothing is unlimited."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class TransportSettings:
    """Limits of one server; sizes in bytes, times in seconds."""

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
        metadata={"unit": "B", "least": 1024, "help": "The same in a call that is not authenticated, or not yet."},
    )
    max_memory_untrusted: int = field(
        default=8 << 20,
        metadata={
            "unit": "B",
            "least": 1 << 20,
            "help": "What all such calls may have waiting in the server, unpacked, and an eighth of the answers that "
            "their peers leave unread; beyond it the largest end.",
        },
    )
    request_timeout: float = field(
        default=10.0,
        metadata={
            "unit": "s",
            "least": 0.1,
            "help": "Time from the beginning of a message to its end; a call that takes longer ends.",
        },
    )
    work_untrusted: float = field(
        default=10.0,
        metadata={
            "unit": "%",
            "least": 0.1,
            "most": 10_000,
            "help": "Processor time that one address may take for calls without a valid token, of a core; saved up "
            "for 10 s. Beyond it such calls are refused or wait.",
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
            "help": "What a peer may leave unread before it is cut off; flow control keeps most far below.",
        },
    )
    max_metadata: int = field(
        default=4 << 10,
        metadata={
            "unit": "B",
            "least": 1024,
            "help": "Headers of a call; a call with more ends with RESOURCE_EXHAUSTED.",
        },
    )
    calls_per_connection: int = field(
        default=8,
        metadata={"least": 1, "help": "Calls a connection may have open at once; more wait at the client."},
    )
    ping_after: float = field(
        default=5.0,
        metadata={
            "unit": "s",
            "least": 0.1,
            "help": "Silence on a connection after which the peer is pinged, as long as it has a call open.",
        },
    )
    ping_timeout: float = field(
        default=5.0,
        metadata={
            "unit": "s",
            "least": 0.1,
            "help": "Time a pinged peer has to answer before its connection counts as lost.",
        },
    )
    handshake_timeout: float = field(
        default=5.0,
        metadata={"unit": "s", "least": 0.1, "help": "Time a new connection has for TLS and HTTP/2 settings."},
    )
    idle_timeout: float = field(
        default=60.0,
        metadata={
            "unit": "s",
            "least": 0.1,
            "help": "Time without a call after which a peer is asked to go, and to come again when it has one.",
        },
    )
    connections: int = field(
        default=4000,
        metadata={
            "least": 1,
            "help": "Most connections at once, of bots and readers; fewer where the process may open fewer files.",
        },
    )
    connections_per_address: int = field(
        default=200,
        metadata={
            "least": 1,
            "help": "Most of them from one IPv4 address or IPv6 /64; this machine is free to have all.",
        },
    )
    proxies: str | None = field(
        default=None,
        metadata={
            "help": "Addresses and networks of proxies, with commas between. Their connections begin with a header of "
            "the PROXY protocol, version 1 or 2, and count as of the address that it tells.",
        },
    )
    unix_socket: Path | None = field(
        default=None,
        metadata={
            "help": "Listen at this path of the file system, too, as unix:PATH without TLS, for this user's programs; "
            "by default at arena.socket in the data directory. Who comes that way has a budget and connections of his "
            "own, or says by the PROXY protocol whose they are.",
        },
    )
