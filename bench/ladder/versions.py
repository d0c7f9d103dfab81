"""Rating gained by many versions of one program, recognition of better versions, and accuracy of P(better).

One of 40 bots changes its version at regular intervals; the others stay the same. A gain is the published rating minus
the true rating, averaged over worlds. After many versions, the author returns to the luckiest. For P(better), one bot
or all guests change once, by random amounts of known spread.
"""

from __future__ import annotations

from math import hypot
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtr

from arena.ladder.events import Entrant, Node
from arena.ladder.fitted import ladder
from arena.ladder.version_gains import VersionGains
from bench.ladder.coverage import share
from bench.ladder.figures import Bar, Effort, Figure, at_most, with_progress
from bench.ladder.source import columns
from bench.ladder.world import ANCHORS, BOTS, NOBODY, SEATS, SPREAD, Conditions, Floats, Ints, Season, ranked, truth

TABLE: Final = 4
ELO: Final = 39 / SPREAD
"""Elo per unit of strength, between bots of nearly equal strength."""
BETTER: Final = 120.0
"""Advantage of the better version, in Elo."""
SURE: Final = 0.8
"""Minimum P(better) at which a version is called better. At 1 − SURE or less it is called worse."""


def season_of(versions: int, rounds: int, better: float, chance: np.random.Generator) -> Season:
    """Simulate a season in which the last bot plays `versions` versions for `rounds` rounds each.

    `better` is the advantage of its last version over the earlier versions, in Elo.
    """
    nodes = [Node(BOTS - 1 + version) for version in range(versions)]
    entrants = [Entrant(Node(node), anchor=node < ANCHORS) for node in range(BOTS - 1)]
    entrants += [Entrant(node, Node(node - 1) if node >= BOTS else None, newest=False) for node in nodes]
    strengths = np.append(chance.normal(0, SPREAD, BOTS - 1), np.full(versions, chance.normal(0, SPREAD)))
    strengths[-1] += better / ELO
    seated = np.tile(np.arange(BOTS), (versions * rounds, 1))
    seated[:, -1] = np.repeat(nodes, rounds)
    return _played(entrants, strengths, seated, chance)


def changed_season(changing: int, rounds: int, deviation: float, chance: np.random.Generator) -> Season:
    """Simulate a season of twice `rounds` rounds in which the last `changing` bots change.

    The changes of strength have the standard deviation `deviation` in Elo. Each bot changes in the middle half of the
    season. Its new node has the number of the old node plus `changing`.
    """
    entrants = [Entrant(Node(node), anchor=node < ANCHORS, newest=node < BOTS - changing) for node in range(BOTS)]
    entrants += [Entrant(Node(node), Node(node - changing)) for node in range(BOTS, BOTS + changing)]
    strengths = chance.normal(0, SPREAD, BOTS)
    strengths = np.append(strengths, strengths[-changing:] + chance.normal(0, deviation / ELO, changing))
    seated = np.tile(np.arange(BOTS), (2 * rounds, 1))
    changes = chance.integers(rounds // 2, 3 * rounds // 2, changing)
    seated[:, -changing:] += changing * (np.arange(2 * rounds)[:, None] >= changes)
    return _played(entrants, strengths, seated, chance)


def _played(entrants: list[Entrant], strengths: Floats, seated: Ints, chance: np.random.Generator) -> Season:
    """Play a round at random tables for each row of nodes [rounds, bots]."""
    order = chance.random(seated.shape).argsort(axis=1)
    tables = np.full((seated.size // TABLE, SEATS), NOBODY)
    tables[:, :TABLE] = np.take_along_axis(seated, order, axis=1).reshape(-1, TABLE)
    means = np.where(tables == NOBODY, np.nan, strengths[tables])
    conditions = Conditions(ties=0.15)
    return Season(conditions, tuple(entrants), strengths, tables, ranked(means, conditions, chance), means)


def shown(season: Season, node: int) -> float:
    """Return the published rating of the last bot if it plays as the version `node`."""
    entrants = [entrant._replace(newest=True) if entrant.node == node else entrant for entrant in season.entrants]
    return next(line.shrunk for line in ladder(entrants, columns(season)).lines if line.node == node)


def gain_of_the_luckiest(versions: int, rounds: int, chance: np.random.Generator) -> float:
    """Simulate `versions` equal versions. Return the published rating minus the true strength of the version with the
    highest rating.
    """
    season = season_of(versions, rounds, 0.0, chance)
    ratings = [figure.rating for figure in ladder(season.entrants, columns(season)).figures]
    luckiest = BOTS - 1 + int(np.argmax(ratings[BOTS - 1 :]))
    return shown(season, luckiest) - float(np.mean(truth(season)[BOTS - 1 :]))


def gain_of_the_better(versions: int, rounds: int, chance: np.random.Generator) -> float:
    """Simulate a better last version. Return its published rating minus the strength of the versions before it."""
    season = season_of(versions, rounds, BETTER, chance)
    return shown(season, len(season.strengths) - 1) - float(np.mean(truth(season)[BOTS - 1 : -1]))


class Calls(NamedTuple):
    """Numbers of correct calls, among the versions called better or worse with a probability of 80 % or more."""

    right: int
    said: float
    """Expected number of correct calls."""


def calls(changing: int, rounds: int, deviation: float, chance: np.random.Generator) -> tuple[Calls, Calls]:
    """Simulate bots that change. Return the calls based on P(better), and the calls based on rating differences
    alone.
    """
    season = changed_season(changing, rounds, deviation, chance)
    figures = ladder(season.entrants, columns(season)).figures
    pairs = [(figures[node - changing], figures[node]) for node in range(BOTS, BOTS + changing)]
    measured = [(new.rating - old.rating, hypot(new.error, old.error)) for old, new in pairs]
    gained = season.strengths[BOTS:] > season.strengths[BOTS - changing : BOTS]
    gains = VersionGains(measured)
    said = (np.array([gains.better(*each) for each in measured]), ndtr([gain / error for gain, error in measured]))
    return _calls(said[0], gained), _calls(said[1], gained)


def _calls(better: Floats, gained: NDArray[np.bool_]) -> Calls:
    surely = np.maximum(better, 1 - better) >= SURE
    return Calls(int(((better > 0.5) == gained)[surely].sum()), float(np.maximum(better, 1 - better)[surely].sum()))


def calibration(effort: Effort, seed: int) -> list[Figure]:
    """Measure the number of correct calls of "better" or "worse", divided by the expected number."""
    figures = []
    for number, (changing, deviation) in enumerate(((BOTS - ANCHORS, 20.0), (BOTS - ANCHORS, 60.0), (1, 20.0))):
        worlds = effort.of(2, 20, 100) * (1 if changing > 1 else 10)
        who = f"{changing} bots change" if changing > 1 else "one bot changes"
        what = f"P(better), {who} by {deviation:.0f} Elo: what happened over what was said"
        found = [
            calls(changing, 200, deviation, np.random.default_rng([seed, 9, number, world]))
            for world in with_progress(range(worlds), what)
        ]
        by_gains, alone = (share(np.array(each, dtype=float)) for each in zip(*found, strict=True))
        note = f"by the difference alone {alone.value:.0f} ± {alone.error:.0f} %; {worlds} worlds"
        bar = Bar(95, np.inf) if changing > 1 else None
        figures.append(Figure(what, by_gains.value, ".0f", "%", by_gains.error, bar, note))
    return figures


def measure(effort: Effort, seed: int) -> list[Figure]:
    """Measure ten versions of one program, better versions, and P(better)."""
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
    return [*figures, *calibration(effort, seed)]
