"""Baselines: scores of house bots that replayed the deals of rated matches. Append-only, numbered on each ladder."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from sqlalchemy import Connection, bindparam, func, insert, literal, select

from arena.ladder.luck_columns import DealKind, ReplayedMatch
from arena.store import schema
from arena.store.ladder.events import flags_of, nodes_of

AT_ONCE: Final = 10_000
"""Number of rows fetched from the database in one batch."""
_BASELINES: Final = schema.baselines.c
_EVENTS: Final = schema.rated_results.c
_SEATS: Final = schema.match_seats.c
# Built once at import, as in `matches`. The insert statement itself computes the next number.
_ADD: Final = insert(schema.baselines).inline().values(number=schema.next_number(schema.baselines))
_READ: Final = (
    select(_BASELINES.number, _BASELINES.match_id, _BASELINES.house, _BASELINES.scores.label("baselines"))
    .add_columns(schema.matches.c.seats, schema.matches.c.options, _EVENTS.nodes, _EVENTS.counts, _SEATS.score)
    .join_from(schema.baselines, schema.matches)
    .join(schema.rated_results, (_EVENTS.match_id == _BASELINES.match_id) & (_EVENTS.kind == "result"))
    .join(schema.match_seats, _SEATS.match_id == _BASELINES.match_id)
    .where(_BASELINES.ladder == bindparam("of_ladder"), _BASELINES.number > bindparam("after"))
    .order_by(_BASELINES.number, _SEATS.seat)
)


def add(connection: Connection, ladder_id: str, match_id: int, house: str, scores: Sequence[int]) -> None:
    """Store the baseline of a rated match.

    `house`: the names of the bots that replayed the match's deals. `scores`: the sums of their scores, by seat.
    """
    row = {"ladder": ladder_id, "match_id": match_id, "house": house, "scores": ",".join(map(str, scores))}
    connection.execute(_ADD, row | {"of_ladder": ladder_id})


def read(connection: Connection, ladder_id: str, after: int = 0, through: int | None = None) -> Iterator[ReplayedMatch]:
    """Yield a ladder's matches with baselines, ordered by the baselines' numbers.

    Only numbers above `after` and, if given, up to `through` are included. The baselines of a match are sums over the
    bots that replayed it.
    """
    query = _READ if through is None else _READ.where(_BASELINES.number <= literal(through))
    streamed = query.execution_options(yield_per=AT_ONCE)
    with connection.execute(streamed, {"of_ladder": ladder_id, "after": after}) as rows:
        for number, group in groupby(rows, attrgetter("number")):
            seats = list(group)
            row = seats[0]
            yield ReplayedMatch(
                number,
                row.match_id,
                DealKind(row.seats, row.options, row.house),
                nodes_of(row.nodes),
                flags_of(row.counts),
                tuple(seat.score for seat in seats),
                tuple(map(int, row.baselines.split(","))),
            )


def newest(connection: Connection, ladder_id: str) -> int:
    """Return the number of the newest baseline of a ladder; 0 if it has none."""
    return connection.scalar(select(func.max(_BASELINES.number)).where(_BASELINES.ladder == ladder_id)) or 0


def missing(connection: Connection, ladder_id: str, most: int) -> tuple[int, ...]:
    """Return the newest matches of a ladder that have a result but no baseline, at most `most` of them, oldest first.

    Only results after the last match with a baseline count, because an earlier match that was skipped never gets one.
    """
    last = connection.scalar(
        select(_EVENTS.number)
        .join_from(schema.baselines, schema.rated_results, _EVENTS.match_id == _BASELINES.match_id)
        .where(_BASELINES.ladder == ladder_id, _EVENTS.kind == "result")
        .order_by(_BASELINES.number.desc())
        .limit(1)
    )
    query = (
        select(_EVENTS.match_id)
        .where(_EVENTS.ladder == ladder_id, _EVENTS.kind == "result", _EVENTS.number > (last or 0))
        .where(_EVENTS.match_id.not_in(select(_BASELINES.match_id).where(_BASELINES.match_id == _EVENTS.match_id)))
        .order_by(_EVENTS.number.desc())
        .limit(most)
    )
    return tuple(connection.scalars(query))[::-1]
