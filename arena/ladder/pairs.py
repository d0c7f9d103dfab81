"""Who beat whom how often: whole numbers, so that neither the order of the matches nor a rounding shows in them.

Every pair of seats of a match of n counts with the weight w_n = 3/(n+1). In units of 1/1680 both the weight and the
score of a pair (a win 1, a tie ½) are whole for every n from 2 to 7. A batch of matches is added or taken away exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Final

import numpy as np

from arena.ladder.columns import Block, Columns, Ints
from arena.ladder.live import SEATS
from arena.ladder.roster import Roster

UNIT: Final = 1680
"""What a pair of weight 1 counts."""
WEIGHTS: Final = {seats: UNIT * 3 // (seats + 1) for seats in SEATS}
"""What a pair of a match with so many seats counts."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Sums over matches, by positions in a roster of n nodes. Diagonals are 0: a node's seats do not play each other.

    Where a result counts for both of a pair, `won` + `won`ᵀ is `played`. Where it counts for one alone, that one's row
    of `won_alone` and `played_alone` has it, and the other's has nothing.
    """

    won: Ints
    """[n, n], the score of i against j."""
    played: Ints
    """[n, n], the weight of their pairs."""
    won_alone: Ints
    played_alone: Ints
    matches: Ints
    """[n], the matches that count for it."""

    @classmethod
    def of(cls, columns: Columns, roster: Roster) -> Pairs:
        """Of all these matches, whose nodes the roster knows."""
        size = len(roster)
        hits = {seats: np.zeros(6 * size * size, np.int64) for seats in SEATS if (columns.seats == seats).any()}
        matches = np.zeros(size + 1, np.int64)
        for block in columns.blocks():
            positions = roster.positions(block.nodes)
            codes = _codes(block, positions, size)
            hits[len(positions)] += np.bincount(codes, minlength=6 * size * size)
            matches += np.bincount(_once(block, positions, size), minlength=size + 1)
        won, played = np.zeros((2, 2, size, size), np.int64)
        for seats, found in hits.items():
            lost, tied, beaten = np.moveaxis(found.reshape(2, size, size, 3), -1, 0)
            won += WEIGHTS[seats] // 2 * (2 * beaten + tied)
            played += WEIGHTS[seats] * (lost + tied + beaten)
        others = ~np.eye(size, dtype=np.bool_)
        return cls(won[0] * others, played[0] * others, won[1] * others, played[1] * others, matches[:-1])

    def __add__(self, more: Pairs) -> Pairs:
        return Pairs(*map(np.add, self._sums(), more._sums()))

    def __sub__(self, less: Pairs) -> Pairs:
        return Pairs(*map(np.subtract, self._sums(), less._sums()))

    def over(self, roster: Roster, wider: Roster) -> Pairs:
        """The same for another roster, which has everybody of the one these are of."""
        at = np.array([wider.position(node) for node in roster.nodes], np.int64)
        size = len(wider)
        moved = tuple(np.zeros((size,) * each.ndim, np.int64) for each in self._sums())
        for target, source in zip(moved, self._sums(), strict=True):
            target[np.ix_(*[at] * source.ndim)] = source
        return Pairs(*moved)

    def _sums(self) -> tuple[Ints, ...]:
        return self.won, self.played, self.won_alone, self.played_alone, self.matches


def _codes(block: Block, positions: Ints, size: int) -> Ints:
    """For each pair of seats 3·(i·size + j) + 0, 1, 2 where i lost, tied, won, and 3·size² more where it counts for i
    alone; the diagonal where it does not count for i.
    """
    everything = bool(block.counts.all())
    codes = []
    for own, other in permutations(range(len(positions)), 2):
        opponent = positions[other]
        cell = positions[own] * size
        if everything:
            cell += opponent
        else:
            cell += np.where(block.counts[own], opponent, positions[own])
            cell += np.where(block.counts[other], 0, size * size)
        cell *= 3
        cell += 1
        cell += np.sign(block.places[other] - block.places[own])
        codes.append(cell)
    return np.concatenate(codes)


def _once(block: Block, positions: Ints, size: int) -> Ints:
    """Each node for which a match counts, once a match however many seats it has; `size` elsewhere."""
    nodes = np.where(block.counts, positions, size)
    for seat in range(1, len(positions)):
        nodes[seat, (positions[:seat] == positions[seat]).any(axis=0)] = size
    return nodes.ravel()
