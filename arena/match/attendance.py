"""Who is there and whose clock runs: absences, stand-ins and the standstill after a restart of the server.

It knows nothing of the game: `Match` puts the questions that follow from a `Substitute`. Every method that changes
something is told the instant and appends what the seats are to be told.
"""

from __future__ import annotations

from arena.match.clock import NEVER
from arena.match.effects import Back, Effect, Gone, Hold, Release, Substitute
from arena.match.inputs import Instant
from arena.match.policy import Policy
from arena.match.seat import NOTHING, Seat


class Attendance:
    """The seats of one match."""

    def __init__(self, seats: int, policy: Policy) -> None:
        self.seats = [Seat(policy) for _ in range(seats)]
        """By number."""
        self._policy = policy
        self._held_until: int = NEVER
        self.due: int = NEVER
        """When something happens if nobody does anything: a clock falls, a house bot takes over, clocks run again."""

    @property
    def held(self) -> bool:
        """Whether no clock runs until everybody is back after a restart."""
        return self._held_until != NEVER

    def start(self, seat: Seat, now: Instant, lag: int = 0) -> None:
        """Starts the clock of a seat, unless it runs or all stand still."""
        if self._held_until == NEVER:
            if lag:
                lag = min(max(0, lag), self._policy.lag_allowance)
            clock = seat.clock
            clock.start(now, lag)
            if clock.due < self.due:
                self.due = clock.due

    def stop(self, seat: Seat, now: Instant) -> None:
        """The decision of a seat is made."""
        seat.decision = NOTHING
        seat.sent = False
        clock = seat.clock
        due = clock.due
        clock.stop(now)
        if due == self.due != NEVER:
            self._look()

    def ring(self, effects: list[Effect]) -> int | None:
        """Does what is due at `due`, the lowest seat's of several. Returns the seat whose clock fell, if that is it."""
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
        """The match begins: who is not there has been missed from now on."""
        for number, seat in enumerate(self.seats):
            if seat.away:
                self._miss(number, seat, now, effects)

    def leave(self, number: int, begun: bool, now: Instant, effects: list[Effect]) -> None:
        """The bot of a seat is gone."""
        seat = self.seats[number]
        if not seat.away:
            seat.away = True
            seat.sent = False
            if begun and not (self.held or seat.substituted):
                self._miss(number, seat, now, effects)

    def come_back(self, number: int, now: Instant, effects: list[Effect]) -> None:
        """The bot of a seat is there, or ready again. Where a house bot plays it waits for the next round."""
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
            seat.lates = 0
        self._look()
        if self.held and not any(each.away and not each.substituted for each in self.seats):
            self._release(now, effects)

    def next_round(self, effects: list[Effect]) -> None:
        """Bots that are there have their seats back."""
        for number, seat in enumerate(self.seats):
            if seat.substituted and seat.away:
                seat.substituted_rounds += 1
            elif seat.substituted:
                seat.substituted = False
                effects.append(Back(number))

    def hold(self, now: Instant, effects: list[Effect]) -> None:
        """The server was gone, which costs nobody anything: all clocks stand still until everybody has come back."""
        for seat in self.seats:
            seat.away = True
            seat.away_until = NEVER
            seat.sent = False
            seat.clock.pause(now)
        self._held_until = now + self._policy.restart_hold
        self._look()
        effects.append(Hold(self._policy.restart_hold))

    def end(self, now: Instant) -> None:
        """The match is over: nothing is due any more."""
        self._held_until = NEVER
        for seat in self.seats:
            seat.away_until = NEVER
            self.stop(seat, now)
        self._look()

    def _release(self, now: Instant, effects: list[Effect]) -> None:
        """Clocks run again; who has not come back is missed from now on."""
        self._held_until = NEVER
        effects.append(Release())
        for number, seat in enumerate(self.seats):
            if seat.sent:
                self.start(seat, now)
            elif seat.away and not seat.substituted:
                self._miss(number, seat, now, effects)
        self._look()

    def _miss(self, number: int, seat: Seat, now: Instant, effects: list[Effect]) -> None:
        """A bot is gone while clocks run. The first time its own stands still."""
        seat.incidents += 1
        time = self._policy.grace if seat.incidents <= self._policy.incidents else 0
        effects.append(Gone(number, time))
        if time == 0:
            self._substitute(number, seat, now, effects)
            return
        seat.away_until = now + time
        if not seat.clocked:
            seat.clock.pause(now)
        elif seat.decision != NOTHING:
            seat.clock.start(now)
        self._look()

    def _substitute(self, number: int, seat: Seat, now: Instant, effects: list[Effect]) -> None:
        seat.substituted = seat.troubled = True
        seat.substituted_rounds += 1
        seat.suspended = False
        seat.away_until = NEVER
        seat.clock.pause(now)
        self._look()
        effects.append(Substitute(number))

    def _look(self) -> None:
        """Finds what is due next."""
        due = self._held_until
        for seat in self.seats:
            clock_due = seat.clock.due
            if clock_due < due:
                due = clock_due
            if seat.away_until < due:
                due = seat.away_until
        self.due = due
