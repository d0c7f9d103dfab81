"""The probes detect faults: a made-up third game passes, and each missing piece is reported by name and file."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from arena.house.random_bot import RandomBot
from engine.game import Decks, Option
from tests.conformance.high_card import HighCard, HighCardRound, HighCardState, HighCardView
from tests.conformance.pieces import PIECES, House, missing

NAME = HighCard.name
RULES = "# High Card\n\n**H1 Deal.** …\n\n**H2 Tricks.** …\n"
FILES = {
    f"engine/{NAME}/game.py": "the game",
    f"engine/{NAME}/state.py": "the state",
    f"engine/{NAME}/sample.py": "the sampled worlds",
    f"engine/{NAME}/observation.py": "the vectors",
    f"engine/{NAME}/text.py": "the texts",
    f"engine/{NAME}/rules.en.md": RULES,
    f"engine/{NAME}/rules.nl.md": RULES,
    f"engine/{NAME}/rules.de.md": RULES,
    f"tests/engine/test_{NAME}_rulings.py": "def test_H1_three_cards() …\ndef test_H2_the_highest_takes() …",
    f"tests/engine/test_{NAME}_secrets.py": "two worlds",
    f"tests/engine/test_{NAME}_oracle.py": "random games",
    f"tests/oracles/{NAME}.py": "the naive engine",
    f"tests/conformance/perft/{NAME}.perft": "the fingerprint",
    f"arena/api/{NAME}.proto": "the messages",
    f"arena/api/{NAME}.py": "the codec",
    "docs/observations.md": "# Observations\n\n## High Card\n",
    f"tests/conformance/perft/{NAME}.py": "the deals",
    f"clients/javascript/games/{NAME}.mjs": "the deals",
}


def codec(message: str) -> Any:
    return SimpleNamespace(game=NAME, other=SimpleNamespace(DESCRIPTOR=SimpleNamespace(full_name=message)))


@pytest.fixture
def house(tmp_path: Path) -> House:
    """A code base that contains the game with all its pieces."""
    for file, text in FILES.items():
        (tmp_path / file).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / file).write_text(text)
    return House(
        root=tmp_path,
        games={NAME: HighCard()},
        own_fields=frozenset(),
        views={HighCardView: codec(f"{NAME}.v1.View")},
        rounds={HighCardRound: codec(f"{NAME}.v1.Round")},
        renderers={NAME: object()},
        bots={NAME: (RandomBot(NAME),)},
        frozen={(NAME, "house-random"): ("version", "choices")},
    )


def without(file: str) -> Callable[[House], House]:
    def remove(house: House) -> House:
        (house.root / file).unlink()
        return house

    return remove


class WithoutPoints(HighCard):
    points: Any = None


class WithoutVector(HighCard):
    def new(self, seats: int, decks: Decks, **options: Option) -> HighCardState:
        class State(HighCardState):
            vector: Any = None

        return State(seats, 2, False, decks)


REMOVALS: dict[str, Callable[[House], House]] = {
    "its engine": without(f"engine/{NAME}/game.py"),
    "its place among the games": lambda house: replace(house, games={}),
    "the contract of a game": lambda house: replace(house, games={NAME: WithoutPoints()}),
    "the contract of a state": lambda house: replace(house, games={NAME: WithoutVector()}),
    "sampled worlds": without(f"engine/{NAME}/sample.py"),
    "its vectors": without(f"engine/{NAME}/observation.py"),
    "its texts": without(f"engine/{NAME}/text.py"),
    "its rules in English": without(f"engine/{NAME}/rules.en.md"),
    "its rules in Dutch": without(f"engine/{NAME}/rules.nl.md"),
    "its rules in German": without(f"engine/{NAME}/rules.de.md"),
    "a test a ruling": without(f"tests/engine/test_{NAME}_rulings.py"),
    "tests of its secrets": without(f"tests/engine/test_{NAME}_secrets.py"),
    "an oracle": without(f"tests/oracles/{NAME}.py"),
    "a comparison with the oracle": without(f"tests/engine/test_{NAME}_oracle.py"),
    "its fingerprint": without(f"tests/conformance/perft/{NAME}.perft"),
    "its deals for the fingerprint": without(f"tests/conformance/perft/{NAME}.py"),
    "its messages": without(f"arena/api/{NAME}.proto"),
    "its codec": without(f"arena/api/{NAME}.py"),
    "its line for views": lambda house: replace(house, views={}),
    "its line for rounds": lambda house: replace(house, rounds={}),
    "a renderer": lambda house: replace(house, renderers={}),
    "its deals in JavaScript": without(f"clients/javascript/games/{NAME}.mjs"),
    "house bots": lambda house: replace(house, bots={}),
    "the versions of its house bots": lambda house: replace(house, frozen={}),
    "its vectors in print": without("docs/observations.md"),
}


def test_a_complete_game_lacks_nothing(house: House) -> None:
    assert house.names() == [NAME]
    assert missing(house, NAME) == []


@pytest.mark.parametrize("piece", PIECES, ids=lambda piece: piece.name.replace(" ", "-"))
def test_a_piece_left_out_is_named_with_its_file(house: House, piece: Any) -> None:
    poorer = REMOVALS[piece.name](house)
    assert NAME in poorer.names() or piece.name == "its engine"
    sentences = missing(poorer, NAME)
    assert any(
        sentence.startswith(f"high_card lacks {piece.name}: {piece.file.format(game=NAME)} ") for sentence in sentences
    )
    # without English rules, the translations lack their reference; every other piece is reported alone
    assert len(sentences) == 1 or piece.name == "its rules in English"


@pytest.mark.parametrize(
    ("view", "sentence"),
    [
        (SimpleNamespace(game="other"), "has no codec for HighCardView in VIEWS"),
        (SimpleNamespace(game=NAME, other=None), "does not name the message for HighCardView in VIEWS"),
        (codec("arena.v1.View"), "has arena.v1.View in VIEWS: its package begins with high_card.v"),
    ],
)
def test_a_line_for_views_that_will_not_do_is_named(house: House, view: Any, sentence: str) -> None:
    file = "arena/api/game_codecs.py"
    assert missing(replace(house, views={HighCardView: view}), NAME) == [
        f"high_card lacks its line for views: {file} {sentence}"
    ]


def test_no_game_but_the_first_two_has_messages_in_the_protocol(house: House) -> None:
    (house.root / "proto/arena/v1").mkdir(parents=True)
    (house.root / f"arena/api/{NAME}.proto").rename(house.root / f"proto/arena/v1/{NAME}.proto")
    assert missing(house, NAME) == [f"high_card lacks its messages: arena/api/{NAME}.proto is missing or empty"]


@pytest.mark.parametrize(
    ("file", "text", "sentence"),
    [
        ("rules.en.md", "no rules", 'has no ruling: a paragraph that begins like "**S1 Deck.**"'),
        ("rules.en.md", "**H1 Deal.** …\n\n**H3 Tricks.** …", "numbers its rulings H1, H3, not H1, H2"),
        ("rules.nl.md", "**H1 Delen.** …", "has the rulings H1, the English has H1, H2"),
    ],
)
def test_rules_whose_numbers_do_not_fit_are_named(house: House, file: str, text: str, sentence: str) -> None:
    (house.root / "engine" / NAME / file).write_text(text)
    assert any(f"engine/{NAME}/{file} {sentence}" in each for each in missing(house, NAME))


def test_a_ruling_without_a_test_is_named(house: House) -> None:
    file = f"tests/engine/test_{NAME}_rulings.py"
    (house.root / file).write_text("def test_H2_the_highest_takes(): …")
    assert missing(house, NAME) == [f"high_card lacks a test a ruling: {file} has no test named after H1"]
