"""Results of matches that ended while their bot was away, for a bot that returns and asks for them."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from arena.server.sessions.messages import MatchOver, RatingMove
from arena.store.base import leaves as log
from arena.store.base.errors import UnknownMatch
from arena.store.base.rows import MatchState
from arena.store.ladder import events
from arena.store.matches import matches

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from sqlalchemy import Connection

    from arena.server.sessions.players import Players
    from arena.store.bots.bots import Bot
    from arena.store.store import Store


async def missed(store: Store, players: Players, bot: Bot, playing: Collection[int]) -> Sequence[MatchOver]:
    """Return reports of the matches that are over; the others report to the session when they end.

    Raises: StoreError.
    """

    def running() -> set[int]:
        bot_player = players.get(bot.id)
        return set() if bot_player is None else set(playing).intersection(bot_player.playing.running)

    while True:
        before = running()
        over = sorted(set(playing) - before)
        reports = await store.read(partial(_reports, bot=bot, numbers=over)) if over else ()
        if running() == before:  # otherwise a match has ended since
            return reports


def _reports(connection: Connection, bot: Bot, numbers: Iterable[int]) -> list[MatchOver]:
    reports = (_report(connection, bot, number) for number in numbers)
    return [report for report in reports if report is not None]


def _report(connection: Connection, bot: Bot, number: int) -> MatchOver | None:
    try:
        match = matches.get_match(connection, number)
    except UnknownMatch:
        return None
    seat = next((seat for seat, each in enumerate(match.seats) if each.bot == bot.name), None)
    if seat is None or match.state is MatchState.PLAYING:
        return None
    entry = log.outcome(connection, number)
    if match.state is MatchState.INTERRUPTED:
        return MatchOver(number, seat, (), (), None, (), match.reason, match.kind, entry=entry)
    before, after = match.seats[seat].rating_before, match.seats[seat].rating_after
    return MatchOver(
        number,
        seat,
        tuple(each.score for each in match.seats if each.score is not None),
        tuple(each.place for each in match.seats if each.place is not None),
        None if before is None or after is None else RatingMove(before, after),
        (True,) * len(match.seats) if before is None else events.result_of(connection, number).counts,
        "",
        match.kind,
        tuple(each.spoilt for each in match.seats),
        entry,
    )
