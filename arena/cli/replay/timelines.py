"""Drawing of the timelines of `arena.analysis.timeline` as Rich tables and sentences."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

from rich.console import RenderableType
from rich.text import Text

from arena.analysis.timeline import Blame, Decision, Event, EventKind, SeatTimeline
from arena.analysis.timeline_document import LOST, duration, instant, notices
from arena.cli.terminal.fitted_table import FittedTable, TableColumn
from arena.cli.terminal.tables import bot_name
from arena.match.effects import Cause
from arena.replay.header import Header, MatchKind

COLOURS: Final = {Blame.BOT: "red", Blame.NETWORK: "magenta", Blame.EITHER: "yellow", Blame.SERVER: "blue"}


def seats_table(header: Header, seats: Sequence[SeatTimeline]) -> RenderableType:
    """Draw one row for each seat."""

    def counts(name: str, count: Callable[[SeatTimeline], int]) -> TableColumn:
        numbers = [count(seat) for seat in seats]
        return TableColumn(name, [Text(str(each), style="bold red" if each else "dim") for each in numbers])

    def times(name: str, time: Callable[[SeatTimeline], int | None]) -> TableColumn:
        return TableColumn(name, [Text(duration(time(seat))) for seat in seats])

    columns = [
        TableColumn("Seat", [Text(str(seat.seat)) for seat in seats]),
        TableColumn("Bot", [bot_name(seat.bot.name, seat.bot.house) for seat in seats], "left", folds=True),
        TableColumn("Decisions", [Text(str(len(seat.decisions))) for seat in seats]),
        counts("Time", lambda seat: seat.lost[Cause.TIME]),
        counts("Illegal", lambda seat: seat.lost[Cause.ILLEGALITY]),
        counts("Suspended", lambda seat: seat.lost[Cause.SUSPENSION]),
        counts("Absent", lambda seat: seat.lost[Cause.ABSENCE]),
        counts("Refused", lambda seat: seat.count(EventKind.REFUSED)),
        counts("Gone", lambda seat: seat.count(EventKind.GONE)),
        times("Median", lambda seat: seat.took(50)),
        times("95 %", lambda seat: seat.took(95)),
        times("Bank", lambda seat: seat.bank),
        TableColumn("Whose", [_whose(seat) for seat in seats], "left", folds=True),
    ]
    left_out_first = (
        *("Decisions", "95 %", "Gone", "Refused", "Median", "Bank", "Illegal", "Suspended", "Absent", "Time"),
    )
    kind = "" if header.kind is MatchKind.RATED else f" ({header.kind.value})"
    title = f"{header.game.title}, match {header.match_id}{kind}: what was lost, and how"
    return FittedTable(title, columns, left_out_first)


def course_table(header: Header, seat: SeatTimeline, slowest: int | None) -> RenderableType:
    """Draw the timeline of a seat in order, or only its slowest decisions, the slowest first."""
    rows: list[tuple[int, Sequence[Text | str]]] = []
    decisions = seat.decisions if slowest is None else seat.slowest(slowest)
    rows += [(each.due if each.made is None else each.made, _decision(header, each)) for each in decisions]
    if slowest is None:
        rows += [(event.at, _event(header, event)) for event in seat.events]
        rows.sort(key=lambda row: row[0])
    names = ("At", "Decision", "Round", "Waited", "Round trip", "Took", "Clock", "Bank", "What happened", "Whose")
    columns = [
        TableColumn(
            name,
            [cell if isinstance(cell := cells[number], Text) else Text(cell) for _, cells in rows],
            "left" if name in {"What happened", "Whose"} else "right",
            folds=name == "What happened",
        )
        for number, name in enumerate(names)
    ]
    what = "what happened" if slowest is None else f"the {slowest} slowest decisions"
    title = f"{header.game.title}, match {header.match_id}, seat {seat.seat} ({seat.bot.name}): {what}"
    left_out_first = ("Round", "Waited", "Round trip", "At", "Bank", "Clock", "Took")
    return FittedTable(title, columns, left_out_first)


def in_trouble(seats: Sequence[SeatTimeline]) -> SeatTimeline:
    """Return the seat with the most problems. In a tie, prefer the first seat without a house bot."""
    return max(seats, key=lambda seat: (seat.troubles.total(), not seat.bot.house))


def in_words(seat: SeatTimeline) -> Text:
    """Describe the decisions that a seat lost, in a sentence or two."""
    text = Text.assemble(bot_name(seat.bot.name, seat.bot.house), f" (seat {seat.seat}) ")
    if seat.lost:
        causes = ", ".join(f"{count} to {cause.value}" for cause, count in seat.lost.items())
        plural = "" if seat.lost.total() == 1 else "s"
        text.append(f"lost {seat.lost.total()} decision{plural}: {causes}", style="red")
    else:
        text.append("made every decision itself", style="green")
    if (slowest := next(iter(seat.slowest(1)), None)) is not None and slowest.took is not None:
        text.append(f"; slowest at decision {slowest.number} (round {slowest.round + 1}): {duration(slowest.took)}")
        text.append(f"; median {duration(seat.took(50))}, 95 % within {duration(seat.took(95))}")
    if seat.troubles:
        text.append("; whose doing: ")
        text.append_text(_whose(seat))
    if seat.spoilt:
        text.append("; house bots played too much of it: a loss to all others, whose ratings do not move by it")
    return text.append(".")


def _decision(header: Header, decision: Decision) -> Sequence[Text | str]:
    name = "" if decision.action is None else header.game.actions[decision.action].name
    if decision.made is None:
        what = Text("open when the match was broken off", style="yellow")
    elif decision.forced is None:
        what = Text(name)
    else:
        late = f"; the answer was {duration(decision.late_by)} late" if decision.late_by else ""
        what = Text.assemble((LOST[decision.forced], "bold red"), f"{late}: {name}")
    over_soft = decision.spent > decision.soft
    lag = duration(decision.sendings[-1].lag) if decision.sendings else ""
    return (
        instant(decision.due if decision.made is None else decision.made),
        Text(str(decision.number), style="bold"),
        str(decision.round + 1),
        duration(decision.waited) if decision.sendings else "",
        lag,
        duration(decision.took),
        Text(duration(decision.spent), style="bold yellow" if over_soft else ""),
        Text(duration(decision.bank_after), style="bold yellow" if decision.bank_after < decision.bank else "dim"),
        what,
        _owner(decision.blame),
    )


def _event(header: Header, event: Event) -> Sequence[Text | str]:
    number = "" if event.decision is None else str(event.decision)
    words = Text(notices(header, event), style="" if event.blame is None else COLOURS[event.blame])
    return instant(event.at), Text(number, style="dim"), *[""] * 6, words, _owner(event.blame)


def _whose(seat: SeatTimeline) -> Text:
    """Count the problems by the party responsible, the largest count first."""
    parts = [Text(f"{blame.value} {count}", style=COLOURS[blame]) for blame, count in seat.troubles.most_common()]
    return Text(", ").join(parts)


def _owner(blame: Blame | None) -> Text:
    return Text() if blame is None else Text(blame.value, style=COLOURS[blame])
