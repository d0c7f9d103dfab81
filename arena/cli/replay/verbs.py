"""`arena replay`: list, show, verify and export the replays of finished matches."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path

import click
from click.core import ParameterSource
from rich.text import Text

from arena.analysis.verdict import Proofs, checked, damage_document, prove, unchecked, verdict_document, verified
from arena.cli.data_source import LARGEST_MATCH, DataPlace, chooses_matches, takes_source
from arena.cli.replay.ask import ask
from arena.cli.replay.dataset import dataset
from arena.cli.replay.diff import diff
from arena.cli.replay.source import finished, is_match, read_replay, replay_content
from arena.cli.terminal.screen import json_option, print_json, print_rows, screen
from arena.cli.terminal.tables import matches_table
from arena.replay.read import read
from arena.replay.replay import Replay, ReplayError
from arena.replay.steps import Course
from arena.replay.verify import ReplayDifference, ReplayVerdict


@click.group(epilog="Example: arena replay show 17 --data ./arena-data")
def command() -> None:
    """List, show, verify, export and compare replays, and ask bots again.

    SOURCE is the number of a match, or a replay file; a file whose name is a number is written ./17. A match is looked
    up on the server or in the data directory.
    """


@command.command("list", epilog="Example: arena replay list --bot counter --limit 5")
@chooses_matches
@takes_source
@json_option
def list_replays(
    game: str,
    ladder: str | None,
    season: int | None,
    bot: str,
    limit: int,
    before: int | None,
    place: DataPlace,
    as_json: bool,
) -> None:
    """List the matches with a replay that is not pruned, newest first.

    \b
    JSON: {"matches": [...]}, as `arena matches` has them.
    """
    with place.open() as source:
        rows = finished(source, game, bot, limit, before, ladder, season)
    none = "No such match has a replay: none is finished yet, or all are pruned."
    hint = f"To look at one: arena replay show {rows[0].match_id}{place.typed}" if rows else ""
    print_rows("matches", rows, lambda: matches_table("Replays", rows), as_json, none, hint)


@command.command(epilog="Example: arena replay show 17 --round 2 --trick 3 --seat 0")
@click.argument("source")
@click.option("--round", "round_number", metavar="N", type=int, help="One round, from 1; -1 is the last.")
@click.option(
    "--trick",
    "--part",
    "part",
    metavar="N",
    type=int,
    help="One trick of that round, or one betting round, from 1; -1 is the last.  [default round: the last]",
)
@click.option(
    "--text", "as_text", is_flag=True, help="A round in words, as a bot reads it.  [default round: the last finished]"
)
@click.option("--seat", metavar="S", type=click.IntRange(0), help="The view of this seat, from 0.")
@click.option("--all-hands", is_flag=True, help="Show every hand; the default without --seat.")
@click.option("--no-step", is_flag=True, help="Print the whole match instead of stepping through it in a terminal.")
@takes_source
def show(
    source: str,
    round_number: int | None,
    part: int | None,
    as_text: bool,
    seat: int | None,
    all_hands: bool,
    no_step: bool,
    place: DataPlace,
) -> None:
    """Show a match: the whole of it, one round, or one part of a round such as a trick.

    In a terminal, keys step through a whole match; the screen lists them. In a pipe, and with --no-step, the match is
    printed.
    """
    if seat is not None and all_hands:
        raise click.UsageError("--seat hides the other hands, --all-hands shows them: choose one")
    if as_text and (seat is not None or part is not None):
        raise click.UsageError("--text shows a whole round with all cards: leave out --seat and --trick")
    replay = read_replay(source, place)
    from arena.replay.render.show import ShowError, show_match, show_part, show_round, show_round_text

    course, console = Course(replay), screen()
    try:
        if as_text:
            click.echo(show_round_text(course, -1 if round_number is None else round_number))
        elif part is not None:
            console.print(show_part(course, -1 if round_number is None else round_number, part, seat))
        elif round_number is not None:
            console.print(show_round(course, round_number, seat))
        elif not no_step and console.is_terminal and sys.stdin.isatty():
            from arena.cli.replay.stepping import step_through

            step_through(console, course, seat)
        else:
            console.print(show_match(course))
            for number in range(1, course.rounds + 1):
                console.print()
                console.print(show_round(course, number, seat))
    except ShowError as error:
        raise click.ClickException(str(error)) from error


@command.command(epilog="Example: arena replay verify match-17.jsonl.gz --receipts ~/.arena/tokens")
@click.argument("source")
@click.option(
    "--receipts",
    metavar="DIR",
    type=click.Path(path_type=Path, exists=True),
    help="Compare with a bot's receipt, which lies beside its token: a directory, or one file.",
)
@takes_source
@json_option
@click.pass_context
def verify(context: click.Context, source: str, receipts: Path | None, place: DataPlace, as_json: bool) -> None:
    """Check a replay by playing it again from its seed.

    This check only shows that the file is consistent: all of it could be invented. A receipt (--receipts) proves that
    it is the match that was played. So does the log of a server or data directory (--server or --data), which is always
    used for a match number. The log also reports a voided result.

    The exit status is 0 if every line is right and agrees with receipt and log. Otherwise it is 1, and the first
    difference is shown.

    \b
    JSON: {"source", "verified", "match", "lines", "inputs", "scores", "places",
    "ratings_checked", "receipt": {"file", "seat", "log", "number"},
    "log": {"log", "number", "size", "void"},
    "difference": {"line", "expected", "found", "words"}}
    The difference is null if there is none. For a damaged file, only source, verified and
    the difference's line and words are not null. "receipt" and "log" are null if they were
    not used or do not agree. "number" is the number of the leaf, "void" the reason why the
    result is void, or empty.
    """
    content, name = replay_content(source, place)
    try:
        replay = read(content, name)
    except ReplayError as error:
        if not as_json:
            raise click.ClickException(str(error)) from error
        print_json(damage_document(name, error))
        context.exit(1)
    verdict = verified(replay)

    asks_log = is_match(source) or ParameterSource.COMMANDLINE in map(context.get_parameter_source, ("server", "data"))
    proofs = Proofs()
    if verdict.verified:
        with place.open() if asks_log else nullcontext() as opened:
            proofs = prove(replay, receipts, opened)
    if as_json:
        print_json(verdict_document(replay, verdict, proofs))
    else:
        screen().print(drawn_verdict(replay, verdict, proofs), soft_wrap=True)
    context.exit(0 if verdict.verified and not proofs.problem else 1)


@command.command(epilog="Example: arena replay export 17 --output - | zcat | head")
@click.argument("match_id", metavar="MATCH", type=click.IntRange(1, LARGEST_MATCH))
@click.option(
    "--output",
    "-o",
    metavar="FILE",
    type=click.Path(path_type=Path, allow_dash=True, dir_okay=False),
    help="File to write; - is standard output.  [default: match-N.jsonl.gz]",
)
@takes_source
def export(match_id: int, output: Path | None, place: DataPlace) -> None:
    """Write the replay of a match to a file: JSON lines in gzip."""
    with place.open() as source:
        content = source.replay(match_id)
    if output == Path("-"):
        sys.stdout.buffer.write(content)
        return
    file = output or Path(f"match-{match_id}.jsonl.gz")
    try:
        file.write_bytes(content)
    except OSError as error:
        raise click.ClickException(f"{file} cannot be written: {error.strerror or error}") from error
    click.echo(f"{file}: {len(content)} bytes. To check it: arena replay verify {file}")


command.add_command(ask)
command.add_command(dataset)
command.add_command(diff)


def drawn_verdict(replay: Replay, verdict: ReplayVerdict, proofs: Proofs) -> Text:
    """Draw the checks that were made and those that were omitted, or the first line that differs."""
    if verdict.difference is not None:
        return _drawn_difference(verdict.source, verdict.difference)
    if proofs.problem:
        return Text.assemble(("REFUSED", "bold red"), f" {verdict.source}: {proofs.problem}")
    receipt, log = proofs.receipt, proofs.log
    words = "is consistent in itself." if receipt is None and log is None else "is what was played."
    text = Text.assemble(("OK", "bold green"), f" {verdict.source} {words}")
    for line in checked(replay, verdict, proofs):
        text.append_text(Text.assemble("\n  ", ("✔", "green"), f" {line}"))
    for line in unchecked(replay, proofs):
        text.append_text(Text.assemble("\n  ", ("–", "yellow"), f" {line}"))
    return text


def _drawn_difference(source: str, difference: ReplayDifference) -> Text:
    text = Text.assemble(("DIFFERS", "bold red"), f" {source}, line {difference.line}: {difference.text}")
    for what, line in (("expected", difference.expected), ("found", difference.found)):
        if line is not None:
            text.append_text(Text.assemble("\n  ", (f"{what:<9}", "dim"), line))
    return text
