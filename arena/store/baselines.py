"""What the house scored on the deals of rated matches: rows beside the results, numbered as they come, only added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from operator import attrgetter
from typing import Final

from sqlalchemy import Connection, bindparam, func, insert, literal, select

from arena.ladder.fortune import Kind, Replayed
from arena.store import schema
from arena.store.events import flags_of, nodes_of

AT_ONCE: Final = 10_000
"""Rows fetched at once."""
_BASELINES: Final = schema.baselines.c
_EVENTS: Final = schema.events.c
_SEATS: Final = schema.match_seats.c
# Made once, as in `matches`. The number is found by the statement that uses it.
_ADD: Final = insert(schema.baselines).from_select(
    [column.name for column in _BASELINES],
    select(
        bindparam("of_game"),
        func.coalesce(func.max(_BASELINES.number), 0) + 1,
        *(bindparam(name) for name in ("of_match", "by_bots", "by_seat")),
    ).where(_BASELINES.game == bindparam("of_game")),
    include_defaults=False,
)
_READ: Final = (
    select(_BASELINES.number, _BASELINES.match_id, _BASELINES.house, _BASELINES.scores.label("baselines"))
    .add_columns(schema.matches.c.seats, schema.matches.c.options, _EVENTS.nodes, _EVENTS.counts, _SEATS.score)
    .join_from(schema.baselines, schema.matches)
    .join(schema.events, (_EVENTS.match_id == _BASELINES.match_id) & (_EVENTS.kind == "result"))
    .join(schema.match_seats, _SEATS.match_id == _BASELINES.match_id)
    .where(_BASELINES.game == bindparam("of_game"), _BASELINES.number > bindparam("after"))
    .order_by(_BASELINES.number, _SEATS.seat)
)


def add(connection: Connection, game: str, match: int, house: str, scores: Sequence[int]) -> None:
    """The deals of a rated match were played again by these bots; `scores` by seat are sums over all of them."""
    row = {"of_game": game, "of_match": match, "by_bots": house, "by_seat": ",".join(map(str, scores))}
    connection.execute(_ADD, row)


def read(connection: Connection, game: str, after: int = 0, through: int | None = None) -> Iterator[Replayed]:
    """The replayed matches of a game in their order: those with numbers above `after`, up to `through` where given.

    A match's baselines are sums over the bots that replayed it.
    """
    query = _READ if through is None else _READ.where(_BASELINES.number <= literal(through))
    rows = connection.execute(query.execution_options(yield_per=AT_ONCE), {"of_game": game, "after": after})
    for number, group in groupby(rows, attrgetter("number")):
        seats = list(group)
        row = seats[0]
        yield Replayed(
            number,
            row.match_id,
            Kind(row.seats, row.options, row.house),
            nodes_of(row.nodes),
            flags_of(row.counts),
            tuple(seat.score for seat in seats),
            tuple(map(int, row.baselines.split(","))),
        )


def newest(connection: Connection, game: str) -> int:
    """The number of the last replayed match of a game; 0 before the first."""
    return connection.scalar(select(func.max(_BASELINES.number)).where(_BASELINES.game == game)) or 0


def missing(connection: Connection, game: str, most: int) -> tuple[int, ...]:
    """The last results of a game without a baseline, at most so many, oldest first, after the last one replayed.

    What was passed over before that one stays without.
    """
    last = connection.scalar(
        select(_EVENTS.number)
        .join_from(schema.baselines, schema.events, _EVENTS.match_id == _BASELINES.match_id)
        .where(_BASELINES.game == game, _EVENTS.kind == "result")
        .order_by(_BASELINES.number.desc())
        .limit(1)
    )
    query = (
        select(_EVENTS.match_id)
        .where(_EVENTS.game == game, _EVENTS.kind == "result", _EVENTS.number > (last or 0))
        .where(_EVENTS.match_id.not_in(select(_BASELINES.match_id).where(_BASELINES.match_id == _EVENTS.match_id)))
        .order_by(_EVENTS.number.desc())
        .limit(most)
    )
    return tuple(connection.scalars(query))[::-1]
