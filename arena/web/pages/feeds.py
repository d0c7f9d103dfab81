"""Atom feeds (RFC 4287): the matches of a bot, a ladder day by day, events, and the operator's decisions.

An entry's id is derived from the name of the server's log, so it stays the same if a bot is renamed or the pages move.
"""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime, parsedate_to_datetime
from typing import Final, NamedTuple
from urllib.parse import quote
from uuid import UUID, uuid5

from starlette.requests import Request
from starlette.responses import Response

from arena.queries.source import LARGEST_PAGE, DataSource
from arena.store.base.rows import BotEventKind, BotEventRow, EventRow, MatchRow, MatchState, PastLadder
from arena.store.ladder.seasons import id_of
from arena.web.answers.addresses import own_addresses
from arena.web.answers.responses import conditional, fragment, ladder_title
from arena.web.pages.asked import AskedLadder, ladder_asked
from arena.web.pages.bots import present_name
from arena.web.reading.reader import Missing, log_name
from engine.registry import GAMES

ENTRIES: Final = 50
"""Maximum number of matches, events or decisions in a feed."""
DAYS: Final = 7
"""Number of days whose last ladder is in a feed, counted back from the day of the newest ladder."""
FIRST: Final = 10
"""Number of bots of a ladder that an entry names."""
AGE: Final = 60.0
"""Seconds for which a feed of a ladder and the name of the log are cached."""
_NOT_IN_XML: Final = re.compile("[^\\t\\n\\r\\x20-\\ud7ff\\ue000-\\ufffd\\U00010000-\\U0010ffff]")
NEVER: Final = datetime(1970, 1, 1, tzinfo=UTC)
"""Time of an empty feed."""


class Entry(NamedTuple):
    """One entry of a feed."""

    key: str
    """Path of the entry's subject on the server, such as "matches/17". The entry's id is derived from it."""
    title: str
    updated: datetime
    path: str
    """The path of the entry's page below the home page."""
    summary: str


async def of_bot(request: Request) -> Response:
    """Send the newest finished matches of a listed bot.

    Raises:
        Missing: there is no such bot.
    """
    fresh, typed = request.app.state.fresh, request.path_params["name"]
    renamed: list[BotEventRow] = await fresh.read("renamed", _renamed)
    name = present_name(renamed, typed).lower()
    listed = await fresh.read("bots", lambda source: source.bots())
    bot = next((row for row in listed if row.name.lower() == name), None)
    if bot is None:
        raise Missing(f"there is no bot {typed!r} on the list of bots")
    rows: tuple[MatchRow, ...] = await request.app.state.reader.read(
        lambda source: source.matches(bot=bot.name, limit=ENTRIES)
    )
    entries = [_match(row, bot.name) for row in rows if row.state is MatchState.FINISHED]
    key = bot.name
    for event in renamed:
        key = event.name if event.new_name == key else key
    path = f"/bots/{quote(bot.name, safe='')}"
    return await _feed(request, f"Matches of {bot.name}", f"bots/{key}", path, entries, bot.registered)


def _renamed(source: DataSource) -> list[BotEventRow]:
    """Return all renamings, newest first. A bot's first name is never given to another bot."""
    found: list[BotEventRow] = []
    before = None
    while rows := source.bot_events(LARGEST_PAGE, before):
        found += [row for row in rows if row.kind is BotEventKind.RENAMED]
        before = rows[-1].number
    return found


def _match(row: MatchRow, bot: str) -> Entry:
    own = " and ".join(f"{row.seats[seat].place}." for seat in row.seats_of(bot))
    title = f"{bot}: {own} of {len(row.seats)}, {ladder_title(row)}" + (", void" if row.voided else "")
    places = sorted(row.seats, key=lambda seat: seat.place or 0)
    summary = ", ".join(f"{seat.place}. {seat.bot} {seat.score}" for seat in places)
    path = f"/matches/{row.match_id}"
    return Entry(path[1:], title, row.ended or row.started, path, summary)


async def of_ladder(request: Request) -> Response:
    """Send the last ladder of each of the latest days.

    Raises:
        Missing: there is no such ladder.
    """
    asked = await ladder_asked(request)

    def query(source: DataSource) -> list[PastLadder]:
        found: list[PastLadder] = []
        at = datetime.now(UTC)
        while len(found) < DAYS:
            ladder = source.past_ladder(asked.game, at, asked.ladder, asked.season)
            if ladder.published is None:
                break
            found.append(ladder)
            at = ladder.published.replace(hour=0, minute=0, second=0, microsecond=0) - timedelta(microseconds=1)
        return found

    ladders = await request.app.state.fresh.read(("ladder feed", *asked[1:3]), query, AGE)
    title, key = f"Ladder of {ladder_title(asked)}", f"ladder/{id_of(asked.ladder, asked.season)}"
    entries = [_ladder(ladder, title, key, asked) for ladder in ladders]
    return await _feed(request, title, key, asked.path, entries, NEVER)


def _ladder(ladder: PastLadder, title: str, key: str, asked: AskedLadder) -> Entry:
    assert ladder.published is not None, "the query ends there"
    at = ladder.published.astimezone(UTC)
    first = [f"{row.rank}. {row.bot} {row.rating:.0f}" for row in ladder.standings[:FIRST]]
    season = f"&season={asked.season}" if asked.season > 1 else ""
    named = f"{asked.path}?at={quote(at.replace(tzinfo=None).isoformat())}{season}"
    return Entry(f"{key}/{at:%Y-%m-%d}", f"{title}, {at:%Y-%m-%d}", at, named, ", ".join(first))


async def of_decisions(request: Request) -> Response:
    """Send the operator's newest decisions about bots and owners."""
    rows = await request.app.state.fresh.read("decisions", lambda source: source.bot_events(ENTRIES))
    entries = [_decision(row) for row in rows]
    return await _feed(request, "Decisions of the operator", "bot-events", "/bots", entries, NEVER)


def _decision(row: BotEventRow) -> Entry:
    title = f"{row.name} was {row.kind.value}" + (f" {row.new_name}" if row.new_name else "")
    return Entry(f"bot-events/{row.number}", title, row.at, "/bots", row.reason)


async def of_events(request: Request) -> Response:
    """Send the newest events. An entry changes with the state of its event. Raises: Missing."""
    rows = await request.app.state.fresh.read(("events", ENTRIES, None), lambda source: source.events(ENTRIES))
    return await _feed(request, "Events", "events", "/events", [_event(row) for row in rows], NEVER)


def _event(row: EventRow) -> Entry:
    start = f"{row.start.astimezone(UTC):%Y-%m-%d %H:%M} UTC"
    match row.state:
        case "announced":
            state = f"announced for {start}"
        case "finished":
            state = f"{row.winner} won" if row.winner else "ended undecided"
        case _:
            state = {"playing": "has begun", "cancelled": "was cancelled"}[row.state]
    title = GAMES[row.ladder].title if row.ladder in GAMES else row.ladder
    summary = f"{title}, tables of {row.seats}, {row.entrants} bots, start {start}"
    return Entry(f"event/{row.name}", f"{row.name}: {state}", row.changed, f"/event/{row.name}", summary)


async def _feed(request: Request, title: str, key: str, path: str, entries: list[Entry], began: datetime) -> Response:
    """Send a feed, or 304 if the client has it."""
    # A permanent identifier of the server: the first bytes of its log's name. A directory may have no log.
    log = await request.app.state.fresh.read("name of the log", log_name, AGE)
    namespace = UUID(log[:32] or "0" * 32)
    own = own_addresses(request)
    updated = max((entry.updated for entry in entries), default=began).astimezone(UTC)
    text = fragment(
        "feed.xml",
        "feed",
        f"{own.origin or ''}{own.root}",
        request.url.path,
        _in_xml(title),
        uuid5(namespace, key).urn,
        updated,
        path,
        [
            (uuid5(namespace, each.key).urn, each._replace(title=_in_xml(each.title), summary=_in_xml(each.summary)))
            for each in entries
        ],
    )
    headers = {
        "last-modified": format_datetime(updated.replace(microsecond=0), usegmt=True),
        "access-control-allow-origin": "*",
    }
    if "if-none-match" not in request.headers and _since(request, updated):
        return Response(status_code=304, headers=headers)
    return conditional(request, text.encode(), "application/atom+xml", headers)


def _in_xml(text: str) -> str:
    """Return a text without the characters that XML cannot represent."""
    return _NOT_IN_XML.sub("\N{REPLACEMENT CHARACTER}", text)


def _since(request: Request, updated: datetime) -> bool:
    """Return True if the client has everything up to the last change (RFC 9110, 13.1.3)."""
    try:
        return parsedate_to_datetime(request.headers["if-modified-since"]) >= updated.replace(microsecond=0)
    except (KeyError, ValueError, TypeError):
        return False
