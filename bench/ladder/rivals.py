"""Forecasts of real matches by the ladder and by other rating systems, judged by their log-loss.

House bots, the SDK's samples and variants of house bots play on the engine, without a server: at random tables of four,
and at tables of two, four and six, where a bot's strength depends on the size. Each system sees the first matches of a
season in order and then forecasts every pair of its last matches. The loss for a score S (½ for a tie) and its
forecast E is −S·ln E − (1−S)·ln(1−E), averaged over the pairs of a match and over matches. A system that knows nothing
scores ln 2 = 0.693. All systems forecast the same matches, so their differences are much more precise than the losses
themselves. Errors are estimated from the differences between seasons, which are independent.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from random import Random
from typing import Final, NamedTuple

import numpy as np

from bench.ladder.figures import Bar, Effort, Figure, with_progress
from bench.ladder.forecasters import ConstantElo, Fitted, Forecaster, Glicko2, Live, OpenSkill, TrueSkill
from bench.ladder.world import Floats
from bench.studies._field import Deal, field, play
from engine.registry import GAMES

TABLES: Final[Mapping[str, tuple[int, ...]]] = {"4 seats": (4,), "2, 4 and 6 seats": (2, 4, 6)}
TAKEN: Final = (100, 400, 1600)
"""Numbers of matches that a system has read before each forecast."""
FORECAST: Final = 400
"""Number of matches at the end of a season that are forecast."""
SURE: Final = 1e-4
"""Minimum distance of forecasts from 0 and 1, so that a single wrong forecast does not dominate the mean."""
SYSTEMS: Final[Mapping[str, Callable[[int], Forecaster]]] = {
    "the fit": partial(Fitted, shown=False),
    "what is shown": partial(Fitted, shown=True),
    "the live layer alone": Live,
    "Elo, K = 8": partial(ConstantElo, factor=8),
    "Elo, K = 16": partial(ConstantElo, factor=16),
    "Elo, K = 32": partial(ConstantElo, factor=32),
    "Glicko-2, τ = 0.5": Glicko2,
    "Glicko-2, no volatility": partial(Glicko2, volatility=0.0),
    "TrueSkill, defaults": TrueSkill,
    "TrueSkill, τ = 0": partial(TrueSkill, drift=0.0),
    "openskill, defaults": OpenSkill,
    "openskill, τ = 0": partial(OpenSkill, drift=0.0),
}
OURS: Final = ("the fit", "what is shown")
NEAR: Final = Bar(-1.0, 0.003)
"""Bar for a difference of two losses: the loss of the better of our two systems minus the loss of the best system."""


class Match(NamedTuple):
    """Result of a real match: the bot in each seat, and the places."""

    bots: tuple[int, ...]
    places: tuple[int, ...]


def real_season(game: str, sizes: Sequence[int], matches: int, chance: Random) -> list[Match]:
    """Play matches between random bots of the game's field at tables of the given sizes."""
    bots = [*field(game).values()]
    season = []
    for _ in range(matches):
        seated = chance.sample(range(len(bots)), chance.choice(sizes))
        result = play(game, [bots[bot] for bot in seated], Deal.draw(chance), chance)
        season.append(Match(tuple(seated), result.places))
    return season


def losses(season: Sequence[Match], system: Forecaster, taken: Sequence[int], forecast: int) -> list[float]:
    """Return a system's mean loss on the last `forecast` matches, after each number of read matches in `taken`."""
    found = []
    for number, match in enumerate(season[: taken[-1]], start=1):
        system.take(match.bots, match.places)
        if number in taken:
            expected = system.expected()
            found.append(float(np.mean([loss(match, expected) for match in season[-forecast:]])))
    return found


def loss(match: Match, expected: Floats) -> float:
    """Return the mean loss over the pairs of a match, given the expected scores [bots, bots]."""
    one, other = np.triu_indices(len(match.bots), 1)
    bots, places = np.array(match.bots), np.array(match.places)
    chance = np.clip(expected[bots[one], bots[other]], SURE, 1 - SURE)
    score = (1 + np.sign(places[other] - places[one])) / 2
    return float(-(score * np.log(chance) + (1 - score) * np.log(1 - chance)).mean())


def measure(effort: Effort, seed: int) -> list[Figure]:
    """Measure the losses of all systems in both games."""
    figures = []
    for game in GAMES:
        for tables, sizes in TABLES.items():
            figures += compare(game, f"{game}, {tables}", sizes, effort, seed)
    return figures


def compare(game: str, what: str, sizes: Sequence[int], effort: Effort, seed: int) -> list[Figure]:
    """Measure the losses of all systems in a game at tables of these sizes."""
    seasons = effort.of(1, 2, 8)
    taken, forecast = ((20, 60), 40) if effort is Effort.QUICK else (TAKEN, FORECAST)
    bots = len(field(game))
    found = np.zeros((seasons, len(SYSTEMS), len(taken)))
    for number in with_progress(range(seasons), f"{what}: seasons of {taken[-1] + forecast} matches"):
        season = real_season(game, sizes, taken[-1] + forecast, Random(f"rivals {seed} {game} {number}"))
        found[number] = [losses(season, system(bots), taken, forecast) for system in SYSTEMS.values()]
    return _figures(what, found, taken)


def _figures(kind: str, found: Floats, taken: Sequence[int]) -> list[Figure]:
    """Report `found`, the losses [seasons, systems, taken], and the difference between our better system and the best
    system.
    """
    names = [*SYSTEMS]
    means = found.mean(axis=0)
    best = int(means[:, -1].argmin())
    figures = []
    for number, name in enumerate(names):
        more = found[:, number, -1] - found[:, best, -1]
        earlier = ", ".join(
            f"{mean:.4f} after {matches}" for mean, matches in zip(means[number], taken[:-1], strict=False)
        )
        note = f"+{more.mean():.4f} ± {_error(more):.4f} over the best; {earlier}"
        figures.append(
            Figure(f"{kind}: {name}", means[number, -1], ".4f", error=_error(found[:, number, -1]), note=note)
        )
    ours = min((names.index(name) for name in OURS), key=lambda number: means[number, -1])
    more = found[:, ours, -1] - found[:, best, -1]
    what, bar = f"{kind}: the better of the ladder's over the best", NEAR if len(found) > 1 else None
    figures.append(Figure(what, more.mean(), ".4f", error=_error(more), bar=bar, note=f"the best is {names[best]}"))
    return figures


def _error(values: Floats) -> float:
    """Return the standard error of a mean, or 0 for a single value."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
