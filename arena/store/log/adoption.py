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
from arena.store import schema
from arena.store.base import leaves as log
from arena.store.base.rows import BotEventKind, MatchState
from arena.store.ladder import events
from arena.store.matches.batches import EndedMatches
from arena.store.moderation.moderation import LEAVES

_MATCHES: Final = schema.matches.c
_EVENTS: Final = schema.events.c
_BOT_EVENTS: Final = schema.bot_events.c
_REPLAYS: Final = schema.replays.c


AT_ONCE: Final = 1000
"""Leaves after which progress is told; matches read at a time."""
Progress: TypeAlias = Callable[[int, int], None]
"""Told now and then how many of about how many leaves there are."""


class _Past(NamedTuple):
    """Something that happened."""

    at: int
    order: int
    """The order at one instant: results before voids before decisions of the operator."""
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
            adoption.leaves.flush()
            progress(min(done, whole), whole)
    pruned = select(schema.replays.c.match_id).where(_REPLAYS.segment.is_(None))
    numbers = connection.scalars(pruned.order_by(schema.replays.c.match_id)).all()
    if numbers:
        adoption.leaves.append(LeafKind.PRUNE, at, through=numbers[-1], replays=len(numbers))
    adoption.leaves.flush()


class _Adoption:
    def __init__(self, connection: Connection) -> None:
        self._connection = connection
        self.leaves: Final = log.LeafBatch(connection)
        self._versions = {row.id: row.version for row in connection.execute(select(schema.versions))}
        self._names: dict[int, str] = {row.id: row.name for row in connection.execute(select(schema.bots))}
        self._holders = {row.key: row.bot_id for row in connection.execute(select(schema.names))}
        renamed = select(schema.bot_events).where(_BOT_EVENTS.kind == BotEventKind.RENAMED.value)
        for row in connection.execute(renamed.order_by(_BOT_EVENTS.number.desc())):
            self._names[self._holders[row.name.lower()]] = row.name  # back to what it was before its first rename

    def matches(self) -> Iterator[_Past]:
        over = select(_MATCHES.id).where(_MATCHES.ended.is_not(None)).order_by(_MATCHES.ended, _MATCHES.id)
        for numbers in self._connection.execute(over.execution_options(yield_per=AT_ONCE)).scalars().partitions():
            ended = EndedMatches(self._connection)
            ended.load(numbers)
            # They are in their rows: before there was a log there were no files of replays.
            kept = select(_REPLAYS.match_id, _REPLAYS.content).where(_REPLAYS.match_id.in_(numbers))
            replays = {row.match_id: row.content for row in self._connection.execute(kept)}
            for number in numbers:
                yield _Past(ended.matches[number][3], 0, number, self._telling(ended, number, replays.get(number)))

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
            self.leaves.append(kind, at, **fields)
            if kind is LeafKind.RENAME:
                self._names[self._holders[fields["name"].lower()]] = fields["new_name"]

        return add

    def _telling(self, ended: EndedMatches, number: int, replay: bytes | None) -> Callable[[], None]:
        """Return what adds the end of a match."""

        def add() -> None:
            _, game, state, at, reason = ended.matches[number]
            seats = ended.seats[number]
            match = {
                "match": number,
                "game": game,
                "bots": [bot for _, bot, _, _, _ in seats],
                "names": [self._names[bot] for _, bot, _, _, _ in seats],
                "versions": [self._versions[version] for _, _, version, _, _ in seats],
            }
            if state == MatchState.INTERRUPTED.value:
                self.leaves.append(LeafKind.INTERRUPTED, at, **match, reason=reason)
                return
            counts, digest = ended.counts.get(number), text_digest(replay or b"")
            self.leaves.append(
                LeafKind.CASUAL if counts is None else LeafKind.RATED,
                at,
                **match,
                places=[place for _, _, _, _, place in seats],
                counts=[True] * len(seats) if counts is None else [*events.flags_of(counts)],
                points=[points for _, _, _, points, _ in seats],
                replay=None if digest is None else digest.hex(),
            )

        return add
