"""What a connection may cost the server, as gRPC channel options; nothing is unlimited."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Settings:
    """Limits of one server; sizes in bytes, times in seconds."""

    max_request: int = 1 << 20
    """Largest message a peer may send; a larger one ends its call with RESOURCE_EXHAUSTED."""
    max_response: int = 16 << 20
    """Largest message the server may send."""
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

    def options(self) -> list[tuple[str, int]]:
        """The same as the option list of a gRPC server."""
        return [
            ("grpc.max_receive_message_length", self.max_request),
            ("grpc.max_send_message_length", self.max_response),
            # Between the two gRPC refuses at random.
            ("grpc.max_metadata_size", self.max_metadata),
            ("grpc.absolute_max_metadata_size", self.max_metadata),
            ("grpc.max_concurrent_streams", self.calls_per_connection),
            ("grpc.keepalive_time_ms", round(1000 * self.ping_after)),
            # grpc.keepalive_timeout_ms, the documented name, is ignored by grpcio 1.85.
            ("grpc.http2.ping_timeout_ms", round(1000 * self.ping_timeout)),
            ("grpc.server_handshake_timeout_ms", round(1000 * self.handshake_timeout)),
            # Bots may ping as they like; by default the server hangs up on the third ping.
            ("grpc.http2.max_ping_strikes", 0),
            # Windows of a fixed 64 KiB: a handler that is busy leaves so much unread, not the 4 MiB of a grown window.
            ("grpc.http2.bdp_probe", 0),
            # By default a second server shares the port silently and takes half of the connections.
            ("grpc.so_reuseport", 0),
        ]
