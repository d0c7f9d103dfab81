"""The visible state of a round of Nullern at one step, for one seat or with all hands open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from operator import add

from arena.match.effects import Cause
from arena.replay.render.picture import PLAYS, Marks, Picture, emptied, views
from arena.replay.steps import Course
from engine.game import RoundReport, SeatView, State
from engine.nullern import NullernRound, NullernView
from engine.nullern.score import HUPFER_COST


@dataclass(frozen=True, slots=True)
class NullernPicture(Picture):
    """A round of Nullern; sequences have one entry per seat or trick. `scores` do not include the cost of Hupfers."""

    last: bool
    """True in the last round, which is blind and after which Hupfers are paid for."""
    bids: tuple[int | None, ...]
    """Bids by seat; None for a seat that has not bid yet."""
    hupfers: bytes
    """Hupfers by seat: including those of this round once it is over."""
    missed: bytes | None
    """By seat, 1 if this round brought a Hupfer, otherwise 0; None until the round is over."""

    @property
    def bidding_order(self) -> list[int]:
        """Seats in the order of bidding (N3)."""
        return [(self.dealer + 1 + place) % self.seats for place in range(self.seats)]

    @property
    def over(self) -> bool:
        """True if the game is over."""
        return self.last and self.points is not None

    @property
    def net(self) -> tuple[int, ...]:
        """Scores minus the cost of the Hupfers so far: the result, once the game is over (N7)."""
        return tuple(score - HUPFER_COST * count for score, count in zip(self.scores, self.hupfers, strict=True))


@dataclass(frozen=True, slots=True)
class NullernMarks(Marks):
    """The reasons for choices that the server made in a round; None for a bot's own choice."""

    bids: Mapping[int, Cause | None]
    """Causes of bids, by seat."""


def picture(course: Course, index: int, seat: int | None) -> NullernPicture:
    """Return the round at a step. After a choice that ended a round, return this round and not the next."""
    report = course.steps[index].ended
    if report is None:
        return _pictured(course.steps[index].state, seat)
    assert isinstance(report, NullernRound)
    before = _pictured(course.steps[index - 1].state, seat)
    return replace(
        before,
        hands=emptied(before.hands),
        plays=report.plays,
        leaders=report.leaders,
        takers=report.takers,
        taken=report.taken,
        scores=tuple(map(add, before.scores, report.points)),
        points=report.points,
        hupfers=report.hupfers,
        missed=report.missed,
    )


def dealt(course: Course, number: int, seat: int | None) -> NullernPicture:
    """Return a round as dealt, before the first choice."""
    return _pictured(course.steps[course.begins(number)].state, seat)


def marks(course: Course, index: int) -> NullernMarks:
    """Collect the reasons for forced choices in the round up to a step."""
    bids: dict[int, Cause | None] = {}
    plays: list[Cause | None] = []
    actions = course.replay.header.game.actions
    for seat, _, made, forced in course.choices(index):
        if actions[made].kind in PLAYS:
            plays.append(forced)
        else:
            bids[seat] = forced
    return NullernMarks(plays, bids)


def _pictured(state: State[SeatView, RoundReport], seat: int | None) -> NullernPicture:
    return from_views(views(state, seat, NullernView))


def from_views(seen: Sequence[NullernView]) -> NullernPicture:
    """Return the round that these views of one position show."""
    first = seen[0]
    last = first.round == first.rounds - 1
    # In the last round a view has no hand, because nobody may see it, not even its owner (N8).
    hands = {} if last else {view.seat: view.hand for view in seen}
    return NullernPicture(
        dealer=first.dealer,
        turned=first.turned,
        hands=tuple(hands.get(each) for each in range(first.seats)),
        plays=first.plays,
        leaders=first.leaders,
        takers=first.takers,
        taken=first.taken,
        scores=first.scores,
        points=None,
        hand_size=first.hand_size,
        last=last,
        bids=tuple(bid - 1 if bid else None for bid in first.bids),
        hupfers=first.hupfers,
        missed=None,
    )
