"""What many versions of one program gain, and whether a version that is better is shown to be.

One of 40 bots changes its version after every so many rounds; the others stay as they are. Gains are those of the
rating shown over the true one, on average over worlds. Who has come through many versions goes back to the luckiest.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from arena.ladder.events import Entrant, Node
from arena.ladder.fitted import ladder
from bench.ladder.figures import Bar, Effort, Figure, at_most, with_progress
from bench.ladder.source import columns
from bench.ladder.world import ANCHORS, BOTS, NOBODY, SEATS, SPREAD, Conditions, Season, ranked, truth

TABLE: Final = 4
ELO: Final = 39 / SPREAD
"""Elo for a strength of 1, among bots that are close to each other."""
BETTER: Final = 120.0
"""Elo by which the better version is so."""


def season_of(versions: int, rounds: int, better: float, chance: np.random.Generator) -> Season:
    """Simulate a season in which the last bot comes in so many versions for so many rounds each.

    The last version is better than those before by so much Elo.
    """
    nodes = [Node(BOTS - 1 + version) for version in range(versions)]
    entrants = [Entrant(Node(node), anchor=node < ANCHORS) for node in range(BOTS - 1)]
    entrants += [Entrant(node, Node(node - 1) if node >= BOTS else None, newest=False) for node in nodes]
    strengths = np.append(chance.normal(0, SPREAD, BOTS - 1), np.full(versions, chance.normal(0, SPREAD)))
    strengths[-1] += better / ELO
    seated = np.tile(np.arange(BOTS), (versions * rounds, 1))
    seated[:, -1] = np.repeat(nodes, rounds)
    order = chance.random(seated.shape).argsort(axis=1)
    tables = np.full((seated.size // TABLE, SEATS), NOBODY)
    tables[:, :TABLE] = np.take_along_axis(seated, order, axis=1).reshape(-1, TABLE)
    means = np.where(tables == NOBODY, np.nan, strengths[tables])
    conditions = Conditions(ties=0.15)
    return Season(conditions, tuple(entrants), strengths, tables, ranked(means, conditions, chance), means)


def shown(season: Season, node: int) -> float:
    """Return the rating shown of the last bot when it plays as one of its versions."""
    entrants = [entrant._replace(newest=True) if entrant.node == node else entrant for entrant in season.entrants]
    return next(line.shrunk for line in ladder(entrants, columns(season)).lines if line.node == node)


def gain_of_the_luckiest(versions: int, rounds: int, chance: np.random.Generator) -> float:
    """Simulate so many equal versions and return what the one of the best fitted rating is shown above its strength."""
    season = season_of(versions, rounds, 0.0, chance)
    ratings = [figure.rating for figure in ladder(season.entrants, columns(season)).figures]
    luckiest = BOTS - 1 + int(np.argmax(ratings[BOTS - 1 :]))
    return shown(season, luckiest) - float(np.mean(truth(season)[BOTS - 1 :]))


def gain_of_the_better(versions: int, rounds: int, chance: np.random.Generator) -> float:
    """Simulate a last version that is better and return what it is shown above the strength of those before."""
    season = season_of(versions, rounds, BETTER, chance)
    return shown(season, len(season.strengths) - 1) - float(np.mean(truth(season)[BOTS - 1 : -1]))


def measure(effort: Effort, seed: int) -> list[Figure]:
    """Measure ten names for one program, and better versions."""
    worlds = effort.of(4, 100, 400)
    figures = []
    for number, (what, gain, versions, rounds, bar) in enumerate(
        (
            ("one version, 1,000 matches", gain_of_the_luckiest, 1, 1000, None),
            ("ten versions of 100 matches, then the luckiest", gain_of_the_luckiest, 10, 100, at_most(15)),
            ("120 better than one version, after 200 matches", gain_of_the_better, 2, 200, Bar(60, np.inf)),
            ("120 better than nine alike, after 200 matches", gain_of_the_better, 10, 200, Bar(60, np.inf)),
        )
    ):
        gains = [
            gain(versions, rounds, np.random.default_rng([seed, 8, number, world]))
            for world in with_progress(range(worlds), what)
        ]
        error = float(np.std(gains) / np.sqrt(worlds))
        figures.append(Figure(what, float(np.mean(gains)), "+.0f", "Elo", error, bar, f"{worlds} worlds"))
    return figures
