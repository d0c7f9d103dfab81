"""The summary after a demo: ladder, last trick, verification of a replay, and commands to try next."""

from __future__ import annotations

import shutil
import sys
import time
from pathlib import Path
from shlex import quote

from rich.console import Console
from rich.rule import Rule
from rich.text import Text

from arena.analysis.verdict import prove, verified
from arena.cli.data_source import DataPlace
from arena.cli.demo.progress import MatchCounter
from arena.cli.ladder.table import ladder_table
from arena.cli.replay.source import finished
from arena.cli.replay.verify_report import drawn_verdict
from arena.queries.directory import open_directory
from arena.replay.read import read
from arena.replay.render.show import part_name, show_part
from arena.replay.steps import Course
from arena.store.ladder.rebuild import rebuild
from arena.store.opening import open_to_amend


def look_back(console: Console, data: Path, game: str, before: int) -> None:
    """Show the matches after number `before` in a data directory that no server uses any more.

    Fits the ladder first, as the server may have had no time to. Raises: StoreError, ReplayError.
    """
    with open_to_amend(data) as connection:
        rebuild(connection, game, time.time_ns() // 1000)
    with open_directory(data) as source:
        counter = MatchCounter(source, before)
        counter.count()
        console.print(f"{counter.finished} matches finished. The server and the bots have ended.\n")
        if not counter.finished:
            return
        console.print(ladder_table(source.ladder(game)), "")
        latest = finished(source, game, "", 1)[0].match_id
        replay = read(source.replay(latest), f"match {latest}")
        proofs = prove(replay, None, source)
    course = Course(replay)
    title = f"The last {part_name(course)} of match {latest}"
    console.print(Rule(title, style="dim"), "", show_part(course), "", sep="\n")
    console.print(drawn_verdict(replay, verified(replay), proofs), soft_wrap=True)
    console.print()
    console.print(Rule("Try next", style="dim"))
    console.print(_next_steps(latest, DataPlace(data=data)), soft_wrap=True)


def _next_steps(match_id: int, place: DataPlace) -> Text:
    """Return commands to copy, each with a comment."""
    arena = _program()
    steps = {
        "step through that match with keys": f"{arena} replay show {match_id}{place.typed}",
        "what was played": f"{arena} matches{place.typed}",
        "check a replay, line by line": f"{arena} replay verify {match_id}{place.typed}",
        "keep a server running here": f"{arena} serve{place.typed}",
        "and, in another terminal, a bot": f"{_shown(sys.executable)} -m arena_client.samples.counter_bot --name mine",
    }
    lines = [Text.assemble("  ", (f"# {what}\n", "dim"), "  ", (how, "bold cyan")) for what, how in steps.items()]
    return Text("\n").join(lines)


def _program() -> str:
    """Return the command line that starts this program here."""
    program = Path(sys.argv[0])
    if program.suffix == ".py":
        return f"{_shown(sys.executable)} -m arena.cli"
    known = shutil.which(program.name)
    return program.name if known is not None and Path(known).samefile(program) else _shown(program)


def _shown(path: str | Path) -> str:
    """Return a path as typed in the current directory."""
    path = Path(path)
    return quote(str(path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path))
