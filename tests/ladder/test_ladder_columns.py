"""The list of results as columns: valid results, and a named error for every contradiction."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from arena.ladder.columns import CHUNK_ROWS, Columns
from arena.ladder.errors import (
    LadderError,
    MatchRepeated,
    UnknownNode,
    WrongSeats,
)
from arena.ladder.events import Event, MatchResult, Node, Void
from bench.ladder.arrays import columns_of

A, B, C = Node(1), Node(2), Node(3)


def duel(number: int, match_id: int, places: tuple[int, ...] = (1, 2)) -> MatchResult:
    return MatchResult(number, match_id, (A, B), places, (True, True))


def rows(columns: Columns) -> list[tuple[object, ...]]:
    fields = (columns.match_id, columns.seats, columns.nodes, columns.places, columns.counts, columns.spoilt)
    return [tuple(np.asarray(value).tolist() for value in row) for row in zip(*fields, strict=True)]


def test_a_result_is_a_row() -> None:
    columns = Columns.of([MatchResult(1, 7, (B, C, A), (2, 3, 1), (True, False, True))])
    no = [False] * 4
    assert rows(columns) == [
        (7, 3, [2, 3, 1, -1, -1, -1, -1], [2, 3, 1, 0, 0, 0, 0], [True, False, True, *no], [*no, *no[1:]]),
    ]
    assert columns.through == 1


def test_no_events_are_no_rows() -> None:
    columns = Columns.of(())
    assert len(columns) == 0
    assert columns.through == 0
    assert list(columns.blocks()) == []


def test_a_voided_result_is_gone_but_its_events_are_counted() -> None:
    columns = Columns.of([duel(1, 5), duel(2, 6), Void(3, 5, "wrong deal"), duel(4, 7)])
    assert columns.match_id.tolist() == [6, 7]
    assert columns.through == 4


@pytest.mark.parametrize(
    ("events", "error", "words"),
    [
        ([duel(2, 5)], LadderError, "event 2 follows where event 1 should"),
        ([duel(1, 5), duel(3, 6)], LadderError, "event 3 follows where event 2 should"),
        ([duel(1, 5), duel(1, 6)], LadderError, "event 1 comes where event 2 should"),
        ([duel(1, 5), duel(2, 5)], MatchRepeated, "match 5"),
        ([duel(1, 5), Void(2, 5, ""), duel(3, 5)], MatchRepeated, "match 5"),
        ([Void(1, 5, "")], LadderError, "match 5 cannot be voided"),
        ([duel(1, 5), Void(2, 5, ""), Void(3, 5, "")], LadderError, "match 5 cannot be voided"),
        ([duel(1, 5)._replace(nodes=(A,), places=(1,), counts=(True,))], WrongSeats, "match 5 has 1 nodes"),
        ([MatchResult(1, 5, (A,) * 8, tuple(range(1, 9)), (True,) * 8)], WrongSeats, "8 nodes"),
        ([duel(1, 5)._replace(places=(1, 2, 3))], WrongSeats, "3 places"),
        ([duel(1, 5)._replace(counts=(True,))], WrongSeats, "1 count flags"),
        ([duel(1, 5)._replace(nodes=(A, Node(-4)))], UnknownNode, "node -4 .* match 5"),
        ([duel(1, 4), duel(2, 5, (2, 2))], LadderError, r"the places \(2, 2\) of match 5"),
        ([duel(1, 5, (1, 3))], LadderError, r"the places \(1, 3\)"),
        ([duel(1, 5, (0, 1))], LadderError, r"the places \(0, 1\)"),
        ([duel(1, 5, (1, 300))], LadderError, r"the places \(1, 300\)"),
        ([MatchResult(1, 5, (A, B, C), (1, 1, 2), (True,) * 3)], LadderError, r"the places \(1, 1, 2\)"),
    ],
)
def test_a_list_that_contradicts_itself_has_a_named_error(
    events: list[Event], error: type[LadderError], words: str
) -> None:
    with pytest.raises(error, match=words):
        Columns.of(events)


@given(st.lists(st.integers(0, 4), min_size=2, max_size=7))
def test_every_ranking_with_shared_places_is_taken(points: list[int]) -> None:
    places = tuple(1 + sum(other > own for other in points) for own in points)
    nodes = tuple(map(Node, range(len(points))))
    assert rows(Columns.of([MatchResult(1, 1, nodes, places, (True,) * len(points))]))[0][3] == [
        *places,
        *(7 - len(points)) * [0],
    ]


@given(st.lists(st.integers(-1, 8), min_size=2, max_size=7))
def test_no_other_places_are_taken(places: list[int]) -> None:
    result = MatchResult(1, 1, tuple(map(Node, range(len(places)))), tuple(places), (True,) * len(places))
    if places == [1 + sum(other < own for other in places) for own in places]:
        assert len(Columns.of([result])) == 1
    else:
        with pytest.raises(LadderError, match="are no ranking"):
            Columns.of([result])


def test_a_result_counts_for_a_node_when_it_does_for_one_of_its_seats() -> None:
    result = MatchResult(1, 1, (A, B, A, C), (1, 2, 3, 4), (False, True, True, False))
    assert Columns.of([result]).counts[0].tolist() == [True, True, True, False, False, False, False]


def test_a_node_is_spoilt_when_one_of_its_seats_is() -> None:
    result = MatchResult(1, 1, (A, B, A, C), (1, 2, 3, 4), (True,) * 4, (False, False, True, False))
    assert Columns.of([result]).spoilt[0].tolist() == [True, False, True, False, False, False, False]
    [block] = Columns.of([result]).blocks()
    assert block.moves(0, 1).tolist() == [True]
    assert block.moves(1, 0).tolist() == [False]
    with pytest.raises(WrongSeats):
        Columns.of([result._replace(spoilt=(True,))])


def test_arrays_make_the_same_columns_as_events(season: Callable[..., list[MatchResult]]) -> None:
    results = season(3, range(9), 200, seats=(2, 3, 7), spoilt=0.2)
    wide = [
        [*getattr(result, field), *[filler] * (7 - len(result.nodes))]
        for field, filler in (("nodes", -1), ("places", 5), ("counts", True), ("spoilt", True))
        for result in results
    ]
    nodes, places, counts, spoilt = (wide[start : start + 200] for start in range(0, 800, 200))
    columns = columns_of(nodes, places, counts, [result.match_id for result in results], spoilt=spoilt)
    assert rows(columns) == rows(Columns.of(results))
    assert columns.through == 200


def test_arrays_need_neither_matches_nor_marks() -> None:
    columns = columns_of([[1, 2], [2, 3]], [[1, 2], [1, 1]], through=9)
    assert columns.match_id.tolist() == [1, 2]
    assert columns.counts[:, :3].tolist() == [[True, True, False]] * 2
    assert columns.through == 9


def test_arrays_come_in_any_order_of_the_matches() -> None:
    assert columns_of([[1, 2]] * 3, [[1, 2]] * 3, match_id=[9, 2, 4]).match_id.tolist() == [9, 2, 4]


@pytest.mark.parametrize(
    ("nodes", "places", "match", "why"),
    [
        ([[1, -1]], [[1, 0]], [1], "2 to 7 seats"),
        ([[1, -1, 2]], [[1, 0, 2]], [1], "2 to 7 seats"),
        ([[*range(8)]], [[*range(1, 9)]], [1], "2 to 7 seats"),
        ([[1, -2]], [[1, 2]], [1], "node -2 has a seat in match 1"),
        ([[1, 2]], [[1, 4]], [1], "no ranking"),
        ([[1, 2], [1, 2], [2, 1]], [[1, 2]] * 3, [4, 3, 4], "more than one result"),
    ],
)
def test_arrays_that_make_no_matches_have_a_named_error(
    nodes: list[list[int]], places: list[list[int]], match: list[int], why: str
) -> None:
    with pytest.raises(LadderError, match=why):
        columns_of(nodes, places, match_id=match)


def test_parts_are_taken_out_and_put_together(season: Callable[..., list[MatchResult]]) -> None:
    results = season(4, range(9), 60, seats=(2, 4))
    whole = Columns.of(results)
    some = [result.match_id for result in results[10:30]]
    apart = whole.without(some).joined(whole.only(some))
    assert sorted(rows(apart), key=lambda row: int(str(row[0]))) == rows(whole)
    assert len(whole.without([1, 2])) == 60
    assert set(whole.with_seats(2).seats.tolist()) == {2}
    assert len(whole.with_seats(2)) + len(whole.with_seats(4)) == 60
    assert whole.with_seats(2).through == 60


def test_blocks_have_every_match_once() -> None:
    matches = CHUNK_ROWS + 10
    seats = np.where(np.arange(matches) % 3 == 0, 2, 3)
    nodes = np.stack([np.zeros(matches), np.ones(matches), np.where(seats == 3, 2, -1)], axis=1)
    columns = columns_of(nodes, np.tile([1, 2, 3], (matches, 1)))
    blocks = list(columns.blocks())
    assert [len(block.nodes) for block in blocks] == [2, 3, 2, 3]
    assert sum(block.nodes.shape[1] for block in blocks) == matches
    assert all((block.nodes >= 0).all() and (block.places > 0).all() for block in blocks)
