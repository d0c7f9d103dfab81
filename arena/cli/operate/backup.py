"""`arena backup` and `arena restore`: copy a data directory while a server runs, and create one from a copy."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING

import click

from arena.cli.data_source import data_option
from arena.cli.terminal.screen import copy_progress, json_option, print_json
from arena.store.base.rows import instant

if TYPE_CHECKING:
    from arena.store.backup import Backup


@click.command(epilog="Example: arena backup ./backups/monday --data ./arena-data")
@click.argument("to", metavar="DIR", type=click.Path(path_type=Path))
@data_option("The data directory to copy; a server may work on it meanwhile.", required=True)
@click.option(
    "--keep",
    metavar="N",
    type=click.IntRange(min=1),
    help="Then delete the oldest backups beside DIR, so that N are left. The folder is for one server's backups alone.",
)
@json_option
def command(to: Path, data: Path, keep: int | None, as_json: bool) -> None:
    """Copy a data directory to DIR, which must not exist.

    The copy has the database with all replays, the journal, the operator's token and the log's key, all from the same
    moment. The server continues meanwhile. DIR appears when the backup is complete and on the disk. It holds secrets,
    so only its user can read it. An incomplete backup is called DIR.unfinished-… and can be deleted.

    \b
    JSON: {"backup", "at", "bytes", "matches", "running", "replays", "deleted"}
    "matches" counts the finished matches, "running" those that continue
    when a server starts on the copy. "deleted" lists the backups that --keep deleted.
    """
    from arena.store.backup import back_up, thin_out

    with copy_progress("copying") as progress:
        made = back_up(data, to, time.time_ns() // 1000, progress)
    deleted = [] if keep is None else thin_out(to, keep)
    if as_json:
        print_json({"backup": str(to), **_figures(made), "deleted": [str(path) for path in deleted]})
        return
    click.echo(
        f"{to}: {made.bytes:,} bytes, {made.matches:,} finished matches, {made.replays:,} replays, {made.running} being"
        f" played. To restore it: arena restore {to} --data NEW"
    )
    if deleted:
        click.echo(f"deleted: {', '.join(path.name for path in deleted)}")


@click.command(epilog="Example: arena restore ./backups/monday --data ./arena-data")
@click.argument("backup", metavar="BACKUP", type=click.Path(path_type=Path))
@data_option("The data directory to create; it must not exist.", required=True)
@click.option("--store", metavar="URL", help="Put the results into this empty PostgreSQL database, postgresql://….")
@json_option
def restore_command(backup: Path, data: Path, store: str | None, as_json: bool) -> None:
    """Create a data directory from BACKUP, which `arena backup` made. BACKUP stays unchanged.

    Every byte is checked, and nothing is overwritten. A server started on the new directory continues the matches that
    were being played. Results from after the backup are missing, and their numbers are used again; a leaf of the log
    records that.

    \b
    JSON: {"data", "at", "bytes", "matches", "running", "replays"}
    As for `arena backup`; "at" is when the backup began.
    """
    from arena.store.backup import restore

    with copy_progress("restoring") as progress:
        made = restore(backup, data, time.time_ns() // 1000, progress, store)
    if as_json:
        print_json({"data": str(data), **_figures(made)})
        return
    click.echo(
        f"{data}: as it was at {instant(made.at):%Y-%m-%d %H:%M:%S} UTC, {made.matches:,} finished matches,"
        f" {made.running} being played. To go on: arena serve --data {data}"
    )


def _figures(made: Backup) -> dict[str, object]:
    """Return the fields of a backup that both verbs print."""
    return {"at": instant(made.at)} | {name: getattr(made, name) for name in ("bytes", "matches", "running", "replays")}
