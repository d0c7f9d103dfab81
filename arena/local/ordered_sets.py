"""The sets of a match in the order of their numbers, whichever was finished first, and what a test says of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from arena.local.comparison import RunningTest, SequentialOutcome, SequentialState, SequentialTest, set_score

if TYPE_CHECKING:
    from collections.abc import Mapping

    from arena.local.design import Design
    from arena.local.sets import PlayedSet


class OrderedSets:
    """The sets from the first on without a gap: only these count."""

    def __init__(self, design: Design, most: int, test: SequentialTest | None) -> None:
        """At most so many sets; with a test, none after its decision."""
        self.most = most
        self.test = test
        self.scores: list[float] = []
        """The first bot's points less the other's, by set."""
        self._design = design
        self._running = None if test is None else RunningTest(test)

    @property
    def state(self) -> SequentialState | None:
        """Where the test stands; None without one."""
        return None if self._running is None else self._running.state

    @property
    def enough(self) -> bool:
        """Whether no more sets are needed."""
        decided = self._running is not None and self._running.state.outcome is not SequentialOutcome.UNDECIDED
        return decided or len(self.scores) >= self.most

    def take(self, found: Mapping[int, PlayedSet]) -> None:
        """Go on as far as there are sets."""
        while not self.enough and (played := found.get(len(self.scores))) is not None:
            score = set_score(self._design, played)
            self.scores.append(score)
            if self._running is not None:
                self._running.add(score)
