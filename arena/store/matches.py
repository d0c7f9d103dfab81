"""Matches from beginning to result. A result is stored whole, with ratings and replay, and never changed."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from hashlib import sha256
from typing import Any, Final, NewType

from sqlalchemy import Connection, Row, bindparam, func, insert, select, update

from arena.ladder.events import Node
from arena.ladder.live import Rating, RatingChange
from arena.replay.chain import chained
from arena.replay.thinking import Thinking
from arena.store import events, ladder, schema, versions
from arena.store.bots import Bot, BotId, bot_of
from arena.store.errors import MatchNotPlaying, NoReplay, StoreError, UnknownMatch
from arena.store.prepared import Prepared

MatchId = NewType("MatchId", int)


_COLUMNS: Final = schema.matches.c
_SEATS: Final = schema.match_seats.c
_BEGIN: Final = Prepared(insert(schema.matches), "id", "game", "options", "seats", "state", "started", "reason")
_SEAT: Final = Prepared(insert(schema.match_seats), "match_id", "seat", "bot_id", "node", "forced")
_GAME_AND_STATE: Final = Prepared(select(_COLUMNS.game, _COLUMNS.state).where(_COLUMNS.id == bindparam("of_match")))
_SEATED: Final = Prepared(select(_SEATS.node).where(_SEATS.match_id == bindparam("of_match")).order_by(_SEATS.seat))
_RESULT: Final = Prepared(
    update(schema.match_seats).where(_SEATS.match_id == bindparam("of_match"), _SEATS.seat == bindparam("of_seat")),
    *("score", "place", "forced", "rating_before", "deviation_before", "rating_after", "deviation_after"),
)
_END: Final = Prepared(update(schema.matches).where(_COLUMNS.id == bindparam("of_match")), "state", "ended")
_KEEP: Final = Prepared(insert(schema.replays), "match_id", "content", "sha256")


class MatchState(Enum):
    """Where a match stands."""

    PLAYING = "playing"
    FINISHED = "finished"
    INTERRUPTED = "interrupted"


@dataclass(frozen=True, slots=True)
class Seat:
    """One seat of a match; what only a result has is None before it."""

    bot: str
    score: int | None
    place: int | None
    forced: int
    """Decisions the server made."""
    rating: RatingChange | None
    version: str = ""
    """What the bot said it was."""


@dataclass(frozen=True, slots=True)
class Match:
    """One match; instants in microseconds since 1970."""

    id: MatchId
    game: str
    options: Mapping[str, Any]
    state: MatchState
    started: int
    ended: int | None
    reason: str
    """Why it was interrupted, else empty."""
    seats: tuple[Seat, ...]
    voided: str = ""
    """Why its result counts no more; empty where it does, or where there is none."""


def newest(connection: Connection) -> int:
    """The highest number a match ever had; 0 before the first."""
    return connection.scalar(select(func.max(schema.matches.c.id))) or 0


def begin(
    connection: Connection,
    game: str,
    options: Mapping[str, Any],
    bots: Sequence[BotId],
    at: int,
    number: int | None = None,
    said: Sequence[str] | None = None,
) -> MatchId:
    """A match begins with these bots in its seats; one bot may have several. Without a number it takes the next.

    `said` are the versions that the bots say they are, by seat; those that are new begin with this match.
    """
    row = {"id": number, "game": game, "options": json.dumps(options, sort_keys=True), "seats": len(bots)}
    row |= {"state": MatchState.PLAYING.value, "started": at, "reason": ""}
    added = _BEGIN.run(connection, row).lastrowid
    assert added is not None, "that is what an insertion has"
    match = MatchId(added)
    nodes = versions.seat(connection, tuple(zip(bots, said or [""] * len(bots), strict=True)), at)
    seats = [
        {"match_id": match, "seat": seat, "bot_id": bot, "node": node, "forced": 0}
        for seat, (bot, node) in enumerate(zip(bots, nodes, strict=True))
    ]
    _SEAT.run_all(connection, seats)
    return match


def finish(
    connection: Connection,
    match: MatchId,
    *,
    scores: Sequence[int],
    places: Sequence[int],
    forced: Sequence[int],
    counts: Sequence[bool],
    at: int,
    replay: Callable[[tuple[RatingChange, ...]], bytes],
    thinking: Sequence[Thinking] = (),
) -> tuple[RatingChange, ...]:
    """A match has its result: event, seats, ratings and replay are stored. Returns the rating changes, by seat.

    `replay` makes the replay from the rating changes, packed and without its chain; `thinking` tells how the seats used
    their time, where that is known. UnknownMatch, MatchNotPlaying; ValueError for a result that does not fit the seats.
    """
    game, state = _game_and_state(connection, match)
    if state is not MatchState.PLAYING:
        raise MatchNotPlaying(match, state.value)
    nodes = [Node(node) for (node,) in _SEATED.run(connection, {"of_match": match})]
    changes = ladder.rate(connection, game, nodes, places, counts, thinking)
    events.add_result(connection, game, match, nodes, places, counts, at)
    results = [
        {
            "of_match": match,
            "of_seat": seat,
            "score": score,
            "place": place,
            "forced": server_made,
            "rating_before": change.before.value,
            "deviation_before": change.before.deviation,
            "rating_after": change.after.value,
            "deviation_after": change.after.deviation,
        }
        for seat, (score, place, server_made, change) in enumerate(zip(scores, places, forced, changes, strict=True))
    ]
    _RESULT.run_all(connection, results)
    _END.run(connection, {"of_match": match, "state": MatchState.FINISHED.value, "ended": at})
    content = replay(changes)
    _KEEP.run(connection, {"match_id": match, "content": content, "sha256": sha256(content).digest()})
    return changes


def void(connection: Connection, match: int, reason: str, at: int) -> str:
    """The result of a match counts no more; the match and its replay stay. Returns its game.

    UnknownMatch, NoResult, ResultVoid, ReasonNotAllowed.
    """
    game = events.add_void(connection, match, reason, at)
    ladder.take_back(connection, game, events.result_of(connection, match))
    return game


def interrupt(connection: Connection, matches: Sequence[MatchId], reason: str, at: int) -> None:
    """Matches are broken off without a result; those that are over already stay as they are."""
    if not matches:
        return
    columns = schema.matches.c
    one_match = (columns.id == bindparam("of_match")) & (columns.state == MatchState.PLAYING.value)
    change = update(schema.matches).where(one_match)
    values = {"state": MatchState.INTERRUPTED.value, "reason": reason, "ended": at}
    connection.execute(change, [{"of_match": match, **values} for match in matches])


def seated(connection: Connection, match: int) -> tuple[Bot, ...]:
    """The bots of a match, by seat."""
    taken = schema.match_seats.c
    query = select(schema.bots).join(schema.match_seats).where(taken.match_id == match).order_by(taken.seat)
    return tuple(bot_of(row) for row in connection.execute(query))


def playing(connection: Connection) -> tuple[MatchId, ...]:
    """The matches that are neither finished nor interrupted."""
    columns = schema.matches.c
    return tuple(connection.scalars(select(columns.id).where(columns.state == MatchState.PLAYING.value)))


def list_matches(
    connection: Connection, *, game: str = "", bot: str = "", limit: int = 50, before: int = 0
) -> tuple[Match, ...]:
    """The newest matches, newest first: of one game, of one bot by name, with numbers below `before`, where given."""
    columns = schema.matches.c
    query = select(schema.matches).order_by(columns.id.desc()).limit(limit)
    if game:
        query = query.where(columns.game == game)
    if bot:
        seats = schema.match_seats.join(schema.bots)
        own = select(schema.match_seats.c.match_id).select_from(seats).where(schema.bots.c.key == bot.lower())
        query = query.where(columns.id.in_(own))
    if before:
        query = query.where(columns.id < before)
    return _with_seats(connection, connection.execute(query).all())


def get_match(connection: Connection, match: int) -> Match:
    """One match; UnknownMatch."""
    rows = connection.execute(select(schema.matches).where(schema.matches.c.id == match)).all()
    if not rows:
        raise UnknownMatch(match)
    return _with_seats(connection, rows)[0]


def get_replay(connection: Connection, match: int) -> bytes:
    """The replay file of a finished match. UnknownMatch, NoReplay; StoreError if it is not what was stored."""
    _, state = _game_and_state(connection, match)
    row = connection.execute(select(schema.replays).where(schema.replays.c.match_id == match)).one_or_none()
    if row is None:
        raise NoReplay(match, state.value)
    if sha256(row.content).digest() != row.sha256:
        raise StoreError(f"the stored replay of match {match} is damaged: its SHA-256 does not agree")
    return chained(row.content)


def _game_and_state(connection: Connection, match: int) -> tuple[str, MatchState]:
    row = _GAME_AND_STATE.run(connection, {"of_match": match}).fetchone()
    if row is None:
        raise UnknownMatch(match)
    game, state = row
    return game, MatchState(state)


def _with_seats(connection: Connection, rows: Sequence[Row[Any]]) -> tuple[Match, ...]:
    taken = schema.match_seats.c
    seats: dict[int, list[Seat]] = {row.id: [] for row in rows}
    query = select(schema.match_seats, schema.bots.c.name, schema.versions.c.version).order_by(
        taken.match_id, taken.seat
    )
    query = query.select_from(schema.match_seats.join(schema.versions).join(schema.bots))
    voided = events.void_reasons(connection, [*seats])
    for row in connection.execute(query.where(taken.match_id.in_(seats))):
        seats[row.match_id].append(_seat(row))
    return tuple(
        Match(
            id=row.id,
            game=row.game,
            options=json.loads(row.options),
            state=MatchState(row.state),
            started=row.started,
            ended=row.ended,
            reason=row.reason,
            seats=tuple(seats[row.id]),
            voided=voided.get(row.id, ""),
        )
        for row in rows
    )


def _seat(row: Row[Any]) -> Seat:
    change = None
    if row.rating_before is not None:
        before = Rating(row.rating_before, row.deviation_before)
        change = RatingChange(before, Rating(row.rating_after, row.deviation_after))
    return Seat(row.name, row.score, row.place, row.forced, change, row.version)
