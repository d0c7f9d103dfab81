"""Rich tables of matches and bots. This module only draws rows."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Final, assert_never

from rich.console import RenderableType
from rich.text import Text

from arena.cli.terminal.fitted_table import FittedTable, TableColumn
from arena.queries.figures import is_house
from arena.replay.header import MatchKind
from arena.store.base.rows import (
    BotEventRow,
    BotRow,
    InvitationRow,
    LadderEntryRow,
    LadderRow,
    MatchRow,
    MatchState,
    SeatRow,
)

ORDINALS: Final = {1: "1st", 2: "2nd", 3: "3rd"}


def matches_table(title: str, rows: Sequence[MatchRow]) -> RenderableType:
    """Draw matches, with seats ordered by place, and with columns for game and ladder if there are several.

    If there is no space for a column per place, list the seats of a match one below the other.
    """
    seated = [[_seat(seat, row.seats) for seat in sorted(row.seats, key=lambda seat: seat.place or 0)] for row in rows]
    before = [TableColumn("Match", [Text(str(row.match_id)) for row in rows], style="bold")]
    if len({row.game for row in rows}) > 1:
        before.append(TableColumn("Game", [Text(row.game) for row in rows], "left"))
    if any(row.ladder for row in rows):
        before.append(TableColumn("Ladder", [Text(_ladder(row)) for row in rows], "left"))
    before += [
        TableColumn("Began", [Text(f"{row.started.astimezone():%d %b %H:%M:%S}") for row in rows], "left"),
        TableColumn("Took", [Text(_took(row)) for row in rows]),
    ]
    if any(row.kind is not MatchKind.RATED for row in rows):
        before.append(TableColumn("Kind", [Text(row.kind.value) for row in rows], "left"))
    state = [TableColumn("State", [_state(row) for row in rows], "left", folds=True)]
    if not any(row.state is not MatchState.FINISHED or row.voided for row in rows):
        state = []
    most = max((len(seats) for seats in seated), default=0)
    places = [
        TableColumn(
            ORDINALS.get(place, f"{place}th"),
            [seats[place - 1] if place <= len(seats) else Text() for seats in seated],
            "left",
            folds=True,
        )
        for place in range(1, 1 + most)
    ]
    stack = [TableColumn("Bots, the first above", [Text("\n").join(seats) for seats in seated], "left", folds=True)]
    left_out_first = ("Took", "Began", "Game", "Ladder")
    stacked = FittedTable(title, [*before, *stack, *state], left_out_first)
    return FittedTable(title, [*before, *places, *state], left_out_first, stacked)


def ladders_table(title: str, rows: Sequence[LadderEntryRow]) -> RenderableType:
    """Draw ladders with the current season's numbers of bots and results, and with settings if a server knows them."""
    seasons = [row.seasons[-1] for row in rows]
    columns = [
        TableColumn("Ladder", [Text(row.name, "bold") for row in rows], "left", folds=True),
        TableColumn("Game", [Text(row.game) for row in rows], "left"),
        TableColumn("Season", [Text(str(season.number)) for season in seasons]),
        TableColumn("Bots", [Text(str(season.bots)) for season in seasons]),
        TableColumn("Results", [Text(str(season.events)) for season in seasons]),
    ]
    if any(row.access is not None for row in rows):
        seats = [", ".join(map(str, row.seats or ())) for row in rows]
        columns += [
            TableColumn("Seats", [Text(text) for text in seats], "left"),
            TableColumn("Clock", [Text(_seconds(row.soft_limit_ms)) for row in rows]),
            TableColumn("Reserve", [Text(_seconds(row.bank_ms)) for row in rows]),
            TableColumn("Entry", [Text("" if row.access is None else row.access.value) for row in rows], "left"),
        ]
    return FittedTable(title, columns, ("Reserve", "Seats", "Results", "Bots", "Season"))


def bots_table(title: str, rows: Sequence[BotRow], now: datetime) -> RenderableType:
    """Draw bots.

    Without a server, omit the columns that only a running server knows. Ages are relative to the time `now`.
    """
    columns = [
        TableColumn("Bot", [bot_name(row.name, row.house) for row in rows], "left", folds=True),
        TableColumn("Owner", [Text(owner_name(row.owner, row.name, row.house)) for row in rows], "left", True, "dim"),
        TableColumn("Matches", [Text(str(row.matches)) for row in rows]),
    ]
    if any(row.connected is not None for row in rows):
        columns.append(TableColumn("Now", [_presence(row) for row in rows], "left"))
        columns.append(TableColumn("Round trip", [Text(_milliseconds(row.round_trip_ms)) for row in rows]))
    if any(row.pace_ms is not None for row in rows):
        columns.append(TableColumn("Pace", [Text(_milliseconds(row.pace_ms)) for row in rows]))
    ages = [Text(f"{_span((now - row.registered).total_seconds())} ago") for row in rows]
    columns.append(TableColumn("Registered", ages, "left"))
    if any(row.declined or row.silent for row in rows):
        columns.append(TableColumn("Declined", [Text(str(row.declined or 0)) for row in rows]))
        columns.append(TableColumn("Silent", [Text(str(row.silent or 0)) for row in rows]))
    if any(row.banned or row.parked for row in rows):
        whys = [Text(row.banned or row.parked, style="red") for row in rows]
        columns.append(TableColumn("Given no seats", whys, "left", folds=True))
    left_out_first = ("Registered", "Round trip", "Owner", "Pace", "Matches", "Silent", "Declined", "Now")
    return FittedTable(title, columns, left_out_first)


def bot_events_table(title: str, rows: Sequence[BotEventRow]) -> RenderableType:
    """Draw the operator's decisions about bots and owners."""
    columns = [
        TableColumn("Event", [Text(str(row.number)) for row in rows], style="bold"),
        TableColumn("When", [Text(f"{row.at.astimezone():%d %b %H:%M:%S}") for row in rows], "left"),
        TableColumn("What", [_bot_event(row) for row in rows], "left", folds=True),
        TableColumn("Reason", [Text(row.reason) for row in rows], "left", folds=True),
    ]
    return FittedTable(title, columns, ("When",))


def invitations_table(title: str, rows: Sequence[InvitationRow], now: datetime) -> RenderableType:
    """Draw invitations. `now` is the time that determines which invitations have expired."""
    columns = [
        TableColumn("No", [Text(str(row.number)) for row in rows], style="bold"),
        TableColumn("Owner", [Text(row.owner) for row in rows], "left", folds=True),
    ]
    if any(row.ladder for row in rows):
        columns.append(TableColumn("Ladder", [Text(row.ladder) for row in rows], "left", folds=True))
    columns.append(TableColumn("State", [_invitation_state(row, now) for row in rows], "left", folds=True))
    if any(row.expires is not None for row in rows):
        ends = ["" if row.expires is None else f"{row.expires.astimezone():%Y-%m-%d %H:%M}" for row in rows]
        columns.append(TableColumn("Expires", [Text(each) for each in ends], "left"))
    return FittedTable(title, columns, ("Expires",))


def bot_name(name: str, house: bool) -> Text:
    """Return a bot's name; a house symbol follows the name of a house bot."""
    return Text(f"{name} ⌂", style="blue") if house else Text(name, style="bold green")


def unlisted(row: SeatRow | LadderRow) -> str:
    """Return the text after the name of a bot that is no longer listed. Empty for any other bot."""
    return " (deleted)" if row.deleted else " (hidden)" if row.hidden else ""


def owner_name(owner: str, bot: str, house: bool) -> str:
    """Return a bot's owner. Empty for house bots and for bots that are their own owner."""
    return "" if house or owner == bot else owner


def _invitation_state(row: InvitationRow, now: datetime) -> Text:
    if row.used_by:
        return Text.assemble("used by ", (row.used_by, "bold green"))
    if row.revoked is not None:
        return Text("revoked", style="red")
    return Text("expired", style="red") if row.expires is not None and row.expires <= now else Text("unused")


def _bot_event(row: BotEventRow) -> Text:
    what = Text.assemble(f"{row.kind.value} ", (row.name, "bold green"))
    return what if row.new_name is None else what.append_text(Text.assemble(" to ", (row.new_name, "bold green")))


def _ladder(row: MatchRow) -> str:
    return f"{row.ladder} {row.season}" if row.season > 1 else row.ladder or row.game


def _took(row: MatchRow) -> str:
    return "" if row.ended is None else _span((row.ended - row.started).total_seconds())


def _seconds(milliseconds: int | None) -> str:
    return "" if milliseconds is None else f"{milliseconds / 1000:g} s"


def _milliseconds(amount: float | None) -> str:
    return "" if amount is None else f"{amount:.1f} ms"


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
    text = Text(seat.bot, style="blue" if is_house(seat.bot) else "green")
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
