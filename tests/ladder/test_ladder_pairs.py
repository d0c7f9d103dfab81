"""Pair counts, compared with a loop over the seats. They are whole, exact, and independent of order."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from arena.ladder.columns import SHARE, Columns, Ints
from arena.ladder.errors import LadderError, UnknownNode
from arena.ladder.events import Entrant, MatchResult, Node
from arena.ladder.pairs import TABLE_SIZE, UNIT, WEIGHTS, Entrants, Pairs
from bench.ladder.arrays import columns_of

NODES = range(12)


def roster(nodes: range = NODES) -> Entrants:
    return Entrants(Entrant(Node(node)) for node in nodes)


FIELDS = ("won", "played", "won_alone", "played_alone")


def same(one: Pairs, other: Pairs) -> bool:
    """Return True if two sums are equal, also in their stored form, which contains no zeros."""
    return np.array_equal(one.matches, other.matches) and all(
        (mine := getattr(one, field)).dtype == np.int64
        and mine.has_sorted_indices
        and all(
            np.array_equal(getattr(mine, part), getattr(getattr(other, field), part))
            for part in ("data", "indices", "indptr")
        )
        for field in FIELDS
    )


def dense(pairs: Pairs) -> dict[str, Ints]:
    return {field: getattr(pairs, field).toarray() for field in FIELDS}


def by_hand(results: list[MatchResult], size: int) -> Pairs:
    won, played = np.zeros((2, 2, size, size), np.int64)
    matches = np.zeros(size, np.int64)
    for result in results:
        seats = range(len(result.nodes))
        counted = {result.nodes[seat] for seat in seats if result.counts[seat]}
        spoilt = {result.nodes[seat] for seat in seats if result.spoilt and result.spoilt[seat]}
        matches[list(counted)] += 1
        for i in seats:
            for j in seats:
                own, other = result.nodes[i], result.nodes[j]
                if own in counted and own != other:
                    if other in spoilt:
                        continue
                    weight = UNIT * 3 // (len(seats) + 1)
                    alone = int(other not in counted or own in spoilt)
                    played[alone, own, other] += weight
                    ahead, level = result.places[i] < result.places[j], result.places[i] == result.places[j]
                    won[alone, own, other] += weight * ahead + weight // 2 * level
    both = csr_array(np.triu(won[0])), csr_array(np.triu(played[0]))
    return Pairs(*both, csr_array(won[1]), csr_array(played[1]), matches)


def test_a_pair_of_n_seats_has_the_weight_3_over_n_plus_1_and_its_half_is_whole() -> None:
    assert {seats: weight * SHARE / UNIT for seats, weight in WEIGHTS.items()} == {n: 3 / (n + 1) for n in range(2, 8)}
    assert all(weight % 2 == 0 for weight in WEIGHTS.values())


@pytest.mark.parametrize("spoilt", [0.0, 0.3])
def test_the_counts_are_those_of_a_loop_over_the_seats(season: Callable[..., list[MatchResult]], spoilt: float) -> None:
    results = season(1, NODES, 400, seats=(2, 3, 4, 5, 6, 7), spoilt=spoilt)
    pairs = Pairs.of(Columns.of(results), roster())
    assert same(pairs, by_hand(results, 12))
    assert (pairs.played_alone.nnz > 0) == (spoilt > 0)


def test_seats_of_one_node_do_not_play_each_other() -> None:
    results = [MatchResult(1, 1, (Node(0), Node(1), Node(0), Node(0)), (1, 2, 3, 4), (True, True, False, True))]
    pairs = Pairs.of(Columns.of(results), roster())
    assert same(pairs, by_hand(results, 12))
    assert pairs.matches[:2].tolist() == [1, 1]


def test_who_vanished_loses_and_the_others_play_each_other() -> None:
    spoilt = (True, False, False)
    results = [MatchResult(1, 1, (Node(0), Node(1), Node(2)), (3, 1, 2), (True, True, True), spoilt)]
    pairs = Pairs.of(Columns.of(results), roster())
    assert pairs.played_alone[0, 1] == pairs.played_alone[0, 2] == WEIGHTS[3] * SHARE
    assert pairs.played_alone.nnz == 2
    assert pairs.won_alone.nnz == 0
    assert pairs.played[1, 2] == pairs.won[1, 2] == WEIGHTS[3] * SHARE
    assert pairs.played.nnz == 1
    assert pairs.matches.tolist() == [1, 1, 1] + 9 * [0]


def test_two_who_vanished_have_nothing_between_them() -> None:
    nodes, spoilt = tuple(map(Node, range(4))), (True, True, False, False)
    pairs = Pairs.of(Columns.of([MatchResult(1, 1, nodes, (3, 3, 2, 1), (True,) * 4, spoilt)]), roster())
    sums = dense(pairs)
    assert not (sums["played"] + sums["played_alone"])[:2, :2].any()
    assert (sums["played_alone"][:2, 2:4] == WEIGHTS[4] * SHARE).all()
    assert sums["played"][2:4, 2:4].tolist() == [[0, WEIGHTS[4] * SHARE], [0, 0]]


def test_under_the_older_rule_the_others_gain_nothing() -> None:
    # the first seat vanished, and a house bot played most of its match, so this counts for the first seat alone
    results = [MatchResult(1, 1, (Node(0), Node(1), Node(2)), (3, 1, 2), (True, False, False))]
    pairs = Pairs.of(Columns.of(results), roster())
    assert pairs.played_alone[0, 1] == pairs.played_alone[0, 2] == WEIGHTS[3] * SHARE
    assert pairs.played.nnz == pairs.won_alone.nnz == 0
    assert pairs.played_alone.nnz == 2
    assert pairs.matches.tolist() == [1] + 11 * [0]


@settings(max_examples=30)
@given(st.randoms(use_true_random=False), st.integers(0, 80))
def test_neither_order_nor_batches_show(season: Callable[..., list[MatchResult]], chance: object, cut: int) -> None:
    results = season(2, NODES, 80, seats=(2, 4, 5), spoilt=0.1)
    whole = Pairs.of(Columns.of(results), roster())
    shuffled = list(results)
    chance.shuffle(shuffled)  # type: ignore[attr-defined]  # hypothesis names no type for its Random
    first, second = (Pairs.of(Columns.of_results(part), roster()) for part in (shuffled[:cut], shuffled[cut:]))
    assert same(first + second, whole)
    assert same(whole - second, first)


def test_another_roster_only_moves_the_counts(season: Callable[..., list[MatchResult]]) -> None:
    columns = Columns.of(season(5, range(3, 9), 50))
    narrow, wide = roster(range(3, 9)), roster()
    assert same(Pairs.of(columns, narrow).reindexed(narrow, wide), Pairs.of(columns, wide))


def test_large_nodes_are_found_too(season: Callable[..., list[MatchResult]]) -> None:
    results = season(6, NODES, 50)
    far = [result._replace(nodes=tuple(Node(TABLE_SIZE + 7 * node) for node in result.nodes)) for result in results]
    large = Entrants(Entrant(Node(TABLE_SIZE + 7 * node)) for node in NODES)
    large.check_known(Columns.of(far))
    assert same(Pairs.of(Columns.of(far), large), by_hand(results, 12))


@pytest.mark.parametrize("known", [(0, 1, 3), (TABLE_SIZE, TABLE_SIZE + 1), ()])
@pytest.mark.parametrize("stranger", [2, TABLE_SIZE + 5])
def test_a_stranger_has_a_named_error(known: tuple[int, ...], stranger: int) -> None:
    columns = columns_of([[stranger, stranger]], [[1, 2]], match_id=[17])
    with pytest.raises(UnknownNode, match=f"node {stranger} has a seat in match 17"):
        Entrants(Entrant(Node(node)) for node in known).check_known(columns)


@pytest.mark.parametrize(
    ("entrants", "error", "words"),
    [
        ([Entrant(Node(1)), Entrant(Node(1), Node(1))], LadderError, "node 1 is among the entrants more than once"),
        ([Entrant(Node(1), Node(9))], LadderError, "node 1 is a version after node 9"),
        ([Entrant(Node(1), Node(1))], LadderError, "node 1 comes after itself"),
        (
            [Entrant(Node(3)), Entrant(Node(1), Node(2)), Entrant(Node(2), Node(1))],
            LadderError,
            "node 1 comes after itself",
        ),
    ],
)
def test_contradictory_entrants_have_a_named_error(entrants: list[Entrant], error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        Entrants(entrants)


def test_the_versions_of_a_bot_are_a_family() -> None:
    versions = [Entrant(Node(5), Node(3)), Entrant(Node(3), Node(8)), Entrant(Node(8)), Entrant(Node(4))]
    assert [Entrants(versions).nodes[family] for family in Entrants(versions).families] == [8, 4, 8, 8]
