"""Orders of bots by other rating systems: Elo with constant K, openskill's Plackett–Luce, and the ladder's live Elo
alone.

Each system computes one number per bot after every round of a simulated world. Only the order of these numbers counts.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from scipy.special import expit

from arena.ladder.live import NEW, SCALE, update
from bench.ladder.world import Floats, Ints


def constant_elo(nodes: Ints, places: Ints, bots: int, factors: Sequence[float]) -> Iterator[Floats]:
    """Iterate over Elo ratings with constant K after each round: [worlds, factors, bots].

    `nodes` and `places` are [worlds, rounds, tables, seats], with every bot at most once per round. A match counts as
    one game, with the bot's mean score against its opponents.
    """
    worlds, rounds, _, seats = nodes.shape
    ratings = np.zeros((worlds, len(factors), bots))
    every_world = np.arange(worlds)[:, None, None]
    gain = np.array(factors)[:, None, None] / (seats - 1)
    for number in range(rounds):
        who, place = nodes[:, number], places[:, number]
        surplus = (place[..., :, None] < place[..., None, :]) + (place[..., :, None] == place[..., None, :]) / 2
        now = ratings[every_world, :, who].transpose(0, 3, 1, 2)
        expected = expit((now[..., :, None] - now[..., None, :]) / SCALE)
        # subtract the ½ that the matrix contains for each seat against itself
        change = gain * (surplus[:, None] - expected).sum(axis=-1)
        ratings[every_world, :, who] += change.transpose(0, 2, 3, 1)
        yield ratings


def plackett_luce(nodes: Ints, places: Ints, bots: int) -> Iterator[Floats]:
    """Iterate over every bot's μ after each round, as openskill computes it by default."""
    from openskill.models import PlackettLuce

    model = PlackettLuce()
    ratings = [model.rating() for _ in range(bots)]
    means = np.array([rating.mu for rating in ratings])
    for who, place in zip(nodes.tolist(), places.tolist(), strict=True):
        for table, ranks in zip(who, place, strict=True):
            after = model.rate([[ratings[bot]] for bot in table], ranks=ranks)
            for bot, (rating,) in zip(table, after, strict=True):
                ratings[bot] = rating
                means[bot] = rating.mu
        yield means


def live_only(nodes: Ints, places: Ints, bots: int) -> Iterator[Floats]:
    """Iterate over the live Elo ratings after each round, if they are never rebased on a fit."""
    ratings = [NEW] * bots
    values = np.full(bots, NEW.value)
    for who, place in zip(nodes.tolist(), places.tolist(), strict=True):
        for table, ranks in zip(who, place, strict=True):
            for bot, rating in zip(table, update([ratings[bot] for bot in table], ranks), strict=True):
                ratings[bot] = rating
                values[bot] = rating.value
        yield values
