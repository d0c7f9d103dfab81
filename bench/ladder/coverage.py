"""Whether the 95 % intervals hold the truth in 95 % of cases: every table size, fixed and changing fields, ties.

All nodes that played count, old versions and newcomers of a few matches among them. Beyond the bars: luck that is
skewed or heavy-tailed, and bots that form a cycle, where the truth is the one `world` defines. Bots of one world share
what the anchors' mean is off by; hence the error of a share is taken between worlds.
"""

from __future__ import annotations

from itertools import product
from typing import Final, NamedTuple

import numpy as np

from arena.ladder.events import Node
from bench.ladder.figures import Bar, Effort, Figure, followed
from bench.ladder.source import columns, fit
from bench.ladder.world import BOTS, Conditions, Floats, Luck, play, truth

BAR: Final = Bar(93.0, 97.0)
NO_LIE: Final = Bar(93.0, 100.0)
NORMAL_95: Final = 1.96
LIKELY: Final = 0.2
GAMES: Final = 250
"""Rounds: in a field that does not change, every bot plays about so many games."""
TABLES: Final = {"2 seats": (2,), "4 seats": (4,), "6 seats": (6,), "2–7 seats": (2, 3, 4, 5, 6, 7)}
CELLS: Final = {
    f"{seats}, {'changing' if changing else 'static'}, {ties:.0%} ties": Conditions(TABLES[seats], ties, changing)
    for seats, changing, ties in product(TABLES, (False, True), (0.0, 0.15, 0.3))
}
STRANGE: Final = {
    "skewed luck": Conditions(luck=Luck.SKEWED),
    "heavy-tailed luck": Conditions(luck=Luck.HEAVY),
    "heavy-tailed luck, changing, 15% ties": Conditions(ties=0.15, changing=True, luck=Luck.HEAVY),
    "a cycle as large as the spread": Conditions(cycle=0.2),
    "a cycle thrice the spread": Conditions(cycle=0.6),
}


class Share(NamedTuple):
    """How often something held, in percent."""

    value: float
    error: float
    cases: int


class Coverage(NamedTuple):
    """Of one cell."""

    ratings: Share
    """Truth within rating ± 1.96 SE."""
    ranks: Share
    """True rank within the published rank interval, of the bots on the ladder."""
    young: Share
    """As `ratings`, of nodes with fewer than 30 matches."""


def cover(conditions: Conditions, worlds: int, seed: tuple[int, ...], what: str) -> Coverage:
    """Plays so many worlds and compares each ladder with its truth."""
    hits: list[list[tuple[int, int]]] = []
    for number in followed(range(worlds), what):
        season = play(conditions, GAMES, np.random.default_rng([*seed, number]), BOTS)
        fitted, true = fit(season.entrants, columns(season)), truth(season)
        within = np.abs(fitted.ratings - true) <= NORMAL_95 * fitted.errors
        played = ~np.isnan(true)
        young = played & (fitted.matches < 30)
        shown = [line.node for line in fitted.ladder.lines if played[line.node]]
        lines = {line.node: line for line in fitted.ladder.lines}
        right = sum(
            lines[node].rank_low <= rank <= lines[node].rank_high for node, rank in _true_ranks(true, shown).items()
        )
        hits.append(
            [
                (int(within[played].sum()), int(played.sum())),
                (right, len(shown)),
                (int(within[young].sum()), int(young.sum())),
            ]
        )
    return Coverage(*(_share(np.array(kind, dtype=float)) for kind in zip(*hits, strict=True)))


def said_best(worlds: int, seed: tuple[int, ...]) -> Figure:
    """How often bots that were said to be best with 20 % or more were, over how often by what was said."""
    cases: list[tuple[float, float]] = []
    for number in followed(range(worlds), "P(best)"):
        season = play(Conditions(), (60, 200, 500)[number % 3], np.random.default_rng([*seed, number]))
        named = [line for line in fit(season.entrants, columns(season)).ladder.lines if line.best >= LIKELY]
        best = int(np.argmax(truth(season)))
        cases.append((sum(line.node == best for line in named), sum(line.best for line in named)))
    share = _share(np.array(cases))
    return Figure(
        "P(best) of 20 % and more: what happened over what was said",
        share.value,
        ".0f",
        "%",
        share.error,
        note=f"{worlds} worlds of 60, 200 and 500 games a bot",
    )


def _true_ranks(true: Floats, shown: list[Node]) -> dict[Node, int]:
    return {node: rank for rank, node in enumerate(sorted(shown, key=lambda node: -true[node]), start=1)}


def _share(counts: Floats) -> Share:
    """Of hits and cases by world; its error is at least that of as many independent cases at 95 %."""
    hits, cases = counts.sum(axis=0)
    if not cases:
        return Share(np.nan, np.nan, 0)
    share = hits / cases
    error = np.sqrt(((counts[:, 0] - share * counts[:, 1]) ** 2).sum()) / cases
    return Share(100 * share, 100 * max(error, np.sqrt(0.95 * 0.05 / cases)), int(cases))


def measure(effort: Effort, seed: int) -> list[Figure]:
    """All cells."""
    worlds = effort.of(2, 60, 200)
    figures = []
    for number, (name, conditions) in enumerate((CELLS | STRANGE).items()):
        found = cover(conditions, worlds, (seed, 2, number), name)
        note = f"{found.ratings.cases:,} intervals; rank intervals {found.ranks.value:.1f} %"
        if found.young.cases:
            note += f"; under 30 matches {found.young.value:.1f} % of {found.young.cases}"
        bar = BAR if name in CELLS else NO_LIE
        figures.append(Figure(name, found.ratings.value, ".1f", "%", found.ratings.error, bar, note))
    return [*figures, said_best(5 * worlds, (seed, 6))]
