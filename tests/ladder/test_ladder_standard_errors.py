"""Sparse matrices and the errors of ratings, compared with dense linear algebra."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from scipy.sparse import csr_array

from arena.ladder.columns import Columns
from arena.ladder.events import Entrant, MatchResult, Node
from arena.ladder.fit import fit
from arena.ladder.live import SCALE
from arena.ladder.pairs import Entrants, Pairs
from arena.ladder.standard_errors import clustered, field_shares, standard_errors
from arena.ladder.symmetric import Floats, Symmetric

PRECISION = (SCALE / 250) ** 2


def sparse(dense: Floats) -> Symmetric:
    return Symmetric(np.diag(dense).copy(), csr_array(np.triu(dense, 1)))


@pytest.mark.parametrize("size", [1, 2, 30, 200])
def test_products_and_solutions_are_those_of_the_dense_matrix(size: int) -> None:
    chance = np.random.default_rng(size)
    dense = -np.triu(chance.random((size, size)) * (chance.random((size, size)) < 0.2), 1)
    dense += dense.T
    dense += np.diag(0.01 - dense.sum(axis=1))
    right = chance.normal(size=(size, 130))
    assert sparse(dense).dense() == pytest.approx(dense)
    assert sparse(dense).times(right[:, 0]) == pytest.approx(dense @ right[:, 0])
    assert sparse(dense).solve(right) == pytest.approx(np.linalg.solve(dense, right), abs=1e-3)
    assert sparse(dense).plus(2.0).dense() == pytest.approx(dense + 2 * np.eye(size))


def test_no_right_hand_side_has_no_solution_and_a_zero_has_zero() -> None:
    matrix = sparse(np.array([[2.0, -1.0], [-1.0, 2.0]]))
    assert matrix.solve(np.zeros((2, 0))).shape == (2, 0)
    assert matrix.solve(np.array([[0.0, 1.0], [0.0, 1.0]])).tolist() == [[0.0, 1.0], [0.0, 1.0]]


@pytest.mark.parametrize(("matches", "spoilt"), [(12, 0.0), (150, 0.1), (3000, 0.0)])
def test_errors_are_those_of_dense_matrices(
    season: Callable[..., list[MatchResult]], matches: int, spoilt: float
) -> None:
    """The newest versions need the whole covariance, older versions only the diagonals."""
    entrants = Entrants(Entrant(Node(node)) for node in range(10))
    columns = Columns.of(season(3, range(9), matches, seats=(2, 4, 5), spoilt=spoilt))  # the tenth version has no match
    strengths, information = fit(Pairs.of(columns, entrants))
    scores = clustered(columns, entrants, strengths)
    newest, scale = np.array([1, 4, 5, 9]), np.where(np.arange(10) < 2, 0.5, 0.0)
    found = standard_errors(information, scores, newest, scale)

    model = np.linalg.inv(information.dense())
    measured = model @ (scores.dense() + PRECISION * np.eye(10)) @ model
    field = (np.diag(information.dense()) - PRECISION) / (np.diag(information.dense()) - PRECISION).sum()
    assert field_shares(information) == pytest.approx(field)

    def error(shares: Floats) -> float:
        modelled, empirical = SCALE * np.sqrt(shares @ model @ shares), SCALE * np.sqrt(shares @ measured @ shares)
        return float(max(modelled, empirical) if modelled > 40 else empirical)

    for node in newest:
        assert found.own[node] == pytest.approx(error(np.eye(10)[node] - field), rel=1e-4)
    assert found.scale == pytest.approx(error(scale - field), rel=1e-4)
    for i, one in enumerate(newest):
        for j, other in enumerate(newest):
            shares = np.eye(10)[one] - np.eye(10)[other]
            sure = (
                max(SCALE * np.sqrt((np.eye(10)[k] - field) @ model @ (np.eye(10)[k] - field)) for k in (one, other))
                <= 40
            )
            empirical = SCALE**2 * shares @ measured @ shares
            modelled = SCALE**2 * shares @ model @ shares
            expected = empirical if sure else max(empirical, modelled)
            assert found.differences[i, j] == pytest.approx(expected, rel=1e-3, abs=1e-6)
    for node in set(range(10)) - set(newest.tolist()):
        known = 1 / information.diagonal[node]
        empirical = (scores.diagonal[node] + PRECISION) * known**2
        variance = max(known, empirical) if SCALE**2 * known > 1600 else empirical
        assert found.own[node] == pytest.approx(SCALE * np.sqrt(variance))


def test_an_older_version_s_error_is_hardly_less_than_what_the_whole_field_would_say(
    season: Callable[..., list[MatchResult]],
) -> None:
    entrants = Entrants(Entrant(Node(node)) for node in range(40))
    columns = Columns.of(season(4, range(40), 4000))
    strengths, information = fit(Pairs.of(columns, entrants))
    scores, scale = clustered(columns, entrants, strengths), np.full(40, 1 / 40)
    shown = standard_errors(information, scores, np.arange(40), scale).own
    older = standard_errors(information, scores, np.arange(0), scale).own
    assert older == pytest.approx(shown, rel=0.06)
