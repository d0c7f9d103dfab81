"""The live ratings' rows: what each version's matches add up to, per game. The arithmetic is `arena.ladder`'s."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from statistics import fmean
from typing import Any, Final

from sqlalchemy import Connection, Row, bindparam, insert, select, update

from arena.ladder import live, think
from arena.ladder.events import Node, Result
from arena.ladder.live import Rating, RatingChange
from arena.replay.thinking import Thinking
from arena.store import schema

_COLUMNS: Final = schema.ratings.c
_PARENT: Final = select(schema.versions.c.parent).where(schema.versions.c.id == bindparam("of_node"))
# Made once, as in `matches`: making a statement costs SQLAlchemy more than running it.
_KNOWN: Final = select(schema.ratings).where(
    _COLUMNS.game == bindparam("of_game"), _COLUMNS.node.in_(bindparam("of_nodes", expanding=True))
)
_ENTER: Final = insert(schema.ratings)
_MOVE: Final = update(schema.ratings).where(
    _COLUMNS.node == bindparam("of_node"), _COLUMNS.game == bindparam("of_game")
)
_NOTHING: Final = Thinking(0, 0, ())


def rate(
    connection: Connection,
    game: str,
    nodes: Sequence[Node],
    places: Sequence[int],
    counts: Sequence[bool],
    thinking: Sequence[Thinking] = (),
) -> tuple[RatingChange, ...]:
    """Moves the live ratings of the versions in one match, by seat, for whom it counts; it is one match for one in
    several seats.

    It won where one of its seats did, and its relative rank is the mean of its seats'. Its decisions and think times
    are added up where `thinking` tells them.
    """
    rows = _rows(connection, game, nodes)
    before = tuple(_rating(rows[node]) if node in rows else initial(connection, game, node) for node in nodes)
    after = live.update(before, places, nodes, counts)
    changes = tuple(RatingChange(*pair) for pair in zip(before, after, strict=True))

    new: list[dict[str, Any]] = []
    old: list[dict[str, Any]] = []
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
        }
        if row:
            old.append({"of_node": node, "of_game": game, **values})
        else:
            new.append({"node": node, "game": game, **values})
    if new:
        connection.execute(_ENTER, new)
    if old:
        connection.execute(_MOVE, old)
    return changes


def take_back(connection: Connection, game: str, result: Result) -> None:
    """A match that was rated counts no more in what adds up; the next fit moves the ratings."""
    _, _, nodes, places, counts = result
    rows = _rows(connection, game, nodes)
    for node in {node for node, does in zip(nodes, counts, strict=True) if does}:
        own = [seat for seat, sitter in enumerate(nodes) if sitter == node]
        values = {
            "matches": rows[node].matches - 1,
            "wins": rows[node].wins - _won(own, places),
            "rank_sum": rows[node].rank_sum - _rank(own, places),
        }
        connection.execute(_MOVE, {"of_node": node, "of_game": game, **values})


def initial(connection: Connection, game: str, node: Node) -> Rating:
    """The live rating of a version before its first match of a game, from the nearest version before it with one."""
    ancestor: Node | None = node
    while (ancestor := connection.scalar(_PARENT, {"of_node": ancestor})) is not None:
        if (row := _rows(connection, game, [ancestor]).get(ancestor)) is not None:
            return live.start(_rating(row))
    return live.start(None)


def _rows(connection: Connection, game: str, nodes: Sequence[Node]) -> Mapping[Node, Row[Any]]:
    return {row.node: row for row in connection.execute(_KNOWN, {"of_game": game, "of_nodes": [*set(nodes)]})}


def _won(own: Sequence[int], places: Sequence[int]) -> int:
    return int(min(places[seat] for seat in own) == 1)


def _rank(own: Sequence[int], places: Sequence[int]) -> float:
    """The mean place of some seats on a scale from 0, first, to 1, last."""
    return fmean((places[seat] - 1) / (len(places) - 1) for seat in own)


def _added(row: Row[Any] | None, thinking: Sequence[Thinking]) -> dict[str, Any]:
    """A row's decisions and think times with those of a match."""
    decisions, missed, times = (row.decisions, row.missed, row.think) if row else (0, 0, "{}")
    added = think.histogram(time for each in thinking for time in each.times)
    for bucket, count in json.loads(times).items():
        added[int(bucket)] += count
    return {
        "decisions": decisions + sum(each.decisions for each in thinking),
        "missed": missed + sum(each.missed for each in thinking),
        "think": json.dumps(added, sort_keys=True, separators=(",", ":")),
    }


def _rating(row: Row[Any]) -> Rating:
    return Rating(row.rating, row.deviation)
