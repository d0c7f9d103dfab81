"""Frozen house bots: a bot's name, its choices and the sources of its version must not change separately."""

from __future__ import annotations

import ast
import importlib
from hashlib import sha256
from pathlib import Path
from types import ModuleType

import pytest

from arena.house import HOUSE_BOTS, SEARCH_BOTS, HouseBot, named_bots
from arena.house.content import version
from engine.deal import SeededDecks
from engine.game import OVER
from engine.registry import GAMES
from tests.house.frozen import FROZEN

BOTS = [bot for game in HOUSE_BOTS for bot in named_bots(game)]
SEARCHED = 17
"""A searching bot makes only one in this many decisions; the strongest bot without search makes the others."""


def choices(bot: HouseBot) -> str:
    """Return a digest of all choices in six rounds at each table size. For searching bots it covers only some
    choices.
    """
    digest, game = sha256(), GAMES[bot.game]
    every = SEARCHED if bot in SEARCH_BOTS.values() else 1
    for seats in game.seats:
        state = game.new(seats, SeededDecks(bytes([seats]) * 32))
        for number in range(10_000):
            if (seat := state.player) == OVER or state.round == 6:
                break
            asked = HOUSE_BOTS[bot.game][-1] if number % every else bot
            action = asked.decide(state.view(seat), state.legal(seat), sha256(bytes([seats, number % 256])).digest())
            digest.update(action.to_bytes(2))
            state.apply(action, seat)
    return digest.hexdigest()[:8]


@pytest.mark.parametrize(
    "bot",
    [
        pytest.param(bot, marks=[pytest.mark.thorough] * (bot in SEARCH_BOTS.values()), id=f"{bot.game}-{bot.name}")
        for bot in BOTS
    ],
)
def test_a_house_bot_is_what_it_was(bot: HouseBot) -> None:
    assert (bot.version, choices(bot)) == FROZEN[bot.game, bot.name]


def test_no_house_bot_that_was_is_gone() -> None:
    assert {(bot.game, bot.name) for bot in BOTS} == set(FROZEN)


def modules(start: ModuleType) -> set[str]:
    """Return a module and all house modules that it imports, except those that only describe house bots."""
    found, todo = set[str](), [start.__name__]
    while todo:
        name = todo.pop()
        if name in found or name == "arena.house.content":
            continue
        found.add(name)
        source = Path(str(importlib.import_module(name).__file__)).with_name(f"{name.rpartition('.')[2]}.py")
        for node in ast.walk(ast.parse(source.read_text())):
            if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("arena."):
                assert node.module.startswith("arena.house."), f"{name} knows more than the engine and the house"
                todo.append(node.module)
            assert not isinstance(node, ast.Import) or not any(each.name.startswith("arena") for each in node.names)
    return found


@pytest.mark.parametrize("bot", BOTS, ids=lambda bot: f"{bot.game}-{bot.name}")
def test_a_version_is_made_of_everything_of_the_house_that_a_bot_imports(bot: HouseBot) -> None:
    assert bot.version == version(*modules(importlib.import_module(type(bot).__module__)))


def test_a_version_changes_with_the_text_and_not_with_its_line_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source = tmp_path / "frozen_bot.py"
    monkeypatch.syspath_prepend(tmp_path)
    source.write_bytes(b"answer = 42\n")
    importlib.import_module("frozen_bot")
    first = version("frozen_bot")
    assert len(first) == 8
    source.write_bytes(b"answer = 42\r\n")
    assert version("frozen_bot") == first
    source.write_bytes(b"answer = 43\n")
    assert version("frozen_bot") != first
