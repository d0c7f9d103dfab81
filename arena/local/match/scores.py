"""Scores of one set: points and places of the two bots that are compared."""

from __future__ import annotations

from statistics import fmean
from typing import TYPE_CHECKING

from arena.local.match.design import ONE, OTHER, Design
from arena.match.result import points_above

if TYPE_CHECKING:
    from collections.abc import Sequence

    from arena.local.match.sets import PlayedSet, SeatedGame


def set_score(design: Design, played: PlayedSet) -> float:
    """Return the points of the first bot less the other's in a set."""
    first, second = played.games
    if design is Design.ONE_TABLE:
        return fmean(points(game, ONE) - points(game, OTHER) for game in played.games)
    return above(first, ONE) - above(second, OTHER)


def set_share(played: PlayedSet) -> float:
    """Return the share of games in which the first of two at one table ended before the other, ties as half."""
    return fmean(beaten(game, ONE, [game.bots.index(OTHER)]) for game in played.games)


def points(game: SeatedGame, bot: int) -> int:
    """Return the points of a bot."""
    return game.played.scores[game.bots.index(bot)]


def above(game: SeatedGame, bot: int) -> float:
    """Return a bot's points above the mean of the others at the table."""
    return points_above(game.played.scores, game.bots.index(bot))


def beaten(game: SeatedGame, bot: int, against: Sequence[int]) -> float:
    """Return the share of these seats that a bot ended before."""
    places = game.played.places
    own = places[game.bots.index(bot)]
    return fmean((own < places[seat]) + (own == places[seat]) / 2 for seat in against)
