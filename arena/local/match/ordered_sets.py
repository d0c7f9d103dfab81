"""The sets of a match in the order of their numbers (not of their completion), with the state of their test."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.local.match.comparison import Comparison, compare
from arena.local.match.sequential import RunningTest, SequentialState, SequentialTest, bounds, decide
from arena.local.match.sets import set_score

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arena.local.match.sets import PlayedSet, Subject


class OrderedSets:
    """The sets of a pair up to the first one that is missing. Later sets do not count yet."""

    def __init__(self, subject: Subject, pair: tuple[int, int], most: int, test: SequentialTest | None) -> None:
        """Accept at most `most` sets; with a test, no sets after its decision."""
        self.pair = pair
        self.most = most
        self.test = test
        self.scores: list[float] = []
        """The first bot's points minus the other's in each set."""
        self.running = None if test is None else RunningTest(test)
        self._subject = subject

    @property
    def names(self) -> tuple[str, str]:
        """The two bots as given on the command line."""
        one, other = self.pair
        return self._subject.bots[one], self._subject.bots[other]

    @property
    def state(self) -> SequentialState | None:
        """State of the test; None without one."""
        return None if self.running is None else self.running.state

    @property
    def enough(self) -> bool:
        """True if no more sets are needed."""
        decided = self.running is not None and not self.running.undecided
        return decided or len(self.scores) >= self.most

    def add(self, played: PlayedSet) -> None:
        """Add the next set, unless there are enough."""
        if self.enough:
            return
        own = self._subject.of_pair(self.pair, played)
        self.scores.append(set_score(self._subject.design, own))
        if self.running is not None and self.test is not None:
            self.running.update(self.test.score(self._subject.design, own))

    def comparison(self, found: Mapping[int, PlayedSet]) -> Comparison | None:
        """Compare the two bots by the added sets; return None without sets."""
        if not self.scores:
            return None
        sets = [self._subject.of_pair(self.pair, found[number]) for number in range(len(self.scores))]
        return compare(self._subject.design, sets)


class OrderedPairs:
    """The sets of every pair of a match."""

    def __init__(self, subject: Subject, most: int, test: SequentialTest | None) -> None:
        """Accept at most `most` sets for each pair; with a test, no sets after the pair's own decision."""
        self.most = most
        self.test = test
        self.pairs = [OrderedSets(subject, pair, most, test) for pair in subject.pairs]
        self._tests = [each.running for each in self.pairs if each.running is not None]

    @property
    def sets(self) -> int:
        """The largest number of sets that any pair has."""
        return max(len(each.scores) for each in self.pairs)

    @property
    def enough(self) -> bool:
        """True if no pair needs more sets."""
        return all(each.enough for each in self.pairs)

    @property
    def sets_left(self) -> float:
        """The number of sets until no pair needs more. With a test it is an estimate, or infinite if unknown."""
        most = self.most - self.sets
        if not self._tests:
            return most
        left = max((each.sets_left(*bounds(self._tests)) for each in self._tests if each.undecided), default=0.0)
        return min(left, most) if left < float("inf") else left

    def take(self, found: Mapping[int, PlayedSet]) -> None:
        """Add to every pair the sets that come next, up to the first missing set."""
        while not self.enough and (played := found.get(self.sets)) is not None:
            for each in self.pairs:
                each.add(played)
            decide(self._tests)
