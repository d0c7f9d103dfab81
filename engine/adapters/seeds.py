"""The decks of an environment's games, computed from a seed, the game's number and the number of earlier games."""

from __future__ import annotations

import operator
from hashlib import sha256
from secrets import randbits
from typing import Any, Final

from engine.deal import SeededDecks

SEEDS: Final = 1 << 63
"""The smallest number above all valid seeds."""


class SeedError(ValueError):
    """Error for an invalid seed. The message states the allowed range."""


def settled_seed(seed: Any) -> int:
    """Return `seed` if it is valid, or a random seed for None. Raises SeedError for an invalid seed."""
    if seed is None:
        return randbits(62)
    try:
        number = operator.index(seed)
    except TypeError:
        raise SeedError(f"a seed is a whole number, not {seed!r}") from None
    if not 0 <= number < SEEDS:
        raise SeedError(f"a seed is 0 to 2^63 − 1, not {number}")
    return number


def decks(seed: int, game: int, episode: int) -> SeededDecks:
    """Return the decks of a game. They depend only on these numbers, not on what happens in other games."""
    return SeededDecks(sha256(b"arena environment %d %d %d" % (seed, game, episode)).digest())
