"""How much the matches themselves say the scores vary: the middle of the sandwich estimate, clustered by match.

One match gives a node the score s_i = w_n Σ_j (S_ij − E_ij), and its seats' scores depend on each other; the sum of
s_i·s_j over all matches is the scores' covariance whatever that dependence is (Liang and Zeger 1986). Expectations are
rounded to whole 65,536ths first. All the sums are then sums of whole numbers: exactly the same in any order.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from arena.ladder.columns import Columns, Ints
from arena.ladder.roster import Roster

ONE: Final = 1 << 16
"""A score of 1. A match adds less than 2⁴⁰ to a sum, so that 64 bits hold over ten million of the worst."""


def clustered(columns: Columns, roster: Roster, expectations: NDArray[np.float64]) -> NDArray[np.float64]:
    """[n, n]: the sum over matches of the outer product of their scores, in squares of a pair of weight 1.

    `expectations` [n, n] are E_ij. The scores of a node with several seats add up, those for which the result does not
    count are 0.
    """
    size = len(roster)
    upper = np.triu(np.rint(expectations * ONE).astype(np.int64), 1)
    shares = (upper + np.tril(ONE - upper.T, -1) + ONE // 2 * np.eye(size, dtype=np.int64)).ravel()
    crossed: dict[int, Ints] = {}
    squares: dict[int, Ints] = {}
    for block in columns.blocks():
        positions = roster.positions(block.nodes)
        seats = len(positions)
        pairs = [(i, j) for i in range(seats) for j in range(i)]
        cells = [positions[i] * size + positions[j] for i, j in pairs]
        surplus = np.zeros_like(positions)
        for (i, j), cell in zip(pairs, cells, strict=True):
            score = (1 + np.sign(block.places[j] - block.places[i]).astype(np.int64)) * (ONE // 2)
            score -= shares.take(cell)
            surplus[i] += score
            surplus[j] -= score
        surplus *= block.counts
        cross = crossed.setdefault(seats, np.zeros(size * size, np.int64))
        for (i, j), cell in zip(pairs, cells, strict=True):
            np.add.at(cross, cell, surplus[i] * surplus[j])
        np.add.at(squares.setdefault(seats, np.zeros(size, np.int64)), positions.ravel(), (surplus**2).ravel())
    total = np.zeros((size, size))
    for seats in sorted(crossed):
        cross = crossed[seats].reshape(size, size)
        total += (3 / (seats + 1) / ONE) ** 2 * (cross + cross.T + np.diag(squares[seats]))
    return total
