"""The selection of matches for the TV page: for each game, new matches of the best bots."""

from __future__ import annotations

from itertools import chain, zip_longest
from typing import Final

from arena.queries.source import DataSource
from arena.replay.header import MatchKind
from arena.store.base.rows import MatchRow, MatchState

LOOKED_AT: Final = 60
"""Number of a game's newest matches from which the TV page selects."""
SHOWING: Final = 8
"""Number of matches of each game that the TV page shows before it starts over."""


def programme(source: DataSource, game: str = "") -> list[MatchRow]:
    """Return the matches to show: among each game's newest rated matches, those of the highest-rated bots. The games
    alternate.

    Annulled, interrupted and pruned matches are not shown, nor those in which a seat is spoilt by house bots.
    """
    games = [_best(source, each)[:SHOWING] for each in ([game] if game else source.games())]
    return [row for row in chain.from_iterable(zip_longest(*games)) if row is not None]


def _best(source: DataSource, game: str) -> list[MatchRow]:
    ratings = {row.bot: row.rating for row in source.ladder(game).standings}
    rows = [
        row
        for row in source.matches(game, limit=LOOKED_AT)
        if row.state is MatchState.FINISHED
        and row.kind is MatchKind.RATED
        and not (row.voided or row.pruned or any(seat.spoilt for seat in row.seats))
    ]
    # The sort is stable, so among equally strong tables the newest comes first.
    return sorted(rows, key=lambda row: -sum(ratings.get(seat.bot, 0.0) for seat in row.seats) / len(row.seats))
