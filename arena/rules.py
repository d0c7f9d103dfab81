"""The rules of the games in three languages.

A game's text is next to its code, in `rules.<language>.md`: a title, sections, and one paragraph for each ruling, which
begins with its number in bold. The structure is the same in every language.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from engine.game import Game

LANGUAGES: Final = ("en", "nl", "de")


def rules_of(game: Game, language: str) -> str:
    """Return the rules of a game as Markdown."""
    return _file(game, language).read_text(encoding="utf-8")


def languages_of(game: Game) -> tuple[str, ...]:
    """Return the languages in which a game has rules. The first one is the default."""
    return tuple(language for language in LANGUAGES if _file(game, language).is_file())


def language_for(game: Game, tag: str) -> str | None:
    """Return the language of a game's rules for a BCP 47 tag, such as "nl" for "nl-BE"; None if there are none.

    The empty tag selects the first language.
    """
    languages = languages_of(game)
    return next((each for each in languages if not tag or tag.lower().split("-")[0] == each), None)


def rulings(text: str) -> dict[str, str]:
    """Return the rulings in a rules text, by number, in the order of the text."""
    paragraphs = (paragraph.strip() for paragraph in text.split("\n\n"))
    return {found[1]: paragraph for paragraph in paragraphs if (found := re.match(r"\*\*([A-Z]+\d+) ", paragraph))}


def _file(game: Game, language: str) -> Traversable:
    module = type(game).__module__.rpartition(".")[0]
    return files(module) / f"rules.{language}.md"
