"""`arena store`: the disk space of a data directory."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path

import click

from arena.cli.data_source import data_option
from arena.cli.terminal.screen import json_option, print_json, screen


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
    from arena.store.base.errors import StoreError
    from arena.store.journal.journal import FULL as JOURNAL_FILE
    from arena.store.opening import open_readonly
    from arena.store.replays.files import disk_use

    try:
        with open_readonly(data) as connection:
            use = disk_use(connection, data)
    except StoreError as error:
        raise click.ClickException(str(error)) from error
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
