"""The results of a bot's ended matches, in the order of their leaves in the log."""

from __future__ import annotations

import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from sqlalchemy import select

from arena.replay.header import MatchKind
from arena.store import schema
from arena.store.base import leaves as log

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from sqlalchemy import Connection, Select

    from arena.log.head import LogEntry

MOST: Final = 1000
"""Maximum number of matches that `after` returns."""
_SEATS: Final = schema.match_seats.c
_MATCHES: Final = schema.matches.c


class EndedMatch(NamedTuple):
    """The result of an ended match, for the bot in one of its seats."""

    match_id: int
    seat: int
    places: tuple[int, ...]
    """Places by seat; empty if the match was interrupted."""
    scores: tuple[int, ...]
    counts: tuple[bool, ...]
    spoilt: tuple[bool, ...]
    rating: tuple[float, float] | None
    """The bot's rating before and after the match; None if the match did not change it."""
    kind: MatchKind
    interrupted: str
    """The reason why the match has no result; empty if there is a result."""
    entry: LogEntry


def after(connection: Connection, bot_id: int, leaf: int) -> list[EndedMatch]:
    """Return a bot's ended matches with leaves after `leaf`, in the order of the leaves; at most the newest `MOST`."""
    under = log.head(connection)
    if under is None or leaf >= under.size:
        return []
    rows = connection.execute(newest_first(bot_id, leaf)).all()[::-1]
    spoilt = _spoilt(connection, [row.match_id for row in rows])
    found = []
    for number, match_id, seat, before, later, kind, reason in rows:
        if number <= under.size:
            entry = log.entry(connection, number, under)
            result = json.loads(entry.leaf)
            places, points, counts = (tuple(result.get(name, ())) for name in ("places", "points", "counts"))
            marks = tuple(spoilt[match_id]) if "places" in result else ()
            rating = None if before is None or later is None else (before, later)
            ended = EndedMatch(match_id, seat, places, points, counts, marks, rating, MatchKind(kind), reason, entry)
            found.append(ended)
    return found


def newest_first(bot_id: int, leaf: int) -> Select[Any]:
    """Return the query for a bot's ended matches with leaves after `leaf`, newest first."""
    of_seat = _SEATS.leaf, _SEATS.match_id, _SEATS.seat, _SEATS.rating_before, _SEATS.rating_after
    query = select(*of_seat, _MATCHES.kind, _MATCHES.reason).select_from(schema.match_seats.join(schema.matches))
    return query.where(_SEATS.bot_id == bot_id, _SEATS.leaf > leaf).order_by(_SEATS.leaf.desc()).limit(MOST)


def any_over(connection: Connection, match_ids: Collection[int]) -> bool:
    """Return whether any of the given matches has ended."""
    leaf = select(_SEATS.leaf).where(_SEATS.match_id.in_(match_ids), _SEATS.leaf.is_not(None)).limit(1)
    return bool(match_ids) and connection.scalar(leaf) is not None


def _spoilt(connection: Connection, match_ids: Sequence[int]) -> defaultdict[int, list[bool]]:
    spoilt: defaultdict[int, list[bool]] = defaultdict(list)
    query = select(_SEATS.match_id, _SEATS.spoilt).where(_SEATS.match_id.in_(match_ids))
    for match_id, is_spoilt in connection.execute(query.order_by(_SEATS.match_id, _SEATS.seat)):
        spoilt[match_id].append(bool(is_spoilt))
    return spoilt
