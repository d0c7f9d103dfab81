"""Attribution of blame for problems in a match. Each rule names the party to blame first. They apply in this order:

1. The server: any problem of a house bot's seat, an interruption, and the hold after a restart.
2. The bot: refused answers, and decisions forced because of refused answers. Rule 5 applies to late answers.
3. The bot: an absence that it announced by signing off, and a house bot's choices meanwhile. The bot or the network:
any other absence and the choices meanwhile, because a crashed bot and a broken connection look alike; also a decision
that was lost to time during an absence, or after which the bot vanished without a further message.
4. The bot: any other decision lost to time. The bot's clock starts when the transport gets the question, plus the round
trip up to the allowance. There are two exceptions. The network: the answer was late by no more than the round trip's
excess over the allowance. The bot or the network: there was such an excess, and no answer.
5. The party to blame for the decision lost to time: a late answer to it, and a suspension that it caused with its cost.
6. The bot: a question that was sent more than a soft limit after it was due (this costs nothing). The server holds
questions back only from a bot that owes other answers, perhaps in other matches, or does not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from enum import Enum, auto
from typing import Final, NamedTuple, assert_never

from arena.analysis.timeline import Blame, Decision, Event, EventKind, SeatTimeline
from arena.match.effects import Cause, Refusal
from arena.match.inputs import Instant
from arena.match.policy import Policy

EXPLAIN_WAITING: Final = frozenset({EventKind.HELD, EventKind.LEFT, EventKind.GONE, EventKind.RETURNED, EventKind.BACK})


class Sign(Enum):
    """A sign of life from a bot, or a sign of its absence."""

    ANSWER = auto()
    LEAVE = auto()
    """The bot signed off."""
    GONE = auto()
    """The bot vanished."""


class PresenceRecord(NamedTuple):
    """A bot's signs of life in a match."""

    signs: Sequence[tuple[Instant, Sign]]
    """The signs in order, each with its instant."""
    lost_while_gone: frozenset[int]
    """Numbers of the decisions lost to time during the bot's absences."""


def with_blame(seat: SeatTimeline, presence: PresenceRecord, policy: Policy) -> SeatTimeline:
    """Attribute blame for all problems of a timeline, and add events for questions that were sent too late."""
    decisions = _decisions(seat.decisions, presence, policy)
    events = [_with_blame(event, decisions, presence) for event in seat.events]
    events += _waiting_events(seat, policy)
    events.sort(key=lambda event: event.at)
    if seat.bot.house:
        decisions = {number: replace(each, blame=each.blame and Blame.SERVER) for number, each in decisions.items()}
        events = [event._replace(blame=event.blame and Blame.SERVER) for event in events]
    return replace(seat, decisions=tuple(decisions.values()), events=tuple(events))


def _decisions(decisions: Sequence[Decision], presence: PresenceRecord, policy: Policy) -> dict[int, Decision]:
    blamed: dict[int, Decision] = {}
    blame: Blame | None = None
    latest: Blame | None = None  # the party responsible for the latest decision lost to time
    for decision in decisions:
        match decision.forced:
            case None:
                blame = None
            case Cause.TIME:
                blame = latest = _blame_for_lateness(decision, presence, policy)
            case Cause.SUSPENSION:
                blame = latest
            case Cause.ABSENCE:
                blame = _blame_for_absence(_made(decision), presence)
            case Cause.ILLEGALITY:
                by_bot = any(answer.at == decision.made for answer in decision.answers)
                blame = Blame.BOT if by_bot else Blame.SERVER  # a stand-in's illegal choice is the server's fault
            case _:
                assert_never(decision.forced)
        blamed[decision.number] = replace(decision, blame=blame)
    return blamed


def _blame_for_lateness(decision: Decision, presence: PresenceRecord, policy: Policy) -> Blame:
    """Apply rules 3 and 4 to a decision lost to time."""
    made = decision.made or 0
    if decision.number in presence.lost_while_gone:
        return Blame.EITHER
    if next((sign for at, sign in presence.signs if at >= made), None) is Sign.GONE:
        return Blame.EITHER
    excess = (decision.sendings[-1].lag if decision.sendings else 0) - policy.lag_allowance
    if excess <= 0:
        return Blame.BOT
    if decision.late_by is None:
        return Blame.BOT if decision.answers else Blame.EITHER
    return Blame.NETWORK if decision.late_by <= excess else Blame.BOT


def _blame_for_absence(at: Instant, presence: PresenceRecord) -> Blame:
    """Apply rule 3 to an event during an absence or at its beginning."""
    departures = [sign for when, sign in presence.signs if when <= at and sign is not Sign.ANSWER]
    return Blame.BOT if departures and departures[-1] is Sign.LEAVE else Blame.EITHER


def _with_blame(event: Event, decisions: Mapping[int, Decision], presence: PresenceRecord) -> Event:
    match event.kind:
        case EventKind.INTERRUPTED | EventKind.HELD:
            return event._replace(blame=Blame.SERVER)
        case EventKind.GONE | EventKind.SUBSTITUTED:
            return event._replace(blame=_blame_for_absence(event.at, presence))
        case EventKind.REFUSED:
            late = event.refused is Refusal.STALE and event.time > 0 and event.decision is not None
            return event._replace(blame=decisions[event.decision or 0].blame if late else Blame.BOT)
        case EventKind.SUSPENDED:
            lost = [each.blame for each in decisions.values() if each.forced is Cause.TIME and _made(each) <= event.at]
            return event._replace(blame=lost[-1])
        case _:
            return event


def _made(decision: Decision) -> Instant:
    assert decision.made is not None, "it was forced"
    return decision.made


def _waiting_events(seat: SeatTimeline, policy: Policy) -> list[Event]:
    """Return an event for each question that waited longer than a soft limit without an absence or hold."""
    explained = [event.at for event in seat.events if event.kind in EXPLAIN_WAITING]
    waits = [(each.sendings[0].at, each) for each in seat.decisions if each.waited > policy.soft_limit]
    return [
        Event(sent, EventKind.WAITED, each.number, time=each.waited, blame=Blame.BOT)
        for sent, each in waits
        if not any(each.due <= at <= sent for at in explained)
    ]
