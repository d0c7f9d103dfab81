"""A data directory with whole matches, played at random in this process without server, bots or delays."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path

import trio
from sqlalchemy import Connection

from arena.ladder.live import RatingChange
from arena.match.effects import Force, Over
from arena.queries.directory import open_directory
from arena.queries.source import DataSource
from arena.replay.hash_chain import PackedReplay, pack_replay, without_chain
from arena.replay.header import MatchKind
from arena.replay.record import encode
from arena.store.bots import bots
from arena.store.bots.bots import BotId
from arena.store.ladder import seasons
from arena.store.ladder.rebuild import rebuild
from arena.store.matches import matches
from arena.store.opening import open_to_amend
from arena.store.store import open_store
from arena.web.requests.each_request import USUAL, RequestRules
from engine.game import Game
from engine.sixth_sense import SIXTH_SENSE
from tests.cli.web_rig import WebPages
from tests.replay.recorded import STARTED, lines_of, play

DAY = 86_400_000_000
NAMES = ("bot-0", "bot-1", "bot-2", "bot-3")
"""Bots by seat, as in `tests.replay.recorded`."""


def directory_of(
    path: Path, *tables: int, game: Game = SIXTH_SENSE, errs: bool = True, stays_away: bool = False
) -> Path:
    """Create a data directory with a finished match for each table size. The matches are one day apart."""

    async def opened() -> None:
        async with open_store(path, STARTED):
            pass

    trio.run(opened)
    with open_to_amend(path) as connection:
        own = [bots.register(connection, name, f"owner-{name}", STARTED).bot.id for name in NAMES]
        for number, seats in enumerate(tables):
            finished(connection, own[:seats], game, number + 1, STARTED + number * DAY, errs, stays_away)
    trio.run(opened)  # the key that signs the log's heads
    return path


def finished(
    connection: Connection,
    own: list[BotId],
    game: Game,
    chance: int,
    at: int,
    errs: bool = True,
    stays_away: bool = False,
    ladder_id: str = "",
) -> int:
    """Store a finished match. Return its number."""
    header, entries = play(len(own), game=game, chance=chance, errs=errs, stays_away=stays_away)
    number = matches.begin(connection, game.name, dict(header.options), own, at, ladder_id=ladder_id)
    header = replace(header, match_id=number, started=at, ladder=ladder_id)
    [over] = [effect for _, effects in entries for effect in effects if isinstance(effect, Over)]
    made = [effect for _, effects in entries for effect in effects if isinstance(effect, Force)]
    forced = [sum(effect.seat == seat for effect in made) for seat in range(len(own))]

    def packed(changes: tuple[RatingChange, ...]) -> PackedReplay:
        return pack_replay(without_chain(line) or "" for line in lines_of(encode(header, entries, changes)))

    matches.finish(
        connection,
        number,
        scores=over.scores,
        places=over.places,
        forced=forced,
        counts=over.counts,
        spoilt=over.spoilt,
        at=at + 1_000_000,
        replay=packed,
        kind=MatchKind.RATED,
    )
    return number


def with_ladders(path: Path, game: Game = SIXTH_SENSE) -> Path:
    """Create a data directory with published ladders. It has one match on the game's default ladder and three on a
    ladder "slow": two in that ladder's first season, and one in the second, with different places.
    """
    directory_of(path, 4, game=game)
    with open_to_amend(path) as connection:
        own = [bots.find(connection, name).id for name in NAMES]
        for number in (2, 3):
            finished(connection, own, game, number, STARTED + number * DAY, ladder_id="slow")
        seasons.begin(connection, "slow", STARTED + 4 * DAY)
        finished(connection, own[:3], game, 5, STARTED + 5 * DAY, ladder_id="slow/2")
        for ladder_id, day in ((game.name, 1), ("slow", 4), ("slow/2", 6)):
            rebuild(connection, ladder_id, STARTED + day * DAY)
    return path


def pages_of(path: Path, rules: RequestRules = USUAL) -> WebPages:
    """Return the pages over a data directory."""

    @contextmanager
    def source() -> Iterator[DataSource]:
        with open_directory(path) as directory:
            yield directory

    return WebPages(source, rules)
