"""The result of a comparison, computed from its sets: which bot is better, by how much, and how certainly.

A set yields one number d, the first bot's points minus the other's. Sets are independent. Normalised Elo is 347.4·t
with t = mean(d)/sd(d). Elo means the same as on the ladder, and follows from the share of opponents that a bot finishes
ahead of. `sequential` defines the stopping rule. Sets end in any order, but count in numerical order: see
`OrderedSets`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log, sqrt
from statistics import fmean
from typing import Final

from arena.ladder.live import SCALE
from arena.local.match.design import ONE, OTHER, Design
from arena.local.match.sequential import LEAST_SETS, RunningTest, SequentialState, SequentialTest, bounds, decide
from arena.local.match.sets import PlayedSet, SeatedGame, Subject, above, beaten, set_score

NORMALISED: Final = 800 / log(10)
"""Normalised Elo for t = 1."""
JACKKNIFED: Final = 200
"""Approximate number of jackknife groups for the error of the gain."""


@dataclass(frozen=True, slots=True)
class Measure:
    """A figure with its standard error."""

    value: float
    error: float | None
    """Standard error, or None after a single observation."""


@dataclass(frozen=True, slots=True)
class BotFigures:
    """The figures of one bot over all its games."""

    points: Measure
    place: Measure
    """Mean place, where 1 is the best."""
    beaten: float
    """Share of the bot's opponents that it finished ahead of. A tie counts half."""
    by_seat: tuple[float | None, ...]
    """Mean points by seat, or None for a seat that the bot never had."""
    think_us: float
    """Mean thinking time per decision, in microseconds."""
    slowest_us: int


@dataclass(frozen=True, slots=True)
class Comparison:
    """Two bots compared over some sets."""

    sets: int
    games: int
    difference: Measure
    """Mean of the first bot's points minus the other's in a set. The test and the intervals refer to this mean."""
    interval: tuple[float, float] | None
    """95 % confidence interval of that difference, or None after one set."""
    likely: float | None
    """Likelihood of superiority: the probability that the first bot is better, given these sets. None after one set."""
    normalised: Measure | None
    """Normalised Elo of that difference, or None if all sets were equal."""
    elo: Measure | None
    """Difference in Elo, or None if either bot beat all of its opponents or none of them."""
    won: int
    drawn: int
    lost: int
    """Numbers of sets by the sign of their difference."""
    gain: Measure | None
    """Factor by which independent deals would increase the number of games for the same certainty, or None."""
    bots: tuple[BotFigures, BotFigures]


def adjusted_chances(comparisons: Sequence[Comparison | None]) -> list[float | None]:
    """Return for each pair the two-sided p-value of the hypothesis that its bots are equal, adjusted to the number of
    pairs by Holm's method.

    If all bots are equal, at most 5 % of matches have any value below 5 %, whatever the number of pairs. The value is
    None for a pair with too few sets.
    """
    chances: list[float | None] = [None] * len(comparisons)
    known = {
        at: 2 * min(each.likely, 1 - each.likely)
        for at, each in enumerate(comparisons)
        if each is not None and each.likely is not None and each.sets >= LEAST_SETS
    }
    least = 0.0
    for step, at in enumerate(sorted(known, key=known.__getitem__)):
        least = max(least, min(1.0, (len(comparisons) - step) * known[at]))
        chances[at] = least
    return chances


def within(count: int) -> float:
    """Return the half width of a mean's 95 % interval in standard errors (Student's t), for two or more values."""
    from scipy.special import stdtrit

    return float(stdtrit(count - 1, 0.975))


def compare(design: Design, sets: Sequence[PlayedSet]) -> Comparison:
    """Compare two bots over at least one set."""
    scores = [set_score(design, played) for played in sets]
    difference = _measure(scores)
    interval = likely = normalised = None
    if difference.error is not None:
        from scipy.special import stdtr

        count = len(scores)
        if difference.error:
            half = within(count) * difference.error
            likely = float(stdtr(count - 1, difference.value / difference.error))
            t = difference.value / (difference.error * sqrt(count))
            normalised = Measure(NORMALISED * t, NORMALISED * sqrt((1 + t * t / 2) / count))
        else:
            half, likely = 0.0, 0.5 + ((difference.value > 0) - (difference.value < 0)) / 2
        interval = difference.value - half, difference.value + half
    return Comparison(
        len(sets),
        sum(len(played.games) for played in sets),
        difference,
        interval,
        likely,
        normalised,
        _elo(design, sets),
        sum(score > 0 for score in scores),
        sum(score == 0 for score in scores),
        sum(score < 0 for score in scores),
        _gain(sets, scores) if design is Design.SAME_SEATS else None,
        (_figures(sets, ONE), _figures(sets, OTHER)),
    )


def _elo(design: Design, sets: Sequence[PlayedSet]) -> Measure | None:
    """Estimate the difference in Elo from the bots' results against each other at one table, or against the field."""

    def of(game: SeatedGame, bot: int) -> float:
        others = [seat for seat, other in enumerate(game.bots) if other != bot]
        if design is Design.ONE_TABLE:
            others = [game.bots.index(OTHER)]
        return beaten(game, bot, others)

    if design is Design.ONE_TABLE:
        shares = [(fmean(of(game, ONE) for game in played.games), 0.5) for played in sets]
    else:
        shares = [(of(played.games[0], ONE), of(played.games[1], OTHER)) for played in sets]
    one, other = (fmean(each[bot] for each in shares) for bot in (0, 1))
    if not (0 < one < 1 and 0 < other < 1):
        return None
    influence = [(a - one) / (one * (1 - one)) - (b - other) / (other * (1 - other)) for a, b in shares]
    error = _measure(influence).error
    return Measure(SCALE * (log(one / (1 - one)) - log(other / (1 - other))), None if error is None else SCALE * error)


def _gain(sets: Sequence[PlayedSet], scores: Sequence[float]) -> Measure | None:
    """Estimate the ratio of the difference's variance with independent deals to that with common deals."""
    apart = [[above(played.games[bot], bot) for played in sets] for bot in (ONE, OTHER)]
    count = len(scores)
    if count < LEAST_SETS:
        return None

    def ratio(drop: int | None) -> float:
        kept = [at for at in range(count) if at != drop]
        independent = sum(_variance([values[at] for at in kept]) for values in apart)
        together = _variance([scores[at] for at in kept])
        return independent / together if together else 0.0

    whole = ratio(None)
    if not whole:
        return None
    some = range(0, count, max(1, count // JACKKNIFED))
    each = [log(value) for drop in some if (value := ratio(drop))]
    middle = fmean(each)
    return Measure(whole, whole * sqrt((count - 1) * fmean((value - middle) ** 2 for value in each)))


def _figures(sets: Sequence[PlayedSet], bot: int) -> BotFigures:
    games = [game for played in sets for game in played.games if bot in game.bots]
    own = [(game.played, game.bots.index(bot)) for game in games]
    points = [float(played.scores[seat]) for played, seat in own]
    places = [float(played.places[seat]) for played, seat in own]
    of_set = len(games) // len(sets)
    seats = range(len(games[0].bots))
    by_seat = [[played.scores[seat] for played, seat in own if seat == each] for each in seats]
    against = [[other for other in seats if other != seat] for _, seat in own]
    return BotFigures(
        _measure(_means(points, of_set)),
        _measure(_means(places, of_set)),
        fmean(beaten(game, bot, others) for game, others in zip(games, against, strict=True)),
        tuple(fmean(scores) if scores else None for scores in by_seat),
        sum(played.think_us[seat] for played, seat in own) / sum(played.decisions[seat] for played, seat in own),
        max(played.slowest_us[seat] for played, seat in own),
    )


def _means(values: Sequence[float], size: int) -> list[float]:
    """Return the mean of each set. Games of one set share their deals, so only sets are independent."""
    return [fmean(values[at : at + size]) for at in range(0, len(values), size)]


def _measure(values: Sequence[float]) -> Measure:
    mean = fmean(values)
    return Measure(mean, sqrt(_variance(values) / len(values)) if len(values) > 1 else None)


def _variance(values: Sequence[float]) -> float:
    mean = fmean(values)
    return sum((value - mean) ** 2 for value in values) / max(1, len(values) - 1)


class OrderedSets:
    """The sets of a pair up to the first missing one. Later sets do not count yet."""

    def __init__(self, subject: Subject, pair: tuple[int, int], most: int, test: SequentialTest | None) -> None:
        """Accept at most `most` sets. With a test, accept no sets after its decision."""
        self.pair = pair
        self.most = most
        self.test = test
        self.scores: list[float] = []
        """The first bot's points minus the other's in each set."""
        self.running = None if test is None else RunningTest(test)
        self._subject = subject

    @property
    def names(self) -> tuple[str, str]:
        """The two bots as given on the command line."""
        one, other = self.pair
        return self._subject.bots[one], self._subject.bots[other]

    @property
    def state(self) -> SequentialState | None:
        """State of the test, or None without a test."""
        return None if self.running is None else self.running.state

    @property
    def enough(self) -> bool:
        """True if the pair needs no more sets."""
        decided = self.running is not None and not self.running.undecided
        return decided or len(self.scores) >= self.most

    def add(self, played: PlayedSet) -> None:
        """Add the next set, unless the pair needs no more."""
        if self.enough:
            return
        own = self._subject.of_pair(self.pair, played)
        self.scores.append(set_score(self._subject.design, own))
        if self.running is not None and self.test is not None:
            self.running.update(self.test.score(self._subject.design, own))

    def comparison(self, found: Mapping[int, PlayedSet]) -> Comparison | None:
        """Compare the two bots by the added sets. Return None if there are none."""
        if not self.scores:
            return None
        sets = [self._subject.of_pair(self.pair, found[number]) for number in range(len(self.scores))]
        return compare(self._subject.design, sets)


class OrderedPairs:
    """The sets of every pair of a match."""

    def __init__(self, subject: Subject, most: int, test: SequentialTest | None) -> None:
        """Accept at most `most` sets for each pair. With a test, accept no sets after the pair's own decision."""
        self.most = most
        self.test = test
        self.pairs = [OrderedSets(subject, pair, most, test) for pair in subject.pairs]
        self._tests = [each.running for each in self.pairs if each.running is not None]

    @property
    def sets(self) -> int:
        """The largest number of sets that any pair has."""
        return max(len(each.scores) for each in self.pairs)

    @property
    def enough(self) -> bool:
        """True if no pair needs more sets."""
        return all(each.enough for each in self.pairs)

    @property
    def sets_left(self) -> float:
        """The number of sets until no pair needs more. With a test it is an estimate, or infinite if it is unknown."""
        most = self.most - self.sets
        if not self._tests:
            return most
        left = max((each.sets_left(*bounds(self._tests)) for each in self._tests if each.undecided), default=0.0)
        return min(left, most) if left < float("inf") else left

    def take(self, found: Mapping[int, PlayedSet]) -> None:
        """Add the next sets to every pair, up to the first missing set."""
        while not self.enough and (played := found.get(self.sets)) is not None:
            for each in self.pairs:
                each.add(played)
            decide(self._tests)
