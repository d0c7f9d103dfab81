"""`arena restore`: make a data directory from a backup."""

from __future__ import annotations

import time
from pathlib import Path

import click

from arena.cli.data_source import data_option
from arena.cli.terminal.screen import json_option, print_json


@click.command(epilog="Example: arena restore ./backups/monday --data ./arena-data")
@click.argument("backup", metavar="BACKUP", type=click.Path(path_type=Path))
@data_option("The data directory to create; it must not exist.", required=True)
@json_option
def command(backup: Path, data: Path, as_json: bool) -> None:
    """Create a data directory from BACKUP, which `arena backup` made. BACKUP stays unchanged.

    Every byte is checked, and nothing is overwritten. A server started on the new directory continues the matches that
    were being played. Results from after the backup are missing, and their numbers are used again; a leaf of the log
    records that.

    \b
    JSON: {"data", "at", "bytes", "matches", "running", "replays"}
    As for `arena backup`; "at" is when the backup began.
    """
    from arena.cli.terminal.screen import copy_progress
    from arena.store.backup import restore
    from arena.store.base.errors import StoreError
    from arena.store.base.rows import instant

    try:
        with copy_progress("restoring") as progress:
            made = restore(backup, data, time.time_ns() // 1000, progress)
    except StoreError as error:
        raise click.ClickException(str(error)) from error
    at = instant(made.at)
    if as_json:
        print_json(
            {
                "data": str(data),
                "at": at,
                "bytes": made.bytes,
                "matches": made.matches,
                "running": made.running,
                "replays": made.replays,
            }
        )
        return
    click.echo(
        f"{data}: as it was at {at:%Y-%m-%d %H:%M:%S} UTC, {made.matches:,} finished matches, {made.running} being"
        f" played. To go on: arena serve --data {data}"
    )
