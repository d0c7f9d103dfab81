"""What a connection may cost the server; nothing is unlimited."""

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
