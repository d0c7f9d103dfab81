"""`arena why`: explain lost time, forced moves and lost seats of a match, or review its play."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import click
from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from arena.analysis.game_review import GameReview, SeatReview, document
from arena.analysis.timeline_builder import timelines
from arena.analysis.timeline_document import timeline_document
from arena.cli.data_source import LARGEST_MATCH, DataPlace, takes_source
from arena.cli.replay.source import is_match, read_replay
from arena.cli.replay.timelines import course_table, in_trouble, in_words, seats_table
from arena.cli.terminal.fitted_table import framed
from arena.cli.terminal.screen import json_option, print_json, screen
from arena.cli.terminal.tables import bot_name
from arena.match.inputs import Input
from arena.queries.figures import CONFIDENCE
from arena.replay.header import Header
from arena.replay.read import read_unfinished


@click.command(epilog="Example: arena why 17 --seat 2 --slowest 5")
@click.argument("source")
@click.option("--seat", metavar="N", type=click.IntRange(0), help="List every decision of this seat.")
@click.option("--slowest", metavar="N", type=click.IntRange(1), help="Only the N decisions that cost the most time.")
@click.option("--game", "of_game", is_flag=True, help="Review the play: points, bids and costly choices.")
@takes_source
@json_option
def command(source: str, seat: int | None, slowest: int | None, of_game: bool, place: DataPlace, as_json: bool) -> None:
    """Show why a bot lost time, moves or its seat; with --game, why it lost the game.

    SOURCE is the number of a match, or a replay file. Only the operator can read a match that is being played, with
    --data. Without --seat there is one row for each seat. With it, every decision is listed: the wait before sending,
    the round trip, the bot's time, the part of it on the clock, the bank afterwards, and the reason if the decision was
    made for the bot. Other events of the seat are between them. docs/why.md has the rules of blame.

    With --game, the seats' points stand beside those of the strongest house bot with the same cards. Adding --seat
    shows this round by round, with the three choices that cost most. These are found by playing on from deals that fit
    the seat's view, which takes some seconds. The answer is stored.

    \b
    JSON: {"match", "game", "kind", "policy", "seats": [{"seat", "bot", "house", "lost",
    "troubles", "median_ms", "p95_ms", "bank_ms", "spoilt", "decisions": [...],
    "events": [...]}]}
    Times are in milliseconds; instants such as "at" count from the match's beginning.
    --seat and --slowest select what is listed.
    With --game: {"match", "game", "house", "seats": [{"seat", "bot", "points", "house",
    "rounds": [{"round", "points", "house", "kept"}], "costly": [{"decision", "step",
    "round", "action", "name", "better", "better_name", "cost", "error"}]}]}
    "costly" is null without --seat.
    """
    if of_game:
        _show_game(source, seat, slowest, place, as_json)
        return
    header, inputs = _course(source, place)
    seats = timelines(header, inputs)
    if seat is not None:
        _check_seat(seat, len(seats))
        seats = seats[seat : seat + 1]
    if as_json:
        print_json(timeline_document(header, seats, slowest))
        return
    console = screen()
    if seat is not None or slowest is not None:
        for each in seats:
            console.print(course_table(header, each, slowest))
    else:
        console.print(seats_table(header, seats))
    for each in seats:
        console.print(in_words(each), soft_wrap=True)
    if seat is None and slowest is None:
        number = in_trouble(seats).seat
        console.print(
            f"Decision by decision: arena why {source} --seat {number}{place.typed}", style="dim", soft_wrap=True
        )


def _show_game(source: str, seat: int | None, slowest: int | None, place: DataPlace, as_json: bool) -> None:
    """Show the review of a match. Raises: ClickException."""
    if slowest is not None:
        raise click.UsageError("--slowest is about time; leave it out with --game")
    try:
        review = GameReview(read_replay(source, place))
    except LookupError as error:
        raise click.ClickException(str(error)) from error
    seats = review.seats()
    if seat is not None:
        _check_seat(seat, len(seats))
        with shown_progress(screen(stderr=True), f"Seat {seat}: playing its choices again") as looked:
            seats = [replace(seats[seat], costly=review.costly(seat, looked))]
    if as_json:
        print_json(document(review, seats))
        return
    console = screen()
    if seat is None:
        console.print(seats_beside_house(review, seats))
    else:
        console.print(rounds_table(review, seats[0]))
        for line in costly_in_words(review, seats[0]):
            console.print(line, soft_wrap=True)
    console.print(f"House: {review.house.name} with the same cards in every seat.", style="dim", soft_wrap=True)
    if seat is None:
        worst = min(seats, key=lambda each: (each.is_house, each.points - each.house)).seat
        command = f"arena why {source} --game --seat {worst}{place.typed}"
        console.print(f"Choices that cost most: {command}", style="dim", soft_wrap=True)


def _check_seat(seat: int, seats: int) -> None:
    if seat >= seats:
        raise click.ClickException(f"there is no seat {seat}; there are seats 0 to {seats - 1}")


def _course(source: str, place: DataPlace) -> tuple[Header, Sequence[Input]]:
    """Return the header of a match and its inputs so far. Raises: ClickException."""
    if place.data is not None and is_match(source):
        with place.read_directory() as directory:
            running = directory.running(min(int(source), LARGEST_MATCH))
        if running:
            return read_unfinished(running, f"the journal of match {source}")
    replay = read_replay(source, place)
    return replay.header, replay.inputs


def seats_beside_house(review: GameReview, seats: Sequence[SeatReview]) -> Table:
    """Draw one row for each seat."""
    table = framed(f"{review.header.game.title}, match {review.header.match_id}, beside the house")
    table.add_column("Seat", justify="right", no_wrap=True)
    table.add_column("Bot", overflow="fold")
    for name in ("Points", "House", "More"):
        table.add_column(name, justify="right", no_wrap=True)
    if bids := any(seat.kept for seat in seats):
        table.add_column("Bids kept", justify="right", no_wrap=True)
    for seat in seats:
        points = str(seat.points), str(seat.house), _more(seat.points - seat.house)
        table.add_row(str(seat.seat), bot_name(seat.bot, seat.is_house), *points, *([seat.kept] if bids else []))
    return table


def rounds_table(review: GameReview, seat: SeatReview) -> Table:
    """Draw one row for each round of a seat."""
    table = framed(f"Seat {seat.seat} ({seat.bot}), round by round")
    for name in ("Round", "Points", "House", "More"):
        table.add_column(name, justify="right", no_wrap=True)
    if seat.kept:
        table.add_column("Bid", no_wrap=True)
    for each in seat.rounds:
        points = str(each.points), str(each.house), _more(each.points - each.house)
        bid = [] if each.kept is None else [Text("kept", style="green") if each.kept else Text("missed", style="red")]
        table.add_row(str(each.round + 1), *points, *bid)
    return table


def costly_in_words(review: GameReview, seat: SeatReview) -> Iterator[Text]:
    """Describe the costliest choices of a seat, one line each."""
    actions = review.header.game.actions
    if not seat.costly:
        yield Text("No choice surely cost anything.", style="green")
    for each in seat.costly or ():
        yield Text.assemble(
            f"Round {each.round + 1}, decision {each.decision}: ",
            (actions[each.action].name, "bold"),
            " cost ",
            (f"{each.cost:.1f} ± {CONFIDENCE * each.error:.1f}", "red"),
            " points against ",
            (actions[each.better].name, "bold"),
        )


def _more(points: int) -> Text:
    return Text(f"{points:+d}", style="green" if points > 0 else "red" if points < 0 else "dim")


@contextmanager
def shown_progress(console: Console, what: str) -> Iterator[Any]:
    """Show progress in a terminal. Yield the function that reports it."""
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=1.0)
        yield lambda part: progress.update(task, completed=part)
