"""Pairwise results, summed over matches as integers: exact, and the same in any order of the matches.

Every pair of seats of a match of n has the weight w_n = 3/(n+1). In units of 1/1680 both the weight and the score of a
pair (a win 1, a tie ½) are integers for every n from 2 to 7. So matches can be added and subtracted exactly.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Final

import numpy as np

from arena.ladder.columns import Block, Columns, Ints
from arena.ladder.entrants import Entrants
from arena.ladder.live import SEATS

UNIT: Final = 1680
"""Integer for a weight of 1."""
WEIGHTS: Final = {seats: UNIT * 3 // (seats + 1) for seats in SEATS}
"""Weight of a pair in units of 1/`UNIT`, by the number of seats of its match."""


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairwise sums over matches, by positions of n entrants, in units of 1/`UNIT`.

    Diagonals are 0: a node's seats do not play each other. Pairs that count for both nodes are in `won` and `played`,
    and `won` + `won`ᵀ = `played`. Pairs that count for one node only are in that node's row of `won_alone` and
    `played_alone`.
    """

    won: Ints
    """[n, n], score of i against j."""
    played: Ints
    """[n, n], weight of the pairs of i and j."""
    won_alone: Ints
    """[n, n], score of i against j in pairs that count for i only."""
    played_alone: Ints
    """[n, n], weight of the pairs of i and j that count for i only."""
    matches: Ints
    """[n], number of matches that count for each node."""

    @classmethod
    def of(cls, columns: Columns, entrants: Entrants) -> Pairs:
        """Sum over all matches of the columns, whose nodes must all be entrants."""
        size = len(entrants)
        hits = {seats: np.zeros(6 * size * size, np.int64) for seats in SEATS if (columns.seats == seats).any()}
        matches = np.zeros(size + 1, np.int64)
        for block in columns.blocks():
            positions = entrants.positions(block.nodes)
            codes = _codes(block, positions, size)
            hits[len(positions)] += np.bincount(codes, minlength=6 * size * size)
            matches += np.bincount(_counted_nodes(block, positions, size), minlength=size + 1)
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

    def reindexed(self, entrants: Entrants, wider: Entrants) -> Pairs:
        """Rearrange sums over `entrants` by the positions of `wider`, which must include them all."""
        at = np.array([wider.position(node) for node in entrants.nodes], np.int64)
        size = len(wider)
        moved = tuple(np.zeros((size,) * each.ndim, np.int64) for each in self._sums())
        for target, source in zip(moved, self._sums(), strict=True):
            target[np.ix_(*[at] * source.ndim)] = source
        return Pairs(*moved)

    def _sums(self) -> tuple[Ints, ...]:
        return self.won, self.played, self.won_alone, self.played_alone, self.matches


def _codes(block: Block, positions: Ints, size: int) -> Ints:
    """Encode each ordered pair of seats for `bincount`, with i and j their positions.

    The code is 3·(i·size + j) + 0, 1 or 2 where i lost, tied or won, plus 3·size² where the pair counts for i only.
    Where it does not count for i, j is replaced by i: diagonals are discarded.
    """
    everything = block.whole
    codes = []
    for own, other in permutations(range(len(positions)), 2):
        opponent = positions[other]
        cell = positions[own] * size
        if everything:
            cell += opponent
        else:
            cell += np.where(block.moves(own, other), opponent, positions[own])
            cell += np.where(block.moves(other, own), 0, size * size)
        cell *= 3
        cell += 1
        cell += np.sign(block.places[other] - block.places[own])
        codes.append(cell)
    return np.concatenate(codes)


def _counted_nodes(block: Block, positions: Ints, size: int) -> Ints:
    """List the positions for which the matches count, each once a match; `size` fills the other seats."""
    nodes = np.where(block.counts, positions, size)
    for seat in range(1, len(positions)):
        nodes[seat, (positions[:seat] == positions[seat]).any(axis=0)] = size
    return nodes.ravel()
