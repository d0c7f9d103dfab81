"""The overview of a match: bots, result and points by round. Only the points by round differ between games."""

from __future__ import annotations

from rich import box
from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from arena.replay.header import Header, MatchKind
from arena.replay.lines import written_instant
from arena.replay.steps import Course


def seat_name(header: Header, seat: int) -> str:
    """Return the label of a seat in a table: its number and its bot."""
    return f"{seat} {header.bots[seat].name}"


def seat_in_words(header: Header, seat: int) -> str:
    """Return the label of a seat in a sentence."""
    return f"{header.bots[seat].name} (seat {seat})"


def plain_table() -> Table:
    """Create an empty table in the common style of all replays."""
    return Table(box=box.SIMPLE_HEAD, padding=(0, 1, 0, 0), pad_edge=False, show_edge=False)


def seats_table(called: str, *more: str) -> Table:
    """Create an empty table for rows by seat: prediction or bid (`called`), tricks won, points, score and `more`."""
    table = plain_table()
    table.add_column("seat and bot", overflow="fold", max_width=28)
    table.add_column(called, no_wrap=True)
    for name in ("took", "points", "score", *more):
        table.add_column(name, justify="right", no_wrap=True)
    return table


def points_by_round(course: Course) -> Table:
    """Draw a row for each round: every seat's points and score."""
    table = points_table(course.replay.header)
    for report in course.reports:
        pairs = zip(report.points, report.scores, strict=True)
        table.add_row(f"{report.round + 1}", *(points_cell(points, score) for points, score in pairs))
    return table


def points_table(header: Header) -> Table:
    """Create an empty table of points with a column for each seat."""
    table = plain_table()
    table.add_column("round", justify="right")
    for seat in range(len(header.bots)):
        table.add_column(seat_name(header, seat), justify="right", no_wrap=True, overflow="ellipsis", max_width=9)
    return table


def points_cell(points: int, score: int, sign: str = "") -> Text:
    """Return a cell with a seat's points, a sign that qualifies them, and the resulting score."""
    colour = "green" if points > 0 else "red" if points < 0 else "dim"
    return Text.assemble((f"{points:+d}", colour), (sign, "red"), f" {score:>4}")


def drawn_match(course: Course, rounds: RenderableType) -> RenderableType:
    """Draw the result, and below it `rounds`, the points by round as the game's renderer has drawn them."""
    parts: list[RenderableType] = [_title(course.replay.header), Text(), _standings(course)]
    if course.replay.result.interrupted:
        parts += [Text(), Text(f"Interrupted: {course.replay.result.interrupted}", style="red")]
    if course.reports:
        parts += [Text(), rounds]
    return Group(*parts)


def _title(header: Header) -> Text:
    given = {spec.name: spec.default for spec in header.game.options}
    options = [
        name if value is True else f"{name} {value}" for name, value in header.options.items() if value != given[name]
    ]
    began = written_instant(header.started)[:16].replace("T", " ")
    kind = [] if header.kind is MatchKind.RATED else [header.kind.value]
    rest = [f"{len(header.bots)} seats", *kind, *options, f"{began} UTC", f"server {header.server}"]
    return Text.assemble((f"{header.game.title}, match {header.match_id}", "bold"), f" · {' · '.join(rest)}")


def _standings(course: Course) -> Table:
    replay = course.replay
    table = plain_table()
    table.add_column("place", justify="right", no_wrap=True)
    table.add_column("seat and bot", overflow="fold", max_width=30)
    for name in ("points", "forced", *(("rating", "change") if replay.ratings is not None else ())):
        table.add_column(name, justify="right", no_wrap=True)
    places = replay.result.places
    for seat in sorted(range(len(replay.header.bots)), key=lambda each: places[each : each + 1]):
        bot = seat_name(replay.header, seat) + (" (house)" if replay.header.bots[seat].house else "")
        cells = [f"{places[seat]}", bot, f"{replay.result.scores[seat]}"] if places else ["–", bot, "–"]
        cells.append(f"{replay.result.forced[seat]}")
        if replay.ratings is not None:
            rating = replay.ratings[seat]
            cells += [f"{rating.after.value:.0f}", f"{rating.after.value - rating.before.value:+.1f}"]
        table.add_row(*cells, style="bold" if places and places[seat] == 1 else "")
    return table
