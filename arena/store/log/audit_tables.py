"""Comparison of the tables with the leaves of a log."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from typing import Any, Final, NamedTuple

from sqlalchemy import Connection, Row, func, select

from arena.log.leaf import LADDER_VERSION, RESULTS, VERSION, LeafKind, text_of
from arena.log.tree import EMPTY
from arena.replay.hash_chain import text_digest
from arena.store import schema
from arena.store.base import leaves
from arena.store.base.errors import ReplayDamaged
from arena.store.base.rows import BotEventKind, MatchState
from arena.store.ladder import events
from arena.store.matches import contests
from arena.store.matches.batches import EndedMatches
from arena.store.moderation.moderation import LEAVES
from arena.store.replays.files import packed
from arena.store.replays.replays import pruned_since

_RATED: Final = LeafKind.RATED.value
_CASUAL: Final = LeafKind.CASUAL.value
_COUNTS: Final = re.compile(r"\[(?:true|false)(?:,(?:true|false))*\]")
_REPLAY: Final = re.compile(r'(?:null|"([0-9a-f]{64})")}')
"""The end of the text of a result's leaf: the digest of the replay, which no table contains."""
MOST_FAULTS: Final = 20
"""Maximum number of faults that are listed. Others are only counted."""


class TablesAudit:
    """The results, annulments, events, seasons and pruned replays in the tables."""

    def __init__(self, connection: Connection, made: LogAudit) -> None:
        self._connection = connection
        self._made = made
        self._told: set[int] = set()
        """Matches whose end a leaf has recorded."""
        self._voided: set[int] = set()
        self._pruned = 0
        self._events = contests.expected_leaves(connection)
        """Leaves about events that follow from the tables and that the audit has not found yet."""
        self._bot_events = iter(
            connection.execute(select(schema.bot_events).order_by(schema.bot_events.c.number)).all()
        )
        self._seasons = {row.id: row for row in connection.execute(select(schema.seasons))}
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
        self._said_names = {bot: text_of(name) for bot, name in self._names.items()}
        self._said_versions = {node: text_of(version) for node, version in self._versions.items()}
        self._ended: Final = EndedMatches(connection)
        self._replays: dict[int, Row[Any]] = {}

    def load(self, match_ids: Sequence[int], replays: bool) -> None:
        """Read the rows of the given matches, and perhaps of other matches with numbers in between."""
        self._ended.load(match_ids)
        self._replays = {}
        if replays:
            kept = select(schema.replays).where(schema.replays.c.segment.is_not(None))
            for replay in self._connection.execute(kept.where(schema.replays.c.match_id.in_({*match_ids}))):
                self._replays[replay.match_id] = replay

    def say(self, number: int, match_id: int, kind: str, text: str) -> bool:
        """Return whether a leaf about a match's end equals, byte for byte, the leaf that follows from the tables.

        If not, `compare` finds the difference. So most leaves need not be parsed.
        """
        ended = self._ended
        match, seats = ended.matches.get(match_id), ended.seats.get(match_id)
        if match is None or not seats or match_id in self._told:
            return False
        _, bots, versions, points, places = zip(*seats, strict=True)
        names, said = self._said_names, self._said_versions
        try:
            expected = (
                f'{{"log":{_version(match[1], match[5])},"number":{number},"kind":"{kind}","at":{match[3]},'
                f'"match":{match_id},{_ladder_text(match[1], match[5])},"bots":{_list(bots)},'
                f'"names":[{",".join([names[bot] for bot in bots])}],'
                f'"versions":[{",".join([said[version] for version in versions])}],'
            )
        except KeyError:  # The tables refer to a missing row.
            return False
        counts = ended.counts.get(match_id)
        if match[2] == MatchState.INTERRUPTED.value:
            if kind != LeafKind.INTERRUPTED.value or text != f'{expected}"reason":{text_of(match[4])}}}':
                return False
        else:
            if match[2] != MatchState.FINISHED.value or kind != (_CASUAL if counts is None else _RATED):
                return False
            expected += f'"places":{_list(places)},"counts":'
            if counts is None:  # No table contains the counts of this match.
                own = _COUNTS.match(text, len(expected))
                flags = "" if own is None else own[0]
            else:
                flags = _flags(counts)
            expected += f'{flags},"points":{_list(points)},"replay":'
            end = _REPLAY.fullmatch(text, len(expected)) if text.startswith(expected) else None
            if end is None:
                return False
            if self._replays:
                self._compare_replay(number, match_id, end[1])
        self._told.add(match_id)
        return True

    def compare(self, number: int, leaf: Mapping[str, Any]) -> None:
        """Compare a leaf with the tables."""
        kind = LeafKind(leaf["kind"])
        if "match" in leaf:
            if type(leaf["match"]) is not int:
                self._made.fault(number, f"there is no match {leaf['match']!r}")
                return
            self._ended.more(leaf["match"])
        if kind in RESULTS or kind is LeafKind.INTERRUPTED:
            self._compare_match(number, kind, leaf)
        elif kind is LeafKind.VOID:
            self._compare_void(number, leaf)
        elif kind in LEAVES.values():
            self._compare_event(number, kind, leaf)
        elif "event" in leaf:
            expected = self._events.pop((kind.value, str(leaf["event"]), leaf.get("round", 0)), None)
            if expected is None:
                self._made.fault(number, f"there is no such {kind.value} of an event {leaf['event']!r}")
            else:
                self._expect(number, leaf, expected)
        elif kind is LeafKind.PRUNE:
            self._pruned += leaf["replays"]
        elif kind is LeafKind.SEASON:
            self._compare_season(number, leaf)

    def finish(self) -> None:
        """Report what the tables contain but no leaf records."""
        count, made = select(func.count()), self._made
        matches, happened, kept = schema.matches.c, schema.rated_results.c, schema.replays.c
        over = matches.state != MatchState.PLAYING.value
        ended = self._connection.scalar(count.select_from(schema.matches).where(over)) or 0
        if ended != len(self._told):
            found = self._connection.scalars(select(matches.id).where(over).order_by(matches.id))
            missing = [number for number in found if number not in self._told]
            made.fault(None, f"no leaf tells how {len(missing)} matches ended, the first of them {missing[:5]}")
        voids = self._connection.scalar(count.select_from(schema.rated_results).where(happened.kind == "void")) or 0
        if voids != len(self._voided):
            made.fault(None, f"{voids} results are void, and leaves tell of {len(self._voided)}")
        if (left := sum(1 for _ in self._bot_events)) > 0:
            made.fault(None, f"no leaf tells of the last {left} things that the operator did to bots or owners")
        for kind, name, _ in self._events:
            made.fault(None, f"no leaf tells of the {kind} of the event {name}")
        if self._seasons:
            made.fault(None, f"no leaf tells of the beginning of the seasons {', '.join(sorted(self._seasons))}")
        pruned = self._connection.scalar(count.select_from(schema.replays).where(kept.segment.is_(None))) or 0
        if pruned > self._pruned:
            made.fault(None, f"{pruned} replays are pruned, and leaves tell of {self._pruned}")

    def _compare_match(self, number: int, kind: LeafKind, leaf: Mapping[str, Any]) -> None:
        match_id = leaf["match"]
        match, seats = self._ended.matches.get(match_id), self._ended.seats.get(match_id, [])
        if match is None:
            self._made.fault(number, f"there is no match {match_id}")
            return
        _, game, stored, at, reason, ladder_id = match
        if match_id in self._told:
            self._made.fault(number, f"it tells of match {match_id} again")
        self._told.add(match_id)
        state = MatchState.INTERRUPTED if kind is LeafKind.INTERRUPTED else MatchState.FINISHED
        expected: dict[str, Any] = {
            "at": at,
            **_ladder(game, ladder_id),
            "bots": [bot for _, bot, _, _, _ in seats],
            "names": [self._names.get(bot) for _, bot, _, _, _ in seats],
            "versions": [self._versions.get(version) for _, _, version, _, _ in seats],
        }
        if kind is LeafKind.INTERRUPTED:
            expected["reason"] = reason
        else:
            counts = self._ended.counts.get(match_id)
            if (kind is LeafKind.RATED) is (counts is None):
                self._made.fault(number, f"match {match_id} moved {'no ' if counts is None else ''}ratings")
            expected["places"] = [place for _, _, _, _, place in seats]
            expected["points"] = [points for _, _, _, points, _ in seats]
            if counts is not None:
                expected["counts"] = [*events.flags_of(counts)]
        if stored != state.value:
            self._made.fault(number, f"match {match_id} is {stored}, it says {kind.value}")
        self._expect(number, leaf, expected)
        self._compare_replay(number, match_id, leaf.get("replay"))

    def _compare_replay(self, number: int, match_id: int, replay: object) -> None:
        row = self._replays.get(match_id)
        if row is not None and self._made.replays is not None and replay is not None:
            try:
                digest = text_digest(packed(self._connection, row))
            except ReplayDamaged as error:
                if not pruned_since(self._connection, match_id):
                    self._made.fault(number, str(error))
                return
            self._made.replays += 1
            if digest is None or digest.hex() != replay:
                self._made.fault(number, f"the stored replay of match {match_id} is not the one that it names")

    def _compare_void(self, number: int, leaf: Mapping[str, Any]) -> None:
        void = self._ended.voids.get(leaf["match"])
        if void is None:
            self._made.fault(number, f"the result of match {leaf['match']} is not void")
            return
        self._voided.add(leaf["match"])
        match = self._ended.matches.get(leaf["match"])
        ladder = {"game": None} if match is None else _ladder(match[1], match[5])
        self._expect(number, leaf, {"at": void.at, **ladder, "reason": void.reason})

    def _compare_event(self, number: int, kind: LeafKind, leaf: Mapping[str, Any]) -> None:
        event = next(self._bot_events, None)
        if event is None or LEAVES[BotEventKind(event.kind)] is not kind:
            self._made.fault(number, f"the list of what the operator did has no such {kind.value} there")
            return
        expected = {"at": event.at, "name": event.name, "reason": event.reason}
        if kind is LeafKind.RENAME:
            expected["new_name"] = event.new_name
            bot = self._holders.get(event.name.lower(), 0)
            self._names[bot], self._said_names[bot] = event.new_name, text_of(event.new_name)
        self._expect(number, leaf, expected)

    def _compare_season(self, number: int, leaf: Mapping[str, Any]) -> None:
        season = self._seasons.pop(leaf["ladder"], None) if isinstance(leaf["ladder"], str) else None
        if season is None:
            self._made.fault(number, f"there is no season {leaf['ladder']!r} that no other leaf tells of")
            return
        self._expect(number, leaf, {"at": season.begun, "name": season.ladder, "season": season.number})

    def _expect(self, number: int, leaf: Mapping[str, Any], expected: Mapping[str, Any]) -> None:
        for name, value in expected.items():
            if leaf.get(name) != value:
                self._made.fault(number, f'it says {leaf.get(name)!r} for "{name}", and the tables say {value!r}')


def _ladder(game: str, ladder_id: str) -> dict[str, str | None]:
    """Return the fields of a leaf that name game and ladder; None for a ladder that a leaf does not name."""
    return {"ladder": None} | leaves.ladder_fields(game, ladder_id)


@cache
def _version(game: str, ladder_id: str) -> int:
    return VERSION if ladder_id == game else LADDER_VERSION


@cache
def _ladder_text(game: str, ladder_id: str) -> str:
    return text_of(leaves.ladder_fields(game, ladder_id))[1:-1]


def _list(numbers: Sequence[int]) -> str:
    return f"[{','.join(map(str, numbers))}]"


@cache
def _flags(counts: str) -> str:
    return text_of(events.flags_of(counts))


class LogFault(NamedTuple):
    """A fault found by the audit."""

    number: int | None
    """Number of the leaf; None if the fault concerns no single leaf."""
    text: str


@dataclass(slots=True)
class LogAudit:
    """The result of an audit."""

    leaves: int = 0
    signed: int = 0
    """Number of leaves under the newest head. The other leaves are signed at the next start."""
    root: bytes = EMPTY
    """The root of the tree of all leaves."""
    kinds: Counter[str] = field(default_factory=Counter)
    """Number of leaves of each kind."""
    replays: int | None = None
    """Number of replays compared with their leaves; None if the audit compares no replays."""
    faults: list[LogFault] = field(default_factory=list)
    """The first faults found."""
    more: int = 0
    """Number of faults that are not listed."""

    def fault(self, number: int | None, text: str) -> None:
        """Add a fault."""
        if len(self.faults) < MOST_FAULTS:
            self.faults.append(LogFault(number, text))
        else:
            self.more += 1
