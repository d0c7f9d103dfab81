"""The quota of a pair: however often two guests meet on a day, their matches count together as so many at most.

All k matches of a pair on a day weigh the same, min(1, quota/k) in whole `SHARE`ths: a function of the set of results,
not of their order, and a match that is void gives its weight back to the others. Versions of a bot are one; house bots
have no quota, since they lose to nobody on purpose.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from itertools import combinations
from typing import NamedTuple

import numpy as np

from arena.ladder.columns import MAX_SEATS, NO_NODE, SHARE, Columns, pair_number
from arena.ladder.events import Guest, Node


class PairQuota(NamedTuple):
    """A quota, and whom it is for."""

    matches: int
    """Matches of a day that two bots count at most, at least 1."""
    guests: Mapping[Node, Guest]
    """To whom the versions belong that are no house bot's."""


def under_quota(columns: Columns, quota: PairQuota | None) -> Columns:
    """Return the results with the weights that pairs of seats have under a quota, if there is one."""
    if quota is None or not len(columns):
        return columns
    bots = np.full(int(columns.nodes.max()) + 2, -1)  # the last one for seats that do not exist
    known = [(node, guest.bot) for node, guest in quota.guests.items() if node < len(bots) - 1]
    if known:
        nodes, numbers = zip(*known, strict=True)
        bots[np.array(nodes)] = np.unique(np.array(numbers), return_inverse=True)[1]
    size = int(bots.max()) + 1
    sitting = bots[np.where(columns.nodes == NO_NODE, len(bots) - 1, columns.nodes)].T
    days = columns.days - int(columns.days.min())
    places, rows, codes = [], [], []
    for one, other in combinations(range(MAX_SEATS), 2):
        met = np.flatnonzero((sitting[one] >= 0) & (sitting[other] >= 0) & (sitting[one] != sitting[other]))
        first, second = (each(sitting[one][met], sitting[other][met]) for each in (np.minimum, np.maximum))
        places.append(np.full(len(met), pair_number(one, other)))
        rows.append(met)
        codes.append((days[met] * size + first) * size + second)
    _, which, counts = np.unique(np.concatenate(codes), return_inverse=True, return_counts=True)
    weights = np.where(counts > quota.matches, (SHARE * quota.matches + counts // 2) // counts, SHARE)
    if (weights == SHARE).all():
        return columns
    shares = np.full((len(columns), len(places)), SHARE, np.int32)
    shares[np.concatenate(rows), np.concatenate(places)] = weights[which]
    return replace(columns, shares=shares)
