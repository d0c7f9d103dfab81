"""Designs of a comparison: which games a set consists of, and who sits where in them.

A set is the smallest part that is repeated; sets are independent of each other. Bots are numbered: 0 and 1 are the two
that are compared, 2, 3 … the field.
"""

from __future__ import annotations

from enum import Enum
from hashlib import sha256
from typing import TYPE_CHECKING, Final, NamedTuple

from engine.deal import NONCE_BYTES, match_key

if TYPE_CHECKING:
    from collections.abc import Sequence

ONE: Final = 0
OTHER: Final = 1
"""The two bots that are compared."""


class Design(Enum):
    """How two bots are compared."""

    SAME_SEATS = "same-seats"
    """Each plays in the same seat of the same deals against the same field; what is compared is their points above the
    mean of the others at the table."""
    ONE_TABLE = "one-table"
    """Both at one table, and once more on the same deals with seats exchanged; what is compared is their points."""
    INDEPENDENT = "independent"
    """As with the same seats, but each on deals of its own, as on a ladder."""


class PlannedGame(NamedTuple):
    """One game of a set."""

    seed: bytes
    """As a server draws it, 32 bytes; the bots' nonces are zero."""
    bots: tuple[int, ...]
    """By seat."""

    @property
    def key(self) -> bytes:
        """The match key, from which the deals follow."""
        return match_key(self.seed, [bytes(NONCE_BYTES)] * len(self.bots))


def default_design(seats: int) -> Design:
    """Return the design for tables of a size: two bots alone play each other, in a field each plays against it."""
    return Design.ONE_TABLE if seats == 2 else Design.SAME_SEATS


def fielded(design: Design, seats: int) -> int:
    """Return how many bots of a field sit at a table."""
    return seats - (2 if design is Design.ONE_TABLE else 1)


def planned(design: Design, seats: int, number: int, seed: int) -> tuple[PlannedGame, ...]:
    """Return the games of a set, counted from 0. The seats of the two, and of the field, go round from set to set."""
    seeds = [_seed(seed, number, deal) for deal in range(2)]
    field = fielded(design, seats)
    turned = [2 + (place + number // seats) % field for place in range(field)]
    seat = number % seats
    if design is Design.ONE_TABLE:
        opposite = (seat + 1 + number // seats % (seats - 1)) % seats
        tables = [_seated({seat: ONE, opposite: OTHER}, turned), _seated({seat: OTHER, opposite: ONE}, turned)]
    else:
        tables = [_seated({seat: ONE}, turned), _seated({seat: OTHER}, turned)]
    if design is not Design.INDEPENDENT:
        seeds[1] = seeds[0]
    return tuple(map(PlannedGame, seeds, tables))


def _seated(fixed: dict[int, int], field: Sequence[int]) -> tuple[int, ...]:
    left = iter(field)
    return tuple(fixed[seat] if seat in fixed else next(left) for seat in range(len(fixed) + len(field)))


def _seed(seed: int, number: int, deal: int) -> bytes:
    return sha256(f"arena match {seed} {number} {deal}".encode()).digest()
