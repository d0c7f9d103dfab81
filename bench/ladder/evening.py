"""Simulation of thousands of matches on a server: live ratings compared with fits, and the opponents that bots meet.

Bots of a dozen owners join one after the other. They play one to eight matches at once, and some are slow. Now and then
a bot returns as a new version. Whenever a match ends or a waiting time is over, the real scheduler forms tables, some
with house bots. Live ratings are updated after every match. Every 100 matches the ladder is fitted. The live ratings,
which are then at their least accurate, are compared with the fit and rebased on it. The first half, in which the ladder
itself is still uncertain, is reported separately.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from heapq import heappop, heappush
from itertools import combinations, count
from random import Random
from statistics import median
from typing import Final

import numpy as np

from arena.ladder.events import Entrant, Node
from arena.ladder.ladder import Ladder
from arena.ladder.live import Rating, rebased, start, update
from arena.scheduling.candidate import Waiting
from arena.scheduling.information_gain import MatchValues, match_values
from arena.scheduling.pool import Pool
from bench.ladder.figures import Bar, Effort, Figure, at_most, with_progress
from bench.ladder.source import columns, fit
from bench.ladder.world import ANCHORS, BOTS, NOBODY, SEATS, SPREAD, STEP, Conditions, Season, ranked

FIT_EVERY: Final = 100
"""Number of matches between two fits."""
INITIAL_BOTS: Final = 16
"""Number of bots at the beginning, anchors included."""
JOIN_EVERY: Final = 150
"""Number of matches between the arrivals of two bots."""
RETURN_EVERY: Final = 250
"""Number of matches between two new versions."""
OWNERS: Final = 12
TABLE: Final = 4
CONDITIONS: Final = Conditions(ties=0.1)


@dataclass(slots=True)
class _Bot:
    """A connected bot."""

    node: Node
    owner: str
    room: int
    pace: float
    """Factor that multiplies the length of the bot's matches."""
    since: float = 0.0


@dataclass(slots=True)
class Evening:
    """Figures of one simulation."""

    differences: list[list[float]] = field(default_factory=list)
    """For each fit, the differences in Elo between the live and fitted ratings of the bots on the ladder.

    A bot counts if it is provisional neither before nor after the fit. The median difference is subtracted, because it
    is a shift of the whole scale and not an error of any rating.
    """
    matches: int = 0
    house_seats: int = 0
    same_owner: int = 0
    """Number of tables with two bots of one owner, not counting house bots."""
    longest_wait: float = 0.0
    """Longest time that a bot below its capacity waited for its next table, in mean match lengths."""


class _Simulation:
    """State of one simulation."""

    def __init__(self, seed: tuple[int, ...]) -> None:
        self.evening = Evening()
        self.chance = np.random.default_rng(seed)
        self.random = Random(str(seed))
        self.now = 0.0
        self.pool: Pool[Node] = Pool([Node(node) for node in range(ANCHORS)], self.random)
        self.entrants: list[Entrant] = []
        self.strengths: list[float] = []
        self.live: dict[Node, Rating] = {}
        self.bots: dict[Node, _Bot] = {}
        self.running: list[tuple[float, int, tuple[Node, ...]]] = []
        self.numbers = count()
        self.worth: MatchValues[Node] = MatchValues()
        self.pending: dict[Node, int] = {}
        self.results: list[tuple[tuple[Node, ...], list[int]]] = []
        self.settled: frozenset[Node] = frozenset()
        self.ladder: Ladder | None = None
        for number in range(INITIAL_BOTS):
            self.join(anchor=number < ANCHORS)

    def join(self, anchor: bool = False) -> None:
        """Add a new bot."""
        node = Node(len(self.entrants))
        self.entrants.append(Entrant(node, anchor=anchor))
        self.strengths.append(self.random.gauss(0, SPREAD))
        self.live[node] = start(None)
        if not anchor:
            owner = f"owner {self.random.randrange(OWNERS)}"
            pace = 5.0 if self.random.random() < 0.1 else 1.0
            self.bots[node] = _Bot(node, owner, self.random.randint(1, 8), pace, self.now)

    def come_back(self) -> None:
        """Replace a bot with a new version. The old version's matches continue."""
        old = self.bots.pop(self.random.choice([*self.bots]))
        self.pool.remove(old.node)
        node = Node(len(self.entrants))
        self.entrants[old.node] = self.entrants[old.node]._replace(newest=False)
        self.entrants.append(Entrant(node, parent=old.node))
        self.strengths.append(self.strengths[old.node] + self.random.gauss(0, STEP))
        self.live[node] = start(self.live[old.node])
        self.bots[node] = _Bot(node, old.owner, self.random.randint(1, 8), old.pace, self.now)

    def form_tables(self) -> float:
        """Form all tables that are possible now. Return the next time at which more may be possible."""
        for bot in self.bots.values():
            value, pending = self.worth.of(bot.node), self.pending.get(bot.node, 0)
            self.pool.update(Waiting(bot.node, bot.owner, bot.since, bot.room, value, pending))
        while table := self.pool.table(TABLE, self.now):
            self._begin(table.bots)
        return self.pool.due(self.now)

    def _begin(self, nodes: tuple[Node, ...]) -> None:
        guests = [self.bots[node] for node in nodes if not self.entrants[node].anchor]
        self.evening.house_seats += TABLE - len(guests)
        self.evening.same_owner += any(one.owner == other.owner for one, other in combinations(guests, 2))
        for bot in guests:
            self.evening.longest_wait = max(self.evening.longest_wait, self.now - bot.since)
            bot.room -= 1
            bot.since = self.now
            self.pending[bot.node] = self.pending.get(bot.node, 0) + 1
        pace = max((bot.pace for bot in guests), default=1.0)
        heappush(self.running, (self.now + pace * self.random.expovariate(1), next(self.numbers), nodes))

    def end_next(self) -> None:
        """End the running match that ends first."""
        self.now, _, nodes = heappop(self.running)
        means = np.full((1, SEATS), np.nan)
        means[0, :TABLE] = [self.strengths[node] for node in nodes]
        places = ranked(means, CONDITIONS, self.chance)[0, :TABLE].tolist()
        self.results.append((nodes, places))
        self.evening.matches += 1
        for node, rating in zip(nodes, update([self.live[n] for n in nodes], places, nodes), strict=True):
            self.live[node] = rating
            if bot := self.bots.get(node):
                bot.since = bot.since if bot.room else self.now
                bot.room += 1

    def rebase(self) -> None:
        """Fit all results, compare live ratings with the fit, and rebase them on it."""
        nodes = np.full((len(self.results), SEATS), NOBODY)
        places = np.zeros((len(self.results), SEATS), dtype=int)
        nodes[:, :TABLE], places[:, :TABLE] = ([result[part] for result in self.results] for part in (0, 1))
        means = np.full(nodes.shape, np.nan)
        season = Season(CONDITIONS, tuple(self.entrants), np.array(self.strengths), nodes, places, means)
        fitted = fit(season.entrants, columns(season))
        shown = fitted.settled & {entrant.node for entrant in self.entrants if entrant.newest}
        moves = [self.live[node].value - float(fitted.ratings[node]) for node in sorted(shown & self.settled)]
        scale = median(moves) if moves else 0.0
        self.evening.differences.append([abs(move - scale) for move in moves])
        self.settled, self.ladder = fitted.settled, fitted.ladder
        self.live = rebased(fitted.ladder)
        for node, parent, *_ in self.entrants:  # a version without matches starts at its parent's rating
            if node not in self.live:
                self.live[node] = start(None if parent is None else self.live[parent])
        self.worth = match_values({node: self.live[node] for node in self.bots})
        self.pending = {}
        for _, _, table in self.running:
            for node in table:
                self.pending[node] = self.pending.get(node, 0) + 1


def simulate(matches: int, seed: tuple[int, ...]) -> Evening:
    """Simulate `matches` matches."""
    play = _Simulation(seed)
    due = play.form_tables()
    for number in range(1, matches + 1):
        while not play.running or due < play.running[0][0]:
            play.now = max(play.now, due)
            due = play.form_tables()
        play.end_next()
        if number % JOIN_EVERY == 0 and len(play.bots) + ANCHORS < BOTS:
            play.join()
        if number % RETURN_EVERY == 0:
            play.come_back()
        if number % FIT_EVERY == 0:
            play.rebase()
        due = play.form_tables()
    return play.evening


def measure(effort: Effort, seed: int) -> list[Figure]:
    """Measure several simulations."""
    evenings = [
        simulate(effort.of(2_000, 10_000, 20_000), (seed, 4, number))
        for number in with_progress(range(effort.of(1, 4, 20)), "live ratings and fits")
    ]
    fits = [evening.differences for evening in evenings]
    young = np.concatenate([each for every in fits for each in every[: len(every) // 2]])
    differences = np.concatenate([each for every in fits for each in every[len(every) // 2 :]])
    matches = sum(evening.matches for evening in evenings)
    seats = matches * TABLE
    note = f"{len(differences):,} comparisons, second halves of evenings of {evenings[0].matches:,} matches"
    share = 100 * sum(evening.house_seats for evening in evenings) / seats
    return [
        Figure("live beside fit, mean on a young ladder", young.mean(), ".2f", "Elo", note="first halves"),
        Figure("live beside fit, mean", differences.mean(), ".2f", "Elo", bar=at_most(3), note=note),
        Figure("live beside fit, largest", differences.max(), ".2f", "Elo", bar=at_most(10), note=note),
        Figure(
            "tables with two bots of one owner",
            sum(evening.same_owner for evening in evenings),
            ".0f",
            bar=at_most(0),
            note=f"of {matches:,}",
        ),
        Figure("seats that house bots had", share, ".1f", "%", bar=Bar(7.7, 100)),
        Figure("longest wait", max(evening.longest_wait for evening in evenings), ".1f", "mean lengths of a match"),
    ]
