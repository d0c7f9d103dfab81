"""From a decision to the rules: the received view equals the engine's view, and games can be sampled from it."""

from __future__ import annotations

import re
import sys
from pathlib import Path
from random import Random
from typing import Any

import pytest
from arena_client import ArenaError, Bot, Card, Catalog, Decision, NullernView, round_text
from arena_client.engine import EngineMissingError, _kind, seat_view
from arena_client.v1 import play_pb2
from client_tests.shown import catalog, shown

from arena.api.codec import encode_report
from engine.deal import SeededDecks
from engine.game import OVER, Game
from engine.registry import GAMES, texts_of

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
                message = shown(game, view)
                got = seat_view(message)
                assert got == view
                for name, value in view._asdict().items():
                    assert type(getattr(got, name)) is type(value), name
                assert game.sample(got, random).view(seat) == view
                legal = list(state.legal(seat))
                decision = Decision(1, 1, catalog(game), message, legal, 1000, 30000)
                assert decision.text() == texts_of(game).view_text(view, legal)
                assert decision.text(legal=False) == texts_of(game).view_text(view)
                state.apply(random.choice(state.legal(seat)), seat)


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_a_report_of_a_round_has_the_engine_s_text(game: Game) -> None:
    random = Random(1)
    state = game.new(min(3, game.seats[-1]), SeededDecks(bytes(32)))
    reports: list[Any] = []
    while len(reports) < 2:
        state.apply(random.choice(state.legal(state.player)), state.player)
        if state.report is not None and state.report not in reports:
            reports.append(state.report)
            report = play_pb2.RoundReport.FromString(encode_report(7, state.report))
            bot = Bot()
            bot.welcome.games.append(catalog(game).message)
            text = texts_of(game).round_text(state.report)
            assert round_text(report, bot.record(report)) == text
            if report.WhichOneof("record") is not None:
                assert round_text(report) == text


def test_a_text_without_the_rules_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "engine.registry", None)
    _kind.cache_clear()
    decision = Decision(1, 1, catalog(GAMES["nullern"]), NullernView(), [0], 1000, 30000)
    with pytest.raises(EngineMissingError, match=re.escape("pip install ./engine in a checkout of the Arena")):
        decision.text()
    with pytest.raises(EngineMissingError, match=re.escape("pip install ./engine in a checkout of the Arena")):
        round_text(play_pb2.RoundReport(nullern=play_pb2.RoundReport().nullern))
    with pytest.raises(EngineMissingError, match=re.escape("give bot.record(report)")):
        round_text(play_pb2.RoundReport())


def test_a_text_with_rules_that_have_none_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delattr("engine.registry.texts_of")
    view = shown(GAMES["nullern"], GAMES["nullern"].new(2, SeededDecks(bytes(32))).view(0))
    with pytest.raises(EngineMissingError, match="the installed rules have no texts of 'nullern': install newer ones"):
        Decision(1, 1, catalog(GAMES["nullern"]), view, [0], 1000, 30000).text()


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
    exec(code, scope)  # a code block of the package's README
    bot: Bot = scope["Searcher"]()
    described = Catalog(
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
        answer = bot.decide(Decision(1, number, described, shown(game, state.view(seat)), legal, 1000, 1000))
        assert answer in legal
        state.apply(answer, seat)
