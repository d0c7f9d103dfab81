"""Attacks by many accomplices that each lose a few games on purpose: a wide ring, and throw-away names.

All accomplices lose at tables of four to one bot of median strength, the head. The field plays for a day, and again for
a week that begins seven days later. The members of a wide ring belong to the field. Throw-away names register during
that week, a few each day. First they play the field as well as they can, so that a win against them has value. Then
they lose to the head and disappear.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

import numpy as np

from arena.ladder.events import FIRST_MONDAY, WEEK_DAYS, Entrant, Node
from arena.ladder.fitted import ladder
from arena.ladder.flags import flags
from arena.ladder.ladder import NO_QUOTA, FlagKind
from arena.ladder.pair_quota import PairQuota, under_quota
from arena.server.config import OPEN_QUOTA
from bench.ladder.arrays import columns_of
from bench.ladder.collusion import DAY, TABLE, Night, guests_of, mean_error, played
from bench.ladder.figures import Effort, Figure, with_progress
from bench.ladder.quota import gains, with_quota
from bench.ladder.world import ANCHORS, BOTS, NOBODY, SEATS, SPREAD, Conditions, Ints, play, ranked

RING: Final = 20
RING_MEETINGS: Final = 20
"""Number of meetings that each member of a wide ring loses on purpose in the week."""
NAMES: Final = 12
"""Number of throw-away names that register each day."""
NAME_MATCHES: Final = 30
"""Number of matches that each throw-away name plays as well as it can."""
NAME_MEETINGS: Final = 10
"""Number of meetings that each throw-away name loses on purpose."""


def wide_ring(seed: Sequence[int]) -> Night:
    """Simulate a week in which half of the field sometimes loses to a bot of median strength on purpose."""
    return _simulated(seed, 0)


def thrown_away(seed: Sequence[int], names: int = NAMES) -> Night:
    """Simulate a week in which `names` new bots a day lose to a bot of median strength on purpose."""
    return _simulated(seed, names)


def _simulated(seed: Sequence[int], names: int) -> Night:
    chance = np.random.default_rng([*seed])
    week = range(WEEK_DAYS, 2 * WEEK_DAYS)
    season = play(Conditions(), (1 + len(week)) * DAY, chance)
    guests = ANCHORS + np.argsort(season.strengths[ANCHORS:])
    head = int(guests[len(guests) // 2])
    members = chance.permutation(guests[guests != head])[:RING]
    strengths = np.concatenate((season.strengths, chance.normal(0, SPREAD, names * len(week))))
    fair = [season.nodes[:, :TABLE]]
    days = [np.repeat([0, *week], len(season.nodes) // (1 + len(week)))]
    thrown, nights = list[Ints](), list[Ints]()
    for number, day in enumerate(week):
        own = BOTS + names * number + np.arange(names)
        fair.append(_among_others(own, NAME_MATCHES, chance))
        thrown.append(_thrown(head, own, NAME_MEETINGS, chance))
        if not names:
            losers = np.repeat(members, RING_MEETINGS)[number :: len(week)]
            thrown.append(_thrown(head, losers, 1, chance))
        days.append(np.full(len(fair[-1]), day))
        nights.append(np.full(sum(map(len, thrown)) - sum(map(len, nights)), day))
    honest, bought = np.concatenate(fair), np.concatenate(thrown)
    nodes = np.full((len(honest) + len(bought), SEATS), NOBODY)
    nodes[:, :TABLE] = np.concatenate((honest, bought))
    places = ranked(np.where(nodes == NOBODY, np.nan, strengths[nodes]), Conditions(), chance)
    late = places[len(honest) :]
    late[:, 1:TABLE] += late[:, 1:TABLE] < late[:, :1]  # the head sits in the first seat and gets the first place
    late[:, 0] = 1
    dates = FIRST_MONDAY + np.concatenate((*days, *nights))
    entrants = tuple(Entrant(Node(node), anchor=node < ANCHORS) for node in range(len(strengths)))
    without = columns_of(nodes[: len(honest)], places[: len(honest)], days=dates[: len(honest)])
    accomplices = tuple(int(node) for node in np.unique(bought[:, 1:]))
    order = np.lexsort((chance.random(len(dates)), dates))
    columns = columns_of(nodes[order], places[order], days=dates[order])
    return Night(entrants, columns, without, head, accomplices)


def _among_others(own: Ints, matches: int, chance: np.random.Generator) -> Ints:
    """Give each of the `own` bots seats at `matches` tables, with three bots of the field."""
    others = chance.random((matches * len(own), BOTS)).argsort(axis=1)[:, : TABLE - 1]
    return np.column_stack((np.tile(own, matches), others))


def _thrown(head: int, losers: Ints, meetings: int, chance: np.random.Generator) -> Ints:
    """Let the head meet every loser `meetings` times, with three different losers per table. A few meetings may be left
    out.
    """
    tables = []
    for _ in range(meetings):
        left = [*chance.permutation(losers).tolist()]
        while len(table := [*dict.fromkeys(left)][: TABLE - 1]) == TABLE - 1:
            tables.append((head, *table))
            for loser in table:
                left.remove(loser)
    return np.array(tables, np.int64).reshape(-1, TABLE)


def measure(effort: Effort, seed: int) -> list[Figure]:
    """Measure the head's gain from many accomplices, and the flags that detect it."""
    worlds = effort.of(2, 20, 100)
    ring = [wide_ring((seed, 13, each)) for each in with_progress(range(worlds), "wide rings")]
    away = [thrown_away((seed, 14, each)) for each in with_progress(range(worlds), "names that are thrown away")]
    return [
        *_seen(ring, f"{RING} accomplices that lose {RING_MEETINGS} times each in a week"),
        *_seen(away, f"{NAMES} names a day that lose {NAME_MEETINGS} times each, for a week"),
    ]


def _seen(worlds: Sequence[Night], what: str) -> list[Figure]:
    rules = (NO_QUOTA, OPEN_QUOTA._replace(young_days=0), OPEN_QUOTA)
    gained = np.array([gains(world, rules) for world in worlds])
    figures = []
    for rule, one in zip(rules, gained.T, strict=True):
        figures.append(Figure(f"{what}: gain {with_quota(rule)}", one.mean(), ".0f", "Elo", mean_error(one)))
    raised = [_flagged(world) for world in worlds]
    for kind in (FlagKind.PAIR, FlagKind.LIFT, FlagKind.OPPONENTS):
        share = 100 * float(np.mean([kind in each for each in raised]))
        figures.append(Figure(f"{what}: flagged, {kind.value}", share, ".0f", "%", note=f"{len(worlds)} worlds"))
    return figures


def _flagged(world: Night) -> set[FlagKind]:
    """Return the kinds of flags on the head's results on an open server's ladder."""
    guests = guests_of(world.entrants)
    quota = PairQuota(OPEN_QUOTA, guests)
    made = ladder(played(world.entrants, world.columns.nodes), world.columns, quota)
    return {flag.kind for flag in flags(under_quota(world.columns, quota), made, guests) if flag.node == world.head}
