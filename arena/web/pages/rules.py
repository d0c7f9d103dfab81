"""The rules of a game in three languages, instructions for writing a bot, and results from the viewer's own machine."""

from __future__ import annotations

import re
from collections.abc import Sequence
from functools import cache, lru_cache
from importlib.resources import files
from typing import Final, NamedTuple

from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import RedirectResponse, Response

from arena.rules import LANGUAGES, rules_of
from arena.web.answers.addresses import BotAddress, own_addresses
from arena.web.answers.responses import page
from arena.web.pages.asked import known_game
from arena.web.pages.downloads import installation
from arena.web.reading.reader import Missing
from engine.registry import GAMES

_MARKDOWN: Final = MarkdownIt("commonmark", {"html": False}).enable("table")
NAMES: Final = {"en": "English", "nl": "Nederlands", "de": "Deutsch"}


ADDRESS: Final = '"localhost:50051"'
"""The server address in the code of the first bots."""
WITH_TLS: Final = {
    "Python": (ADDRESS, f"{ADDRESS}, tls=True"),
    "TypeScript and JavaScript": (ADDRESS, f"{ADDRESS}, {{ tls: true }}"),
    "C++": (
        f"return arena::run(bot, {ADDRESS})",
        f"arena::Options at; at.address = {ADDRESS}; at.tls = true; return arena::run(bot, at)",
    ),
}
"""Changes to the code for a server with TLS. Bots that are not listed get the address on their command line."""


class FirstBot(NamedTuple):
    """The shortest bot in a language."""

    language: str
    how: Markup
    """Instructions for getting the SDK from a checkout."""
    code: str

    def at(self, bots: BotAddress) -> FirstBot:
        """Return the bot's code with the address of the server."""
        code = self.code.replace(*WITH_TLS[self.language]) if bots.tls and self.named else self.code
        return self._replace(code=code.replace(ADDRESS, f'"{bots.server}"'))

    @property
    def named(self) -> bool:
        """True if the code contains the server's address. Otherwise the command line contains it."""
        return self.language in WITH_TLS


async def first_rules(request: Request) -> Response:
    """Redirect to the rules of the first game."""
    return RedirectResponse(f"{request.scope['root']}/rules/{next(iter(GAMES))}", 302)


async def rules(request: Request) -> Response:
    """Show the rules of a game."""
    game, language = known_game(request.path_params["game"]), request.query_params.get("language", LANGUAGES[0])
    if language not in LANGUAGES:
        raise Missing(f"the rules are written in {', '.join(LANGUAGES)}, not in {language[:40]!r}")
    return page(
        request,
        "rules.html",
        game=game,
        language=language,
        languages=NAMES,
        text=_as_html(rules_of(GAMES[game], language)),
    )


async def write_a_bot(request: Request) -> Response:
    """Show the shortest bot in each language, with the address of the server."""
    bots = own_addresses(request).bots
    shown = _first_bots() if bots is None else [each.at(bots) for each in _first_bots()]
    return page(request, "write_a_bot.html", bots=shown, server=bots, install=await installation(request))


async def browser_bot(request: Request) -> Response:
    """Show a bot that plays in the viewer's own browser."""
    return page(request, "browser_bot.html", plays=request.app.state.play_socket is not None)


async def duels(request: Request) -> Response:
    """Show the page on which the viewer's browser displays results of `arena match`."""
    return page(request, "duels.html")


@cache
def _first_bots() -> Sequence[FirstBot]:
    text = (files("arena.web.pages") / "first_bots.md").read_text(encoding="utf-8")
    return [
        FirstBot(language, Markup(_MARKDOWN.renderInline(how)), code)  # noqa: S704 - our own text
        for language, how, code in re.findall(
            r"^## ([^\n]*)\n\n([^\n]*)\n\n```\w+\n(.*?)```$", text, re.DOTALL | re.MULTILINE
        )
    ]


@lru_cache(maxsize=16)
def _as_html(text: str) -> Markup:
    return Markup(_MARKDOWN.render(text))  # noqa: S704 - our own text, and HTML in it is off
