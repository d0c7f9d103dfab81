"""Pairwise results, summed over matches as integers: exact, and the same in any order of the matches.

Every pair of seats in a match of n seats has the weight w_n = 3/(n+1). In units of 1/1680, both the weight and the
score of a pair (a win 1, a tie ½) are integers for every n from 2 to 7. A unit is divided further by `SHARE`, so that a
pair may count in part. Therefore matches can be added and subtracted exactly. Only pairs that have met are stored, so
memory and time grow with their number and not with the square of the number of versions.

Entrants are in the order of their nodes: an entrant's position is its index in every array of a fit.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from scipy.sparse import coo_array, csr_array

from arena.ladder.columns import SHARE, Block, Columns, Flags, Ints
from arena.ladder.errors import LadderError, UnknownNode
from arena.ladder.events import Entrant
from arena.ladder.live import SEATS

TABLE_SIZE: Final = 1 << 20
"""Nodes below this number are looked up in a table. Larger numbers are found by binary search, which saves memory."""
WHOLE: Final = 1680
UNIT: Final = WHOLE * SHARE
"""Integer that represents a weight of 1."""
WEIGHTS: Final = {seats: WHOLE * 3 // (seats + 1) for seats in SEATS}
"""Weight of a pair in units of 1/`WHOLE`, by the number of seats of its match."""


class Entrants:
    """Entrants by position. Raises: LadderError: The entrants contradict each other."""

    def __init__(self, entrants: Iterable[Entrant]) -> None:
        self.entrants: Final = tuple(sorted(entrants, key=lambda entrant: entrant.node))
        self.nodes: Final = tuple(entrant.node for entrant in self.entrants)
        self._position: Final = {node: position for position, node in enumerate(self.nodes)}
        self._sorted: Final = np.array(self.nodes, np.int64)
        for node, following in zip(self.nodes, self.nodes[1:], strict=False):
            if node == following:
                raise LadderError(f"node {node} is among the entrants more than once")
        self.parents: Final = tuple(self._parent(entrant) for entrant in self.entrants)
        self.families: Final = np.array([self._first_version(position) for position in range(len(self))], np.int64)
        """By position, the position of the bot's first version, which identifies the bot."""
        self._table = None
        if self.nodes and self.nodes[0] >= 0 and self.nodes[-1] < TABLE_SIZE:
            self._table = np.full(TABLE_SIZE, -1)
            self._table[self._sorted] = np.arange(len(self))

    def __len__(self) -> int:
        return len(self.entrants)

    def positions(self, nodes: Ints) -> Ints:
        """Look up the positions of an array of nodes. Nodes that are not entrants get −1."""
        if self._table is not None and not (nodes.size and nodes.max() >= TABLE_SIZE):
            return self._table.take(nodes)
        if not self.nodes:
            return np.full(nodes.shape, -1)
        found = np.searchsorted(self._sorted, nodes).clip(max=len(self) - 1)
        return np.where(self._sorted[found] == nodes, found, -1)

    def check_known(self, columns: Columns) -> None:
        """Raise UnknownNode if a seat of a match belongs to no entrant."""
        for seat in range(columns.nodes.shape[1]):
            nodes = columns.nodes[:, seat]
            unknown = (self.positions(nodes) < 0) & (seat < columns.seats)
            if unknown.any():
                row = int(unknown.argmax())
                raise UnknownNode(int(columns.match_id[row]), int(nodes[row]))

    def _parent(self, entrant: Entrant) -> int | None:
        if entrant.parent is None:
            return None
        if entrant.parent not in self._position:
            raise LadderError(f"node {entrant.node} is a version after node {entrant.parent}, which is no entrant")
        return self._position[entrant.parent]

    def _first_version(self, position: int) -> int:
        first = position
        for _ in self.entrants:
            parent = self.parents[first]
            if parent is None:
                return first
            first = parent
        raise LadderError(f"node {self.nodes[position]} comes after itself: its parents lead back to it")


@dataclass(frozen=True, slots=True, eq=False)
class Pairs:
    """Pairwise sums over matches, as sparse matrices of integers in units of 1/`UNIT`, by positions of n entrants.

    Diagonals are empty, because seats of the same node do not play each other. Pairs that count for both nodes are
    stored once, above the diagonal. Pairs that count for only one node are in that node's row of `won_alone` and
    `played_alone`.
    """

    won: csr_array
    """Score of i against j [n, n], for i < j."""
    played: csr_array
    """Weight of the pairs of i and j [n, n], for i < j."""
    won_alone: csr_array
    """Score of i against j [n, n] in pairs that count only for i."""
    played_alone: csr_array
    """Weight of the pairs of i and j [n, n] that count only for i."""
    matches: Ints
    """Number of matches that count for each node [n]."""

    @classmethod
    def of(cls, columns: Columns, entrants: Entrants) -> Pairs:
        """Sum over all matches of `columns`. All their nodes must be entrants."""
        size = len(entrants)
        won, played, won_alone, played_alone = (csr_array((size, size), dtype=np.int64) for _ in range(4))
        matches = np.zeros(size + 1, np.int64)
        for block in columns.blocks():
            positions = entrants.positions(block.nodes)
            both, one = _sums(_of_both(block, positions), size), _sums(_of_one(block, positions), size)
            won, played = won + both[0], played + both[1]
            won_alone, played_alone = won_alone + one[0], played_alone + one[1]
            matches += np.bincount(_counted_nodes(block, positions, size), minlength=size + 1)
        return cls(won, played, won_alone, played_alone, matches[:-1])

    def __add__(self, more: Pairs) -> Pairs:
        return Pairs(*(one + other for one, other in zip(self._all(), more._all(), strict=True)))

    def __sub__(self, less: Pairs) -> Pairs:
        return Pairs(*(one - other for one, other in zip(self._all(), less._all(), strict=True)))

    def reindexed(self, entrants: Entrants, wider: Entrants) -> Pairs:
        """Rearrange sums from the positions in `entrants` to those in `wider`, which must include all of `entrants`."""
        at = wider.positions(np.array(entrants.nodes, np.int64))
        size = len(wider)
        matches = np.zeros(size, np.int64)
        matches[at] = self.matches

        def moved(sums: csr_array) -> csr_array:
            entries = sums.tocoo()
            return summed(at[entries.row], at[entries.col], entries.data, size)

        sums = (self.won, self.played, self.won_alone, self.played_alone)
        won, played, won_alone, played_alone = map(moved, sums)
        return Pairs(won, played, won_alone, played_alone, matches)

    def _all(self) -> tuple[csr_array, csr_array, csr_array, csr_array, Ints]:
        return self.won, self.played, self.won_alone, self.played_alone, self.matches


class _Met(NamedTuple):
    """Pairs of seats that count, from some matches."""

    own: Ints
    other: Ints
    won: Ints
    played: Ints


def summed(rows: Ints, columns: Ints, values: Ints, size: int) -> csr_array:
    """Sum values by row and column into a matrix [size, size]. Sums of zero are not stored."""
    found = coo_array((values, (rows, columns)), shape=(size, size)).tocsr()
    found.eliminate_zeros()
    return found


def _sums(met: Iterator[_Met], size: int) -> tuple[csr_array, csr_array]:
    """Sum scores and weights of the pairs of a block."""
    parts = [*met]
    if not parts:
        return (csr_array((size, size), dtype=np.int64),) * 2
    own, other, won, played = (np.concatenate(each) for each in zip(*parts, strict=True))
    return summed(own, other, won, size), summed(own, other, played, size)


def _of_both(block: Block, positions: Ints) -> Iterator[_Met]:
    """List the pairs of seats that count for both nodes. Each pair occurs once, with the lower position first."""
    for one, other in combinations(range(len(positions)), 2):
        first, second = positions[one], positions[other]
        score = _scores(block, one, other)
        turned = first > second
        met = first != second
        if not block.whole:
            met &= block.moves(one, other) & block.moves(other, one)
        own, against = np.where(turned, second, first), np.where(turned, first, second)
        share = np.minimum(block.share(one, other), block.share(other, one))
        yield _weighted(block, met, own, against, np.where(turned, 2 - score, score), share)


def _of_one(block: Block, positions: Ints) -> Iterator[_Met]:
    """List the pairs of seats that count only for the first node, or more for it than for the second."""
    if block.whole:
        return
    for one, other in combinations(range(len(positions)), 2):
        for own, against in ((one, other), (other, one)):
            alone = block.share(own, against) - np.where(block.moves(against, own), block.share(against, own), 0)
            met = (positions[own] != positions[against]) & block.moves(own, against) & (alone > 0)
            yield _weighted(block, met, positions[own], positions[against], _scores(block, own, against), alone)


def _scores(block: Block, own: int, other: int) -> Ints:
    """Return twice the scores [matches] of one seat against another: 2 for a win, 1 for a tie."""
    scores: Ints = 1 + np.sign(block.places[other] - block.places[own]).astype(np.int64)
    return scores


def _weighted(block: Block, met: Flags, own: Ints, other: Ints, score: Ints, share: Ints | int) -> _Met:
    """Weight the pairs of a block that have `met` by their shares."""
    weight = np.broadcast_to(WEIGHTS[len(block.nodes)] * np.asarray(share), own.shape)
    if not met.all():
        own, other, score, weight = own[met], other[met], score[met], weight[met]
    return _Met(own, other, weight // 2 * score, weight)


def _counted_nodes(block: Block, positions: Ints, size: int) -> Ints:
    """List the positions for which each match counts, without repetition. The other columns contain `size`."""
    nodes = np.where(block.counts, positions, size)
    for seat in range(1, len(positions)):
        nodes[seat, (positions[:seat] == positions[seat]).any(axis=0)] = size
    return nodes.ravel()
