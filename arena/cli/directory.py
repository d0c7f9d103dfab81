"""A data directory as a source: what a server would answer, read without one or beside one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Final

from arena.store import bots, matches, standings
from arena.store.errors import Refused
from arena.store.journal import read_journal
from arena.store.standings import Moment, Standing
from arena.store.store import open_readonly
from arena.wire.rows import BotRow, LadderRow, LadderRows, LuckRow, MatchRow, MatchState, RatedRow, SeatRow
from engine.registry import GAMES

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from arena.ladder.fortune import Fortune

_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


class UnknownGame(Refused):
    """The arena does not have the game."""


class NoSuchTable(Refused):
    """Nobody can play the game at a table of that size."""


class NoLadder(Refused):
    """No ladder can be made of the list of events."""


@contextmanager
def open_directory(directory: Path) -> Iterator[Directory]:
    """One committed state of a data directory; errors as for `open_readonly`."""
    with open_readonly(directory) as connection:
        yield Directory(connection, directory)


class Directory:
    """An open data directory. What it raises is `StoreError` or `Refused`."""

    def __init__(self, connection: Connection, path: Path) -> None:
        self._connection = connection
        self._path = path

    def games(self) -> tuple[str, ...]:
        """The games of the arena, by name."""
        return tuple(GAMES)

    def ladder(self, game: str, seats: int = 0) -> LadderRows:
        """As `Client.ladder`."""
        _require(game)
        if seats:
            return self._of_tables(game, seats)
        lines, made = standings.current(self._connection, game)
        return LadderRows(
            game=game,
            seats=0,
            standings=tuple(map(_ladder_row, lines)),
            through=0 if made is None else made.through,
            digest="" if made is None else made.digest,
            published=None if made is None else _instant(made.at),
        )

    def history(self, bot: str, game: str, limit: int = 1000) -> tuple[RatedRow, ...]:
        """As `Client.history`."""
        _require(game)
        return tuple(map(_rated_row, standings.history(self._connection, bot, game, limit)))

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
                version=version,
            )
            for bot, played, version in bots.list_bots(self._connection)
        )

    def replay(self, match: int) -> bytes:
        """As `Client.replay`."""
        return matches.get_replay(self._connection, match)

    def running(self, match: int) -> Sequence[str]:
        """The journal's lines of a match that is being played: everybody's secrets are in it. None of any other."""
        playing = match in matches.playing(self._connection)
        return read_journal(self._path, match) if playing else ()

    def _of_tables(self, game: str, seats: int) -> LadderRows:
        """The ladder of tables of one size, computed here and now; NoSuchTable, NoLadder."""
        from arena.ladder.errors import LadderError
        from arena.store.fits import Fits  # numpy

        able = GAMES[game].seats
        if seats not in able:
            raise NoSuchTable(f"{game} is played by {able.start} to {able.stop - 1}, not by {seats}")
        try:
            ladder = Fits().ladder(self._connection, game, seats)
        except LadderError as error:
            raise NoLadder(f"the ladder of {game} cannot be computed: {error}") from error
        lines = standings.of_ladder(self._connection, game, ladder)
        return LadderRows(
            game=game,
            seats=seats,
            standings=tuple(map(_ladder_row, lines)),
            through=ladder.through,
            digest=ladder.digest,
            published=None,
        )


def games_named(game: str | None) -> tuple[str, ...]:
    """One game, or all where None is named; UnknownGame."""
    if game is None:
        return tuple(GAMES)
    _require(game)
    return (game,)


def _require(game: str) -> None:
    if game not in GAMES:
        raise UnknownGame(f"there is no game {game!r}; there is {', '.join(GAMES)}")


def _ladder_row(line: Standing) -> LadderRow:
    return LadderRow(
        rank=line.rank,
        bot=line.bot,
        owner=line.owner,
        house=line.house,
        rating=line.rating,
        deviation=line.error,
        matches=line.matches,
        wins=line.wins,
        mean_rank=line.mean_rank,
        last_change=line.last_change,
        version=line.version,
        rank_low=line.rank_low,
        rank_high=line.rank_high,
        best=line.best,
        opponents=line.opponents,
        provisional=line.provisional,
        live=line.live.value,
        live_deviation=line.live.deviation,
        forced_share=line.forced_share,
        think_95_us=line.think_95,
        luck=None if line.luck is None else _luck_row(line.luck),
    )


def _luck_row(fortune: Fortune) -> LuckRow:
    return LuckRow(
        matches=fortune.matches,
        plain=fortune.plain,
        plain_error=fortune.plain_error,
        adjusted=fortune.adjusted,
        adjusted_error=fortune.adjusted_error,
    )


def _rated_row(moment: Moment) -> RatedRow:
    return RatedRow(
        match=moment.match,
        ended=_instant(moment.at),
        version=moment.version,
        before=moment.before.value,
        after=moment.after.value,
        deviation=moment.after.deviation,
        voided=moment.voided,
    )


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
                version=seat.version,
            )
            for seat in row.seats
        ),
        voided=row.voided,
    )


def _instant(microseconds: int) -> datetime:
    return _EPOCH + timedelta(microseconds=microseconds)
