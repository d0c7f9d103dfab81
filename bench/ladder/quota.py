"""What a quota of pairs keeps from bots that lose on purpose, and what it costs honest fields.

The loss of precision of an honest field is the part by which the mean squared error of all ratings, about their own
mean, grows by the quota, on the same matches.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Final

import numpy as np

from arena.ladder.columns import Columns
from arena.ladder.events import Entrant, Node
from arena.ladder.fitted import ladder
from arena.ladder.flags import flags
from arena.ladder.ladder import FlagKind
from arena.ladder.pair_quota import PairQuota
from bench.ladder.collusion import ACCOMPLICES, DAY, DAYS, Night, guests_of, night, played
from bench.ladder.figures import Effort, Figure, at_most, with_progress
from bench.ladder.world import (
    ANCHORS,
    BOTS,
    NOBODY,
    SEATS,
    SPREAD,
    Conditions,
    Floats,
    Ints,
    Season,
    play,
    ranked,
    truth,
)

QUOTA: Final = 40
GAIN: Final = at_most(40)
LOSS: Final = at_most(5)
HONEST_DAYS: Final = 7
BUSY: Final = 10
"""How many times as many matches a bot plays on a busy server."""
BUSY_FIELD: Final = "8 guests, 1,000 matches a day for a week"
VETERANS: Final = 6
VETERAN_TABLES: Final = 2_000
NEWCOMERS: Final = 30
RING: Final = 4
OTHERS: Final = 8
OWN_SHARE: Final = 0.8
"""The part of its tables at which the head of a ring meets its own."""
SMALLER: Final = (20, 10, 5, 3, 2, 1)
"""Quotas that are tried for a ring beside `QUOTA`."""


def under(entrants: Sequence[Entrant], columns: Columns, quota: int) -> Floats:
    """Fit the ratings [nodes] in Elo under a quota, 0 for none; NaN for nodes without a match."""
    there = played(entrants, columns.nodes)
    made = ladder(there, columns, PairQuota(quota, guests_of(entrants)) if quota else None)
    ratings = np.full(len(entrants), np.nan)
    for figure in made.figures:
        ratings[figure.node] = figure.rating
    return ratings


def of_night(world: Night, quota: int) -> float:
    """Fit what a night gains its head under a quota, in Elo; it lies in one day."""
    columns = Columns.of_arrays(world.columns.nodes, world.columns.places, days=days_of(len(world.columns), world))
    gained = under(world.entrants, columns, quota) - under(world.entrants, world.without, 0)
    return float(gained[world.head])


def days_of(matches: int, world: Night) -> Ints:
    """Number the days of a field and, as the last one, its night."""
    before = len(world.without)
    return np.concatenate((np.arange(before) * DAYS // before, np.full(matches - before, DAYS)))


def loss(season: Season, days: Ints, quota: int = QUOTA) -> tuple[float, float]:
    """Compute the squared errors of the ratings of an honest season without a quota and with it, in Elo²."""
    true, columns = truth(season), Columns.of_arrays(season.nodes, season.places, days=days)
    errors = []
    for each in (0, quota):
        apart = under(season.entrants, columns, each) - true
        errors.append(float(np.nanmean((apart - np.nanmean(apart)) ** 2)))
    return errors[0], errors[1]


def field(
    chance: np.random.Generator,
    bots: int = BOTS,
    matches: int = DAY,
    days: int = HONEST_DAYS,
    conditions: Conditions | None = None,
) -> tuple[Season, Ints]:
    """Simulate days of an honest field in which every bot plays so many matches a day."""
    season = play(conditions or Conditions(), days * matches, chance, bots)
    return season, np.arange(len(season.nodes)) * days // len(season.nodes)


def half_changing(chance: np.random.Generator) -> tuple[Season, Ints]:
    """Simulate a field in which every other guest is another version of itself from the middle of a day on."""
    season = play(Conditions(), HONEST_DAYS * DAY, chance)
    changing = range(ANCHORS, BOTS, 2)
    nodes, entrants = season.nodes.copy(), list(season.entrants)
    strengths = [*season.strengths.tolist()]
    half = len(nodes) // 2
    for bot in changing:
        nodes[half:][nodes[half:] == bot] = len(entrants)
        entrants[bot] = entrants[bot]._replace(newest=False)
        strengths.append(strengths[bot] + chance.normal(0, SPREAD / 2))
        entrants.append(Entrant(Node(len(entrants)), parent=Node(bot)))
    return _played(nodes, entrants, np.array(strengths), chance), np.arange(len(nodes)) * HONEST_DAYS // len(nodes)


def veterans_and_newcomers(chance: np.random.Generator) -> tuple[Season, Ints]:
    """Simulate six bots with 2,000 tables of their own on as many days as others play, then thirty newcomers more."""
    bots = ANCHORS + VETERANS + NEWCOMERS
    strengths = chance.normal(0, SPREAD, bots)
    early = np.array([chance.permutation(np.arange(ANCHORS, ANCHORS + VETERANS))[:4] for _ in range(VETERAN_TABLES)])
    rounds = [chance.permutation(bots)[: bots // 4 * 4].reshape(-1, 4) for _ in range(2 * DAY)]
    late = np.concatenate(rounds)
    nodes = np.full((len(early) + len(late), SEATS), NOBODY)
    nodes[:, :4] = np.concatenate((early, late))
    days = np.concatenate((np.arange(len(early)) * DAYS // len(early), DAYS + np.arange(len(late)) * 2 // len(late)))
    entrants = [Entrant(Node(node), anchor=node < ANCHORS) for node in range(bots)]
    return _played(nodes, entrants, strengths, chance), days


def _played(nodes: Ints, entrants: Sequence[Entrant], strengths: Floats, chance: np.random.Generator) -> Season:
    means = np.where(nodes == NOBODY, np.nan, strengths[nodes])
    return Season(Conditions(), tuple(entrants), strengths, nodes, ranked(means, Conditions(), chance), means)


FIELDS: Final[dict[str, Callable[[np.random.Generator], tuple[Season, Ints]]]] = {
    "40 bots": field,
    "40 bots, changing, 15 % ties": lambda chance: field(chance, conditions=Conditions(changing=True, ties=0.15)),
    "20 guests, 300 matches in a day": lambda chance: field(chance, ANCHORS + 20, 300, 1),
    "8 guests, 300 matches in a day": lambda chance: field(chance, ANCHORS + 8, 300, 1),
    "half the bots change versions": half_changing,
    "30 newcomers after 2,000 tables of six veterans": veterans_and_newcomers,
    BUSY_FIELD: lambda chance: field(chance, ANCHORS + 8, BUSY * DAY),
}
"""The last one is measured without a bar: what is lost there is a part of errors of four Elo."""


def ring(chance: np.random.Generator, matches: int, share: float, days: int = HONEST_DAYS) -> tuple[Season, Ints]:
    """Simulate days of tables of two in which the head of a ring meets its own, and wins, at a share of its tables.

    The other members play as well as they can else; the head is the median of the ring and the others.
    """
    bots = ANCHORS + OTHERS + RING
    strengths = chance.normal(0, SPREAD, bots)
    guests = ANCHORS + np.argsort(strengths[ANCHORS:])
    head = int(guests[len(guests) // 2])
    members = chance.permutation(guests[guests != head])[: RING - 1]
    rest = np.setdiff1d(np.arange(bots), [head])
    tables, bought = [], []
    for _ in range(days * matches):
        own = chance.random() < share
        partner = int(chance.choice(members if own else np.setdiff1d(rest, members)))
        others = chance.permutation(rest[rest != partner])
        tables += [(head, partner), *others[: len(others) // 2 * 2].reshape(-1, 2).tolist()]
        bought += [own, *[False] * (len(others) // 2)]
    nodes = np.full((len(tables), SEATS), NOBODY)
    nodes[:, :2] = tables
    entrants = [Entrant(Node(node), anchor=node < ANCHORS) for node in range(bots)]
    season = _played(nodes, entrants, strengths, chance)
    season.places[np.array(bought), :2] = (1, 2)
    return season, np.arange(len(nodes)) * days // len(nodes)


def ring_gains(seed: tuple[int, ...], matches: int, quotas: Sequence[int]) -> tuple[list[float], bool]:
    """Fit what the head of a ring has gained over its true strength in a week, under each quota.

    Tells also whether it is flagged as a pair with one of its own, without a quota.
    """
    season, days = ring(np.random.default_rng(seed), matches, OWN_SHARE)
    columns, true = Columns.of_arrays(season.nodes, season.places, days=days), truth(season)
    head = int(season.nodes[0, 0])
    honest = np.arange(len(true)) != head
    gains = []
    for quota in quotas:
        apart = under(season.entrants, columns, quota) - true
        gains.append(float(apart[head] - apart[honest].mean()))
    made, guests = ladder(played(season.entrants, season.nodes), columns), guests_of(season.entrants)
    seen = any(flag.kind is FlagKind.PAIR and flag.node == head for flag in flags(columns, made, guests))
    return gains, seen


def measure(effort: Effort, seed: int) -> list[Figure]:
    """Measure a night of sybils, honest fields and a ring under quotas."""
    worlds = effort.of(2, 20, 100)
    gains = np.array([of_night(night((seed, 7, each)), QUOTA) for each in with_progress(range(worlds), "nights")])
    what = f"a night of sybils gains with a quota of {QUOTA}"
    figures = [Figure(what, gains.mean(), ".0f", "Elo", _error(gains), GAIN, f"{ACCOMPLICES} of them, {worlds} worlds")]
    for number, (name, make) in enumerate(FIELDS.items()):
        chances = [np.random.default_rng((seed, 9, number, each)) for each in range(3 * worlds)]
        errors = np.array([loss(*make(chance)) for chance in with_progress(chances, name)])
        free, bound = errors.mean(axis=0)
        each = 100 * (errors[:, 1] - bound / free * errors[:, 0]) / bound
        note = f"standard error of a rating {np.sqrt(free):.1f} Elo, {np.sqrt(bound):.1f} with it"
        lost = 100 * (1 - free / bound)
        bar = None if name == BUSY_FIELD else LOSS
        figures.append(Figure(f"precision lost by it: {name}", lost, ".1f", "%", _error(each), bar, note))
    for matches in (DAY, BUSY * DAY):
        quotas = (0, QUOTA, *SMALLER)
        seeds = range(effort.of(1, 10, 40))
        found = [ring_gains((seed, 10, matches, each), matches, quotas) for each in with_progress(seeds, "rings")]
        for quota, one in zip(quotas, np.array([gains for gains, _ in found]).T, strict=True):
            what = f"a ring's head with {matches:,} matches a day gains with a quota of {quota or 'any number'}"
            figures.append(Figure(what, one.mean(), ".0f", "Elo", _error(one)))
        seen = 100 * float(np.mean([flagged for _, flagged in found]))
        figures.append(Figure(f"a ring's head with {matches:,} matches a day is flagged as a pair", seen, ".0f", "%"))
    return figures


def _error(values: Floats) -> float:
    return float(values.std(ddof=1) / np.sqrt(len(values))) if len(values) > 1 else 0.0
