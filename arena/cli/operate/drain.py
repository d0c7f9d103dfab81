"""`arena drain`: stop a running server once its matches have ended, and wait until it has exited."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from arena.cli.data_source import DataPlace, takes_data
from arena.cli.terminal.screen import answer, json_option, screen

if TYPE_CHECKING:
    from arena.store.base.lock import LockHolder

LEFT: Final = 3
"""Exit status if matches are left to the next start."""
SERVER_END: Final = 30.0
"""Maximum number of seconds from the end of the last match to the exit of the server's process."""


@click.command(epilog="Example: arena drain --data ./arena-data --limit 60")
@click.option(
    "--limit",
    metavar="SECONDS",
    type=click.FloatRange(0),
    help="Seconds for which matches may continue.  [default: the server's]",
)
@takes_data
@json_option
def command(limit: float | None, place: DataPlace, as_json: bool) -> None:
    """Stop a server after its running matches; it begins no new ones.

    Bots get a notice. Matches still running after the limit continue after the next start; no bot loses time by it.
    Returns when the server has ended. Interrupting this command does not stop the drain; running it again with a lower
    limit shortens it.

    Exit status: 0 every match ended, 3 some continue after the next start, 1 failure.

    \b
    JSON: {"left"}
    """
    from arena.store.base.lock import holder

    assert place.data is not None, "it is required"
    try:
        found = holder(place.data)
        with _watching() as show, place.operated_server() as (server, token):
            left = 0
            for row in server.drain(limit, token):
                left = row.playing
                show(left)
        _await_the_end(place.data, found)
        left = max(left, _left_by_nodes(place.data))
    except KeyboardInterrupt:
        raise click.ClickException("nobody watches any more; the server goes on draining") from None
    words = f"{_matches(left)} left to the next start." if left else "Every match ended; the server is gone."
    answer({"left": left}, words, as_json)
    sys.exit(LEFT if left else 0)


def _await_the_end(data: Path, server: LockHolder | None) -> None:
    """Wait until the server's process has exited, so that a new server can be started. Raises: ClickException."""
    from arena.store.base.lock import holder

    end = time.monotonic() + SERVER_END
    while server is not None and holder(data) == server:
        if time.monotonic() > end:
            raise click.ClickException(f"the server has drained, but its process {server.pid} does not end")
        time.sleep(0.02)


def _left_by_nodes(data: Path) -> int:
    """Return the number of matches that the nodes of a server left to the next start. 0 for a server without nodes."""
    from arena.store import nodes
    from arena.store.base.directory import identity
    from arena.store.opening import open_readonly

    with open_readonly(data) as connection:
        own = nodes.numbers_of(connection, identity(data))
        return sum(count for number, count in nodes.playing_by_node(connection).items() if number in own)


@contextmanager
def _watching() -> Iterator[Callable[[int], None]]:
    """Yield a function that shows the number of running matches on stderr.

    If stderr is not a terminal, the function prints at most one line per second.
    """
    console = screen(stderr=True)
    shown = 0.0

    def show(left: int) -> None:
        nonlocal shown
        if console.is_terminal:
            status.update(_playing(left))
        elif time.monotonic() - shown >= 1:
            shown = time.monotonic()
            console.print(_playing(left))

    if not console.is_terminal:
        yield show
        return
    with console.status("draining") as status:
        yield show


def _playing(matches: int) -> str:
    return f"draining: {_matches(matches)} being played"


def _matches(number: int) -> str:
    return "1 match" if number == 1 else f"{number} matches"
