"""Training from the first batch to the last; after an interruption it continues from its checkpoint.

Batch n is played while batch n − 1 is learned, and therefore with the weights that resulted from batch n − 2. This
keeps two cores busy; one core gets the same result. The result depends only on the arguments, not on interruptions.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from time import process_time
from typing import Any, NamedTuple

import checkpoint
import numpy as np
from checkpoint import Checkpoint
from encoding import CHOICES, Encoding
from learning import Learned, Settings, learn
from network import Adam, new_weights
from player import Player
from strength import OPPONENTS, strength

from engine.adapters.seeds import settled_seed


class Asked(NamedTuple):
    """The arguments of a training, which alone determine its result."""

    batches: int = 300
    games: int = 128
    """Number of matches in a batch, which are played together."""
    hidden: int = 256
    """Width of the hidden layers."""
    seed: int = 1
    measured: int = 50
    """Number of batches between two measurements of strength; 0 for none."""
    deals: int = 200
    """Number of deals in a measurement, each played with both seatings."""
    kept: int = 10
    """Number of batches between two checkpoints."""
    seats: int = 2
    settings: Settings = Settings()

    def fields(self) -> dict[str, Any]:
        """Return the arguments in the form in which a checkpoint stores them."""
        return {**self._asdict(), "settings": dict(self.settings._asdict())}


def train(
    asked: Asked, folder: Path, *, beside: bool, told: Callable[[Checkpoint, Learned | None], None] | None = None
) -> Checkpoint:
    """Train in a folder, or continue from its checkpoint. `told` is called at the start and after each batch.

    `beside`: play in a separate process.

    Raises:
        CheckpointError: The folder contains another training.
        SeedError: The seed is out of range.
        ValueError: The number of batches or games is below 1.
    """
    settled_seed(asked.seed)
    for name in ("batches", "games", "hidden", "kept"):
        if getattr(asked, name) < 1:
            raise ValueError(f"{name} is 1 or more, not {getattr(asked, name)}")
    size = Encoding(asked.seats).size
    now = checkpoint.load(folder, asked.fields(), size, CHOICES) or _beginning(asked, size)
    if told is not None:
        told(now, None)
    player = Player(asked.games, asked.seats, beside=beside)
    try:
        if now.batches < asked.batches:
            player.ask(now.before, seed_of(asked, now.batches))
        while now.batches < asked.batches:
            now, learned = _next(asked, now, player)
            if now.batches % asked.kept == 0 or now.batches == asked.batches:
                checkpoint.save(now, asked.fields(), folder)
            if told is not None:
                told(now, learned)
    finally:
        player.close()
    return now


def seed_of(asked: Asked, batch: int) -> int:
    """Return the seed of a batch, below 2^62."""
    return int.from_bytes(sha256(b"examples/learner %d %d" % (asked.seed, batch)).digest()[:8], "big") >> 2


def _beginning(asked: Asked, size: int) -> Checkpoint:
    weights = new_weights(np.random.default_rng(asked.seed), size, asked.hidden, CHOICES)
    return Checkpoint(weights, [each.copy() for each in weights], Adam(weights), 0, 0.0, [])


def _next(asked: Asked, now: Checkpoint, player: Player) -> tuple[Checkpoint, Learned]:
    """Learn from the requested batch while the next batch is played."""
    number = now.batches
    if number + 1 < asked.batches:
        player.ask(now.weights, seed_of(asked, number + 1))
    weights = [each.copy() for each in now.weights]
    batch = player.fetch()
    began = process_time()
    done = number / asked.batches
    learned = learn(weights, now.adam, batch, asked.settings, done, seed_of(asked, number))
    seconds = now.seconds + batch.seconds + process_time() - began
    curve = now.curve
    if asked.measured and (number + 1) % asked.measured == 0:
        found = [strength(weights, name, asked.deals)._asdict() for name in OPPONENTS]
        curve = [*curve, {"batches": number + 1, "seconds": round(seconds, 1), "strengths": found}]
    return Checkpoint(weights, now.weights, now.adam, number + 1, seconds, curve), learned
