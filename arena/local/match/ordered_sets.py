"""The sets of a match in the order of their numbers, whichever was finished first, and what a test says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.local.match.comparison import (
    Comparison,
    RunningTest,
    SequentialOutcome,
    SequentialState,
    SequentialTest,
    compare,
    set_score,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arena.local.match.sets import PlayedSet, Subject


class OrderedSets:
    """The sets of a pair from the first on without a gap: only these count."""

    def __init__(self, subject: Subject, pair: tuple[int, int], most: int, test: SequentialTest | None) -> None:
        """At most so many sets; with a test, none after its decision."""
        self.pair = pair
        self.most = most
        self.test = test
        self.scores: list[float] = []
        """The first bot's points less the other's, by set."""
        self._subject = subject
        self._running = None if test is None else RunningTest(test)

    @property
    def names(self) -> tuple[str, str]:
        """The two bots as given on the command line."""
        one, other = self.pair
        return self._subject.bots[one], self._subject.bots[other]

    @property
    def state(self) -> SequentialState | None:
        """Where the test stands; None without one."""
        return None if self._running is None else self._running.state

    @property
    def enough(self) -> bool:
        """True if no more sets are needed."""
        decided = self._running is not None and self._running.state.outcome is not SequentialOutcome.UNDECIDED
        return decided or len(self.scores) >= self.most

    def take(self, found: Mapping[int, PlayedSet]) -> None:
        """Go on as far as there are sets."""
        while not self.enough and (played := found.get(len(self.scores))) is not None:
            score = set_score(self._subject.design, self._subject.of_pair(self.pair, played))
            self.scores.append(score)
            if self._running is not None:
                self._running.add(score)

    def comparison(self, found: Mapping[int, PlayedSet]) -> Comparison | None:
        """Compare the two by the sets that were taken; None without any."""
        if not self.scores:
            return None
        sets = [self._subject.of_pair(self.pair, found[number]) for number in range(len(self.scores))]
        return compare(self._subject.design, sets)


class OrderedPairs:
    """The sets of every pair of a match."""

    def __init__(self, subject: Subject, most: int, test: SequentialTest | None) -> None:
        """Each pair has at most so many sets, and with a test none after its own decision."""
        self.most = most
        self.pairs = [OrderedSets(subject, pair, most, test) for pair in subject.pairs]

    @property
    def sets(self) -> int:
        """The sets without a gap that any pair has taken."""
        return max(len(each.scores) for each in self.pairs)

    @property
    def enough(self) -> bool:
        """True if no pair needs more sets."""
        return all(each.enough for each in self.pairs)

    def take(self, found: Mapping[int, PlayedSet]) -> None:
        """Go on with each pair as far as there are sets."""
        for each in self.pairs:
            each.take(found)
