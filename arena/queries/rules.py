"""The rules of the games in three languages.

A game's text is next to its code, in `rules.<language>.md`: a title, sections, and one paragraph for each ruling, which
begins with its number in bold. The structure is the same in every language.
"""

from __future__ import annotations

import re
from importlib.resources import files
from typing import Final

from engine.registry import GAMES

LANGUAGES: Final = ("en", "nl", "de")


def rules_of(game: str, language: str) -> str:
    """Return the rules of a game as Markdown."""
    module = type(GAMES[game]).__module__.rpartition(".")[0]
    return (files(module) / f"rules.{language}.md").read_text(encoding="utf-8")


def rulings(text: str) -> dict[str, str]:
    """Return the rulings in a rules text, by number, in the order of the text."""
    paragraphs = (paragraph.strip() for paragraph in text.split("\n\n"))
    return {found[1]: paragraph for paragraph in paragraphs if (found := re.match(r"\*\*([A-Z]+\d+) ", paragraph))}
