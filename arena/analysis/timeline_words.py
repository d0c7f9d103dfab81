"""Events and times of a timeline in words, for the command line and the pages."""

from __future__ import annotations

from typing import Final

from arena.analysis.timeline import Blame, Event, EventKind
from arena.match.effects import Cause, Refusal
from arena.replay.header import Header

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
    EventKind.SUSPENDED: "suspended: late too often in a row",
    EventKind.READY: "ready again after the suspension",
    EventKind.LEFT: "the connection ended",
    EventKind.RETURNED: "connected, or ready, again",
    EventKind.BACK: "back in its seat",
    EventKind.HELD: "the server was restarted: all clocks stand still",
    EventKind.RELEASED: "all clocks run again",
}
"""Descriptions of events that need no figures."""


def notices(header: Header, event: Event) -> str:
    """Describe an event other than a decision."""
    match event.kind:
        case EventKind.REFUSED:
            assert event.refused is not None, "it was refused"
            late = f", {duration(event.time)} ago" if event.refused is Refusal.STALE and event.time else ""
            return f"answer {_answer(header, event.action)} refused: {WHY_REFUSED[event.refused]}{late}"
        case EventKind.WAITED:
            return f"the question waited {duration(event.time)} to be sent: the bot owed other answers or did not read"
        case EventKind.GONE:
            if event.time:
                return f"gone; {duration(event.time)} to come back"
            return "left in order" if event.blame is Blame.BOT else "gone once too often"
        case EventKind.SUBSTITUTED:
            return f"{event.stand_in} plays on"
        case EventKind.REPLACED:
            return f"{event.stand_in} plays on from here: the server has other house bots now"
        case EventKind.INTERRUPTED:
            return "broken off"
        case kind:
            return PLAIN[kind]


def _answer(header: Header, action: int | None) -> str:
    actions = header.game.actions
    return f'"{actions[action].name}"' if action is not None and 0 <= action < len(actions) else str(action)


def instant(microseconds: int) -> str:
    """Format an instant as minutes and seconds since the match began."""
    minutes, rest = divmod(microseconds, 60_000_000)
    return f"{minutes}:{rest / 1e6:06.3f}"


def duration(microseconds: int | None) -> str:
    """Format a duration with three significant digits; empty for None."""
    if microseconds is None:
        return ""
    if microseconds >= 10_000_000:
        return f"{microseconds / 1e6:.1f} s"
    return f"{microseconds / 1e6:.2f} s" if microseconds >= 1_000_000 else f"{microseconds / 1e3:.1f} ms"
