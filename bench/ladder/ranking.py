"""Number of games until the ladder's order is nearly right, compared with other rating systems: 40 bots, 4 seats.

The measure is Spearman's rank correlation with the true ratings, averaged over seeded worlds. All systems rate the same
matches.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from typing import Final, NamedTuple

import numpy as np

from bench.ladder.figures import Effort, Figure, at_most, with_progress
from bench.ladder.orders import constant_elo, live_only, plackett_luce
from bench.ladder.source import columns, fit
from bench.ladder.world import BOTS, Conditions, Floats, Ints, Season, play, truth

ENOUGH: Final = 0.95
PROMISED: Final = 560
"""Promised number of games per bot until the correlation reaches `ENOUGH`."""
SEATS: Final = 4
TABLES: Final = BOTS // SEATS
NEAR: Final = (400, 480, 520, 560, 600, 680)
"""Rounds after which the ladder is evaluated in many worlds. Every bot plays once per round."""
FAR: Final = (20, 40, 80, 120, 160, 240, 320, 400, 560, 800, 1120, 1600, 2240, 3200)
"""Rounds after which all systems are evaluated in a few worlds."""
FIT: Final = "the ladder"
LIVE: Final = "its live layer alone"
OPENSKILL: Final = "openskill, Plackett–Luce"
FACTORS: Final = (8, 16, 32)

System = Callable[[Ints, Ints, int], Iterator[Floats]]


class Curve(NamedTuple):
    """Rank correlations of one rating system after increasing numbers of games per bot."""

    system: str
    games: tuple[int, ...]
    correlations: Floats
    """Rank correlations as an array [worlds, games]."""

    @property
    def means(self) -> Floats:
        """Mean correlations [games] over the worlds."""
        return np.asarray(self.correlations.mean(axis=0))

    @property
    def errors(self) -> Floats:
        """Standard errors [games] of the means."""
        return np.asarray(self.correlations.std(axis=0) / np.sqrt(len(self.correlations)))

    def needed(self) -> tuple[float, float]:
        """Compute the number of games per bot after which the mean stays above `ENOUGH`, and the standard error of this
        number.

        The number is interpolated linearly in 1/(1−correlation). It is infinite if the last point is below `ENOUGH`.
        """
        below = np.flatnonzero(self.means < ENOUGH)
        if not len(below):
            return self.games[0], 0.0
        if (last := int(below[-1])) == len(self.games) - 1:
            return np.inf, 0.0
        quality = 1 / (1 - self.means[last : last + 2])
        slope = (self.games[last + 1] - self.games[last]) / (quality[1] - quality[0])
        return (
            float(self.games[last] + slope * (1 / (1 - ENOUGH) - quality[0])),
            float(slope * self.errors[last] / (1 - ENOUGH) ** 2),
        )


def rank_correlation(ratings: Floats, true: Floats) -> float:
    """Compute Spearman's rank correlation. No two values may be equal."""
    one, other = (np.argsort(np.argsort(values)).astype(float) for values in (ratings, true))
    return float(np.corrcoef(one, other)[0, 1])


def curve_of_fit(seasons: Sequence[Season], games: tuple[int, ...], what: str) -> Curve:
    """Compute the curve of the fitted ladder. Each point uses all matches so far."""
    rows = [
        [
            rank_correlation(fit(season.entrants, columns(season, TABLES * after)).ratings, truth(season))
            for after in games
        ]
        for season in with_progress(seasons, what)
    ]
    return Curve(FIT, games, np.array(rows))


def curves_of_rivals(seasons: Sequence[Season], games: tuple[int, ...]) -> list[Curve]:
    """Compute the curves of all other systems."""
    shape = (games[-1], TABLES, SEATS)
    nodes = np.array([season.nodes[: games[-1] * TABLES, :SEATS].reshape(shape) for season in seasons])
    places = np.array([season.places[: games[-1] * TABLES, :SEATS].reshape(shape) for season in seasons])
    true = [truth(season) for season in seasons]
    seen = [
        [[rank_correlation(one, right) for one in ratings] for ratings, right in zip(every, true, strict=True)]
        for every in _at(constant_elo(nodes, places, BOTS, FACTORS), games)
    ]
    found = [
        Curve(f"Elo, K = {factor}", games, np.array(seen)[:, :, number].T) for number, factor in enumerate(FACTORS)
    ]
    systems: Mapping[str, System] = {OPENSKILL: plackett_luce, LIVE: live_only}
    for name, system in systems.items():
        rows = [
            [rank_correlation(ratings, right) for ratings in _at(system(who, place, BOTS), games)]
            for who, place, right in with_progress([*zip(nodes, places, true, strict=True)], name)
        ]
        found.append(Curve(name, games, np.array(rows)))
    return found


def _at(after_each_round: Iterator[Floats], rounds: tuple[int, ...]) -> Iterator[Floats]:
    return (ratings for number, ratings in enumerate(after_each_round, start=1) if number in rounds)


def curves(effort: Effort, seed: int) -> list[Curve]:
    """Compute the curves of the ladder and of the other systems on the same few worlds."""
    far = FAR if effort is not Effort.QUICK else FAR[:9]
    world = partial(play, Conditions(), far[-1])
    seasons = [world(np.random.default_rng([seed, 1, number])) for number in range(effort.of(2, 8, 40))]
    return [curve_of_fit(seasons, far, "rank correlation, few worlds"), *curves_of_rivals(seasons, far)]


def measure(effort: Effort, seed: int, far: Sequence[Curve]) -> list[Figure]:
    """Measure the ladder in many worlds, with a bar. Report every system on the few worlds of `far`."""
    seasons = [
        play(Conditions(), NEAR[-1], np.random.default_rng([seed, 0, n])) for n in range(effort.of(8, 200, 1_000))
    ]
    near = curve_of_fit(seasons, NEAR, "rank correlation, many worlds")
    needed, error = near.needed()
    at = NEAR.index(PROMISED)
    bar = at_most(PROMISED)
    figures = [
        Figure("games a bot until 0.95", needed, ".0f", error=error, bar=bar, note=f"{len(seasons)} worlds"),
        Figure(f"correlation after {PROMISED} games", near.means[at], ".4f", error=near.errors[at]),
    ]
    for curve in far:
        games, error = curve.needed()
        where = f"{len(curve.correlations)} worlds; {curve.means[-1]:.3f} after {curve.games[-1]:,} games"
        figures.append(Figure(f"games until 0.95: {curve.system}", games, ".0f", error=error, note=where))
    return figures
