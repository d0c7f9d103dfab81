"""The table `ratings`: live rating and totals of every version, by ladder. The arithmetic is in `arena.ladder`."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, bindparam, insert, select, update

from arena.ladder import live, think_times
from arena.ladder.events import MatchResult, Node
from arena.ladder.live import Rating, RatingChange
from arena.replay.thinking import Thinking
from arena.store import schema
from arena.store.base.statements import Statement
from arena.store.ladder.pair_days import Counted

NOTHING_COUNTED: Final = Counted()


class RatingRow(NamedTuple):
    """Live rating and totals of a version on a ladder. The fields are named after the columns."""

    rating: float
    deviation: float
    matches: int
    wins: int
    rank_sum: float
    last_change: float
    decisions: int
    missed: int
    think: str
    """Histogram of think times, as JSON."""
    first_at: int | None
    last_at: int | None
    """Times at which the first and the last result, even if annulled, were stored, in microseconds since 1970."""
    score_sum: float


_COLUMNS: Final = schema.ratings.c
_OF_ONE: Final = (_COLUMNS.node == bindparam("of_node"), _COLUMNS.ladder == bindparam("of_ladder"))
_PARENT: Final = select(schema.versions.c.parent).where(schema.versions.c.id == bindparam("of_node"))
_KNOWN: Final = Statement(select(*(_COLUMNS[name] for name in RatingRow._fields)).where(*_OF_ONE))
_ENTER: Final = Statement(insert(schema.ratings), "node", "ladder", *RatingRow._fields)
_MOVE: Final = Statement(update(schema.ratings).where(*_OF_ONE), *RatingRow._fields)


def rate(
    connection: Connection,
    ladder_id: str,
    nodes: Sequence[Node],
    rows: Mapping[Node, RatingRow],
    places: Sequence[int],
    scores: Sequence[int],
    counts: Sequence[bool],
    at: int,
    spoilt: Sequence[bool] = (),
    thinking: Sequence[Thinking] = (),
    counted: Counted = NOTHING_COUNTED,
) -> tuple[RatingChange, ...]:
    """Apply a match stored at the time `at` to the live ratings of the versions for which it counts.

    `rows`: the existing rows of the versions. Return the changes, by seat.

    A version in several seats has played one match. It won if one of its seats won; its relative rank and its score are
    means over its seats. Its decisions and think times are added from `thinking`, if given. `counted`: the pairs of
    seats that a quota affects.
    """
    before = tuple(_rating(rows[node]) if node in rows else initial(connection, ladder_id, node) for node in nodes)
    after = live.update(before, places, nodes, counts, spoilt, counted.beyond)
    seats = range(len(nodes))
    beyond = [tuple(sorted(sum(pair) - seat for pair in counted.beyond if seat in pair)) for seat in seats]
    again = [
        tuple((sum(pair) - seat, day) for pair, day in sorted(counted.again.items()) if seat in pair) for seat in seats
    ]
    changes = tuple(RatingChange(*each) for each in zip(before, after, beyond, again, strict=True))

    for node, change in {node: each for node, each, does in zip(nodes, changes, counts, strict=True) if does}.items():
        own = [seat for seat, sitter in enumerate(nodes) if sitter == node]
        row = rows.get(node)
        values = {
            "rating": change.after.value,
            "deviation": change.after.deviation,
            "matches": (row.matches if row else 0) + 1,
            "wins": (row.wins if row else 0) + _won(own, places),
            "rank_sum": (row.rank_sum if row else 0.0) + _rank(own, places),
            "last_change": change.change,
            **_added(row, [thinking[seat] for seat in own] if thinking else ()),
            "first_at": at if row is None else row.first_at,
            "last_at": at,
            "score_sum": (row.score_sum if row else 0.0) + _points(node, nodes, scores),
        }
        if row:
            _MOVE.write(connection, {"of_node": node, "of_ladder": ladder_id, **values})
        else:
            _ENTER.write(connection, {"node": node, "ladder": ladder_id, **values})
    return changes


def take_back(connection: Connection, ladder_id: str, result: MatchResult, scores: Sequence[int]) -> None:
    """Subtract an annulled match from the totals. The next fit corrects the ratings."""
    nodes, places, counts = result.nodes, result.places, result.counts
    rows = _rows(connection, ladder_id, nodes)
    for node in {node for node, does in zip(nodes, counts, strict=True) if does}:
        own = [seat for seat, sitter in enumerate(nodes) if sitter == node]
        row = rows[node]
        less = row._replace(
            matches=row.matches - 1,
            wins=row.wins - _won(own, places),
            rank_sum=row.rank_sum - _rank(own, places),
            score_sum=row.score_sum - _points(node, nodes, scores),
        )
        _MOVE.run(connection, {"of_node": node, "of_ladder": ladder_id, **less._asdict()})


def initial(connection: Connection, ladder_id: str, node: Node) -> Rating:
    """Return the initial live rating of a version on a ladder, derived from its nearest ancestor rated there."""
    ancestor: Node | None = node
    while (ancestor := connection.scalar(_PARENT, {"of_node": ancestor})) is not None:
        if (row := _rows(connection, ladder_id, [ancestor]).get(ancestor)) is not None:
            return live.start(_rating(row))
    return live.start(None)


def _rows(connection: Connection, ladder_id: str, nodes: Sequence[Node]) -> Mapping[Node, RatingRow]:
    """Return the existing rows of the given versions, by node."""
    found = {node: _KNOWN.run(connection, {"of_ladder": ladder_id, "of_node": node}).fetchone() for node in set(nodes)}
    return {node: RatingRow(*row) for node, row in found.items() if row is not None}


def _points(node: Node, nodes: Sequence[Node], scores: Sequence[int]) -> float:
    """Return the mean score of the seats of `node`. Raises ValueError unless there is one score per seat."""
    return fmean(score for sitter, score in zip(nodes, scores, strict=True) if sitter == node)


def _won(own: Sequence[int], places: Sequence[int]) -> int:
    return int(min(places[seat] for seat in own) == 1)


def _rank(own: Sequence[int], places: Sequence[int]) -> float:
    """Return the mean relative rank of some seats: 0 is first, 1 is last."""
    return fmean((places[seat] - 1) / (len(places) - 1) for seat in own)


def _added(row: RatingRow | None, thinking: Sequence[Thinking]) -> dict[str, Any]:
    """Return the columns for decisions and think times, with a match added."""
    decisions, missed, times = (row.decisions, row.missed, row.think) if row else (0, 0, "{}")
    added = think_times.histogram(time for each in thinking for time in each.times)
    for bucket, count in json.loads(times).items():
        added[int(bucket)] += count
    return {
        "decisions": decisions + sum(each.decisions for each in thinking),
        "missed": missed + sum(each.missed for each in thinking),
        "think": json.dumps(added, sort_keys=True, separators=(",", ":")),
    }


def _rating(row: RatingRow) -> Rating:
    return Rating(row.rating, row.deviation)
