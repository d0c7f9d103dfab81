"""The fit, compared with other Bradley–Terry implementations, with its documented likelihood, and with sums over the
matches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import fsum

import choix
import numpy as np
import pytest
from scipy import optimize
from scipy.sparse import csr_array

from arena.ladder.columns import Columns, Ints
from arena.ladder.errors import LadderError
from arena.ladder.events import Entrant, MatchResult, Node
from arena.ladder.fit import Fit, expected, fit
from arena.ladder.live import SCALE
from arena.ladder.live import expected as live_expected
from arena.ladder.pairs import UNIT, Entrants, Pairs
from arena.ladder.standard_errors import clustered
from arena.ladder.symmetric import Floats

PRECISION = (SCALE / 250) ** 2


def solved(results: Sequence[MatchResult], nodes: int) -> tuple[Fit, Columns, Entrants]:
    entrants = Entrants(Entrant(Node(node)) for node in range(nodes))
    columns = Columns.of_results(results)
    return fit(Pairs.of(columns, entrants)), columns, entrants


def of(won: Ints, played: Ints, won_alone: Ints, played_alone: Ints) -> Pairs:
    """Return pairs from dense sums in matches of weight 1. Pairs that count for both nodes are symmetric."""
    both = csr_array(UNIT * np.triu(won)), csr_array(UNIT * np.triu(played))
    return Pairs(*both, csr_array(UNIT * won_alone), csr_array(UNIT * played_alone), np.zeros(len(won), np.int64))


def score(result: MatchResult, node: int, strengths: Floats) -> float:
    """Return a node's score minus its expected score in one match, summed over its pairs and weighted by table size."""
    seats = range(len(result.nodes))
    if not any(result.counts[seat] and result.nodes[seat] == node for seat in seats):
        return 0.0
    elo = strengths * SCALE
    spoilt = {result.nodes[seat] for seat in seats if result.spoilt and result.spoilt[seat]}
    return (
        3
        / (len(seats) + 1)
        * fsum(
            (result.places[i] < result.places[j])
            + (result.places[i] == result.places[j]) / 2
            - live_expected(elo[node], elo[result.nodes[j]])
            for i in seats
            for j in seats
            if result.nodes[i] == node != result.nodes[j] and result.nodes[j] not in spoilt
        )
    )


@pytest.mark.parametrize("seats", [2, 4, 7])
def test_it_is_choix_s_penalised_maximum(season: Callable[..., list[MatchResult]], seats: int) -> None:
    results = season(1, range(10), 600 // seats, seats=(seats,), grid=1e-9)
    wins = [
        (result.nodes[i], result.nodes[j])
        for result in results
        for i in range(seats)
        for j in range(seats)
        if result.places[i] < result.places[j]
    ]
    oracle = choix.opt_pairwise(10, wins, alpha=PRECISION / (2 * 3 / (seats + 1)), method="BFGS", tol=1e-9)
    found, _, _ = solved(results, 10)
    assert found.strengths == pytest.approx(oracle, abs=1e-6)


def test_it_is_the_minimum_of_the_documented_posterior_with_ties(season: Callable[..., list[MatchResult]]) -> None:
    results = season(2, range(8), 300, seats=(2, 3, 5))
    results += [result._replace(number=400) for result in season(3, range(10), 40)]
    found, _, _ = solved(results, 10)
    wins = np.zeros((10, 10))
    for result in results:
        for i, a in enumerate(result.nodes):
            for j, b in enumerate(result.nodes):
                ahead = (result.places[i] < result.places[j]) + (result.places[i] == result.places[j]) / 2
                wins[a, b] += 3 / (len(result.nodes) + 1) * ahead * (i != j)

    def loss(strengths: Floats) -> float:
        chances = expected(strengths[:, None] - strengths)[0]
        return float(PRECISION * (strengths**2).sum() / 2 - (wins * np.log(chances)).sum())

    near = found.strengths + np.linspace(-0.1, 0.1, 10)
    oracle = optimize.minimize(loss, near, method="BFGS", options={"gtol": 1e-4}).x
    assert found.strengths == pytest.approx(oracle, abs=1e-4)


def test_every_node_s_scores_balance_its_prior(season: Callable[..., list[MatchResult]]) -> None:
    results = season(4, range(9), 300, seats=(2, 3, 4, 6))
    found, _, _ = solved(results, 9)
    for node in range(9):
        total = fsum(score(result, node, found.strengths) for result in results)
        assert total == pytest.approx(PRECISION * found.strengths[node], abs=1e-9)


def vanished(matches: int, node: int = 0) -> list[MatchResult]:
    """Return matches in which a bot vanished and, as under the older rule, only its own result counts."""
    return [
        MatchResult(n, n, (Node(node), Node(1), Node(2)), (3, 1, 2), (True, False, False))
        for n in range(900, 900 + matches)
    ]


def test_who_vanished_loses_by_it_and_nobody_else_gains(season: Callable[..., list[MatchResult]]) -> None:
    results = season(4, range(9), 300)
    before, after = (solved(results + vanished(n), 9)[0].strengths for n in (0, 20))
    assert before[1:].tolist() == after[1:].tolist()
    assert after[0] < before[0] - 0.2
    moved = np.array([after[0], *before[1:]])
    total = fsum(score(result, 0, moved) for result in results + vanished(20))
    assert total == pytest.approx(PRECISION * after[0], abs=1e-9)


def test_who_vanishes_moves_nobody_else(season: Callable[..., list[MatchResult]]) -> None:
    """Nodes 0 and 1 form a ring. One or both vanish, regardless of the others' results against them."""

    def without(result: MatchResult, *ring: int) -> MatchResult:
        gone = tuple(node in ring for node in result.nodes)
        last = 1 + gone.count(False)
        there = [place for place, away in zip(result.places, gone, strict=True) if not away]
        ranks = [1 + sum(other < place for other in there) for place in result.places]
        places = tuple(last if away else rank for rank, away in zip(ranks, gone, strict=True))
        return result._replace(places=places, spoilt=gone)

    results = season(4, range(9), 400)
    for ring in ((0,), (0, 1)):
        staying, vanishing = (
            solved([without(result, *ring) if vanish else result for result in results], 9)[0].strengths
            for vanish in (False, True)
        )
        # the others' ratings depend only on the pairs among them
        among = [without(result, *ring) for result in results]
        among = [result._replace(counts=tuple(node not in ring for node in result.nodes)) for result in among]
        others = slice(len(ring), None)
        assert vanishing[others].tolist() == solved(among, 9)[0].strengths[others].tolist()
        assert (vanishing[: len(ring)] < staying[: len(ring)] - 0.5).all()


def test_a_friend_that_vanishes_helps_less_than_one_that_loses_on_purpose(
    season: Callable[..., list[MatchResult]],
) -> None:
    """Node 1, a friend of node 0, vanishes whenever node 0 does not win. No rule can prevent node 1 from losing on
    purpose.
    """
    results = season(6, range(9), 1500)

    def rating(mark: str = "") -> float:
        played = []
        for result in results:
            if {0, 1} <= set(result.nodes) and result.places[result.nodes.index(Node(0))] > 1:
                points = [9 if node == 1 else place for node, place in zip(result.nodes, result.places, strict=True)]
                places = tuple(1 + sum(other < point for other in points) for point in points)
                gone = tuple(node == 1 for node in result.nodes)
                spoilt, counts = gone if mark == "spoilt" else (), gone if mark == "void" else result.counts
                played.append(result._replace(places=places, counts=counts, spoilt=spoilt))
            else:
                played.append(result)
        return float(SCALE * solved(played, 9)[0].strengths[0])

    loses = rating()
    assert rating("spoilt") < loses - 10
    assert rating("void") > loses, "under the older rule it spared its friend every loss"


def test_a_field_in_which_all_vanish_often_does_not_fall_apart(season: Callable[..., list[MatchResult]]) -> None:
    results = season(4, range(9), 300)
    everybody = [loss for node in (0, *range(3, 9)) for loss in vanished(300, node)]
    found, _, _ = solved(results + everybody, 10)
    assert (np.abs(found.strengths) < 3).all()
    assert found.strengths[9] == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("spoilt", [0.0, 0.4])
def test_the_sandwich_s_middle_is_the_sum_over_the_matches(
    season: Callable[..., list[MatchResult]], spoilt: float
) -> None:
    results = season(6, range(7), 250, seats=(2, 3, 4, 7), spoilt=spoilt)
    twice = [
        MatchResult(900 + n, 900 + n, (Node(1), Node(0), Node(1), Node(n % 5)), (1, 2, 2, 4), (True,) * 4)
        for n in range(30)
    ]
    found, columns, entrants = solved(results + twice, 7)
    scores = np.array([[score(result, node, found.strengths) for node in range(7)] for result in results + twice])
    assert clustered(columns, entrants, found.strengths).dense() == pytest.approx(scores.T @ scores, abs=0.01)


@pytest.mark.parametrize("spoilt", [0.0, 0.3])
def test_the_information_is_the_curvature_and_opponents_of_one_side_are_taken_as_known(
    season: Callable[..., list[MatchResult]], spoilt: float
) -> None:
    found, columns, entrants = solved(season(7, range(7), 250, seats=(2, 4), spoilt=spoilt), 7)
    pairs = Pairs.of(columns, entrants)
    ahead, behind = expected(found.strengths[:, None] - found.strengths)
    both = (pairs.played + pairs.played.T).toarray() / UNIT * ahead * behind
    alone = pairs.played_alone.toarray() / UNIT * ahead * behind
    curvature = np.diag(both.sum(axis=1) + alone.sum(axis=1) + PRECISION) - both
    assert found.information.dense() == pytest.approx(curvature, rel=1e-12)


def test_expectations_keep_their_digits_far_apart() -> None:
    ahead, behind = expected(np.array([-60.0, 60.0, 0.0, 1e4]))
    assert ahead[0] == behind[1] == pytest.approx(np.exp(-60.0), rel=1e-12)
    assert ahead[1:].tolist() == [1.0, 0.5, 1.0]
    assert behind[2:].tolist() == [0.5, 0.0]


@pytest.mark.parametrize("matches", [1, 1000, 10**9])
def test_it_converges_for_who_always_wins(matches: int) -> None:
    won, none = np.array([[0, matches], [0, 0]]), np.zeros((2, 2), np.int64)
    found = fit(of(won, won, none, none))
    winner, loser = found.strengths
    assert 0 < winner == pytest.approx(-loser)
    assert matches * expected(loser - winner)[0] == pytest.approx(PRECISION * winner)


def test_it_converges_where_the_stronger_of_any_two_always_wins() -> None:
    won = 25_000 * np.triu(np.ones((40, 40), np.int64), 1)
    none = np.zeros_like(won)
    found = fit(of(won, won, none, none))
    assert (np.diff(found.strengths) < 0).all()
    inverse = found.information.solve(np.eye(40))
    assert inverse @ found.information.dense() == pytest.approx(np.eye(40), abs=1e-4)


@pytest.mark.parametrize("seed", range(30))
def test_it_converges_however_the_results_contradict_each_other(seed: int) -> None:
    # up to ten million matches per pair, most won by one side, and equally many pairs that count for one node only
    chance = np.random.default_rng(seed)

    def weights() -> Ints:
        return np.where(chance.random((8, 8)) < 0.4, 10 ** chance.integers(0, 8, (8, 8)), 0)

    played = np.triu(weights(), 1)
    won = np.where(chance.random((8, 8)) < 0.6, 0, played)
    alone = weights() * ~np.eye(8, dtype=np.bool_)
    found = fit(of(won, played, alone // 4, alone))
    assert (np.abs(found.strengths) < 60).all()
    assert (np.diag(found.information.solve(np.eye(8))) > 0).all()


def test_it_says_so_when_it_does_not_converge(
    monkeypatch: pytest.MonkeyPatch, season: Callable[..., list[MatchResult]]
) -> None:
    monkeypatch.setattr("arena.ladder.fit.MAX_STEPS", 2)
    with pytest.raises(LadderError, match="after 2 steps"):
        solved(season(1, range(10), 300), 10)
