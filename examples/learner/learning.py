"""Proximal policy optimisation (Schulman and others, 2017): the weights change with each batch of decisions.

A choice whose result is better than the network expected gets likelier, any other choice less likely. The change per
batch is limited, so that the expectations stay valid.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from network import Adam, Weights, answer, gradient
from selfplay import Batch

from engine.adapters.vector_env import MaskError


class Settings(NamedTuple):
    """The settings of learning."""

    rate: float = 1e-3
    """Initial length of Adam's steps; it falls to a tenth."""
    clip: float = 0.2
    """Maximum change of a choice's probability since the choice was made, as a fraction."""
    wander: float = 0.01
    """Weight of the entropy, which keeps the network exploring; it falls to a tenth, too."""
    worth: float = 0.5
    """Weight of the error of the estimated values of positions."""
    passes: int = 2
    """Number of passes through each batch."""
    part: int = 1024
    """Number of decisions in one step."""
    longest: float = 0.5
    """Maximum length of a gradient; a longer one is scaled down to it."""


class Learned(NamedTuple):
    """Figures about the learning from one batch."""

    results: float
    """Mean square of the results, in units of `SCALE`."""
    unexplained: float
    """Mean square of the differences between the results and the network's expectations."""
    entropy: float
    """Mean entropy of the choices, in nats."""


def learn(weights: Weights, adam: Adam, batch: Batch, settings: Settings, done: float, seed: int) -> Learned:
    """Learn from a batch. `done`: finished share of the training, 0 to 1; `seed`: determines the order of decisions.

    Raises: MaskError: the batch contains a choice that its mask does not allow.
    """
    count = len(batch.chosen)
    if not batch.open[np.arange(count), batch.chosen].all():
        raise MaskError("a batch has a choice that was not open")
    falling = 1 - 0.9 * done
    worths = answer(weights, batch.features, batch.open).worths
    gains = batch.results - worths
    unexplained = float(np.mean(gains**2))
    gains = (gains - gains.mean()) / (gains.std() + 1e-6)
    order = np.random.default_rng(seed)
    entropies = []
    for _ in range(settings.passes):
        shuffled = order.permutation(count)
        for first in range(0, count, settings.part):
            rows = shuffled[first : first + settings.part]
            entropies.append(_step(weights, adam, batch, gains[rows], rows, settings, falling))
    return Learned(float(np.mean(batch.results**2)), unexplained, float(np.mean(entropies)))


def _step(
    weights: Weights,
    adam: Adam,
    batch: Batch,
    gains: np.ndarray[tuple[int], np.dtype[np.float32]],
    rows: np.ndarray[tuple[int], np.dtype[np.int64]],
    settings: Settings,
    falling: float,
) -> float:
    """Take one step with some of the decisions. Return their mean entropy."""
    count = np.float32(len(rows))
    said = answer(weights, batch.features[rows], batch.open[rows])
    chances = np.exp(said.log_chances)
    numbers, chosen = np.arange(len(rows)), batch.chosen[rows]
    ratio = np.exp(said.log_chances[numbers, chosen] - batch.log_chances[rows])
    # If the clipped term is smaller, the loss does not depend on the weights.
    free = np.where(gains > 0, ratio < 1 + settings.clip, ratio > 1 - settings.clip)
    by_chosen = -gains * ratio * free
    by_preference = -chances * by_chosen[:, None]
    by_preference[numbers, chosen] += by_chosen
    surprise = np.where(batch.open[rows], -said.log_chances, 0)
    entropy = (chances * surprise).sum(1, keepdims=True)
    by_preference += np.float32(settings.wander * falling) * chances * (entropy - surprise)
    by_worth = np.float32(2 * settings.worth) * (said.worths - batch.results[rows])
    slope = gradient(weights, said.layers, (by_preference / count).astype(np.float32), by_worth / count)
    adam.step(weights, slope, settings.rate * falling, settings.longest)
    return float(entropy.mean())
