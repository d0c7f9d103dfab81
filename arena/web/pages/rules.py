"""The rules of a game in three languages, how to write a bot, and results from the viewer's own machine."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from markdown_it import MarkdownIt
from markupsafe import Markup
from starlette.requests import Request
from starlette.responses import Response

from arena.client.rules import LANGUAGES, rules_of
from arena.web.answers.responses import page
from arena.web.pages.asked import game_asked
from arena.web.reading.reader import Missing

FIRST_BOT: Final = """\
import random
from arena_client import Bot, Decision, run


class MyBot(Bot):
    name = "my-bot"
    games = ("sixth_sense", "nullern")

    def decide(self, decision: Decision) -> int:
        return random.choice(decision.legal)


if __name__ == "__main__":
    run(MyBot(), "localhost:50051")
"""
"""A whole bot."""
NAMES: Final = {"en": "English", "nl": "Nederlands", "de": "Deutsch"}


async def rules(request: Request) -> Response:
    """Show the rules of a game."""
    game, language = game_asked(request), request.query_params.get("language", LANGUAGES[0])
    if language not in LANGUAGES:
        raise Missing(f"the rules are written in {', '.join(LANGUAGES)}, not in {language[:40]!r}")
    return page(
        request, "rules.html", game=game, language=language, languages=NAMES, text=_as_html(rules_of(game, language))
    )


async def write_a_bot(request: Request) -> Response:
    """Show the shortest bot and how it gets on the ladder."""
    return page(request, "write_a_bot.html", bot=FIRST_BOT)


async def browser_bot(request: Request) -> Response:
    """Show a bot that plays in the viewer's own browser."""
    return page(request, "browser_bot.html", plays=request.app.state.play_socket is not None)


async def duels(request: Request) -> Response:
    """Show where the viewer's own browser shows results of the match runner."""
    return page(request, "duels.html")


@lru_cache(maxsize=16)
def _as_html(text: str) -> Markup:
    markdown = MarkdownIt("commonmark", {"html": False}).enable("table")
    return Markup(markdown.render(text))  # noqa: S704 - our own text, and HTML in it is off
