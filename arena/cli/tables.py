"""Rich tables of matches and bots, and the style of all tables. They only draw rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, assert_never

from rich import box
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from arena.store.rows import BotEventRow, BotRow, LadderRow, MatchRow, MatchState, SeatRow

FRAME: Final = box.Box("╭──╮\n│  │\n├──┤\n│  │\n├──┤\n├──┤\n│  │\n╰──╯\n")
"""A rounded frame without lines between columns."""
ORDINALS: Final = {1: "1st", 2: "2nd", 3: "3rd"}
HOUSE: Final = "house-"
"""Prefix of house bots' names; no other bot's name begins with it."""


def matches_table(title: str, rows: Sequence[MatchRow]) -> Table:
    """Draw matches, with seats in the order of their places, and a column for the game if there are several."""
    table = framed(title)
    table.add_column("Match", justify="right", style="bold", no_wrap=True)
    several = len({row.game for row in rows}) > 1
    if several:
        table.add_column("Game", no_wrap=True)
    table.add_column("Began", no_wrap=True)
    table.add_column("Took", justify="right", no_wrap=True)
    for place in range(1, 1 + max((len(row.seats) for row in rows), default=0)):
        table.add_column(ORDINALS.get(place, f"{place}th"))
    stated = any(row.state is not MatchState.FINISHED or row.voided for row in rows)
    if stated:
        table.add_column("State")
    for row in rows:
        took = "" if row.ended is None else _span((row.ended - row.started).total_seconds())
        seats = [_seat(seat, row.seats) for seat in sorted(row.seats, key=lambda seat: seat.place or 0)]
        seats += [Text()] * (len(table.columns) - 3 - several - stated - len(seats))
        game = [row.game] if several else []
        state = [_state(row)] if stated else []
        table.add_row(str(row.match_id), *game, f"{row.started.astimezone():%d %b %H:%M:%S}", took, *seats, *state)
    return table


def bots_table(title: str, rows: Sequence[BotRow], now: datetime) -> Table:
    """Draw bots, without the columns that only a running server knows if they are unknown; `now` dates ages."""
    table = framed(title)
    table.add_column("Bot", no_wrap=True)
    table.add_column("Owner", style="dim", no_wrap=True)
    table.add_column("Matches", justify="right")
    live = any(row.connected is not None for row in rows)
    if live:
        table.add_column("Now", no_wrap=True)
        table.add_column("Round trip", justify="right", no_wrap=True)
    if paced := any(row.pace_ms is not None for row in rows):
        table.add_column("Pace", justify="right", no_wrap=True)
    table.add_column("Registered", no_wrap=True)
    if failing := any(row.declined or row.silent for row in rows):
        table.add_column("Declined", justify="right")
        table.add_column("Silent", justify="right")
    if seatless := any(row.banned or row.parked for row in rows):
        table.add_column("Given no seats")
    for row in rows:
        trip = "" if row.round_trip_ms is None else f"{row.round_trip_ms:.1f} ms"
        now_cells: list[RenderableType] = [_presence(row), trip] if live else []
        registered = f"{_span((now - row.registered).total_seconds())} ago"
        table.add_row(
            bot_name(row.name, row.house),
            owner_name(row.owner, row.name, row.house),
            str(row.matches),
            *now_cells,
            *(["" if row.pace_ms is None else f"{row.pace_ms:.1f} ms"] if paced else []),
            registered,
            *([str(row.declined or 0), str(row.silent or 0)] if failing else []),
            *([Text(row.banned or row.parked, style="red")] if seatless else []),
        )
    return table


def bot_events_table(title: str, rows: Sequence[BotEventRow]) -> Table:
    """Draw the operator's decisions about bots and owners."""
    table = framed(title)
    table.add_column("Event", justify="right", style="bold", no_wrap=True)
    table.add_column("When", no_wrap=True)
    table.add_column("What", no_wrap=True)
    table.add_column("Reason")
    for row in rows:
        what = Text.assemble(f"{row.kind.value} ", (row.name, "bold green"))
        if row.new_name is not None:
            what.append_text(Text.assemble(" to ", (row.new_name, "bold green")))
        table.add_row(str(row.number), f"{row.at.astimezone():%d %b %H:%M:%S}", what, Text(row.reason))
    return table


def framed(title: str) -> Table:
    """Return an empty table in the common style."""
    return Table(
        title=title,
        title_style="bold",
        title_justify="left",
        box=FRAME,
        border_style="dim",
        header_style="bold cyan",
        collapse_padding=True,
    )


def bot_name(name: str, house: bool) -> Text:
    """Return a bot's name, with a house symbol after that of a house bot."""
    return Text(f"{name} ⌂", style="blue") if house else Text(name, style="bold green")


def unlisted(row: SeatRow | LadderRow) -> str:
    """Return what follows the name of a bot that is not listed any more; empty for any other."""
    return " (deleted)" if row.deleted else " (hidden)" if row.hidden else ""


def owner_name(owner: str, bot: str, house: bool) -> str:
    """Return a bot's owner; empty for house bots and bots that are their own owner."""
    return "" if house or owner == bot else owner


def _presence(row: BotRow) -> Text:
    if row.house:
        return Text("always here", style="dim")
    if not row.connected:
        return Text("○ away", style="dim")
    if row.parked and not row.playing:
        return Text("● parked", style="red")
    return Text(f"● plays {row.playing}" if row.playing else "● waits", style="green")


def _state(row: MatchRow) -> Text:
    match row.state:
        case MatchState.PLAYING:
            return Text("playing", style="yellow")
        case MatchState.FINISHED:
            return Text(f"void: {row.voided}" if row.voided else "", style="red")
        case MatchState.INTERRUPTED:
            return Text(f"interrupted: {row.reason}", style="red")
    assert_never(row.state)


def _seat(seat: SeatRow, table: Sequence[SeatRow]) -> Text:
    """Draw a bot with its score and rating change; an equals sign marks a shared place."""
    text = Text(seat.bot, style="blue" if seat.bot.startswith(HOUSE) else "green")
    text.append(unlisted(seat), style="dim default")
    if seat.place is None:
        return text
    if sum(other.place == seat.place for other in table) > 1:
        text = Text.assemble(("=", "dim"), text)
    text.append(f" {seat.score}", style="bold default")
    if seat.rating_before is not None and seat.rating_after is not None:
        change = seat.rating_after - seat.rating_before
        text.append(f" {change:+.0f}", style="dim green" if change > 0 else "dim red")
    if seat.forced:
        text.append(f" ⚠ {seat.forced} forced", style="yellow")
    if seat.spoilt:
        text.append(" ⚠ played on", style="yellow")
    return text


def _span(seconds: float) -> str:
    """Format a duration in a suitable unit."""
    for size, unit in ((86400, "d"), (3600, "h"), (60, "min")):
        if seconds >= 2 * size:
            return f"{seconds / size:.0f} {unit}"
    return f"{seconds:.1f} s" if seconds < 10 else f"{seconds:.0f} s"
