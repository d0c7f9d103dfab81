"""`arena rules` prints every ruling in every language, to a pipe and to a terminal."""

from __future__ import annotations

import re
import shutil
from importlib.resources import files
from itertools import product

import pytest

from arena.cli.games import language_of
from arena.rules import LANGUAGES, rules_of, rulings
from engine.registry import GAMES
from tests.cli.cli_rig import arena, plain, shown, terminal

EVERY_TEXT = pytest.mark.parametrize(("game", "language"), [*product(GAMES, LANGUAGES)])
RULINGS = {"sixth_sense": [f"S{number}" for number in range(1, 18)], "nullern": [f"N{n}" for n in range(1, 10)]}
QUIET = {"LC_ALL": None, "LC_MESSAGES": None, "LANG": None}


def shape(text: str) -> list[str]:
    """Return title, sections and rulings in order."""
    return [found[1] or found[2] for found in re.finditer(r"^(?:(#+) |\*\*([A-Z]+\d+) )", text, re.MULTILINE)]


@EVERY_TEXT
def test_a_pipe_gets_the_markdown_that_lies_beside_the_engine(game: str, language: str) -> None:
    text = shown("rules", game, "--language", language)
    assert text == (files(f"engine.{game}") / f"rules.{language}.md").read_text(encoding="utf-8")
    assert text.startswith(f"# {GAMES[game].title}\n")


@EVERY_TEXT
def test_every_language_has_the_same_sections_and_every_ruling(game: str, language: str) -> None:
    text = rules_of(GAMES[game], language)
    assert shape(text) == shape(rules_of(GAMES[game], "en"))
    assert list(rulings(text)) == RULINGS.get(game, list(rulings(rules_of(GAMES[game], "en"))))


@EVERY_TEXT
def test_every_language_names_the_same_numbers(game: str, language: str) -> None:
    """A number that only one translation contains is probably a mistake."""
    said, original = rulings(rules_of(GAMES[game], language)), rulings(rules_of(GAMES[game], "en"))
    for number, paragraph in said.items():
        assert _numbers(paragraph) == _numbers(original[number]), number


def _numbers(text: str) -> set[str]:
    return set(re.findall(r"\d+", text))


@EVERY_TEXT
def test_no_line_is_longer_than_the_house_allows(game: str, language: str) -> None:
    assert max(map(len, rules_of(GAMES[game], language).splitlines())) <= 140


def test_one_ruling() -> None:
    assert shown("rules", "sixth_sense", "--ruling", "S7", "--language", "en").startswith("**S7 Block: 0.** A 0 is")
    assert shown("rules", "nullern", "--ruling", "n5", "--language", "nl").startswith("**N5 Bekennen.** Iedereen")
    assert "S8" not in shown("rules", "sixth_sense", "--ruling", "S7")


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "de_AT.UTF-8"}, "de"),
        ({"LANG": "nl"}, "nl"),
        ({"LANG": "de_DE", "LC_MESSAGES": "nl_BE@euro"}, "nl"),
        ({"LANG": "de_DE", "LC_ALL": "C.UTF-8"}, "en"),
        ({"LANG": "de_DE", "LC_ALL": ""}, "de"),
        ({"LANG": "fr_FR.UTF-8"}, "en"),
    ],
)
def test_the_locale_decides_which_language(environment: dict[str, str], language: str) -> None:
    assert language_of(environment) == language
    assert shown("rules", "nullern", env={**QUIET, **environment}) == rules_of(GAMES["nullern"], language)


@pytest.mark.parametrize(
    ("words", "named"),
    [
        (("rules", "chess"), ["'chess'", *GAMES]),
        (("rules", "nullern", "--language", "fr"), ["'fr'", *LANGUAGES]),
        (("rules", "nullern", "--ruling", "N10"), ["'N10'", *RULINGS["nullern"]]),
        (("rules", "sixth_sense", "--ruling", "7"), ["'7'", *RULINGS["sixth_sense"]]),
    ],
)
def test_what_does_not_exist_is_named_with_what_does(words: tuple[str, ...], named: list[str]) -> None:
    result = arena(*words)
    assert result.exit_code == 2
    for word in named:
        assert word in result.stderr


def test_a_terminal_shows_one_ruling_formatted() -> None:
    with terminal("rules", "sixth_sense", "--ruling", "S9", "--language", "de") as screen:
        assert screen.end() == 0
    assert "S9 Wem der Stich gehört." in plain(screen.text)
    assert "**" not in screen.text
    assert "\x1b[1m" in screen.text, "the name of the ruling is bold"


def test_a_terminal_pages_what_is_longer_than_it(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PAGER", "head -n 5")
    with terminal("rules", "nullern", "--language", "en", rows=20) as screen:
        assert screen.end() == 0
    assert "Nullern" in screen.text
    assert "N9" not in screen.text
    with terminal("rules", "nullern", "--language", "en", rows=200) as screen:
        assert screen.end() == 0
    assert "N9" in screen.text


@pytest.mark.skipif(shutil.which("less") is None, reason="there is no less here")
def test_less_shows_the_formatting_and_not_its_codes(monkeypatch: pytest.MonkeyPatch) -> None:
    """Without LESS=-R, `less` shows each escape code as text that begins with ESC."""
    monkeypatch.setenv("PAGER", "less")
    monkeypatch.delenv("LESS", raising=False)
    with terminal("rules", "nullern", "--language", "en", rows=20) as screen:
        screen.expect("Nullern")
        screen.press("q")
        assert screen.end() == 0
    assert "ESC" not in screen.text
    assert "\x1b[1m" in screen.text
