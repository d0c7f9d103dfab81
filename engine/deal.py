"""The portable shuffle: a match's decks and dice from its seed, the same in every language, and their proof.

Stream: SHA-256(key ‖ 0), SHA-256(key ‖ 1), …, the counter as 4 bytes, read as words of 16 bits. All big-endian.
Shuffle: of the cards 0 … m−1 in order, for i = 0, 1, 2 … take words until one is below the largest multiple of m−i up
to 65536, and swap the cards at i and at i + word mod (m−i). Place i is then final: a prefix needs no more. Keys: match
key = SHA-256(seed ‖ bots' nonces in seat order); round key = SHA-256(match key ‖ round as 4 bytes); roll key =
SHA-256(match key ‖ round as 4 bytes ‖ number as 4 bytes), the round's rolls of dice numbered from 0. Dealing: with n
seats and h cards each, seat s gets deck[s·h : (s+1)·h] and deck[n·h] is the card turned over. Rolling: a die shows the
first card of a deck of that size, shuffled with the key of its roll. `deal_vectors.json` beside this file holds test
vectors. Nothing here draws random numbers: they come from the caller.
"""

from __future__ import annotations

from collections.abc import Sequence
from hashlib import sha256
from hmac import compare_digest
from struct import unpack
from typing import Final

SEED_BYTES: Final = 32
NONCE_BYTES: Final = 16
KEY_BYTES: Final = 32
_WORDS: Final = 1 << 16


def commitment(seed: bytes) -> bytes:
    """Return the commitment to the server's seed of 32 bytes: its SHA-256, published before any nonce is accepted."""
    return sha256(_sized("seed", seed, SEED_BYTES)).digest()


def opens(seed: bytes, committed: bytes) -> bool:
    """Return true if a revealed seed fits its commitment."""
    return len(seed) == SEED_BYTES and compare_digest(commitment(seed), committed)


def match_key(seed: bytes, nonces: Sequence[bytes]) -> bytes:
    """Return the key of a match from its seed and one nonce of 16 bytes per seat; ValueError for other lengths."""
    return sha256(
        _sized("seed", seed, SEED_BYTES) + b"".join(_sized("nonce", nonce, NONCE_BYTES) for nonce in nonces)
    ).digest()


def round_key(key: bytes, round: int) -> bytes:  # noqa: A002 - the contract's word
    """Return the key of one round's deck; rounds are counted from 0."""
    return sha256(key + round.to_bytes(4, "big")).digest()


def roll_key(key: bytes, round: int, number: int) -> bytes:  # noqa: A002 - the contract's word
    """Return the key of one roll of a die; rounds, and the rolls of a round, are counted from 0."""
    return sha256(key + round.to_bytes(4, "big") + number.to_bytes(4, "big")).digest()


def shuffled(key: bytes, size: int, count: int) -> Sequence[int]:
    """Return the first `count` cards of the deck 0 … size−1 (size at most 65536) shuffled with a key."""
    deck = list(range(size))
    place = counter = 0
    while place < count:
        words: tuple[int, ...] = unpack(">16H", sha256(key + counter.to_bytes(4, "big")).digest())
        counter += 1
        for word in words:
            left = size - place
            if word < _WORDS - _WORDS % left:
                other = place + word % left
                deck[place], deck[other] = deck[other], deck[place]
                place += 1
                if place == count:
                    break
    return deck[:count]


class SeededDecks:
    """The decks of one match: satisfies `engine.game.Decks`. Secret until the match is over."""

    __slots__ = ("_key",)

    def __init__(self, key: bytes) -> None:
        """Set up with the match key of 32 bytes."""
        self._key = _sized("match key", key, KEY_BYTES)

    def __call__(self, round: int, size: int, count: int) -> Sequence[int]:  # noqa: A002 - the contract's word
        """Return the first `count` cards of the round's deck of `size` cards."""
        return shuffled(round_key(self._key, round), size, count)

    def roll(self, round: int, number: int, faces: int) -> int:  # noqa: A002 - the contract's word
        """Return the face that a die shows, 0 … faces−1."""
        return shuffled(roll_key(self._key, round, number), faces, 1)[0]

    def __repr__(self) -> str:
        return "SeededDecks(secret)"

    def __reduce__(self) -> tuple[type[SeededDecks], tuple[bytes]]:
        """Return a class and its arguments, from which pickle and copy create equal decks."""
        return SeededDecks, (self._key,)


def _sized(what: str, value: bytes, size: int) -> bytes:
    if len(value) != size:
        raise ValueError(f"a {what} has {size} bytes, not {len(value)}")
    return bytes(value)
