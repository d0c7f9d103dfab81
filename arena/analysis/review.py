"""The review of a seat: its points compared with a house bot's points on the same cards, and its costliest choices.

A choice is compared with the other legal ones by playing the round to its end from worlds: complete positions that fit
the seat's view (`Game.sample`). House bots play all seats. The cost of the choice is the gain of the best other choice,
averaged over the same worlds for both. The gain is in points of the round, minus the mean of the others' points. There
are three sets of worlds, because a choice that is selected with some worlds looks costlier in those worlds than it is.
The first set determines the best other choices and the candidates. The second determines which choices are reported,
and the third their cost. Close to the end of a round, worlds are solved (`engine.endings`) instead of played by house
bots. If there are only a few worlds, all are solved, so that the cost is exact.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import sqrt
from statistics import fmean, stdev
from typing import Final, NamedTuple, TypeAlias

from arena.house import HouseBot
from arena.replay.replay import Replay
from arena.replay.steps import Course, Step
from engine.endings.expectation import solved_worlds
from engine.endings.solver import EndingSolver
from engine.game import OVER, Chance, Game, RoundReport, SeatView, State
from engine.points import points_above

Worth: TypeAlias = Callable[[RoundReport], Sequence[int]]
"""A function that returns the value of a round for each seat, in points, including later costs."""
Draws: TypeAlias = Callable[[str], Chance]
"""A function that returns a source of random numbers for a text. Equal texts give equal numbers."""

FIRST_WORLDS: Final = 16
"""Number of worlds in which all choices of a seat are compared."""
WORLDS: Final = 200
"""Number of worlds for selecting the reported choices. The cost is measured in the same number of other worlds."""
CLOSELY: Final = 3
"""Number of candidates for each reported choice."""
ENDING_LINES: Final = 200
"""A position is an ending if at most this number of lines of play follow each choice."""
ALL_WORLDS: Final = 4_000
"""All worlds of an ending are solved if there are at most this number."""
CLEAR: Final = 2.0
"""Number of standard errors above which a cost is significant."""


class Costly(NamedTuple):
    """A choice with a better alternative."""

    decision: int
    round: int
    """Number of the round, from 0."""
    action: int
    better: int
    cost: float
    """Mean gain of the better choice over the worlds, in points."""
    error: float
    """Standard error of the cost."""


class _Compared(NamedTuple):
    step: int
    better: int
    cost: float
    error: float


def house_rounds(replay: Replay, bot: HouseBot, chance: Chance) -> list[RoundReport]:
    """Play the deals of a match with a house bot in every seat. Return the report of each round."""
    state, reports = replay.header.new_game(), []
    while state.player != OVER:
        reports.append(_play_round(state, bot, chance))
    return reports


def costly(
    course: Course,
    seat: int,
    bot: HouseBot,
    worth: Worth,
    most: int,
    draws: Draws,
    seed: str,
    looked: Callable[[float], None] = lambda _: None,
) -> tuple[Costly, ...]:
    """Find up to `most` significantly costly choices of a seat's own bot, the costliest first.

    The cost of a choice is measured in worlds that were not used for its selection, so its interval may include 0.
    Equal values of `seed` give equal results. `looked` is called with the progress.
    """
    own = [number for number in range(1, len(course.steps)) if _chose(course.steps, number, seat)]
    table, compared = _Table(course.replay.header.game, bot, worth, draws), []
    closely = CLOSELY * most
    work = len(own) * FIRST_WORLDS + (min(closely, len(own)) + min(most, len(own))) * WORLDS
    done = 0
    for number in own:
        state, action = course.steps[number - 1].state, _action(course.steps[number])
        values = table.values(state, seat, state.legal(seat), f"{seed} {number}", FIRST_WORLDS)
        better = max((each for each in values if each != action), key=lambda each: fmean(values[each]))
        compared.append(_Compared(number, better, *_difference(values[better], values[action])))
        done += FIRST_WORLDS
        looked(done / work)
    again = []
    for each in sorted(compared, key=lambda each: each.error - each.cost)[:closely]:
        again.append(table.again(course, each, seat, f"{seed} {each.step} again"))
        done += WORLDS
        looked(done / work)
    clear = sorted((each for each in again if each.cost > CLEAR * each.error), key=lambda each: -each.cost)
    found = []
    for each in clear[:most]:
        fresh = table.again(course, each, seat, f"{seed} {each.step} named") if each.error else each
        step = course.steps[each.step]
        assert step.made is not None, "it was chosen"
        found.append(Costly(step.made.decision, step.round, step.made.action, *fresh[1:]))
        done += WORLDS
        looked(done / work)
    looked(1.0)
    return tuple(sorted(found, key=lambda each: -each.cost))


def _chose(steps: Sequence[Step], number: int, seat: int) -> bool:
    """Return True if a seat's own bot had several legal actions at a step."""
    made = steps[number].made
    return (
        made is not None and (made.seat, made.forced) == (seat, None) and len(steps[number - 1].state.legal(seat)) > 1
    )


def _action(step: Step) -> int:
    assert step.made is not None
    return step.made.action


class _Table:
    """A table with house bots in every seat, for trying choices."""

    def __init__(self, game: Game, bot: HouseBot, worth: Worth, draws: Draws) -> None:
        self._game, self._bot, self._worth, self._draws = game, bot, worth, draws

    def again(self, course: Course, compared: _Compared, seat: int, seed: str) -> _Compared:
        """Compare a choice again in other worlds. The better action stays the same unless all worlds were solved."""
        step, better = compared.step, compared.better
        state, action = course.steps[step - 1].state, _action(course.steps[step])
        solver, view = EndingSolver(self._worth, ENDING_LINES), state.view(seat)
        try:
            solver.values(state)
            solved = solved_worlds(self._game, view, solver, self._draws(seed), most=ALL_WORLDS, drawn=WORLDS)
        except ValueError:  # in at least one of the worlds, the position is not an ending
            values = self.values(state, seat, (action, better), seed, WORLDS)
            return _Compared(step, better, *_difference(values[better], values[action]))
        if not solved.exact:
            return _Compared(step, better, *_difference(solved.values[better], solved.values[action]))
        better = max((each for each in solved.values if each != action), key=solved.mean)
        return _Compared(step, better, solved.mean(better) - solved.mean(action), 0.0)

    def values(
        self, state: State[SeatView, RoundReport], seat: int, actions: Sequence[int], seed: str, worlds: int
    ) -> dict[int, list[float]]:
        """Return the value of each action in each of a number of worlds that fit the seat's view."""
        view, chance = state.view(seat), self._draws(seed)
        found: dict[int, list[float]] = {action: [] for action in actions}
        for number in range(worlds):
            world = self._game.sample(view, chance)
            for action in actions:
                found[action].append(self._brings(world.clone(), action, seat, self._draws(f"{seed} {number}")))
        return found

    def _brings(self, state: State[SeatView, RoundReport], action: int, seat: int, chance: Chance) -> float:
        """Play a choice and the rest of the round. Return the seat's points minus the mean of the others' points."""
        number = state.round
        state.apply(action, seat)
        over = state.round != number or state.player == OVER
        report = state.report if over else _play_round(state, self._bot, chance)
        assert report is not None
        return points_above(self._worth(report), seat)


def _play_round(state: State[SeatView, RoundReport], bot: HouseBot, chance: Chance) -> RoundReport:
    """Play the rest of a round with a house bot in every seat."""
    number = state.round
    while (player := state.player) != OVER and state.round == number:
        state.apply(bot.decide(state.view(player), state.legal(player), chance.randbytes(32)), player)
    assert state.report is not None
    return state.report


def _difference(better: Sequence[float], chosen: Sequence[float]) -> tuple[float, float]:
    """Return the mean difference between values from the same worlds, and its standard error."""
    differences = [one - other for one, other in zip(better, chosen, strict=True)]
    return fmean(differences), stdev(differences) / sqrt(len(differences))
