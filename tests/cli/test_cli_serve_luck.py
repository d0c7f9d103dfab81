"""`arena serve --luck`: whose deals are replayed, and words that contradict each other."""

from __future__ import annotations

from pathlib import Path

import pytest

from arena.cli.serve import command
from arena.server.config import Config
from engine.registry import GAMES
from tests.cli.cli_rig import arena


@pytest.mark.parametrize(
    ("words", "games"),
    [
        ((), {"nullern"}),
        (("--luck", "off"), set()),
        (("--luck", "all"), {*GAMES}),
        (("--luck", "sixth_sense"), {"sixth_sense"}),
        (("--luck", "nullern", "--luck", "sixth_sense"), {*GAMES}),
    ],
)
def test_the_games_whose_deals_are_replayed_are_chosen(
    words: tuple[str, ...], games: set[str], monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    configs: list[Config] = []
    monkeypatch.setattr("arena.cli.serve.trio.run", lambda serve, *_, **__: configs.append(serve.args[0]))
    monkeypatch.setattr("arena.cli.serve._log_to_stderr", lambda *_: None)
    command.main(["--data", str(tmp_path / "data"), *words], standalone_mode=False)
    assert [config.luck for config in configs] == [games]


@pytest.mark.parametrize("words", [("off", "nullern"), ("all", "off"), ("nullern", "all")])
def test_words_that_contradict_each_other_are_refused(words: tuple[str, str]) -> None:
    result = arena("serve", *(part for word in words for part in ("--luck", word)))
    assert result.exit_code == 2
    assert f"--luck {words[0]} --luck {words[1]}: choose games, or all, or off" in result.output
