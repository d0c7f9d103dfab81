"""`arena log`: the log of results, its head and leaves, its audit and its key."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from arena.cli.data_source import LARGEST_MATCH, DataPlace, data_option, takes_source
from arena.cli.terminal.screen import copy_progress, json_option, print_json, screen
from arena.queries.log_rows import entry_rows, head_row
from arena.store.base.errors import StoreLocked

if TYPE_CHECKING:
    from arena.store.log.audit_tables import LogAudit


@click.group(epilog="Example: arena log audit --data ./arena-data")
def command() -> None:
    """Show the log of results, audit it, change its key."""


@command.command(epilog="Example: arena log head --server 127.0.0.1:50051 --json")
@takes_source
@json_option
def head(place: DataPlace, as_json: bool) -> None:
    """Show the newest signed head, to store it and compare it with the heads that others have.

    \b
    JSON: {"log", "size", "root", "signature", "keys", "restores"}
    "log" is the log's name, "keys" the public keys that these leaves name, in order (the
    last signed the head), "restores" the leaves of restorations from
    backups.
    """
    with place.open() as source:
        row = head_row(source.log_state())
    if as_json:
        print_json(row)
        return
    click.echo(f"Log {row.log}")
    click.echo(f"{row.size:,} leaves, root {row.root}")
    click.echo(f"signed by the key {row.keys[-1]}, number {len(row.keys)}")
    for leaf in row.restores:
        click.echo(f"restored from a backup that ended with leaf {leaf['size']:,}, as leaf {leaf['number']:,} says")


@command.command(epilog="Example: arena log show 17")
@click.argument("match_id", metavar="MATCH", type=click.IntRange(1, LARGEST_MATCH))
@takes_source
@json_option
def show(match_id: int, place: DataPlace, as_json: bool) -> None:
    """Show the log's entries about a match, and check their proofs.

    \b
    JSON: {"entries": [{"number", "leaf", "size", "root", "signature", "proof"}]}
    Entries are in the order of their numbers: the result, then its void if there is one.
    "leaf" is an object, "size" the number of leaves under the head.
    """
    with place.open() as source:
        entries = source.log_entries(match_id)
        rows = entry_rows(source.log_state(), entries)
    if not rows:
        raise click.ClickException(f"the log has no entry for match {match_id}")
    if as_json:
        print_json({"entries": rows})
        return
    for entry in entries:
        click.echo(f"leaf {entry.number:,} of {entry.head.size:,}: {entry.leaf.decode()}")


@command.command(epilog="Example: arena log audit --data ./arena-data")
@data_option("The data directory; a server may work on it meanwhile.", required=True)
@click.option("--replays", is_flag=True, help="Compare every stored replay, too, which takes minutes for a million.")
@json_option
@click.pass_context
def audit(context: click.Context, data: Path, replays: bool, as_json: bool) -> None:
    """Compare every leaf with the tables, and the tree, keys and head with the leaves.

    The exit status is 0 if everything agrees, else 1.

    \b
    JSON: {"leaves", "signed", "root", "kinds", "replays", "faults": [{"leaf", "words"}],
    "more"}
    "signed" counts the leaves under the head (later leaves are signed when the server next
    starts), "kinds" the leaves of each kind, "replays" the compared replays (null without
    --replays), "more" the faults that are not listed. "leaf" is null for a fault of the
    whole log.
    """
    from arena.store.log.audit import audit as audit_log
    from arena.store.opening import open_readonly

    with copy_progress("auditing") as progress, open_readonly(data) as connection:
        made = audit_log(connection, replays, progress)
    if as_json:
        print_json(_audit_document(made))
    else:
        _print_audit(made)
    context.exit(1 if made.faults else 0)


@command.command("rotate-key", epilog="Example: arena log rotate-key --data ./arena-data")
@data_option("The data directory; no server may work on it.", required=True)
@json_option
def rotate_key(data: Path, as_json: bool) -> None:
    """Replace the log's key: the old key names a new one, which signs from the next start on.

    The old key signs the leaf that names the new one, so bots accept it; then the old key is erased. Do this if someone
    else may have read the key: bots that have seen the leaf refuse anything that the old key signs later. A bot that
    has not seen it can still be deceived with the old key.

    \b
    JSON: {"log", "key", "keys"}
    "key" is the new public key, "keys" the number of keys that the log has had.
    """
    from arena.store.log.key import replace_key, rotate
    from arena.store.opening import open_to_amend

    try:
        with open_to_amend(data) as connection:
            keys = rotate(connection, data, time.time_ns() // 1000)
        replace_key(data)
    except StoreLocked as error:
        raise click.ClickException(f"{error}; the key is changed while no server runs") from error
    if as_json:
        print_json({"log": keys.log, "key": keys.newest.hex(), "keys": len(keys.leaves)})
        return
    click.echo(f"{keys.newest.hex()} is the log's key number {len(keys.leaves)}, named by the one before it.")


def _audit_document(made: LogAudit) -> dict[str, Any]:
    return {
        "leaves": made.leaves,
        "signed": made.signed,
        "root": made.root.hex(),
        "kinds": dict(made.kinds),
        "replays": made.replays,
        "faults": [{"leaf": fault.number, "words": fault.text} for fault in made.faults],
        "more": made.more,
    }


def _print_audit(made: LogAudit) -> None:
    console = screen()
    kinds = ", ".join(f"{count:,} {kind}" for kind, count in sorted(made.kinds.items()))
    if made.faults:
        console.print(f"[bold red]NOT SO[/] {made.leaves:,} leaves ({kinds}), and of these:", soft_wrap=True)
        for fault in made.faults:
            where = "the log" if fault.number is None else f"leaf {fault.number:,}"
            console.print(f"  {where}: {fault.text}", soft_wrap=True, markup=False)
        if made.more:
            console.print(f"  and {made.more:,} more")
        return
    console.print(f"[bold green]OK[/] {made.leaves:,} leaves ({kinds}) say what the tables say.", soft_wrap=True)
    console.print(f"  root {made.root.hex()}; the head of {made.signed:,} is signed by the log's key", soft_wrap=True)
    if made.leaves > made.signed:
        console.print(
            f"  {made.leaves - made.signed:,} of the leaves, the last, are signed with the server's next start"
        )
    if made.replays is not None:
        console.print(f"  {made.replays:,} replays are those that their leaves name")
