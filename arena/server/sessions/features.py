"""Optional features of the protocol, which clients and this server may have beyond its first version."""

from __future__ import annotations

from collections.abc import Collection

FEATURES: Collection[str] = ()
"""Names of the features that this server has; none is defined yet."""


def held(understood: Collection[str]) -> tuple[str, ...]:
    """Return the features that both a client and this server have. `understood`: the client's features."""
    return tuple(name for name in understood if name in FEATURES)
