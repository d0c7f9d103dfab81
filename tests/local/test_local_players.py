"""The bots of a match on one's own machine: how they are found, and the error if a bot is not found."""

import sys
from pathlib import Path

import pytest

from arena.local.errors import BotNotLoaded
from arena.local.play.players import load
from engine.registry import GAMES
from tests.local.bots import CHANCE, FIRST, written

GAME = GAMES["nullern"]


def test_a_house_bot_has_two_names() -> None:
    short, long = load("house:counter", GAME), load("house:house-counter", GAME)
    assert (short.name, short.version) == (long.name, long.version) == ("house-counter", short.version)


def test_a_file_with_one_bot_needs_no_class(tmp_path: Path) -> None:
    spec = written(tmp_path)
    assert load(spec, GAME).name == load(f"{spec}:First", GAME).name == "First"


def test_the_version_is_the_digest_of_the_code(tmp_path: Path) -> None:
    one, same = written(tmp_path / "a"), written(tmp_path / "b", "# a comment\n" + FIRST)
    other = written(tmp_path / "c", FIRST.replace("[0]", "[-1]"))
    assert load(one, GAME).version == load(same, GAME).version != load(other, GAME).version


def test_two_versions_of_a_project_do_not_share_their_modules(tmp_path: Path) -> None:
    text = FIRST.replace("class", "import helper\n\nclass").replace("decision.legal[0]", "helper.WHICH")
    specs = []
    for number in (1, 2):
        specs.append(written(tmp_path / f"v{number}", text))
        written(tmp_path / f"v{number}", f"WHICH = {number}\n", "helper.py")
    bots = [load(spec, GAME)._caller._bot for spec in (*specs, specs[0])]  # type: ignore[attr-defined]
    assert [bot.decide(None) for bot in bots] == [1, 2, 1]


def test_what_was_imported_before_stays_where_it_is(tmp_path: Path) -> None:
    """The client package is found even in the bot's folder, as beside a program that compares bots."""
    before = {**sys.modules}
    with pytest.raises(BotNotLoaded):
        load(str(Path(__file__).parents[2] / "nobody.py"), GAME)
    load(written(tmp_path), GAME)
    assert {name: module for name, module in before.items() if sys.modules.get(name) is not module} == {}


@pytest.mark.parametrize(
    ("text", "spec", "said"),
    [
        (FIRST, "nobody.py", "there is no file"),
        (FIRST, "nobody", "it is neither FILE.py, FILE.py:CLASS nor house:NAME (house:random, house:careful"),
        (FIRST, "house:nobody", "the house bots of nullern are house:random, house:careful, house:counter"),
        (FIRST, "bot.py:Nobody", "it has no bot of this name; its bots are First"),
        (FIRST + CHANCE, "bot.py", "its bots are Chance, First: say which, FILE.py:CLASS"),
        ("x = 1\n", "bot.py", "it has no class that extends arena_client.Bot"),
        ("x = 1 / 0\n", "bot.py", "ZeroDivisionError"),
        ("def x(:\n", "bot.py", "SyntaxError"),
        ("raise SystemExit('no')\n", "bot.py", "SystemExit: no"),
        (
            FIRST.replace("games = GAMES", 'games = ("sixth_sense",)'),
            "bot.py",
            "it plays sixth_sense, not nullern: see its `games`",
        ),
        (FIRST + "    def __init__(self, depth):\n        super().__init__()\n", "bot.py", "First() raises"),
    ],
)
def test_what_is_no_bot_is_named(tmp_path: Path, text: str, spec: str, said: str) -> None:
    written(tmp_path, text)
    where = spec if spec.startswith("house:") or not spec.split(":")[0].endswith(".py") else str(tmp_path / spec)
    with pytest.raises(BotNotLoaded) as refused:
        load(where, GAME)
    assert f"no bot {where!r}: " in str(refused.value)
    assert said in str(refused.value)
