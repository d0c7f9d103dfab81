"""Continuations of a round of 6th Sense: every seat plays for the prediction that it has in the sampled game."""

from collections.abc import Sequence
from typing import cast

from arena_client.samples.playouts import Playouts, in_order, take_or_duck
from engine.game import RoundReport
from engine.sixth_sense import SIXTH_SENSE, SixthSenseView
from engine.sixth_sense.cards import CARDS, COLOURS, KEEP, LOOK_AWAY, SPLIT
from engine.sixth_sense.state import SixthSenseState
from engine.sixth_sense.tricks import COLOUR_OF, NO_TRUMP, PLACE_BLOCKED, RANKING, VALUES


class SixthSensePlayouts(Playouts):
    """The rest of a round of 6th Sense, once all have predicted."""

    spread = 5.0

    def __init__(self, view: SixthSenseView) -> None:
        super().__init__(SIXTH_SENSE, view)
        self.trump = NO_TRUMP if view.turned is None else CARDS[view.turned].colour

    def copy(self, state: SixthSenseState) -> SixthSenseState:
        return SixthSenseState(state.setting._replace(decks=in_order), like=state)  # type: ignore[arg-type]

    def choose(self, state: SixthSenseState, seat: int) -> int:
        """Take the trick if the seat wants it; otherwise duck."""
        legal = state.legal(seat)
        if len(legal) == 1:
            return legal[0]
        if legal[0] == LOOK_AWAY:
            return LOOK_AWAY
        values, taken = CARDS[state.predictions[seat]].values, state.taken[seat]
        wanted = taken < values[0] or values[0] < taken < values[-1]
        if legal[0] == KEEP:
            return SPLIT if wanted else KEEP
        seats = len(state.hands)
        trick = state.plays[len(state.takers) * seats :]
        lying = bytearray(trick)
        for action in trick:
            if PLACE_BLOCKED[action] >= 0:
                lying[PLACE_BLOCKED[action]] = 255
        led = next((COLOUR_OF[action] for action in lying if VALUES[action] != 255), -1)
        if led < 0:  # On an empty table, other colours rank below the trumps.
            ranks = RANKING[self.trump][0][self.trump - 1 if self.trump else len(COLOURS) - 1]
            return take_or_duck(legal, ranks, 0, wanted=wanted, last=False)
        ranks = RANKING[self.trump][bytes(lying).translate(VALUES).count(4) & 1][led]
        ahead = max(bytes(lying).translate(ranks)) - 1
        return take_or_duck(legal, ranks, ahead, wanted=wanted, last=len(trick) == seats - 1)

    def points(self, report: RoundReport) -> Sequence[int]:
        return cast("Sequence[int]", report.points)
