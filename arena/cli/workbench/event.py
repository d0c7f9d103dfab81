"""`arena event`: hold events on a server, read and recompute them; and the part of `arena match` that plays one."""

from __future__ import annotations

import re
import sys
import time
from collections.abc import Mapping
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import click
from rich.table import Table
from rich.text import Text

from arena.cli.authorization import AuthorizedChange, takes_authorization
from arena.cli.data_source import DataPlace, limit_option, takes_data, takes_source
from arena.cli.terminal.screen import answer, json_option, json_rows, print_json, screen
from arena.cli.workbench.options import exit_interrupted, probed_sandbox
from arena.local.errors import LocalMatchError
from arena.local.match.sets import FORMAT, SetsFile, Subject
from arena.local.match.thinking import SlowBot
from arena.queries.events import BundleDiffersError, is_bundle, perhaps_best, verify_bundle
from arena.queries.figures import CONFIDENCE
from arena.scheduling.event.race import EventError, RaceLook
from arena.store.base.rows import EventRow
from arena.store.matches import contests
from arena.store.matches.contests import EventPlan

if TYPE_CHECKING:
    from arena.local.match.event import LocalEvent

MATCHES_OF_BOT: Final = 60
"""Default budget of an event, in matches of each bot."""
UNDECIDED: Final = 4
"""Exit status of an event without a winner."""
SPAN: Final = re.compile(r"([1-9][0-9]{0,5})([smhd])")
SECONDS: Final = {"s": 1, "m": 60, "h": 3600, "d": 86400}


@click.group(epilog="Example: arena event list")
def command() -> None:
    """Hold events on a server, read them, and compute their results again."""


def _budget(_: click.Context, __: click.Parameter, value: str) -> tuple[int | None, int | None]:
    """Return a budget in matches, or in seconds."""
    if (span := SPAN.fullmatch(value)) is not None:
        return None, int(span[1]) * SECONDS[span[2]]
    if re.fullmatch(r"[1-9][0-9]{0,8}", value):
        return int(value), None
    raise click.BadParameter(f"{value!r} is neither a number of matches, such as 375, nor a time, such as 60m or 2h")


def _start(_: click.Context, __: click.Parameter, value: str) -> int:
    """Return an instant in microseconds since 1970."""
    if value.startswith("+") and (span := SPAN.fullmatch(value[1:])) is not None:
        return time.time_ns() // 1000 + int(span[1]) * SECONDS[span[2]] * 1_000_000
    try:
        return int(datetime.fromisoformat(value).astimezone(UTC).timestamp() * 1_000_000)
    except (ValueError, OverflowError) as error:
        raise click.BadParameter(f"{value!r} is neither a time such as 2026-12-01T18:00 nor a delay, +30m") from error


@command.command(epilog="Example: arena event create friday --ladder nullern --start +30m --budget 60m --data DIR")
@click.argument("name")
@click.option("--ladder", metavar="NAME", required=True, help="The ladder with whose terms the matches are played.")
@click.option("--seats", type=click.IntRange(2), default=4, show_default=True, help="Number of seats of a table.")
@click.option(
    "--start", metavar="TIME", required=True, callback=_start, help="Start: 2026-12-01T18:00 (local time), or +30m."
)
@click.option(
    "--budget", metavar="N", required=True, callback=_budget, help="Number of matches, or a time such as 60m."
)
@click.option(
    "--entrants",
    metavar="WHO",
    default="open",
    show_default=True,
    help="open: bots enter themselves; invited: the operator enters them; or a FILE with a bot's name on each line.",
)
@click.option(
    "--format",
    "kind",
    type=click.Choice(["race", "all"]),
    default="race",
    show_default=True,
    help="race: those play on that may be the best; all: everybody plays the same number.",
)
@takes_data
@json_option
def create(
    name: str,
    ladder: str,
    seats: int,
    start: int,
    budget: tuple[int | None, int | None],
    entrants: str,
    kind: str,
    place: DataPlace,
    as_json: bool,
) -> None:
    """Announce an event on a running server.

    The server commits to the seed of the lots in its log. Entrants that are connected to the ladder at the start play.

    \b
    JSON: {"name"}
    """
    bots: tuple[str, ...] = ()
    if entrants not in {"open", "invited"}:
        try:
            lines = Path(entrants).read_text("utf-8").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise click.ClickException(f"{entrants}: {error}; --entrants takes open, invited or a file") from error
        bots, entrants = tuple(line.strip() for line in lines if line.strip()), "invited"
    plan = EventPlan(name, ladder, seats, kind, *budget, entrants, start)
    with place.operated_server() as (server, token):
        server.create_event(plan, bots, token)
    answer({"name": name}, f"The event {name} is announced; bots enter it with --event {name}.", as_json)


@command.command(epilog="Example: arena event enter friday my-bot --token-file ./my-bot.token")
@click.argument("name")
@click.argument("bot")
@takes_authorization
@json_option
def enter(name: str, bot: str, authorized: AuthorizedChange, as_json: bool) -> None:
    """Enter a bot into an event; at most one bot of each owner.

    A bot can also enter when it connects: --event NAME, or ARENA_EVENTS. It plays if it is connected at the start.

    \b
    JSON: {"name"}
    """

    authorized.change(
        lambda connection: contests.enter(connection, name, bot, time.time_ns() // 1000, invited=True),
        lambda server, token: server.enter_event(name, bot, token),
    )
    answer({"name": name}, f"{bot} has entered the event {name}.", as_json)


@command.command(epilog="Example: arena event start friday --data ./arena-data")
@click.argument("name")
@takes_data
@json_option
def start(name: str, place: DataPlace, as_json: bool) -> None:
    """Begin an event at once, with the entrants that are connected.

    \b
    JSON: {"name"}
    """
    with place.operated_server() as (server, token):
        server.start_event(name, token)
    answer({"name": name}, f"The event {name} has begun.", as_json)


@command.command(epilog="Example: arena event cancel friday --reason rain --data ./arena-data")
@click.argument("name")
@click.option("--reason", metavar="TEXT", default="", help="The reason, which everybody can read.")
@takes_data
@json_option
def cancel(name: str, reason: str, place: DataPlace, as_json: bool) -> None:
    """Cancel an event that has not begun.

    \b
    JSON: {"name"}
    """

    AuthorizedChange(place).change(
        lambda connection: contests.cancel(connection, name, reason, time.time_ns() // 1000),
        lambda server, token: server.cancel_event(name, reason, token),
    )
    answer({"name": name}, f"The event {name} is cancelled.", as_json)


@command.command("list", epilog="Example: arena event list --server arena.example:443 --tls")
@limit_option("events", 20)
@click.option("--before", metavar="N", type=click.IntRange(1), help="Only events with a lower number.")
@takes_source
@json_rows(EventRow)
def list_events(limit: int, before: int | None, place: DataPlace, as_json: bool) -> None:
    """List events, the newest first.

    \b
    JSON: {"events": [EventRow]}
    """
    with place.open() as source:
        rows = source.events(limit, before)
    if as_json:
        print_json({"events": rows})
        return
    for row in rows:
        click.echo(_described(row))
    if not rows:
        click.echo("No event was announced yet.")


@command.command(epilog="Example: arena event show friday")
@click.argument("name")
@takes_source
@json_rows(EventRow)
def show(name: str, place: DataPlace, as_json: bool) -> None:
    """Show an event with its entrants, and its standings as of the last look.

    \b
    JSON: {"event": EventRow, "reason", "entrants": [{"bot", "checked_in"}],
    "earlier": {"matches", "points", "house", "replayed", "baselines", "share",
    "table"}, "rounds", "tables": [{"number", "match", "state", "bots", "points"}],
    "leaves", "result"}
    "result" is as in `arena event verify`, and null before the start. "leaves"
    are the numbers of its leaves in the log, without those of its matches.
    "earlier" fixes the scores: matches before the event, with sums by seat of
    their points and baselines; "share" and "table" are β and δ in millionths.
    """
    with place.open() as source:
        found = source.event(name)
    if as_json:
        print_json(found)
        return
    event, result = found["event"], found["result"]
    click.echo(f"{_described(event)} {found['reason']}".rstrip())
    if earlier := _scores(found["earlier"]):
        click.echo(earlier)
    if result is None:
        click.echo(f"Entrants: {', '.join(each['bot'] for each in found['entrants']) or 'none yet'}")
    else:
        _print_result(f"{name} · round {found['rounds']}", result, over=event.state == "finished")


@command.command(epilog="Example: arena event result friday")
@click.argument("name")
@takes_source
@json_option
def result(name: str, place: DataPlace, as_json: bool) -> None:
    """Show the result of a finished event.

    Exit status: 0 decided, 4 undecided, 1 without a result.

    \b
    JSON: as "result" in `arena event verify`
    """
    with place.open() as source:
        found = source.event(name)
    if found["event"].state != "finished":
        raise click.ClickException(f"the event {name} is {found['event'].state} and has no result")
    if as_json:
        print_json(found["result"])
    else:
        _print_result(name, found["result"])
    sys.exit(0 if found["result"]["decided"] else UNDECIDED)


@command.command(epilog="Example: arena event export friday friday.bundle")
@click.argument("name")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False))
@takes_source
@json_option
def export(name: str, file: Path, place: DataPlace, as_json: bool) -> None:
    """Write a finished event to a file that `arena event verify` computes again without the server.

    \b
    JSON: {"name", "file"}
    """
    part = file.with_name(f"{file.name}.part")
    try:
        with place.open() as source, part.open("wb") as opened:
            opened.writelines(source.event_bundle(name))
        part.replace(file)
    except OSError as error:
        raise click.ClickException(f"{file}: {error}") from error
    finally:
        part.unlink(missing_ok=True)
    words = f"{file} has the event {name}: anybody can check it with `arena event verify {file}`."
    answer({"name": name, "file": str(file)}, words, as_json)


@command.command(epilog="Example: arena event verify evening.event")
@click.argument("file", type=click.Path(path_type=Path, dir_okay=False, exists=True))
@json_option
def verify(file: Path, as_json: bool) -> None:
    """Compute an event again from its file, as `arena match --event --out FILE` or `arena event export` writes it.

    All lots, games, scores, looks and the decision are computed again, without bots or server. In a file of `export`
    the log's proofs are checked, too. Exit status: 0 if the file agrees to the last bit, 1 if it differs; the message
    names the first difference.

    \b
    JSON: {"event": {"format", "event", "budget", "game", "options", "seats",
    "seed", "entrants", "bots", "versions"}, "result":
    {"decided", "winner", "matches", "standings": [{"place", "bot", "still_in",
    "matches", "strength", "deviation", "best"}], "looks"}}
    In a file of `export`, "event" is only the name, and "log" names the log.
    """
    from arena.local.match.event import verified

    try:
        if is_bundle(file):
            name, log, found = verify_bundle(file)
            if as_json:
                print_json({"event": name, "log": log, "result": found})
            else:
                click.echo(f"Proofs, lots, games, scores and decision of {found['matches']} matches agree.")
                click.echo(f"They are those of the log {log}; `arena log head` names the server's.")
                click.echo(_verdict(found))
            return
        event = verified(file)
    except (LocalMatchError, BundleDiffersError, OSError) as error:
        raise click.ClickException(f"{file}: {error}") from error
    if as_json:
        _print_json(event)
        return
    click.echo(f"Lots, games, scores and decision of {len(event.race.tables)} matches agree.")
    click.echo(_verdict(event.document()))


def _scores(earlier: Mapping[str, Any]) -> str:
    """Describe how scores are computed. Return an empty text if scores are plain points."""
    if not earlier["matches"]:
        return ""
    means = ", ".join(f"{total / earlier['matches']:.2f}" for total in earlier["points"])
    text = f"Scores: points minus {means} by seat, from {earlier['matches']} earlier matches"
    if earlier["house"]:
        factors = f"β {earlier['share'] / 1e6:.3f}, δ {earlier['table'] / 1e6:.3f}"
        text += f"; {factors}, from {earlier['replayed']} with baselines of {earlier['house']}"
    return text


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
    from arena.local.match.event import LocalEvent, event_subject
    from arena.local.match.runner import default_concurrency
    from arena.local.server.command_bot import CommandPlace

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
        exit_interrupted(subject, out)
    if as_json:
        _print_json(event)
    else:
        played = event.subject
        _print_result(f"{played.event} · {played.game} for {played.seats} · seed {played.seed}", event.document())
    sys.exit(0 if event.race.decided else UNDECIDED)


def _print_json(event: LocalEvent) -> None:
    print_json({"event": {"format": FORMAT, **event.subject.head()}, "result": event.document()})


def _described(row: EventRow) -> str:
    """Describe an event in one line."""
    budget = f"{row.matches} matches" if row.seconds is None else f"{row.seconds / 60:g} min"
    begins = f"{row.start.astimezone():%Y-%m-%d %H:%M}"
    won = f", {row.winner} won" if row.winner else ""
    return f"{row.name}: {row.state}, {begins}, {row.ladder} for {row.seats}, {budget}, {row.entrants} bots{won}"


def _print_result(title: str, found: dict[str, Any], over: bool = True) -> None:
    table = Table(title=Text(title))
    table.add_column("place", justify="right")
    table.add_column("bot", overflow="fold")
    for column in ("matches", "points ± 95 %", "P(best)", "field"):
        table.add_column(column, justify="right")
    for each in found["standings"]:
        points = best = ""
        if each["strength"] is not None:
            points, best = f"{each['strength']:+.2f} ± {CONFIDENCE * each['deviation']:.2f}", f"{each['best']:.2f}"
        still_in = "in" if each["still_in"] else "out"
        table.add_row(str(each["place"]), Text(each["bot"]), str(each["matches"]), points, best, still_in)
    screen().print(table)
    screen().print(_verdict(found, over), markup=False, soft_wrap=True)


def _verdict(found: dict[str, Any], over: bool = True) -> str:
    """Return the winner and how sure it is, or the bots between which the event is undecided."""
    if not found["looks"]:
        return "Nothing is decided: no look was taken." if over else "No look was taken yet."
    look, standings = found["looks"][-1], found["standings"]
    risk = f"with P {look['risk']:.2f} another bot is better by more than {look['margin']:.2g} points"
    first = standings[0]["bot"]
    if found["decided"]:
        return f"{first} wins after {look['matches']} matches: {risk}."
    if not over:
        return f"{first} leads after {look['matches']} matches: {risk}."
    words = " and ".join(f"{each['bot']} (P {each['best']:.2f})" for each in perhaps_best(found))
    return f"Undecided after {look['matches']} matches: the best is perhaps {words}. {first} leads; {risk}."
