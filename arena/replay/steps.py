"""A replay as positions one can step through: the first deal, and then one position after every choice that was made.

The positions come from playing the replay's inputs again; nothing is taken from what the file says came of them.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from arena.match.effects import Cause, Effect, Force
from arena.match.inputs import Acted, Instant, StoodIn, TimeUp
from arena.replay.replay import Replay
from engine.game import OVER, RoundReport, SeatView, State

PLAYS: Final = frozenset({"play", "block"})
"""The kinds of action that put a card into a trick."""


class Made(NamedTuple):
    """A choice that was made."""

    seat: int
    decision: int
    action: int
    forced: Cause | None
    """Why the server, or a house bot in its stead, made it; None where the bot did."""


@dataclass(frozen=True, slots=True)
class Step:
    """One position and how it came about."""

    at: Instant
    """When the input came that led to it."""
    made: Made | None
    """The choice that led to it; None for the first deal."""
    round: int
    """The round that choice belonged to, from 0."""
    state: State[SeatView, RoundReport] = field(repr=False)
    """The position after it: never to be played on, only looked at. After the end of a round the next one is dealt."""
    ended: RoundReport | None
    """The round that this choice ended, if it did."""


def steps(replay: Replay) -> Sequence[Step]:
    """All positions of a replay in order; the first is the first deal."""
    state = replay.header.new_game()
    found = [Step(Instant(0), None, 0, state.clone(), None)]
    for at, made in _choices(replay):
        played = state.round
        state.apply(made.action, made.seat)
        over = state.round != played or state.player == OVER
        found.append(Step(at, made, played, state.clone(), state.report if over else None))
    return tuple(found)


def _choices(replay: Replay) -> Iterator[tuple[Instant, Made]]:
    match = replay.header.new_match()
    for event in replay.inputs:
        # Settling the clocks first changes nothing, but tells what was forced before an answer from what it led to.
        yield from _forced(event.at, match.receive(TimeUp(event.at)))
        if not isinstance(event, Acted | StoodIn):
            yield from _forced(event.at, match.receive(event))
            continue
        seat, decision, action = event.seat, event.decision, event.action
        was_open = match.asking(seat) == decision
        effects = match.receive(event)
        if was_open and match.asking(seat) != decision and not _is_forced(decision, effects):
            yield event.at, Made(seat, decision, action, Cause.ABSENCE if isinstance(event, StoodIn) else None)
        yield from _forced(event.at, effects)


def _is_forced(decision: int, effects: Sequence[Effect]) -> bool:
    return any(isinstance(effect, Force) and effect.decision == decision for effect in effects)


def _forced(at: Instant, effects: Sequence[Effect]) -> Iterator[tuple[Instant, Made]]:
    for effect in effects:
        if isinstance(effect, Force):
            yield at, Made(effect.seat, effect.decision, effect.action, effect.why)


class Course:
    """A replay with its positions, found by round: what there is to look at."""

    def __init__(self, replay: Replay) -> None:
        self.replay = replay
        self.steps = steps(replay)
        ends = [number for number, step in enumerate(self.steps) if step.ended is not None]
        last = len(self.steps) - 1
        self._ends = ends if ends and ends[-1] == last else [*ends, last]

    @property
    def rounds(self) -> int:
        """How many rounds were begun."""
        return len(self._ends)

    @property
    def reports(self) -> Sequence[RoundReport]:
        """The rounds that were played out."""
        return [step.ended for step in self.steps if step.ended is not None]

    def begins(self, round_number: int) -> int:
        """The step at which a round, from 0, is dealt."""
        return self._ends[round_number - 1] if round_number else 0

    def ends(self, round_number: int) -> int:
        """The step that ended a round, from 0, or the last there is of it."""
        return self._ends[round_number]

    def choices(self, index: int) -> Iterator[Made]:
        """The choices of a round that led to a step of it, that of the step included."""
        for step in self.steps[self.begins(self.steps[index].round) + 1 : index + 1]:
            assert step.made is not None, "only the first deal comes from no choice"
            yield step.made
