"""What a demo leaves behind, shown: the ladder, a trick, a proof, and what to try next."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from shlex import quote

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from arena.cli.directory import open_directory
from arena.cli.ladder_table import ladder_table
from arena.cli.replay import finished, verified
from arena.cli.source import Place
from arena.cli.tally import Tally
from arena.cli.verdict import drawn_verdict
from arena.replay.read import read
from arena.replay.render.show import show_trick
from arena.replay.steps import Course
from arena.store.rebuild import rebuild
from arena.store.store import open_to_amend


def look_back(console: Console, data: Path, game: str, before: int) -> None:
    """Shows what came after the match number `before` in a data directory that no server works on any more.

    The ladder is fitted first: the server may have had no time to. StoreError or ReplayError where that cannot be done.
    """
    with open_to_amend(data) as connection:
        rebuild(connection, game, time.time_ns() // 1000)
    with open_directory(data) as source:
        tally = Tally(source, before)
        tally.count()
        console.print(f"{tally.finished} matches finished. The server and the bots have ended.\n")
        if not tally.finished:
            return
        console.print(ladder_table(source.ladder(game), console.width), "")
        latest = finished(source, game, "", 1)[0].match
        replay = read(source.replay(latest), f"match {latest}")
    console.print(Rule(f"The last trick of match {latest}", style="dim"), "", show_trick(Course(replay)), "", sep="\n")
    console.print(drawn_verdict(replay, verified(replay)), soft_wrap=True)
    console.print()
    console.print(Rule("Try next", style="dim"))
    console.print(_next_steps(latest, Place(data=data)), soft_wrap=True)


def _next_steps(match: int, place: Place) -> Text:
    """Commands to copy."""
    arena = _program()
    steps = {
        "step through that match with keys": f"{arena} replay show {match}{place.typed}",
        "what was played": f"{arena} matches{place.typed}",
        "check a replay, line by line": f"{arena} replay verify {match}{place.typed}",
        "keep a server running here": f"{arena} serve{place.typed}",
        "and, in another terminal, a bot": f"{_shown(sys.executable)} -m arena_client.samples.counter_bot --name mine",
    }
    lines = [Text.assemble("  ", (f"# {what}\n", "dim"), "  ", (how, "bold cyan")) for what, how in steps.items()]
    return Text("\n").join(lines)


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
