"""The README mentions every verb as one types it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.test_cli_main import ALL

README = Path(__file__).parents[2] / "README.md"


@pytest.mark.parametrize("words", ALL, ids=" ".join)
def test_readme_mentions_every_verb(words: tuple[str, ...]) -> None:
    assert f"arena {' '.join(words)}" in README.read_text()
