"""A bot's profile, gathered from its matches, its newest replays and the ladder."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from itertools import islice
from typing import TYPE_CHECKING, Final

from arena.analysis.round_results import bids_kept, round_results
from arena.queries.flags import flagged
from arena.queries.profile import BotProfile, profile
from arena.queries.source import LARGEST_PAGE
from arena.replay.read import read
from arena.replay.steps import Course
from arena.store.base.errors import Refused
from arena.store.base.rows import MatchRow, MatchState

if TYPE_CHECKING:
    from arena.queries.source import DataSource

REPLAYS: Final = 20
"""Newest matches whose replays are read for bids."""


def gathered(source: DataSource, game: str, name: str, last: int) -> BotProfile | None:
    """Return what a bot's latest matches of a game say of it; None if it has finished none."""
    rows = [*islice(all_matches(source, game, name), last)]
    found = profile(rows, name)
    if found is None:
        return None
    ladder = source.ladder(game)
    standing = next((row for row in ladder.standings if row.bot == found.bot), None)
    bids: list[bool] = []
    with suppress(Refused):  # older replays may have been pruned
        for row in [row for row in rows if row.state is MatchState.FINISHED][:REPLAYS]:
            rounds = round_results(Course(read(source.replay(row.match_id))))
            bids += bids_kept(rounds, row.seats_of(found.bot))
    return replace(
        found,
        bids=len(bids) or None,
        kept=sum(bids) if bids else None,
        think_95_us=None if standing is None else standing.think_95_us,
        flags=flagged(ladder.flags, found.bot),
    )


def all_matches(source: DataSource, game: str, bot: str, before: int | None = None) -> Iterator[MatchRow]:
    """Yield a bot's matches of a game, of all games if that is empty, the newest first; page by page."""
    while rows := source.matches(game=game, bot=bot, limit=LARGEST_PAGE, before=before):
        yield from rows
        if len(rows) < LARGEST_PAGE:
            return
        before = rows[-1].match_id
