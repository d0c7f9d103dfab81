"""The quota of a pair: however often two guests meet, their matches of a day and of a week count together as so many.

The k matches of a pair on a day count together as c = min(k, day's quota), and the days of a week as so many in all as
the week's quota at most. All matches of a pair on a day weigh the same, in whole `SHARE`ths: a function of the set of
results, not of their order, and a match that is void gives its weight back to the others. Weeks are those of the
calendar, from Monday, as days are: a span of seven days that moved along would make weights depend on where it began.
Versions of a bot are one; house bots have no quota, since they lose to nobody on purpose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from arena.ladder.columns import MAX_SEATS, NO_NODE, SHARE, Columns, Ints, pair_number
from arena.ladder.events import FIRST_MONDAY, WEEK_DAYS, Guest, Node
from arena.ladder.quota import Quota


class PairQuota(NamedTuple):
    """A quota, and whom it is for."""

    rule: Quota
    guests: Mapping[Node, Guest]
    """To whom the versions belong that are no house bot's."""


def under_quota(columns: Columns, quota: PairQuota | None) -> Columns:
    """Return the results with the weights that pairs of seats have under a quota, if there is one."""
    if quota is None or not quota.rule.bounds or not len(columns):
        return columns
    bots = np.full(int(columns.nodes.max()) + 2, -1)  # the last one for seats that do not exist
    known = [(node, guest.bot) for node, guest in quota.guests.items() if node < len(bots) - 1]
    if known:
        nodes, numbers = zip(*known, strict=True)
        bots[np.array(nodes)] = np.unique(np.array(numbers), return_inverse=True)[1]
    size = int(bots.max()) + 1
    sitting = bots[np.where(columns.nodes == NO_NODE, len(bots) - 1, columns.nodes)].T
    first_day = int(columns.days.min())
    days = columns.days - first_day
    places, rows, codes = [], [], []
    for one, other in combinations(range(MAX_SEATS), 2):
        met = np.flatnonzero((sitting[one] >= 0) & (sitting[other] >= 0) & (sitting[one] != sitting[other]))
        first, second = (each(sitting[one][met], sitting[other][met]) for each in (np.minimum, np.maximum))
        places.append(np.full(len(met), pair_number(one, other)))
        rows.append(met)
        codes.append((days[met] * size + first) * size + second)
    pair_days, which, counts = np.unique(np.concatenate(codes), return_inverse=True, return_counts=True)
    if not len(pair_days):
        return columns
    weeks = (pair_days // size**2 + first_day - FIRST_MONDAY) // WEEK_DAYS
    weights = _weights(quota.rule, (weeks - weeks.min()) * size**2 + pair_days % size**2, counts)
    if (weights == SHARE).all():
        return columns
    shares = np.full((len(columns), len(places)), SHARE, np.int32)
    shares[np.concatenate(rows), np.concatenate(places)] = weights[which]
    return replace(columns, shares=shares)


def _weights(rule: Quota, pair_weeks: Ints, counts: Ints) -> Ints:
    """Return what each match of a pair on a day weighs, in `SHARE`ths, by pair and day.

    `counts` are the matches of a pair on a day, `pair_weeks` is equal for the days of a week of one pair.
    """
    counting = np.minimum(counts, rule.day) if rule.day else counts
    _, which = np.unique(pair_weeks, return_inverse=True)
    together = np.zeros(int(which.max(initial=-1)) + 1, np.int64)
    np.add.at(together, which, counting)
    kept = np.minimum(together, rule.week) if rule.week else together
    all_of_them = counts * together[which]
    weights: Ints = (SHARE * counting * kept[which] + all_of_them // 2) // all_of_them
    return weights
