"""The match state machine: it gets timestamped inputs, holds the game and the clocks, and returns effects.

We wanted one piece of code to decide everything about a match, on the server, in a replay and on an author's machine.
So a match never waits, reads no clock, draws no random numbers and never raises because of the contents of an input.
All that it knows of time is the instants of its inputs. Every caller that feeds it the same inputs gets the same
effects: the driver in the server, `arena.replay.verify`, and a server that resumes from its journal.

Timers and answers arrive in any order, and that must not matter. So `receive` first settles everything that is due by
the input's instant, as of the instant when it was due: clocks that ran out, bots that did not return, the hold after a
restart. Then it handles the input. A late answer finds its decision already forced, whether or not the timer fired
first; `TimeUp` itself does nothing. A driver that misses a deadline is therefore slow but never wrong.

Decisions are numbered over the whole match. An answer names its decision and is either applied or refused. After each
change `_advance` asks all seats that must choose. It loops because the choice for a suspended seat is made at once,
which may make the next seats choose.

Two things are ugly. `_expired_at` remembers every forced decision until the end, only to tell a late bot how late it
was. And `_presence` (absences, holds, clocks) mutates the same `Seat` objects as this class: clocks stop for absences,
and absences end with rounds, so we found no clean cut between them.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import assert_never

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
from arena.match.presence import Presence
from arena.match.result import RATING_RULE, Standing, standing
from arena.match.seat import NEVER, NO_DECISION, Seat
from engine.game import OVER, Decks, Game, Option


class Match:
    """One game from its first question to the result or an interruption."""

    def __init__(
        self,
        game: Game,
        seats: int,
        options: Mapping[str, Option],
        decks: Decks,
        policy: Policy,
        newcomers: Collection[int] = (),
        rating_rule: int = RATING_RULE,
    ) -> None:
        """Set up the game before its first question. `newcomers` are the seats of bots without a finished match.

        `rating_rule` is the rule of `arena.match.result` that applies.

        Raises `OptionError` for a number of seats or options that the game does not have.
        """
        self._state = game.new(seats, decks, **options)
        self._actions = len(game.actions)
        self._policy = policy
        self._rating_rule = rating_rule
        self._presence = Presence(seats, policy, newcomers)
        self._seats = self._presence.seats
        self._round = self._state.round
        self._asked: list[int] = []  # decision − 1 → the seat that owed the decision
        self._expired_at: dict[int, Instant] = {}  # decision forced by time → the time at which its limit ended
        self._now = Instant(0)
        self._begun = False
        self._over = False

    @property
    def deadline(self) -> Instant | None:
        """Time at which a `TimeUp` is due. None if nothing will happen without an input."""
        due = self._presence.due
        return None if due == NEVER else Instant(due)

    @property
    def over(self) -> bool:
        """True if the match has ended, with or without a result."""
        return self._over

    @property
    def now(self) -> Instant:
        """Instant of the latest input."""
        return self._now

    def left(self, seat: int) -> tuple[int, int]:
        """Return the microseconds of soft limit and bank that a seat has left at `now`."""
        return self._seats[seat].clock.left(self._now)

    def open_decision(self, seat: int) -> int | None:
        """Return the number of the decision that a seat owes. Return None if it owes none or there is no such seat."""
        known = self._seat(seat)
        return None if known is None else known.decision or None

    def owes(self, seat: int, decision: int) -> bool:
        """Return True if a seat owes this decision and its own bot should make it."""
        asked = self._seats[seat]
        return asked.decision == decision and not asked.substituted

    def substituted(self, seat: int) -> bool:
        """Return True if a house bot is playing the seat."""
        return self._seats[seat].substituted

    def suspended(self, seat: int) -> bool:
        """Return True if the server plays for a seat at once until its bot is ready again."""
        return self._seats[seat].suspended

    def receive(self, event: Input) -> list[Effect]:
        """Process one input. Return its effects in the order in which they happen.

        A time before `now` counts as `now`. Inputs before the beginning, after the end or about a seat that does not
        exist have no effect, except that answers are refused.
        """
        effects: list[Effect] = []
        at = event.at
        if not self._now <= at < NEVER:
            at = Instant(min(max(at, self._now), NEVER - 1))
        while self._presence.due <= at:
            self._now = Instant(self._presence.due)
            since = len(effects)
            expired = self._presence.settle_due(effects)
            self._ask_stand_ins(effects, since)
            if expired is not None:
                self._time_out(expired, effects)
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
                self._update_presence(event, effects)
            case Begun():
                self._begin(effects)
            case Interrupted():
                self._end((), Standing((), (), ()), event.reason, effects)
            case _:
                assert_never(event)
        return effects

    def _begin(self, effects: list[Effect]) -> None:
        if not (self._begun or self._over):
            self._begun = True
            self._presence.begin(self._now, effects)
            self._advance(effects)

    def _sent(self, event: Sent) -> None:
        seat = self._seat(event.seat)
        if seat is not None and event.decision == seat.decision != NO_DECISION and not (seat.away or seat.substituted):
            seat.sent = True
            self._presence.start(seat, self._now, event.lag)

    def _acted(self, event: Acted, effects: list[Effect]) -> None:
        number, decision, action = event.seat, event.decision, event.action
        if not 0 < decision <= len(self._asked) or self._asked[decision - 1] != number:
            effects.append(Refuse(number, decision, action, Refusal.UNKNOWN, (), 0))
            return
        seat = self._seats[number]
        if seat.decision != decision:
            late = self._now - self._expired_at.get(decision, self._now)
            effects.append(Refuse(number, decision, action, Refusal.STALE, (), late))
        elif seat.substituted:
            effects.append(Refuse(number, decision, action, Refusal.SUBSTITUTED, (), 0))
        elif self._is_legal(action, seat):
            seat.lates_in_a_row = 0
            self._apply(number, action)
            self._advance(effects)
        else:
            self._rejected(event, seat, effects)

    def _rejected(self, event: Acted, seat: Seat, effects: list[Effect]) -> None:
        number, decision, action = event.seat, event.decision, event.action
        policy = self._policy
        seat.rejections += 1
        seat.decision_rejections += 1
        if seat.decision_rejections < policy.rejections_per_decision and seat.rejections < policy.rejections_per_match:
            time = sum(seat.clock.left(self._now))
            effects.append(Refuse(number, decision, action, Refusal.ILLEGAL, seat.legal, time))
        else:
            effects.append(Refuse(number, decision, action, Refusal.ILLEGAL, (), 0))
            self._force(number, Cause.ILLEGALITY, effects)
            self._advance(effects)

    def _stood_in(self, event: StoodIn, effects: list[Effect]) -> None:
        """Apply a house bot's choice for an absent bot. An illegal choice is our fault, and the server replaces it."""
        _, number, decision, action = event
        seat = self._seat(number)
        if seat is not None and seat.substituted and decision == seat.decision != NO_DECISION:
            if self._is_legal(action, seat):
                self._apply(number, action)
            else:
                self._force(number, Cause.ILLEGALITY, effects)
            self._advance(effects)

    def _update_presence(self, event: Left | Returned | Restored, effects: list[Effect]) -> None:
        if isinstance(event, Restored):
            if self._begun and not self._over:
                self._presence.hold(self._now, effects)
            return
        seat = self._seat(event.seat)
        if seat is None or self._over:
            return
        since = len(effects)
        if isinstance(event, Left):
            self._presence.leave(event.seat, self._begun, event.in_order, self._now, effects)
        else:
            self._presence.come_back(event.seat, self._now, effects)
            if seat.decision != NO_DECISION and not seat.substituted:
                effects.append(self._question(event.seat, seat))
        self._ask_stand_ins(effects, since)

    def _ask_stand_ins(self, effects: list[Effect], since: int) -> None:
        """Send the house bots that took over in `effects[since:]` the open decisions of their seats."""
        new = [effect.seat for effect in effects[since:] if isinstance(effect, Substitute)]
        seats = [(number, self._seats[number]) for number in new]
        effects += [self._question(number, seat) for number, seat in seats if seat.decision != NO_DECISION]

    def _time_out(self, number: int, effects: list[Effect]) -> None:
        """Make the decision of a seat whose time has run out, and suspend the seat if it was late too often."""
        seat = self._seats[number]
        self._expired_at[seat.decision] = self._now
        self._force(number, Cause.TIME, effects)
        seat.lates_in_a_row += 1
        if seat.lates_in_a_row >= self._policy.lates_in_a_row:
            seat.suspended = seat.troubled = True
            effects.append(Suspend(number))
        self._advance(effects)

    def _advance(self, effects: list[Effect]) -> None:
        while self._ask(effects):
            pass

    def _ask(self, effects: list[Effect]) -> bool:
        """Send a question to every seat that must choose. Return True, meaning to repeat, after a choice for a
        suspended seat.
        """
        state = self._state
        waiting = state.waiting()
        if not waiting or state.round != self._round:
            self._close_round(effects)
        for number in waiting:
            seat = self._seats[number]
            if seat.decision == NO_DECISION:
                self._asked.append(number)
                seat.decision = len(self._asked)
                if seat.suspended:
                    self._force(number, Cause.SUSPENSION, effects)
                    return True
                seat.decision_rejections = 0
                seat.legal = state.legal(number)
                if seat.clocked:
                    self._presence.start(seat, self._now)
                effects.append(self._question(number, seat))
        return False

    def _close_round(self, effects: list[Effect]) -> None:
        state = self._state
        played, self._round = self._round + 1, state.round
        assert state.report is not None, "a round is over"
        effects.append(Show(state.report))
        if state.player == OVER:
            result = standing(state.ranking(), played, self._seats, self._policy, self._rating_rule)
            self._end(tuple(state.scores), result, "", effects)
        else:
            self._presence.next_round(effects)

    def _seat(self, number: int) -> Seat | None:
        """Return the seat with a number, or None if there is no such seat."""
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
        self._apply(number, action)

    def _apply(self, number: int, action: int) -> None:
        self._presence.stop(self._seats[number], self._now)
        self._state.apply(action, number)

    def _end(self, scores: tuple[int, ...], result: Standing, why: str, effects: list[Effect]) -> None:
        if not self._over:
            self._over = True
            self._presence.end(self._now)
            forced = tuple([seat.forced for seat in self._seats])
            troubled = tuple([seat.troubled for seat in self._seats])
            effects.append(Over(scores, result.places, forced, troubled, result.counts, why, result.spoilt))
