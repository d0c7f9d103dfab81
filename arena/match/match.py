"""One match: takes stamped inputs, returns effects, and in between keeps the game and the clocks.

What happens depends on the instants in the inputs alone: before an input counts, every clock that fell by then is
settled at the instant it fell, so it makes no difference whether the alarm or the late answer is heard first. Every
answer is applied or refused. It never raises on what an input holds, never waits, reads no clock and draws no chance.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import assert_never

from arena.match.clock import NEVER
from arena.match.effects import Ask, Cause, Effect, Force, Over, Refusal, Refuse, Show, Suspend
from arena.match.inputs import Acted, Begun, Input, Instant, Interrupted, Left, Returned, Sent, TimeUp
from arena.match.policy import Policy
from arena.match.seat import NOTHING, Seat
from engine.game import OVER, Decks, Game, Option


class Match:
    """One game between fixed seats."""

    def __init__(self, game: Game, seats: int, options: Mapping[str, Option], decks: Decks, policy: Policy) -> None:
        """Raises `OptionError` for a number of seats or options that the game does not have."""
        self._state = game.new(seats, decks, **options)
        self._actions = len(game.actions)
        self._policy = policy
        self._seats = {number: Seat(policy) for number in range(seats)}
        self._round = self._state.round
        self._asked: list[int] = []  # decision − 1 → the seat it was put to
        self._fell: dict[int, Instant] = {}  # decision forced by time → when its clock fell
        self._now = Instant(0)
        self._due = NEVER
        self._begun = False
        self._over = False

    @property
    def deadline(self) -> Instant | None:
        """When a `TimeUp` is due; None while no clock runs."""
        return None if self._due == NEVER else self._due

    @property
    def over(self) -> bool:
        """Whether the match has ended, with a result or without."""
        return self._over

    def asking(self, seat: int) -> int | None:
        """The decision open before a seat: a question still queued under another number need not be sent."""
        return self._seats[seat].decision or None

    def receive(self, event: Input) -> list[Effect]:
        """Takes one input and returns its effects in the order they happened.

        Time never runs backwards: an instant before the latest seen counts as the latest. What comes before the
        beginning, after the end or about a seat that does not exist has no effect, except that an answer is refused.
        """
        effects: list[Effect] = []
        at = Instant(min(max(event.at, self._now), NEVER - 1))
        while self._due <= at:
            self._late(effects)
        self._now = at
        match event:
            case Acted():
                self._acted(event, effects)
            case Sent():
                self._sent(event)
            case TimeUp():
                pass
            case Left():
                self._left(event)
            case Returned():
                self._returned(event, effects)
            case Begun():
                self._begin(effects)
            case Interrupted():
                self._end((), (), event.reason, effects)
            case _:
                assert_never(event)
        return effects

    def _begin(self, effects: list[Effect]) -> None:
        if not (self._begun or self._over):
            self._begun = True
            self._go_on(effects)

    def _sent(self, event: Sent) -> None:
        seat = self._seats.get(event.seat)
        if seat is not None and event.decision == seat.decision != NOTHING:
            self._start(seat)

    def _acted(self, event: Acted, effects: list[Effect]) -> None:
        _, number, decision, action = event
        if not 0 < decision <= len(self._asked) or self._asked[decision - 1] != number:
            effects.append(Refuse(number, decision, action, Refusal.UNKNOWN, (), 0))
            return
        seat = self._seats[number]
        if seat.decision != decision:
            late = self._now - self._fell.get(decision, self._now)
            effects.append(Refuse(number, decision, action, Refusal.STALE, (), late))
        elif 0 <= action < self._actions and action in seat.legal:
            seat.lates = 0
            self._make(number, action)
            self._go_on(effects)
        else:
            self._rejected(event, seat, effects)

    def _rejected(self, event: Acted, seat: Seat, effects: list[Effect]) -> None:
        _, number, decision, action = event
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

    def _late(self, effects: list[Effect]) -> None:
        """The earliest clock has fallen; of several at one instant the lowest seat's."""
        number, seat = min(self._seats.items(), key=lambda item: item[1].clock.due)
        self._now = self._fell[seat.decision] = seat.clock.due
        self._force(number, Cause.TIME, effects)
        seat.lates += 1
        if seat.lates >= self._policy.lates_in_a_row:
            seat.suspended = True
            effects.append(Suspend(number))
        self._go_on(effects)

    def _left(self, event: Left) -> None:
        seat = self._seats.get(event.seat)
        if seat is not None:
            seat.away = True
            if seat.decision != NOTHING:
                self._start(seat)

    def _returned(self, event: Returned, effects: list[Effect]) -> None:
        seat = self._seats.get(event.seat)
        if seat is not None:
            seat.away = False
            if seat.suspended:
                seat.suspended = False
                seat.lates = 0
            if seat.decision != NOTHING:
                effects.append(self._question(event.seat, seat))

    def _go_on(self, effects: list[Effect]) -> None:
        while self._ask(effects):
            pass

    def _ask(self, effects: list[Effect]) -> bool:
        """Asks everybody who owes a choice. True when it made one for a suspended seat: that may move the game on."""
        state = self._state
        if state.round != self._round or state.player == OVER:
            self._close_round(effects)
        for number in state.waiting():
            seat = self._seats[number]
            if seat.decision == NOTHING:
                self._asked.append(number)
                seat.decision = len(self._asked)
                if seat.suspended:
                    self._force(number, Cause.SUSPENSION, effects)
                    return True
                seat.rejections_here = 0
                seat.legal = state.legal(number)
                if seat.away:
                    self._start(seat)
                effects.append(self._question(number, seat))
        return False

    def _close_round(self, effects: list[Effect]) -> None:
        state = self._state
        self._round = state.round
        assert state.report is not None, "a round is over"
        effects.append(Show(state.report))
        if state.player == OVER:
            self._end(tuple(state.scores), state.ranking(), "", effects)

    def _question(self, number: int, seat: Seat) -> Ask:
        return Ask(number, seat.decision, seat.legal, self._state.view(number), *seat.clock.left(self._now))

    def _force(self, number: int, why: Cause, effects: list[Effect]) -> None:
        seat = self._seats[number]
        seat.forced += 1
        action = self._state.fallback(number)
        effects.append(Force(number, seat.decision, action, why))
        self._make(number, action)

    def _make(self, number: int, action: int) -> None:
        self._stop(self._seats[number])
        self._state.apply(action, number)

    def _start(self, seat: Seat) -> None:
        seat.clock.start(self._now)
        self._due = min(self._due, seat.clock.due)

    def _stop(self, seat: Seat) -> None:
        seat.decision = NOTHING
        due = seat.clock.due
        seat.clock.stop(self._now)
        if due == self._due:
            self._due = min([each.clock.due for each in self._seats.values()])

    def _end(self, scores: tuple[int, ...], places: tuple[int, ...], why: str, effects: list[Effect]) -> None:
        if not self._over:
            self._over = True
            for seat in self._seats.values():
                self._stop(seat)
            effects.append(Over(scores, places, tuple([seat.forced for seat in self._seats.values()]), why))
