"""The number of matches that each pair of bots has played together, by day.

Once a pair has used up its quota, results between the two no longer change their live ratings. All versions of a bot
count together, and house bots have no quota. Days and weeks are in UTC, and a match belongs to the day on which its
result was stored. These numbers are only for live ratings. The fit spreads the quota evenly over the matches of a day,
from the list of results. The matchmaker avoids pairs that have used up their quota.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from types import MappingProxyType
from typing import Final, NamedTuple, TypeAlias

from sqlalchemy import Connection, bindparam, delete, insert, literal_column, select, update

from arena.ladder.events import WEEK_DAYS, Event, MatchResult, Void, day_of, week_of
from arena.ladder.ladder import Quota
from arena.ladder.live import SeatPair
from arena.store import schema
from arena.store.base.statements import Statement
from arena.store.ladder import versions

BotPair: TypeAlias = tuple[int, int]
"""Two bots, the lower number first."""

_SEATS: Final = schema.match_seats.c
_DAYS: Final = schema.pair_days.c
_GUESTS: Final = Statement(
    select(_SEATS.seat, _SEATS.bot_id)
    .select_from(schema.match_seats.join(schema.bots))
    .where(_SEATS.match_id == bindparam("of_match"), schema.bots.c.house == literal_column("0"))
    .order_by(_SEATS.seat)
)
_OF_A_PAIR: Final = tuple(_DAYS[name] == bindparam(f"of_{name}") for name in ("ladder", "first", "second"))
_OF_ONE: Final = (*_OF_A_PAIR, _DAYS.day == bindparam("of_day"))
_OF_A_WEEK: Final = tuple(f"day_{number}" for number in range(WEEK_DAYS))
_MET: Final = Statement(
    select(_DAYS.day, _DAYS.matches).where(*_OF_A_PAIR, _DAYS.day.in_([bindparam(name) for name in _OF_A_WEEK]))
)
_MEET: Final = Statement(insert(schema.pair_days), "ladder", "day", "first", "second", "matches")
_MEET_AGAIN: Final = Statement(update(schema.pair_days).where(*_OF_ONE), "matches")


class Counted(NamedTuple):
    """The pairs of seats in a match for which a quota is used up."""

    beyond: frozenset[SeatPair] = frozenset()
    """The pairs that had used up their quota before the match."""
    again: Mapping[SeatPair, int] = MappingProxyType({})
    """The pairs whose quota this match used up, each with the first day on which its results count again."""


def count(connection: Connection, ladder_id: str, match_id: int, at: int, quota: Quota) -> Counted:
    """Count a match whose result is stored at the time `at`, in microseconds since 1970."""
    beyond: set[SeatPair] = set()
    again: dict[SeatPair, int] = {}
    day = day_of(at)
    for pair, seats in _pairs(_GUESTS.run(connection, {"of_match": match_id}).fetchall()).items():
        met = _met(connection, ladder_id, day, pair)
        beyond |= {*seats} if _again(met, day, quota) is not None else set()
        matches = met.get(day, 0) + 1
        _set(connection, ladder_id, day, pair, met, matches)
        if (free := _again({**met, day: matches}, day, quota)) is not None:
            again |= dict.fromkeys(seats, free)
    return Counted(frozenset(beyond), again)


def spent(connection: Connection, ladder_id: str, day: int, quota: Quota) -> list[tuple[int, int, int]]:
    """Return the pairs of bots whose quota is used up on a day, and the day from which their results count again."""
    weeks: dict[BotPair, dict[int, int]] = {}
    rows = select(_DAYS.first, _DAYS.second, _DAYS.day, _DAYS.matches).where(_DAYS.ladder == ladder_id)
    for first, second, when, matches in connection.execute(rows.where(_DAYS.day.in_(week_of(day)))):
        weeks.setdefault((first, second), {})[when] = matches
    found = ((pair, _again(met, day, quota)) for pair, met in weeks.items())
    return [(*pair, again) for pair, again in found if again is not None]


def take_back(connection: Connection, ladder_id: str, result: MatchResult) -> None:
    """Subtract a match whose result is annulled. Matches beyond the quota stay beyond it until the next fit."""
    for pair in _pairs(_GUESTS.run(connection, {"of_match": result.match_id}).fetchall()):
        met = _met(connection, ladder_id, result.day, pair)
        _set(connection, ladder_id, result.day, pair, met, max(0, met.get(result.day, 0) - 1))


def forget(connection: Connection, ladder_id: str, before: int) -> None:
    """Delete the weeks before the week that contains the day `before`."""
    connection.execute(delete(schema.pair_days).where(_DAYS.ladder == ladder_id, _DAYS.day < week_of(before).start))


def counted_again(
    connection: Connection, ladder_id: str, later: Sequence[Event], quota: Quota
) -> Callable[[MatchResult], frozenset[SeatPair]]:
    """Return a function that returns a result's pairs of seats beyond the quota.

    Call that function with the latest results, in order.

    `later`: these latest results, with all other events since the first of them. A pair's earlier meetings on a day are
    all its meetings on that day minus those in `later`.
    """
    if not quota.bounds:
        return lambda _: frozenset()
    guests = versions.guests(connection)

    def pairs_of(result: MatchResult) -> dict[BotPair, list[SeatPair]]:
        sitting = [(seat, guests[node].bot) for seat, node in enumerate(result.nodes) if node in guests]
        return _pairs(sitting)

    voided = {event.match_id for event in later if isinstance(event, Void)}
    results = [event for event in later if isinstance(event, MatchResult) and event.match_id not in voided]
    since = Counter((result.day, pair) for result in results for pair in pairs_of(result))
    weeks: dict[tuple[int, BotPair], dict[int, int]] = {}
    for (day, pair), matches in since.items():
        monday = week_of(day).start
        met = weeks.setdefault((monday, pair), _met(connection, ladder_id, day, pair))
        met[day] = max(0, met.get(day, 0) - matches)

    def beyond(result: MatchResult) -> frozenset[SeatPair]:
        found: set[SeatPair] = set()
        for pair, seats in pairs_of(result).items():
            met = weeks[week_of(result.day).start, pair]
            found |= {*seats} if _again(met, result.day, quota) is not None else set()
            met[result.day] += 1
        return frozenset(found)

    return beyond


def _pairs(guests: Iterable[Sequence[int]]) -> dict[BotPair, list[SeatPair]]:
    """Return each pair of different bots in a match, with its pairs of seats."""
    found: dict[BotPair, list[SeatPair]] = {}
    for (seat, bot), (later_seat, other) in combinations(guests, 2):
        if bot != other:
            found.setdefault((min(bot, other), max(bot, other)), []).append((seat, later_seat))
    return found


def _again(met: Mapping[int, int], day: int, quota: Quota) -> int | None:
    """Return the day on which results of a pair count again, or None if they count on `day`.

    `met`: the pair's numbers of meetings in the week, by day.
    """
    counting = met.values() if not quota.day else [min(matches, quota.day) for matches in met.values()]
    if 0 < quota.week <= sum(counting):
        return week_of(day).stop
    return day + 1 if 0 < quota.day <= met.get(day, 0) else None


def _met(connection: Connection, ladder_id: str, day: int, pair: BotPair) -> dict[int, int]:
    """Return how many matches a pair has played on each day of the week that contains `day`."""
    days = dict(zip(_OF_A_WEEK, week_of(day), strict=True))
    return dict(_MET.run(connection, {**_key(ladder_id, pair), **days}).fetchall())


def _set(
    connection: Connection, ladder_id: str, day: int, pair: BotPair, before: Mapping[int, int], matches: int
) -> None:
    """Store how many matches a pair has played on a day. `before`: the numbers already stored for that week."""
    if day in before:
        _MEET_AGAIN.write(connection, {**_key(ladder_id, pair), "of_day": day, "matches": matches})
    elif matches:
        first, second = pair
        _MEET.write(connection, {"ladder": ladder_id, "day": day, "first": first, "second": second, "matches": matches})


def _key(ladder_id: str, pair: BotPair) -> dict[str, object]:
    return {"of_ladder": ladder_id, "of_first": pair[0], "of_second": pair[1]}
