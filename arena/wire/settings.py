"""What connections may cost the server; nothing is unlimited."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits of one server; sizes in bytes, times in seconds."""

    max_request: int = 1 << 20
    """Largest message a peer may send; a larger one ends its call with RESOURCE_EXHAUSTED."""
    max_response: int = 16 << 20
    """Largest message the server may send."""
    max_unsent: int = 32 << 20
    """What a peer may leave unread before it is cut off; flow control keeps most far below."""
    max_metadata: int = 8 << 10
    """Headers of a call; a call with more ends with RESOURCE_EXHAUSTED."""
    calls_per_connection: int = 8
    """Calls a connection may have open at once; more wait at the client."""
    ping_after: float = 5.0
    """Silence on a connection after which the peer is pinged, as long as it has a call open."""
    ping_timeout: float = 5.0
    """Time a pinged peer has to answer before its connection counts as lost."""
    handshake_timeout: float = 5.0
    """Time a new connection has for TLS and HTTP/2 settings."""
    idle_timeout: float = 60.0
    """Time without a call after which a peer is asked to go, and to come again when it has one."""
    connections: int = 4000
    """Connections there may be at once; fewer where the process may open fewer files."""
    connections_per_address: int = 200
    """Those that one address may have, or one /64 of IPv6; loopback may have all."""
