"""What every seat was shown in a round, as one digest a seat: so that a replay vouches for the views themselves.

Digest of a seat = SHA-256 over its questions of the round, one after the other; a question = the decision's number, its
legal actions as a list, and the view's fields in the order in which the game's file of the protocol declares them. A
number is 4 bytes, signed, big-endian; true is 1, false 0, what is absent −1; a list is its length and then its items.
A question that is put again as it was counts once. The time left is no part of it: the banks stand beside the digests.
"""

from __future__ import annotations

from hashlib import sha256
from struct import pack
from typing import Final, NamedTuple

from arena.match.effects import Ask

ABSENT: Final = -1
"""Stands for what is absent; only points can be negative, and they are never absent."""


class ShownRound(NamedTuple):
    """What was shown in one round."""

    round: int
    """From 0."""
    views: tuple[str, ...]
    """By seat, the digest in hex."""
    banks: tuple[int, ...]
    """By seat, microseconds in the bank as its latest question said."""


class Shown:
    """The questions of a match, round by round."""

    def __init__(self, seats: int, bank: int) -> None:
        """A match about to begin, with so many microseconds in each bank."""
        self._round = 0
        self._banks = [bank] * seats
        self._numbers: list[list[int]] = [[] for _ in range(seats)]
        self._latest: list[Ask | None] = [None] * seats

    def add(self, ask: Ask) -> None:
        """A question was put."""
        seat, decision, legal, view, _, bank = ask
        latest = self._latest[seat]
        if latest is None or latest.decision != decision or latest.legal != legal or latest.view != view:
            self._latest[seat] = ask
            self._numbers[seat] += numbers(ask)
        self._banks[seat] = bank

    def close(self) -> ShownRound:
        """The round is over, or broken off; what comes now belongs to the next one."""
        digests = [sha256(pack(f">{len(each)}i", *each)).hexdigest() for each in self._numbers]
        closed = ShownRound(self._round, tuple(digests), tuple(self._banks))
        self._round += 1
        self._numbers = [[] for _ in self._numbers]
        return closed


def numbers(ask: Ask) -> list[int]:
    """The numbers of a question."""
    legal = ask.legal
    found = [ask.decision, len(legal), *legal]
    for value in ask.view:
        if isinstance(value, int):
            found.append(value)
        elif value is None:
            found.append(ABSENT)
        else:
            found.append(len(value))
            found += value
    return found
