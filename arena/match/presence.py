"""Presence and clocks of the bots of a match: absences, stand-ins, and the hold after a restart of the server.

It does not depend on the game: `Match` sends the questions that follow from a `Substitute`. Methods that change
something are given the time and append to `effects`.
"""

from __future__ import annotations

from collections.abc import Collection

from arena.match.effects import Back, Effect, Gone, Hold, Release, Substitute
from arena.match.inputs import Instant
from arena.match.policy import Policy
from arena.match.seat import NEVER, NO_DECISION, Seat


class Presence:
    """Presence and clocks of all seats of one match."""

    def __init__(self, seats: int, policy: Policy, newcomers: Collection[int]) -> None:
        self.seats = [Seat(policy, seat in newcomers) for seat in range(seats)]
        """Seats by number."""
        self._policy = policy
        self._held_until: int = NEVER
        self.due: int = NEVER
        """Next time at which something happens without an input: a clock runs out, a house bot takes over, or the hold
        after a restart ends.
        """

    @property
    def held(self) -> bool:
        """True while all clocks are stopped after a restart, until every bot has returned."""
        return self._held_until != NEVER

    def start(self, seat: Seat, now: Instant, lag: int = 0) -> None:
        """Start the clock of a seat, unless it is already running or all clocks are held."""
        if self._held_until == NEVER:
            if lag:
                lag = min(max(0, lag), self._policy.lag_allowance)
            clock = seat.clock
            clock.start(now, lag)
            if clock.due < self.due:
                self.due = clock.due

    def stop(self, seat: Seat, now: Instant) -> None:
        """Stop the clock of a seat whose decision is made."""
        seat.decision = NO_DECISION
        seat.sent = False
        clock = seat.clock
        due = clock.due
        clock.stop(now)
        if due == self.due != NEVER:
            self._update_due()

    def settle_due(self, effects: list[Effect]) -> int | None:
        """Settle one event that is due at `due`, for the lowest seat first. Return the seat if its time ran out."""
        due = Instant(self.due)
        if self._held_until == due:
            self._release(due, effects)
            return None
        for number, seat in enumerate(self.seats):
            if seat.away_until == due:
                self._substitute(number, seat, due, effects)
                return None
        return next(number for number, seat in enumerate(self.seats) if seat.clock.due == due)

    def begin(self, now: Instant, effects: list[Effect]) -> None:
        """Begin the match. Absent bots count as gone from now on."""
        for number, seat in enumerate(self.seats):
            if seat.away:
                self._mark_gone(number, seat, now, effects)

    def leave(self, number: int, begun: bool, in_order: bool, now: Instant, effects: list[Effect]) -> None:
        """Record that the bot of a seat has left. This costs nothing before the match begins or while clocks are held.

        Once the match has begun, a bot that leaves `in_order` gives up its seat at once, even while clocks are held.
        """
        seat = self.seats[number]
        if in_order and begun:
            self._hand_over(number, seat, now, effects)
            return
        if not seat.away:
            seat.away = True
            seat.sent = False
            if begun and not (self.held or seat.substituted):
                self._mark_gone(number, seat, now, effects)

    def come_back(self, number: int, now: Instant, effects: list[Effect]) -> None:
        """Record that the bot of a seat has returned or is ready again. If a house bot is playing, the bot gets its
        seat back in the next round.
        """
        seat = self.seats[number]
        if seat.substituted:
            seat.away = False
            return
        if seat.away_until != NEVER:
            effects.append(Back(number))
        seat.away = False
        seat.away_until = NEVER
        if seat.suspended:
            seat.suspended = False
            seat.lates_in_a_row = 0
        self._update_due()
        self._release_if_complete(now, effects)

    def next_round(self, effects: list[Effect]) -> None:
        """Return seats from house bots to their own bots, if these have returned."""
        for number, seat in enumerate(self.seats):
            if seat.substituted and seat.away:
                seat.substituted_rounds += 1
            elif seat.substituted:
                seat.substituted = False
                effects.append(Back(number))

    def hold(self, now: Instant, effects: list[Effect]) -> None:
        """Stop all clocks after a restart of the server until all bots have returned, so that its outage costs no bot
        anything.
        """
        for seat in self.seats:
            seat.away = True
            seat.away_until = NEVER
            seat.sent = False
            seat.clock.pause(now)
        self._held_until = now + self._policy.restart_hold
        self._update_due()
        effects.append(Hold(self._policy.restart_hold))

    def end(self, now: Instant) -> None:
        """Stop all clocks and deadlines at the end of the match."""
        self._held_until = NEVER
        for seat in self.seats:
            seat.away_until = NEVER
            self.stop(seat, now)
        self._update_due()

    def _release(self, now: Instant, effects: list[Effect]) -> None:
        """End the hold. Clocks run again, and bots that have not returned count as gone from now on."""
        self._held_until = NEVER
        effects.append(Release())
        for number, seat in enumerate(self.seats):
            if seat.sent:
                self.start(seat, now)
            elif seat.away and not seat.substituted:
                self._mark_gone(number, seat, now, effects)
        self._update_due()

    def _mark_gone(self, number: int, seat: Seat, now: Instant, effects: list[Effect]) -> None:
        """Count an absence and set the deadline for the bot's return.

        During a bot's first absence its own clock is stopped.
        """
        seat.incidents += 1
        time = seat.grace if seat.incidents <= self._policy.incidents else 0
        effects.append(Gone(number, time))
        if time == 0:
            self._substitute(number, seat, now, effects)
            return
        seat.away_until = now + time
        if not seat.clocked:
            seat.clock.pause(now)
        elif seat.decision != NO_DECISION:
            seat.clock.start(now)
        self._update_due()

    def _hand_over(self, number: int, seat: Seat, now: Instant, effects: list[Effect]) -> None:
        """Let a house bot continue for a bot that signs off. The seat does not count as troubled."""
        seat.away = True
        seat.sent = False
        if seat.substituted:
            return
        if seat.away_until == NEVER:
            effects.append(Gone(number, 0))
        troubled = seat.troubled
        self._substitute(number, seat, now, effects)
        seat.troubled = troubled
        self._release_if_complete(now, effects)

    def _release_if_complete(self, now: Instant, effects: list[Effect]) -> None:
        """End the hold when every bot has returned."""
        if self.held and not any(each.away and not each.substituted for each in self.seats):
            self._release(now, effects)

    def _substitute(self, number: int, seat: Seat, now: Instant, effects: list[Effect]) -> None:
        seat.substituted = seat.troubled = True
        seat.substituted_rounds += 1
        seat.suspended = False
        seat.away_until = NEVER
        seat.clock.pause(now)
        self._update_due()
        effects.append(Substitute(number))

    def _update_due(self) -> None:
        """Compute `due` from all deadlines."""
        due = self._held_until
        for seat in self.seats:
            clock_due = seat.clock.due
            if clock_due < due:
                due = clock_due
            if seat.away_until < due:
                due = seat.away_until
        self.due = due
