"""`arena why`: explain lost time, forced moves and lost seats of a match, or review its play."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from arena.cli.data_source import LARGEST_MATCH, takes_source
from arena.cli.terminal.screen import json_option, print_json, screen

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.analysis.timeline import Decision, Event, SeatTimeline
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
    "rounds": [{"round", "points", "house", "kept"}], "costly": [{"decision", "round",
    "action", "name", "better", "better_name", "cost", "error"}]}]}
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
        print_json(_document(header, seats, slowest))
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


def _document(header: Header, seats: tuple[SeatTimeline, ...], slowest: int | None) -> dict[str, object]:
    return {
        "match": header.match_id,
        "game": header.game.name,
        "kind": header.kind.value,
        "policy": {
            "soft_limit_ms": _ms(header.policy.soft_limit),
            "bank_ms": _ms(header.policy.bank),
            "lag_allowance_ms": _ms(header.policy.lag_allowance),
        },
        "seats": [_seat(header, seat, slowest) for seat in seats],
    }


def _seat(header: Header, seat: SeatTimeline, slowest: int | None) -> dict[str, Any]:
    decisions = seat.decisions if slowest is None else seat.slowest(slowest)
    return {
        "seat": seat.seat,
        "bot": seat.bot.name,
        "house": seat.bot.house,
        "lost": {cause.value: count for cause, count in seat.lost.items()},
        "troubles": {blame.value: count for blame, count in seat.troubles.items()},
        "median_ms": _ms(seat.took(50)),
        "p95_ms": _ms(seat.took(95)),
        "bank_ms": _ms(seat.bank),
        "spoilt": seat.spoilt,
        "decisions": [_decision(header, decision) for decision in decisions],
        "events": [_event(header, event) for event in seat.events],
    }


def _decision(header: Header, decision: Decision) -> dict[str, Any]:
    return {
        "decision": decision.number,
        "round": decision.round,
        "due_ms": _ms(decision.due),
        "sent": [{"at_ms": _ms(each.at), "round_trip_ms": _ms(each.lag)} for each in decision.sendings],
        "answers": [
            {
                "at_ms": _ms(each.at),
                "action": each.action,
                "name": _name(header, each.action),
                "refused": each.refused,
                "late_ms": _ms(each.late_by),
            }
            for each in decision.answers
        ],
        "made_ms": _ms(decision.made),
        "action": decision.action,
        "name": _name(header, decision.action),
        "forced": decision.forced,
        "waited_ms": _ms(decision.waited),
        "took_ms": _ms(decision.took),
        "clock_ms": _ms(decision.spent),
        "soft_limit_ms": _ms(decision.soft),
        "bank_before_ms": _ms(decision.bank),
        "bank_after_ms": _ms(decision.bank_after),
        "blame": decision.blame,
    }


def _event(header: Header, event: Event) -> dict[str, Any]:
    return {
        "at_ms": _ms(event.at),
        "kind": event.kind,
        "decision": event.decision,
        "action": event.action,
        "name": _name(header, event.action),
        "refused": event.refused,
        "time_ms": _ms(event.time),
        "blame": event.blame,
        "stand_in": event.stand_in or None,
    }


def _name(header: Header, action: int | None) -> str | None:
    actions = header.game.actions
    return actions[action].name if action is not None and 0 <= action < len(actions) else None


def _ms(microseconds: int | None) -> float | None:
    return None if microseconds is None else microseconds / 1000
