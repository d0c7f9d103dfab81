"""The findings of a log's audit."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from arena.log.tree import EMPTY

MOST_FAULTS: Final = 20
"""Faults that are named; beyond them they are only counted."""


class LogFault(NamedTuple):
    """Something that is not as it must be."""

    number: int | None
    """Number of the leaf; None if the finding is about no single one."""
    text: str


@dataclass(slots=True)
class LogAudit:
    """The result of an audit."""

    leaves: int = 0
    signed: int = 0
    """Leaves under the newest head; the others are signed with the next start."""
    root: bytes = EMPTY
    """The root of all leaves."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Number of leaves of each kind."""
    replays: int | None = None
    """Number of replays compared with their leaves; None if none were to be compared."""
    faults: list[LogFault] = field(default_factory=list)
    """The first of them."""
    more: int = 0
    """Faults that are not among these."""

    def fault(self, number: int | None, text: str) -> None:
        """Add a fault."""
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(LogFault(number, text))
        else:
            self.more += 1
