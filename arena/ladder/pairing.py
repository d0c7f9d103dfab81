"""Who plays whom: the next table, from who waits. Asked again until it says None, it empties the waiting room.

No bot waits for longer than the patience where house bots can fill a table, so a newcomer's first match is never far
off. Nothing here reads a clock or draws chance: the instant and the shuffle come from the caller.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from itertools import cycle, islice
from typing import Any, Final, Generic, NamedTuple, Protocol, TypeVar

PATIENCE: Final = 2.0
"""Seconds a bot waits for other bots before house bots fill its table."""

BotT = TypeVar("BotT", bound=Hashable)


class Chance(Protocol):
    """Where the seats come from, such as a `random.Random`."""

    def shuffle(self, x: list[Any], /) -> object:
        """Puts the list in a random order."""


class Waiting(NamedTuple, Generic[BotT]):
    """A bot that can play one more match now."""

    bot: BotT
    owner: str
    since: float
    """The instant, in seconds, from which it waits: when it came or was last given a match."""
    matches: int
    """Matches it has played; among equally long waits the newcomer goes first."""


class Table(NamedTuple, Generic[BotT]):
    """Who sits down to a match."""

    bots: tuple[BotT, ...]
    """By seat."""


def next_table(
    waiting: Sequence[Waiting[BotT]],
    owners: int,
    house: Sequence[BotT],
    seats: int,
    now: float,
    chance: Chance,
    patience: float = PATIENCE,
) -> Table[BotT] | None:
    """The table to be formed now, or None while it is better or necessary to wait.

    `waiting`: each bot with room for another match, once; house bots do not wait. `owners`: how many different owners
    have a bot connected for this game, waiting or not. `house`: the house bots; where they are too few, one takes
    several seats.

    Never two bots of one owner, except of the house. The longest wait goes first. A table is formed as soon as bots of
    enough different owners wait; house bots fill it up when everybody who could come waits already (all owners, yet
    fewer than seats), or when the longest wait has lasted for `patience`.
    """
    guests = _one_of_each_owner(waiting)
    if not guests:
        return None
    if len(guests) < seats:
        nobody_else = len(guests) >= owners
        patient = now < guests[0].since + patience  # the sum, so that a caller can wait for just that instant
        if not house or (patient and not nobody_else):
            return None
    bots = [guest.bot for guest in guests[:seats]]
    fillers = list(house)
    chance.shuffle(fillers)
    bots += islice(cycle(fillers), seats - len(bots))
    chance.shuffle(bots)
    return Table(tuple(bots))


def _one_of_each_owner(waiting: Sequence[Waiting[BotT]]) -> list[Waiting[BotT]]:
    """The first bot of each owner, longest wait first."""
    first: dict[str, Waiting[BotT]] = {}
    for guest in sorted(waiting, key=lambda guest: (guest.since, guest.matches)):
        first.setdefault(guest.owner, guest)
    return list(first.values())
