"""The append-only list of events from which ladders are computed: results, and annulments that cancel a result."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Final

from sqlalchemy import Connection, bindparam, func, insert, literal, select

from arena.ladder.events import Event, MatchResult, Node, Void, day_of
from arena.store import schema
from arena.store.base.errors import NoResult, ReasonNotAllowed, ResultVoid, UnknownMatch
from arena.store.base.statements import Statement

LONGEST_REASON: Final = 200
"""Maximum number of characters in a reason."""
AT_ONCE: Final = 10_000
"""Number of rows fetched from the database in one batch."""
_COLUMNS: Final = schema.rated_results.c
_TEXTS: Final = ("reason", "nodes", "places", "counts", "spoilt")
# The insert statement itself computes the next number.
_ADD: Final = Statement(
    insert(schema.rated_results).inline().values(number=schema.next_number(schema.rated_results)),
    *(column.name for column in _COLUMNS if column is not _COLUMNS.number),
)
_READ: Final = (
    select(_COLUMNS.number, _COLUMNS.match_id, _COLUMNS.kind, _COLUMNS.reason)
    .add_columns(_COLUMNS.nodes, _COLUMNS.places, _COLUMNS.counts, _COLUMNS.spoilt, _COLUMNS.at)
    .where(_COLUMNS.ladder == bindparam("of_ladder"), _COLUMNS.number > bindparam("after"))
    .order_by(_COLUMNS.number)
)


def add_result(
    connection: Connection,
    ladder_id: str,
    match_id: int,
    nodes: Sequence[Node],
    places: Sequence[int],
    counts: Sequence[bool],
    spoilt: Sequence[bool],
    at: int,
) -> None:
    """Store the result of a rated match, by seat. `counts` and `spoilt`: as in `MatchResult`."""
    _add(
        connection,
        ladder_id,
        match_id,
        "result",
        at,
        nodes=",".join(map(str, nodes)),
        places="".join(map(str, places)),
        counts=_flags(counts),
        spoilt=_flags(spoilt) if any(spoilt) else "",
    )


def add_void(connection: Connection, match_id: int, reason: str, at: int) -> str:
    """Annul the result of a match, for a reason of 1 to 200 printable characters. Return the ladder's id.

    Raises: UnknownMatch, NoResult, ResultVoid, ReasonNotAllowed.
    """
    check_reason(reason)
    kinds = {
        row.kind: row for row in connection.execute(select(schema.rated_results).where(_COLUMNS.match_id == match_id))
    }
    if "void" in kinds:
        raise ResultVoid(f"the result of match {match_id} is void already: {kinds['void'].reason}")
    if "result" not in kinds:
        state = connection.scalar(select(schema.matches.c.state).where(schema.matches.c.id == match_id))
        if state is None:
            raise UnknownMatch(match_id)
        raise NoResult(f"match {match_id} is {state} and has no result; only that of a finished match can be void")
    ladder_id = str(kinds["result"].ladder)
    _add(connection, ladder_id, match_id, "void", at, reason=reason)
    return ladder_id


def check_reason(reason: str) -> None:
    """Check a reason that will be public: 1 to 200 printable characters. Raises: ReasonNotAllowed."""
    if not (0 < len(reason) <= LONGEST_REASON and reason.isprintable() and reason.strip()):
        raise ReasonNotAllowed(reason, LONGEST_REASON)


def read(connection: Connection, ladder_id: str, after: int = 0, through: int | None = None) -> Iterator[Event]:
    """Yield the events of a ladder, ordered by number.

    Only numbers above `after` and, if given, up to `through` are included.
    """
    query = _READ if through is None else _READ.where(_COLUMNS.number <= literal(through))
    streamed = query.execution_options(yield_per=AT_ONCE)
    with connection.execute(streamed, {"of_ladder": ladder_id, "after": after}) as rows:
        for number, match_id, kind, reason, nodes, places, counts, spoilt, at in rows:
            if kind == "void":
                yield Void(number, match_id, reason)
            else:
                flags = flags_of(counts), flags_of(spoilt)
                yield MatchResult(number, match_id, nodes_of(nodes), _digits(places), *flags, day_of(at))


def voided(connection: Connection, ladder_id: str, after: int, through: int) -> frozenset[int]:
    """Return the matches whose results were annulled by events with numbers above `after`, up to `through`."""
    found = select(_COLUMNS.match_id).where(_COLUMNS.ladder == ladder_id, _COLUMNS.kind == "void")
    return frozenset(connection.scalars(found.where(_COLUMNS.number > after, _COLUMNS.number <= through)))


def result_of(connection: Connection, match_id: int) -> MatchResult:
    """Return the result of a match, which must have one."""
    row = connection.execute(
        select(schema.rated_results).where(_COLUMNS.match_id == match_id, _COLUMNS.kind == "result")
    ).one()
    flags = flags_of(row.counts), flags_of(row.spoilt)
    return MatchResult(row.number, match_id, nodes_of(row.nodes), _digits(row.places), *flags, day_of(row.at))


def counting(connection: Connection, bot_id: int, since: int, after: int, limit: int | None) -> Sequence[int]:
    """Return a bot's matches numbered above `after` whose results still count and were stored at `since` or later."""
    seats, void = schema.match_seats.c, schema.rated_results.alias("void")
    gone = select(void.c.match_id).where(void.c.match_id == _COLUMNS.match_id, void.c.kind == "void").exists()
    query = select(seats.match_id).distinct().join(schema.rated_results, _COLUMNS.match_id == seats.match_id)
    query = query.where(seats.bot_id == bot_id, seats.match_id > after, _COLUMNS.kind == "result")
    query = query.where(_COLUMNS.at >= since, ~gone).order_by(seats.match_id)
    return connection.scalars(query.limit(limit)).all()


def ladders(connection: Connection) -> Sequence[str]:
    """Return the ids of the ladders that have events."""
    return connection.scalars(select(_COLUMNS.ladder).distinct()).all()


def has_events(connection: Connection) -> bool:
    """Return True if a ladder has events."""
    return connection.scalar(select(_COLUMNS.number).limit(1)) is not None


def newest(connection: Connection, ladder_id: str) -> int:
    """Return the number of the newest event of a ladder; 0 if it has none."""
    return connection.scalar(select(func.max(_COLUMNS.number)).where(_COLUMNS.ladder == ladder_id)) or 0


def void_reasons(connection: Connection, match_ids: Sequence[int]) -> dict[int, str]:
    """Return the reason for the annulment of each given match that is annulled, by match number."""
    found = select(_COLUMNS.match_id, _COLUMNS.reason).where(_COLUMNS.kind == "void", _COLUMNS.match_id.in_(match_ids))
    return {row.match_id: row.reason for row in connection.execute(found)}


def _add(connection: Connection, ladder_id: str, match_id: int, kind: str, at: int, **columns: str) -> None:
    row = {"ladder": ladder_id, "of_ladder": ladder_id, "match_id": match_id, "kind": kind, "at": at}
    _ADD.write(connection, row | dict.fromkeys(_TEXTS, "") | columns)


def nodes_of(text: str) -> tuple[Node, ...]:
    """Parse the column `nodes`."""
    return tuple(map(Node, map(int, text.split(","))))


@cache
def _digits(text: str) -> tuple[int, ...]:
    return tuple(map(int, text))


@cache
def flags_of(text: str) -> tuple[bool, ...]:
    """Parse the columns `counts` and `spoilt`."""
    return tuple(digit == "1" for digit in text)


def _flags(flags: Sequence[bool]) -> str:
    return "".join("1" if each else "0" for each in flags)
