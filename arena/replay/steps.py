"""A replay as a sequence of positions to step through: the first deal, then one position after every choice.

Positions are computed by playing the recorded inputs again; recorded effects are not used.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import NamedTuple

from arena.match.effects import Cause, Effect, Force
from arena.match.inputs import Acted, Instant, StoodIn, TimeUp
from arena.replay.replay import Replay
from engine.game import OVER, RoundReport, SeatView, State


class Made(NamedTuple):
    """A choice made for a seat by its bot, a house bot or the server."""

    seat: int
    decision: int
    action: int
    forced: Cause | None
    """The reason why the server or a house bot made the choice. None if the bot made it."""


class LegalActions(NamedTuple):
    """The legal actions of one seat at a step."""

    seat: int
    bot: str
    next_round: bool
    """True if the choice belongs to the next round."""
    actions: tuple[str, ...]
    chosen: str
    """The action that the seat chose next. Empty if it did not choose."""


@dataclass(frozen=True, slots=True)
class Step:
    """One position and the choice that led to it."""

    at: Instant
    """Time of the input that led to the position."""
    made: Made | None
    """The choice that led to the position. None for the first deal."""
    round: int
    """Round of that choice, from 0."""
    state: State[SeatView, RoundReport] = field(repr=False)
    """The position, which must not be changed. After the last choice of a round, it contains the next deal."""
    ended: RoundReport | None
    """Report of the round that this choice ended. None if it ended no round."""


def steps(replay: Replay) -> Sequence[Step]:
    """Return all positions of a replay in order, beginning with the first deal."""
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
        # Expiring the clocks first does not change the result, but it separates choices forced before an answer from
        # the answer's effects.
        yield from _forced(event.at, match.receive(TimeUp(event.at)))
        if not isinstance(event, Acted | StoodIn):
            yield from _forced(event.at, match.receive(event))
            continue
        seat, decision, action = event.seat, event.decision, event.action
        was_open = match.open_decision(seat) == decision
        forced = [*_forced(event.at, match.receive(event))]
        if was_open and match.open_decision(seat) != decision and all(made.decision != decision for _, made in forced):
            yield event.at, Made(seat, decision, action, Cause.ABSENCE if isinstance(event, StoodIn) else None)
        yield from forced


def _forced(at: Instant, effects: Sequence[Effect]) -> Iterator[tuple[Instant, Made]]:
    for effect in effects:
        if isinstance(effect, Force):
            yield at, Made(effect.seat, effect.decision, effect.action, effect.why)


class Course:
    """A replay with its positions, which can be looked up by round."""

    def __init__(self, replay: Replay, positions: Sequence[Step] | None = None) -> None:
        """`positions` are all positions if they are already known, as for a running game."""
        self.replay = replay
        self.steps = steps(replay) if positions is None else positions
        ends = [number for number, step in enumerate(self.steps) if step.ended is not None]
        last = len(self.steps) - 1
        self._ends = ends if ends and ends[-1] == last else [*ends, last]

    @property
    def rounds(self) -> int:
        """Number of rounds that have begun."""
        return len(self._ends)

    @property
    def reports(self) -> Sequence[RoundReport]:
        """Reports of the rounds that were finished."""
        return [step.ended for step in self.steps if step.ended is not None]

    @cached_property
    def played_on(self) -> Mapping[int, int]:
        """For each seat that a house bot took over, the number (from 1) of the first round in which it chose."""
        found: dict[int, int] = {}
        for number in range(self.rounds):
            for made in self.choices(self.ends(number)):
                if made.forced is Cause.ABSENCE:
                    found.setdefault(made.seat, number + 1)
        return found

    def begins(self, round_number: int) -> int:
        """Return the index of the step at which a round is dealt. Rounds are numbered from 0."""
        return self._ends[round_number - 1] if round_number else 0

    def ends(self, round_number: int) -> int:
        """Return the index of the last step of a round, from 0."""
        return self._ends[round_number]

    def choices(self, index: int) -> Iterator[Made]:
        """Iterate over the choices of a round up to and including the one that led to a step."""
        for step in self.steps[self.begins(self.steps[index].round) + 1 : index + 1]:
            assert step.made is not None, "only the first deal comes from no choice"
            yield step.made


def legal_actions(course: Course, index: int, seat: int | None) -> list[LegalActions]:
    """List the legal actions by seat. If one seat is shown, list only that seat's actions."""
    step, header = course.steps[index - 1], course.replay.header
    names = header.game.actions
    following = {each.made.seat: each.made.action for each in reversed(course.steps[index:]) if each.made is not None}
    return [
        LegalActions(
            owing,
            header.bots[owing].name,
            step.ended is not None,
            tuple(names[action].name for action in step.state.legal(owing)),
            names[following[owing]].name if owing in following else "",
        )
        for owing in step.state.waiting()
        if seat in (None, owing)
    ]
