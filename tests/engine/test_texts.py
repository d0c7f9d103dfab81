"""Views and rounds as text. Each game's texts equal those in `texts/`, which `python -m tests.engine.test_texts`
writes.

Programs may depend on these texts, for example the prompt of a language model. So the texts must not change.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path

import pytest

from engine.deal import SeededDecks
from engine.game import OVER, Game, Option
from engine.registry import GAMES, texts_of

TEXTS = Path(__file__).parent / "texts"
EACH = 13
"""The file contains every thirteenth view, and every view with a rare choice."""
RARE = ("double", "peek")
OPTIONS: dict[str, tuple[dict[str, Option], ...]] = {
    "sixth_sense": ({}, {"novice": True}, {"target": 30, "late_trump": True}),
    "nullern": ({},),
}


def matches(game: Game) -> Iterator[tuple[str, list[str]]]:
    """Return the texts of the first rounds of some matches, each with a heading."""
    texts_of_game = texts_of(game)
    for options in OPTIONS[game.name]:
        for seats in (2, 4):
            state = game.new(seats, SeededDecks(sha256(f"{game.name} {seats} {options}".encode()).digest()), **options)
            texts, report = list[str](), None
            for number in range(70):
                if (seat := state.player) == OVER:
                    break
                legal = state.legal(seat)
                if number % EACH == 0 or game.actions[legal[0]].kind in RARE:
                    texts.append(texts_of_game.view_text(state.view(seat), legal))
                state.apply(legal[number * number % len(legal)], seat)
                if state.report is not report:
                    report = state.report
                    texts.append(texts_of_game.round_text(report))
            yield f"{game.title}, {seats} seats, {options or 'no options'}", texts


def whole(game: Game) -> str:
    return "".join(f"===== {heading} =====\n\n" + "\n\n".join(texts) + "\n\n" for heading, texts in matches(game))


@pytest.mark.parametrize("game", OPTIONS)
def test_the_texts_of_a_game_stay_as_they_are(game: str) -> None:
    assert whole(GAMES[game]) == (TEXTS / f"{game}.txt").read_text(encoding="utf-8")


def test_the_texts_show_every_kind_of_choice_and_outcome() -> None:
    for game, words in {
        "sixth_sense": (
            *(
                "split",
                "keep as one",
                "do not peek",
                "predict red 0",
                "blocks place",
                "nobody takes it",
                "odd number of 4s",
            ),
            *(
                "it counts as two",
                "looks at the prediction",
                "No card was turned",
                "when all have predicted",
                "novice points",
            ),
        ),
        "nullern": (
            "bid 0",
            "a Hupfer",
            "Hupfers of",
            "the only trump",
            "the highest trump",
            "the highest value",
            "has not bid",
        ),
    }.items():
        text = whole(GAMES[game])
        assert [each for each in words if each not in text] == []


@pytest.mark.parametrize("game", GAMES.values(), ids=list(GAMES))
def test_a_view_without_legal_actions_has_the_same_text_above_them(game: Game) -> None:
    texts_of_game = texts_of(game)
    state = game.new(game.seats.start, SeededDecks(bytes(32)))
    view, legal = state.view(state.player), state.legal(state.player)
    with_them = texts_of_game.view_text(view, legal)
    assert with_them.startswith(texts_of_game.view_text(view) + "\nYour legal actions:\n")
    assert [int(each) for each in re.findall(r"^  (\d+): ", with_them, re.MULTILINE)] == list(legal)


if __name__ == "__main__":
    for each in OPTIONS:
        (TEXTS / f"{each}.txt").write_text(whole(GAMES[each]), encoding="utf-8")
