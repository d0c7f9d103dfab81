"""Matches, from start to result. A result is stored in one step with its ratings and replay, and never changes."""

from __future__ import annotations

import json
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any, Final, NewType

from sqlalchemy import Connection, Row, bindparam, func, insert, literal_column, select, update

from arena.ladder.events import Node
from arena.ladder.ladder import NO_QUOTA, Quota
from arena.ladder.live import Rating, RatingChange
from arena.log.leaf import LeafKind
from arena.replay.hash_chain import PackedReplay, with_chain
from arena.replay.header import MatchKind
from arena.replay.thinking import Thinking
from arena.store import schema
from arena.store.base import leaves as log
from arena.store.base.errors import MatchNotPlaying, NoReplay, UnknownMatch
from arena.store.base.rows import MatchRow, MatchState, SeatRow, instant
from arena.store.base.statements import Statement
from arena.store.bots.bots import Bot, BotId, bot_of, known
from arena.store.ladder import events, pair_days, ratings, versions
from arena.store.ladder.seasons import named as named_season
from arena.store.matches import contests
from arena.store.replays import replays

MatchId = NewType("MatchId", int)


_COLUMNS: Final = schema.matches.c
_SEATS: Final = schema.match_seats.c
_RATINGS: Final = schema.ratings.c
_BEGIN: Final = Statement(
    insert(schema.matches), "id", "game", "options", "seats", "state", "started", "reason", "kind", "ladder", "node"
)
_SEAT: Final = Statement(insert(schema.match_seats), "match_id", "seat", "bot_id", "node", "forced")
_KEYS_AND_STATE: Final = Statement(
    select(_COLUMNS.game, _COLUMNS.ladder, _COLUMNS.state).where(_COLUMNS.id == bindparam("of_match"))
)
_TO_FINISH: Final = Statement(
    select(_COLUMNS.game, _COLUMNS.ladder, _COLUMNS.state, _SEATS.bot_id, schema.bots.c.name)
    .add_columns(schema.versions.c.version, _SEATS.node, *(_RATINGS[name] for name in ratings.RatingRow._fields))
    .join_from(schema.matches, schema.match_seats)
    .join(schema.bots)
    .join(schema.versions, schema.versions.c.id == _SEATS.node)
    .outerjoin(schema.ratings, (_RATINGS.node == _SEATS.node) & (_RATINGS.ladder == _COLUMNS.ladder))
    .where(_COLUMNS.id == bindparam("of_match"))
    .order_by(_SEATS.seat)
)
"""By seat: the match's game, ladder and state; bot, name and version as in a leaf; the node and its ratings."""
_RESULT: Final = Statement(
    update(schema.match_seats).where(_SEATS.match_id == bindparam("of_match"), _SEATS.seat == bindparam("of_seat")),
    *("score", "place", "forced", "rating_before", "deviation_before", "rating_after", "deviation_after"),
    *("spoilt", "leaf"),
)
_END: Final = Statement(update(schema.matches).where(_COLUMNS.id == bindparam("of_match")), "state", "ended", "kind")


def newest(connection: Connection) -> int:
    """Return the number of the newest match; 0 if there is none."""
    return connection.scalar(select(func.max(schema.matches.c.id))) or 0


def begin(
    connection: Connection,
    game: str,
    options: Mapping[str, Any],
    bots: Sequence[BotId],
    at: int,
    match_id: int | None = None,
    said: Sequence[str] | None = None,
    kind: MatchKind = MatchKind.RATED,
    ladder_id: str = "",
    event: str = "",
    node: int | None = None,
) -> MatchId:
    """Store the start of a match, with its bots by seat, and return its number. A bot may have several seats.

    `match_id` is by default the next free number. `said`: the versions that the bots report, by seat. A version is
    stored with its first match. `ladder_id` is by default the game's default ladder. `event`: as in `Header`. `node`:
    the number of the node that plays the match; None without other nodes.
    """
    match_id = MatchId(newest(connection) + 1 if match_id is None else match_id)
    row = {"id": match_id, "game": game, "options": json.dumps(options, sort_keys=True), "seats": len(bots)}
    row |= {"state": MatchState.PLAYING.value, "started": at, "reason": "", "kind": kind.value}
    row |= {"ladder": ladder_id or game, "node": node}
    nodes = versions.seat(connection, tuple(zip(bots, said or [""] * len(bots), strict=True)), at)
    _BEGIN.write(connection, row)
    for seat, (bot, of_seat) in enumerate(zip(bots, nodes, strict=True)):
        _SEAT.write(connection, {"match_id": match_id, "seat": seat, "bot_id": bot, "node": of_seat, "forced": 0})
    if event:
        contests.seat(connection, event, match_id)
    return match_id


def finish(
    connection: Connection,
    match_id: MatchId,
    *,
    scores: Sequence[int],
    places: Sequence[int],
    forced: Sequence[int],
    counts: Sequence[bool],
    at: int,
    replay: Callable[[tuple[RatingChange, ...]], PackedReplay],
    spoilt: Sequence[bool] = (),
    thinking: Sequence[Thinking] = (),
    kind: MatchKind = MatchKind.RATED,
    quota: Quota = NO_QUOTA,
) -> tuple[RatingChange, ...]:
    """Store the result of a match: event, seats, live ratings, replay and log leaf. Return the rating changes by seat.

    Only a result of the kind `RATED` is an event and changes ratings.

    Sequences are by seat. `counts`: whether the result rates the seat's version. `spoilt`: whether house bots made too
    many of the seat's decisions for its result to rate the opponents; empty if no seat is spoilt. `replay` returns the
    compressed replay, without its hash chain, given the rating changes. `thinking`: how the seats used their time;
    empty if unknown. `quota` limits, per day and per week, how many matches of a pair of bots change the pair's live
    ratings.

    Raises:
        UnknownMatch, MatchNotPlaying: The match cannot be finished.
        ValueError: The result does not fit the seats.
    """
    rows = _TO_FINISH.run(connection, {"of_match": match_id}).fetchall()
    if not rows:
        raise UnknownMatch(match_id)
    game, ladder_id, state = rows[0][:3]
    if state != MatchState.PLAYING.value:
        raise MatchNotPlaying(match_id, state)
    nodes = [Node(row[6]) for row in rows]
    changes: tuple[RatingChange, ...] = ()
    if kind is MatchKind.RATED:
        counted = pair_days.Counted()
        if quota.bounds:
            counted = pair_days.count(connection, ladder_id, match_id, at, quota)
        rated = {Node(row[6]): ratings.RatingRow(*row[7:]) for row in rows if row[7] is not None}
        changes = ratings.rate(
            connection, ladder_id, nodes, rated, places, scores, counts, at, spoilt, thinking, counted
        )
        events.add_result(connection, ladder_id, match_id, nodes, places, counts, spoilt, at)
    content, text = replay(changes)
    leaf = LeafKind.RATED if kind is MatchKind.RATED else LeafKind.CASUAL
    fields, seats = log.ladder_fields(game, ladder_id), log.by_field([row[3:6] for row in rows])
    number = log.append_result(connection, leaf, at, match_id, fields, seats, places, counts, scores, text)
    for seat, (score, place, server_made, change, unmoving) in enumerate(
        zip(scores, places, forced, changes or (None,) * len(places), spoilt or (False,) * len(places), strict=True)
    ):
        result = {
            "of_match": match_id,
            "of_seat": seat,
            "score": score,
            "place": place,
            "forced": server_made,
            "rating_before": change and change.before.value,
            "deviation_before": change and change.before.deviation,
            "rating_after": change and change.after.value,
            "deviation_after": change and change.after.deviation,
            "spoilt": int(unmoving),
            "leaf": number,
        }
        _RESULT.write(connection, result)
    ended = {"of_match": match_id, "state": MatchState.FINISHED.value, "ended": at, "kind": kind.value}
    _END.write(connection, ended)
    replays.keep(connection, match_id, game, content)
    if kind is MatchKind.EVENT:
        contests.ended(connection, match_id)
    return changes


def stored_changes(connection: Connection, match_id: MatchId, at: int) -> tuple[RatingChange, ...] | None:
    """Return the rating changes of a result that was stored with the time `at`; None if there is no such result.

    The changes do not name the seats beyond the quota.
    """
    ended = _COLUMNS.id == match_id, _COLUMNS.state == MatchState.FINISHED.value, _COLUMNS.ended == at
    if connection.scalar(select(_COLUMNS.id).where(*ended)) is None:
        return None
    figures = _SEATS.rating_before, _SEATS.deviation_before, _SEATS.rating_after, _SEATS.deviation_after
    rows = connection.execute(select(*figures).where(_SEATS.match_id == match_id).order_by(_SEATS.seat))
    return tuple(RatingChange(Rating(*row[:2]), Rating(*row[2:])) for row in rows if row.rating_after is not None)


def void(connection: Connection, match_id: int, reason: str, at: int) -> str:
    """Annul the result of a match, keeping the match and its replay; return the ladder's id.

    Raises: UnknownMatch, NoResult, ResultVoid, ReasonNotAllowed.
    """
    ladder_id = events.add_void(connection, match_id, reason, at)
    game, _, _ = _keys_and_state(connection, match_id)
    log.append(connection, LeafKind.VOID, at, match=match_id, **log.ladder_fields(game, ladder_id), reason=reason)
    result = events.result_of(connection, match_id)
    scores = connection.scalars(select(_SEATS.score).where(_SEATS.match_id == match_id).order_by(_SEATS.seat)).all()
    ratings.take_back(connection, ladder_id, result, scores)
    pair_days.take_back(connection, ladder_id, result)
    return ladder_id


def void_results(
    connection: Connection, bot: str, since: int, reason: str, at: int, after: int = 0, limit: int | None = None
) -> dict[int, str]:
    """Annul the results of a bot that were stored at the time `since` or later and still count.

    Return the ladder id of each match whose result is now annulled, by match number. `limit`: the maximum number of
    matches. `after`: a match number; only later matches are affected. Raises: UnknownBot, ReasonNotAllowed.
    """
    events.check_reason(reason)
    counting = events.counting(connection, known(connection, bot).id, since, after, limit)
    return {match_id: void(connection, match_id, reason, at) for match_id in counting}


def interrupt(connection: Connection, match_ids: Sequence[MatchId], reason: str, at: int) -> None:
    """Mark matches as interrupted, without a result. Matches that have already ended do not change."""
    for match_id in match_ids:
        game, ladder_id, state = _keys_and_state(connection, match_id)
        if state is not MatchState.PLAYING:
            continue
        change = update(schema.matches).where(_COLUMNS.id == match_id)
        connection.execute(change.values(state=MatchState.INTERRUPTED.value, reason=reason, ended=at))
        fields = log.ladder_fields(game, ladder_id) | log.seated(connection, match_id)
        number = log.append(connection, LeafKind.INTERRUPTED, at, match=match_id, **fields, reason=reason)
        connection.execute(update(schema.match_seats).where(_SEATS.match_id == match_id).values(leaf=number))
        contests.ended(connection, match_id)


def seated(connection: Connection, match_id: int) -> tuple[Bot, ...]:
    """Return the bots of a match, by seat."""
    taken = schema.match_seats.c
    query = select(schema.bots).join(schema.match_seats).where(taken.match_id == match_id).order_by(taken.seat)
    return tuple(bot_of(row) for row in connection.execute(query))


def playing(connection: Connection, node: int | None = None) -> tuple[MatchId, ...]:
    """Return the matches that are neither finished nor interrupted: all, or those of one node.

    The matches of node 1 include those started by a server without other nodes.
    """
    query = select(_COLUMNS.id).where(_COLUMNS.state == MatchState.PLAYING.value)
    if node is not None:
        query = query.where(func.coalesce(_COLUMNS.node, literal_column("1")) == node)
    return tuple(connection.scalars(query.order_by(_COLUMNS.id)))


def hand_over(connection: Connection, node: int | None, left: Collection[int] | None = None) -> None:
    """Assign the running matches of the nodes `left`, by default of all nodes, to `node` (None as in `begin`)."""
    change = update(schema.matches).where(_COLUMNS.state == MatchState.PLAYING.value, _COLUMNS.node.is_not(None))
    if left is not None:
        change = change.where(_COLUMNS.node.in_(left))
    connection.execute(change.values(node=node))


def started(connection: Connection, match_id: int) -> int:
    """Return the start time of a match, in microseconds since 1970. Raises: UnknownMatch."""
    at: int | None = connection.scalar(select(_COLUMNS.started).where(_COLUMNS.id == match_id))
    if at is None:
        raise UnknownMatch(match_id)
    return at


def list_matches(
    connection: Connection,
    *,
    game: str = "",
    bot: str = "",
    limit: int = 50,
    before: int | None = None,
    ladder_id: str = "",
) -> tuple[MatchRow, ...]:
    """Return the newest matches, newest first.

    The optional conditions are a game, a ladder, a bot (by a present or former name), and numbers below `before`.
    """
    columns = schema.matches.c
    number = columns.id
    query = select(number)
    if bot:
        # Use the index of the bot's own seats, so that only one page is read. A bot may have several seats in a match.
        named = select(schema.names.c.bot_id).where(schema.names.c.key == bot.lower()).scalar_subquery()
        number = _SEATS.match_id
        query = select(number.label("id")).join_from(schema.match_seats, schema.matches, number == columns.id)
        query = query.where(_SEATS.bot_id == named).group_by(number)
    if game:
        query = query.where(columns.game == game)
    if ladder_id:
        query = query.where(columns.ladder == ladder_id)
    if before is not None:
        query = query.where(number < before)
    page = query.order_by(number.desc()).limit(limit).subquery("page")
    rows = select(schema.matches).join(page, page.c.id == columns.id).order_by(columns.id.desc())
    return with_seats(connection, connection.execute(rows).all())


def has_finished(connection: Connection, bot_id: int) -> bool:
    """Return whether a bot has finished a match."""
    own = select(_SEATS.match_id).where(_SEATS.bot_id == bot_id, _SEATS.place.is_not(None)).limit(1)
    return connection.scalar(own) is not None


def get_match(connection: Connection, match_id: int) -> MatchRow:
    """Return one match. Raises: UnknownMatch."""
    rows = connection.execute(select(schema.matches).where(schema.matches.c.id == match_id)).all()
    if not rows:
        raise UnknownMatch(match_id)
    return with_seats(connection, rows)[0]


def get_replay(connection: Connection, match_id: int) -> bytes:
    """Return the replay file of a finished match. Raises: UnknownMatch, NoReplay, ReplayPruned, ReplayDamaged."""
    *_, state = _keys_and_state(connection, match_id)
    content = replays.content(connection, match_id)
    if content is None:
        raise NoReplay(match_id, state.value)
    return with_chain(content)


def _keys_and_state(connection: Connection, match_id: int) -> tuple[str, str, MatchState]:
    row = _KEYS_AND_STATE.run(connection, {"of_match": match_id}).fetchone()
    if row is None:
        raise UnknownMatch(match_id)
    game, ladder_id, state = row
    return game, ladder_id, MatchState(state)


def with_seats(connection: Connection, rows: Sequence[Row[Any]]) -> tuple[MatchRow, ...]:
    """Return matches with their seats, from rows of the table `matches`."""
    taken, bot = schema.match_seats.c, schema.bots.c
    seats: dict[int, list[SeatRow]] = {row.id: [] for row in rows}
    result = taken.score, taken.place, taken.rating_before, taken.rating_after, taken.forced
    query = select(taken.match_id, taken.spoilt, bot.hidden, bot.deleted, bot.name, *result, schema.versions.c.version)
    query = query.order_by(taken.match_id, taken.seat).select_from(
        schema.match_seats.join(schema.versions).join(schema.bots)
    )
    voided = events.void_reasons(connection, [*seats])
    replay = schema.replays.c
    gone = replay.match_id.in_(seats) & replay.segment.is_(None)
    pruned = {*connection.scalars(select(replay.match_id).where(gone))}
    found = connection.execute(query.where(taken.match_id.in_(seats)))
    # Unpack rows by position, because access by name would take as long as the query.
    for match_id, spoilt, hidden, deleted, name, score, place, before, after, forced, version in found:
        flags = hidden is not None, deleted is not None, bool(spoilt)
        seats[match_id].append(SeatRow(name, score, place, before, after, forced, version, *flags))
    return tuple(
        MatchRow(
            match_id=row.id,
            game=row.game,
            state=MatchState(row.state),
            started=instant(row.started),
            ended=None if row.ended is None else instant(row.ended),
            reason=row.reason,
            seats=tuple(seats[row.id]),
            voided=voided.get(row.id, ""),
            pruned=row.id in pruned,
            kind=MatchKind(row.kind),
            ladder=ladder,
            season=season,
        )
        for row in rows
        for ladder, season in [named_season(row.ladder, row.game)]
    )
