"""Coverage of the 95 % intervals: how often they contain the true rating, by table size, field changes and ties.

There are two kinds of intervals. The intervals of fitted ratings concern all nodes that played, including old versions
and newcomers with few matches. The published intervals, of shrunk ratings, are measured for all bots on the ladder and
for the leader alone. Both exclude the error of the scale, which all bots of a world share: the true ratings are shifted
by the mean difference, and this shift is compared with the scale's error.

Two conditions have only a lower bar: skewed or heavy-tailed luck, and bots that form a cycle. `world` defines the true
ratings in these cases. In small and large fields only the published intervals are measured. The error of a share is
estimated from the differences between worlds.
"""

from __future__ import annotations

from itertools import product, takewhile
from typing import Final, NamedTuple

import numpy as np

from arena.ladder.events import Node
from bench.ladder.figures import Bar, Effort, Figure, with_progress
from bench.ladder.source import columns, fit
from bench.ladder.world import ANCHORS, BOTS, Conditions, Floats, Luck, play, truth

BAR: Final = Bar(93.0, 97.0)
NOT_TOO_NARROW: Final = Bar(93.0, 100.0)
NORMAL_95: Final = 1.96
LIKELY_BEST: Final = 0.2
ALIKE: Final = 1.0
"""Maximum difference between the true ratings of copies, in Elo. It is not 0, because copies play at different
tables.
"""
GAMES: Final = 250
"""Number of rounds, which is about the number of games per bot in a field that does not change."""
TABLES: Final = {"2 seats": (2,), "4 seats": (4,), "6 seats": (6,), "2–7 seats": (2, 3, 4, 5, 6, 7)}
CELLS: Final = {
    f"{seats}, {'changing' if changing else 'static'}, {ties:.0%} ties": Conditions(TABLES[seats], ties, changing)
    for seats, changing, ties in product(TABLES, (False, True), (0.0, 0.15, 0.3))
}
VIOLATIONS: Final = {
    "skewed luck": Conditions(luck=Luck.SKEWED),
    "heavy-tailed luck": Conditions(luck=Luck.HEAVY),
    "heavy-tailed luck, changing, 15% ties": Conditions(ties=0.15, changing=True, luck=Luck.HEAVY),
    "a cycle as large as the spread": Conditions(cycle=0.2),
    "a cycle thrice the spread": Conditions(cycle=0.6),
}

FIELDS: Final = tuple((guests + ANCHORS, games) for guests in (8, 20, 97) for games in (60, 300))
"""Fields of different sizes: the numbers of bots and of games per bot."""
COPIES: Final = (0, 10, 25)
"""Numbers of copies of one good program among the bots, for measuring shared first ranks."""


class Share(NamedTuple):
    """Relative frequency of an event, in percent."""

    value: float
    error: float
    cases: int


class Coverage(NamedTuple):
    """Coverage under one set of conditions."""

    ratings: Share
    """Share of all nodes with the true rating within rating ± 1.96 SE."""
    ranks: Share
    """Share of the bots on the ladder with the true rank within the published rank interval."""
    young: Share
    """Like `ratings`, but only for nodes with fewer than 30 matches."""
    shown: Share
    """Share of the bots on the ladder with the true rating within shrunk rating ± 1.96 posterior standard deviations.
    """
    leader: Share
    """Like `shown`, but only for the first bot of each ladder."""
    scale: Share
    """Share of worlds in which the error of the scale is at most 1.96 of its standard errors."""


def cover(
    conditions: Conditions,
    worlds: int,
    seed: tuple[int, ...],
    what: str,
    games: int = GAMES,
    bots: int = BOTS,
) -> Coverage:
    """Measure the coverage of the intervals in `worlds` simulated worlds under one set of conditions."""
    hits: list[list[tuple[int, int]]] = []
    for number in with_progress(range(worlds), what):
        season = play(conditions, games, np.random.default_rng([*seed, number]), bots)
        fitted, true = fit(season.entrants, columns(season)), truth(season)
        played = ~np.isnan(true)
        moved = float(np.average((fitted.ratings - true)[played], weights=fitted.errors[played] ** -2.0))
        true = true + moved
        within = np.abs(fitted.ratings - true) <= NORMAL_95 * fitted.errors
        young = played & (fitted.matches < 30)
        shown = [line.node for line in fitted.ladder.lines if played[line.node]]
        lines = {line.node: line for line in fitted.ladder.lines}
        right = sum(
            lines[node].rank_low <= rank <= lines[node].rank_high for node, rank in _true_ranks(true, shown).items()
        )
        held = [
            bool(abs(line.shrunk - true[line.node]) <= NORMAL_95 * line.shrunk_error)
            for line in fitted.ladder.lines
            if played[line.node]
        ]
        hits.append(
            [
                (int(within[played].sum()), int(played.sum())),
                (right, len(shown)),
                (int(within[young].sum()), int(young.sum())),
                (sum(held), len(held)),
                (int(held[0]), 1),
                (int(abs(moved) <= NORMAL_95 * fitted.ladder.field.scale_error), 1),
            ]
        )
    return Coverage(*(share(np.array(kind, dtype=float)) for kind in zip(*hits, strict=True)))


def said_best(worlds: int, seed: tuple[int, ...]) -> Figure:
    """Measure the calibration of P(best) from 20 % upwards: observed frequency divided by predicted frequency."""
    cases: list[tuple[float, float]] = []
    for number in with_progress(range(worlds), "P(best)"):
        season = play(Conditions(), (60, 200, 500)[number % 3], np.random.default_rng([*seed, number]))
        named = [line for line in fit(season.entrants, columns(season)).ladder.lines if line.best >= LIKELY_BEST]
        best = int(np.argmax(truth(season)))
        cases.append((sum(line.node == best for line in named), sum(line.best for line in named)))
    found = share(np.array(cases))
    return Figure(
        "P(best) of 20 % and more: what happened over what was said",
        found.value,
        ".0f",
        "%",
        found.error,
        note=f"{worlds} worlds of 60, 200 and 500 games a bot",
    )


def shared_first(conditions: Conditions, worlds: int, seed: tuple[int, ...], what: str) -> list[Figure]:
    """Measure how often a best bot shares the first rank, divided by the predicted P(best) of the bots that share it.

    Also measure the coverage of the leader's interval.
    """
    groups: list[tuple[float, float]] = []
    alone: list[tuple[float, float]] = []
    leader: list[tuple[float, float]] = []
    sizes = []
    for number in with_progress(range(worlds), what):
        season = play(conditions, (60, 200, 500)[number % 3], np.random.default_rng([*seed, number]))
        fitted, true = fit(season.entrants, columns(season)), truth(season)
        lines = fitted.ladder.lines
        moved = float(np.average(fitted.ratings - true, weights=fitted.errors**-2.0))
        best = true >= true.max() - ALIKE
        first = list(takewhile(lambda line: line.rank_low == 1, lines))
        sizes.append(len(first))
        groups.append((any(best[line.node] for line in first), sum(line.best for line in first)))
        alone.append((best[lines[0].node] / best.sum(), lines[0].best))
        leader.append((abs(lines[0].shrunk - true[lines[0].node] - moved) <= NORMAL_95 * lines[0].shrunk_error, 1.0))
    group, one, held = (share(np.array(cases, dtype=float)) for cases in (groups, alone, leader))
    note = (
        f"{np.mean(sizes):.0f} bots in the mean; the leader alone {one.value:.0f} ± {one.error:.0f} %; {worlds} worlds"
    )
    return [
        Figure(f"{what}: P(best) of the first rank", group.value, ".0f", "%", group.error, Bar(95.0, 110.0), note),
        Figure(f"{what}: the leader's interval", held.value, ".1f", "%", held.error),
    ]


def _true_ranks(true: Floats, shown: list[Node]) -> dict[Node, int]:
    return {node: rank for rank, node in enumerate(sorted(shown, key=lambda node: -true[node]), start=1)}


def share(counts: Floats) -> Share:
    """Compute a share from `counts`, pairs of hits and cases in each world.

    Its standard error is at least that of independent cases with a share of 95 %.
    """
    hits, cases = counts.sum(axis=0)
    if not cases:
        return Share(np.nan, np.nan, 0)
    mean = hits / cases
    error = np.sqrt(((counts[:, 0] - mean * counts[:, 1]) ** 2).sum()) / cases
    return Share(100 * mean, 100 * max(error, np.sqrt(0.95 * 0.05 / cases)), int(cases))


def measure(effort: Effort, seed: int) -> list[Figure]:
    """Measure the coverage of all intervals under each condition, and report it with its bars."""
    worlds = effort.of(2, 60, 200)
    figures = []
    for number, (name, conditions) in enumerate((CELLS | VIOLATIONS).items()):
        found = cover(conditions, worlds, (seed, 2, number), name)
        note = f"{found.ratings.cases:,} intervals; rank intervals {found.ranks.value:.1f} %"
        if found.young.cases:
            note += f"; under 30 matches {found.young.value:.1f} % of {found.young.cases}"
        bar = BAR if name in CELLS else NOT_TOO_NARROW
        figures.append(Figure(name, found.ratings.value, ".1f", "%", found.ratings.error, bar, note))
        note = f"the leader's {found.leader.value:.0f} %, the scale's {found.scale.value:.0f} % of {worlds} worlds"
        figures.append(Figure(f"{name}: as shown", found.shown.value, ".1f", "%", found.shown.error, bar, note))
    for number, (bots, games) in enumerate(FIELDS):
        name = f"{bots - ANCHORS} guests, {games} games"
        found = cover(Conditions(ties=0.15), 4 * worlds, (seed, 3, number), name, games, bots)
        figures.append(Figure(f"{name}: as shown", found.shown.value, ".1f", "%", found.shown.error, BAR))
        figures.append(
            Figure(f"{name}: the leader", found.leader.value, ".1f", "%", found.leader.error, NOT_TOO_NARROW)
        )
        figures.append(Figure(f"{name}: the scale", found.scale.value, ".1f", "%", found.scale.error, NOT_TOO_NARROW))
    figures.append(said_best(5 * worlds, (seed, 6)))
    for number, copies in enumerate(COPIES):
        what = f"{copies} copies of {BOTS} bots" if copies else f"{BOTS} bots"
        figures += shared_first(Conditions(copies=copies), 3 * worlds, (seed, 7, number), what)
    return figures
