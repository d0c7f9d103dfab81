"""How soon a newcomer's rank is right with the ladder's scheduler, beside tables of random bots.

A field has played a while when newcomers join it. A round is as many tables as seat every bot once: at random, each bot
plays once a round; with the scheduler, the same number of tables is taken from a pool in which every bot has room for
as many matches as the SDK announces by itself. The ladder is fitted once every few rounds; what is played in between,
the scheduler knows to be pending.
"""

from __future__ import annotations

from random import Random
from typing import Final

import numpy as np

from arena.ladder.events import Entrant, Node
from arena.ladder.live import Rating
from arena.ladder.scheduling import Past, Pool, Waiting
from arena.ladder.stakes import stakes
from bench.ladder.figures import Effort, Figure, at_most, followed
from bench.ladder.source import Fitted, columns, fit
from bench.ladder.world import ANCHORS, BOTS, NOBODY, SEATS, SPREAD, Conditions, Floats, Ints, Season, play, ranked

ROUNDS: Final = 15
BEFORE: Final = 200
"""Rounds the field has played without the newcomers."""
FIT_EVERY: Final = 5
"""Rounds: 50 matches."""
TABLE: Final = 4
ROOM: Final = 8
"""Matches at once."""
PROMISED: Final = 0.65


def rank_errors(newcomers: int, scheduled: bool, seed: tuple[int, ...]) -> list[int]:
    """How many ranks each newcomer is off after the rounds, in one world; the same world for both ways."""
    chance = np.random.default_rng(seed)
    before = play(Conditions(), BEFORE, chance, BOTS - newcomers)
    strengths = np.append(before.strengths, chance.normal(0, SPREAD, newcomers))
    entrants = tuple(Entrant(Node(node), anchor=node < ANCHORS) for node in range(BOTS))
    season = Season(Conditions(), entrants, strengths, before.nodes, before.places, before.means)
    past, seats, fitted = Past(), Random(str(seed)), fit(entrants, columns(season))
    known = len(season.nodes)
    for number in range(ROUNDS):
        if number and number % FIT_EVERY == 0:
            fitted, known = fit(entrants, columns(season)), len(season.nodes)
        if scheduled:
            tables, past = _scheduled(fitted, season.nodes[known:], past, seats)
        else:
            tables = chance.permutation(BOTS).reshape(-1, TABLE)
        season = _with(season, tables, chance)
    fitted = fit(entrants, columns(season))
    found, true = (np.argsort(np.argsort(-values)) for values in (fitted.ratings, strengths))
    return [abs(int(found[node] - true[node])) for node in range(BOTS - newcomers, BOTS)]


def _scheduled(fitted: Fitted, pending: Ints, past: Past, chance: Random) -> tuple[Ints, Past]:
    """A round's tables from the real scheduler; every bot has an owner of its own, and anchors are the house's."""
    known = {node: Rating(fitted.ratings[node], fitted.errors[node]) for node in range(BOTS) if fitted.matches[node]}
    worth = stakes(known)
    waits = np.bincount(pending[pending != NOBODY], minlength=BOTS).tolist()
    waiting = [Waiting(node, f"owner {node}", 0.0, ROOM, worth.of(node), waits[node]) for node in range(ANCHORS, BOTS)]
    pool = Pool(waiting, len(waiting), range(ANCHORS), 0.0, chance, past=past)
    tables = []
    for _ in range(BOTS // TABLE):
        table = pool.table(TABLE)
        assert table is not None
        tables.append(table.bots)
    return np.array(tables), pool.past


def _with(season: Season, tables: Ints, chance: np.random.Generator) -> Season:
    """The season with these tables played."""
    nodes = np.full((len(tables), SEATS), NOBODY)
    nodes[:, : tables.shape[1]] = tables
    means = np.where(nodes == NOBODY, np.nan, season.strengths[nodes])
    places = ranked(means, season.conditions, chance)
    joined = (np.concatenate(both) for both in ((season.nodes, nodes), (season.places, places), (season.means, means)))
    return Season(season.conditions, season.entrants, season.strengths, *joined)


def measure(effort: Effort, seed: int) -> list[Figure]:
    """One newcomer at a time, which has the bar; then several at once."""
    figures = []
    for newcomers in (1, 4):
        worlds = range(effort.of(6, 400, 4_000) // newcomers)
        errors: Floats = np.array(
            [
                [np.mean(rank_errors(newcomers, scheduled, (seed, 3, newcomers, world))) for scheduled in (True, False)]
                for world in followed(worlds, f"{newcomers} newcomers")
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
