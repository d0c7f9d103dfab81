"""The live Elo rating, updated after every match, and its rebase on a fitted ladder.

A match of n seats counts as n(n−1)/2 pairs with the score S = 1, ½ or 0. Each pair has the weight w_n = 3/(n+1),
because only this weight makes the information of the pairwise likelihood equal to the variance of its score. The scale
is c = 400/ln 10. After a match, the ratings of all bots are updated at once, from their ratings before it. First the
information grows: 1/RD² += w_n Σ E(1−E)/c². Then, with the new RD, K = RD²/c and R += K·w_n·Σ (S−E). K has no lower
bound, because a frozen bot's strength does not change.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Hashable, Iterable, Sequence
from dataclasses import dataclass
from math import exp, fsum, hypot, log, sqrt
from typing import Final, TypeAlias

from arena.ladder.errors import UnknownNode
from arena.ladder.events import Entrant, Event, MatchResult, Node, Void
from arena.ladder.ladder import Ladder

SCALE: Final = 400 / log(10)
"""The scale c: Elo per unit of log odds."""
SeatPair: TypeAlias = tuple[int, int]
"""Two seats of a match, the lower number first."""
SEATS: Final = range(2, 8)
"""Numbers of seats that a rated match may have."""


@dataclass(frozen=True, slots=True)
class Rating:
    """A strength in Elo and the standard deviation of its error."""

    value: float
    deviation: float


NEW: Final = Rating(1500.0, 150.0)
"""Rating of a bot's first version before its first match."""
VERSION_DEVIATION: Final = 60.0
"""Standard deviation of the difference between a version and its parent, in Elo."""


@dataclass(frozen=True, slots=True)
class RatingChange:
    """Rating of one bot before and after a match."""

    before: Rating
    after: Rating
    beyond_quota: tuple[int, ...] = ()
    """Seats of bots that met this bot too often that day or week: results between them change neither rating."""
    counts_again: tuple[tuple[int, int], ...] = ()
    """Seats of bots with which this bot's quota is used up, each with the first day on which matches count again."""

    @property
    def change(self) -> float:
        """Elo gained. Negative if lost."""
        return self.after.value - self.before.value


def start(parent: Rating | None) -> Rating:
    """Return the rating of a version before its first match: its parent's rating with a larger deviation, or `NEW`."""
    return NEW if parent is None else Rating(parent.value, hypot(parent.deviation, VERSION_DEVIATION))


def expected(rating: float, opponent: float) -> float:
    """Compute the expected score E = 1/(1+10^((opponent−rating)/400)), without overflow for finite ratings."""
    difference = (opponent - rating) / SCALE
    if difference > 0:
        odds = exp(-difference)
        return odds / (1 + odds)
    return 1 / (1 + exp(difference))


def update(
    ratings: Sequence[Rating],
    places: Sequence[int],
    bots: Sequence[Hashable] | None = None,
    counts: Sequence[bool] | None = None,
    spoilt: Sequence[bool] = (),
    beyond_quota: Collection[SeatPair] = (),
) -> tuple[Rating, ...]:
    """Compute the ratings after a match, by seat.

    `ratings`: the ratings before the match. `places`: the result; 1 is the best, and ties share a place. `bots`: the
    bot of each seat (default: all different). Pairs of seats of the same bot do not count, the changes of a bot's seats
    are added, and all its seats get the same rating. `counts`: for each seat, whether the result counts for its bot
    (default: for all). Other ratings do not change. `spoilt`: for each seat, whether it changes no other rating
    (default: none). All other pairs have their usual weight, so a bot gains no influence by vanishing. `beyond_quota`:
    pairs of seats that count for neither side. The order of the seats has no effect, to the last bit. Raises ValueError
    unless there are 2–7 seats, all lengths are equal and each bot has one rating.
    """
    owners = range(len(ratings)) if bots is None else bots
    seats = range(len(ratings))
    marks = spoilt or (False,) * len(seats)
    if len(seats) not in SEATS:
        raise ValueError(f"a rated match has {SEATS.start} to {SEATS.stop - 1} seats, not {len(seats)}")
    counted = set(owners) if counts is None else {bot for bot, does in zip(owners, counts, strict=True) if does}
    if not len(ratings) == len(places) == len(owners) == len(marks):
        raise ValueError(f"{len(ratings)} ratings, {len(places)} places and {len(owners)} bots for one match")
    before = dict(zip(owners, ratings, strict=True))
    if any(before[owners[seat]] != ratings[seat] for seat in seats):
        raise ValueError("one bot cannot have two ratings in one match")

    unmoving = {bot for bot, does in zip(owners, marks, strict=True) if does}
    weight = 3 / (len(seats) + 1)
    after = {}
    for bot, rating in before.items():
        if bot not in counted:
            after[bot] = rating
            continue
        pairs = [(i, j) for i in seats for j in seats if owners[i] == bot != owners[j] and owners[j] not in unmoving]
        if beyond_quota:
            pairs = [(i, j) for i, j in pairs if (min(i, j), max(i, j)) not in beyond_quota]
        expectations = [expected(rating.value, ratings[j].value) for _, j in pairs]
        information = weight * fsum(e * (1 - e) for e in expectations) / SCALE**2
        variance = 1 / (rating.deviation**-2 + information)
        surplus = fsum(_score(places[i], places[j]) - e for (i, j), e in zip(pairs, expectations, strict=True))
        after[bot] = Rating(rating.value + variance / SCALE * weight * surplus, sqrt(variance))
    return tuple(after[bot] for bot in owners)


def _score(place: int, other: int) -> float:
    """Return the score S of a pair: 1 for the better place, ½ for a shared one, 0 for the worse."""
    return 1.0 if place < other else 0.5 if place == other else 0.0


def rebased(ladder: Ladder) -> dict[Node, Rating]:
    """Return the live rating, at the ladder's last event, of every node for which a match counts.

    Deviations exclude the error of the scale, which no match can reduce. Nodes without a match that counts are omitted:
    the ladder contains only the prior for them, and they begin with `arena.ladder.live.start`.
    """
    return {figure.node: Rating(figure.rating, figure.error) for figure in ladder.figures if figure.matches}


def replayed_since(
    ladder: Ladder,
    entrants: Iterable[Entrant],
    events: Iterable[Event],
    beyond_quota: Callable[[MatchResult], Collection[SeatPair]] = lambda _: (),
) -> dict[Node, Rating]:
    """Compute the live ratings after the last of `events`, which are in order.

    Events that the ladder includes are skipped.

    A node not on the ladder gets a rating with its first match, from its nearest ancestor that has one. Nodes that are
    not on the ladder and have not played are omitted. The annulment of a match that is newer than the ladder takes
    effect here, that of an older match with the next ladder. `beyond_quota` returns the pairs of seats of a
    result that do not count. It is called for results that are not annulled, in order. Raises UnknownNode for a seat of
    a node that is not an entrant.
    """
    ratings = rebased(ladder)
    parents = {entrant.node: entrant.parent for entrant in entrants}

    def rating(node: Node, match_id: int) -> Rating:
        if node in ratings:
            return ratings[node]
        if node not in parents:
            raise UnknownNode(match_id, node)
        ancestor = parents[node]
        while ancestor is not None and ancestor not in ratings:
            ancestor = parents.get(ancestor)
        return start(None if ancestor is None else ratings[ancestor])

    later = [event for event in events if event.number > ladder.through]
    voided = {event.match_id for event in later if isinstance(event, Void)}
    for event in later:
        if isinstance(event, MatchResult) and event.match_id not in voided:
            before = [rating(node, event.match_id) for node in event.nodes]
            after = update(before, event.places, event.nodes, event.counts, event.spoilt, beyond_quota(event))
            ratings |= {node: new for node, new, does in zip(event.nodes, after, event.counts, strict=True) if does}
    return ratings
