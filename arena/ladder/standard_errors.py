"""Standard errors of a fit's ratings and of their differences: the sandwich estimate, and the model's own.

Errors are relative to the field's mean, in which each version is weighted by the information of its results. So an
unknown newcomer does not increase the others' errors. The newest versions have exact errors relative to the whole
field. An older version, which is not on the ladder, has an approximate error: its opponents' strengths are assumed to
be known.

The "meat" of the sandwich is clustered by match. One match gives a node the score s_i = w_n Σ_j (S_ij − E_ij). Scores
of one match depend on each other. The sum of s_i·s_j over all matches estimates their covariance without further
assumptions (Liang and Zeger 1986). Expected scores and scores are rounded to multiples of 1/65,536. So all sums are
integers that do not depend on the order of the matches. Rank intervals and P(best) follow from the errors of
differences.
"""

from __future__ import annotations

from itertools import combinations
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, triu

from arena.ladder.columns import Block, Columns, Ints
from arena.ladder.fit import PRIOR_PRECISION
from arena.ladder.ladder import ESTABLISHED_MAX_ERROR
from arena.ladder.live import SCALE
from arena.ladder.pairs import UNIT, WEIGHTS, Entrants, summed
from arena.ladder.symmetric import Floats, Symmetric

ONE_WIN: Final = 1 << 16
"""Fixed-point value of a score of 1. A match adds less than 2³⁶ to any sum, so 64 bits suffice for over 10⁸ matches."""
Z_95: Final = 1.959963984540054
"""Half width of a two-sided 95 % interval, in standard errors."""
SLICES: Final = 2048
TAIL_ERRORS: Final = 6.0
"""Integrals extend this far to either side of each node's strength, in standard errors."""


def clustered(columns: Columns, entrants: Entrants, strengths: Floats) -> Symmetric:
    """Sum the outer products of the matches' scores [n, n], in units of the squared score of a pair of weight 1.

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
    """Compute the score of each seat of each match [seats, matches], in units of 1/`ONE_WIN`, from strengths [seats,
    matches].

    Two seats of one node have no score against each other.
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


def rank_bounds(shown: Floats, ratings: Floats, differences: Floats) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Compute the best and the worst rank [n] of each node with 95 % confidence in every comparison.

    `differences` [n, n]: the variances of the differences of ratings. A node counts as ahead of another if the
    difference exceeds 1.96 of its standard errors and the published rating is also higher. So the published rank is
    always within the interval.
    """
    ahead = (ratings[:, None] - ratings > Z_95 * np.sqrt(differences)) & (shown[:, None] > shown)
    return 1 + ahead.sum(axis=0), len(ratings) - ahead.sum(axis=1)


def chances_of_best(centre: Floats, error: Floats) -> Floats:
    """Compute for each node [n] the probability that it is the best, for independent normal strengths.

    The probabilities sum to 1.

    The strengths must be posterior, that is, shrunk towards the field. Otherwise the luckiest of many nodes would be
    the best too often, especially a newcomer. The distribution of the best strength, F = Π Φ_j, is cut into slices, and
    each slice is divided among the nodes in proportion to the hazards φ_i/Φ_i.
    """
    from scipy.special import log_ndtr

    if len(centre) < 2:
        return np.ones(len(centre))
    edges = np.linspace((centre - TAIL_ERRORS * error).max(), (centre + TAIL_ERRORS * error).max(), SLICES + 1)
    slices = np.diff(np.exp(log_ndtr((edges[:, None] - centre) / error).sum(axis=1)))
    away = ((edges[1:] + edges[:-1])[:, None] / 2 - centre) / error
    hazards = -(away**2) / 2 - log_ndtr(away) - np.log(error)
    hazards = np.exp(hazards - hazards.max(axis=1, keepdims=True))
    found: Floats = (slices[:, None] * (hazards / hazards.sum(axis=1, keepdims=True))).sum(axis=0)
    found /= found.sum()
    return found


class StandardErrors(NamedTuple):
    """Errors in Elo of n versions, of which k are the newest of their bots."""

    own: Floats
    """Standard error of each rating [n], without the error of the scale."""
    differences: Floats
    """Variances of the differences between the newest versions' ratings [k, k], in squared Elo."""
    scale: float
    """Standard error of the scale: of the weighted mean that is set to 1500, relative to the field's mean."""


def field_shares(information: Symmetric) -> Floats:
    """Compute the weights [n] of the field's mean from each node's information. They are 0 if no node has played."""
    own = information.diagonal - PRIOR_PRECISION
    total = float(own.sum())
    return own / total if total > 0 else np.zeros_like(own)


def standard_errors(
    information: Symmetric, scores: Symmetric, newest: NDArray[np.int64], scale: Floats
) -> StandardErrors:
    """Compute the errors from the covariance of the scores, according to the model and as measured.

    `newest` [k] are positions. `scale` [n] are the weights of the strengths in the scale's mean.
    """
    scores = scores.plus(PRIOR_PRECISION)
    combined = np.zeros((len(scale), len(newest) + 1))  # each column is a linear combination of strengths
    combined[newest, np.arange(len(newest))] = 1
    combined[:, -1] = scale
    combined -= field_shares(information)[:, None]
    moved = information.solve(combined)
    model, measured = _products(combined, moved), _products(moved, scores.times(moved))
    shown = _joined(np.diag(model), np.diag(measured))
    own = _joined(1 / information.diagonal, scores.diagonal / information.diagonal**2)
    own[newest] = shown[:-1]
    model, measured = model[:-1, :-1], measured[:-1, :-1]
    uncertain = _uncertain(np.diag(model))
    differences = _joined(_of_differences(model), _of_differences(measured), uncertain | uncertain[:, None])
    own, shown = (SCALE * np.sqrt(np.maximum(each, 0.0)) for each in (own, shown))
    return StandardErrors(own, SCALE**2 * differences, float(shown[-1]))


def _joined(model: Floats, measured: Floats, uncertain: NDArray[np.bool_] | None = None) -> Floats:
    """Choose between two estimates of variances: the measured one, or the larger of the two where `uncertain` is True.

    The model's variances are too large with ties. Measured ones are too small with few matches.
    """
    return np.where(_uncertain(model) if uncertain is None else uncertain, np.maximum(model, measured), measured)


def _uncertain(variances: Floats) -> NDArray[np.bool_]:
    uncertain: NDArray[np.bool_] = SCALE**2 * variances > ESTABLISHED_MAX_ERROR**2
    return uncertain


def _products(one: Floats, other: Floats) -> Floats:
    """Compute the products [k, k] of the columns of two matrices [n, k], without BLAS."""
    products: Floats = np.einsum("in,jn->ij", np.ascontiguousarray(one.T), np.ascontiguousarray(other.T))
    return products


def _of_differences(covariance: Floats) -> Floats:
    """Compute the variances [k, k] of θ_i − θ_j."""
    own = np.diag(covariance)
    return np.maximum(own[:, None] + own - 2 * covariance, 0.0)
