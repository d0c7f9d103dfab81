"""`arena demo`: run a server and three bots over gRPC for a while, and show the live ladder and a replay."""

from __future__ import annotations

import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

import click

from arena.cli.demo.children import ChildFailed, Children, Signals, caught_signals, children
from arena.cli.terminal.screen import screen
from engine.registry import GAMES

if TYPE_CHECKING:
    from rich.console import Console

    from arena.queries.remote import Client

BOTS: Final = {"random": "random_bot", "rules": "rule_bot", "counter": "counter_bot"}
"""The sample bots' names and modules, weakest first."""
GAME: Final = next(iter(GAMES))
"""The default game."""
CAPACITY: Final = 6
"""Number of matches that each bot plays at the same time."""
STARTING: Final = 60.0
"""Maximum number of seconds until the first match begins."""
SERVER_END: Final = 5.0
"""Seconds to wait until an unresponsive server has ended, so that its log can show the cause."""
IDLE: Final = 3600.0
"""Seconds of each wait for the first request after the demo. Until it comes, the pages' code is not loaded."""
POLL: Final = 0.25
"""Seconds between two queries of the server."""


@click.command(epilog="Example: arena demo --game nullern --seconds 20 --data ./demo-data")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=Path("demo-data"),
    show_default=True,
    help="Directory of the database and the logs; the next demo continues with it.",
)
@click.option("--game", type=click.Choice([*GAMES]), default=GAME, show_default=True, help="The game they play.")
@click.option(
    "--seconds",
    type=click.FloatRange(1, 86400),
    default=20,
    show_default=True,
    help="Seconds for which matches are played.",
)
def command(data: Path, game: str, seconds: float) -> None:
    """Play rated matches between three sample bots and show the ladder and a replay.

    Starts a server on a free port of this machine and three bots as separate programs; house bots fill the tables. A
    browser shows the matches at the address that it prints. Then it stops them all and shows the ladder and a replay.
    On a terminal the pages stay until Ctrl-C. An earlier Ctrl-C stops the demo and still shows ladder and replay.
    """
    console = screen()
    try:
        (data / "logs").mkdir(parents=True, exist_ok=True)
        (data / "tokens").mkdir(mode=0o700, exist_ok=True)
        with caught_signals() as signals, children(signals) as programs:
            played = _play(console, signals, programs, data, game, seconds)
            stays = console.is_terminal and not signals.count
            console.print("Stopping the server, which lets running matches end, and the bots …")
    except (ChildFailed, OSError) as error:
        raise click.ClickException(str(error)) from error
    if played is not None:
        from arena.cli.demo.progress import look_back

        before, pages = played
        look_back(console, data, game, before)
        if stays:
            with suppress(KeyboardInterrupt):
                _stay(console, data, pages)


def _play(
    console: Console, signals: Signals, programs: Children, data: Path, game: str, seconds: float
) -> tuple[int, str] | None:
    """Start all programs and let the bots play.

    Return the number of the newest match before the demo, and the address of the pages. Return None if a signal came
    before the server was ready.
    """
    from arena.cli.demo.progress import newest
    from arena.queries.remote import Declined, NoAnswer, connect

    console.print(f"Starting a server on {data}/ and three bots …")
    server = programs.start(
        "server", ("arena.cli", "serve", *_serving(data, game)), data / "logs" / "server.log", piped=True
    )
    greeting = server.lines(signals, STARTING, 2)
    if greeting is None:
        return None
    address = greeting[0].removeprefix("Arena listens on ").partition(",")[0]
    pages = greeting[1].removeprefix("Pages at ")
    console.print(f"Watch at {pages}")
    try:
        with connect(address) as client:
            before = newest(client)
            _start_bots(programs, address, data, game)
            import arena.cli.demo.progress  # noqa: F401 - takes a second: import it while the bots start

            _watch(console, signals, programs, client, game, before, seconds)
            return before, pages
    except (NoAnswer, Declined) as error:
        with suppress(subprocess.TimeoutExpired):
            server.process.wait(SERVER_END)
        programs.check()
        raise ChildFailed(str(error)) from error


def _start_bots(programs: Children, address: str, data: Path, game: str) -> None:
    for name, module in BOTS.items():
        token = data / "tokens" / f"{name}.token"
        who = ("--server", address, "--name", name, "--token-file", str(token))
        what = ("--game", game, "--capacity", str(CAPACITY))
        programs.start(f"bot {name}", (f"arena_client.samples.{module}", *who, *what), data / "logs" / f"{name}.log")


def _serving(data: Path, game: str) -> tuple[str, ...]:
    quick = ("--drain", "5", "--house-search", "0")  # to search in one of 300 matches would take a tenth of the time
    where = ("--address", "127.0.0.1:0", "--web", "127.0.0.1:0")
    return (*where, "--data", str(data), "--game", game, *quick, "--log-json")


def _stay(console: Console, data: Path, pages: str) -> None:
    """Serve the pages of the data directory until a signal, at the same address as the server did."""
    from trio_grpc.http2.sockets import bind

    sockets = bind(urlsplit(pages).netloc)
    console.print(f"\nThe pages stay at {pages} until Ctrl-C.")
    with caught_signals() as signals:
        while not signals.wait(IDLE, readable=sockets[0].fileno()):
            pass
    if signals.count:
        return
    from arena.queries.directory import opening_directory
    from arena.web.serving import run

    with opening_directory(data) as open_source:
        run(open_source, sockets, lambda: None)


def _watch(
    console: Console, signals: Signals, programs: Children, client: Client, game: str, before: int, seconds: float
) -> None:
    """Show the progress, from the first match on, for the given number of seconds or until a signal."""
    from arena.cli.demo.progress import DemoProgress, MatchCounter

    counter = MatchCounter(client, before)
    began = time.monotonic()
    while not signals.count and not counter.begun:
        programs.check()
        if time.monotonic() > began + STARTING:
            raise ChildFailed(f"no match began within {STARTING:.0f} s; see the logs of the server and the bots")
        signals.sleep(POLL)
        counter.count()
    began = time.monotonic()
    with DemoProgress(console, seconds) as progress:
        while not signals.count and (passed := time.monotonic() - began) < seconds:
            programs.check()
            counter.count()
            progress.show(passed, counter.finished, client.ladder(game))
            signals.sleep(min(POLL, began + seconds - time.monotonic()))
