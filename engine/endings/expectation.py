"""Estimate choices near the end of a round for a seat that does not see the others' hands.

The worth of a choice is the mean of its solved values over the worlds that the seat could be in (`Game.sample`). If
these are few, the mean is over all of them, weighted by their probability; otherwise over a random sample. In a solved
world everybody knows all hands, so the mean is the worth of a choice to a seat that learns all hands right after it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from math import sqrt
from statistics import stdev
from typing import NamedTuple

from engine.endings.solver import EndingSolver
from engine.game import Chance, Game, RoundReport, SeatView, State


class ExpectedCosts(NamedTuple):
    """The cost of each choice of a seat relative to its best choice, over the same worlds."""

    costs: Mapping[int, float]
    """By action, the points lost compared with the best action; of equally good actions, the first counts as best."""
    errors: Mapping[int, float]
    """By action, the standard error of its cost. 0 if all worlds were solved."""
    worlds: int
    """Number of worlds that were solved."""
    exact: bool
    """True if no other world is possible."""


class _TooMany(Exception):  # noqa: N818 - a signal to the calling function, not an error
    pass


class _Scripted:
    """A source of scripted numbers, then of zeros, which records how many numbers each call could choose from."""

    def __init__(self, script: Sequence[int], most: int) -> None:
        self._script = script
        self._most = most
        self.stops: list[int] = []

    def randrange(self, stop: int) -> int:
        """Return the next number of the script."""
        if stop > self._most:
            raise _TooMany
        self.stops.append(stop)
        place = len(self.stops) - 1
        return self._script[place] if place < len(self._script) else 0

    def randbytes(self, n: int) -> bytes:
        """Return zeros. They only deal later rounds, which are never used."""
        return bytes(n)


def all_worlds(game: Game, view: SeatView, most: int) -> list[tuple[Fraction, State[SeatView, RoundReport]]] | None:
    """Return every world that `sample` may give, with its probability. A world may occur several times.

    Returns None if chance has more than `most` outcomes, in total or in one draw. Raises: ViewError.
    """
    found: list[tuple[Fraction, State[SeatView, RoundReport]]] = []
    try:
        for script, stops in _scripts(game, view, most):
            if len(found) == most:
                return None
            share = Fraction(1)
            for stop in stops:
                share /= stop
            found.append((share, game.sample(view, _Scripted(script, most))))
    except _TooMany:
        return None
    return found


def _scripts(game: Game, view: SeatView, most: int) -> Iterator[tuple[list[int], list[int]]]:
    """Yield every sequence of numbers that chance can give, and the size of the range of each number."""
    script: list[int] = []
    while True:
        chance = _Scripted(script, most)
        game.sample(view, chance)
        stops = chance.stops
        script += [0] * (len(stops) - len(script))
        yield script, stops
        while script and script[-1] == stops[len(script) - 1] - 1:
            script.pop()
        if not script:
            return
        script[-1] += 1


class SolvedWorlds(NamedTuple):
    """The values of a seat's choices in the worlds that it could be in."""

    shares: Sequence[float]
    """The probability of each world."""
    values: Mapping[int, Sequence[float]]
    """By action, its value for the seat in each world."""
    exact: bool
    """True if no other world is possible."""

    def mean(self, action: int) -> float:
        """Return the mean value of an action."""
        return sum(share * value for share, value in zip(self.shares, self.values[action], strict=True))


def solved_worlds(
    game: Game, view: SeatView, solver: EndingSolver, chance: Chance, *, most: int, drawn: int
) -> SolvedWorlds:
    """Solve all worlds of a view if chance has at most `most` outcomes; otherwise `drawn` random worlds.

    Raises the errors of `EndingSolver.values`, ViewError, and ValueError if worlds must be drawn and `drawn` is 0.
    """
    every = all_worlds(game, view, most)
    if not every and drawn < 1:
        raise ValueError(f"a mean is over one world or more, and drawn is {drawn}")
    worlds = every or [(Fraction(1, drawn), game.sample(view, chance)) for _ in range(drawn)]
    solved = [solver.values(world) for _, world in worlds]
    values = {action: [each[action][view.seat] for each in solved] for action in solved[0]}
    return SolvedWorlds([float(share) for share, _ in worlds], values, every is not None)


def expected_costs(
    game: Game, view: SeatView, solver: EndingSolver, chance: Chance, *, most: int, drawn: int
) -> ExpectedCosts:
    """Compare a seat's choices with its best one over `solved_worlds`. `drawn`: 2 or more unless all worlds are solved.

    Raises the errors of `solved_worlds`, and ValueError if a single world would be drawn.
    """
    solved = solved_worlds(game, view, solver, chance, most=most, drawn=drawn)
    if not solved.exact and drawn < 2:
        raise ValueError(f"a standard error takes two worlds or more, and drawn is {drawn}")
    means = {action: solved.mean(action) for action in solved.values}
    best = max(means, key=means.__getitem__)
    costs = {action: max(0.0, means[best] - mean) for action, mean in means.items()}
    errors = dict.fromkeys(costs, 0.0)
    if not solved.exact:
        for action, values in solved.values.items():
            differences = [one - other for one, other in zip(solved.values[best], values, strict=True)]
            errors[action] = stdev(differences) / sqrt(len(differences))
    return ExpectedCosts(costs, errors, len(solved.shares), solved.exact)
