"""The checks, one file per part of the protocol."""

from __future__ import annotations

from collections.abc import Collection
from typing import Final

from arena.local.check.check import Check
from arena.local.check.checks import (
    arriving,
    connections,
    invitations,
    mishaps,
    newer_servers,
    playing,
    record,
)

_FILES: Final = (
    arriving,
    invitations,
    playing,
    newer_servers,
    mishaps,
    connections,
    record,
)
CHECKS: Final = {each.name: each for file in _FILES for each in vars(file).values() if isinstance(each, Check)}
"""All checks by name, in order."""


def with_needs(names: Collection[str]) -> list[Check]:
    """Return the named checks and the checks that they require, in order."""
    wanted: set[str] = set()
    todo = list(names)
    while todo:
        name = todo.pop()
        if name not in wanted:
            wanted.add(name)
            todo += CHECKS[name].needs
    return [each for each in CHECKS.values() if each.name in wanted]
