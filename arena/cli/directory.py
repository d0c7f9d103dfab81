"""A data directory as a source: what a server would answer, read without one or beside one."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena.store import bots, matches, standings
from arena.store.errors import Refused
from arena.store.store import open_readonly
from arena.wire.rows import BotRow, LadderRow, MatchRow, MatchState, SeatRow
from engine.registry import GAMES

if TYPE_CHECKING:
    from sqlalchemy import Connection

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class UnknownGame(Refused):
    """The arena does not have the game."""


@contextmanager
def open_directory(directory: Path) -> Iterator[Directory]:
    """One committed state of a data directory; errors as for `open_readonly`."""
    with open_readonly(directory) as connection:
        yield Directory(connection)


class Directory:
    """An open data directory. What it raises is `StoreError` or `Refused`."""

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def games(self) -> tuple[str, ...]:
        """The games of the arena, by name."""
        return tuple(GAMES)

    def ladder(self, game: str) -> tuple[LadderRow, ...]:
        """As `Client.ladder`."""
        _require(game)
        return tuple(
            LadderRow(
                rank=row.rank,
                bot=row.bot,
                owner=row.owner,
                house=row.house,
                rating=row.rating,
                deviation=row.error,
                matches=row.matches,
                wins=row.wins,
                mean_rank=row.mean_rank,
                last_change=row.last_change,
            )
            for row in standings.standings(self._connection, game)
        )

    def matches(self, game: str = "", bot: str = "", limit: int = 50, before: int = 0) -> tuple[MatchRow, ...]:
        """As `Client.matches`."""
        if game:
            _require(game)
        found = matches.list_matches(self._connection, game=game, bot=bot, limit=limit, before=before)
        return tuple(map(_match, found))

    def bots(self) -> tuple[BotRow, ...]:
        """As `Client.bots`."""
        return tuple(
            BotRow(
                bot=bot.name,
                owner=bot.owner,
                house=bot.house,
                connected=None,
                playing=None,
                matches=played,
                registered=_instant(bot.registered),
                round_trip_ms=None,
                parked=bot.why_parked,
            )
            for bot, played, _ in bots.list_bots(self._connection)
        )

    def replay(self, match: int) -> bytes:
        """As `Client.replay`."""
        return matches.get_replay(self._connection, match)


def _require(game: str) -> None:
    if game not in GAMES:
        raise UnknownGame(f"there is no game {game!r}; there is {', '.join(GAMES)}")


def _match(row: matches.Match) -> MatchRow:
    return MatchRow(
        match=row.id,
        game=row.game,
        state=MatchState(row.state.value),
        started=_instant(row.started),
        ended=None if row.ended is None else _instant(row.ended),
        reason=row.reason,
        seats=tuple(
            SeatRow(
                bot=seat.bot,
                score=seat.score,
                place=seat.place,
                rating_before=None if seat.rating is None else seat.rating.before.value,
                rating_after=None if seat.rating is None else seat.rating.after.value,
                forced=seat.forced,
            )
            for seat in row.seats
        ),
    )


def _instant(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
