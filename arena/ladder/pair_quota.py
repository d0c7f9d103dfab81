"""The quota of a pair: limits on how many matches between two guests count, per day and per week.

The k matches of a pair on a day count together as min(k, the day's quota), and all days of a week together as at most
the week's quota. All matches of a pair on a day have the same weight, a multiple of 1/`SHARE`. The weights depend on
the set of results and not on their order, so annulling a match returns its weight to the others. Weeks are calendar
weeks from Monday on, because in a moving window a result's weight would change with its age. All versions of a bot
count as one bot. House bots have no quota, because they do not lose on purpose.

A bot is young for some days after its first result. For an older bot, all young bots together have one quota. Otherwise
every new name, which costs nothing, would add another quota. Matches beyond this quota count only for the young bot.
The rule applies only in weeks in which the older bot meets more older bots and house bots than young bots. Otherwise a
new server could not rate any bot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from arena.ladder.columns import MAX_SEATS, NO_NODE, SHARE, Columns, Ints, Shares, pair_number
from arena.ladder.events import FIRST_MONDAY, WEEK_DAYS, Guest, Node
from arena.ladder.ladder import Quota

NO_BOT = -2
"""Value of a seat that does not exist."""
HOUSE = -1


class PairQuota(NamedTuple):
    """A quota and the bots to which it applies."""

    rule: Quota
    guests: Mapping[Node, Guest]
    """The bot and owner of each version that does not belong to a house bot."""


class _Met(NamedTuple):
    """Pairs of seats of two guests, as arrays of equal length."""

    pair: Ints
    """Number of the pair by `pair_number`."""
    row: Ints
    """Row of the match."""
    one: Ints
    """The bot in the first seat and the bot in the second seat, numbered from 0."""
    other: Ints


def under_quota(columns: Columns, quota: PairQuota | None) -> Columns:
    """Return the results with the pairs of seats weighted by a quota, if there is one."""
    if quota is None or not quota.rule.bounds or not len(columns):
        return columns
    sitting, size = _sitting(columns, quota.guests)
    met = _met(sitting)
    if not len(met.row):
        return columns
    first, second = (each(met.one, met.other) for each in (np.minimum, np.maximum))
    counts = _weights(quota.rule, columns.days[met.row], first * size + second)
    young = _of_young(quota.rule, columns.days, sitting, met, size)
    ours, theirs = (np.minimum(counts, each) for each in young)
    if (ours == SHARE).all() and (theirs == SHARE).all():
        return columns
    shares = _spread(columns, met, ours)
    return replace(
        columns, shares=shares, later_shares=None if (ours == theirs).all() else _spread(columns, met, theirs)
    )


def _sitting(columns: Columns, guests: Mapping[Node, Guest]) -> tuple[Ints, int]:
    """Return the guest in each seat [7, M] (numbered from 0, or `HOUSE` or `NO_BOT`), and the number of guests."""
    bots = np.full(int(columns.nodes.max()) + 2, HOUSE)
    bots[NO_NODE] = NO_BOT
    known = [(node, guest.bot) for node, guest in guests.items() if node < len(bots) - 1]
    if known:
        nodes, numbers = zip(*known, strict=True)
        bots[np.array(nodes)] = np.unique(np.array(numbers), return_inverse=True)[1]
    return bots[columns.nodes].T, int(bots.max()) + 1


def _met(sitting: Ints) -> _Met:
    found = []
    for one, other in combinations(range(MAX_SEATS), 2):
        rows = np.flatnonzero((sitting[one] >= 0) & (sitting[other] >= 0) & (sitting[one] != sitting[other]))
        found.append(_Met(np.full(len(rows), pair_number(one, other)), rows, sitting[one][rows], sitting[other][rows]))
    return _Met(*(np.concatenate(each) for each in zip(*found, strict=True)))


def _weights(rule: Quota, days: Ints, pairs: Ints) -> Ints:
    """Return the weight of each meeting in units of 1/`SHARE`, from its day and the number of its pair."""
    size = int(pairs.max(initial=0)) + 1
    first_day = int(days.min(initial=0))
    of_days, which, counts = np.unique((days - first_day) * size + pairs, return_inverse=True, return_counts=True)
    weeks = (of_days // size + (first_day - FIRST_MONDAY) % WEEK_DAYS) // WEEK_DAYS
    counting = np.minimum(counts, rule.day) if rule.day else counts
    _, week = np.unique(weeks * size + of_days % size, return_inverse=True)
    together = np.zeros(int(week.max(initial=-1)) + 1, np.int64)
    np.add.at(together, week, counting)
    kept = np.minimum(together, rule.week) if rule.week else together
    all_of_them = counts * together[week]
    weights: Ints = (SHARE * counting * kept[week] + all_of_them // 2) // all_of_them
    return weights[which]


def _of_young(rule: Quota, days: Ints, sitting: Ints, met: _Met, size: int) -> tuple[Ints, Ints]:
    """Return, for each meeting, the weights for the bots in its two seats, under the rule for young bots."""
    whole = np.full(len(met.row), SHARE)
    if not rule.young_days:
        return whole, whole
    since = np.full(size, days.max())
    for bots in sitting:
        there = bots >= 0
        np.minimum.at(since, bots[there], days[there])
    when, house = days[met.row], (sitting == HOUSE).sum(axis=0)
    old, older = (when - since[bots] >= rule.young_days for bots in (met.one, met.other))
    if (old == older).all():
        return whole, whole
    weeks = (days - FIRST_MONDAY) // WEEK_DAYS
    weeks -= weeks.min()
    own = np.concatenate((met.one, met.other))
    against = np.concatenate((older, old))
    keys = weeks[np.tile(met.row, 2)] * size + own
    more_old = np.bincount(keys, np.where(against, 1, -1), (int(weeks.max()) + 1) * size)
    for bots in sitting:
        there = np.flatnonzero((bots >= 0) & (house > 0))
        more_old += np.bincount(weeks[there] * size + bots[there], house[there], len(more_old))
    pooled = np.concatenate((old, older)) & ~against & (more_old[keys] > 0)
    weights = np.tile(whole, 2)
    weights[pooled] = _weights(rule, np.tile(when, 2)[pooled], own[pooled])
    return weights[: len(whole)], weights[len(whole) :]


def _spread(columns: Columns, met: _Met, weights: Ints) -> Shares:
    shares = np.full((len(columns), pair_number(MAX_SEATS - 2, MAX_SEATS - 1) + 1), SHARE, np.int32)
    shares[met.row, met.pair] = weights
    return shares
