"""Tricks of a recorded match, from its choices and the engine's reports, and a search for tricks by their features.

This module is independent of the drawing code, so that drawings can be compared with it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from arena.replay.steps import Course, Made
from engine.game import Action
from engine.sixth_sense import SIXTH_SENSE, SixthSenseRound


class Trick(NamedTuple):
    """One trick of a complete round."""

    course: Course
    report: SixthSenseRound
    number: int
    """Number of the trick in its round, from 1."""
    plays: tuple[Made, ...]
    """Plays of the trick in order."""
    answers: Mapping[str, Made]
    """The answers to "double" and "peek", if the seat was asked."""

    @property
    def round(self) -> int:
        """The number of the trick's round, from 1."""
        return self.report.round + 1

    @property
    def taker(self) -> int:
        """The seat that won the trick, or the number of seats if no seat won it."""
        return self.report.takers[self.number - 1]

    @property
    def actions(self) -> list[Action]:
        """The plays of the trick in order."""
        return [SIXTH_SENSE.actions[made.action] for made in self.plays]

    @property
    def blocker(self) -> Made | None:
        """The choice that removed a card from the trick, if any."""
        return next(
            (made for made, action in zip(self.plays, self.actions, strict=True) if action.kind == "block"), None
        )

    @property
    def blocked(self) -> Action | None:
        """The card that was removed from the trick, if any."""
        return next((self.actions[action.place] for action in self.actions if action.place is not None), None)

    @property
    def reversed(self) -> bool:
        """True if the number of counting 4s is odd (S10)."""
        fours = [action for action in self.actions if action.value == 4 and action is not self.blocked]
        return len(fours) % 2 == 1

    @property
    def looker(self) -> int | None:
        """The seat that looked at the winner's prediction card."""
        return self.answers["peek"].seat if self.answered("peek", True) else None

    def answered(self, kind: str, yes: bool) -> bool:
        """Return True if the seat was asked and gave this answer."""
        return kind in self.answers and bool(SIXTH_SENSE.actions[self.answers[kind].action].value) == yes


def tricks(course: Course) -> Iterator[Trick]:
    """Return all tricks of the complete rounds, in order."""
    seats, plays, answers = len(course.replay.header.bots), list[Made](), list[tuple[int, str, Made]]()
    for step in course.steps:
        if step.made is not None:
            match SIXTH_SENSE.actions[step.made.action].kind:
                case "play" | "block":
                    plays.append(step.made)
                case "double" | "peek" as kind:
                    answers.append((len(plays) // seats, kind, step.made))
        if isinstance(step.ended, SixthSenseRound):
            for number in range(1, len(plays) // seats + 1):
                own = {kind: made for trick, kind, made in answers if trick == number}
                yield Trick(course, step.ended, number, tuple(plays[(number - 1) * seats : number * seats]), own)
            plays, answers = [], []


def find(courses: Iterable[Course], holds: Callable[[Trick], bool]) -> Trick:
    """Return the first trick of these matches that meets the condition."""
    return next(trick for course in courses for trick in tricks(course) if holds(trick))
