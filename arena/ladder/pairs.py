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
    """Sums over matches, by positions in a roster of n nodes.

    Row i is what counts for node i's own rating. Where a result counts for one of a pair and not for the other, only
    the one's row has it: `won` + `won`ᵀ is `played` only where everything counts. The diagonals are 0: a node's seats
    do not play each other.
    """

    won: Ints
    """[n, n], the score of i against j."""
    played: Ints
    """[n, n], the weight of their pairs."""
    matches: Ints
    """[n], the matches that count for it."""

    @classmethod
    def of(cls, columns: Columns, roster: Roster) -> Pairs:
        """Of all these matches, whose nodes the roster knows."""
        size = len(roster)
        hits = {seats: np.zeros(3 * size * size, np.int64) for seats in SEATS if (columns.seats == seats).any()}
        matches = np.zeros(size + 1, np.int64)
        for block in columns.blocks():
            positions = roster.positions(block.nodes)
            codes = _codes(block, positions, size)
            hits[len(positions)] += np.bincount(codes, minlength=3 * size * size)
            matches += np.bincount(_once(block, positions, size), minlength=size + 1)
        won, played = np.zeros((2, size, size), np.int64)
        for seats, found in hits.items():
            lost, tied, beaten = np.moveaxis(found.reshape(size, size, 3), -1, 0)
            won += WEIGHTS[seats] // 2 * (2 * beaten + tied)
            played += WEIGHTS[seats] * (lost + tied + beaten)
        np.fill_diagonal(won, 0)
        np.fill_diagonal(played, 0)
        return cls(won, played, matches[:-1])

    def __add__(self, more: Pairs) -> Pairs:
        return Pairs(self.won + more.won, self.played + more.played, self.matches + more.matches)

    def __sub__(self, less: Pairs) -> Pairs:
        return Pairs(self.won - less.won, self.played - less.played, self.matches - less.matches)

    def over(self, roster: Roster, wider: Roster) -> Pairs:
        """The same for another roster, which has everybody of the one these are of."""
        at = np.array([wider.position(node) for node in roster.nodes], np.int64)
        won, played = np.zeros((2, len(wider), len(wider)), np.int64)
        matches = np.zeros(len(wider), np.int64)
        won[np.ix_(at, at)], played[np.ix_(at, at)], matches[at] = self.won, self.played, self.matches
        return Pairs(won, played, matches)


def _codes(block: Block, positions: Ints, size: int) -> Ints:
    """3·(i·size + j) + 0, 1, 2 for each pair of seats that i lost, tied, won; the diagonal where it does not count."""
    everything = bool(block.counts.all())
    codes = []
    for own, other in permutations(range(len(positions)), 2):
        opponent = positions[other]
        cell = positions[own] * size
        cell += opponent if everything else np.where(block.counts[own], opponent, positions[own])
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
