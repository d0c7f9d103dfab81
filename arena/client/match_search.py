"""Search among the matches of a server that can filter by game and bot only: the rest is looked at here."""

from __future__ import annotations

from collections.abc import Callable
from typing import Final, TypeAlias

from arena.store.match_search import SEARCHED, MatchFilter, MatchPage, NoSuchSearch
from arena.store.rows import MatchRow, SeatRow, microseconds

PAGE: Final = 500
Listing: TypeAlias = Callable[[int | None], tuple[MatchRow, ...]]
"""Lists `PAGE` matches of the game and bot that are wanted, the newest first, below a number."""


def sifted(listing: Listing, wanted: MatchFilter, limit: int, before: int | None) -> MatchPage:
    """Return those that are wanted among the next `SEARCHED` matches, at most `limit`. NoSuchSearch."""
    if not wanted.bot and (wanted.opponent or wanted.faults or wanted.lost):
        raise NoSuchSearch("a search for an opponent, faults or lost matches needs a bot; name one")
    found = list[MatchRow]()
    for _ in range(SEARCHED // PAGE):
        rows = listing(before)
        for row in rows:
            if wanted.since is not None and microseconds(row.started) < wanted.since:
                return MatchPage(tuple(found), None)  # matches are numbered as they begin
            before = row.match_id
            if fits(row, wanted):
                found.append(row)
                if len(found) == limit:
                    return MatchPage(tuple(found), before)
        if len(rows) < PAGE:
            return MatchPage(tuple(found), None)
    return MatchPage(tuple(found), before)


def fits(row: MatchRow, wanted: MatchFilter) -> bool:
    """Whether a match, of the game and bot that are wanted, is what else is wanted."""
    at = microseconds(row.started)
    if wanted.seats and len(row.seats) != wanted.seats:
        return False
    if wanted.state is not None and row.state is not wanted.state:
        return False
    if (wanted.since is not None and at < wanted.since) or (wanted.until is not None and at >= wanted.until):
        return False
    if not wanted.bot:
        return True
    own = [seat for seat in row.seats if seat.bot.lower() == wanted.bot.lower()]
    others = [seat.bot.lower() for seat in row.seats]
    if wanted.opponent.lower() == wanted.bot.lower() and own:
        others.remove(wanted.bot.lower())
    return (
        (not wanted.opponent or wanted.opponent.lower() in others)
        and (not wanted.faults or any(seat.forced for seat in own))
        and (not wanted.lost or any(_last(seat, row) for seat in own))
    )


def _last(own: SeatRow, row: MatchRow) -> bool:
    """Whether a seat came last, and not first."""
    return own.place is not None and own.place > 1 and all((seat.place or 0) <= own.place for seat in row.seats)
