"""The searching house bot: it imagines games that it could be in and has the planning bot play every seat of them.

It predicts as the planning bot does: trying predictions out gained nothing. The worth of a play is that of
`arena.house.search`; what others have predicted face down is left to chance.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from arena.house.content import version
from arena.house.search import NO_CHANCE, Playouts, Unshuffled, ViewChance, best_of, ranked
from arena.house.sixth_sense.planner import PlannerBot
from arena.house.sixth_sense.situation import ACTIONS, trump_of
from engine.game import RoundReport, SeatView, State
from engine.sixth_sense import SIXTH_SENSE, SixthSenseView
from engine.sixth_sense.state import GameConstants, SixthSenseState
from engine.sixth_sense.view import SixthSenseRound

_PLAYS: Final = (0, 0, 6, 3, 2, 2, 2)
"""By number of seats, the plays to look at: at a large table little depends on one, and chance would find more."""
_WORK: Final = 200
"""Choices of the planning bot that a play is worth for every card in hand."""
_MOST_WORLDS: Final = 400
"""Games that are imagined at most."""
_DRAWN: Final = 8
"""Games that are drawn at once."""


@dataclass(frozen=True, slots=True)
class SearchBot:
    """Predicts as the planning bot does, and plays what comes to most in games that it imagines."""

    game: str = "sixth_sense"
    name: str = "house-search"
    version: str = version(__name__, "arena.house.sixth_sense.planner", trump_of.__module__, best_of.__module__)

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """The choice that comes to most; chance has no part in it."""
        assert isinstance(view, SixthSenseView)
        planner = PlannerBot()
        kind = ACTIONS[legal[0]].kind
        if len(legal) == 1 or kind in ("predict", "peek"):
            return planner.decide(view, legal, NO_CHANCE)
        if kind == "double":
            chosen = planner.decide(view, legal, NO_CHANCE)
            actions = [chosen, *(action for action in legal if action != chosen)]
        else:
            actions = ranked(planner.decide, view, legal, _PLAYS[view.seats])
        return best_of(actions, SixthSensePlayouts(view, planner), _WORK * len(view.hand), _MOST_WORLDS)


class SixthSensePlayouts(Playouts):
    """Games of 6th Sense that the rules allow."""

    def __init__(self, view: SixthSenseView, planner: PlannerBot) -> None:
        super().__init__(view.seat, planner.decide)
        self._view = view
        self._chance = ViewChance(view)

    def worlds(self) -> Iterator[State[SeatView, RoundReport]]:
        """See `Playouts`."""
        while True:
            yield from SIXTH_SENSE.sample_many(self._view, self._chance, _DRAWN)

    def copy(self, world: State[SeatView, RoundReport]) -> State[SeatView, RoundReport]:
        """See `Playouts`."""
        assert isinstance(world, SixthSenseState)
        of = world.setting
        setting = GameConstants(of.seats, of.hand_size, of.rounds, of.target, of.novice, of.late_trump, Unshuffled())
        return SixthSenseState(setting, like=world)

    def worth(self, report: RoundReport) -> Sequence[int]:
        """See `Playouts`."""
        assert isinstance(report, SixthSenseRound)
        return report.points
