"""The house bots, which fill tables and anchor the ladder.

A decision depends only on the view and the random bytes given.
"""

from __future__ import annotations

import copyreg
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import MappingProxyType
from typing import Final, Protocol

from arena.house import nullern, sixth_sense
from arena.house.random_bot import RandomBot
from engine.game import SeatView
from engine.registry import GAMES

PREFIX: Final = "house-"
"""Start of the name of every house bot."""


class HouseBot(Protocol):
    """A bot that the server runs. Its code never changes: an improved bot gets a new name."""

    @property
    def name(self) -> str:
        """Name of the bot, "house-…"."""

    @property
    def version(self) -> str:
        """Digest of the code that makes its decisions, from `arena.house.content.version`."""

    @property
    def game(self) -> str:
        """Name of the game that the bot plays."""

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        """Choose one of the legal actions, always the same for the same arguments. `chance`: 32 random bytes."""


def title(bot: HouseBot) -> str:
    """Return a bot's name and version as text. Together they determine the bot's choices."""
    return f"{bot.name} {bot.version}"


def titles(bots: Iterable[HouseBot]) -> str:
    """Return the names and versions of several bots as text."""
    return ", ".join(map(title, bots))


HOUSE_BOTS: Final[Mapping[str, tuple[HouseBot, ...]]] = MappingProxyType(
    {
        "nullern": (RandomBot("nullern"), nullern.CarefulBot(), nullern.CounterBot()),
        "sixth_sense": (
            RandomBot("sixth_sense"),
            sixth_sense.CarefulBot(),
            sixth_sense.CounterBot(),
            sixth_sense.PlannerBot(),
        ),
    }
)
"""The house bots of each game, the weakest first."""

SEARCH_BOTS: Final[Mapping[str, HouseBot]] = MappingProxyType(
    {"nullern": nullern.SearchBot(), "sixth_sense": sixth_sense.SearchBot()}
)
"""The searching house bot of each game, a thousand times slower than `HOUSE_BOTS` (docs/house-bots.md).

Local matches seat it by name; a server seats it at few tables (`arena.server.matchmaking.search_seats`).
"""


def named_bots(game: str) -> tuple[HouseBot, ...]:
    """Return all house bots of a game, the weakest first."""
    return (*HOUSE_BOTS[game], SEARCH_BOTS[game]) if game in SEARCH_BOTS else HOUSE_BOTS[game]


class UnknownBotError(ValueError):
    """Raised if no house bot of the game has the given name. The message lists the house bots that exist."""


def house_bot(game: str, name: str) -> HouseBot:
    """Return a house bot by its name, with or without "house-".

    Raises:
        UnknownBotError: No house bot has this name.
        UnknownGameError: There is no such game.
    """
    title, found = GAMES[game].title, {bot.name.removeprefix(PREFIX): bot for bot in named_bots(game)}
    if name.removeprefix(PREFIX) not in found:
        raise UnknownBotError(f"the house has no bot {name!r} for {title}; it has {', '.join(found)}")
    return found[name.removeprefix(PREFIX)]


def _named_bot(game: str, name: str) -> HouseBot:
    return next(bot for bot in named_bots(game) if bot.name == name)


def _reduced(bot: HouseBot) -> tuple[Callable[[str, str], HouseBot], tuple[str, str]]:
    return _named_bot, (bot.game, bot.name)


# Pickles and copies contain only the name, so loading one returns the existing bot.
for _game in HOUSE_BOTS:
    for _bot in named_bots(_game):
        copyreg.pickle(type(_bot), _reduced)


LUCK: Final = frozenset({"nullern"})
"""Names of the games whose ladders have a luck column by default; see docs/luck.md."""

THINKERS: Final[tuple[HouseBot, ...]] = tuple(
    bot for bots in HOUSE_BOTS.values() for bot in bots if not isinstance(bot, RandomBot)
)
"""The house bots of all games that neither choose at random nor search.

They replay deals for the luck column. Messages to workers name a bot by its index in this tuple.
"""


def replayers(game: str) -> tuple[HouseBot, ...]:
    """Return the house bots that replay the deals of a game."""
    return tuple(bot for bot in THINKERS if bot.game == game)


CHOOSERS: Final[tuple[HouseBot, ...]] = (*THINKERS, *SEARCH_BOTS.values())
"""House bots whose choices are computed in worker processes, by index: `THINKERS` first."""
