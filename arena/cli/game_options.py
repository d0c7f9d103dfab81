"""Parsing of the games, table sizes and game options that `arena serve` offers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Final

from arena.server.config import LadderTable
from engine.deal import SeededDecks
from engine.game import Game, Option, OptionError

SEATS: Final = 4
"""Default number of seats at a table. A game without tables of this size uses its nearest size."""


def parse_ladders(
    games: Mapping[str, Game], chosen: Sequence[str], seats: Sequence[str], options: Sequence[str]
) -> tuple[LadderTable, ...]:
    """Return the ladders of the `chosen` games, or of all `games` that can be played at a requested table size.

    `seats` are words such as "4" or "nullern:7", `options` such as "novice=true" or "sixth_sense:target=50". A word
    with a game's name applies to that game. A word without a game's name applies to every game that has that table size
    or option.

    Raises:
        OptionError: a word fits no game, or a game rejects its options at one of its tables.
    """
    served = {name: games[name] for name in dict.fromkeys(chosen or games)}
    tables = _tables(served, seats)
    sized = {name: game for name, game in served.items() if tables[name]}
    if chosen or not sized:
        for name, game in served.items():
            if name not in sized:
                raise _no_table(game, [word for word in seats if ":" not in word])
    settled = _options(sized, options)
    ladders = tuple(LadderTable(game, tables[name], settled[name]) for name, game in sized.items())
    for ladder in ladders:
        check_ladder(ladder)
    return ladders


def check_ladder(ladder: LadderTable) -> None:
    """Raise OptionError unless the game of a ladder allows its table sizes and options."""
    for size in ladder.seats:
        if size not in ladder.game.seats:
            raise _no_table(ladder.game, [str(size)])
        ladder.game.new(size, SeededDecks(bytes(32)), **ladder.options)


def _tables(games: Mapping[str, Game], words: Sequence[str]) -> dict[str, tuple[int, ...]]:
    """Return the table sizes of every game."""
    own: dict[str, list[int]] = {name: [] for name in games}
    common: list[int] = []
    for word in words:
        name, size = _addressed(games, word)
        if not size.isdecimal():
            raise OptionError(f"seats are written N or GAME:N, not {word!r}")
        if not name:
            common.append(int(size))
        elif int(size) in games[name].seats:
            own[name].append(int(size))
        else:
            raise _no_table(games[name], [size])
    tables = {}
    for name, game in games.items():
        usual = common or [min(game.seats, key=lambda size: abs(size - SEATS))]
        tables[name] = tuple(dict.fromkeys(own[name] or [size for size in usual if size in game.seats]))
    return tables


def _options(games: Mapping[str, Game], words: Sequence[str]) -> dict[str, dict[str, Option]]:
    """Return the options of every game."""
    settled: dict[str, dict[str, Option]] = {name: {} for name in games}
    known = {name: [spec.name for spec in game.options] for name, game in games.items()}
    for word in words:
        target, assignment = _addressed(games, word)
        option, equals, text = assignment.partition("=")
        if not equals:
            raise OptionError(f"an option is written NAME=VALUE, not {word!r}")
        having = [target] if target else [name for name in games if option in known[name]]
        if not having:
            there_is = sorted({each for options in known.values() for each in options})
            raise OptionError(f"there is no option {option!r}; there is {', '.join(there_is) or 'none'}")
        for name in having:
            settled[name][option] = _value(option, text)
    return settled


def _addressed(games: Mapping[str, Game], word: str) -> tuple[str, str]:
    """Split a word into its game ("" for all games) and the rest."""
    name, colon, rest = word.partition(":")
    if not colon:
        return "", word
    if name not in games:
        raise OptionError(f"{word!r} is for a game that is not offered; there is {', '.join(games)}")
    return name, rest


def _value(option: str, text: str) -> Option:
    if text in ("true", "false"):
        return text == "true"
    if text.removeprefix("-").isdecimal():
        return int(text)
    raise OptionError(f"option {option} takes true, false or a number, not {text!r}")


def _no_table(game: Game, asked: Sequence[str]) -> OptionError:
    return OptionError(f"{game.title} is for {game.seats[0]} to {game.seats[-1]} seats, not {', '.join(asked)}")
