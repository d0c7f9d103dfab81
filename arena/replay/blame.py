"""Whose doing a trouble was. The rule, in the order in which it is applied:

1. Whatever befalls a house bot's seat, an interruption and the standstill after a restart are the server's.
2. Answers that were refused, and decisions forced because of them, are the bot's, save those of rule 5.
3. That a bot was gone, and what the house bot played meanwhile: a bot that died and a line that broke look the same
   from here, so it is the bot's or the network's. So is a decision lost to time while the bot was gone, or when nothing
   more was heard of the bot until it was gone: the line may have been dead already.
4. Any other decision lost to time is the bot's: its clock began only when the question was handed to the transport, and
   the measured round trip, up to the allowance, was taken off. Only where that round trip was longer than the allowance
   and the answer came no later than the difference is it the network's; where none came at all, the bot's or the
   network's.
5. A late answer, a suspension and what it cost have the owner of the decision lost to time that they come from.
6. A question that waited longer than a soft limit before it was sent costs nothing, and is the bot's: the server holds
   questions back only from a bot that owes other answers, perhaps of other matches, or does not read.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Final, NamedTuple, assert_never

from arena.match.effects import Cause, Refusal
from arena.match.inputs import Instant
from arena.match.policy import Policy
from arena.replay.timeline import Blame, Decision, Event, Kind, SeatTimeline

EXPLAIN_WAITING: Final = frozenset({Kind.HELD, Kind.LEFT, Kind.GONE, Kind.RETURNED, Kind.BACK})


class Presence(NamedTuple):
    """When a bot was there."""

    heard: Sequence[tuple[Instant, bool]]
    """When an answer came or the bot was gone, in order, and whether it was gone."""
    lost_while_gone: frozenset[int]
    """The decisions lost to time while it was."""


def attributed(seat: SeatTimeline, presence: Presence, policy: Policy) -> SeatTimeline:
    """The same with its owners named, and the questions that waited among its events."""
    decisions = _decisions(seat.decisions, presence, policy)
    events = [_owned(event, decisions) for event in seat.events]
    events += _waits(seat, policy)
    events.sort(key=lambda event: event.at)
    if seat.bot.house:
        decisions = {number: replace(each, blame=each.blame and Blame.SERVER) for number, each in decisions.items()}
        events = [event._replace(blame=event.blame and Blame.SERVER) for event in events]
    return replace(seat, decisions=tuple(decisions.values()), events=tuple(events))


def _decisions(decisions: Sequence[Decision], presence: Presence, policy: Policy) -> dict[int, Decision]:
    owned: dict[int, Decision] = {}
    blame: Blame | None = None
    latest: Blame | None = None  # of the latest decision lost to time
    for decision in decisions:
        match decision.forced:
            case None:
                blame = None
            case Cause.TIME:
                blame = latest = _of_lateness(decision, presence, policy)
            case Cause.SUSPENSION:
                blame = latest
            case Cause.ABSENCE:
                blame = Blame.EITHER
            case Cause.ILLEGALITY:
                by_bot = any(answer.at == decision.made for answer in decision.answers)
                blame = Blame.BOT if by_bot else Blame.SERVER  # a stand-in's choice that was not legal
            case _:
                assert_never(decision.forced)
        owned[decision.number] = replace(decision, blame=blame)
    return owned


def _of_lateness(decision: Decision, presence: Presence, policy: Policy) -> Blame:
    """Rules 3 and 4."""
    made = decision.made or 0
    if decision.number in presence.lost_while_gone:
        return Blame.EITHER
    if next((gone for at, gone in presence.heard if at >= made), False):
        return Blame.EITHER
    excess = (decision.sendings[-1].lag if decision.sendings else 0) - policy.lag_allowance
    if excess <= 0:
        return Blame.BOT
    if decision.late_by is None:
        return Blame.BOT if decision.answers else Blame.EITHER
    return Blame.NETWORK if decision.late_by <= excess else Blame.BOT


def _owned(event: Event, decisions: Mapping[int, Decision]) -> Event:
    match event.kind:
        case Kind.INTERRUPTED | Kind.HELD:
            return event._replace(blame=Blame.SERVER)
        case Kind.GONE | Kind.SUBSTITUTED:
            return event._replace(blame=Blame.EITHER)
        case Kind.REFUSED:
            late = event.refused is Refusal.STALE and event.time > 0 and event.decision is not None
            return event._replace(blame=decisions[event.decision or 0].blame if late else Blame.BOT)
        case Kind.SUSPENDED:
            lost = [each.blame for each in decisions.values() if each.forced is Cause.TIME and _made(each) <= event.at]
            return event._replace(blame=lost[-1])
        case _:
            return event


def _made(decision: Decision) -> int:
    assert decision.made is not None, "it was forced"
    return decision.made


def _waits(seat: SeatTimeline, policy: Policy) -> list[Event]:
    """Questions that waited although their bot was there and no clock stood."""
    explained = [event.at for event in seat.events if event.kind in EXPLAIN_WAITING]
    waits = [(each.sendings[0].at, each) for each in seat.decisions if each.waited > policy.soft_limit]
    return [
        Event(sent, Kind.WAITED, each.number, time=each.waited, blame=Blame.BOT)
        for sent, each in waits
        if not any(each.due <= at <= sent for at in explained)
    ]
