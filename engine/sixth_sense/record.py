"""What can be told from a round's record: who led, what each trick counts, who has how many."""

from __future__ import annotations

from typing import NamedTuple


class Finished(NamedTuple):
    """The record of a round that is over; bytes hold one small int a seat, play or trick."""

    round: int
    points: tuple[int, ...]
    scores: tuple[int, ...]
    turned: int | None
    predictions: bytes
    plays: bytes
    takers: bytes
    doubled: int
    taken: bytes


def leaders(round: int, takers: bytes | bytearray, seats: int) -> bytes:  # noqa: A002 - the contract's word
    """The leader of every completed trick and of the one after (S3, S8)."""
    leader = (round + 1) % seats
    found = [leader]
    for taker in takers:
        if taker != seats:
            leader = taker
        found.append(leader)
    return bytes(found)


def worths(takers: bytes | bytearray, doubled: int, seats: int) -> bytes:
    """What every completed trick counts (S8, S13)."""
    return bytes(0 if taker == seats else 1 + (doubled >> trick & 1) for trick, taker in enumerate(takers))


def taken(takers: bytes | bytearray, doubled: int, seats: int) -> bytes:
    """Tricks taken, by seat; `doubled` has a bit for every trick that counts as two."""
    counts = bytearray(map(takers.count, range(seats)))
    trick = 0
    while doubled >> trick:
        if doubled >> trick & 1:
            counts[takers[trick]] += 1
        trick += 1
    return bytes(counts)
