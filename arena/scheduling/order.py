# Compiled: every decision passes through here.
"""Candidates sorted by a priority, with iteration over each owner's first candidate."""

from __future__ import annotations

from bisect import bisect_left, insort
from collections.abc import Hashable, Iterator
from math import inf
from typing import Generic, TypeAlias, TypeVar

from arena.scheduling.candidate import Candidate

BotT = TypeVar("BotT", bound=Hashable)
Entry: TypeAlias = tuple[float, float, float, int]
"""Three numbers that form a candidate's priority, then the candidate's number. The smallest entry comes first."""


class Order(Generic[BotT]):
    """Candidates sorted by priority, with iteration over each owner's first candidate.

    Sorted lists are enough: with thousands of bots a search and an insertion take about a microsecond.
    """

    def __init__(self) -> None:
        self._candidates: dict[int, Candidate[BotT]] = {}
        self._entries: dict[int, Entry] = {}
        self._own: dict[str, list[Entry]] = {}
        self._heads: list[Entry] = []

    def __len__(self) -> int:
        """Return the number of owners."""
        return len(self._heads)

    def has_owner(self, owner: str) -> bool:
        """Return True if there is a candidate of this owner."""
        return owner in self._own

    def put(self, candidate: Candidate[BotT], first: float, second: float, third: float) -> None:
        """Add a candidate with its priority, or change its priority."""
        entry = (first, second, third, candidate.number)
        if self._entries.get(candidate.number) == entry:
            return
        self.discard(candidate)
        self._candidates[candidate.number] = candidate
        self._entries[candidate.number] = entry
        own = self._own.setdefault(candidate.waiting.owner, [])
        if not own or entry < own[0]:
            if own:
                del self._heads[bisect_left(self._heads, own[0])]
            insort(self._heads, entry)
        insort(own, entry)

    def discard(self, candidate: Candidate[BotT]) -> None:
        """Remove a candidate, if it is here."""
        entry = self._entries.pop(candidate.number, None)
        if entry is None:
            return
        del self._candidates[candidate.number]
        own = self._own[candidate.waiting.owner]
        at = bisect_left(own, entry)
        del own[at]
        if at == 0:
            del self._heads[bisect_left(self._heads, entry)]
            if own:
                insort(self._heads, own[0])
            else:
                del self._own[candidate.waiting.owner]

    def first(self) -> Candidate[BotT] | None:
        """Return the candidate with the smallest priority, or None."""
        return self._candidates[self._heads[0][3]] if self._heads else None

    def all(self) -> Iterator[Candidate[BotT]]:
        """Iterate over all candidates, in no particular order."""
        return iter(self._candidates.values())

    def heads(self) -> Iterator[Candidate[BotT]]:
        """Iterate over the first candidates of all owners, in order."""
        for entry in self._heads:
            yield self._candidates[entry[3]]

    def heads_between(self, least: float, most: float) -> Iterator[Candidate[BotT]]:
        """Iterate over the owners' first candidates whose first priority number is from `least` to `most`."""
        for at in range(bisect_left(self._heads, (least, -inf, -inf, -1)), len(self._heads)):
            entry = self._heads[at]
            if entry[0] > most:
                break
            yield self._candidates[entry[3]]
