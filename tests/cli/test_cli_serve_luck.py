"""`arena serve --luck`: the games whose luck is computed, and contradictory arguments."""

from __future__ import annotations

import tomllib

import pytest

from engine.registry import GAMES
from tests.cli.cli_rig import arena, shown


@pytest.mark.parametrize(
    ("words", "games"),
    [
        ((), {"nullern"}),
        (("--luck", "off"), set()),
        (("--luck", "all"), {*GAMES}),
        (("--luck", "sixth_sense"), {"sixth_sense"}),
        (("--luck", "nullern", "--luck", "sixth_sense"), {"nullern", "sixth_sense"}),
    ],
)
def test_the_games_whose_deals_are_replayed_are_chosen(words: tuple[str, ...], games: set[str]) -> None:
    assert set(tomllib.loads(shown("serve", "--print-config", *words))["luck"]) == games


@pytest.mark.parametrize("words", [("off", "nullern"), ("all", "off"), ("nullern", "all")])
def test_words_that_contradict_each_other_are_refused(words: tuple[str, str]) -> None:
    result = arena("serve", *(part for word in words for part in ("--luck", word)))
    assert result.exit_code == 2
    assert "or of all or off alone" in result.output
    assert f"not {words[0]}, {words[1]}" in result.output
