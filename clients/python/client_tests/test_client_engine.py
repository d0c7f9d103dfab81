"""From a decision to the rules: the view on the wire is the engine's view, and games can be sampled from it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from arena_client import ArenaError, Bot, Card, Catalog, Decision, NullernView
from arena_client.engine import EngineMissingError, _kind, seat_view
from client_tests.shown import shown

from engine.deal import SeededDecks
from engine.game import OVER, Game
from engine.registry import GAMES

README = Path(__file__).parent.parent / "README.md"


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_every_view_of_a_game_comes_back_as_the_engine_made_it(game: Game) -> None:
    random = Random(1)
    for options in [{}, *({spec.name: not spec.default} for spec in game.options if spec.default is False)]:
        for seats in game.seats:
            state = game.new(seats, SeededDecks(random.randbytes(32)), **options)
            for _ in range(120):
                if state.player == OVER:
                    break
                seat = random.choice(state.waiting())
                view = state.view(seat)
                got = seat_view(shown(game, view))
                assert got == view
                for name, value in view._asdict().items():
                    assert type(getattr(got, name)) is type(value), name
                assert game.sample(got, random).view(seat) == view
                state.apply(random.choice(state.legal(seat)), seat)


def test_without_the_rules_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "engine.registry", None)
    _kind.cache_clear()
    with pytest.raises(
        EngineMissingError, match=re.escape("pip install ./engine in a checkout of the Arena")
    ) as caught:
        seat_view(NullernView())
    assert isinstance(caught.value, ArenaError)


def test_with_older_rules_it_names_the_game_they_lack(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("engine.registry.GAMES", {"sixth_sense": GAMES["sixth_sense"]})
    _kind.cache_clear()
    with pytest.raises(EngineMissingError, match="have no game 'nullern'; they have sixth_sense: install newer ones"):
        seat_view(NullernView())


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_the_searching_bot_of_the_readme_plays(game: Game) -> None:
    [code] = [
        block
        for block in re.findall(r"```python\n(.*?)```", README.read_text("utf-8"), re.DOTALL)
        if "sample(" in block
    ]
    scope: dict[str, Any] = {}
    exec(code, scope)  # a block of our own README
    bot: Bot = scope["Searcher"]()
    catalog = Catalog(
        game.name,
        game.title,
        game.seats.start,
        game.seats.stop - 1,
        game.colours,
        tuple(Card(card.name, card.colour, card.values) for card in game.cards),
        (),
    )
    state = game.new(min(3, game.seats[-1]), SeededDecks(bytes(32)))
    for number in range(12):
        seat = state.player
        legal = list(state.legal(seat))
        answer = bot.decide(Decision(1, number, catalog, shown(game, state.view(seat)), legal, 1000, 1000))
        assert answer in legal
        state.apply(answer, seat)
