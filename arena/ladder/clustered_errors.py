"""Empirical covariance of the scores: the "meat" of the sandwich estimator, clustered by match.

One match gives a node the score s_i = w_n Σ_j (S_ij − E_ij). Scores of one match depend on each other; the sum of
s_i·s_j over all matches estimates their covariance whatever that dependence is (Liang and Zeger 1986). Expectations and
scores are rounded to multiples of 1/65,536, so that all sums are integers and do not depend on the order of the
matches.
"""

from __future__ import annotations

from itertools import combinations
from typing import Final

import numpy as np
from scipy.sparse import csr_array, triu

from arena.ladder.columns import Block, Columns, Ints
from arena.ladder.entrants import Entrants
from arena.ladder.pairs import UNIT, WEIGHTS, summed
from arena.ladder.symmetric import Floats, Symmetric

ONE_WIN: Final = 1 << 16
"""Fixed-point value of a score of 1. A match adds less than 2³⁶ to a sum, so 64 bits hold over a hundred million
matches."""


def clustered(columns: Columns, entrants: Entrants, strengths: Floats) -> Symmetric:
    """Sum the outer products of the matches' scores; returns [n, n], in squared scores of a pair of weight 1.

    `strengths` [n] are in log odds. The scores of a node's seats in one match are added before they are multiplied.
    Pairs that do not count for a node add nothing to its score.
    """
    size = len(entrants)
    squares, cross = np.zeros(size, np.int64), csr_array((size, size), dtype=np.int64)
    for block in columns.blocks():
        positions = entrants.positions(block.nodes)
        scores = _scores(block, strengths[positions])
        np.add.at(squares, positions.ravel(), (scores**2).ravel())
        seats = [*combinations(range(len(positions)), 2)]
        rows = np.concatenate([np.minimum(positions[one], positions[other]) for one, other in seats])
        others = np.concatenate([np.maximum(positions[one], positions[other]) for one, other in seats])
        products = np.concatenate([scores[one] * scores[other] for one, other in seats])
        cross = cross + summed(rows, others, products, size)
    squares += 2 * cross.diagonal()  # for nodes with several seats in a match
    return Symmetric(squares / ONE_WIN**2, triu(cross, 1, format="csr") / ONE_WIN**2)


def _scores(block: Block, strengths: Floats) -> Ints:
    """Compute the score of each seat of each match, in units of 1/`ONE_WIN`; strengths and scores are [seats, matches].

    Seats of one node have none against each other.
    """
    seats = len(strengths)
    scores = np.zeros(strengths.shape, np.int64)
    for one, other in combinations(range(seats), 2):
        ahead = strengths[one] - strengths[other]
        odds = np.exp(-np.abs(ahead))
        weaker = np.rint(ONE_WIN * odds / (1 + odds)).astype(np.int64)
        score = (1 + np.sign(block.places[other] - block.places[one]).astype(np.int64)) * (ONE_WIN // 2)
        score -= np.where(ahead > 0, ONE_WIN - weaker, weaker)
        score[block.nodes[one] == block.nodes[other]] = 0
        if block.whole:
            score *= block.share(one, other)
            scores[one] += score
            scores[other] -= score
        else:
            scores[one] += score * block.share(one, other) * block.moves(one, other)
            scores[other] -= score * block.share(other, one) * block.moves(other, one)
    rounded: Ints = (scores * WEIGHTS[seats] + UNIT // 2) // UNIT
    return rounded
