"""The timelines of a match as the JSON document of `arena why`, and their events and times in words.

Times of the document are in milliseconds. Instants, such as `at_ms`, count from the beginning of the match.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, TypedDict

from arena.analysis.timeline import Blame, Decision, Event, EventKind, SeatTimeline
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


class PolicyDocument(TypedDict):
    """The limits of time in a match."""

    soft_limit_ms: float
    bank_ms: float
    lag_allowance_ms: float


class SendingDocument(TypedDict):
    """A question handed to the transport."""

    at_ms: float
    round_trip_ms: float
    """Measured round trip of the connection."""


class AnswerDocument(TypedDict):
    """An answer of the seat's bot."""

    at_ms: float
    action: int
    name: str | None
    """The action in words. Null if the game has no such action."""
    refused: Refusal | None
    """The reason for a refusal. Null if the answer was applied."""
    late_ms: float
    """Time between the loss of the decision to time and the answer. 0 if it was not lost."""


class DecisionDocument(TypedDict):
    """One decision of one seat."""

    decision: int
    round: int
    """Number of the round, from 0."""
    due_ms: float
    """Time of the first question to the seat."""
    sent: list[SendingDocument]
    """Times at which the decision was sent to the bot: once, and again after each absence."""
    answers: list[AnswerDocument]
    made_ms: float | None
    """Time at which the decision was made. Null if it was open when the match was broken off."""
    action: int | None
    name: str | None
    forced: Cause | None
    """The reason why the decision was made for the bot. Null if the bot made it."""
    waited_ms: float
    """Time between the due time and the first sending."""
    took_ms: float | None
    """Time from the latest sending to the decision, including the round trip."""
    clock_ms: float
    """The part of `took_ms` on the bot's clock."""
    soft_limit_ms: float
    bank_before_ms: float
    bank_after_ms: float
    blame: Blame | None
    """The party responsible for a forced decision. Null if the bot made it."""


class EventDocument(TypedDict):
    """An event in a seat's timeline other than a decision."""

    at_ms: float
    kind: EventKind
    decision: int | None
    action: int | None
    """The refused answer's action."""
    name: str | None
    refused: Refusal | None
    time_ms: float
    """A duration by kind: a question's wait, an answer's lateness, the time left to return, or the length of a hold."""
    blame: Blame | None
    """The party responsible. Null if the event is no trouble."""
    stand_in: str | None
    """The house bot that takes over, with its version."""


class SeatTimelineDocument(TypedDict):
    """All decisions and events of one seat."""

    seat: int
    bot: str
    house: bool
    lost: Mapping[str, int]
    """Number of decisions that were made for the bot, by cause."""
    troubles: Mapping[str, int]
    """Number of forced decisions and other troubles, by the party responsible."""
    median_ms: float | None
    p95_ms: float | None
    """Thinking times of the bot's own decisions: median and 95th percentile."""
    bank_ms: float | None
    """Time left in the bank after the latest decision."""
    spoilt: bool
    """True if house bots played too much of the seat for the result to change its opponents' ratings."""
    decisions: list[DecisionDocument]
    events: list[EventDocument]


class TimelineDocument(TypedDict):
    """Time spent in a match, and the reasons for lost decisions: the answer of `arena why`."""

    match: int
    game: str
    kind: str
    policy: PolicyDocument
    seats: list[SeatTimelineDocument]


def timeline_document(header: Header, seats: Sequence[SeatTimeline], slowest: int | None = None) -> TimelineDocument:
    """Return timelines as a document.

    `slowest` limits the document to this number of each seat's slowest decisions. None includes all.
    """
    return {
        "match": header.match_id,
        "game": header.game.name,
        "kind": header.kind.value,
        "policy": {
            "soft_limit_ms": header.policy.soft_limit / 1000,
            "bank_ms": header.policy.bank / 1000,
            "lag_allowance_ms": header.policy.lag_allowance / 1000,
        },
        "seats": [_seat(header, seat, slowest) for seat in seats],
    }


def _seat(header: Header, seat: SeatTimeline, slowest: int | None) -> SeatTimelineDocument:
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


def _decision(header: Header, decision: Decision) -> DecisionDocument:
    return {
        "decision": decision.number,
        "round": decision.round,
        "due_ms": decision.due / 1000,
        "sent": [{"at_ms": each.at / 1000, "round_trip_ms": each.lag / 1000} for each in decision.sendings],
        "answers": [
            {
                "at_ms": each.at / 1000,
                "action": each.action,
                "name": _name(header, each.action),
                "refused": each.refused,
                "late_ms": each.late_by / 1000,
            }
            for each in decision.answers
        ],
        "made_ms": _ms(decision.made),
        "action": decision.action,
        "name": _name(header, decision.action),
        "forced": decision.forced,
        "waited_ms": decision.waited / 1000,
        "took_ms": _ms(decision.took),
        "clock_ms": decision.spent / 1000,
        "soft_limit_ms": decision.soft / 1000,
        "bank_before_ms": decision.bank / 1000,
        "bank_after_ms": decision.bank_after / 1000,
        "blame": decision.blame,
    }


def _event(header: Header, event: Event) -> EventDocument:
    return {
        "at_ms": event.at / 1000,
        "kind": event.kind,
        "decision": event.decision,
        "action": event.action,
        "name": _name(header, event.action),
        "refused": event.refused,
        "time_ms": event.time / 1000,
        "blame": event.blame,
        "stand_in": event.stand_in or None,
    }


def _name(header: Header, action: int | None) -> str | None:
    actions = header.game.actions
    return actions[action].name if action is not None and 0 <= action < len(actions) else None


def _ms(microseconds: int | None) -> float | None:
    return None if microseconds is None else microseconds / 1000


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
