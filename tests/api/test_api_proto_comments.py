"""Statements about the two games in the protocol's comments, checked against the games."""

from __future__ import annotations

import re
from pathlib import Path
from random import Random
from typing import Any

import pytest
from arena_client.v1 import nullern_pb2

from arena.api import nullern
from arena.api.game_codecs import encode_catalog
from engine.deal import SeededDecks
from engine.game import OVER
from engine.registry import GAMES

PROTO = Path(__file__).parents[2] / "proto/arena/v1"
FIELD = re.compile(r"((?: *//[^\n]*\n)+) *(?:optional |repeated )?\w+ (\w+) = \d+")


def examples(message: str) -> list[tuple[str, str]]:
    """Return the examples that a message of game.proto quotes, with the names of their fields."""
    body = re.search(rf"\nmessage {message} \{{(.*?)\n\}}", (PROTO / "game.proto").read_text(), re.DOTALL)
    assert body is not None
    return [
        (field, quoted) for comment, field in FIELD.findall(body[1]) for quoted in re.findall(r'"([^"]+)"', comment)
    ]


@pytest.mark.parametrize(("message", "elements"), [("Card", "cards"), ("Action", "actions"), ("GameOption", "options")])
def test_examples_of_cards_actions_and_options_are_in_a_catalogue(message: str, elements: str) -> None:
    found = examples(message)
    assert found
    for field, quoted in found:
        alike = [element for game in GAMES.values() for element in getattr(encode_catalog(game), elements)]
        assert quoted in {getattr(element, field) for element in alike}, f"{message}.{field} {quoted!r}"


def test_the_kinds_of_choices_that_the_protocol_lists_are_all() -> None:
    listed = {quoted for field, quoted in examples("Action") if field == "kind"}
    assert listed == {action.kind for game in GAMES.values() for action in game.actions}


def test_the_names_of_games_that_the_protocol_lists_are_all() -> None:
    listed = examples("GameCatalog")
    assert {quoted for field, quoted in listed if field == "name"} == {*GAMES}
    assert {quoted for field, quoted in listed if field == "title"} == {game.title for game in GAMES.values()}


def test_a_card_of_nullern_has_the_number_of_the_action_that_plays_it() -> None:
    game = GAMES["nullern"]
    cards = [action.card for action in game.actions if action.kind == "play"]
    assert cards == [*range(len(game.cards)), None], "the last plays the blind card"


@pytest.mark.parametrize("seats", GAMES["nullern"].seats)
def test_plays_of_nullern_are_the_actions_and_a_blind_play_is_the_card_it_turned_up(seats: int) -> None:
    game, chance = GAMES["nullern"], Random(seats)
    blind = next(number for number, action in enumerate(game.actions) if action.name == "play the blind card")
    state: Any = game.new(seats, SeededDecks(chance.randbytes(32)))
    plays, blind_plays = 0, 0
    while state.player != OVER:
        seat = state.player
        action = chance.choice(list(state.legal(seat)))
        before = state.view(seat)
        state.apply(action, seat)
        if game.actions[action].kind != "play":
            continue
        shown = (state.report if state.round != before.round or state.player == OVER else state.view(seat)).plays
        number = len(before.plays)
        assert [*shown[:number]] == [*before.plays]
        if action == blind:
            assert game.cards[shown[number]], "a card, not the action"
            blind_plays += 1
        else:
            assert shown[number] == action
            plays += 1
        message = nullern_pb2.NullernView.FromString(nullern.encode_view(before))
        assert [*message.plays] == [*before.plays]
    assert plays
    assert blind_plays
