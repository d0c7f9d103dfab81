"""The list of bots, and one bot: its ratings, profile, versions and newest matches."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import islice
from typing import Final, NamedTuple

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from arena.queries.figures import leaders
from arena.queries.profile import BotProfile, profile
from arena.queries.source import DataSource
from arena.store.base.errors import Refused
from arena.store.base.rows import BotEventKind, BotEventRow, BotRow, MatchRow, MatchState, RatedRow, VersionRow
from arena.web.answers.responses import page
from arena.web.drawing.ratings import rating_curve
from arena.web.pages.asked import known_game
from arena.web.reading.reader import Missing

LAST: Final = 150
"""Number of newest matches in a profile and in the drawn rating."""
LISTED: Final = 20
"""Number of newest matches that are listed. Their replays are read, too."""
VERSIONS: Final = 20
OPPONENTS: Final = 12
"""Number of opponents shown, most frequent first; a separate page lists all, from more matches."""
AGE: Final = 10.0
"""Seconds for which the rank is cached, since reading a ladder costs as much as the rest of the page."""
EVENTS: Final = 1000
"""Number of the operator's newest decisions that are searched for those about a bot."""


class InGame(NamedTuple):
    """A bot in one game."""

    game: str
    profile: BotProfile
    history: tuple[RatedRow, ...]
    versions: tuple[VersionRow, ...]
    matches: tuple[MatchRow, ...]
    faults: tuple[tuple[int, int, int, bool], ...]
    """The newest matches in which others decided for it: match, seat, number of forced decisions, whether house bots
    played too much of the seat."""

    @property
    def curve(self) -> Markup:
        """A drawing of the live rating; empty after fewer than two matches."""
        return rating_curve(self.history)


async def bots(request: Request) -> Response:
    """List the bots."""
    rows = await request.app.state.fresh.read("bots", lambda source: source.bots())
    return page(request, "bots.html", bots=rows)


async def bot(request: Request) -> Response:
    """Show one bot in the requested game, or by default in the game of its newest match."""
    typed, asked = request.path_params["name"], request.query_params.get("game", "")
    if asked:
        known_game(asked)
    state = request.app.state
    done = await state.fresh.read("bot events", lambda source: source.bot_events(EVENTS))
    name = _present_name(done, typed)
    listed = await state.fresh.read("bots", lambda source: source.bots())
    entry = next((row for row in listed if row.name.lower() == name.lower()), None)

    def query(source: DataSource) -> InGame | None:
        game = asked or _newest_game(source, name)
        return _in_game(source, game, name) if game else None

    found, events = await state.reader.read(query), _about(done, name, entry)
    if entry is None and found is None and not events:
        raise Missing(f"no bot {name!r} has played here")
    called = found.profile.bot if found else entry.name if entry else name
    ladder = record = None
    if found is not None:
        ladder = await state.fresh.read(("ladder", found.game), lambda source: source.ladder(found.game), AGE)
        finished = [row for row in found.matches if row.state is MatchState.FINISHED and not row.pruned]
        record = state.bot_records.record(finished, called)
    standing = next((row for row in ladder.standings if row.bot == called), None) if ladder else None
    flags = [flag for flag in ladder.flags if called in {flag.bot, flag.other}] if ladder else []
    return page(
        request,
        "bot.html",
        name=called,
        bot=entry,
        asked=asked,
        each=found,
        standing=standing,
        rank=leaders(ladder.standings).rank(standing) if ladder and standing else None,
        flags=flags,
        record=record,
        events=events,
        opponents=OPPONENTS,
        deleted=found is not None and any(s.bot == called and s.deleted for s in found.matches[0].seats),
        hidden=found is not None and any(s.bot == called and s.hidden for s in found.matches[0].seats),
    )


def _present_name(events: Sequence[BotEventRow], typed: str) -> str:
    """Return a bot's current name; `typed` is that or a former one."""
    for event in reversed(events):  # oldest first
        if event.kind is BotEventKind.RENAMED and event.name.lower() == typed.lower():
            typed = event.new_name or typed
    return typed


def _newest_game(source: DataSource, name: str) -> str:
    """Return the game of a bot's newest match; empty if it has played none."""
    try:
        return next((row.game for row in source.matches(bot=name, limit=1)), "")
    except Refused:
        return ""


def _in_game(source: DataSource, game: str, name: str) -> InGame | None:
    """Return a bot in a game; None if it has finished no match of it."""
    try:
        rows = source.matches(game=game, bot=name, limit=LAST)
    except Refused:
        return None
    found = profile(rows, name)
    if found is None:
        return None
    history = source.history(found.bot, game, LAST)
    versions = source.versions(found.bot, game, VERSIONS)
    faults = [
        (row.match_id, number, seat.forced, seat.spoilt)
        for row in rows
        if row.state is MatchState.FINISHED and not row.pruned
        for number, seat in enumerate(row.seats)
        if seat.bot == found.bot and (seat.forced or seat.spoilt)
    ]
    return InGame(game, found, history, versions, tuple(islice(rows, LISTED)), tuple(faults[:LISTED]))


def _about(events: Sequence[BotEventRow], name: str, entry: BotRow | None) -> list[BotEventRow]:
    """Return the operator's decisions about a bot, under any of its names, or about its owner."""
    names, owner = {name.lower()}, (entry.owner.lower() if entry else "")
    found = []
    for event in events:  # newest first, so that each rename leads to the name before it
        of_owner = event.kind in {BotEventKind.BANNED, BotEventKind.UNBANNED}
        about = {event.name.lower(), (event.new_name or event.name).lower()}
        if (of_owner and event.name.lower() == owner) or (not of_owner and about & names):
            found.append(event)
            if not of_owner:
                names |= about
    return found
