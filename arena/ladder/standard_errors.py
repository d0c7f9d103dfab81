"""Standard errors of a fit's ratings and of their differences: the sandwich estimate, and the model's own.

Errors are relative to the field's mean, in which each version weighs by the information of its results: an unknown
newcomer does not increase the others' errors. The newest versions have exact errors beside the whole field. An older
version, which is not shown, has an approximate one: its opponents are assumed to be known.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from arena.ladder.fit import PRIOR_PRECISION
from arena.ladder.ladder import ESTABLISHED_MAX_ERROR
from arena.ladder.live import SCALE
from arena.ladder.symmetric import Floats, Symmetric


class StandardErrors(NamedTuple):
    """Errors in Elo of n versions, k of them the newest of their bots."""

    own: Floats
    """[n], of each rating without the scale's."""
    differences: Floats
    """[k, k], variances of the differences of the newest versions' ratings, in squared Elo."""
    scale: float
    """Standard error of the scale: of the weighted mean that is set to 1500, relative to the field's."""


def field_shares(information: Symmetric) -> Floats:
    """Compute the weights [n] of the field's mean: the information of each node's results; 0 if no node has played."""
    own = information.diagonal - PRIOR_PRECISION
    total = float(own.sum())
    return own / total if total > 0 else np.zeros_like(own)


def standard_errors(
    information: Symmetric, scores: Symmetric, newest: NDArray[np.int64], scale: Floats
) -> StandardErrors:
    """Compute the errors from the covariance of the scores, by the model and as measured.

    `newest` [k] are positions, `scale` [n] the shares of the strengths in the scale's mean.
    """
    scores = scores.plus(PRIOR_PRECISION)
    combined = np.zeros((len(scale), len(newest) + 1))  # a column is a combination of strengths
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
    """Choose between two estimates of variances: the measured one, or the larger of both where `uncertain`.

    The model's variances are too large with ties; measured ones are too small with few matches.
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
