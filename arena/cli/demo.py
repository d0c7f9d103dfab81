"""`arena demo`: the whole arena in under a minute. A server, three bots over gRPC, the ladder as it moves, a replay."""

from __future__ import annotations

import subprocess
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from engine.registry import GAMES

if TYPE_CHECKING:
    from rich.console import Console

    from arena.cli.children import Children
    from arena.cli.signals import Signals
    from arena.wire.client import Client

BOTS: Final = {"random": "random_bot", "rules": "rule_bot", "counter": "counter_bot"}
"""The sample bots' names and modules, weakest first."""
GAME: Final = "sixth_sense"
"""What is played where nothing is said."""
CAPACITY: Final = 6
"""Matches that each bot plays at once."""
STARTING: Final = 30.0
"""Seconds until the first match must have begun."""
LAST_WORDS: Final = 5.0
"""Seconds for a server that does not answer to end, so that its log tells why."""
GLANCE: Final = 0.25
"""Seconds between two looks at the server."""


@click.command(epilog="Example: arena demo --game nullern --seconds 20 --data ./demo-data")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=Path("demo-data"),
    show_default=True,
    help="Directory of the database and the logs; kept, and used again the next time.",
)
@click.option("--game", type=click.Choice([*GAMES]), default=GAME, show_default=True, help="The game they play.")
@click.option(
    "--seconds", type=click.FloatRange(1, 86400), default=20, show_default=True, help="How long matches are played."
)
def command(data: Path, game: str, seconds: float) -> None:
    """Play rated matches between three sample bots and show what comes of it.

    Starts a server on any free port of this machine and three bots as programs of their own; house bots fill the
    tables. Then it stops them all and shows the ladder and a replay. Ctrl-C ends it early, in order.
    """
    from arena.cli.children import ChildFailed, children
    from arena.cli.screen import screen
    from arena.cli.signals import caught_signals

    console = screen()
    try:
        (data / "logs").mkdir(parents=True, exist_ok=True)
        (data / "tokens").mkdir(mode=0o700, exist_ok=True)
        with caught_signals() as signals, children(signals) as programs:
            before = _play(console, signals, programs, data, game, seconds)
            console.print("Stopping the server, which lets running matches end, and the bots …")
    except (ChildFailed, OSError) as error:
        raise click.ClickException(str(error)) from error
    if before is not None:
        from arena.cli.lookback import look_back

        look_back(console, data, game, before)


def _play(console: Console, signals: Signals, programs: Children, data: Path, game: str, seconds: float) -> int | None:
    """Starts everything and lets it play. Returns the newest match before; None when stopped before any."""
    from arena.cli.children import ChildFailed
    from arena.cli.tally import newest
    from arena.wire.client import Declined, NoAnswer, connect

    console.print(f"Starting a server on {data}/ and three bots …")
    server = programs.start(
        "server", ("arena.cli", "serve", *_serving(data, game)), data / "logs" / "server.log", heard=True
    )
    greeting = server.line(signals, STARTING)
    if greeting is None:
        return None
    address = greeting.removeprefix("Arena listens on ").partition(",")[0]
    try:
        with connect(address) as client:
            before = newest(client)
            _start_bots(programs, address, data, game)
            import arena.cli.lookback  # noqa: F401 - a second's work, done while the bots start instead of at the end

            _watch(console, signals, programs, client, game, before, seconds)
            return before
    except (NoAnswer, Declined) as error:
        with suppress(subprocess.TimeoutExpired):
            server.process.wait(LAST_WORDS)
        programs.check()
        raise ChildFailed(str(error)) from error


def _start_bots(programs: Children, address: str, data: Path, game: str) -> None:
    for name, module in BOTS.items():
        token = data / "tokens" / f"{name}.token"
        who = ("--server", address, "--name", name, "--token-file", str(token))
        what = ("--game", game, "--capacity", str(CAPACITY))
        programs.start(f"bot {name}", (f"arena_client.samples.{module}", *who, *what), data / "logs" / f"{name}.log")


def _serving(data: Path, game: str) -> tuple[str, ...]:
    return ("--address", "127.0.0.1:0", "--data", str(data), "--game", game, "--drain", "5", "--log-json")


def _watch(
    console: Console, signals: Signals, programs: Children, client: Client, game: str, before: int, seconds: float
) -> None:
    """Shows the progress from the first match on, for so long or until a signal."""
    from arena.cli.children import ChildFailed
    from arena.cli.progress import Progress
    from arena.cli.tally import Tally

    tally = Tally(client, before)
    began = time.monotonic()
    while not signals.count and not tally.begun:
        programs.check()
        if time.monotonic() > began + STARTING:
            raise ChildFailed(f"no match began within {STARTING:.0f} s; see the logs of the server and the bots")
        signals.sleep(GLANCE)
        tally.count()
    began = time.monotonic()
    with Progress(console, seconds) as progress:
        while not signals.count and (passed := time.monotonic() - began) < seconds:
            programs.check()
            tally.count()
            progress.show(passed, tally.finished, client.ladder(game))
            signals.sleep(min(GLANCE, began + seconds - time.monotonic()))
