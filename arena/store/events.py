"""The list of events, the ladder's only source: results, and corrections that take one back. Rows are only added."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from sqlalchemy import Connection, bindparam, func, insert, literal, literal_column, select

from arena.ladder.events import Event, Node, Result, Void
from arena.store import schema
from arena.store.errors import NoResult, ReasonNotAllowed, ResultVoid, UnknownMatch
from arena.store.prepared import Prepared

LONGEST_REASON: Final = 200
"""Characters."""
AT_ONCE: Final = 10_000
"""Rows fetched at once."""
_COLUMNS: Final = schema.events.c
# The number is found by the statement that uses it.
_ADD: Final = Prepared(
    insert(schema.events).from_select(
        [column.name for column in _COLUMNS],
        select(
            bindparam("of_game"),
            func.coalesce(func.max(_COLUMNS.number), literal_column("0")) + literal_column("1"),
            *map(bindparam, ("of_match", "of_kind", "at_instant", "why", "by_node", "by_place", "by_count")),
        ).where(_COLUMNS.game == bindparam("of_game")),
        include_defaults=False,
    )
)
_READ: Final = (
    select(_COLUMNS.number, _COLUMNS.match_id, _COLUMNS.kind, _COLUMNS.reason)
    .add_columns(_COLUMNS.nodes, _COLUMNS.places, _COLUMNS.counts)
    .where(_COLUMNS.game == bindparam("of_game"), _COLUMNS.number > bindparam("after"))
    .order_by(_COLUMNS.number)
)


def add_result(
    connection: Connection,
    game: str,
    match: int,
    nodes: Sequence[Node],
    places: Sequence[int],
    counts: Sequence[bool],
    at: int,
) -> None:
    """A rated match has ended, everything by seat."""
    _add(connection, game, match, "result", at, "", nodes, places, counts)


def add_void(connection: Connection, match: int, reason: str, at: int) -> str:
    """The result of a match counts no more, for a reason of 1 to 200 printable characters; returns its game.

    UnknownMatch, NoResult, ResultVoid, ReasonNotAllowed.
    """
    if not (0 < len(reason) <= LONGEST_REASON and reason.isprintable() and reason.strip()):
        raise ReasonNotAllowed(reason, LONGEST_REASON)
    kinds = {row.kind: row for row in connection.execute(select(schema.events).where(_COLUMNS.match_id == match))}
    if "void" in kinds:
        raise ResultVoid(match, kinds["void"].reason)
    if "result" not in kinds:
        state = connection.scalar(select(schema.matches.c.state).where(schema.matches.c.id == match))
        raise UnknownMatch(match) if state is None else NoResult(match, state)
    game = str(kinds["result"].game)
    _add(connection, game, match, "void", at, reason, (), (), ())
    return game


def read(connection: Connection, game: str, after: int = 0, through: int | None = None) -> Iterator[Event]:
    """The events of a game in their order: those with numbers above `after`, and up to `through` where given."""
    query = _READ if through is None else _READ.where(_COLUMNS.number <= literal(through))
    rows = connection.execute(query.execution_options(yield_per=AT_ONCE), {"of_game": game, "after": after})
    for number, match, kind, reason, nodes, places, counts in rows:
        if kind == "void":
            yield Void(number, match, reason)
        else:
            yield Result(number, match, nodes_of(nodes), _digits(places), flags_of(counts))


def voided(connection: Connection, game: str, after: int, through: int) -> frozenset[int]:
    """The matches whose results were taken back by the events with numbers above `after` and up to `through`."""
    found = select(_COLUMNS.match_id).where(_COLUMNS.game == game, _COLUMNS.kind == "void")
    return frozenset(connection.scalars(found.where(_COLUMNS.number > after, _COLUMNS.number <= through)))


def result_of(connection: Connection, match: int) -> Result:
    """The result of a match that has one."""
    row = connection.execute(select(schema.events).where(_COLUMNS.match_id == match, _COLUMNS.kind == "result")).one()
    return Result(row.number, match, nodes_of(row.nodes), _digits(row.places), flags_of(row.counts))


def newest(connection: Connection, game: str) -> int:
    """The number of the last event of a game; 0 before the first."""
    return connection.scalar(select(func.max(_COLUMNS.number)).where(_COLUMNS.game == game)) or 0


def void_reasons(connection: Connection, matches: Sequence[int]) -> dict[int, str]:
    """Which of these matches are void, and why."""
    found = select(_COLUMNS.match_id, _COLUMNS.reason).where(_COLUMNS.kind == "void", _COLUMNS.match_id.in_(matches))
    return {row.match_id: row.reason for row in connection.execute(found)}


def _add(
    connection: Connection,
    game: str,
    match: int,
    kind: str,
    at: int,
    reason: str,
    nodes: Sequence[Node],
    places: Sequence[int],
    counts: Sequence[bool],
) -> None:
    row = {"of_game": game, "of_match": match, "of_kind": kind, "at_instant": at, "why": reason}
    by_seat = {
        "by_node": ",".join(map(str, nodes)),
        "by_place": "".join(map(str, places)),
        "by_count": "".join("1" if each else "0" for each in counts),
    }
    _ADD.run(connection, row | by_seat)


def nodes_of(text: str) -> tuple[Node, ...]:
    """The column of that name."""
    return tuple(map(Node, map(int, text.split(","))))


@cache
def _digits(text: str) -> tuple[int, ...]:
    return tuple(map(int, text))


@cache
def flags_of(text: str) -> tuple[bool, ...]:
    """The column of what counts."""
    return tuple(digit == "1" for digit in text)
