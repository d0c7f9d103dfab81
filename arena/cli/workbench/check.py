"""`arena check`: test whether a bot in any language follows the protocol."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from arena.cli.terminal.screen import json_option, print_json, screen
from arena.cli.workbench.options import INTERRUPTED, SandboxCommand, probed_sandbox, sandbox_option
from arena.local.errors import LocalMatchError
from arena.server.config import LADDER_NAME

if TYPE_CHECKING:
    from arena.local.check.check import Check
    from arena.local.check.run import CheckedBot, CheckResult

COLOURS: Final = {"pass": "green", "warn": "yellow", "fail": "bold red", "skip": "dim"}
NOT_IN_A_BOX: Final = ("{host}", "{port}", "{token_file}")
"""Placeholders that a sandboxed command cannot use. A sandbox has no network, and its files disappear with the program.
"""


@click.command(
    cls=SandboxCommand,
    context_settings={"ignore_unknown_options": True, "allow_interspersed_args": False},
    epilog="Example: arena check -- python my_bot.py --server {server} --token-file {token_file}",
)
@click.option("--list", "lists", is_flag=True, help="List the checks with their requirements; no bot is started.")
@click.option("--only", metavar="CHECK", multiple=True, help="Run only this check and those that it needs; repeatable.")
@click.option(
    "--ladder",
    "ladders",
    metavar="NAME",
    multiple=True,
    help="Put this name into ARENA_LADDERS; the bot's hello must have it; repeatable. A name that no game has is a "
    "ladder of the bot's first game, with another clock.",
)
@click.option(
    "--conversations",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="Play the conversations of a folder such as clients/conformance, instead of the checks.",
)
@sandbox_option
@json_option
@click.argument("command", nargs=-1, metavar="[--] COMMAND...", type=click.UNPROCESSED)
def command(
    lists: bool,
    only: tuple[str, ...],
    ladders: tuple[str, ...],
    conversations: Path | None,
    sandbox: str | None,
    as_json: bool,
    command: tuple[str, ...],
) -> None:
    """Check whether a bot in any language follows the protocol.

    COMMAND starts the bot. It finds the server in the variables ARENA_SERVER (HOST:PORT) and ARENA_TOKEN_FILE, or in
    its arguments, where {server}, {host}, {port}, {token_file} and {token} are replaced. The server is a private one on
    this machine with the parts of a real one: it deals real matches, breaks connections, refuses, stops and restarts.
    In a box ({server} is unix:PATH there) the bot gets a token, too, and need not register.

    Each check ends with PASS, WARN (it works, but costs the bot something), FAIL, or SKIP (a check that it needs
    failed, or the bot cannot be tested). A FAIL shows the bot's last output.

    Exit status: 0 nothing failed, 1 a check failed or the command cannot be run, 2 wrong usage, 130 interrupted.

    \b
    JSON: {"bot": {"name", "version", "client", "games", "capacity"}, "checks":
    [{"name", "verdict", "asks", "text", "wants", "remedy", "page", "seconds",
    "output"}], "counts": {"pass", "warn", "fail", "skip"}}; with --list
    {"checks": [{"name", "asks", "wants", "remedy", "page", "needs"}]}
    """
    from arena.local.check.check import CONNECTED
    from arena.local.check.checks import CHECKS, with_needs

    if wrong := [name for name in ladders if not LADDER_NAME.fullmatch(name)]:
        raise click.UsageError(f"no ladder can have the name {wrong[0]!r}: 1 to 40 of a-z, 0-9, '-' and '_'")
    known = CHECKS if conversations is None else {each.name: each for each in _read(conversations)}
    if unknown := [name for name in only if name not in known]:
        raise click.UsageError(f"there is no check {unknown[0]!r}; arena check --list shows them")
    if conversations is None:
        chosen = with_needs(only or [*CHECKS])
    else:
        chosen = [*with_needs(CONNECTED), *(known[name] for name in (only or known))]
    if lists:
        _list(chosen, as_json)
        return
    if not command:
        raise click.UsageError("name the command that starts the bot, or --list")
    if sandbox is not None and (nowhere := [each for each in NOT_IN_A_BOX if any(each in word for word in command)]):
        wanted = "name {server}, which is unix:PATH there, and {token}"
        raise click.UsageError(f"there is no {nowhere[0]} in a box: {wanted}")
    bot, results = _run(command, chosen, sandbox, ladders, as_json)
    counts = {name: sum(each.verdict.value == name for each in results) for name in COLOURS}
    if as_json:
        print_json({"bot": bot, "checks": results, "counts": counts})
    else:
        who = f"{bot.name} ({', '.join(bot.games)})" if bot.games else "a bot that never said hello"
        told = ", ".join(f"{number} {name}" for name, number in counts.items() if number)
        screen().print(f"\n{who}: {told}", soft_wrap=True, markup=False)
    if counts["fail"]:
        sys.exit(1)


def _read(folder: Path) -> list[Check]:
    """Read the conversations in a folder. Raises: UsageError: They cannot be read."""
    from arena.local.check.conversations import ConversationsUnreadable, read_conversations

    try:
        return read_conversations(folder)
    except ConversationsUnreadable as error:
        raise click.UsageError(str(error)) from error


def _list(chosen: Sequence[Check], as_json: bool) -> None:
    if as_json:
        keys = ("name", "asks", "wants", "remedy", "page", "needs")
        print_json({"checks": [{key: getattr(each, key) for key in keys} for each in chosen]})
        return
    table = Table(box=None, pad_edge=False)
    for title in ("Check", "Asks", "Wants", "See"):
        table.add_column(title, overflow="fold", no_wrap=title == "Check")
    for each in chosen:
        table.add_row(each.name, each.asks, each.wants, each.page)
    screen().print(table)


def _run(
    command: Sequence[str], chosen: Sequence[Check], sandbox: str | None, ladders: Sequence[str], as_json: bool
) -> tuple[CheckedBot, list[CheckResult]]:
    """Run the checks, and show each result when it is known. Exit if interrupted."""
    import logging
    import tempfile

    import structlog
    import trio

    from arena.local.check.run import run_checks

    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.CRITICAL))
    console = screen(stderr=as_json)
    status = console.status("") if console.is_terminal else None

    def began(each: Check) -> None:
        if status is not None:
            status.update(f"{each.name}: {each.asks}")

    def ended(result: CheckResult) -> None:
        console.print(_shown(result), soft_wrap=True)

    said: list[str] = []
    try:
        with tempfile.TemporaryDirectory(prefix="arena-check-") as folder:
            boxes = None if sandbox is None else probed_sandbox(sandbox)
            if status is not None:
                status.start()
            try:
                return trio.run(run_checks, command, Path(folder), chosen, began, ended, boxes, ladders)
            finally:
                if status is not None:
                    status.stop()
    except* KeyboardInterrupt:
        click.echo("interrupted; the bot was ended", err=True)
    except* LocalMatchError as errors:
        said.append(_first(errors))
    if said:
        raise click.ClickException(said[0])
    sys.exit(INTERRUPTED)


def _first(errors: BaseExceptionGroup[BaseException]) -> str:
    """Return the message of the first of nested errors."""
    error: BaseException = errors
    while isinstance(error, BaseExceptionGroup):
        error = error.exceptions[0]
    return str(error)


def _shown(result: CheckResult) -> RenderableType:
    """Return the lines about a check: verdict, name and question. If it did not pass, also return the reason and the
    remedy.
    """
    name = result.verdict.value
    text = Text.assemble((f"{name.upper():5}", COLOURS[name]), f"{result.name:19}{result.asks}", end="")
    if result.text:
        text.append(f"\n      {result.text}")
    if name in ("warn", "fail"):
        text.append(f"\n      Wanted: {result.wants}\n      Do: {result.remedy} ({result.page})")
    if result.output:
        text.append("\n      The bot printed last:", "dim")
        for line in result.output:
            text.append(f"\n      | {line}", "dim")
    return text
