"""`arena event`: compute an event again; and the part of `arena match` that plays one."""

from __future__ import annotations

import sys
from contextlib import closing
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from arena.cli.terminal.screen import json_option, print_json, screen
from arena.cli.workbench.options import probed_sandbox

if TYPE_CHECKING:
    from arena.local.match.event import LocalEvent
    from arena.local.match.sets import Subject
    from arena.local.match.thinking import SlowBot
    from arena.scheduling.event.race import RaceLook

MATCHES_OF_BOT: Final = 60
"""Default budget of an event, in matches of each bot."""
UNDECIDED: Final = 4
"""Exit status of an event without a winner."""
INTERRUPTED: Final = 130
NAMED: Final = 0.1
"""Probability of being the best from which an undecided event names a bot."""


@click.group(epilog="Example: arena event verify evening.event")
def command() -> None:
    """Compute an event's result again."""


@command.command(epilog="Example: arena event verify evening.event")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@json_option
def verify(file: Path, as_json: bool) -> None:
    """Compute an event again from its file, as `arena match --event --out FILE` writes it.

    All lots, games, scores, looks and the decision are computed again, without the bots. Exit status: 0 if the file
    agrees to the last bit, 1 if it differs; the message names the first difference.

    \b
    JSON: {"event": {"format", "event", "budget", "game", "options", "seats",
    "seed", "entrants", "bots", "versions"}, "result":
    {"decided", "winner", "matches", "standings": [{"place", "bot", "still_in",
    "matches", "strength", "deviation", "best"}], "looks"}}
    """
    from arena.local.errors import LocalMatchError
    from arena.local.match.event import verified

    try:
        event = verified(file)
    except (LocalMatchError, OSError) as error:
        raise click.ClickException(f"{file}: {error}") from error
    if as_json:
        _print_json(event)
        return
    click.echo(f"Lots, games, scores and decision of {len(event.race.tables)} matches agree.")
    click.echo(_verdict(event))


def play_event(
    subject: Subject,
    kind: str,
    budget: int | None,
    concurrency: int | None,
    sandbox: str | None,
    out: Path | None,
    replays: Path | None,
    as_json: bool,
) -> None:
    """Play an event of the compared bots, and exit with its status."""
    from arena.local.errors import LocalMatchError
    from arena.local.match.event import LocalEvent, event_subject
    from arena.local.match.runner import default_concurrency
    from arena.local.match.sets import SetsFile
    from arena.local.server.command_bot import CommandPlace
    from arena.scheduling.event.race import EventError

    try:
        chosen = budget or -(-MATCHES_OF_BOT * subject.compared // subject.seats)
        event = LocalEvent(event_subject(subject, kind, chosen))
    except EventError as error:
        raise click.UsageError(str(error)) from error
    logs = None if out is None else out.with_name(f"{out.name}.logs")
    place = CommandPlace(logs, sandbox=None if sandbox is None else probed_sandbox(sandbox))
    console = screen(stderr=True)

    def report_slow(slow: SlowBot) -> None:
        console.print(f"{slow}", style="yellow", markup=False, soft_wrap=True)

    def report_look(look: RaceLook) -> None:
        first = event.race.entrants[look.first].name
        left = f"{look.matches} of {chosen} matches, {len(look.stays)} of {subject.compared} bots still in"
        console.print(f"{left}; {first} leads (P {look.best[look.first]:.2f})", markup=False, soft_wrap=True)

    try:
        with closing(SetsFile(out, event.subject)) as file:
            workers = concurrency or default_concurrency(event.subject)
            event.play(file, workers, place, replays, report_slow, report_look)
    except KeyboardInterrupt:
        goes_on = f"the same command goes on, with --seed {subject.seed} --out {out}."
        click.echo(f"Interrupted; {'nothing is kept without --out FILE.' if out is None else goes_on}", err=True)
        sys.exit(INTERRUPTED)
    except (LocalMatchError, OSError) as error:
        raise click.ClickException(str(error)) from error
    if as_json:
        _print_json(event)
    else:
        _print(event)
    sys.exit(0 if event.race.decided else UNDECIDED)


def _print_json(event: LocalEvent) -> None:
    from arena.local.match.sets import FORMAT

    print_json({"event": {"format": FORMAT, **event.subject.head()}, "result": event.document()})


def _print(event: LocalEvent) -> None:
    from rich.table import Table
    from rich.text import Text

    race, subject = event.race, event.subject
    table = Table(title=Text(f"{subject.event} · {subject.game} for {subject.seats} · seed {subject.seed}"))
    table.add_column("place", justify="right")
    table.add_column("bot", overflow="fold")
    for column in ("matches", "points", "P(best)", ""):
        table.add_column(column, justify="right")
    for each in race.standings():
        points = "" if each.strength is None else f"{each.strength:+.2f} ± {each.deviation:.2f}"
        name, still_in = Text(race.entrants[each.bot].name), "in to the end" if each.still_in else "out"
        table.add_row(str(each.place), name, str(each.matches), points, f"{each.best:.2f}", still_in)
    screen().print(table)
    screen().print(_verdict(event), markup=False, soft_wrap=True)


def _verdict(event: LocalEvent) -> str:
    """Return the winner and how sure it is, or the bots between which the event is undecided."""
    race, look = event.race, event.race.looks[-1]
    risk = f"with P {look.risk:.2f} another bot is better by more than {look.margin:.2g} points"
    standings = race.standings()
    first = race.entrants[standings[0].bot].name
    if race.decided:
        return f"{first} wins after {look.matches} matches: {risk}."
    likely = sorted((each for each in standings if each.still_in), key=lambda each: -each.best)
    named = [each for each in likely if each.best >= NAMED] or likely[:1]
    words = " and ".join(f"{race.entrants[each.bot].name} (P {each.best:.2f})" for each in named)
    return f"Undecided after {look.matches} matches: the best is perhaps {words}. {first} leads; {risk}."
