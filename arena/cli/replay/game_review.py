"""Drawing of the review of a match for `arena why --game`: each seat's result, compared with the house bot's."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from rich.console import Console
from rich.progress import Progress
from rich.table import Table
from rich.text import Text

from arena.analysis.game_review import GameReview, SeatReview
from arena.cli.terminal.fitted_table import framed
from arena.cli.terminal.tables import bot_name
from arena.queries.figures import CONFIDENCE


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
    """Show progress in a terminal; yield the function that reports it."""
    with Progress(console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(what, total=1.0)
        yield lambda part: progress.update(task, completed=part)
