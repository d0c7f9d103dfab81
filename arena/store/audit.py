"""The audit of a log: every leaf against the tables, the tree, the keys, the head.

What is compared is what the tables say now with what the log says was told: neither is taken for the truth.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, TypeAlias

from sqlalchemy import Connection, Row, bindparam, func, select

from arena.log.keys import LogKeys
from arena.log.leaf import RESULTS, LeafError, LeafKind, decode_leaf
from arena.log.tree import EMPTY, leaf_hash, node_hash
from arena.replay.hash_chain import text_digest
from arena.store import events, log, schema
from arena.store.moderation import LEAVES
from arena.store.rows import BotEventKind, MatchState
from arena.store.statements import Statement

AT_ONCE: Final = 1000
"""Leaves compared at a time."""
MOST_FAULTS: Final = 20
"""Faults that are named; beyond them they are only counted."""
Progress: TypeAlias = Callable[[int, int], None]
"""Told now and then how many of how many leaves are compared."""


_NUMBER: Final = schema.matches.c.id
_SEAT: Final = schema.match_seats.c
_EVENT: Final = schema.events.c
_MATCHES: Final = Statement(
    select(_NUMBER, schema.matches.c.game, schema.matches.c.state, schema.matches.c.ended, schema.matches.c.reason)
    .where(bindparam("first") <= _NUMBER, bindparam("last") >= _NUMBER)
)  # fmt: skip
_SEATS: Final = Statement(
    select(_SEAT.match_id, _SEAT.bot_id, _SEAT.node, _SEAT.score, _SEAT.place)
    .where(_SEAT.match_id >= bindparam("first"), _SEAT.match_id <= bindparam("last"))
    .order_by(_SEAT.match_id, _SEAT.seat)
)
_EVENTS: Final = Statement(
    select(_EVENT.match_id, _EVENT.kind, _EVENT.at, _EVENT.game, _EVENT.reason, _EVENT.counts)
    .where(_EVENT.match_id >= bindparam("first"), _EVENT.match_id <= bindparam("last"))
)  # fmt: skip
_GAP: Final = 100
"""Matches in between that are read for nothing, at most, to spare a query."""


class _Match(NamedTuple):
    game: str
    state: str
    ended: int
    reason: str


class _Event(NamedTuple):
    at: int
    game: str
    reason: str
    counts: str


class LogFault(NamedTuple):
    """Something that is not as it must be."""

    number: int | None
    """Of the leaf; None where it is about no single one."""
    text: str


@dataclass(slots=True)
class LogAudit:
    """The result of an audit."""

    leaves: int = 0
    signed: int = 0
    """Leaves under the newest head; the others are signed with the next start."""
    root: bytes = EMPTY
    """Of all leaves."""
    kinds: Counter[str] = field(default_factory=Counter)
    """How many leaves there are of each kind."""
    replays: int | None = None
    """How many replays were compared with their leaves; None where that was not asked."""
    faults: list[LogFault] = field(default_factory=list)
    """The first of them."""
    more: int = 0
    """Faults that are not among these."""

    def fault(self, number: int | None, text: str) -> None:
        """Add a fault."""
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(LogFault(number, text))
        else:
            self.more += 1


def audit(connection: Connection, replays: bool = False, progress: Progress = lambda done, whole: None) -> LogAudit:
    """Audit the log; with `replays` the text of every stored replay is compared as well, which takes minutes."""
    made = LogAudit(replays=0 if replays else None)
    head, whole = log.head(connection), log.size(connection)
    tables, tree, keys = _Tables(connection, made), _Frontier(), list[bytes]()
    signed_root = None
    for rows in _batches(connection):
        leaves = [(row.number, _leaf(row, made)) for row in rows]
        tables.load([leaf["match"] for _, leaf in leaves if leaf is not None and "match" in leaf], replays)
        for row, (number, leaf) in zip(rows, leaves, strict=True):
            if number != made.leaves + 1:
                made.fault(number, f"leaf {made.leaves + 1} is missing")
            made.leaves = number
            if leaf is not None and leaf["kind"] == LeafKind.RESTORE.value and leaf["root"] != tree.root().hex():
                made.fault(number, "the head at which it says the log was cut is not that of the leaves before it")
            if tree.add(number - 1, row.leaf.encode()) != row.nodes:
                made.fault(number, "the hashes stored with it are not those of its leaf and the leaves before it")
            if head is not None and number == head.size:
                signed_root = tree.root()
            if leaf is not None:
                made.kinds[leaf["kind"]] += 1
                tables.compare(number, leaf)
                if leaf["kind"] == LeafKind.KEY.value:
                    keys.append(row.leaf.encode())
        progress(made.leaves, whole)
    made.root = tree.root()
    _check_head(head, signed_root, keys, made)
    tables.finish()
    return made


def _batches(connection: Connection) -> Iterator[Sequence[Row[Any]]]:
    after = 0
    while rows := connection.execute(
        select(schema.log).where(schema.log.c.number > after).order_by(schema.log.c.number).limit(AT_ONCE)
    ).all():
        yield rows
        after = rows[-1].number


def _leaf(row: Row[Any], made: LogAudit) -> dict[str, Any] | None:
    try:
        leaf = decode_leaf(row.leaf.encode())
    except LeafError as error:
        made.fault(row.number, str(error))
        return None
    if (leaf["number"], leaf.get("match"), leaf["kind"]) != (row.number, row.match_id, row.kind):
        about = f"of match {leaf.get('match')} and the kind {leaf['kind']}"
        made.fault(row.number, f"it says that it is leaf {leaf['number']}, {about}")
    return leaf


def _check_head(head: Any, root: bytes | None, keys: Sequence[bytes], made: LogAudit) -> None:
    if head is None:
        made.fault(None, "the log has no signed head")
        return
    made.signed = head.size
    if root is None:
        made.fault(None, f"its head is of {head.size} leaves, and there are {made.leaves}: leaves are gone")
    elif root != head.root:
        made.fault(None, f"the root of the first {head.size} leaves is not the one that was signed")
    try:
        if not LogKeys(keys).signed(head):
            made.fault(None, "its head is not signed by its key")
    except LeafError as error:
        made.fault(None, str(error))


def _runs(numbers: Sequence[int]) -> Iterator[tuple[int, int]]:
    """Yield first and last of groups of numbers without wide gaps."""
    first = last = None
    for number in sorted(numbers):
        if first is None or last is None or number > last + _GAP:
            if first is not None and last is not None:
                yield first, last
            first = number
        last = number
    if first is not None and last is not None:
        yield first, last


class _Frontier:
    """The complete subtrees at the right edge of a tree, from the leaves up: enough to go on."""

    def __init__(self) -> None:
        self._edge: list[bytes | None] = []

    def add(self, index: int, leaf: bytes) -> bytes:
        """Add a leaf; return the hashes of the subtrees that it completes, one after the other."""
        made = leaf_hash(leaf)
        hashes, level = made, 0
        while index >> level & 1 and level < len(self._edge) and (left := self._edge[level]) is not None:
            made = node_hash(left, made)
            hashes += made
            self._edge[level] = None
            level += 1
        if level == len(self._edge):
            self._edge.append(None)
        self._edge[level] = made
        return hashes

    def root(self) -> bytes:
        """Return the root of the leaves so far."""
        made: bytes | None = None
        for left in self._edge:
            if left is not None:
                made = left if made is None else node_hash(left, made)
        return EMPTY if made is None else made


class _Tables:
    """What the tables say of results, voids, events and pruned replays."""

    def __init__(self, connection: Connection, made: LogAudit) -> None:
        self._connection = connection
        self._made = made
        self._told: set[int] = set()
        """Matches whose end a leaf has told."""
        self._voided: set[int] = set()
        self._pruned = 0
        self._bot_events = iter(
            connection.execute(select(schema.bot_events).order_by(schema.bot_events.c.number)).all()
        )
        self._versions = {
            row.id: row.version for row in connection.execute(select(schema.versions.c.id, schema.versions.c.version))
        }
        self._holders = {row.key: row.bot_id for row in connection.execute(select(schema.names))}
        self._names: dict[int, str] = {
            row.id: row.name for row in connection.execute(select(schema.bots.c.id, schema.bots.c.name))
        }
        renamed = select(schema.bot_events).where(schema.bot_events.c.kind == BotEventKind.RENAMED.value)
        for row in connection.execute(renamed.order_by(schema.bot_events.c.number.desc())):
            self._names[self._holders[row.name.lower()]] = row.name
        self._matches: dict[int, _Match] = {}
        self._seats: dict[int, list[Sequence[Any]]] = {}
        """Of each match by seat: bot, version, points, place."""
        self._events: dict[tuple[int, str], _Event] = {}
        self._replays: dict[int, bytes] = {}

    def load(self, match_ids: Sequence[int], replays: bool) -> None:
        """Read what the tables say of some matches, and of others between them."""
        self._matches, self._seats, self._events, self._replays = {}, {}, {}, {}
        for first, last in _runs(match_ids):
            between = {"first": first, "last": last}
            for row in _MATCHES.run(self._connection, between).fetchall():
                self._matches[row[0]] = _Match(*row[1:])
            for match_id, *seat in _SEATS.run(self._connection, between).fetchall():
                self._seats.setdefault(match_id, []).append(seat)
            for match_id, kind, *event in _EVENTS.run(self._connection, between).fetchall():
                self._events[match_id, kind] = _Event(*event)
        if replays:
            kept = select(schema.replays.c.match_id, schema.replays.c.content)
            for replay in self._connection.execute(kept.where(schema.replays.c.match_id.in_({*match_ids}))):
                self._replays[replay.match_id] = replay.content

    def compare(self, number: int, leaf: Mapping[str, Any]) -> None:
        """Compare a leaf with the tables."""
        kind = LeafKind(leaf["kind"])
        if kind in RESULTS or kind is LeafKind.INTERRUPTED:
            self._compare_match(number, kind, leaf)
        elif kind is LeafKind.VOID:
            self._compare_void(number, leaf)
        elif kind in LEAVES.values():
            self._compare_event(number, kind, leaf)
        elif kind is LeafKind.PRUNE:
            self._pruned += leaf["replays"]

    def finish(self) -> None:
        """Find what the tables say and no leaf tells."""
        count, made = select(func.count()), self._made
        matches, happened, kept = schema.matches.c, schema.events.c, schema.replays.c
        over = matches.state != MatchState.PLAYING.value
        ended = self._connection.scalar(count.select_from(schema.matches).where(over)) or 0
        if ended != len(self._told):
            found = self._connection.scalars(select(matches.id).where(over).order_by(matches.id))
            missing = [number for number in found if number not in self._told]
            made.fault(None, f"no leaf tells how {len(missing)} matches ended, the first of them {missing[:5]}")
        voids = self._connection.scalar(count.select_from(schema.events).where(happened.kind == "void")) or 0
        if voids != len(self._voided):
            made.fault(None, f"{voids} results are void, and leaves tell of {len(self._voided)}")
        if (left := sum(1 for _ in self._bot_events)) > 0:
            made.fault(None, f"no leaf tells of the last {left} things that the operator did to bots or owners")
        pruned = self._connection.scalar(count.select_from(schema.replays).where(kept.content == b"")) or 0
        if pruned > self._pruned:
            made.fault(None, f"{pruned} replays are pruned, and leaves tell of {self._pruned}")

    def _compare_match(self, number: int, kind: LeafKind, leaf: Mapping[str, Any]) -> None:
        match_id = leaf["match"]
        match, seats = self._matches.get(match_id), self._seats.get(match_id, [])
        if match is None:
            self._made.fault(number, f"there is no match {match_id}")
            return
        if match_id in self._told:
            self._made.fault(number, f"it tells of match {match_id} again")
        self._told.add(match_id)
        state = MatchState.INTERRUPTED if kind is LeafKind.INTERRUPTED else MatchState.FINISHED
        expected: dict[str, Any] = {
            "at": match.ended,
            "game": match.game,
            "bots": [bot for bot, _, _, _ in seats],
            "names": [self._names.get(bot) for bot, _, _, _ in seats],
            "versions": [self._versions.get(version) for _, version, _, _ in seats],
        }
        if kind is LeafKind.INTERRUPTED:
            expected["reason"] = match.reason
        else:
            result = self._events.get((match_id, "result"))
            if (kind is LeafKind.RATED) is (result is None):
                self._made.fault(number, f"match {match_id} moved {'no ' if result is None else ''}ratings")
            expected["places"] = [place for _, _, _, place in seats]
            expected["points"] = [points for _, _, points, _ in seats]
            if result is not None:
                expected["counts"] = [*events.flags_of(result.counts)]
        if match.state != state.value:
            self._made.fault(number, f"match {match_id} is {match.state}, it says {kind.value}")
        self._expect(number, leaf, expected)
        self._compare_replay(number, leaf)

    def _compare_replay(self, number: int, leaf: Mapping[str, Any]) -> None:
        content = self._replays.get(leaf["match"])
        if content and self._made.replays is not None and leaf.get("replay") is not None:
            self._made.replays += 1
            digest = text_digest(content)
            if digest is None or digest.hex() != leaf["replay"]:
                self._made.fault(number, f"the stored replay of match {leaf['match']} is not the one that it names")

    def _compare_void(self, number: int, leaf: Mapping[str, Any]) -> None:
        void = self._events.get((leaf["match"], "void"))
        if void is None:
            self._made.fault(number, f"the result of match {leaf['match']} is not void")
            return
        self._voided.add(leaf["match"])
        self._expect(number, leaf, {"at": void.at, "game": void.game, "reason": void.reason})

    def _compare_event(self, number: int, kind: LeafKind, leaf: Mapping[str, Any]) -> None:
        event = next(self._bot_events, None)
        if event is None or LEAVES[BotEventKind(event.kind)] is not kind:
            self._made.fault(number, f"the list of what the operator did has no such {kind.value} there")
            return
        expected = {"at": event.at, "name": event.name, "reason": event.reason}
        if kind is LeafKind.RENAME:
            expected["new_name"] = event.new_name
            self._names[self._holders.get(event.name.lower(), 0)] = event.new_name
        self._expect(number, leaf, expected)

    def _expect(self, number: int, leaf: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
        for name, value in expected.items():
            if leaf[name] != value:
                self._made.fault(number, f'it says {leaf[name]!r} for "{name}", and the tables say {value!r}')
