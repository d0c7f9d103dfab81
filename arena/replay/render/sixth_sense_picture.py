"""What is to be seen of a round of 6th Sense at one step, by one seat or by somebody who sees everything.

A picture is put together from the engine's own views, so it shows a seat neither more nor less than the seat was shown.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import NamedTuple

from arena.match.effects import Cause
from arena.replay.steps import Course, Made
from engine.game import RoundReport, SeatView, State
from engine.sixth_sense import SixthSenseRound, SixthSenseView
from engine.sixth_sense.cards import ACTIONS, HIDDEN_BLOCKS, PEEK


@dataclass(frozen=True, slots=True)
class Picture:
    """A round; what goes by seat or by trick has one entry each."""

    rounds: int
    """0 when played to a target score."""
    dealer: int
    turned: int | None
    hands: tuple[bytes | None, ...]
    """None where the hand is hidden."""
    predictions: tuple[int | None, ...]
    """None where the card is hidden or not chosen yet."""
    plays: bytes
    leaders: bytes
    takers: bytes
    """The number of seats where nobody took the trick."""
    worths: bytes
    peeks: bytes
    taken: bytes
    scores: tuple[int, ...]
    """After the round where it is over, before it where not."""
    points: tuple[int, ...] | None
    """Of the round where it is over."""

    @property
    def seats(self) -> int:
        """The number of seats."""
        return len(self.hands)

    def trick(self, number: int) -> bytes:
        """The actions of one trick."""
        return self.plays[number * self.seats : (number + 1) * self.seats]


class Answer(NamedTuple):
    """An answer to "one or two?" or "look or not?"."""

    seat: int
    yes: bool
    forced: Cause | None


class Marks(NamedTuple):
    """Which choices of a round the server made, and the answers that no card shows."""

    predictions: Mapping[int, Cause | None]
    """By seat."""
    plays: Sequence[Cause | None]
    """In the order of play."""
    doubles: Mapping[int, Answer]
    """By trick."""
    peeks: Mapping[int, Answer]
    """By trick."""


def picture(course: Course, index: int, seat: int | None) -> Picture:
    """The round at a step: after a choice that ended it that round, face down what was face down to the seat."""
    step = course.steps[index]
    if step.ended is None or step.made is None:
        return _looked_at(step.state, seat)
    assert isinstance(step.ended, SixthSenseRound)
    return _ended(_looked_at(course.steps[index - 1].state, seat), step.made, step.ended, seat)


def dealt(course: Course, number: int, seat: int | None) -> tuple[bytes | None, ...]:
    """The hands of a round, by seat, before anything was chosen; None where hidden."""
    return _looked_at(course.steps[course.begins(number)].state, seat).hands


def marks(course: Course, index: int) -> Marks:
    """The choices of the round up to a step."""
    predictions: dict[int, Cause | None] = {}
    plays: list[Cause | None] = []
    answers: dict[str, dict[int, Answer]] = {"double": {}, "peek": {}}
    seats = len(course.replay.header.bots)
    for step in course.steps[course.begins(course.steps[index].round) + 1 : index + 1]:
        assert step.made is not None, "only the first deal comes from no choice"
        seat, _, made, forced = step.made
        action = ACTIONS[made]
        if action.kind == "predict":
            predictions[seat] = forced
        elif action.kind in answers:
            answers[action.kind][len(plays) // seats - 1] = Answer(seat, bool(action.value), forced)
        else:
            plays.append(forced)
    return Marks(predictions, plays, answers["double"], answers["peek"])


def _looked_at(state: State[SeatView, RoundReport], seat: int | None) -> Picture:
    first = _view(state, 0 if seat is None else seat)
    views = [first] if seat is not None else [_view(state, each) for each in range(first.seats)]
    hands = {view.seat: view.hand for view in views}
    known = [max(cards) for cards in zip(*(view.known_predictions for view in views), strict=True)]
    return Picture(
        rounds=first.rounds,
        dealer=first.dealer,
        turned=first.turned,
        hands=tuple(hands.get(each) for each in range(first.seats)),
        predictions=tuple(card - 1 if card else None for card in known),
        # The hidden forms of a block come after all real actions: the least is what the seat itself played.
        plays=bytes(map(min, zip(*(view.plays for view in views), strict=True))),
        leaders=first.leaders,
        takers=first.takers,
        worths=first.worths,
        peeks=first.peeks,
        taken=first.taken,
        scores=first.scores,
        points=None,
    )


def _ended(before: Picture, made: Made, report: SixthSenseRound, seat: int | None) -> Picture:
    """The end of a round as the seat saw it before the cards were turned over."""
    action = ACTIONS[made.action]
    plays = before.plays
    if action.kind == "block" and action.place is not None and seat not in {None, made.seat}:
        plays += bytes([HIDDEN_BLOCKS + action.place])
    elif action.kind in {"play", "block"}:
        plays += bytes([made.action])
    peeks = before.peeks + bytes(len(report.takers) - len(before.peeks))
    predictions = list(before.predictions)
    if made.action == PEEK:
        peeks = peeks[:-1] + b"\1"
        if made.seat == seat:
            predictions[report.takers[-1]] = report.predictions[report.takers[-1]]
    return replace(
        before,
        hands=tuple(None if hand is None else b"" for hand in before.hands),
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


def _view(state: State[SeatView, RoundReport], seat: int) -> SixthSenseView:
    view = state.view(seat)
    assert isinstance(view, SixthSenseView)
    return view
