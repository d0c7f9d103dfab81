"""Public views of events: rows, documents with standings and tables, and bundles."""

from __future__ import annotations

import json
from base64 import b64encode
from collections.abc import Callable, Iterator, Mapping
from functools import partial
from threading import Lock
from typing import TYPE_CHECKING, Any, Final, TypeAlias

from sqlalchemy import Connection

from arena.log.leaf import LeafKind
from arena.scheduling.event.course import race_document
from arena.store.base import leaves as log
from arena.store.base.errors import EventRefused
from arena.store.base.rows import EventRow, MatchState, instant
from arena.store.matches import contests, matches

if TYPE_CHECKING:
    from arena.log.head import LogHead
    from arena.scheduling.event.course import EventCourse
    from arena.store.matches.contests import StoredEvent, TableMatch

    Lines: TypeAlias = Callable[[Connection], str]
    """Function that reads some lines of a bundle."""

FORMAT: Final = 1
"""Version of the bundle format."""
AT_ONCE: Final = 64
"""Number of a bundle's leaves that are read in one step."""
LARGEST_ID: Final = (1 << 63) - 1


class _Courses:
    """The courses of running events. Each is continued from its last state, as computing it anew takes a second."""

    def __init__(self) -> None:
        self._lock = Lock()
        self._courses: dict[bytes, EventCourse] = {}
        """By the commitment to the event's seed."""

    def document(self, connection: Connection, event: StoredEvent) -> dict[str, Any]:
        """Return the standings of a running event as JSON."""
        with self._lock:
            course = self._courses.pop(event.commitment, None)
            # After a restore, the cached course can be ahead of the rows.
            if course is None or course.rounds > len(contests.rolls(connection, event.id)):
                course = contests.course(connection, event)
            else:
                contests.advance(connection, event, course)
            found = race_document(course.race)
            self._courses[event.commitment] = course
            return found

    def forget(self, event: StoredEvent) -> None:
        """Forget the course of an event that has ended."""
        self._courses.pop(event.commitment, None)


_COURSES: Final = _Courses()


def event_rows(connection: Connection, limit: int | None = None, before: int | None = None) -> tuple[EventRow, ...]:
    """Return events, newest first. `before`: only events with lower numbers."""
    found = contests.list_events(connection, LARGEST_ID if before is None else before, limit)
    return _rows(connection, *found)


def event_document(connection: Connection, name: str) -> dict[str, Any]:
    """Return an event with its entrants, tables, and standings so far, as JSON. Raises: NoSuchEvent."""
    return event_head(connection, name) | {"tables": event_tables(connection, name)}


def event_head(connection: Connection, name: str) -> dict[str, Any]:
    """Return the document of an event without its tables. Raises: NoSuchEvent."""
    event = contests.find(connection, name)
    found: dict[str, Any] = {
        "event": _rows(connection, event)[0],
        "reason": event.result if event.state == contests.CANCELLED else "",
        "entrants": [
            {"bot": each.name, "checked_in": each.nonce is not None} for each in contests.entrants(connection, event.id)
        ],
        "earlier": event.earlier.document,
        "rounds": len(contests.rolls(connection, event.id)),
        "tables": [],
        "leaves": contests.leaf_numbers(connection, name),
        "result": None,
    }
    if event.state == contests.PLAYING:
        return found | {"result": _COURSES.document(connection, event)}
    _COURSES.forget(event)
    return found | {"result": json.loads(event.result)} if event.state == contests.FINISHED else found


def event_tables(connection: Connection, name: str, first: int = 0, limit: int | None = None) -> list[dict[str, Any]]:
    """Return the match of each table from number `first` on. The names of house bots are empty.

    A match that ended without a result is listed without its bots. Raises: NoSuchEvent.
    """
    event = contests.find(connection, name)
    until = None if limit is None else first + limit
    entered = {each.bot_id: each.name for each in contests.entrants(connection, event.id)}
    return [_table(connection, entered, each) for each in contests.tables(connection, event.id, first, until)]


def bundle(connection: Connection, name: str) -> Iterator[str]:
    """Yield the lines of a finished event's bundle.

    Raises: NoSuchEvent, EventRefused: The event has no result. ReplayPruned, ReplayDamaged.
    """
    for lines in bundle_parts(connection, name):
        yield lines(connection)


def bundle_parts(connection: Connection, name: str) -> tuple[Lines, ...]:
    """Return the parts of a finished event's bundle, in order. Each part can be read on its own connection.

    Raises: NoSuchEvent, EventRefused: The event has no result.
    """
    event = contests.find(connection, name)
    if event.state != contests.FINISHED:
        raise EventRefused(f"the event {name} is {event.state}: only a finished one has a bundle")
    state = log.state(connection)
    assert state is not None, "the event has leaves"
    head = {"size": state.head.size, "root": state.head.root.hex(), "signature": state.head.signature.hex()}
    first = {"arena_event": FORMAT, "event": name, "keys": [key.decode() for key in state.keys], "head": head}
    played = sorted(each.match_id for each in contests.tables(connection, event.id))
    numbers = sorted({*contests.leaf_numbers(connection, name), *log.numbers_about(connection, played)})
    leaves = [numbers[at : at + AT_ONCE] for at in range(0, len(numbers), AT_ONCE)]
    return (
        lambda _: bundle_line(first),
        *(partial(_leaf_lines, numbers=each, under=state.head) for each in leaves),
        *(partial(_replay_line, match_id=each) for each in played),
    )


def bundle_line(content: Mapping[str, Any]) -> str:
    """Return a line of a bundle."""
    return json.dumps(content) + "\n"


def _leaf_lines(connection: Connection, numbers: list[int], under: LogHead) -> str:
    found = [log.entry(connection, number, under) for number in numbers if number <= under.size]
    return "".join(
        bundle_line({"number": each.number, "leaf": each.leaf.decode(), "proof": [step.hex() for step in each.proof]})
        for each in found
    )


def _replay_line(connection: Connection, match_id: int) -> str:
    content = matches.get_replay(connection, match_id)
    return bundle_line({"replay": match_id, "content": b64encode(content).decode()})


def _rows(connection: Connection, *events: StoredEvent) -> tuple[EventRow, ...]:
    announced = contests.leaves_by_event(connection, LeafKind.EVENT)
    ended = contests.leaves_by_event(connection, LeafKind.OUTCOME)
    found = []
    for event in events:
        plan = event.plan
        leaf = (ended if event.over else announced)[plan.name]
        found.append(
            EventRow(
                event.id,
                *plan[:-1],
                instant(plan.start),
                event.state,
                len(contests.entrants(connection, event.id)),
                event.commitment.hex(),
                instant(plan.start if event.state == contests.PLAYING else leaf["at"]),
                leaf["winner"] or "" if event.over else "",
            )
        )
    return tuple(found)


def _table(connection: Connection, entered: Mapping[int, str], table: TableMatch) -> dict[str, Any]:
    bots: list[str] = []
    if table.played is not None:
        bots = [entered.get(bot, "") for bot in table.played.bots]
    elif table.state is MatchState.PLAYING:
        seated = [each.bot for each in matches.get_match(connection, table.match_id).seats]
        bots = [each if each in entered.values() else "" for each in seated]
    points = [] if table.played is None else [*table.played.points]
    return {
        "number": table.number,
        "match": table.match_id,
        "state": table.state.value,
        "bots": bots,
        "points": points,
    }
