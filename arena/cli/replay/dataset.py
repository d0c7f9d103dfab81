"""`arena replay dataset`: the decisions of matches as Parquet files, for learning."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from datetime import UTC, datetime
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import click

from arena.cli.data_source import DataPlace, chooses_ladder_of_matches, chosen_matches, takes_source
from arena.cli.replay.source import named_replays, on_ladder
from arena.cli.terminal.screen import copy_progress, json_option, print_json
from arena.queries.source import DataSource
from arena.replay.read import read
from arena.replay.replay import Replay, ReplayError


@click.command("dataset", epilog="Example: arena replay dataset --bot my-bot --since 2026-01-31 --out decisions")
@click.argument("sources", metavar="[SOURCE]...", nargs=-1)
@click.option("--out", metavar="DIR", required=True, type=click.Path(path_type=Path), help="Folder to create.")
@click.option("--bot", metavar="NAME", default="", help="Only decisions of this bot.")
@chooses_ladder_of_matches
@click.option(
    "--since", metavar="DATE", type=click.DateTime(["%Y-%m-%d"]), help="Only matches begun on this day (UTC) or later."
)
@takes_source
@json_option
def dataset(
    sources: tuple[str, ...],
    out: Path,
    bot: str,
    game: str,
    ladder: str | None,
    season: int | None,
    since: datetime | None,
    place: DataPlace,
    as_json: bool,
) -> None:
    """Write the decisions that bots made themselves as Parquet: observation, mask, action, points and place.

    SOURCE is the number of a match, a replay file, or a folder of replays; without any, all finished matches on the
    server or in the data directory, the newest first. There is a file for each game and table size. Needs pyarrow.

    \b
    JSON: {"out", "matches", "decisions", "files": [...]}
    """
    if find_spec("pyarrow") is None:
        raise click.ClickException("pyarrow is not installed: pip install pyarrow, or arena with its extra, dataset")
    from arena.analysis.dataset import DatasetError, DatasetWriter, dataset_files

    begun = None if since is None else since.replace(tzinfo=UTC)
    try:
        writer = DatasetWriter(out, bot)
        with copy_progress("Matches read") as progress:
            for replay in _replays(sources, bot, (game, ladder, season), begun, place, progress):
                writer.add(replay)
        writer.close()
        files = [str(file) for file in dataset_files(out).values()]
    except (DatasetError, ReplayError, OSError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        print_json({"out": str(out), "matches": writer.matches, "decisions": writer.rows, "files": files})
    else:
        click.echo(f"{out}: {writer.rows} decisions of {writer.matches} matches in {len(files)} files")


def _replays(
    sources: Sequence[str],
    bot: str,
    ladder: tuple[str, str | None, int | None],
    since: datetime | None,
    place: DataPlace,
    progress: Callable[[int, int], None],
) -> Iterator[Replay]:
    """Yield the replays one by one. Also filter the replays named as SOURCE by ladder, bot and day.

    `ladder` contains the values of --game, --ladder and --season.
    """
    if not sources:
        with place.open() as opened:
            first = None
            for row in _finished(opened, bot, ladder, since):
                first = first or row.match_id
                yield read(opened.replay(row.match_id), f"match {row.match_id}")
                progress(first - row.match_id + 1, first)
        return
    micros = 0 if since is None else int(since.timestamp()) * 1_000_000
    for done, replay in enumerate(named_replays(sources, place), 1):
        header = replay.header
        fits = on_ladder(replay, *ladder) and bot in ("", *(each.name for each in header.bots))
        if fits and header.started >= micros:
            yield replay
        progress(done, done)


def _finished(
    source: DataSource, bot: str, ladder: tuple[str, str | None, int | None], since: datetime | None
) -> Iterator[Any]:
    """Read all pages of the list of finished matches with a replay, newest first."""
    game, name, number = chosen_matches(source, *ladder)
    for row in source.all_matches(game, bot, ladder=name, season=number):
        if since is not None and row.started < since:
            return
        if row.state.value == "finished" and not row.pruned:
            yield row
