"""The list of bots, and the page of one bot. The page shows rating, losses and their causes, results, times, versions,
newest matches, and all opponents.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from math import inf
from typing import Any, Final, NamedTuple
from urllib.parse import quote

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from arena.queries.figures import leaders
from arena.queries.profile import BotProfile, profile
from arena.queries.source import DataSource
from arena.store.base.errors import Refused
from arena.store.base.rows import (
    BotEventKind,
    BotEventRow,
    BotRow,
    LadderEntryRow,
    LadderRow,
    MatchRow,
    MatchState,
    OpponentRow,
    RatedRow,
    VersionRow,
)
from arena.store.ladder.opponents import LAST as LAST_SEARCHED
from arena.web.answers.addresses import own_addresses
from arena.web.answers.responses import page
from arena.web.drawing.ratings import bank_histogram, rating_curve, refits, think_histogram
from arena.web.pages.asked import AskedLadder, ladder_queried, ladders_listed, number_asked
from arena.web.reading.reader import Busy, Missing, Unavailable
from arena.web.reading.ready_replays import replay_file
from arena.web.reading.reviews import MOST_OF_ADDRESS, Reviews, TooManyReviews
from engine.points import points_above
from engine.registry import GAMES
from trio_grpc.limits.connection_limits import origin_of

LAST: Final = 150
"""Number of newest matches in a profile and in the rating curve."""
LISTED: Final = 20
"""Number of newest matches in the list. Their replays are also read."""
VERSIONS: Final = 20
OPPONENTS: Final = 12
"""Number of opponents shown, most frequent first. A separate page lists all, from more matches."""
AGE: Final = 10.0
"""Seconds for which the rank is cached. Reading a ladder takes as long as the rest of the page."""
LOSSES: Final = 5
"""Length of the lists of latest losses, of latest faults, and of costliest choices."""
EVENTS: Final = 1000
"""Number of the operator's newest decisions that are searched for decisions about a bot."""
ALL_LISTED: Final = 50
"""Number of opponents per page of the list of all opponents."""
MOST_SKIPPED: Final = 1 << 31
"""Largest number of opponents that the address of a page may skip."""


class OwnSeat(NamedTuple):
    """A bot's seat in a finished match."""

    match_id: int
    seat: int
    place: int
    seats: int
    points: float
    """Points minus the mean points of the other seats."""
    forced: int
    """Number of decisions that the server made."""
    spoilt: bool
    """True if house bots made too many of the seat's decisions."""
    last: bool
    """True if the seat came last."""
    pruned: bool


class Analyses(NamedTuple):
    """The requested analyses of a bot's matches."""

    costliest: Sequence[Mapping[str, Any]]
    """The costliest choices as in the analyses, each with its `match_id` and `seat`."""
    over: int
    """Number of finished analyses."""
    waiting: int


class OnLadder(NamedTuple):
    """The figures of a bot on one ladder."""

    ladder: AskedLadder
    profile: BotProfile
    history: tuple[RatedRow, ...]
    versions: tuple[VersionRow, ...]
    matches: tuple[MatchRow, ...]
    faults: Sequence[OwnSeat]
    """The newest seats in which the server or a house bot decided for the bot."""
    losses: Sequence[OwnSeat]
    """The latest seats that came last or for which house bots made too many decisions."""
    all_matches: tuple[MatchRow, ...]
    """The matches in the bot's profile."""

    @property
    def curve(self) -> Markup:
        """A drawing of the live rating. Empty after fewer than two matches."""
        return rating_curve(self.history)

    @property
    def refitted(self) -> bool:
        """True if the drawing shows a new fit of the ladder."""
        return bool(refits(self.history))


class ListedBot(NamedTuple):
    """A bot in the list."""

    bot: BotRow
    standings: tuple[LadderRow | None, ...]
    """Rows of the ladders in the order of the games; None on ladders where the bot has finished no match."""

    @property
    def best(self) -> float:
        """Highest of the bot's ratings, or minus infinity without a rating."""
        return max((row.rating for row in self.standings if row is not None), default=-inf)

    @property
    def last_match(self) -> datetime | None:
        """The end of the bot's last match."""
        return max((row.last_match for row in self.standings if row and row.last_match), default=None)


async def bots(request: Request) -> Response:
    """List the bots by rating, highest first. Mark bots that are online, if a server knows this."""
    state = request.app.state
    try:
        rows = await state.live.bots()
    except Unavailable:
        rows = await state.fresh.read("bots", lambda source: source.bots())
    ladders = [
        await state.fresh.read(("default ladder", game), lambda source, game=game: source.ladder(game), AGE)
        for game in GAMES
    ]
    by_name = [{row.bot: row for row in ladder.standings} for ladder in ladders]
    listed = [ListedBot(row, tuple(of_game.get(row.name) for of_game in by_name)) for row in rows]
    online = any(row.connected is not None for row in rows)
    return page(request, "bots.html", bots=sorted(listed, key=lambda each: -each.best), online=online)


async def bot(request: Request) -> Response:
    """Show one bot on the requested ladder, or by default on the ladder of its newest match."""
    typed, asked, listing = request.path_params["name"], await ladder_queried(request), await ladders_listed(request)
    state = request.app.state
    done = await state.fresh.read("bot events", lambda source: source.bot_events(EVENTS))
    name = present_name(done, typed)
    listed = await state.fresh.read("bots", lambda source: source.bots())
    entry = next((row for row in listed if row.name.lower() == name.lower()), None)

    def query(source: DataSource) -> OnLadder | None:
        ladder = asked or _newest_ladder(source, name, listing)
        return _on_ladder(source, ladder, name) if ladder else None

    found, events = await state.reader.read(query), _about(done, name, entry)
    if entry is None and found is None and not events:
        raise Missing(f"no bot {name!r} has played here")
    called = found.profile.bot if found else entry.name if entry else name
    address = own_addresses(request).bots
    ladder = record = analyses = None
    if found is not None:
        ladder = await state.fresh.read(("ladder", *found.ladder[1:3]), found.ladder.read, AGE)
        finished = [row for row in found.matches if row.state is MatchState.FINISHED and not row.pruned]
        record = state.bot_records.record(finished, called)
        analyses = _analyses(state.reviews, found.all_matches, called)
    standing = next((row for row in ladder.standings if row.bot == called), None) if ladder else None
    flags = [flag for flag in ladder.flags if called in {flag.bot, flag.other}] if ladder else []
    return page(
        request,
        "bot.html",
        name=called,
        bot=entry,
        asked=asked,
        ladders=[row for row in listing if row.name != row.game],
        each=found,
        standing=standing,
        rank=leaders(ladder.standings).rank(standing) if ladder and standing else None,
        flags=flags,
        record=record,
        analyses=analyses,
        thinking=think_histogram(record.think) if record else "",
        banks=bank_histogram(record.banks) if record else "",
        share=MOST_OF_ADDRESS,
        losses=LOSSES,
        matches_linked=matches_linked,
        server_options="" if address is None else f" {address.options}",
        events=events,
        opponents=OPPONENTS,
        deleted=found is not None and any(s.bot == called and s.deleted for s in found.matches[0].seats),
        hidden=found is not None and any(s.bot == called and s.hidden for s in found.matches[0].seats),
    )


def present_name(events: Sequence[BotEventRow], typed: str) -> str:
    """Return a bot's current name. `typed` is the current or a former name."""
    for event in reversed(events):  # Oldest first.
        if event.kind is BotEventKind.RENAMED and event.name.lower() == typed.lower():
            typed = event.new_name or typed
    return typed


def _newest_ladder(source: DataSource, name: str, listing: Iterable[LadderEntryRow]) -> AskedLadder | None:
    """Return the ladder of a bot's newest match, or None if it has played no match."""
    try:
        row = next(iter(source.matches(bot=name, limit=1)), None)
    except Refused:
        return None
    ladder = "" if row is None else row.ladder or row.game
    entry = next((each for each in listing if each.name == ladder), None)
    return AskedLadder(row.game, ladder, row.season or 1, entry) if row and entry else None


def _on_ladder(source: DataSource, ladder: AskedLadder, name: str) -> OnLadder | None:
    """Return a bot's figures on a ladder, or None if it has finished no match there."""
    game = ladder.game
    try:
        rows = source.matches(game, name, LAST, None, ladder.ladder, ladder.season)
    except Refused:
        return None
    found = profile(rows, name)
    if found is None:
        return None
    history = source.history(found.bot, game, LAST, ladder.ladder, ladder.season)
    versions = source.versions(found.bot, game, VERSIONS, ladder.ladder, ladder.season)
    own = [
        OwnSeat(
            row.match_id,
            number,
            seat.place or 0,
            len(row.seats),
            points_above([other.score or 0 for other in row.seats], number),
            seat.forced,
            seat.spoilt,
            1 < (seat.place or 0) == max(other.place or 0 for other in row.seats),
            row.pruned,
        )
        for row in rows
        if row.state is MatchState.FINISHED and not row.voided
        for number, seat in enumerate(row.seats)
        if seat.bot == found.bot
    ]
    faults = [each for each in own if (each.forced or each.spoilt) and not each.pruned]
    losses = [each for each in own if each.spoilt or each.last]
    return OnLadder(ladder, found, history, versions, rows[:LISTED], faults[:LOSSES], losses[:LOSSES], rows)


def _analyses(reviews: Reviews, rows: Iterable[MatchRow], bot: str) -> Analyses:
    """Collect the analyses of a bot's matches."""
    found, over, waiting = list[Mapping[str, Any]](), 0, 0
    for row in rows:
        review = reviews.of(row.match_id)
        if review is None or review.failed:
            continue
        over += review.over
        waiting += not review.over
        seats = () if review.found is None else review.found["seats"]
        found += [
            {**each, "match_id": row.match_id, "seat": seat["seat"]}
            for seat in seats
            if row.seats[seat["seat"]].bot == bot
            for each in seat["costly"] or ()
        ]
    return Analyses(sorted(found, key=lambda each: -each["cost"])[:LOSSES], over, waiting)


async def analyse(request: Request) -> Response:
    """Start analyses of a bot's last losses, as many as one address may request. Then show the bot.

    Raises:
        SiteRefused: the request comes from a page of another site.
        Missing: no loss is left to analyse.
        Busy: too many analyses are waiting, in total or for the reader's address.
    """
    state = request.app.state
    state.sites.check(request.headers)
    name, ladder = request.path_params["name"], await ladder_queried(request)
    if ladder is None:
        raise Missing("say on which ladder, as ?game=NAME or ?ladder=NAME")
    reviews: Reviews = state.reviews

    def query(source: DataSource) -> list[tuple[int, bytes]]:
        found = _on_ladder(source, ladder, name)
        numbers = dict.fromkeys(each.match_id for each in (found.losses if found else ()) if not each.pruned)
        new = [number for number in numbers if (review := reviews.of(number)) is None or review.failed]
        return [(number, replay_file(source, number)) for number in new[:MOST_OF_ADDRESS]]

    wanted = await state.reader.read(query)
    if not wanted:
        raise Missing(f"no loss of {name!r} is left to be analysed: it lost none, or all were asked for")
    address = origin_of(request.client.host if request.client is not None else "")
    asked = 0
    try:
        for number, content in wanted:
            reviews.ask(number, content, address)
            asked += 1
    except TooManyReviews as error:
        if not asked:
            raise Busy(str(error)) from error
    return RedirectResponse(f"{request.scope['root']}/bots/{quote(name, safe='')}?{ladder.query}#costliest", 303)


def matches_linked(text: str, root: str) -> Markup:
    """Return the reason why a bot is parked, with links to the matches that it names."""
    link = Markup('<a href="{}/matches/{}">{}</a>')
    return Markup("").join(
        link.format(root, part, part) if part.isdecimal() else part for part in re.split(r"(\d+)", text)
    )


def _about(events: Sequence[BotEventRow], name: str, entry: BotRow | None) -> list[BotEventRow]:
    """Return the operator's decisions about a bot, under any of its names, or about its owner."""
    names, owner = {name.lower()}, (entry.owner.lower() if entry else "")
    found = []
    for event in events:  # Newest first, so that each rename leads to the name before it.
        of_owner = event.kind in {BotEventKind.BANNED, BotEventKind.UNBANNED}
        about = {event.name.lower(), (event.new_name or event.name).lower()}
        if (of_owner and event.name.lower() == owner) or (not of_owner and about & names):
            found.append(event)
            if not of_owner:
                names |= about
    return found


async def opponents(request: Request) -> Response:
    """Show a bot's results by opponent, on one ladder."""
    name, ladder = request.path_params["name"], await ladder_queried(request)
    if ladder is None:
        raise Missing("say of which game or ladder, as ?game=NAME or ?ladder=NAME")
    after = number_asked(request, "after", MOST_SKIPPED) or 0

    def query(source: DataSource) -> tuple[OpponentRow, ...]:
        return source.opponents(name, ladder.game, ALL_LISTED + 1, after, LAST_SEARCHED, ladder.ladder, ladder.season)

    found = await request.app.state.reader.read(query)
    return page(
        request,
        "opponents.html",
        name=name,
        ladder=ladder,
        opponents=found[:ALL_LISTED],
        before=max(0, after - ALL_LISTED) if after else None,
        further=after + ALL_LISTED if len(found) > ALL_LISTED else None,
        last=LAST_SEARCHED,
    )
