"""One match: takes stamped inputs, returns effects, and in between keeps the game and the clocks.

What happens depends on the instants in the inputs alone: before an input counts, everything that was due by then is
settled at the instant it was due, so it makes no difference whether the alarm or the late answer is heard first. Every
answer is applied or refused. It never raises on what an input holds, never waits, reads no clock and draws no chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from arena.match.attendance import Attendance
from arena.match.clock import NEVER
from arena.match.effects import Ask, Cause, Effect, Force, Over, Refusal, Refuse, Show, Substitute, Suspend
from arena.match.inputs import (
    Acted,
    Begun,
    Input,
    Instant,
    Interrupted,
    Left,
    Restored,
    Returned,
    Sent,
    StoodIn,
    TimeUp,
)
from arena.match.policy import Policy
from arena.match.result import settle
from arena.match.seat import NOTHING, Seat
from engine.game import OVER, Decks, Game, Option


class Match:
    """One game between fixed seats."""

    def __init__(self, game: Game, seats: int, options: Mapping[str, Option], decks: Decks, policy: Policy) -> None:
        """Raises `OptionError` for a number of seats or options that the game does not have."""
        self._state = game.new(seats, decks, **options)
        self._actions = len(game.actions)
        self._policy = policy
        self._attendance = Attendance(seats, policy)
        self._seats = self._attendance.seats
        self._round = self._state.round
        self._asked: list[int] = []  # decision − 1 → the seat it was put to
        self._fell: dict[int, Instant] = {}  # decision forced by time → when its clock fell
        self._now = Instant(0)
        self._begun = False
        self._over = False

    @property
    def deadline(self) -> Instant | None:
        """When a `TimeUp` is due; None while only answers are waited for."""
        due = self._attendance.due
        return None if due == NEVER else Instant(due)

    @property
    def over(self) -> bool:
        """Whether the match has ended, with a result or without."""
        return self._over

    @property
    def now(self) -> Instant:
        """The latest instant it has seen."""
        return self._now

    def left(self, seat: int) -> tuple[int, int]:
        """Microseconds that a seat has left of its soft limit and its bank at the latest instant seen."""
        return self._seats[seat].clock.left(self._now)

    def asking(self, seat: int) -> int | None:
        """The decision open before a seat, if any: a question still queued under another number need not be sent."""
        known = self._seat(seat)
        return None if known is None else known.decision or None

    def owes(self, seat: int, decision: int) -> bool:
        """Whether a decision is open before a seat whose own bot is to make it."""
        asked = self._seats[seat]
        return asked.decision == decision and not asked.substituted

    def substituted(self, seat: int) -> bool:
        """Whether a house bot plays the seat on."""
        return self._seats[seat].substituted

    def suspended(self, seat: int) -> bool:
        """Whether the server plays for a seat at once until its bot is ready again."""
        return self._seats[seat].suspended

    def receive(self, event: Input) -> list[Effect]:
        """Takes one input and returns its effects in the order they happened.

        Time never runs backwards: an instant before the latest seen counts as the latest. What comes before the
        beginning, after the end or about a seat that does not exist has no effect, except that an answer is refused.
        """
        effects: list[Effect] = []
        at = event.at
        if not self._now <= at < NEVER:
            at = Instant(min(max(at, self._now), NEVER - 1))
        while self._attendance.due <= at:
            self._now = Instant(self._attendance.due)
            since = len(effects)
            fallen = self._attendance.ring(effects)
            self._put_to_stand_ins(effects, since)
            if fallen is not None:
                self._late(fallen, effects)
        self._now = at
        match event:
            case Acted():
                self._acted(event, effects)
            case Sent():
                self._sent(event)
            case StoodIn():
                self._stood_in(event, effects)
            case TimeUp():
                pass
            case Left() | Returned() | Restored():
                self._attend(event, effects)
            case Begun():
                self._begin(effects)
            case Interrupted():
                self._end((), (), (), event.reason, effects)
            case _:
                assert_never(event)
        return effects

    def _begin(self, effects: list[Effect]) -> None:
        if not (self._begun or self._over):
            self._begun = True
            self._attendance.begin(self._now, effects)
            self._go_on(effects)

    def _sent(self, event: Sent) -> None:
        seat = self._seat(event.seat)
        if seat is not None and event.decision == seat.decision != NOTHING and not (seat.away or seat.substituted):
            seat.sent = True
            self._attendance.start(seat, self._now, event.lag)

    def _acted(self, event: Acted, effects: list[Effect]) -> None:
        number, decision, action = event.seat, event.decision, event.action
        if not 0 < decision <= len(self._asked) or self._asked[decision - 1] != number:
            effects.append(Refuse(number, decision, action, Refusal.UNKNOWN, (), 0))
            return
        seat = self._seats[number]
        if seat.decision != decision:
            late = self._now - self._fell.get(decision, self._now)
            effects.append(Refuse(number, decision, action, Refusal.STALE, (), late))
        elif seat.substituted:
            effects.append(Refuse(number, decision, action, Refusal.SUBSTITUTED, (), 0))
        elif self._is_legal(action, seat):
            seat.lates = 0
            self._make(number, action)
            self._go_on(effects)
        else:
            self._rejected(event, seat, effects)

    def _rejected(self, event: Acted, seat: Seat, effects: list[Effect]) -> None:
        number, decision, action = event.seat, event.decision, event.action
        policy = self._policy
        seat.rejections += 1
        seat.rejections_here += 1
        if seat.rejections_here < policy.rejections_per_decision and seat.rejections < policy.rejections_per_match:
            time = sum(seat.clock.left(self._now))
            effects.append(Refuse(number, decision, action, Refusal.ILLEGAL, seat.legal, time))
        else:
            effects.append(Refuse(number, decision, action, Refusal.ILLEGAL, (), 0))
            self._force(number, Cause.ILLEGALITY, effects)
            self._go_on(effects)

    def _stood_in(self, event: StoodIn, effects: list[Effect]) -> None:
        """A house bot's choice for a bot that is gone; one that is not legal is a fault of ours and made good."""
        _, number, decision, action = event
        seat = self._seat(number)
        if seat is not None and seat.substituted and decision == seat.decision != NOTHING:
            if self._is_legal(action, seat):
                self._make(number, action)
            else:
                self._force(number, Cause.ILLEGALITY, effects)
            self._go_on(effects)

    def _attend(self, event: Left | Returned | Restored, effects: list[Effect]) -> None:
        if isinstance(event, Restored):
            if self._begun and not self._over:
                self._attendance.hold(self._now, effects)
            return
        seat = self._seat(event.seat)
        if seat is None or self._over:
            return
        since = len(effects)
        if isinstance(event, Left):
            self._attendance.leave(event.seat, self._begun, self._now, effects)
        else:
            self._attendance.come_back(event.seat, self._now, effects)
            if seat.decision != NOTHING and not seat.substituted:
                effects.append(self._question(event.seat, seat))
        self._put_to_stand_ins(effects, since)

    def _put_to_stand_ins(self, effects: list[Effect], since: int) -> None:
        """House bots that have just taken over are asked what is open."""
        new = [effect.seat for effect in effects[since:] if isinstance(effect, Substitute)]
        seats = [(number, self._seats[number]) for number in new]
        effects += [self._question(number, seat) for number, seat in seats if seat.decision != NOTHING]

    def _late(self, number: int, effects: list[Effect]) -> None:
        """The clock of a seat has fallen."""
        seat = self._seats[number]
        self._fell[seat.decision] = self._now
        self._force(number, Cause.TIME, effects)
        seat.lates += 1
        if seat.lates >= self._policy.lates_in_a_row:
            seat.suspended = seat.troubled = True
            effects.append(Suspend(number))
        self._go_on(effects)

    def _go_on(self, effects: list[Effect]) -> None:
        while self._ask(effects):
            pass

    def _ask(self, effects: list[Effect]) -> bool:
        """Asks everybody who owes a choice. True when it made one for a suspended seat: that may move the game on."""
        state = self._state
        waiting = state.waiting()
        if not waiting or state.round != self._round:
            self._close_round(effects)
        for number in waiting:
            seat = self._seats[number]
            if seat.decision == NOTHING:
                self._asked.append(number)
                seat.decision = len(self._asked)
                if seat.suspended:
                    self._force(number, Cause.SUSPENSION, effects)
                    return True
                seat.rejections_here = 0
                seat.legal = state.legal(number)
                if seat.clocked:
                    self._attendance.start(seat, self._now)
                effects.append(self._question(number, seat))
        return False

    def _close_round(self, effects: list[Effect]) -> None:
        state = self._state
        played, self._round = self._round + 1, state.round
        assert state.report is not None, "a round is over"
        effects.append(Show(state.report))
        if state.player == OVER:
            places, counts = settle(state.ranking(), played, self._seats, self._policy)
            self._end(tuple(state.scores), places, counts, "", effects)
        else:
            self._attendance.next_round(effects)

    def _seat(self, number: int) -> Seat | None:
        """The seat of a number; None where there is none."""
        return self._seats[number] if 0 <= number < len(self._seats) else None

    def _question(self, number: int, seat: Seat) -> Ask:
        soft, bank = seat.clock.left(self._now)
        return Ask(number, seat.decision, seat.legal, self._state.view(number), soft, bank)

    def _is_legal(self, action: int, seat: Seat) -> bool:
        return 0 <= action < self._actions and action in seat.legal

    def _force(self, number: int, why: Cause, effects: list[Effect]) -> None:
        seat = self._seats[number]
        seat.forced += 1
        action = self._state.fallback(number)
        effects.append(Force(number, seat.decision, action, why))
        self._make(number, action)

    def _make(self, number: int, action: int) -> None:
        self._attendance.stop(self._seats[number], self._now)
        self._state.apply(action, number)

    def _end(
        self,
        scores: tuple[int, ...],
        places: tuple[int, ...],
        counts: tuple[bool, ...],
        why: str,
        effects: list[Effect],
    ) -> None:
        if not self._over:
            self._over = True
            self._attendance.end(self._now)
            forced = tuple([seat.forced for seat in self._seats])
            troubled = tuple([seat.troubled for seat in self._seats])
            effects.append(Over(scores, places, forced, troubled, counts, why))
