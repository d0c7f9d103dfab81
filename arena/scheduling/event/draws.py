"""Lots and normal draws of an event, the same in every language and on every machine.

Both read words of 16 bits from the stream of the portable shuffle (`engine.deal`). Its keys follow from the event's
seed, which the organiser commits to, and from the entrants' nonces, which come later. A normal draw is the quantile at
(word + ½)/65536, computed with + − × ÷ √ alone: libraries of mathematics differ in their last bits.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from hashlib import sha256
from itertools import count
from struct import unpack
from typing import Final, TypeVar

import numpy as np
from numpy.typing import NDArray

ItemT = TypeVar("ItemT")
Floats = NDArray[np.float64]

DRAWS: Final = 10_000
"""Number of draws of a look."""
BLOCK: Final = 2_000
"""Number of draws computed at a time, which limits the use of memory. A block ends where a digest does."""
WORDS: Final = 1 << 16
WORDS_OF_DIGEST: Final = 16
QUANTILES: Final = "5e95a6f7326651739dfd33fe61c41d4cbd2f9140c94510a0d1f08fb36f239390"
"""SHA-256 of the quantiles as little-endian doubles."""
LOG_2: Final = 0.6931471805599453
ROOT_OF_HALF: Final = 0.7071067811865476
LOG_TERMS: Final = 13
MIDDLE: Final = 0.425
"""Distance from ½ up to which the first pair of polynomials holds."""
# The polynomials of Wichura's algorithm AS 241, highest power first
MIDDLE_ABOVE: Final = (
    2509.0809287301226727, 33430.575583588128105, 67265.770927008700853, 45921.953931549871457,
    13731.693765509461125, 1971.5909503065514427, 133.14166789178437745, 3.3871328727963666080,
)  # fmt: skip
MIDDLE_BELOW: Final = (
    5226.4952788528545610, 28729.085735721942674, 39307.895800092710610, 21213.794301586595867,
    5394.1960214247511077, 687.18700749205790830, 42.313330701600911252, 1.0,
)  # fmt: skip
TAIL_ABOVE: Final = (
    7.74545014278341407640e-4, 2.27238449892691845833e-2, 2.41780725177450611770e-1, 1.27045825245236838258,
    3.64784832476320460504, 5.76949722146069140550, 4.63033784615654529590, 1.42343711074968357734,
)  # fmt: skip
TAIL_BELOW: Final = (
    1.05075007164441684324e-9, 5.47593808499534494600e-4, 1.51986665636164571966e-2, 1.48103976427480074590e-1,
    6.89767334985100004550e-1, 1.67638483018380384940, 2.05319162663775882187, 1.0,
)  # fmt: skip
TAIL_ORIGIN: Final = 1.6


class ArithmeticDiffersError(RuntimeError):
    """The doubles of this machine differ from those of all others."""


def entrants_digest(entrants: Iterable[tuple[str, bytes]]) -> bytes:
    """Return the SHA-256 of the names with their nonces, sorted by the bytes of the names.

    Each name is in UTF-8, after its length in bytes as 4 bytes (big-endian), and its nonce follows.
    """
    rows = sorted((name.encode(), nonce) for name, nonce in entrants)
    return sha256(b"".join(len(name).to_bytes(4, "big") + name + nonce for name, nonce in rows)).digest()


def tables_key(seed: bytes, round_number: int, digest: bytes) -> bytes:
    """Return the key of the lots of a round. `digest` is that of the entrants."""
    return sha256(seed + b"tables" + round_number.to_bytes(4, "big") + digest).digest()


def look_key(seed: bytes, number: int, digest: bytes) -> bytes:
    """Return the key of the draws of a look. `digest` is that of the entrants."""
    return sha256(seed + b"look" + number.to_bytes(4, "big") + digest).digest()


class Lots:
    """Several shuffles one after the other, from one stream."""

    def __init__(self, key: bytes) -> None:
        self._words = _words(key)

    def shuffle(self, items: Iterable[ItemT]) -> list[ItemT]:
        """Return the items in an order by lot."""
        deck = list(items)
        for place in range(len(deck)):
            left = len(deck) - place
            other = place + next(word for word in self._words if word < WORDS - WORDS % left) % left
            deck[place], deck[other] = deck[other], deck[place]
        return deck


def normal_draws(key: bytes, bots: int) -> Iterator[Floats]:
    """Iterate over blocks [draws, bots] of standard normal numbers, `DRAWS` for each bot in all."""
    digests = BLOCK * bots // WORDS_OF_DIGEST
    for block in range(DRAWS // BLOCK):
        numbers = range(block * digests, (block + 1) * digests)
        content = b"".join([sha256(key + number.to_bytes(4, "big")).digest() for number in numbers])
        drawn: Floats = quantiles()[np.frombuffer(content, ">u2")]
        yield drawn.reshape(BLOCK, bots)


@cache
def quantiles() -> Floats:
    """Return the normal quantile of each word.

    Raises:
        ArithmeticDiffersError: this machine computes other quantiles.
    """
    below = (np.arange(WORDS // 2) + 0.5) / WORDS
    centred = below - 0.5
    inside = 0.180625 - centred * centred
    middle = _polynomial(MIDDLE_ABOVE, inside) * centred / _polynomial(MIDDLE_BELOW, inside)
    outside = np.sqrt(-_log(below)) - TAIL_ORIGIN
    tail = -(_polynomial(TAIL_ABOVE, outside) / _polynomial(TAIL_BELOW, outside))
    half = np.where(centred < -MIDDLE, tail, middle)
    found: Floats = np.concatenate([half, -half[::-1]])
    digest = sha256(found.astype("<f8").tobytes()).hexdigest()
    if digest != QUANTILES:
        raise ArithmeticDiffersError(
            f"the normal quantiles have the digest {digest} here, not {QUANTILES}: this machine's doubles differ, so "
            "use another one for events"
        )
    return found


def _words(key: bytes) -> Iterator[int]:
    for counter in count():
        yield from unpack(">16H", sha256(key + counter.to_bytes(4, "big")).digest())


def _polynomial(factors: Sequence[float], at: Floats) -> Floats:
    value = np.full_like(at, factors[0])
    for factor in factors[1:]:
        value = value * at + factor
    return value


def _log(values: Floats) -> Floats:
    """Return natural logarithms by the series of the inverse hyperbolic tangent."""
    fraction, exponent = np.frexp(values)
    small = fraction < ROOT_OF_HALF
    fraction, exponent = np.where(small, 2 * fraction, fraction), exponent - small
    ratio: Floats = (fraction - 1) / (fraction + 1)
    square = ratio * ratio
    total = np.zeros_like(ratio)
    for term in reversed(range(LOG_TERMS)):
        total = total * square + 1 / (2 * term + 1)
    found: Floats = exponent * LOG_2 + 2 * ratio * total
    return found
