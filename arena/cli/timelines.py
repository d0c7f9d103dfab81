"""The timelines of seats as tables and sentences, in Rich. They show what was found out and find out nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.table import Table
from rich.text import Text

from arena.cli.tables import framed
from arena.match.effects import Cause, Refusal
from arena.replay.header import Header
from arena.replay.timeline import Blame, Decision, Event, Kind, SeatTimeline

COLOURS: Final = {Blame.BOT: "red", Blame.NETWORK: "magenta", Blame.EITHER: "yellow", Blame.SERVER: "blue"}
LOST: Final = {
    Cause.TIME: "time ran out",
    Cause.ILLEGALITY: "too many answers refused",
    Cause.SUSPENSION: "the seat was suspended",
    Cause.ABSENCE: "a house bot played",
}
WHY_REFUSED: Final = {
    Refusal.ILLEGAL: "it is not legal",
    Refusal.STALE: "the decision was made",
    Refusal.SUBSTITUTED: "a house bot plays the seat",
    Refusal.UNKNOWN: "there is no such decision of this seat",
}
PLAIN: Final = {
    Kind.SUSPENDED: "suspended: late too often in a row",
    Kind.READY: "ready again after the suspension",
    Kind.LEFT: "the connection ended",
    Kind.RETURNED: "connected, or ready, again",
    Kind.BACK: "back in its seat",
    Kind.HELD: "the server was restarted: all clocks stand still",
    Kind.RELEASED: "all clocks run again",
}
"""What needs no number in its words."""


def seats_table(header: Header, seats: Sequence[SeatTimeline]) -> Table:
    """A line a seat."""
    table = framed(f"{header.game.title}, match {header.match}: what was lost, and how")
    table.add_column("Seat", justify="right")
    table.add_column("Bot", no_wrap=True)
    for name in ("Decisions", "Time", "Illegal", "Suspended", "Absent", "Refused", "Gone", "Median", "95 %", "Bank"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("Whose")
    for seat in seats:
        lost = seat.lost
        counts = [*(lost[cause] for cause in Cause), seat.count(Kind.REFUSED), seat.count(Kind.GONE)]
        table.add_row(
            str(seat.seat),
            _bot(seat),
            str(len(seat.decisions)),
            *(Text(str(count), style="bold red" if count else "dim") for count in counts),
            *(Text(_duration(time)) for time in (seat.took(50), seat.took(95), seat.bank)),
            _whose(seat),
        )
    return table


def course_table(header: Header, seat: SeatTimeline, slowest: int | None) -> Table:
    """What a seat lived through in order, or its slowest decisions, the slowest first."""
    what = "what happened" if slowest is None else f"the {slowest} slowest decisions"
    table = framed(f"{header.game.title}, match {header.match}, seat {seat.seat} ({seat.bot.name}): {what}")
    for name in ("At", "Decision", "Round", "Waited", "Round trip", "Took", "Clock", "Bank"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("What happened")
    table.add_column("Whose", no_wrap=True)
    rows: list[tuple[int, Sequence[Text | str]]] = []
    decisions = seat.decisions if slowest is None else seat.slowest(slowest)
    rows += [(each.due if each.made is None else each.made, _decision(header, each)) for each in decisions]
    if slowest is None:
        rows += [(event.at, _event(header, event)) for event in seat.events]
        rows.sort(key=lambda row: row[0])
    for _, cells in rows:
        table.add_row(*cells)
    return table


def in_words(seat: SeatTimeline) -> Text:
    """What a seat lost, in a sentence or two."""
    text = Text.assemble(_bot(seat), f" (seat {seat.seat}) ")
    if seat.lost:
        causes = ", ".join(f"{count} to {cause.value}" for cause, count in seat.lost.items())
        plural = "" if seat.lost.total() == 1 else "s"
        text.append(f"lost {seat.lost.total()} decision{plural}: {causes}", style="red")
    else:
        text.append("made every decision itself", style="green")
    if (slowest := next(iter(seat.slowest(1)), None)) is not None and slowest.took is not None:
        text.append(f"; slowest at decision {slowest.number} (round {slowest.round + 1}): {_duration(slowest.took)}")
        text.append(f"; median {_duration(seat.took(50))}, 95 % within {_duration(seat.took(95))}")
    if seat.troubles:
        text.append("; whose doing: ")
        text.append_text(_whose(seat))
    return text.append(".")


def _decision(header: Header, decision: Decision) -> Sequence[Text | str]:
    name = "" if decision.action is None else header.game.actions[decision.action].name
    if decision.made is None:
        what = Text("open when the match was broken off", style="yellow")
    elif decision.forced is None:
        what = Text(name)
    else:
        late = f"; the answer was {_duration(decision.late_by)} late" if decision.late_by else ""
        what = Text.assemble((LOST[decision.forced], "bold red"), f"{late}: {name}")
    over_soft = decision.spent > decision.soft
    lag = _duration(decision.sendings[-1].lag) if decision.sendings else ""
    return (
        _instant(decision.due if decision.made is None else decision.made),
        Text(str(decision.number), style="bold"),
        str(decision.round + 1),
        _duration(decision.waited) if decision.sendings else "",
        lag,
        _duration(decision.took),
        Text(_duration(decision.spent), style="bold yellow" if over_soft else ""),
        Text(_duration(decision.bank_after), style="bold yellow" if decision.bank_after < decision.bank else "dim"),
        what,
        _owner(decision.blame),
    )


def _event(header: Header, event: Event) -> Sequence[Text | str]:
    number = "" if event.decision is None else str(event.decision)
    words = Text(_words(header, event), style="" if event.blame is None else COLOURS[event.blame])
    return _instant(event.at), Text(number, style="dim"), *[""] * 6, words, _owner(event.blame)


def _words(header: Header, event: Event) -> str:
    match event.kind:
        case Kind.REFUSED:
            assert event.refused is not None, "it was refused"
            late = f", {_duration(event.time)} ago" if event.refused is Refusal.STALE and event.time else ""
            return f"answer {_answer(header, event.action)} refused: {WHY_REFUSED[event.refused]}{late}"
        case Kind.WAITED:
            return f"the question waited {_duration(event.time)} to be sent: the bot owed other answers or did not read"
        case Kind.GONE:
            return f"gone; {_duration(event.time)} to come back" if event.time else "gone once too often"
        case Kind.SUBSTITUTED:
            return f"{header.stand_in} plays on"
        case Kind.INTERRUPTED:
            return "broken off"
        case kind:
            return PLAIN[kind]


def _answer(header: Header, action: int | None) -> str:
    actions = header.game.actions
    return f'"{actions[action].name}"' if action is not None and 0 <= action < len(actions) else str(action)


def _bot(seat: SeatTimeline) -> Text:
    return Text(f"{seat.bot.name} ⌂", style="blue") if seat.bot.house else Text(seat.bot.name, style="bold green")


def _whose(seat: SeatTimeline) -> Text:
    """How many troubles each had a hand in, the most first."""
    parts = [Text(f"{blame.value} {count}", style=COLOURS[blame]) for blame, count in seat.troubles.most_common()]
    return Text(", ").join(parts)


def _owner(blame: Blame | None) -> Text:
    return Text() if blame is None else Text(blame.value, style=COLOURS[blame])


def _instant(microseconds: int) -> str:
    """Since the match began."""
    minutes, rest = divmod(microseconds, 60_000_000)
    return f"{minutes}:{rest / 1e6:06.3f}"


def _duration(microseconds: int | None) -> str:
    if microseconds is None:
        return ""
    if microseconds >= 10_000_000:
        return f"{microseconds / 1e6:.1f} s"
    return f"{microseconds / 1e6:.2f} s" if microseconds >= 1_000_000 else f"{microseconds / 1e3:.1f} ms"
