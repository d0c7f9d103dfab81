"""Running matches and the server's status, as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, TypeAlias

from arena_client.v1 import matches_pb2, play_pb2
from google.protobuf.any_pb2 import Any as AnyMessage
from google.protobuf.message import Message

from arena.protobuf.rows import unpack
from arena.replay.header import MatchKind
from arena.store.base.rows import JSON_KEY, ONLY_IF_SET

Read: TypeAlias = Callable[[AnyMessage], Message | None]
"""A function that reads a message packed in an `Any`. It returns None for a message of an unknown type."""


@dataclass(frozen=True, slots=True)
class PointsRow:
    """The points of a round, by seat."""

    points: tuple[int, ...]
    scores: tuple[int, ...]
    """Scores after the round."""


@dataclass(frozen=True, slots=True)
class RunningRow:
    """A match that is being played."""

    match_id: int
    game: str
    kind: MatchKind
    started: datetime
    bots: tuple[str, ...]
    """Names of the bots, by seat."""
    rounds: tuple[PointsRow, ...]
    """The finished rounds."""
    ladder: str = field(default="", metadata={ONLY_IF_SET: True})
    """Name of the ladder. Empty in the first season of the game's default ladder."""
    season: int = field(default=0, metadata={ONLY_IF_SET: True})
    """Number of the ladder's season, from 1. It is 0 in the first season of the game's default ladder."""


@dataclass(frozen=True, slots=True)
class RoundRow:
    """A finished round."""

    match_id: int = field(metadata={JSON_KEY: "match"})
    round: int
    """Number of the round, from 0."""
    points: tuple[int, ...]
    scores: tuple[int, ...]
    record: Mapping[str, Any]
    """The round with all cards: the fields of the game's message, such as `plays`, with lists as tuples."""


@dataclass(frozen=True, slots=True)
class EndRow:
    """A match that has ended."""

    match_id: int
    scores: tuple[int, ...]
    places: tuple[int, ...]
    interrupted: str


@dataclass(frozen=True, slots=True)
class GameStatusRow:
    """The status of a ladder on a server."""

    game: str
    waiting: int
    """Number of bots that wait for a table."""
    playing: int
    ended: int
    """Number of matches that ended in the last minute."""
    published: datetime | None
    """Time at which the game's ladder was published; None before the first publication."""
    unfitted_results: int
    """Number of results that the published ladder does not include yet."""
    not_fitted_reason: str
    ladder: str = field(default="", metadata={ONLY_IF_SET: True})
    """Name of the ladder. Empty in the first season of the game's default ladder."""
    season: int = field(default=0, metadata={ONLY_IF_SET: True})
    """Number of the ladder's season, from 1. It is 0 in the first season of the game's default ladder."""


@dataclass(frozen=True, slots=True)
class StatusRow:
    """The status of a server."""

    server: str
    compiled: bool
    started: datetime
    draining: bool
    bots: int
    """Number of connected bots."""
    watchers: int
    games: tuple[GameStatusRow, ...]
    """The default ladder of each game."""
    ladders: tuple[GameStatusRow, ...] = field(default=(), metadata={ONLY_IF_SET: True})
    """All other ladders."""


LiveRow: TypeAlias = RunningRow | RoundRow | EndRow


class Watch:
    """A stream of events in matches. Iteration raises the errors of the call."""

    def __init__(self, call: Any, read: Read) -> None:
        """`read` parses the round records of games that have no field of their own in the protocol."""
        self._call = call
        self._read = read

    def __iter__(self) -> Iterator[tuple[tuple[LiveRow, ...], bool]]:
        """Yield the rows of each message's events, and True once the stream has sent all running matches."""
        for message in self._call:
            rows = [_row(event, self._read) for event in message.events]
            yield tuple(row for row in rows if row is not None), message.caught_up

    def cancel(self) -> None:
        """End the stream. Any thread may call this."""
        self._call.cancel()


def _row(event: matches_pb2.MatchEvent, read: Read) -> LiveRow | None:
    """Return an event as a row, or None for an event of a later version of the protocol."""
    match event.WhichOneof("event"):
        case "began":
            return unpack(event.began, RunningRow)
        case "round":
            return round_row(event.round, read)
        case "over":
            return unpack(event.over, EndRow)
        case _:
            return None


def round_row(report: play_pb2.RoundReport, read: Read) -> RoundRow:
    """Return a report as a row. The record is empty if `read` cannot parse it."""
    record: dict[str, Any] = {}
    game = report.WhichOneof("record")
    message: Any = getattr(report, game) if game is not None else read(report.other)
    for each in () if message is None else message.DESCRIPTOR.fields:
        if each.has_presence and not message.HasField(each.name):
            record[each.name] = None
        else:
            value = getattr(message, each.name)
            record[each.name] = tuple(value) if each.is_repeated else value
    return unpack(report, RoundRow, record=record)
