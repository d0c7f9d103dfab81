"""A small network in numpy: two hidden layers, a preference for every choice, and the value of the position.

Gradients are written by hand; Adam computes the steps (Kingma and Ba, 2015, algorithm 1). All numbers are float32.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple, TypeAlias

import numpy as np

Array: TypeAlias = np.ndarray[Any, np.dtype[Any]]
Weights: TypeAlias = list[Array]
LAYERS: Final = 3
SHUT: Final = np.float32(-1e9)
"""The preference for a choice that is not open."""
BETA_1, BETA_2, EPSILON = 0.9, 0.999, 1e-8


class NetworkError(ValueError):
    """Raised for weights that do not fit each other or their input. The message names the weights."""


class Answer(NamedTuple):
    """The network's answer to some decisions."""

    log_chances: Array
    """Logarithm of the probability of each choice [decisions, choices]."""
    worths: Array
    """Expected result of the round, in units of `selfplay.SCALE` [decisions]."""
    layers: tuple[Array, ...]
    """The input of each layer, for the gradient."""


def new_weights(random: np.random.Generator, size: int, hidden: int, choices: int) -> Weights:
    """Return initial weights: He initialisation for the hidden layers, small weights for the last layer."""
    widths = (size, hidden, hidden, choices + 1)
    found: Weights = []
    for layer in range(LAYERS):
        scale = 0.01 if layer == LAYERS - 1 else np.sqrt(2 / widths[layer])
        found.append((random.standard_normal((widths[layer], widths[layer + 1])) * scale).astype(np.float32))
        found.append(np.zeros(widths[layer + 1], np.float32))
    return found


def check_weights(weights: Weights, size: int, choices: int) -> None:
    """Check that weights form a network with these numbers of inputs and choices.

    Raises: NetworkError.
    """
    shapes = [each.shape for each in weights]
    hidden = shapes[0][-1] if shapes and len(shapes[0]) == 2 else 0
    wanted = [(size, hidden), (hidden,), (hidden, hidden), (hidden,), (hidden, choices + 1), (choices + 1,)]
    if shapes != wanted:
        raise NetworkError(f"weights of shapes {shapes} are no network from {size} numbers to {choices} choices")
    if not all(each.dtype == np.float32 and np.isfinite(each).all() for each in weights):
        raise NetworkError("weights are finite numbers of float32, and some of these are not")


def answer(weights: Weights, features: Array, open_: Array) -> Answer:
    """Run decisions through the network: features [decisions, size], open choices [decisions, choices]."""
    layers = [features]
    for layer in range(LAYERS - 1):
        layers.append(np.maximum(layers[-1] @ weights[2 * layer] + weights[2 * layer + 1], 0))
    out = layers[-1] @ weights[-2] + weights[-1]
    preferences = np.where(open_, out[:, :-1], SHUT)
    preferences -= preferences.max(1, keepdims=True)
    log_chances = preferences - np.log(np.exp(preferences).sum(1, keepdims=True))
    return Answer(log_chances, out[:, -1], tuple(layers))


def gradient(weights: Weights, layers: tuple[Array, ...], by_preference: Array, by_worth: Array) -> Weights:
    """Return the gradient of a loss with respect to the weights, given the gradient with respect to the last layer's
    output.
    """
    back = np.concatenate([by_preference, by_worth[:, None]], axis=1)
    found: Weights = []
    for layer in reversed(range(LAYERS)):
        found[:0] = [layers[layer].T @ back, back.sum(0)]
        if layer:
            back = (back @ weights[2 * layer].T) * (layers[layer] > 0)
    return found


class Adam:
    """The state of Adam: means of gradients and of their squares."""

    def __init__(self, weights: Weights) -> None:
        self.steps = 0
        self.means = [np.zeros_like(each) for each in weights]
        self.squares = [np.zeros_like(each) for each in weights]

    def step(self, weights: Weights, gradients: Weights, rate: float, longest: float) -> None:
        """Change the weights by a gradient, limited to the length `longest`."""
        length = float(np.sqrt(sum(float(np.vdot(each, each)) for each in gradients)))
        cut = min(1.0, longest / (length + EPSILON))
        self.steps += 1
        rate *= float(np.sqrt(1 - BETA_2**self.steps)) / (1 - BETA_1**self.steps)
        for weight, slope, mean, square in zip(weights, gradients, self.means, self.squares, strict=True):
            slope = slope * np.float32(cut)
            mean += np.float32(1 - BETA_1) * (slope - mean)
            square += np.float32(1 - BETA_2) * (slope * slope - square)
            weight -= np.float32(rate) * mean / (np.sqrt(square) + np.float32(EPSILON))
