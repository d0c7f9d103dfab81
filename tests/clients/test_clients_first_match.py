"""From an empty folder to the first rated match within three minutes, by the READMEs of SDKs and starters."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import Final

import pytest

from tests.cli.cli_rig import serving
from tests.clients.first_match import TOOLS, first_match, first_match_of_new, guide
from tests.documents import ROOT
from tests.interop.interop_rig import tool

BAR: Final = 180.0
"""Maximum number of seconds with warm package caches on an otherwise idle machine."""
BUSY: Final = 1.5
"""Number of runnable processes per core above which wall-clock times say nothing about the documents."""


@pytest.mark.long
@pytest.mark.parametrize(
    "language",
    [pytest.param(name, marks=[tool(each) for each in tools]) for name, tools in TOOLS.items()],
)
def test_an_author_has_a_rated_match_within_three_minutes(tmp_path: Path, language: str) -> None:
    (tmp_path / "empty").mkdir()
    load = os.getloadavg()[0]
    steps = first_match(language, tmp_path / "empty")  # the run fails without a rated match
    cores = os.cpu_count() or 1
    if steps.total >= BAR and load > BUSY * cores:
        pytest.xfail(f"{steps}: more than {BAR:.0f}, but {load:.0f} programs wanted {cores} cores before it began")
    assert steps.total < BAR, f"{steps}; with {load:.1f} programs that wanted {cores} cores before it began"


@pytest.mark.long
@pytest.mark.parametrize(
    "language",
    [pytest.param(name, marks=[tool(each) for each in tools]) for name, tools in TOOLS.items()],
)
def test_a_new_project_builds_and_plays_by_the_commands_that_arena_prints(tmp_path: Path, language: str) -> None:
    with serving(tmp_path / "data") as server:
        first_match_of_new(language, tmp_path / "my-bot", server.server)  # the run fails without a rated match


@pytest.mark.parametrize("language", TOOLS)
def test_what_is_ours_comes_from_the_checkout_and_from_no_registry(language: str) -> None:
    said = guide(language)
    words = re.split(r"[\s:'=]+", "\n".join((said.packages, said.build, said.play)))
    ours = [word for word in words if "arena" in word and not word.startswith("-")]
    assert ours, "the SDK comes from somewhere"
    for word in ours:
        assert word in ("arena", ".venv/bin/arena-bot") or word.startswith("../arena/"), f"{word} is no path"
        place = word.removeprefix("../arena/")
        assert place == word or place.startswith("build/") or (ROOT / place).exists(), f"{place} is not there"
