"""Random draws of an event and the keys of its random numbers, identical in every language and on every machine.

Shuffles and normal draws read 16-bit words from the stream of the portable shuffle (`engine.deal`). Their keys derive
from the event's seed, to which the organiser commits, and from the entrants' nonces, which come later.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from hashlib import sha256
from itertools import count
from struct import unpack
from typing import Final, TypeVar

ItemT = TypeVar("ItemT")

DRAWS: Final = 10_000
"""Number of times that the strengths are drawn at each look of a race."""
WORDS: Final = 1 << 16


def entrants_digest(entrants: Iterable[tuple[str, bytes]]) -> bytes:
    """Return the SHA-256 of the names with their nonces, sorted by the bytes of the names.

    Each entry is the name's length in bytes (as 4 bytes, big-endian), the name in UTF-8, and the nonce.
    """
    rows = sorted((name.encode(), nonce) for name, nonce in entrants)
    return sha256(b"".join(len(name).to_bytes(4, "big") + name + nonce for name, nonce in rows)).digest()


def tables_key(seed: bytes, round_number: int, digest: bytes) -> bytes:
    """Return the key for drawing the tables of a round. `digest`: the result of `entrants_digest`."""
    return sha256(seed + b"tables" + round_number.to_bytes(4, "big") + digest).digest()


def look_key(seed: bytes, number: int, digest: bytes) -> bytes:
    """Return the key for the random draws of a look. `digest`: the result of `entrants_digest`."""
    return sha256(seed + b"look" + number.to_bytes(4, "big") + digest).digest()


class Lots:
    """Successive shuffles from one stream of random numbers."""

    def __init__(self, key: bytes) -> None:
        self._words = _words(key)

    def shuffle(self, items: Iterable[ItemT]) -> list[ItemT]:
        """Return the items in random order."""
        deck = list(items)
        for place in range(len(deck)):
            left = len(deck) - place
            other = place + next(word for word in self._words if word < WORDS - WORDS % left) % left
            deck[place], deck[other] = deck[other], deck[place]
        return deck


def _words(key: bytes) -> Iterator[int]:
    for counter in count():
        yield from unpack(">16H", sha256(key + counter.to_bytes(4, "big")).digest())
