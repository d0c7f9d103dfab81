"""Replays for verbs: from files, by match number from a server or data directory, and the newest of a bot."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

import click

from arena.cli.data_source import LARGEST_MATCH, LARGEST_PAGE, DataPlace, chosen_matches, known_bot
from arena.queries.source import DataSource
from arena.replay.hash_chain import LIMIT
from arena.replay.read import read
from arena.replay.replay import Replay
from arena.store.base.rows import MatchRow

FILES: Final = "*.jsonl.gz"
"""Names of the replays in a folder."""


def finished(
    source: DataSource,
    game: str,
    bot: str,
    limit: int,
    before: int | None = None,
    ladder: str | None = None,
    season: int | None = None,
) -> list[MatchRow]:
    """Return the newest matches with a replay that is not pruned, newest first.

    Raises:
        click.BadParameter: The source does not have the named game or ladder.
        UnknownBot: The source has no match of the named bot and no such bot.
    """
    chosen = chosen_matches(source, game, ladder, season)
    found: list[MatchRow] = []
    pruned = 0
    for row in source.all_matches(chosen[0], bot, before, *chosen[1:]):
        if len(found) == limit or pruned == LARGEST_PAGE:  # All older replays are pruned, too.
            break
        pruned = pruned + 1 if row.pruned else 0
        if row.state.value == "finished" and not row.pruned:
            found.append(row)
    if bot and not found:
        known_bot(source, bot)
    return found


def named_replays(sources: Sequence[str], place: DataPlace) -> Iterator[Replay]:
    """Read the replays of match numbers, files and folders, one by one. Raises: ClickException, ReplayError."""
    for source in sources:
        folder = Path(source)
        if not folder.is_dir():
            yield read_replay(source, place)
            continue
        files = sorted(folder.glob(FILES))
        if not files:
            raise click.ClickException(f"{source} has no replays in it: files {FILES}")
        for file in files:
            yield read(file)


def read_replay(source: str, place: DataPlace) -> Replay:
    """Return the replay of a match or in a file. Raises: ClickException, ReplayError."""
    return read(*replay_content(source, place))


def replay_content(source: str, place: DataPlace) -> tuple[bytes, str]:
    """Return the content and the name of a replay. Raises: ClickException: It cannot be found or read."""
    if is_match(source):
        match = min(int(source), LARGEST_MATCH)
        with place.open() as opened:
            return opened.replay(match), f"match {match}"
    try:
        with Path(source).open("rb") as file:
            return file.read(LIMIT + 1), source
    except FileNotFoundError as error:
        raise click.UsageError(f"{source!r} is neither the number of a match nor a file") from error
    except OSError as error:
        raise click.ClickException(f"{source} cannot be read: {error.strerror or error}") from error


def on_ladder(replay: Replay, game: str, ladder: str | None, season: int | None) -> bool:
    """Return True if a replay matches --game, --ladder and --season, as far as they are given.

    A replay does not say which season is current, so without --season the replays of all seasons match.
    """
    name, _, number = replay.header.ladder_id.partition("/")
    wanted = ladder or (game if season else "")
    return game in ("", replay.header.game.name) and wanted in ("", name) and season in (None, int(number or 1))


def is_match(source: str) -> bool:
    """Return True if a source is a match number and not a file."""
    return source.isascii() and source.isdecimal()
