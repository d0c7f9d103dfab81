"""How often two guests have met today: beyond the quota of a pair, a match moves neither's live rating by the other.

Versions of a bot are one, and house bots have no quota. A day is one of UTC, and a match is of the day on which its
result was stored. These counts are for the live layer only: the fit spreads the quota evenly over the matches of a day,
and takes it from the list of results.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from itertools import combinations
from typing import Final, TypeAlias

from sqlalchemy import Connection, bindparam, delete, insert, literal_column, select, update

from arena.ladder.events import Event, MatchResult, Void, day_of
from arena.ladder.live import SeatPair
from arena.store import schema, versions
from arena.store.statements import Statement

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
_OF_ONE: Final = tuple(_DAYS[name] == bindparam(f"of_{name}") for name in ("game", "day", "first", "second"))
_MET: Final = Statement(select(_DAYS.matches).where(*_OF_ONE))
_MEET: Final = Statement(insert(schema.pair_days), "game", "day", "first", "second", "matches")
_MEET_AGAIN: Final = Statement(update(schema.pair_days).where(*_OF_ONE), "matches")


def count(connection: Connection, game: str, match_id: int, at: int, pair_quota: int) -> frozenset[SeatPair]:
    """Count a match whose result is stored at the instant `at`; return the pairs of seats that are beyond the quota."""
    beyond: set[SeatPair] = set()
    for (first, second), seats in _pairs(_GUESTS.run(connection, {"of_match": match_id}).fetchall()).items():
        met = _add(connection, game, day_of(at), (first, second), 1)
        beyond |= {*seats} if met > pair_quota else set()
    return frozenset(beyond)


def take_back(connection: Connection, game: str, result: MatchResult) -> None:
    """Count a match no more: its result is void. Matches that were beyond the quota stay so until the next fit."""
    for pair in _pairs(_GUESTS.run(connection, {"of_match": result.match_id}).fetchall()):
        _add(connection, game, result.day, pair, -1)


def forget(connection: Connection, game: str, before: int) -> None:
    """Forget the days before this one."""
    connection.execute(delete(schema.pair_days).where(_DAYS.game == game, _DAYS.day < before))


def counted_again(
    connection: Connection, game: str, later: Sequence[Event], pair_quota: int
) -> Callable[[MatchResult], frozenset[SeatPair]]:
    """Return what tells which pairs of seats are beyond the quota, to be asked for the latest results in their order.

    `later` are all events after some point. What a pair had met before it that day is what it has met, less those.
    """
    if not pair_quota:
        return lambda _: frozenset()
    guests = versions.guests(connection)

    def pairs_of(result: MatchResult) -> dict[BotPair, list[SeatPair]]:
        sitting = [(seat, guests[node].bot) for seat, node in enumerate(result.nodes) if node in guests]
        return _pairs(sitting)

    voided = {event.match_id for event in later if isinstance(event, Void)}
    results = [event for event in later if isinstance(event, MatchResult) and event.match_id not in voided]
    since = Counter((result.day, pair) for result in results for pair in pairs_of(result))
    met: dict[tuple[int, BotPair], int] = {}
    for (day, pair), matches in since.items():
        row = _MET.run(connection, _key(game, day, pair)).fetchone()
        met[day, pair] = max(0, (row[0] if row else 0) - matches)

    def beyond(result: MatchResult) -> frozenset[SeatPair]:
        found: set[SeatPair] = set()
        for pair, seats in pairs_of(result).items():
            met[result.day, pair] += 1
            found |= {*seats} if met[result.day, pair] > pair_quota else set()
        return frozenset(found)

    return beyond


def _pairs(guests: Iterable[Sequence[int]]) -> dict[BotPair, list[SeatPair]]:
    """Return the pairs of guests of a match, given by seat and bot, with their seats."""
    found: dict[BotPair, list[SeatPair]] = {}
    for (seat, bot), (later_seat, other) in combinations(guests, 2):
        if bot != other:
            found.setdefault((min(bot, other), max(bot, other)), []).append((seat, later_seat))
    return found


def _add(connection: Connection, game: str, day: int, pair: BotPair, matches: int) -> int:
    """Add matches of a pair on a day; return how many there are now."""
    row = _MET.run(connection, _key(game, day, pair)).fetchone()
    met = max(0, (row[0] if row else 0) + matches)
    if row:
        _MEET_AGAIN.run(connection, {**_key(game, day, pair), "matches": met})
    elif met:
        first, second = pair
        _MEET.run(connection, {"game": game, "day": day, "first": first, "second": second, "matches": met})
    return met


def _key(game: str, day: int, pair: BotPair) -> dict[str, object]:
    return {"of_game": game, "of_day": day, "of_first": pair[0], "of_second": pair[1]}
