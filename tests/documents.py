"""Contents of documents for the tests that run them: bots, commands, and code blocks by language."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[1]
README: Final = (ROOT / "README.md").read_text(encoding="utf-8")
ADDRESS: Final = "localhost:50051"
"""The server address in the documents' bots."""
CONSOLE: Final = re.findall(r"^\$ (.*?)(?: {2,}#.*)?$", README, re.MULTILINE)
"""The README's commands without their comments."""


def blocks(text: str, language: str = r"\w+") -> list[str]:
    """Return a document's code blocks in one language or in all languages."""
    return re.findall(rf"^```{language}\n(.*?)^```$", text, re.DOTALL | re.MULTILINE)


def first_bots() -> list[str]:
    """Return the bots of docs/languages.md, one for each language that has an SDK."""
    return blocks((ROOT / "docs" / "languages.md").read_text(encoding="utf-8"))
