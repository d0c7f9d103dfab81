"""Whole matches of the network against itself in the vectorised environment, with the result of every decision.

A decision's result is the seat's points in the round minus the mean of the other seats' points. A Hupfer costs at once
what it costs at the end of the match. Decisions with a single option are not stored, because they teach nothing.
"""

from __future__ import annotations

from time import process_time
from typing import Final, NamedTuple

import numpy as np
from encoding import Array, Encoding
from network import Weights, answer

from engine.adapters.vector_env import VectorEnv

SCALE: Final = 20.0
"""Number of points that count as 1: the points for a fulfilled bid of 0."""


class Batch(NamedTuple):
    """Decisions of some matches, in any order."""

    features: Array
    """[decisions, numbers], float32."""
    open: Array
    """Open choices [decisions, choices], bool."""
    chosen: Array
    """[decisions], int64."""
    log_chances: Array
    """Logarithm of the choice's probability [decisions], float32."""
    results: Array
    """Results of the round, in units of `SCALE` [decisions], float32."""
    seconds: float
    """Processor time spent on playing, in seconds."""


def play(weights: Weights, seed: int, games: int, seats: int) -> Batch:
    """Play a number of matches to their end; equal arguments give equal matches.

    Raises: SeedError: the seed is out of range.
    """
    began = process_time()
    encoding, env = Encoding(seats), VectorEnv("nullern", seats, games)
    asked = env.reset(seed)
    chance = np.random.default_rng(seed)
    rounds = np.full(games, -1)
    standings = [np.zeros((games, seats))]
    kept: list[tuple[Array, ...]] = []
    going = True
    while going:
        if (encoding.rounds(asked.observations) != rounds).any():
            rounds = encoding.rounds(asked.observations)
            if rounds[0]:
                standings.append(encoding.standings(asked.observations, asked.seats))
        open_ = encoding.choices(asked.observations, asked.masks)
        chosen = open_.argmax(1)
        free = np.flatnonzero(open_.sum(1) > 1)
        if len(free):
            features = encoding.features(asked.observations[free])
            log_chances = answer(weights, features, open_[free]).log_chances
            chosen[free] = drawn(log_chances, chance)
            taken = log_chances[np.arange(len(free)), chosen[free]]
            kept.append((features, open_[free], chosen[free], taken, free, asked.seats[free], rounds[free]))
        stepped = env.step(encoding.actions(asked.observations, asked.masks, chosen))
        asked, going = stepped.asked, not stepped.over.all()
    standings.append(stepped.scores.astype(np.float64))
    brought = np.diff(np.array(standings), axis=0)  # by round, game and seat
    more = (brought - (brought.sum(2, keepdims=True) - brought) / (seats - 1)) / SCALE
    features, open_, chosen, taken, game, seat, number = (np.concatenate(each) for each in zip(*kept, strict=True))
    results = more[number, game, seat].astype(np.float32)
    return Batch(features, open_, chosen, taken, results, process_time() - began)


def drawn(log_chances: Array, chance: np.random.Generator) -> Array:
    """Draw a choice for each decision [decisions] with these probabilities [decisions, choices]."""
    found: Array = (log_chances + chance.gumbel(size=log_chances.shape)).argmax(1)
    return found
