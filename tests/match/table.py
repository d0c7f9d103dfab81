"""A match of the counting game with short clocks for tests, and short functions for its inputs."""

from __future__ import annotations

from arena.match.effects import Ask, Effect
from arena.match.inputs import Acted, Begun, Instant, Interrupted, Left, Restored, Returned, Sent, StoodIn, TimeUp
from arena.match.match import Match
from arena.match.policy import Policy
from arena.match.result import RATING_RULE
from tests.match.counting import IN_ORDER, CountingGame

POLICY = Policy(soft_limit=100, bank=1000)


class Table:
    """Passes inputs to a match. It records every effect and each seat's open decision."""

    def __init__(
        self,
        seats: int = 2,
        rounds: int = 2,
        policy: Policy = POLICY,
        newcomers: tuple[int, ...] = (),
        rating_rule: int = RATING_RULE,
    ) -> None:
        self.match = Match(CountingGame(), seats, {"rounds": rounds}, IN_ORDER, policy, newcomers, rating_rule)
        self.effects: list[Effect] = []

    def open(self, seat: int) -> int:
        decision = self.match.open_decision(seat)
        assert decision is not None
        return decision

    def begin(self, at: int = 0) -> list[Effect]:
        return self._keep(self.match.receive(Begun(Instant(at))))

    def send(self, at: int, seat: int, decision: int | None = None, lag: int = 0) -> list[Effect]:
        decision = self.open(seat) if decision is None else decision
        return self._keep(self.match.receive(Sent(Instant(at), seat, decision, lag)))

    def act(self, at: int, seat: int, action: int, decision: int | None = None) -> list[Effect]:
        decision = self.open(seat) if decision is None else decision
        return self._keep(self.match.receive(Acted(Instant(at), seat, decision, action)))

    def stand_in(self, at: int, seat: int, action: int, decision: int | None = None) -> list[Effect]:
        decision = self.open(seat) if decision is None else decision
        return self._keep(self.match.receive(StoodIn(Instant(at), seat, decision, action)))

    def time_up(self, at: int) -> list[Effect]:
        return self._keep(self.match.receive(TimeUp(Instant(at))))

    def leave(self, at: int, seat: int, in_order: bool = False) -> list[Effect]:
        return self._keep(self.match.receive(Left(Instant(at), seat, in_order)))

    def desert(self, at: int, seat: int) -> list[Effect]:
        """Make a seat leave for the second time, so that the clock runs."""
        return [*self.leave(at, seat), *self.come_back(at, seat), *self.leave(at, seat)]

    def come_back(self, at: int, seat: int) -> list[Effect]:
        return self._keep(self.match.receive(Returned(Instant(at), seat)))

    def restore(self, at: int) -> list[Effect]:
        return self._keep(self.match.receive(Restored(Instant(at))))

    def interrupt(self, at: int, reason: str) -> list[Effect]:
        return self._keep(self.match.receive(Interrupted(Instant(at), reason)))

    def _keep(self, effects: list[Effect]) -> list[Effect]:
        self.effects += effects
        return effects


def asks(effects: list[Effect]) -> list[tuple[int, int]]:
    """Return the seat and the decision number of every question."""
    return [(effect.seat, effect.decision) for effect in effects if isinstance(effect, Ask)]
