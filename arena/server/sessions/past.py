"""Reports that a connecting bot has missed, and the state of the log."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Collection, Sequence
from functools import partial
from typing import NamedTuple

from sqlalchemy import Connection

from arena.log.head import LogState
from arena.server.sessions.messages import MatchOver, RatingMove
from arena.server.sessions.players import Players
from arena.store.base import leaves as log
from arena.store.bots.bots import Bot
from arena.store.matches import ended, matches
from arena.store.store import Store


class Past(NamedTuple):
    """A bot's past reports and the state of the log, both from one committed state of the store."""

    reports: Sequence[MatchOver]
    """The reports that the bot asks for, in the order of their log leaves."""
    newcomer: bool
    """True if the bot has not finished any match."""
    log_state: LogState | None


async def past(
    store: Store, players: Players, authorize: Callable[[], Awaitable[Bot]], reports_after: int | None
) -> tuple[Bot, Past]:
    """Return a bot and its past up to now. The bot's session will get every later report.

    Raises what `authorize` raises, and StoreError.
    """
    bot = await authorize()
    while True:
        player = players.get(bot.id)
        ended_before = 0 if player is None else player.playing.ended
        running = () if player is None else tuple(player.playing.running)
        found = await store.read(partial(_read, bot_id=bot.id, reports_after=reports_after, running=running))
        bot = await authorize()  # Detects a ban since the first check. A later ban closes the session.
        unchanged = player is players.get(bot.id) and (player is None or player.playing.ended == ended_before)
        if found is not None and unchanged:  # Otherwise a match has ended meanwhile, so read again.
            return bot, found


def _read(connection: Connection, bot_id: int, reports_after: int | None, running: Collection[int]) -> Past | None:
    """Return the past, or None if a match in `running` has already ended in this state of the store."""
    if ended.any_over(connection, running):
        return None
    over = [] if reports_after is None else ended.after(connection, bot_id, reports_after)
    return Past([_report(each) for each in over], not matches.has_finished(connection, bot_id), log.state(connection))


def _report(match: ended.EndedMatch) -> MatchOver:
    return MatchOver(
        match.match_id,
        match.seat,
        match.scores,
        match.places,
        None if match.rating is None else RatingMove(*match.rating),
        match.counts,
        match.interrupted,
        match.kind,
        match.spoilt,
        match.entry,
    )
