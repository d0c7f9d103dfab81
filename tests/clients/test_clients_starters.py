"""Starters: each plays both games, is short, and marks the place for its author's own idea."""

from __future__ import annotations

import shlex
from pathlib import Path
from typing import Final

import pytest

from tests.cli.cli_rig import shown
from tests.clients.first_match import STARTERS, guide
from tests.documents import ROOT
from tests.interop.interop_rig import built, tool

FOLDER: Final = ROOT / "clients" / "starters"

pytestmark = pytest.mark.process


def test_a_starter_has_at_most_forty_lines_and_one_for_the_authors_idea() -> None:
    files = [file for file in FOLDER.iterdir() if file.name != "README.md"]
    assert len(files) == len(STARTERS)
    for file in files:
        text = file.read_text(encoding="utf-8")
        assert len(text.splitlines()) <= 40, file
        assert text.count("Your own idea goes here") == 1, file


@pytest.mark.parametrize(
    "language", [pytest.param(name, marks=[*map(tool, tools)]) for name, tools in STARTERS.items()]
)
def test_a_starter_plays_both_games_with_legal_actions_only(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, language: str
) -> None:
    said = guide(language)
    (tmp_path / "arena").symlink_to(ROOT)
    (tmp_path / "my-bot").mkdir()
    monkeypatch.chdir(tmp_path / "my-bot")
    built("sh", "-ec", said.build, where=Path.cwd())
    words = shlex.split(said.play)
    command = shlex.join(words[words.index("--") + 1 :])
    for game in ("sixth_sense", "nullern"):
        match = ("match", f"pipe:{command}", "house:random", "--game", game, "--seats", "3", "--sets", "2")
        assert "against house:random" in " ".join(shown(*match).split())  # the starter fails after an illegal action
