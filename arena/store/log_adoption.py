"""The first leaves of a log: what an older program stored before there was one, in the order in which it happened.

Names are those that the bots had then, as far as renames are known as events.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from heapq import merge
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import Connection, func, select

from arena.log.leaf import LeafKind
from arena.replay.hash_chain import text_digest
from arena.store import events, log, schema
from arena.store.moderation import LEAVES
from arena.store.rows import BotEventKind, MatchState

_MATCHES: Final = schema.matches.c
_EVENTS: Final = schema.events.c
_BOT_EVENTS: Final = schema.bot_events.c


AT_ONCE: Final = 1000
"""Leaves after which progress is told."""
Progress: TypeAlias = Callable[[int, int], None]
"""Told now and then how many of about how many leaves there are."""


class _Past(NamedTuple):
    """Something that happened."""

    at: int
    order: int
    """Of what happened at the same instant: results before voids before decisions of the operator."""
    number: int
    tell: Callable[[], None]
    """Adds its leaf."""


def adopt(connection: Connection, at: int, progress: Progress = lambda done, whole: None) -> None:
    """Add a leaf for each result, void and event that is stored, and one for all replays pruned; `at` is now."""
    adoption = _Adoption(connection)
    whole = connection.scalar(select(func.count()).select_from(schema.matches)) or 0
    happened = merge(adoption.matches(), adoption.voids(), adoption.bot_events(), key=lambda past: past[:3])
    for done, past in enumerate(happened, 1):
        past.tell()
        if not done % AT_ONCE:
            progress(min(done, whole), whole)
    pruned = select(schema.replays.c.match_id).where(schema.replays.c.content == b"")
    numbers = connection.scalars(pruned.order_by(schema.replays.c.match_id)).all()
    if numbers:
        log.append(connection, LeafKind.PRUNE, at, through=numbers[-1], replays=len(numbers))


class _Adoption:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self._names: dict[int, str] = {row.id: row.name for row in connection.execute(select(schema.bots))}
        self._holders = {row.key: row.bot_id for row in connection.execute(select(schema.names))}
        renamed = select(schema.bot_events).where(_BOT_EVENTS.kind == BotEventKind.RENAMED.value)
        for row in connection.execute(renamed.order_by(_BOT_EVENTS.number.desc())):
            self._names[self._holders[row.name.lower()]] = row.name  # back to what it was before its first rename

    def matches(self) -> Iterator[_Past]:
        over = select(_MATCHES.id, _MATCHES.game, _MATCHES.state, _MATCHES.ended, _MATCHES.reason)
        over = over.where(_MATCHES.ended.is_not(None)).order_by(_MATCHES.ended, _MATCHES.id)
        for row in self._connection.execute(over.execution_options(yield_per=events.AT_ONCE)):
            match = {"match": row.id, "game": row.game}
            if row.state == MatchState.INTERRUPTED.value:
                yield _Past(row.ended, 0, row.id, self._telling(LeafKind.INTERRUPTED, row.ended, match, row.reason))
            else:
                yield _Past(row.ended, 0, row.id, self._telling(None, row.ended, match))

    def voids(self) -> Iterator[_Past]:
        void = select(_EVENTS.at, _EVENTS.match_id, _EVENTS.game, _EVENTS.reason).where(_EVENTS.kind == "void")
        for row in self._connection.execute(void.order_by(_EVENTS.at, _EVENTS.match_id)):
            fields = {"match": row.match_id, "game": row.game, "reason": row.reason}
            yield _Past(row.at, 1, row.match_id, self._adding(LeafKind.VOID, row.at, fields))

    def bot_events(self) -> Iterator[_Past]:
        latest = 0
        for row in self._connection.execute(select(schema.bot_events).order_by(_BOT_EVENTS.number)):
            latest = max(latest, row.at)  # their numbers are their order, whatever the clock said
            kind = BotEventKind(row.kind)
            fields = {"name": row.name, "reason": row.reason}
            if kind is BotEventKind.RENAMED:
                fields["new_name"] = row.new_name
            yield _Past(latest, 2, row.number, self._adding(LEAVES[kind], row.at, fields))

    def _adding(self, kind: LeafKind, at: int, fields: Mapping[str, Any]) -> Callable[[], None]:
        def add() -> None:
            log.append(self._connection, kind, at, **fields)
            if kind is LeafKind.RENAME:
                self._names[self._holders[fields["name"].lower()]] = fields["new_name"]

        return add

    def _telling(
        self, kind: LeafKind | None, at: int, match: Mapping[str, Any], reason: str = ""
    ) -> Callable[[], None]:
        """Return what adds the end of a match, of the kind of its result where none is given."""

        def add() -> None:
            seats = log.seated(self._connection, match["match"])
            seats["names"] = [self._names[bot] for bot in seats["bots"]]
            if kind is not None:
                log.append(self._connection, kind, at, **match, **seats, reason=reason)
            else:
                result_kind, result = self._result(match["match"])
                log.append(self._connection, result_kind, at, **match, **seats, **result)

        return add

    def _result(self, match_id: int) -> tuple[LeafKind, dict[str, Any]]:
        """Return the kind of a result, and its places, counts, points and replay."""
        own = schema.match_seats.c
        seats = self._connection.execute(
            select(own.place, own.score).where(own.match_id == match_id).order_by(own.seat)
        ).all()
        counts = self._connection.scalar(
            select(_EVENTS.counts).where(_EVENTS.match_id == match_id, _EVENTS.kind == "result")
        )
        kept = schema.replays.c
        content = self._connection.scalar(select(kept.content).where(kept.match_id == match_id))
        digest = text_digest(content or b"")
        return LeafKind.CASUAL if counts is None else LeafKind.RATED, {
            "places": [seat.place for seat in seats],
            "counts": [True] * len(seats) if counts is None else [*events.flags_of(counts)],
            "points": [seat.score for seat in seats],
            "replay": None if digest is None else digest.hex(),
        }
