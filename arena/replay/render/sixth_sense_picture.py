"""The visible state of a round of 6th Sense at one step, for one seat or with all hands open."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from arena.match.effects import Cause
from arena.replay.render.picture import PLAYS, Marks, Picture, emptied, views
from arena.replay.steps import Course, Made
from engine.game import RoundReport, SeatView, State
from engine.sixth_sense import SixthSenseRound, SixthSenseView
from engine.sixth_sense.cards import ACTIONS, HIDDEN_BLOCKS, PEEK


@dataclass(frozen=True, slots=True)
class SixthSensePicture(Picture):
    """A round of 6th Sense; sequences have one entry per seat or trick."""

    predictions: tuple[int | None, ...]
    """Predicted cards by seat; None if hidden or not chosen yet."""
    worths: bytes
    peeks: bytes


class YesNoAnswer(NamedTuple):
    """A seat's decision to split a trick in two, or to peek at a prediction."""

    seat: int
    yes: bool
    forced: Cause | None


@dataclass(frozen=True, slots=True)
class SixthSenseMarks(Marks):
    """Causes of the server's choices in a round, and the yes-or-no answers that its cards do not show."""

    predictions: Mapping[int, Cause | None]
    """Causes of predictions, by seat; None for a bot's own choice."""
    doubles: Mapping[int, YesNoAnswer]
    """Decisions to split, by trick."""
    peeks: Mapping[int, YesNoAnswer]
    """Decisions to peek, by trick."""


def picture(course: Course, index: int, seat: int | None) -> SixthSensePicture:
    """Return the round at a step.

    After a choice that ended a round, return this round, with hidden cards still hidden.
    """
    step = course.steps[index]
    if step.ended is None or step.made is None:
        return _pictured(step.state, seat)
    assert isinstance(step.ended, SixthSenseRound)
    return _ended(_pictured(course.steps[index - 1].state, seat), step.made, step.ended, seat)


def dealt(course: Course, number: int, seat: int | None) -> SixthSensePicture:
    """Return a round as dealt, before the first choice."""
    return _pictured(course.steps[course.begins(number)].state, seat)


def marks(course: Course, index: int) -> SixthSenseMarks:
    """Collect forced choices and yes/no answers of the round up to a step."""
    predictions: dict[int, Cause | None] = {}
    plays: list[Cause | None] = []
    answers: dict[str, dict[int, YesNoAnswer]] = {"double": {}, "peek": {}}
    seats = len(course.replay.header.bots)
    for seat, _, made, forced in course.choices(index):
        action = ACTIONS[made]
        if action.kind in PLAYS:
            plays.append(forced)
        elif action.kind in answers:
            answers[action.kind][len(plays) // seats - 1] = YesNoAnswer(seat, bool(action.value), forced)
        else:
            predictions[seat] = forced
    return SixthSenseMarks(plays, predictions, answers["double"], answers["peek"])


def _pictured(state: State[SeatView, RoundReport], seat: int | None) -> SixthSensePicture:
    return from_views(views(state, seat, SixthSenseView))


def from_views(seen: Sequence[SixthSenseView]) -> SixthSensePicture:
    """Return the round that these views of one position show."""
    first, hands = seen[0], {view.seat: view.hand for view in seen}
    known = [max(cards) for cards in zip(*(view.known_predictions for view in seen), strict=True)]
    return SixthSensePicture(
        dealer=first.dealer,
        turned=first.turned,
        hands=tuple(hands.get(each) for each in range(first.seats)),
        predictions=tuple(card - 1 if card else None for card in known),
        # Hidden forms of a block are numbered after all real actions, so the minimum is the action as its player saw
        # it.
        plays=bytes(map(min, zip(*(view.plays for view in seen), strict=True))),
        leaders=first.leaders,
        takers=first.takers,
        worths=first.worths,
        peeks=first.peeks,
        taken=first.taken,
        hand_size=first.hand_size,
        scores=first.scores,
        points=None,
    )


def _ended(before: SixthSensePicture, made: Made, report: SixthSenseRound, seat: int | None) -> SixthSensePicture:
    """Return the end of a round as the seat saw it before hidden cards were revealed."""
    action = ACTIONS[made.action]
    plays = before.plays
    if action.kind == "block" and action.place is not None and seat not in {None, made.seat}:
        plays += bytes([HIDDEN_BLOCKS + action.place])
    elif action.kind in PLAYS:
        plays += bytes([made.action])
    peeks = before.peeks + bytes(len(report.takers) - len(before.peeks))
    predictions = list(before.predictions)
    if made.action == PEEK:
        peeks = peeks[:-1] + b"\1"
        if made.seat == seat:
            predictions[report.takers[-1]] = report.predictions[report.takers[-1]]
    return replace(
        before,
        hands=emptied(before.hands),
        predictions=tuple(predictions),
        plays=plays,
        leaders=report.leaders,
        takers=report.takers,
        worths=report.worths,
        peeks=peeks,
        taken=report.taken,
        scores=report.scores,
        points=report.points,
    )
