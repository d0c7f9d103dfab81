"""Empirical covariance of the scores: the "meat" of the sandwich estimator, clustered by match.

One match gives a node the score s_i = w_n Σ_j (S_ij − E_ij). Scores of one match depend on each other; the sum of
s_i·s_j over all matches estimates their covariance whatever that dependence is (Liang and Zeger 1986). Expectations are
rounded to multiples of 1/65,536, so that all sums are integers and do not depend on the order of the matches.
"""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from arena.ladder.columns import Columns, Ints
from arena.ladder.entrants import Entrants

ONE_WIN: Final = 1 << 16
"""Fixed-point value of a score of 1. A match adds less than 2⁴⁰ to a sum, so 64 bits hold over ten million matches."""


def clustered(columns: Columns, entrants: Entrants, expectations: NDArray[np.float64]) -> NDArray[np.float64]:
    """Sum the outer products of the matches' scores; returns [n, n], in squared scores of a pair of weight 1.

    `expectations` [n, n] are E_ij. The scores of a node's seats in one match are added before they are multiplied.
    Pairs that do not count for a node add nothing to its score.
    """
    size = len(entrants)
    upper = np.triu(np.rint(expectations * ONE_WIN).astype(np.int64), 1)
    shares = (upper + np.tril(ONE_WIN - upper.T, -1) + ONE_WIN // 2 * np.eye(size, dtype=np.int64)).ravel()
    crossed: dict[int, Ints] = {}
    squares: dict[int, Ints] = {}
    for block in columns.blocks():
        positions = entrants.positions(block.nodes)
        seats = len(positions)
        pairs = [(i, j) for i in range(seats) for j in range(i)]
        cells = [positions[i] * size + positions[j] for i, j in pairs]
        surplus, whole = np.zeros_like(positions), block.whole
        for (i, j), cell in zip(pairs, cells, strict=True):
            score = (1 + np.sign(block.places[j] - block.places[i]).astype(np.int64)) * (ONE_WIN // 2)
            score -= shares.take(cell)
            surplus[i] += score if whole else score * block.moves(i, j)
            surplus[j] -= score if whole else score * block.moves(j, i)
        cross = crossed.setdefault(seats, np.zeros(size * size, np.int64))
        for (i, j), cell in zip(pairs, cells, strict=True):
            np.add.at(cross, cell, surplus[i] * surplus[j])
        np.add.at(squares.setdefault(seats, np.zeros(size, np.int64)), positions.ravel(), (surplus**2).ravel())
    total = np.zeros((size, size))
    for seats in sorted(crossed):
        cross = crossed[seats].reshape(size, size)
        total += (3 / (seats + 1) / ONE_WIN) ** 2 * (cross + cross.T + np.diag(squares[seats]))
    return total
