"""What can be told from a round's record: who led, what each trick counts, who has how many."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, NamedTuple

_ONE_EACH: Final = {seats: bytes(seat < seats for seat in range(256)) for seats in range(2, 7)}
"""By number of seats: translates takers into 1, and nobody into 0."""


@dataclass(slots=True)
class Finished:
    """The record of a round that is over; nobody changes it any more."""

    round: int
    points: tuple[int, ...]
    scores: tuple[int, ...]
    turned: int | None
    predictions: list[int]
    plays: bytes
    takers: bytes
    doubled: bytes


class Tricks(NamedTuple):
    """What all may know of a round's tricks."""

    leaders: bytes
    """By trick that has begun."""
    takers: bytes
    worths: bytes
    peeks: bytes
    """By completed trick, 1 where its leader looked (S12)."""
    taken: bytes
    """Tricks taken, by seat."""


def tricks(round: int, begun: int, takers: bytes, doubled: bytes, peeked: bytes, seats: int) -> Tricks:  # noqa: A002 - the contract's word
    """The tricks of a round of which so many have begun; `peeked` names those whose leaders looked."""
    peeks = bytearray(len(takers))
    for trick in peeked:
        peeks[trick] = 1
    return Tricks(
        leaders(round, takers, seats)[:begun],
        takers,
        worths(takers, doubled, seats),
        bytes(peeks),
        bytes(taken(takers, doubled, seats)),
    )


def leaders(round: int, takers: bytes, seats: int) -> bytes:  # noqa: A002 - the contract's word
    """The leader of every completed trick and of the one after (S3, S8)."""
    leader = (round + 1) % seats
    if seats not in takers:
        return bytes((leader,)) + takers
    found = [leader]
    for taker in takers:
        if taker != seats:
            leader = taker
        found.append(leader)
    return bytes(found)


def worths(takers: bytes, doubled: bytes, seats: int) -> bytes:
    """What every completed trick counts (S8, S13); `doubled` names the tricks that count as two."""
    single = takers.translate(_ONE_EACH[seats])
    if not doubled:
        return single
    counts = bytearray(single)
    for trick in doubled:
        counts[trick] = 2
    return bytes(counts)


def taken(takers: bytes, doubled: bytes, seats: int) -> list[int]:
    """Tricks taken, by seat; `doubled` names the tricks that count as two."""
    counts = [takers.count(seat) for seat in range(seats)]
    for trick in doubled:
        counts[takers[trick]] += 1
    return counts
