"""Computation of the timelines of a match's seats by replaying the match's inputs.

Recorded effects are not used. Between inputs the match is advanced to each of its deadlines, so that each event has its
own time and not that of the next input.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import assert_never

from arena.analysis.blame import PresenceRecord, Sign, with_blame
from arena.analysis.timeline import AnswerReceived, Decision, Event, EventKind, SeatTimeline, Sending
from arena.match.effects import (
    Ask,
    Back,
    Cause,
    Effect,
    Force,
    Gone,
    Hold,
    Over,
    Refusal,
    Refuse,
    Release,
    Show,
    Substitute,
    Suspend,
)
from arena.match.inputs import Acted, Input, Instant, Left, Restored, Returned, Sent, StoodIn, TimeUp
from arena.replay.header import Header, SeatedBot


def timelines(header: Header, inputs: Sequence[Input]) -> tuple[SeatTimeline, ...]:
    """Return the timelines of all seats, by seat, from the inputs so far."""
    builder = _TimelineBuilder(header)
    for event in inputs:
        builder.take(event)
    return builder.timelines_by_seat()


@dataclass(slots=True)
class _Notes:
    """Decisions and events of one seat so far."""

    bot: SeatedBot
    decisions: dict[int, Decision] = field(default_factory=dict)
    events: list[Event] = field(default_factory=list)
    gone: bool = False
    suspended: bool = False
    lost_while_gone: set[int] = field(default_factory=set)
    signs: list[tuple[Instant, Sign]] = field(default_factory=list)
    """The signs of life from the seat's bot, in order."""


class _TimelineBuilder:
    def __init__(self, header: Header) -> None:
        self._match = header.new_match()
        self._policy = header.policy
        self._seats = {seat: _Notes(bot) for seat, bot in enumerate(header.bots)}
        self._round = 0
        self._stand_in = header.stand_in
        self._removed: tuple[int, ...] = ()
        """Seats of house bots that a stand-in plays, because the server did not have these bots after its latest
        start.
        """
        self._spoilt: tuple[bool, ...] = ()

    def take(self, event: Input) -> None:
        """Process the next input."""
        match = self._match
        while (due := match.deadline) is not None and due <= event.at:
            self._note(due, match.receive(TimeUp(due)))
        match.receive(TimeUp(event.at))
        if isinstance(event, Acted | StoodIn):
            self._answered(match.now, event)
            return
        if isinstance(event, Sent) and event.seat in self._seats and match.open_decision(event.seat) == event.decision:
            decisions = self._seats[event.seat].decisions
            known = decisions[event.decision]
            sending = Sending(match.now, event.lag)
            decisions[event.decision] = replace(known, sendings=(*known.sendings, sending))
        effects = match.receive(event)
        if isinstance(event, Left | Returned) and not match.over:
            self._presence_changed(match.now, event, effects)
        self._note(match.now, effects)
        if isinstance(event, Restored):
            changed = event.stand_in not in ("", self._stand_in)
            self._stand_in = event.stand_in or self._stand_in
            for seat in self._seats:
                if (changed and match.substituted(seat)) or (
                    seat in event.removed and (changed or seat not in self._removed)
                ):
                    self._add(seat, Event(match.now, EventKind.REPLACED, stand_in=self._stand_in))
            self._removed = event.removed

    def timelines_by_seat(self) -> tuple[SeatTimeline, ...]:
        """Return the timelines with blame attributed."""
        return tuple(
            with_blame(
                SeatTimeline(
                    seat,
                    notes.bot,
                    tuple(notes.decisions.values()),
                    tuple(notes.events),
                    bool(self._spoilt) and self._spoilt[seat],
                ),
                PresenceRecord(notes.signs, frozenset(notes.lost_while_gone)),
                self._policy,
            )
            for seat, notes in self._seats.items()
        )

    def _answered(self, at: Instant, event: Acted | StoodIn) -> None:
        match, notes = self._match, self._seats.get(event.seat)
        was_open = match.open_decision(event.seat) == event.decision
        left = sum(match.left(event.seat)) if notes is not None else 0
        effects = match.receive(event)
        if notes is None:
            return
        refused = next((each for each in effects if isinstance(each, Refuse)), None)
        if isinstance(event, Acted):
            notes.signs.append((at, Sign.ANSWER))
            if (known := notes.decisions.get(event.decision)) is not None:
                late_by = refused.time if refused is not None and refused.why is Refusal.STALE else 0
                answer = AnswerReceived(at, event.action, refused and refused.why, late_by)
                notes.decisions[event.decision] = replace(known, answers=(*known.answers, answer))
        if was_open and match.open_decision(event.seat) != event.decision:
            known = notes.decisions[event.decision]
            made = next((each for each in effects if isinstance(each, Force)), None)
            forced, action = Cause.ABSENCE if isinstance(event, StoodIn) else None, event.action
            if made is not None and made.decision == event.decision:
                forced, action = made.why, made.action
            self._made(at, event.seat, known, action, forced, known.soft + known.bank - left)
        self._note(at, effects)

    def _presence_changed(self, at: Instant, event: Left | Returned, effects: Sequence[Effect]) -> None:
        notes = self._seats.get(event.seat)
        if notes is None:
            return
        announced = {
            type(effect) for effect in effects if isinstance(effect, Gone | Back) and effect.seat == event.seat
        }
        if isinstance(event, Left):
            if not notes.gone:  # after a bot has signed off, the end of its stream is not another event
                notes.signs.append((at, Sign.LEAVE if event.in_order else Sign.GONE))
            if not (announced or notes.gone):
                notes.events.append(Event(at, EventKind.LEFT))
            notes.gone = True
            return
        notes.gone = False
        if notes.suspended:
            notes.suspended = False
            notes.events.append(Event(at, EventKind.READY))
        elif not announced:
            notes.events.append(Event(at, EventKind.RETURNED))

    def _made(self, at: Instant, seat: int, known: Decision, action: int, forced: Cause | None, spent: int) -> None:
        bank = self._match.left(seat)[1]
        made = replace(known, made=at, action=action, forced=forced, spent=spent, bank_after=bank)
        self._seats[seat].decisions[known.number] = made

    def _note(self, at: Instant, effects: Sequence[Effect]) -> None:
        for effect in effects:
            match effect:
                case Ask(seat, decision, _, _, soft, bank):
                    self._seats[seat].decisions.setdefault(decision, Decision(decision, self._round, at, soft, bank))
                case Force(seat, decision, action, why):
                    self._forced(at, seat, decision, action, why)
                case Refuse(seat, decision, action, why, _, time):
                    self._add(seat, Event(at, EventKind.REFUSED, decision, action, why, time))
                case Suspend(seat):
                    self._seats[seat].suspended = True
                    self._add(seat, Event(at, EventKind.SUSPENDED))
                case Gone() | Substitute() | Back() | Hold() | Release():
                    self._note_presence(at, effect)
                case Show():
                    self._round += 1
                case Over(places=places, spoilt=spoilt):
                    self._spoilt = spoilt
                    if not places:
                        self._add(None, Event(at, EventKind.INTERRUPTED))
                case _:
                    assert_never(effect)

    def _note_presence(self, at: Instant, effect: Gone | Substitute | Back | Hold | Release) -> None:
        match effect:
            case Gone(seat, time):
                self._seats[seat].gone = True
                self._add(seat, Event(at, EventKind.GONE, time=time))
            case Substitute(seat):
                self._seats[seat].suspended = False
                self._add(seat, Event(at, EventKind.SUBSTITUTED, stand_in=self._stand_in))
            case Back(seat):
                self._add(seat, Event(at, EventKind.BACK))
            case Hold(time):
                self._add(None, Event(at, EventKind.HELD, time=time))
            case Release():
                self._add(None, Event(at, EventKind.RELEASED))
            case _:
                assert_never(effect)

    def _forced(self, at: Instant, seat: int, number: int, action: int, why: Cause) -> None:
        notes = self._seats[seat]
        known = notes.decisions.get(number)
        if known is None:
            known = Decision(number, self._round, at, 0, self._match.left(seat)[1])
        if known.made is not None:
            return  # a refused answer forced the decision and is already recorded
        if why is Cause.TIME and notes.gone:
            notes.lost_while_gone.add(number)
        self._made(at, seat, known, action, why, known.soft + known.bank if why is Cause.TIME else 0)

    def _add(self, seat: int | None, event: Event) -> None:
        """Add an event to one seat, or to all if `seat` is None."""
        for number, notes in self._seats.items():
            if seat in (None, number):
                notes.events.append(event)
