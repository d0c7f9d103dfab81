"""Convergence of newcomers' ranks with the real scheduler, compared with random tables.

Newcomers join a field that has played for a while. A round has exactly enough tables to seat every bot once. Random
tables give every bot exactly one seat. The scheduler forms the same number of tables from a pool in which every bot has
the SDK's default capacity. The ladder is fitted every few rounds. The scheduler treats matches after the latest fit as
pending.
"""

from __future__ import annotations

from random import Random
from typing import Final

import numpy as np

from arena.ladder.events import Entrant, Node
from arena.ladder.live import Rating
from arena.scheduling.candidate import Waiting
from arena.scheduling.information_gain import match_values
from arena.scheduling.pool import Pool
from bench.ladder.figures import Effort, Figure, at_most, with_progress
from bench.ladder.source import Fitted, columns, fit
from bench.ladder.world import ANCHORS, BOTS, NOBODY, SEATS, SPREAD, Conditions, Floats, Ints, Season, play, ranked

ROUNDS: Final = 15
BEFORE: Final = 200
"""Number of rounds that the field plays before the newcomers join."""
FIT_EVERY: Final = 5
"""Number of rounds between two fits. Five rounds are 50 matches."""
TABLE: Final = 4
ROOM: Final = 8
"""Number of matches that a bot can play at once."""
PROMISED: Final = 0.65


def rank_errors(newcomers: int, scheduled: bool, seed: tuple[int, ...]) -> list[int]:
    """Compute each newcomer's rank error after all rounds in one world.

    The same seed gives the same world with and without the scheduler.
    """
    chance = np.random.default_rng(seed)
    before = play(Conditions(), BEFORE, chance, BOTS - newcomers)
    strengths = np.append(before.strengths, chance.normal(0, SPREAD, newcomers))
    entrants = tuple(Entrant(Node(node), anchor=node < ANCHORS) for node in range(BOTS))
    season = Season(Conditions(), entrants, strengths, before.nodes, before.places, before.means)
    pool: Pool[int] = Pool(range(ANCHORS), Random(str(seed)))
    fitted = fit(entrants, columns(season))
    known = len(season.nodes)
    for number in range(ROUNDS):
        if number and number % FIT_EVERY == 0:
            fitted, known = fit(entrants, columns(season)), len(season.nodes)
        if scheduled:
            tables = _scheduled(fitted, season.nodes[known:], pool)
        else:
            tables = chance.permutation(BOTS).reshape(-1, TABLE)
        season = _with(season, tables, chance)
    fitted = fit(entrants, columns(season))
    found, true = (np.argsort(np.argsort(-values)) for values in (fitted.ratings, strengths))
    return [abs(int(found[node] - true[node])) for node in range(BOTS - newcomers, BOTS)]


def _scheduled(fitted: Fitted, pending: Ints, pool: Pool[int]) -> Ints:
    """Form a round's tables with the real scheduler. Every bot has its own owner, and anchors are house bots."""
    known = {node: Rating(fitted.ratings[node], fitted.errors[node]) for node in range(BOTS) if fitted.matches[node]}
    worth = match_values(known)
    waits = np.bincount(pending[pending != NOBODY], minlength=BOTS).tolist()
    for node in range(ANCHORS, BOTS):
        pool.update(Waiting(node, f"owner {node}", 0.0, ROOM, worth.of(node), waits[node]))
    tables = []
    for _ in range(BOTS // TABLE):
        table = pool.table(TABLE, 0.0)
        assert table is not None
        tables.append(table.bots)
    return np.array(tables)


def _with(season: Season, tables: Ints, chance: np.random.Generator) -> Season:
    """Play these tables. Return the season with their matches added."""
    nodes = np.full((len(tables), SEATS), NOBODY)
    nodes[:, : tables.shape[1]] = tables
    means = np.where(nodes == NOBODY, np.nan, season.strengths[nodes])
    places = ranked(means, season.conditions, chance)
    joined = (np.concatenate(both) for both in ((season.nodes, nodes), (season.places, places), (season.means, means)))
    return Season(season.conditions, season.entrants, season.strengths, *joined)


def measure(effort: Effort, seed: int) -> list[Figure]:
    """Measure a single newcomer, for whom there is a bar, and then several at once."""
    figures = []
    for newcomers in (1, 4):
        worlds = range(effort.of(6, 400, 4_000) // newcomers)
        errors: Floats = np.array(
            [
                [np.mean(rank_errors(newcomers, scheduled, (seed, 3, newcomers, world))) for scheduled in (True, False)]
                for world in with_progress(worlds, f"{newcomers} newcomers")
            ]
        )
        ours, random = errors.mean(axis=0)
        ratio = ours / random
        error = np.std(errors[:, 0] - ratio * errors[:, 1]) / random / np.sqrt(len(errors))
        figures.append(
            Figure(
                f"rank error after {ROUNDS} rounds over that of random tables, {newcomers} newcomers at once",
                ratio,
                ".2f",
                error=error,
                bar=at_most(PROMISED) if newcomers == 1 else None,
                note=f"{ours:.1f} ranks beside {random:.1f}, {len(errors)} worlds",
            )
        )
    return figures
