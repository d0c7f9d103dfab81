"""Designs of a comparison: the games of a set, and their seats.

A match repeats sets, which are independent of each other. Bots are numbered: first the compared bots, then the field.
Two compared bots have the numbers 0 and 1, and the field 2, 3 and so on.
"""

from __future__ import annotations

from collections.abc import Sequence
from enum import Enum
from hashlib import sha256
from typing import Final, NamedTuple

from engine.deal import NONCE_BYTES, match_key

ONE: Final = 0
OTHER: Final = 1
"""Indices of the two bots of a pair."""


class Design(Enum):
    """The designs by which two bots are compared."""

    SAME_SEATS = "same-seats"
    """Each bot plays the same seat of the same deals against the same field. Scored: points above the others' mean."""
    ONE_TABLE = "one-table"
    """Both bots play at one table, and again on the same deals with their seats swapped. Scored: points."""
    INDEPENDENT = "independent"
    """Like `SAME_SEATS`, but each bot plays its own deals, as on a ladder."""


class Pairing(Enum):
    """The pairs of bots that are compared with each other."""

    GAUNTLET = "gauntlet"
    """The first bot with each of the others."""
    ROUND_ROBIN = "round-robin"
    """Each bot with every other bot."""


BETTER_IN_THE_SAME_SEATS: Final = frozenset({("sixth_sense", 3)})
"""Games and table sizes for which `ONE_TABLE` needs more games than `SAME_SEATS`."""


class PlannedGame(NamedTuple):
    """One game of a set."""

    seed: bytes
    """The seed of the deals, 32 bytes as on a server. The bots' nonces are zero."""
    bots: tuple[int, ...]
    """The number of the bot in each seat."""

    @property
    def key(self) -> bytes:
        """The match key, from which the deals are derived."""
        return match_key(self.seed, [bytes(NONCE_BYTES)] * len(self.bots))


def default_design(game: str, seats: int) -> Design:
    """Return the design that needs the fewest games, according to the measurements in docs/workbench.md."""
    return Design.SAME_SEATS if (game, seats) in BETTER_IN_THE_SAME_SEATS else Design.ONE_TABLE


def fielded(design: Design, seats: int) -> int:
    """Return the number of field bots at a table."""
    return seats - (2 if design is Design.ONE_TABLE else 1)


def pairs(compared: int, pairing: Pairing) -> tuple[tuple[int, int], ...]:
    """Return the pairs of bots that are compared with each other."""
    return tuple(
        (one, other)
        for one in range(1 if pairing is Pairing.GAUNTLET else compared)
        for other in range(one + 1, compared)
    )


def planned(
    design: Design, seats: int, number: int, seed: int, compared: int = 2, pairing: Pairing = Pairing.GAUNTLET
) -> tuple[PlannedGame, ...]:
    """Return the games of a set, numbered from 0. Compared bots and field bots change seats from set to set.

    A set has two games for each pair with `ONE_TABLE`, and one for each compared bot with the other designs. The games
    have the same deals, except with `INDEPENDENT`.
    """
    field = fielded(design, seats)
    turned = [compared + (place + number // seats) % field for place in range(field)]
    seat = number % seats
    if design is Design.ONE_TABLE:
        opposite = (seat + 1 + number // seats % (seats - 1)) % seats
        tables = [
            _seated({seat: first, opposite: second}, turned)
            for one, other in pairs(compared, pairing)
            for first, second in ((one, other), (other, one))
        ]
    else:
        tables = [_seated({seat: bot}, turned) for bot in range(compared)]
    apart = design is Design.INDEPENDENT
    return tuple(PlannedGame(_seed(seed, number, at if apart else 0), table) for at, table in enumerate(tables))


def games_of(design: Design, pair: tuple[int, int], compared: int, pairing: Pairing) -> tuple[int, int]:
    """Return the two games of a set that compare a pair."""
    if design is not Design.ONE_TABLE:
        return pair
    at = 2 * pairs(compared, pairing).index(pair)
    return at, at + 1


def _seated(fixed: dict[int, int], field: Sequence[int]) -> tuple[int, ...]:
    left = iter(field)
    return tuple(fixed[seat] if seat in fixed else next(left) for seat in range(len(fixed) + len(field)))


def _seed(seed: int, number: int, deal: int) -> bytes:
    return sha256(f"arena match {seed} {number} {deal}".encode()).digest()
