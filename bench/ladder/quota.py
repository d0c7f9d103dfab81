"""Effect of a pair quota on bots that lose on purpose, and its cost for honest fields.

A field's precision is the inverse of its mean squared error. An honest field's loss is the share of its precision that
the quota costs on the same matches. The mean of a field's errors is subtracted from each error.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Final

import numpy as np

from arena.ladder.columns import Columns
from arena.ladder.events import FIRST_MONDAY, WEEK_DAYS, Entrant, Node
from arena.ladder.fitted import ladder
from arena.ladder.flags import flags
from arena.ladder.ladder import NO_QUOTA, FlagKind, Quota
from arena.ladder.pair_quota import PairQuota
from arena.server.config import OPEN_QUOTA
from bench.ladder.arrays import columns_of
from bench.ladder.collusion import (
    ACCOMPLICES,
    DAY,
    DAYS,
    NIGHT,
    TABLE,
    Night,
    guests_of,
    mean_error,
    night,
    nights,
    played,
)
from bench.ladder.figures import Bar, Effort, Figure, at_most, with_progress
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

WEEKS: Final = (40, 60, 80, 100, 120)
"""Weekly quotas to try in addition to the daily quota."""
GAIN: Final = at_most(40)
LOSS: Final = at_most(5)
HONEST_DAYS: Final = WEEK_DAYS
WEEK_TABLES: Final = 60
"""Number of tables played on each night of a simulated week of sybil attacks."""
BUSY: Final = 10
"""Number of a bot's matches on a busy server, as a multiple of the usual number."""
BUSY_FIELD: Final = "8 guests, 1,000 matches a day for a week"
VETERANS: Final = 6
VETERAN_TABLES: Final = 2_000
NEWCOMERS: Final = 30
RING: Final = 4
OTHERS: Final = 8
OWN_SHARE: Final = 0.8
"""Share of a ring leader's tables at which it meets other members of the ring."""
SMALLER: Final = (20, 10, 5, 3, 2, 1)
"""Daily quotas to try against a ring, in addition to the quota of open servers."""
OPEN_DAY: Final = Quota(OPEN_QUOTA.day)


def under(entrants: Sequence[Entrant], columns: Columns, rule: Quota) -> Floats:
    """Fit the ratings [nodes] in Elo under a quota. They are NaN for nodes without a match."""
    made = ladder(played(entrants, columns.nodes), columns, PairQuota(rule, guests_of(entrants)))
    ratings = np.full(len(entrants), np.nan)
    for figure in made.figures:
        ratings[figure.node] = figure.rating
    return ratings


def gains(world: Night, rules: Sequence[Quota]) -> list[float]:
    """Compute the Elo that the head gains from its nights under each quota."""
    before = under(world.entrants, world.without, NO_QUOTA)[world.head]
    return [float(under(world.entrants, world.columns, rule)[world.head] - before) for rule in rules]


def losses(season: Season, days: Ints, rules: Sequence[Quota], older: int | None = None) -> list[float]:
    """Compute the mean squared error of an honest season's ratings without a quota and under each of `rules`, in Elo².

    `older` restricts the errors to this number of older bots. None means all bots.
    """
    true = truth(season)
    columns = columns_of(season.nodes, season.places, days=FIRST_MONDAY + days)
    errors = []
    for rule in (NO_QUOTA, *rules):
        apart = under(season.entrants, columns, rule) - true
        errors.append(float(np.nanmean((apart - np.nanmean(apart))[:older] ** 2)))
    return errors


def field(
    chance: np.random.Generator,
    bots: int = BOTS,
    matches: int = DAY,
    days: int = HONEST_DAYS,
    conditions: Conditions | None = None,
) -> tuple[Season, Ints]:
    """Simulate an honest field. Return its season and the day of each match.

    `bots` is the number of bots, `matches` the number of matches per bot and day, and `days` the length of the season.
    """
    season = play(conditions or Conditions(), days * matches, chance, bots)
    return season, np.arange(len(season.nodes)) * days // len(season.nodes)


def half_changing(chance: np.random.Generator) -> tuple[Season, Ints]:
    """Simulate a field in which every second guest changes to a new version in the middle of a day."""
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
    """Simulate six bots that play 2,000 tables among themselves before thirty newcomers join them."""
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


def joined(chance: np.random.Generator, newcomers: int, a_day: int) -> tuple[Season, Ints]:
    """Simulate a field that plays for a day and, with newcomers, in the week that begins seven days later.

    In that week `a_day` newcomers join each day until all have joined.
    """
    season = play(Conditions(), DAY, chance)
    strengths = np.concatenate((season.strengths, chance.normal(0, SPREAD, newcomers)))
    tables, days = [season.nodes[:, :TABLE]], [np.zeros(len(season.nodes), np.int64)]
    for day in range(WEEK_DAYS):
        here = BOTS + min(newcomers, a_day * (day + 1))
        rounds = [chance.permutation(here)[: here // TABLE * TABLE].reshape(-1, TABLE) for _ in range(DAY)]
        tables.append(np.concatenate(rounds))
        days.append(np.full(len(tables[-1]), WEEK_DAYS + day))
    nodes = np.full((sum(map(len, tables)), SEATS), NOBODY)
    nodes[:, :TABLE] = np.concatenate(tables)
    entrants = [Entrant(Node(node), anchor=node < ANCHORS) for node in range(len(strengths))]
    return _played(nodes, entrants, strengths, chance), np.concatenate(days)


FIELDS: Final[dict[str, Callable[[np.random.Generator], tuple[Season, Ints]]]] = {
    "40 bots": field,
    "40 bots, changing, 15 % ties": lambda chance: field(chance, conditions=Conditions(changing=True, ties=0.15)),
    "20 guests, 300 matches in a day": lambda chance: field(chance, ANCHORS + 20, 300, 1),
    "8 guests, 300 matches in a day": lambda chance: field(chance, ANCHORS + 8, 300, 1),
    "half the bots change versions": half_changing,
    "30 newcomers after 2,000 tables of six veterans": veterans_and_newcomers,
    BUSY_FIELD: lambda chance: field(chance, ANCHORS + 8, BUSY * DAY),
}
"""Functions that simulate honest fields, by name. The last field has no bar. Its errors are only four Elo, so their
growth matters little.
"""
JOINING: Final = {"2 newcomers a day": (14, 2), "12 newcomers at once": (12, 12), "30 newcomers at once": (30, 30)}
"""For each field of older bots, the number of newcomers, and how many of them join per day.

These fields have no bar, because an attacker's throw-away names would arrive in equal numbers.
"""
WEEKLY: Final = {f"{guests} guests": ANCHORS + guests for guests in (8, 20)} | {"40 bots": BOTS}
"""Number of bots in the honest fields that determine the weekly quota. Each bot plays 100 matches a day for a week."""


def ring(chance: np.random.Generator, matches: int, share: float, days: int = HONEST_DAYS) -> tuple[Season, Ints]:
    """Simulate `days` days of two-seat tables with a ring of bots. At the fraction `share` of its tables, the ring's
    head meets other members and wins. At all other tables the members play as well as they can. The head has the median
    strength of all bots.
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


def ring_gains(seed: tuple[int, ...], matches: int, rules: Sequence[Quota]) -> tuple[list[float], bool]:
    """Compute the Elo by which a ring's head exceeds its true strength after a week, under each quota.

    Also return True if, without a quota, the head is flagged as part of a pair.
    """
    season, days = ring(np.random.default_rng(seed), matches, OWN_SHARE)
    columns, true = columns_of(season.nodes, season.places, days=FIRST_MONDAY + days), truth(season)
    head = int(season.nodes[0, 0])
    honest = np.arange(len(true)) != head
    found = []
    for rule in rules:
        apart = under(season.entrants, columns, rule) - true
        found.append(float(apart[head] - apart[honest].mean()))
    made, guests = ladder(played(season.entrants, season.nodes), columns), guests_of(season.entrants)
    seen = any(flag.kind is FlagKind.PAIR and flag.node == head for flag in flags(columns, made, guests))
    return found, seen


def measure(effort: Effort, seed: int) -> list[Figure]:
    """Measure sybils, honest fields and a ring, each with and without quotas."""
    worlds = effort.of(2, 20, 100)
    one_day = [gains(night((seed, 7, each)), [OPEN_QUOTA])[0] for each in with_progress(range(worlds), "nights")]
    what = f"a night of sybils gains {with_quota(OPEN_QUOTA)}"
    figures = [_gain(what, one_day, GAIN, f"{ACCOMPLICES} of them at {NIGHT} tables, {worlds} worlds")]
    figures += weeks(worlds, effort.of(3, 200, 1_000), seed)
    for number, (name, make) in enumerate(FIELDS.items()):
        chances = [np.random.default_rng((seed, 9, number, each)) for each in range(3 * worlds)]
        errors = [losses(*make(chance), [OPEN_QUOTA]) for chance in with_progress(chances, name)]
        bar = None if name == BUSY_FIELD else LOSS
        figures.append(_loss(f"precision lost by it: {name}", errors, 1, bar))
    for number, (name, coming) in enumerate(JOINING.items()):
        chances = [np.random.default_rng((seed, 15, number, each)) for each in range(3 * worlds)]
        seasons = (joined(chance, *coming) for chance in with_progress(chances, name))
        errors = [losses(*season, [OPEN_QUOTA], BOTS) for season in seasons]
        figures.append(_loss(f"precision that {BOTS} older bots lose by it: {name}", errors, 1))
    for matches in (DAY, BUSY * DAY):
        rules = (NO_QUOTA, OPEN_QUOTA, *map(Quota, (OPEN_QUOTA.day, *SMALLER)))
        seeds = range(effort.of(1, 10, 40))
        found = [ring_gains((seed, 10, matches, each), matches, rules) for each in with_progress(seeds, "rings")]
        for rule, one in zip(rules, zip(*[gained for gained, _ in found], strict=True), strict=True):
            figures.append(_gain(f"a ring's head with {matches:,} matches a day gains {with_quota(rule)}", one))
        seen = 100 * float(np.mean([flagged for _, flagged in found]))
        figures.append(Figure(f"a ring's head with {matches:,} matches a day is flagged as a pair", seen, ".0f", "%"))
    return figures


def weeks(worlds: int, honest_worlds: int, seed: int) -> list[Figure]:
    """Measure how much weekly quotas reduce the gain from a week of sybils, and their cost for honest fields."""
    rules = [OPEN_QUOTA._replace(week=week) for week in WEEKS]
    seeds = with_progress(range(worlds), "weeks of sybils")
    plots = [nights((seed, 11, each), WEEK_TABLES) for each in seeds]
    gained = [gains(plot, [NO_QUOTA, OPEN_DAY, *rules]) for plot in plots]
    note = f"{ACCOMPLICES} of them at {WEEK_TABLES} tables a night, {worlds} worlds"
    figures = []
    for rule, one in zip((NO_QUOTA, OPEN_DAY, *rules), zip(*gained, strict=True), strict=True):
        figures.append(
            _gain(f"a week of sybils gains {with_quota(rule)}", one, GAIN if rule == OPEN_QUOTA else None, note)
        )
    from_thursday = [gains(_later(plot, 3), [OPEN_QUOTA])[0] for plot in plots]
    figures.append(_gain(f"seven nights from Thursday on gain {with_quota(OPEN_QUOTA)}", from_thursday, note=note))
    for name, bots in WEEKLY.items():
        chances = [np.random.default_rng((seed, 12, bots, each)) for each in range(honest_worlds)]
        errors = [losses(*field(chance, bots), rules) for chance in with_progress(chances, name)]
        for number, rule in enumerate(rules, 1):
            bar = LOSS if rule == OPEN_QUOTA else None
            what = f"precision lost {with_quota(rule)}: {name}, {DAY} matches a day"
            figures.append(_loss(what, errors, number, bar))
    return figures


def _later(world: Night, days: int) -> Night:
    return world._replace(columns=replace(world.columns, days=world.columns.days + days))


def with_quota(rule: Quota) -> str:
    """Describe a quota in words."""
    bounds = [f"{matches} a {span}" for matches, span in zip(rule[:2], ("day", "week"), strict=True) if matches]
    young = ", young bots as one" if rule.young_days else ""
    return f"with a quota of {', '.join(bounds)}{young}" if bounds else "without a quota"


def _gain(what: str, found: Sequence[float], bar: Bar | None = None, note: str = "") -> Figure:
    values = np.array(found)
    return Figure(what, values.mean(), ".0f", "Elo", mean_error(values), bar, note)


def _loss(what: str, errors: Sequence[Sequence[float]], number: int, bar: Bar | None = None) -> Figure:
    """Compute the precision lost by the quota with index `number`. `errors`: squared errors by world and quota."""
    free, bound = (np.array([each[at] for each in errors]) for at in (0, number))
    ratio = bound.mean() / free.mean()
    note = f"standard error of a rating {np.sqrt(free.mean()):.1f} Elo, {np.sqrt(bound.mean()):.1f} with it"
    note += f"; {len(errors)} worlds"
    lost = 100 * (bound - ratio * free) / bound.mean()
    return Figure(what, 100 * (1 - 1 / ratio), ".1f", "%", mean_error(lost), bar, note)
