"""`arena demo`: the whole arena in under a minute. A server, three bots over gRPC, the ladder as it moves, a replay."""

from __future__ import annotations

import shutil
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final

import click

from arena.cli.source import Place

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from arena.cli.children import Children
    from arena.cli.signals import Signals

BOTS: Final = {"random": "random_bot", "rules": "rule_bot", "counter": "counter_bot"}
"""The sample bots' names and modules, weakest first."""
GAME: Final = "sixth_sense"
SEATS: Final = 3
CAPACITY: Final = 6
"""Matches that each bot plays at once."""
STARTING: Final = 30.0
"""Seconds until the first match must have begun."""
GLANCE: Final = 0.25
"""Seconds between two looks at the server."""


@dataclass(frozen=True, slots=True)
class Played:
    """How a demo went."""

    seconds: float
    before: int
    """The newest match before it."""
    stopped: bool
    """Whether somebody stopped it."""


@click.command(epilog="Example: arena demo --seconds 20 --data ./demo-data")
@click.option(
    "--data",
    type=click.Path(path_type=Path),
    default=Path("demo-data"),
    show_default=True,
    help="Directory of the database and the logs; kept, and used again the next time.",
)
@click.option(
    "--seconds", type=click.FloatRange(1, 86400), default=20, show_default=True, help="How long matches are played."
)
def command(data: Path, seconds: float) -> None:
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
            played = _play(console, signals, programs, data, seconds)
            console.print("Stopping the server, which lets running matches end, and the bots …")
    except (ChildFailed, OSError) as error:
        raise click.ClickException(str(error)) from error
    if played is not None:
        _look_back(console, Place(data=data), played)


def _look_back(console: Console, place: Place, played: Played) -> None:
    """The ladder, a trick, a proof, and what to try next."""
    from rich.rule import Rule

    from arena.cli.replay import finished, read_replay, verified
    from arena.cli.tables import ladder_table
    from arena.cli.tally import Tally
    from arena.cli.verdict import drawn_verdict
    from arena.replay.render.show import show_trick
    from arena.replay.steps import Course

    with place.open() as source:
        tally = Tally(source, played.before)
        tally.count()
        how = "Stopped after" if played.stopped else "Played for"
        ended = "The server and the bots have ended."
        console.print(f"{how} {played.seconds:.0f} s: {tally.finished} matches finished. {ended}\n")
        if not tally.finished:
            return
        console.print(ladder_table(f"Ladder of {GAME}", source.ladder(GAME), console.width))
        latest = finished(source, GAME, "", 1)[0].match
    replay = read_replay(str(latest), place)
    console.print(Rule(f"The last trick of match {latest}", style="dim"), "", show_trick(Course(replay)), "", sep="\n")
    console.print(drawn_verdict(replay, verified(replay)), soft_wrap=True)
    console.print(_next_steps(latest, place))


def _next_steps(match: int, place: Place) -> RenderableType:
    """Commands to copy."""
    from rich.console import Group
    from rich.rule import Rule
    from rich.text import Text

    arena = _program()
    steps = {
        "step through that match with keys": f"{arena} replay show {match}{place.typed}",
        "what was played": f"{arena} matches{place.typed}",
        "check a replay, line by line": f"{arena} replay verify {match}{place.typed}",
        "keep a server running here": f"{arena} serve{place.typed}",
        "and, in another terminal, a bot": f"{_shown(sys.executable)} -m arena_client.samples.counter_bot --name mine",
    }
    lines = [Text.assemble("  ", (f"# {what}\n", "dim"), "  ", (how, "bold cyan")) for what, how in steps.items()]
    return Group(Text(), Rule("Try next", style="dim"), *lines)


def _program() -> str:
    """How this program is called here."""
    program = Path(sys.argv[0])
    if program.suffix == ".py":
        return f"{_shown(sys.executable)} -m arena.cli"
    known = shutil.which(program.name)
    return program.name if known is not None and Path(known).samefile(program) else _shown(program)


def _shown(path: str | Path) -> str:
    """A path as it is typed in this directory."""
    path = Path(path)
    return quote(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))


def _play(console: Console, signals: Signals, programs: Children, data: Path, seconds: float) -> Played | None:
    """Starts everything and lets it play; None when it was stopped before that."""
    from arena.cli.progress import Progress
    from arena.cli.tally import Tally, newest
    from arena.wire.client import connect

    console.print(f"Starting a server on {data}/ and three bots …")
    arguments = ("--address", "127.0.0.1:0", "--data", str(data), "--game", GAME, "--seats", str(SEATS), "--drain", "5")
    server = programs.start(
        "server", ("arena.cli", "serve", *arguments, "--log-json"), data / "logs" / "server.log", heard=True
    )
    greeting = server.line(signals, STARTING)
    if greeting is None:
        return None
    address = greeting.removeprefix("Arena listens on ").partition(",")[0]
    for name, module in BOTS.items():
        token = data / "tokens" / f"{name}.token"
        options = ("--server", address, "--name", name, "--token-file", str(token), "--capacity", str(CAPACITY))
        programs.start(f"bot {name}", (f"arena_client.samples.{module}", *options), data / "logs" / f"{name}.log")
    with connect(address) as client:
        before = newest(client)
        tally = Tally(client, before)
        began = time.monotonic()
        while not signals.count and not tally.begun:
            programs.check()
            if time.monotonic() > began + STARTING:
                raise click.ClickException(f"no match began within {STARTING:.0f} s; see the logs in {data}/logs")
            signals.sleep(GLANCE)
            tally.count()
        began = time.monotonic()
        with Progress(console, f"Ladder of {GAME}", seconds) as progress:
            while not signals.count and (passed := time.monotonic() - began) < seconds:
                programs.check()
                tally.count()
                progress.show(passed, tally.finished, client.ladder(GAME))
                signals.sleep(min(GLANCE, began + seconds - time.monotonic()))
        return Played(time.monotonic() - began, before, stopped=signals.count > 0)
