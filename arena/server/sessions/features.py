"""The features of the protocol that clients and this server may have beyond its first version."""

from __future__ import annotations

from collections.abc import Collection

FEATURES: Collection[str] = ()
"""Names of the features that this server has; none is defined yet."""


def held(understood: Collection[str]) -> tuple[str, ...]:
    """Return those of the features that a client understands which this server has, too."""
    return tuple(name for name in understood if name in FEATURES)
