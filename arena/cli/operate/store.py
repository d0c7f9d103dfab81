"""`arena store` and `arena prune`: the disk space of a data directory, and the removal of old replays."""

from __future__ import annotations

import time
from dataclasses import asdict
from pathlib import Path

import click

from arena.cli.data_source import data_option, time_span
from arena.cli.terminal.screen import copy_progress, json_option, print_json, screen
from arena.store.base.errors import StoreLocked


@click.command(epilog="Example: arena store --data ./arena-data")
@data_option("The data directory; a server may work on it meanwhile.", required=True)
@json_option
def command(data: Path, as_json: bool) -> None:
    """Show the disk space of a data directory: database, journal, files of replays, and the replays by game.

    \b
    JSON: {"database", "journal", "replay_files", "replays": [{"game", "kept", "pruned",
    "bytes"}]}
    All sizes are bytes. A file of replays holds pruned replays, too, until all of its
    replays are pruned.
    """
    from arena.store.journal.journal import FULL as JOURNAL_FILE
    from arena.store.opening import open_readonly
    from arena.store.replays.files import disk_use

    with open_readonly(data) as connection:
        use = disk_use(connection, data)
    if as_json:
        print_json(asdict(use))
        return
    from rich.table import Table

    table = Table("", "Bytes", "Kept", "Pruned", title=str(data), title_justify="left", box=None)
    for column in table.columns[1:]:
        column.justify = "right"
    table.add_row("database", f"{use.database:,}")
    table.add_row("files of replays", f"{use.replay_files:,}")
    for each in use.replays:
        table.add_row(f"  replays of {each.game}", f"{each.bytes:,}", f"{each.kept:,}", f"{each.pruned:,}")
    table.add_row("journal", f"{use.journal:,}")
    screen().print(table)
    kept = sum(each.kept for each in use.replays)
    if kept:
        mean = sum(each.bytes for each in use.replays) / kept
        screen().print(f"A replay takes {mean / 1000:.1f} kB in the mean of {kept:,}.", style="dim")
    screen().print(f"The journal begins a new file at {JOURNAL_FILE >> 20} MiB.", style="dim")


@click.command(epilog="Example: arena prune --keep 100000 --data ./arena-data")
@click.option("--keep", metavar="N", type=click.IntRange(0), help="Number of newest replays to keep.")
@click.option(
    "--older-than", metavar="AGE", callback=time_span, help="Keep replays of matches that ended since, such as 30d."
)
@data_option("The data directory; no server may work on it.", required=True)
@json_option
def prune_command(keep: int | None, older_than: int | None, data: Path, as_json: bool) -> None:
    """Remove old replays.

    A replay is removed if it is not among the newest --keep N and its match ended before --older-than AGE, as far as
    they are given. AGE is a number of hours, days or weeks: 12h, 30d, 8w.

    Results, ratings and the digests of the replays stay: `arena ladder void` and `arena ladder rebuild` need the result
    of each match, and no replay. `arena replay verify` reports a pruned replay as such. A running server prunes by
    itself: arena serve --keep-replays N. A file of replays is deleted with its last replay.

    \b
    JSON: {"pruned"}
    """
    if keep is None and older_than is None:
        raise click.UsageError("name the replays to remove: --keep N, --older-than 30d, or both")
    from arena.store.opening import open_to_amend
    from arena.store.replays.replays import last_before, prune

    pruned = 0
    try:
        with copy_progress("pruning") as progress, open_to_amend(data) as connection:
            after, at = 0, time.time_ns() // 1000
            through = None if older_than is None else last_before(connection, at - older_than)
            while found := prune(connection, keep or 0, at, after, limit=1000, through=through):
                pruned += len(found)
                after = found[-1]
                progress(pruned, pruned)
    except StoreLocked as error:
        raise click.ClickException(f"{error}; a server prunes by itself, with --keep-replays") from error
    if as_json:
        print_json({"pruned": pruned})
    else:
        click.echo(f"{pruned:,} replays pruned; their results and digests stay." if pruned else "Nothing to prune.")
