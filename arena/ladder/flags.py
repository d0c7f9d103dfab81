"""Flags: results that are improbable under the fitted ladder. They are published and change no rating.

A pair of seats has the surplus w·(S − E): its weight times the difference of score and expected score. The expected sum
over the matches of two bots is 0. The variance of this sum is estimated by the sum of squares over matches, but at
least by the model's variance, because few results may vary too little by chance. A guest, like an owner, has only one
seat at a table, so the matches of a pair are the clusters. A sum far from 0 means that one bot loses on purpose, or
that the other's style of play is especially effective against it.

If many opponents each lose a few games on purpose, no single pair stands out, but the sum of squares does. For honest
results, the squared surpluses of a bot, in standard errors, follow a χ² distribution. A surplus of single opponents
against the bot proves nothing.

The lift by one owner's bots is the part of a bot's rating that depends on results against them. It is Newton's step
from the fit to a fit without these results, with all other ratings fixed: surplus / (information of the other results +
that of the prior).

The surplus of the newer half of a version's results, divided by their information, estimates how far its strength was
above its rating in that half. It differs from the older half's estimate if the bot was changed without a new version.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

import numpy as np

from arena.ladder.columns import SHARE, Columns, Ints, pair_number
from arena.ladder.events import Guest, Node
from arena.ladder.fit import PRIOR_PRECISION
from arena.ladder.ladder import Flag, FlagKind, Ladder
from arena.ladder.live import SCALE, SEATS
from arena.ladder.symmetric import Floats

PAIR_ERRORS: Final = 4.2
PAIR_SURPLUS: Final = 0.1
"""Minimum surplus of a flagged pair, in standard errors and as a mean score. Honest bots cause smaller ones."""
LIFT_ERRORS: Final = 3.5
LIFT_ELO: Final = 15.0
"""Minimum lift that is flagged, in standard errors and in Elo."""
OPPONENTS_CHANCE: Final = 1e-4
OPPONENTS_LEAST: Final = 8
OPPONENTS_MATCHES: Final = 4
"""Probability of χ² below which opponents flag a bot; minimum number of opponents, and of matches with each."""
CHANGE_ERRORS: Final = 3.0
CHANGE_MATCHES: Final = 50
"""Minimum change that is flagged, in standard errors, and minimum number of matches in each half."""
SMALLEST: Final = 1e-300
"""Lower bound of computed probabilities."""
GRID: Final = 2.0**-10


class _Meetings(NamedTuple):
    """Sums over the matches of pairs, as arrays of equal length."""

    first: Ints
    second: Ints
    matches: Floats
    weight: Floats
    surplus: Floats
    """The first bot's surplus against the second."""
    variance: Floats
    model: Floats
    """The variance of the surplus according to the model."""
    information: Floats

    @property
    def errors(self) -> Floats:
        """The surplus, in standard errors."""
        errors: Floats = self.surplus / np.sqrt(np.maximum(np.maximum(self.variance, self.model), GRID**2))
        return errors

    def summed(self, first: Ints, second: Ints) -> _Meetings:
        """Add up the entries with equal numbers in `first` and `second`."""
        size = int(second.max(initial=0)) + 1
        codes, where = np.unique(first * size + second, return_inverse=True)
        sums = [np.bincount(where, each, len(codes)).astype(np.float64) for each in self[2:]]
        return _Meetings(codes // size, codes % size, *sums)


class _Seats(NamedTuple):
    """Every seat of a guest, as arrays of equal length."""

    position: Ints
    match_id: Ints
    surplus: Floats
    information: Floats


class _Field:
    """The versions of a ladder by position, with their bots and owners by number."""

    def __init__(self, ladder: Ladder, guests: Mapping[Node, Guest]) -> None:
        self.nodes = [figure.node for figure in ladder.figures]
        self.strengths = np.array([figure.rating for figure in ladder.figures]) / SCALE
        bots = sorted({guests[node].bot for node in self.nodes if node in guests})
        numbers = {bot: number for number, bot in enumerate(bots)}
        owned = {numbers[guests[node].bot]: guests[node].owner for node in self.nodes if node in guests}
        owners = {owner: number for number, owner in enumerate(sorted({*owned.values()}))}
        self.bots = np.array([numbers[guests[node].bot] if node in guests else -1 for node in self.nodes], np.int64)
        self.owners = np.array([owners[owned[bot]] for bot in range(len(bots))], np.int64)
        newest = {numbers[guests[line.node].bot]: line.node for line in ladder.lines if line.node in guests}
        self.shown = [newest[bot] for bot in range(len(bots))]


def flags(columns: Columns, ladder: Ladder, guests: Mapping[Node, Guest]) -> tuple[Flag, ...]:
    """Find the flags of the results from which a ladder was fitted, the most certain first.

    `guests` contains every version's bot and owner, except for house bots, which are never flagged.
    """
    field = _Field(ladder, guests)
    if not len(columns) or not field.shown:
        return ()
    meetings, seats = _compared(field, columns)
    found = [
        *_pairs(field, meetings),
        *_owners(field, meetings),
        *_lifts(field, meetings, seats),
        *_opponents(field, meetings),
        *_changes(field, seats),
    ]
    return tuple(sorted(found, key=lambda flag: (-abs(flag.errors), flag.kind.value, flag.node, flag.other or 0)))


def _compared(field: _Field, columns: Columns) -> tuple[_Meetings, _Seats]:
    """Compare all results with the scores expected from ratings.

    Return the meetings of guests of different owners, in both directions, and all seats of guests.
    """
    nodes = np.array(field.nodes, np.int64)
    meetings, table = [], []
    for size in SEATS:
        rows = np.flatnonzero(columns.seats == size)
        if not rows.size:
            continue
        at = np.searchsorted(nodes, columns.nodes[rows, :size].T)
        places, counts = columns.places[rows, :size].T, (columns.counts & ~columns.spoilt)[rows, :size].T
        bots, strengths = field.bots[at], field.strengths[at]
        gained, told = np.zeros((2, *at.shape))
        for i in range(size):
            for j in range(i):
                expected = 1 / (1 + np.exp(strengths[j] - strengths[i]))
                counted = counts[i] & counts[j] & (at[i] != at[j])
                score = counted * ((1 + np.sign(places[j] - places[i])) / 2 - expected)
                spread = counted * expected * (1 - expected)
                guests = counted & (bots[i] >= 0) & (bots[j] >= 0)
                guests[guests] = field.owners[bots[i][guests]] != field.owners[bots[j][guests]]
                for own, other, gain in ((i, j, score), (j, i, -score)):
                    weight = np.full(len(rows), 3 / (size + 1))
                    shares = columns.shares if own < other or columns.later_shares is None else columns.later_shares
                    if shares is not None:
                        weight *= shares[rows, pair_number(own, other)] / SHARE
                    gained[own] += weight * gain
                    told[own] += weight * spread
                    first, second, few, own_gain = (
                        each[guests] for each in (bots[own], bots[other], weight, weight * gain)
                    )
                    known = few * spread[guests]
                    each = _Meetings(first, second, np.ones(len(first)), few, own_gain, own_gain**2, few * known, known)
                    meetings.append(each.summed(first, second))
        sat = counts & (bots >= 0)
        table.append(_Seats(at[sat], np.broadcast_to(columns.match_id[rows], at.shape)[sat], gained[sat], told[sat]))
    joined = _Meetings(*(np.concatenate(each) for each in zip(*meetings, strict=True)))
    return (
        joined.summed(joined.first, joined.second),
        _Seats(*(np.concatenate(each) for each in zip(*table, strict=True))),
    )


def _pairs(field: _Field, meetings: _Meetings) -> Iterator[Flag]:
    for pair in _apart(meetings):
        yield _flag(FlagKind.PAIR, field, meetings, pair, int(meetings.first[pair]), int(meetings.second[pair]))


def _owners(field: _Field, meetings: _Meetings) -> Iterator[Flag]:
    """Flag owners by the sum over several pairs of bots. The flag names the pair with the largest surplus."""
    first, second = field.owners[meetings.first], field.owners[meetings.second]
    together = meetings.summed(first, second)
    for pair in _apart(together):
        own = np.flatnonzero((first == together.first[pair]) & (second == together.second[pair]))
        if len(own) > 1:
            most = int(own[np.argmax(meetings.surplus[own])])
            named = int(meetings.first[most]), int(meetings.second[most])
            yield _flag(FlagKind.OWNERS, field, together, pair, *named)


def _lifts(field: _Field, meetings: _Meetings, seats: _Seats) -> Iterator[Flag]:
    """Flag bots whose rating would be lower without the results against the bots of one owner."""
    told = np.bincount(field.bots[seats.position], seats.information, len(field.shown))
    owners = field.owners[meetings.second]
    together = meetings.summed(meetings.first, owners)
    rest = np.maximum(told[together.first] - together.information, 0.0)
    lifts = SCALE * together.surplus / (rest + PRIOR_PRECISION)
    for pair in np.flatnonzero((together.errors >= LIFT_ERRORS) & (lifts >= LIFT_ELO)).tolist():
        own = np.flatnonzero((meetings.first == together.first[pair]) & (owners == together.second[pair]))
        other = int(meetings.second[own[np.argmax(meetings.surplus[own])]])
        node, matches = field.shown[int(together.first[pair])], int(together.matches[pair])
        sized = _rounded(lifts[pair]), _rounded(together.errors[pair])
        yield Flag(FlagKind.LIFT, node, field.shown[other], matches, *sized)


def _opponents(field: _Field, meetings: _Meetings) -> Iterator[Flag]:
    """Flag bots with improbable results against all opponents together, if most opponents do worse than predicted."""
    often = meetings.matches >= OPPONENTS_MATCHES
    if not often.any():
        return
    from scipy.special import chdtrc, ndtri  # loading it takes a fifth of a fitting process's start time

    own, squares, gains = meetings.first[often], meetings.errors[often] ** 2, meetings.surplus[often] > 0
    size = len(field.shown)
    opponents, losers = np.bincount(own, minlength=size), np.bincount(own[gains], minlength=size)
    chances = chdtrc(np.maximum(opponents, 1), np.bincount(own, squares, size))
    errors = -ndtri(np.maximum(chances, SMALLEST))
    many = (opponents >= OPPONENTS_LEAST) & (2 * losers > opponents)
    for bot in np.flatnonzero(many & (chances < OPPONENTS_CHANCE)).tolist():
        met = often & (meetings.first == bot)
        lost = met & (meetings.surplus > 0)
        scored, matches = meetings.surplus[lost].sum() / meetings.weight[lost].sum(), int(meetings.matches[met].sum())
        sized = _rounded(scored), _rounded(errors[bot])
        yield Flag(FlagKind.OPPONENTS, field.shown[bot], None, matches, *sized)


def _changes(field: _Field, seats: _Seats) -> Iterator[Flag]:
    """Flag versions for which the newer half of the results differs from the older half."""
    order = np.lexsort((seats.match_id, seats.position))
    _, starts, counts = np.unique(seats.position[order], return_index=True, return_counts=True)
    edges = np.stack((starts, starts + counts // 2), axis=1)[counts >= 2 * CHANGE_MATCHES].ravel()
    if not edges.size:
        return
    ends = np.stack((starts + counts // 2, starts + counts), axis=1)[counts >= 2 * CHANGE_MATCHES].ravel()
    sums = [
        np.concatenate(([0.0], np.cumsum(each[order]))) for each in (seats.surplus, seats.surplus**2, seats.information)
    ]
    surplus, squares, told = ((each[ends] - each[edges]).reshape(-1, 2) for each in sums)
    variance = np.maximum(squares, told) / told**2
    moved = SCALE * (surplus[:, 1] / told[:, 1] - surplus[:, 0] / told[:, 0])
    errors = moved / (SCALE * np.sqrt(variance.sum(axis=1)))
    at = seats.position[order][edges[::2]]
    for which in np.flatnonzero(np.abs(errors) >= CHANGE_ERRORS).tolist():
        matches = int(ends[2 * which + 1] - edges[2 * which])
        sized = _rounded(moved[which]), _rounded(errors[which])
        yield Flag(FlagKind.CHANGE, field.nodes[int(at[which])], None, matches, *sized)


def _apart(meetings: _Meetings) -> list[int]:
    """Return the indices of pairs in which the first bot scored improbably far above its expectation."""
    far = (meetings.errors >= PAIR_ERRORS) & (meetings.surplus >= PAIR_SURPLUS * meetings.weight)
    pairs: list[int] = np.flatnonzero(far).tolist()
    return pairs


def _flag(kind: FlagKind, field: _Field, meetings: _Meetings, pair: int, bot: int, other: int) -> Flag:
    """Build a flag for the given bots from the figures of a pair in which the first bot gains."""
    sized = _rounded(meetings.surplus[pair] / meetings.weight[pair]), _rounded(meetings.errors[pair])
    return Flag(kind, field.shown[bot], field.shown[other], int(meetings.matches[pair]), *sized)


def _rounded(value: float) -> float:
    return float(round(float(value) / GRID) * GRID)
