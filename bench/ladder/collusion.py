"""Bots that lose on purpose: the beneficiary's gain, the chance of detection, and false alarms among honest bots.

During a night of sybils, three accomplices play only with the head, a bot of median strength, and lose to it on
purpose. By day they play as well as they can. Every bot has a different owner, because sybils would register that way.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

import numpy as np

from arena.ladder.columns import Columns
from arena.ladder.events import FIRST_MONDAY, WEEK_DAYS, Entrant, Guest, Node
from arena.ladder.flags import flags
from arena.ladder.ladder import FlagKind
from bench.ladder.arrays import columns_of
from bench.ladder.figures import Bar, Effort, Figure, at_most, with_progress
from bench.ladder.source import Fitted, fit
from bench.ladder.world import ANCHORS, BOTS, NOBODY, SEATS, Conditions, Floats, Ints, Luck, play

DAY: Final = 100
"""Number of rounds that a field plays per day."""
DAYS: Final = 4
"""Number of days that the field plays before the night."""
NIGHT: Final = 300
"""Number of tables played in the night."""
TABLE: Final = 4
ACCOMPLICES: Final = 3
LOOK_EVERY: Final = 28
"""Number of rounds between two fits whose flags are checked."""
WEEK: Final = 7 * DAY
HONEST: Final = {
    "four seats": Conditions(),
    "two seats": Conditions((2,)),
    "six seats, 30 % ties": Conditions((6,), ties=0.3),
    "changing field, 15 % ties": Conditions(ties=0.15, changing=True),
    "heavy-tailed luck, 15 % ties": Conditions(ties=0.15, luck=Luck.HEAVY),
    "a cycle as large as the spread": Conditions(cycle=0.2),
    "a cycle thrice the spread": Conditions(cycle=0.6),
}


class Night(NamedTuple):
    """Results of a field that plays by day, and of one or several nights of sybils."""

    entrants: tuple[Entrant, ...]
    columns: Columns
    without: Columns
    """The results without the nights."""
    head: int
    accomplices: tuple[int, ...]


def night(seed: Sequence[int], tables: int = NIGHT) -> Night:
    """Simulate a field and, a day later, a night in which the median guest wins every table.

    During the night the winner plays only with its accomplices.
    """
    return _simulated(seed, DAYS, np.full(tables, DAYS))


def nights(seed: Sequence[int], tables: int) -> Night:
    """Simulate a field for a week, with `tables` tables of sybils each night."""
    return _simulated(seed, WEEK_DAYS, np.arange(WEEK_DAYS * tables) // tables)


def _simulated(seed: Sequence[int], days: int, when: Ints) -> Night:
    """Simulate a field for `days` days, beginning on a Monday. Each entry of `when` is the day of one table of
    sybils.
    """
    chance = np.random.default_rng([*seed])
    season = play(Conditions(), days * DAY, chance)
    guests = ANCHORS + np.argsort(season.strengths[ANCHORS:])
    head = int(guests[len(guests) // 2])
    accomplices = tuple(int(bot) for bot in chance.permutation(guests[guests != head])[:ACCOMPLICES])
    tables = len(when)
    nodes, places = np.full((tables, SEATS), NOBODY), np.zeros((tables, SEATS), np.int64)
    nodes[:, : ACCOMPLICES + 1] = (head, *accomplices)
    places[:, 0] = 1
    places[:, 1 : ACCOMPLICES + 1] = 2 + chance.random((tables, ACCOMPLICES)).argsort(axis=1)
    all_nodes, all_places = np.concatenate((season.nodes, nodes)), np.concatenate((season.places, places))
    honest = len(season.nodes)
    dates = FIRST_MONDAY + np.concatenate((np.arange(honest) * days // honest, when))
    before = columns_of(season.nodes, season.places, days=dates[:honest])
    columns = columns_of(all_nodes, all_places, days=dates)
    return Night(season.entrants, columns, before, head, accomplices)


def guests_of(entrants: Sequence[Entrant]) -> dict[Node, Guest]:
    """Give every bot a different owner, to whom all its versions belong. Anchors are house bots."""
    roots: dict[Node, Node] = {}
    for entrant in entrants:
        roots[entrant.node] = entrant.node if entrant.parent is None else roots[entrant.parent]
    return {
        entrant.node: Guest(roots[entrant.node], f"owner {roots[entrant.node]}")
        for entrant in entrants
        if not entrant.anchor
    }


def played(entrants: Sequence[Entrant], nodes: Ints) -> tuple[Entrant, ...]:
    """Return the entrants with results. An entrant is on the ladder unless it has a later version."""
    there = {int(node) for node in np.unique(nodes)} - {NOBODY}
    known = [each for each in entrants if each.node in there]
    parents = {each.parent for each in known}
    return tuple(
        each._replace(parent=each.parent if each.parent in there else None, newest=each.node not in parents)
        for each in known
    )


def false_flags(conditions: Conditions, worlds: int, seed: tuple[int, ...], what: str) -> list[Figure]:
    """Count the flags raised at any time during a week, in fields of honest bots."""
    raised: dict[FlagKind, list[int]] = {kind: [] for kind in FlagKind}
    bots = 0
    for number in with_progress(range(worlds), what):
        season = play(conditions, WEEK, np.random.default_rng([*seed, number]))
        guests = guests_of(season.entrants)
        bots += BOTS - ANCHORS
        seen = set()
        for rounds in range(LOOK_EVERY, WEEK + 1, LOOK_EVERY):
            now = len(season.nodes) * rounds // WEEK
            results = columns_of(season.nodes[:now], season.places[:now])
            ladder = fit(played(season.entrants, season.nodes[:now]), results).ladder
            for flag in flags(results, ladder, guests):
                other = None if flag.other is None else guests[flag.other].bot
                seen.add((flag.kind, flag.node if other is None else guests[flag.node].bot, other))
        for kind in FlagKind:
            raised[kind].append(sum(each[0] is kind for each in seen))
    note = f"{bots:,} bot-weeks of {WEEK} matches, looked at {WEEK // LOOK_EVERY} times"
    return [
        Figure(f"{what}: {kind.value}", 100 * sum(found) / bots, ".2f", "%", 100 * _error(found, bots), note=note)
        for kind, found in raised.items()
        if kind is not FlagKind.OWNERS
    ]


def _error(found: Sequence[int], cases: int) -> float:
    """Return the standard error of a rate of rare events, from the counts in all worlds. It is at least the error of
    a single event.
    """
    return float(max(1.0, np.sqrt(len(found)) * np.std(found)) / cases)


class _Seen(NamedTuple):
    gain: float
    lift: float
    """Elo that the head gains from its first accomplice's results, as estimated by one Newton step."""
    refitted: float
    """Elo that the head gains from its first accomplice's results, from a new fit without them."""
    flagged: Mapping[FlagKind, bool]
    first: bool
    """True if the head leads the ladder."""


def _look(world: Night) -> _Seen:
    """Fit a world with a night of sybils and read its flags."""
    guests, head = guests_of(world.entrants), world.head
    fitted, before = fit(world.entrants, world.columns), fit(world.entrants, world.without)
    found = flags(world.columns, fitted.ladder, guests)
    own = [flag for flag in found if head in (flag.node, flag.other)]
    lifts = {flag.other: flag.size for flag in own if flag.kind is FlagKind.LIFT}
    accomplice = world.accomplices[0]
    refitted = fitted.ratings[head] - _without(world, accomplice).ratings[head]
    flagged = {kind: any(flag.kind is kind for flag in own) for kind in FlagKind}
    gain = float(fitted.ratings[head] - before.ratings[head])
    lift = lifts.get(Node(accomplice), np.nan)
    return _Seen(gain, lift, float(refitted), flagged, fitted.ladder.lines[0].node == head)


def _without(world: Night, bot: int) -> Fitted:
    """Fit without a bot's results, so that its pairs affect no rating."""
    nodes = np.where(world.columns.nodes == NOBODY, NOBODY, world.columns.nodes)
    spoilt = nodes == bot
    columns = columns_of(nodes, world.columns.places, match_id=world.columns.match_id, spoilt=spoilt)
    return fit(world.entrants, columns)


def one_night(worlds: int, seed: int) -> list[Figure]:
    """Measure the gain from one night and whether flags detect it."""
    seen = [_look(night((seed, 7, number))) for number in with_progress(range(worlds), "nights of sybils")]
    gains: Floats = np.array([each.gain for each in seen])
    note = f"{worlds} worlds; first of the ladder in {sum(each.first for each in seen)}"
    figures = [Figure("a night of sybils gains", gains.mean(), ".0f", "Elo", mean_error(gains), note=note)]
    for kind in (FlagKind.PAIR, FlagKind.LIFT, FlagKind.CHANGE):
        share = 100 * float(np.mean([each.flagged[kind] for each in seen]))
        figures.append(Figure(f"flagged: {kind.value}", share, ".0f", "%", bar=Bar(95, 100)))
    lifts: Floats = np.array([each.lift for each in seen if np.isfinite(each.lift)])
    apart: Floats = np.array([abs(each.lift - each.refitted) for each in seen if np.isfinite(each.lift)])
    figures.append(Figure("its rating without one accomplice is lower by", lifts.mean(), ".0f", "Elo"))
    figures.append(Figure("Newton's step from a fit without it, mean", apart.mean(), ".1f", "Elo", bar=at_most(5)))
    return figures


def mean_error(values: Floats) -> float:
    """Compute the standard error of the mean of measurements, or 0 for a single measurement."""
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0


def measure(effort: Effort, seed: int) -> list[Figure]:
    """Measure a night of sybils and the flags of honest fields."""
    figures = one_night(effort.of(3, 20, 100), seed)
    for number, (what, conditions) in enumerate(HONEST.items()):
        figures += false_flags(conditions, effort.of(1, 10, 50), (seed, 8, number), what)
    return figures
