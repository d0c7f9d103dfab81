"""Optional features of the protocol beyond its first version. A stream uses those that the client and this server both
support.
"""

from __future__ import annotations

from collections.abc import Collection

FEATURES: Collection[str] = ()
"""Names of the features that this server supports; none is defined yet."""


def held(understood: Collection[str]) -> tuple[str, ...]:
    """Return the features that both sides support. `understood`: the client's features."""
    return tuple(name for name in understood if name in FEATURES)
