"""The list of bots, and one bot: its ratings, what its matches say of it, its versions and newest matches."""

from __future__ import annotations

from itertools import islice
from typing import Final, NamedTuple

from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from arena.client.profile import BotProfile, profile
from arena.client.source import DataSource
from arena.store.errors import Refused
from arena.store.rows import BotRow, LadderRow, MatchRow, RatedRow, VersionRow
from arena.web.asked import known_game
from arena.web.curve_svg import rating_curve
from arena.web.reader import Missing
from arena.web.responses import page

LAST: Final = 500
"""Newest matches that a profile sums up."""
LISTED: Final = 20
VERSIONS: Final = 20


class InGame(NamedTuple):
    """A bot in one game."""

    game: str
    standing: LadderRow | None
    profile: BotProfile
    history: tuple[RatedRow, ...]
    versions: tuple[VersionRow, ...]
    matches: tuple[MatchRow, ...]

    @property
    def curve(self) -> Markup:
        """Its live rating drawn; empty after fewer than two matches."""
        return rating_curve(self.history)


async def bots(request: Request) -> Response:
    """List the bots."""
    rows = await request.app.state.reader.read(lambda source: source.bots())
    return page(request, "bots.html", bots=rows)


async def bot(request: Request) -> Response:
    """Show one bot in the games that it plays, or in the one that is asked for."""
    name, asked = request.path_params["name"], request.query_params.get("game", "")
    if asked:
        known_game(asked)

    def query(source: DataSource) -> tuple[BotRow | None, list[InGame]]:
        listed = next((row for row in source.bots() if row.name.lower() == name.lower()), None)
        games = (asked,) if asked else source.games()
        found = [each for game in games if (each := _in_game(source, game, name)) is not None]
        return listed, found

    listed, games = await request.app.state.reader.read(query)
    if listed is None and not games:
        raise Missing(f"no bot {name!r} has played here")
    return page(request, "bot.html", name=games[0].profile.bot if games else listed.name, bot=listed, in_games=games)


def _in_game(source: DataSource, game: str, name: str) -> InGame | None:
    """Return a bot in a game; None if it has finished no match of it."""
    try:
        rows = source.matches(game=game, bot=name, limit=LAST)
    except Refused:
        return None
    found = profile(rows, name)
    if found is None:
        return None
    standing = next((row for row in source.ladder(game).standings if row.bot == found.bot), None)
    history = source.history(found.bot, game, LAST)
    versions = source.versions(found.bot, game, VERSIONS)
    return InGame(game, standing, found, history, versions, tuple(islice(rows, LISTED)))
