"""Events in the store: terms, entrants, rounds, matches and results, with their leaves in the log.

A roll is the list of bots that are present when a round starts. The result of an event follows from its rows alone, so
the next server can continue after a crash.
"""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from hashlib import sha256
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Select, func, insert, select, update

from arena.ladder.luck import fitted
from arena.ladder.luck_columns import DealKind
from arena.log.leaf import LeafKind
from arena.replay.header import MatchKind
from arena.scheduling.event.course import (
    MILLIONTHS,
    Contestant,
    EarlierMatches,
    EventCourse,
    EventTerms,
    PlayedTable,
)
from arena.store import schema
from arena.store.base import changes
from arena.store.base import leaves as log
from arena.store.base.errors import BadEvent, EventNameTaken, EventRefused, NoSuchEvent, StoreError
from arena.store.base.rows import EventState, MatchState
from arena.store.bots.bots import Bot, known
from arena.store.ladder import baselines
from engine.deal import NONCE_BYTES

NAME: Final = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
PREFIX: Final = "event/"
"""Prefix of the name under which the baselines of an event are stored. No ladder's name starts with it."""
MEANS_OF: Final = 10_000
"""Number of a ladder's newest matches over which an event sums points by seat."""
BASELINES_OF: Final = 2_000
"""Number of a ladder's newest baselines that an event uses."""
BASELINES_FROM: Final = 200
"""Minimum number of comparable baselines; with fewer, an event uses none."""
_EVENTS: Final = schema.events.c
_ENTRANTS: Final = schema.event_entrants.c
_ROLLS: Final = schema.event_rolls.c
_OF_EVENT: Final = schema.event_matches.c
_MATCHES: Final = schema.matches.c
_SEATS: Final = schema.match_seats.c
_BASELINES: Final = schema.baselines.c

ANNOUNCED: Final = EventState.ANNOUNCED.value
PLAYING: Final = EventState.PLAYING.value
FINISHED: Final = EventState.FINISHED.value
CANCELLED: Final = EventState.CANCELLED.value


class EventPlan(NamedTuple):
    """An event as the operator announces it."""

    name: str
    ladder: str
    """The name of the ladder."""
    seats: int
    format: str
    """`race`, or `all` if every bot plays the same number of matches."""
    matches: int | None
    """The budget in matches; None for a budget in seconds."""
    seconds: int | None
    """The budget in seconds; None for a budget in matches."""
    entry: str
    """`open` if bots enter themselves, `invited` if the operator enters them."""
    start: int
    """The planned start or, once the event has started, the actual start, in microseconds since 1970."""


class StoredEvent(NamedTuple):
    """An event as stored."""

    id: int
    plan: EventPlan
    state: str
    seed: bytes
    """Secret until the event ends."""
    earlier: EarlierMatches
    result: str
    """The result as JSON, or the reason for a cancellation; empty before the end."""

    @property
    def commitment(self) -> bytes:
        """The commitment to the seed."""
        return sha256(self.seed).digest()

    @property
    def over(self) -> bool:
        """True if the event is finished or cancelled."""
        return self.state in {FINISHED, CANCELLED}


class StoredEntrant(NamedTuple):
    """A bot that entered an event."""

    bot_id: int
    name: str
    """The bot's name at check-in; before that, its current name."""
    owner: str
    nonce: bytes | None
    """The bot's nonce; None before check-in."""


class EventRoll(NamedTuple):
    """The start of a round."""

    number: int
    present: tuple[int, ...]
    """The bots that were present."""
    used: int
    """The used part of a time budget, in thousandths; 0 for a budget of matches."""


class TableMatch(NamedTuple):
    """The match of a table: the first match with a result, or the last match if none has a result."""

    number: int
    """The number of the table."""
    match_id: int
    state: MatchState
    played: PlayedTable | None
    """None until the match has ended with a result."""
    replayed: bool
    """True once the baselines are stored, or the fact that none could be computed."""

    def counts(self, earlier: EarlierMatches) -> bool:
        """Return whether the table's result can be recorded."""
        return self.played is not None and (self.replayed or not earlier.house)


def create(connection: Connection, plan: EventPlan, seed: bytes, entrants: Sequence[str], at: int) -> None:
    """Announce an event, commit to its seed in the log, and enter the named bots.

    Raises: EventNameTaken, BadEvent, UnknownBot, EventRefused.
    """
    if not NAME.fullmatch(plan.name):
        raise BadEvent(f"{plan.name!r} is no name of an event: use 1 to 40 of a-z, 0-9 and -, not - first")
    if plan.start <= at:
        raise BadEvent("the start is in the past: choose a later one; `arena event start` begins an event at once")
    if connection.scalar(select(_EVENTS.id).where(_EVENTS.name == plan.name)) is not None:
        raise EventNameTaken(f"there is an event {plan.name!r} already; choose another name")
    connection.execute(insert(schema.events).values(**plan._asdict(), state=ANNOUNCED, seed=seed))
    event = find(connection, plan.name)
    log.append(connection, LeafKind.EVENT, at, **_announcement(event))
    changes.note(connection, changes.EVENT, plan.name)
    for bot in entrants:
        enter(connection, plan.name, bot, at, invited=True)


def enter(connection: Connection, name: str, bot: str, at: int, invited: bool = False) -> Bot:
    """Enter a bot into an event; return the bot's row. `invited`: true if the operator enters the bot.

    Raises: NoSuchEvent, UnknownBot, EventRefused.
    """
    event, row = find(connection, name), known(connection, bot)
    _check_entry(connection, event, row, invited)
    connection.execute(insert(schema.event_entrants).values(event_id=event.id, bot_id=row.id, entered=at))
    changes.note(connection, changes.EVENT, name)
    return row


def to_enter(connection: Connection, bot: str, names: Iterable[str], ladders: Collection[str]) -> tuple[str, ...]:
    """Return the named events that a bot on these ladders has not entered yet, after checking that it can enter each.

    Raises: NoSuchEvent, UnknownBot, EventRefused.
    """
    row, wanted = known(connection, bot), dict.fromkeys(names)
    query = select(_EVENTS.name, _ENTRANTS.nonce).join_from(schema.event_entrants, schema.events)
    chosen = query.where(_ENTRANTS.bot_id == row.id, _EVENTS.name.in_(wanted))
    entered = {each.name: each.nonce for each in connection.execute(chosen)}
    found = {
        event.plan.name: event for event in _read(connection, select(schema.events).where(_EVENTS.name.in_(wanted)))
    }
    for name in wanted:
        if (event := found.get(name)) is None:
            raise NoSuchEvent(name)
        ladder = event.plan.ladder
        if not event.over and ladder not in ladders:
            played = ", ".join(ladders)
            text = f"the event {name} is on the ladder {ladder}, and the bot plays on {played}"
            raise EventRefused(f"{text}: let it play on {ladder}, too")
        if name not in entered:
            _check_entry(connection, event, row, invited=False)
        elif event.state != ANNOUNCED and entered[name] is None:
            absent = f"the event {name} began without {row.name}, which was not connected"
            raise EventRefused(f"{absent}: name the event no more")
    return tuple(name for name in wanted if name not in entered)


def _check_entry(connection: Connection, event: StoredEvent, row: Bot, invited: bool) -> None:
    name = event.plan.name
    if event.state != ANNOUNCED:
        raise EventRefused(f"the event {name} is {event.state}: bots enter before its start")
    if row.house or row.deleted:
        raise EventRefused(f"{row.name} is no bot of an author: enter another one")
    if event.plan.entry == "invited" and not invited:
        raise EventRefused(f"the event {name} is for invited bots: ask its operator to enter {row.name}")
    for other in entrants(connection, event.id):
        if other.bot_id == row.id:
            raise EventRefused(f"{row.name} has entered the event {name} already")
        if row.owner and other.owner.lower() == row.owner.lower():
            raise EventRefused(f"{row.owner} has entered {other.name} already: an event takes one bot of an owner")


def find(connection: Connection, name: str) -> StoredEvent:
    """Return an event by its name. Raises: NoSuchEvent."""
    found = next(_read(connection, select(schema.events).where(_EVENTS.name == name)), None)
    if found is None:
        raise NoSuchEvent(name)
    return found


def list_events(connection: Connection, before: int | None = None, limit: int | None = None) -> tuple[StoredEvent, ...]:
    """Return the events, newest first. With `before`, only events with smaller numbers."""
    query = select(schema.events).order_by(_EVENTS.id.desc()).limit(limit)
    return tuple(_read(connection, query if before is None else query.where(_EVENTS.id < before)))


def entrants_by(connection: Connection, by: int) -> frozenset[int]:
    """Return the numbers of the bots in events that are being played or start by the time `by`, in microseconds.

    This is read every second, so it must not read the entrants of past events, as a join does.
    """
    due = (_EVENTS.state == ANNOUNCED) & (_EVENTS.start <= by)
    events = select(_EVENTS.id).where((_EVENTS.state == PLAYING) | due)
    return frozenset(connection.scalars(select(_ENTRANTS.bot_id).where(_ENTRANTS.event_id.in_(events))))


def entrants(connection: Connection, event_id: int) -> tuple[StoredEntrant, ...]:
    """Return the bots that entered an event, in the order of entry."""
    bots = schema.bots.c
    query = (
        select(bots.id, func.coalesce(func.nullif(_ENTRANTS.name, ""), bots.name), bots.owner, _ENTRANTS.nonce)
        .join_from(schema.event_entrants, schema.bots)
        .where(_ENTRANTS.event_id == event_id)
        .order_by(_ENTRANTS.entered, bots.id)
    )
    return tuple(StoredEntrant(*row) for row in connection.execute(query))


def start(
    connection: Connection, name: str, nonces: Mapping[int, bytes], earlier: EarlierMatches, at: int
) -> StoredEvent:
    """Close the check-in and start an event. `nonces`: the nonces of the bots that checked in, by bot number.

    Raises: NoSuchEvent, EventRefused: The event has started, or fewer than two bots checked in.
    """
    event = find(connection, name)
    if event.state != ANNOUNCED:
        raise EventRefused(f"the event {name} is {event.state} already")
    here = [each for each in entrants(connection, event.id) if each.bot_id in nonces]
    if len(here) < 2:
        names = ", ".join(each.name for each in here) or "nobody"
        raise EventRefused(
            f"an event takes two bots or more, and {names} checked in: connect the bots before it starts"
        )
    for each in here:
        chosen = (_ENTRANTS.event_id == event.id) & (_ENTRANTS.bot_id == each.bot_id)
        nonce = nonces[each.bot_id] or bytes(NONCE_BYTES)
        connection.execute(update(schema.event_entrants).where(chosen).values(name=each.name, nonce=nonce))
    change = update(schema.events).where(_EVENTS.id == event.id)
    connection.execute(change.values(state=PLAYING, start=at, earlier=json.dumps(earlier.document)))
    event = find(connection, name)
    log.append(connection, LeafKind.ENTRANTS, at, **_field(connection, event))
    changes.note(connection, changes.EVENT, name)
    return event


def call_roll(connection: Connection, event: StoredEvent, roll: EventRoll, at: int) -> None:
    """Store the start of a round. Storing it again has no effect."""
    if roll in rolls(connection, event.id):
        return
    values = {"event_id": event.id, "at": at, "present": json.dumps([*roll.present])}
    connection.execute(insert(schema.event_rolls).values(**values, number=roll.number, used=roll.used))
    log.append(connection, LeafKind.ROLL, at, **_roll(event, roll))


def finish(connection: Connection, event: StoredEvent, result: Mapping[str, Any], at: int) -> None:
    """Store the result of an event, which reveals its seed. Storing it again has no effect."""
    if find(connection, event.plan.name).over:
        return
    _end(connection, event, FINISHED, json.dumps(result, sort_keys=True), at)


def cancel(connection: Connection, name: str, reason: str, at: int) -> StoredEvent:
    """Cancel an event that has not started. Raises: NoSuchEvent, EventRefused."""
    event = find(connection, name)
    if event.state == PLAYING:
        number = len(rolls(connection, event.id))
        raise EventRefused(f"the event {name} is in round {number}: it ends by its budget; only before is it cancelled")
    if event.over:
        raise EventRefused(f"the event {name} is {event.state} already")
    _end(connection, event, CANCELLED, reason, at)
    return find(connection, name)


def rolls(connection: Connection, event_id: int) -> tuple[EventRoll, ...]:
    """Return the rounds of an event in order."""
    query = select(_ROLLS.number, _ROLLS.present, _ROLLS.used).where(_ROLLS.event_id == event_id)
    rows = connection.execute(query.order_by(_ROLLS.number))
    return tuple(EventRoll(row.number, tuple(json.loads(row.present)), row.used) for row in rows)


def terms(connection: Connection, event: StoredEvent) -> EventTerms:
    """Return the terms of an event that has started."""
    field = [each for each in entrants(connection, event.id) if each.nonce is not None]
    contestants = tuple(Contestant(each.bot_id, each.name, each.nonce or b"") for each in field)
    everyone = event.plan.format == "all"
    return EventTerms(event.seed, contestants, event.plan.seats, event.plan.matches, everyone, event.earlier)


def course(connection: Connection, event: StoredEvent) -> EventCourse:
    """Compute the course of a started event from its rows."""
    found = EventCourse(terms(connection, event))
    advance(connection, event, found)
    return found


def advance(connection: Connection, event: StoredEvent, found: EventCourse) -> None:
    """Advance a course with the rows stored since it was last computed."""
    first = min((table.number for table in found.open_tables), default=len(found.race.tables))
    played = {each.number: each.played for each in tables(connection, event.id, first) if each.counts(event.earlier)}

    def record() -> None:
        for table in found.open_tables:
            if (result := played.get(table.number)) is not None:
                found.record(table.number, result)

    record()
    for roll in rolls(connection, event.id)[found.rounds :]:
        if not found.race.over:
            found.end_round(roll.used)
        if not found.race.over:
            found.begin_round(roll.present, roll.used)
        record()


def tables(connection: Connection, event_id: int, first: int = 0, until: int | None = None) -> tuple[TableMatch, ...]:
    """Return the match of each table with a started match: the first match with a result, or the last one.

    Only tables from number `first` on and, if given, below `until` are included.
    """
    query = (
        select(_OF_EVENT.number, _MATCHES.id, _MATCHES.state, _BASELINES.scores, schema.log.c.leaf)
        .join_from(schema.event_matches, schema.matches)
        .outerjoin(schema.baselines, _BASELINES.match_id == _MATCHES.id)
        .outerjoin(schema.match_seats, (_SEATS.match_id == _MATCHES.id) & (_SEATS.seat == 0))
        .outerjoin(schema.log, schema.log.c.number == _SEATS.leaf)
        .where(_OF_EVENT.event_id == event_id, _OF_EVENT.number >= first)
        .order_by(_OF_EVENT.number, _MATCHES.id)
    )
    if until is not None:
        query = query.where(_OF_EVENT.number < until)
    found: dict[int, TableMatch] = {}
    for number, match_id, state, scores, leaf in connection.execute(query):
        if number not in found or found[number].state is not MatchState.FINISHED:
            played = _played(leaf, scores or "") if state == MatchState.FINISHED.value else None
            found[number] = TableMatch(number, match_id, MatchState(state), played, scores is not None)
    return tuple(found.values())


def seat(connection: Connection, event: str, match_id: int) -> None:
    """Record the match played at a table. `event`: the event and the table, as in the match's header.

    Raises: StoreError: Another node has seated the table.
    """
    name, _, text = event.partition("/")
    event_id, number = find(connection, name).id, int(text)
    at_table = select(_MATCHES.id).join_from(schema.event_matches, schema.matches)
    at_table = at_table.where(_OF_EVENT.event_id == event_id, _OF_EVENT.number == number)
    taken = connection.scalar(at_table.where(_MATCHES.state != MatchState.INTERRUPTED.value))
    if taken is not None:
        raise StoreError(f"table {number} of the event {name} is that of match {taken} already")
    row = {"match_id": match_id, "event_id": event_id, "number": number}
    connection.execute(insert(schema.event_matches).values(row))


def ended(connection: Connection, match_id: int) -> None:
    """Notify the node that runs a match's event that the match is over. Without an event, do nothing.

    On a server with a single node, no notification is needed.
    """
    query = select(_EVENTS.name).join_from(schema.event_matches, schema.events).join(schema.matches)
    name = connection.scalar(query.where(_OF_EVENT.match_id == match_id, _MATCHES.node.is_not(None)))
    if name is not None:
        changes.note(connection, changes.EVENT, name)


def replayed(connection: Connection, name: str, match_id: int, house: str, scores: Sequence[int]) -> None:
    """Store the baselines of an event's match. `scores` is empty if the replay failed.

    Storing them again has no effect.
    """
    ladder = f"{PREFIX}{name}"
    own = (_BASELINES.ladder == ladder) & (_BASELINES.match_id == match_id)
    if connection.scalar(select(_BASELINES.match_id).where(own)) is None:
        baselines.add(connection, ladder, match_id, house, scores)


def earlier_matches(
    connection: Connection, ladder_id: str, seats: int, options: Mapping[str, Any], house: str = ""
) -> EarlierMatches:
    """Return sums over a ladder's newest rated matches with these options, and over their baselines.

    `house`: the bots whose baselines count. With too few of these baselines, none are used.
    """
    found = _earlier_points(connection, ladder_id, seats, options)
    if not house:
        return found
    kind = DealKind(seats, json.dumps(options, sort_keys=True), house)
    after = max(0, baselines.newest(connection, ladder_id) - BASELINES_OF)
    newest = [each for each in baselines.read(connection, ladder_id, after) if each.kind == kind]
    if len(newest) < BASELINES_FROM:
        return found
    share, table = fitted(seats, ((each.scores, each.baselines) for each in newest))
    return found._replace(
        house=house,
        replayed=len(newest),
        baselines=tuple(map(sum, zip(*(each.baselines for each in newest), strict=True))),
        share=round(share * MILLIONTHS),
        table=round(table * MILLIONTHS),
    )


def _earlier_points(connection: Connection, ladder_id: str, seats: int, options: Mapping[str, Any]) -> EarlierMatches:
    newest = (
        select(_MATCHES.id)
        .where(_MATCHES.ladder == ladder_id, _MATCHES.seats == seats)
        .where(_MATCHES.state == MatchState.FINISHED.value, _MATCHES.kind == MatchKind.RATED.value)
        .where(_MATCHES.options == json.dumps(options, sort_keys=True))
        .order_by(_MATCHES.id.desc())
        .limit(MEANS_OF)
    )
    query = select(func.sum(_SEATS.score), func.count()).where(_SEATS.match_id.in_(newest)).group_by(_SEATS.seat)
    rows = connection.execute(query.order_by(_SEATS.seat)).all()
    return EarlierMatches(rows[0][1], tuple(int(total) for total, _ in rows)) if rows else EarlierMatches()


def leaf_numbers(connection: Connection, name: str) -> tuple[int, ...]:
    """Return the numbers of the leaves about an event, without those of its matches."""
    log_row = schema.log.c
    kinds = [kind.value for kind in (LeafKind.EVENT, LeafKind.ENTRANTS, LeafKind.ROLL, LeafKind.OUTCOME)]
    query = select(log_row.number, log_row.leaf).where(log_row.match_id.is_(None), log_row.kind.in_(kinds))
    rows = connection.execute(query.order_by(log_row.number))
    return tuple(number for number, leaf in rows if json.loads(leaf)["event"] == name)


def leaves_by_event(connection: Connection, kind: LeafKind) -> dict[str, dict[str, Any]]:
    """Return the leaves of a kind that each event has at most once, by event name."""
    found = (json.loads(leaf) for _, leaf in log.about_no_match(connection, kind))
    return {leaf["event"]: leaf for leaf in found}


def newest_leaf(connection: Connection, name: str) -> str:
    """Return the text of the newest leaf about an event, without those of its matches."""
    return log.leaf(connection, leaf_numbers(connection, name)[-1]).decode()


def expected_leaves(connection: Connection) -> dict[tuple[str, str, int], dict[str, Any]]:
    """Return the fields of all leaves about events. Each key is kind, event and, for rolls, the round's number."""
    found: dict[tuple[str, str, int], dict[str, Any]] = {}
    for event in list_events(connection):
        name = event.plan.name
        found[LeafKind.EVENT.value, name, 0] = _announcement(event)
        if event.state in {PLAYING, FINISHED}:
            found[LeafKind.ENTRANTS.value, name, 0] = _field(connection, event)
            del found[LeafKind.EVENT.value, name, 0]["start"]  # The planned start, which the actual start has replaced.
        for roll in rolls(connection, event.id):
            found[LeafKind.ROLL.value, name, roll.number] = _roll(event, roll)
        if event.over:
            found[LeafKind.OUTCOME.value, name, 0] = _outcome(connection, event)
    return found


def _read(connection: Connection, query: Select[Any]) -> Iterator[StoredEvent]:
    for row in connection.execute(query):
        plan = EventPlan(*(getattr(row, field) for field in EventPlan._fields))
        yield StoredEvent(row.id, plan, row.state, row.seed, EarlierMatches.of(json.loads(row.earlier)), row.result)


def _played(text: str, scores: str) -> PlayedTable:
    leaf = json.loads(text)
    house = tuple(map(int, scores.split(","))) if scores else ()
    return PlayedTable(tuple(leaf["bots"]), tuple(leaf["points"]), tuple(leaf["counts"]), house)


def _end(connection: Connection, event: StoredEvent, state: str, result: str, at: int) -> None:
    change = update(schema.events).where(_EVENTS.id == event.id)
    connection.execute(change.values(state=state, result=result))
    log.append(connection, LeafKind.OUTCOME, at, **_outcome(connection, event._replace(state=state, result=result)))
    changes.note(connection, changes.EVENT, event.plan.name)


def _head(event: StoredEvent) -> dict[str, Any]:
    return {"event": event.plan.name, "ladder": event.plan.ladder}


def _announcement(event: StoredEvent) -> dict[str, Any]:
    plan = {field: getattr(event.plan, field) for field in ("seats", "format", "matches", "seconds", "start")}
    return _head(event) | plan | {"commitment": event.commitment.hex()}


def _field(connection: Connection, event: StoredEvent) -> dict[str, Any]:
    field = sorted(terms(connection, event).contestants, key=lambda each: each.name.encode())
    return _head(event) | {
        "bots": [each.bot_id for each in field],
        "names": [each.name for each in field],
        "nonces": [each.nonce.hex() for each in field],
        "earlier": event.earlier.document,
    }


def _roll(event: StoredEvent, roll: EventRoll) -> dict[str, Any]:
    return _head(event) | {"round": roll.number, "present": [*roll.present], "used": roll.used}


def _outcome(connection: Connection, event: StoredEvent) -> dict[str, Any]:
    finished, found = event.state == FINISHED, tables(connection, event.id)
    house = [[*each.played.baselines] for each in found if each.played] if event.earlier.house else []
    return _head(event) | {
        "seed": event.seed.hex(),
        "state": event.state,
        "winner": json.loads(event.result)["winner"] if finished else None,
        "tables": [each.match_id for each in found],
        "baselines": house,
        "result": sha256(event.result.encode()).hexdigest() if finished else event.result,
    }
