"""`arena why`: explain lost time, forced moves and lost seats of a match, or review its play."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from arena.cli.data_source import LARGEST_MATCH, takes_source
from arena.cli.terminal.screen import json_option, print_json, screen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.cli.data_source import DataPlace
    from arena.match.inputs import Input
    from arena.replay.header import Header


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
    from arena.analysis.timeline_builder import timelines

    header, inputs = _course(source, place)
    seats = timelines(header, inputs)
    if seat is not None:
        _check_seat(seat, len(seats))
        seats = seats[seat : seat + 1]
    if as_json:
        from arena.analysis.timeline_document import timeline_document

        print_json(timeline_document(header, seats, slowest))
        return
    from arena.cli.replay.timelines import course_table, in_trouble, in_words, seats_table

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
    from dataclasses import replace

    from arena.analysis.game_review import GameReview, document
    from arena.cli.replay.game_review import costly_in_words, rounds_table, seats_beside_house, shown_progress
    from arena.cli.replay.source import read_replay

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
        console.print(
            f"Choices that cost most: arena why {source} --game --seat 0{place.typed}", style="dim", soft_wrap=True
        )


def _check_seat(seat: int, seats: int) -> None:
    if seat >= seats:
        raise click.ClickException(f"there is no seat {seat}; there are seats 0 to {seats - 1}")


def _course(source: str, place: DataPlace) -> tuple[Header, Sequence[Input]]:
    """Return the header and the inputs so far of a match. Raises: ClickException."""
    from arena.cli.replay.source import read_replay
    from arena.replay.read import read_unfinished

    if place.data is not None and source.isascii() and source.isdecimal():
        with place.read_directory() as directory:
            running = directory.running(min(int(source), LARGEST_MATCH))
        if running:
            return read_unfinished(running, f"the journal of match {source}")
    replay = read_replay(source, place)
    return replay.header, replay.inputs
