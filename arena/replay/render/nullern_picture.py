"""What is to be seen of a round of Nullern at one step, by one seat or by somebody who sees everything."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from operator import add

from arena.match.effects import Cause
from arena.replay.render.picture import Marks, Picture, emptied, views
from arena.replay.steps import PLAYS, Course
from engine.game import RoundReport, SeatView, State
from engine.nullern import NullernRound, NullernView
from engine.nullern.score import HUPFER_COST


@dataclass(frozen=True, slots=True)
class NullernPicture(Picture):
    """A round; what goes by seat or by trick has one entry each. `scores` are without what Hupfers cost."""

    hand_size: int
    """Cards dealt to each seat."""
    last: bool
    """Whether it is the last round: the blind one, after which Hupfers are paid for."""
    bids: tuple[int | None, ...]
    """None where the seat has not bid yet."""
    hupfers: bytes
    """After the round where it is over, before it where not."""
    missed: bytes | None
    """1 where the round brought a Hupfer, else 0; of the round where it is over."""

    @property
    def bidding_order(self) -> list[int]:
        """The seats in the order in which they bid (N3)."""
        return [(self.dealer + 1 + place) % self.seats for place in range(self.seats)]

    @property
    def over(self) -> bool:
        """Whether this is how the game ended."""
        return self.last and self.points is not None

    @property
    def net(self) -> tuple[int, ...]:
        """The scores less what the Hupfers so far cost; once the game is over that is the result (N7)."""
        return tuple(score - HUPFER_COST * count for score, count in zip(self.scores, self.hupfers, strict=True))


@dataclass(frozen=True, slots=True)
class NullernMarks(Marks):
    """Which choices of a round the server made."""

    bids: Mapping[int, Cause | None]
    """By seat."""


def picture(course: Course, index: int, seat: int | None) -> NullernPicture:
    """The round at a step: after a choice that ended it that round, not the next."""
    report = course.steps[index].ended
    if report is None:
        return _looked_at(course.steps[index].state, seat)
    assert isinstance(report, NullernRound)
    before = _looked_at(course.steps[index - 1].state, seat)
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
    """A round before anything was chosen."""
    return _looked_at(course.steps[course.begins(number)].state, seat)


def marks(course: Course, index: int) -> NullernMarks:
    """The choices of the round up to a step."""
    bids: dict[int, Cause | None] = {}
    plays: list[Cause | None] = []
    actions = course.replay.header.game.actions
    for seat, _, made, forced in course.choices(index):
        if actions[made].kind in PLAYS:
            plays.append(forced)
        else:
            bids[seat] = forced
    return NullernMarks(plays, bids)


def _looked_at(state: State[SeatView, RoundReport], seat: int | None) -> NullernPicture:
    seen = views(state, seat, NullernView)
    first = seen[0]
    last = first.round == first.rounds - 1
    # In the last round a view has no hand, because nobody may see it, its owner included (N8).
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
