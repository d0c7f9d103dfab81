"""`arena prune`: remove old replays from a data directory that no server uses."""

from __future__ import annotations

import time
from pathlib import Path

import click

from arena.cli.data_source import data_option
from arena.cli.terminal.screen import json_option, print_json


@click.command(epilog="Example: arena prune --keep 100000 --data ./arena-data")
@click.option("--keep", metavar="N", type=click.IntRange(0), required=True, help="Number of newest replays to keep.")
@data_option("The data directory; no server may work on it.", required=True)
@json_option
def command(keep: int, data: Path, as_json: bool) -> None:
    """Remove all replays but the newest.

    Results, ratings and the digests of the replays stay; `arena replay verify` reports a pruned replay as such. A
    running server prunes by itself: arena serve --keep-replays N. A file of replays is deleted with its last replay.

    \b
    JSON: {"pruned"}
    """
    from arena.cli.terminal.screen import copy_progress
    from arena.store.base.errors import StoreError, StoreLocked
    from arena.store.opening import open_to_amend
    from arena.store.replays.replays import prune

    pruned = 0
    try:
        with copy_progress("pruning") as progress, open_to_amend(data) as connection:
            after = 0
            while found := prune(connection, keep, time.time_ns() // 1000, after, limit=1000):
                pruned += len(found)
                after = found[-1]
                progress(pruned, pruned)
    except StoreLocked as error:
        raise click.ClickException(f"{error}; a server prunes by itself, with --keep-replays") from error
    except StoreError as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        print_json({"pruned": pruned})
    else:
        click.echo(f"{pruned:,} replays pruned; their results and digests stay." if pruned else "Nothing to prune.")
