"""Live ratings start from the fitted ladder and apply the later results, as if the ladder had always been in force."""

from __future__ import annotations

from collections.abc import Callable
from statistics import mean

import pytest

from arena.ladder.columns import Columns
from arena.ladder.errors import UnknownNode
from arena.ladder.events import Entrant, Event, MatchResult, Node, Void
from arena.ladder.fitted import ladder
from arena.ladder.live import NEW, Rating, rebased, replayed_since, start, update

FIELD = [Entrant(Node(node)) for node in range(8)]


def test_a_new_version_starts_from_its_parent_with_60_elo_more_of_error() -> None:
    assert start(None) == NEW
    assert start(Rating(1620, 25)) == Rating(1620, 65)


def test_everybody_sits_where_the_ladder_has_it(season: Callable[..., list[MatchResult]]) -> None:
    made = ladder(FIELD, Columns.of(season(1, range(8), 100)))
    seats = rebased(made)
    assert seats == {figure.node: Rating(figure.rating, figure.error) for figure in made.figures}


def test_who_came_since_starts_with_the_first_match_from_where_the_parent_is_by_then(
    season: Callable[..., list[MatchResult]],
) -> None:
    results = season(1, range(8), 100)
    made = ladder(FIELD, Columns.of(results))
    new = [Entrant(Node(8), Node(3)), Entrant(Node(9), Node(8)), Entrant(Node(10))]
    nodes = (Node(3), Node(9), Node(10))
    moved = MatchResult(101, 5000, (Node(3), Node(4)), (1, 2), (True, True))
    first = MatchResult(102, 5001, nodes, (1, 2, 3), (True, True, True))
    before = replayed_since(made, FIELD, [*results, moved])
    assert before[Node(3)] != rebased(made)[Node(3)]
    after = replayed_since(made, [*FIELD, *new], [*results, moved, first])
    assert [after[node] for node in nodes] == list(
        update([before[Node(3)], start(before[Node(3)]), NEW], first.places, nodes)
    )
    assert Node(8) not in after, "it never played"


def test_what_happened_since_is_applied_in_order(season: Callable[..., list[MatchResult]]) -> None:
    results = season(2, range(8), 130, spoilt=0.2)
    made = ladder(FIELD, Columns.of(results[:120]))
    expected = rebased(made)
    for result in results[120:]:
        after = update(
            [expected[node] for node in result.nodes], result.places, result.nodes, result.counts, result.spoilt
        )
        expected.update(zip(result.nodes, after, strict=True))
    assert replayed_since(made, FIELD, results) == expected
    assert replayed_since(made, FIELD, results[:120]) == rebased(made)


def test_a_void_takes_back_what_is_younger_than_the_ladder(season: Callable[..., list[MatchResult]]) -> None:
    results = season(3, range(8), 60)
    made = ladder(FIELD, Columns.of(results[:50]))
    events: list[Event] = [*results, Void(61, results[54].match_id, "lag"), Void(62, results[10].match_id, "lag")]
    kept = [result for result in results if result.number != 55]
    assert replayed_since(made, FIELD, events) == replayed_since(made, FIELD, kept)


@pytest.mark.parametrize("anchors", [0, 3])
def test_live_and_truth_stay_near_each_other(season: Callable[..., list[MatchResult]], anchors: int) -> None:
    entrants = [entrant._replace(anchor=entrant.node < anchors) for entrant in FIELD]
    results = season(4, range(8), 1200)
    apart: list[float] = []
    for through in (200, 600, 1000):
        before = ladder(entrants, Columns.of(results[:through]))
        live = replayed_since(before, entrants, results[: through + 200])
        truth = ladder(entrants, Columns.of(results[: through + 200]))
        apart += [abs(live[figure.node].value - figure.rating) for figure in truth.figures]
    assert max(apart) < 10
    assert mean(apart) < 3


def test_a_node_nobody_knows_cannot_have_played(season: Callable[..., list[MatchResult]]) -> None:
    results = season(5, range(9), 20)
    with pytest.raises(UnknownNode, match="node 8 has a seat in match 10"):
        replayed_since(ladder(FIELD, Columns.of(())), FIELD, results)
