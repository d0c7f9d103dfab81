"""`arena play` as an author uses it: a game in a terminal or as lines, a human in a seat, and bots that crash."""

import json
import os
import re
import signal
import subprocess
import time
from pathlib import Path

import pytest

from tests.cli.cli_rig import ARENA, PATIENCE, Terminal, arena, plain, processes_of, shown, terminal
from tests.local.bots import CHANCE, FIRST, written

CLEAR = ("--game", "nullern", "--seed", 5)


def test_without_a_terminal_every_choice_is_a_line() -> None:
    text = shown("play", "house:counter", "house:random", *CLEAR)
    assert re.search(r"^round 1: house-counter \(seat 0\): bid \d+$", text, re.MULTILINE)
    assert len(re.findall(r"^round \d+ by seat: [+-]\d+, [+-]\d+; in all", text, re.MULTILINE)) == 20
    assert "Nullern, match 1 · 2 seats" in text
    assert "The same deals again: --seed 5" in text
    again = shown("play", "house:counter", "house:random", *CLEAR)
    assert re.findall(r"^round.*", text, re.MULTILINE) == re.findall(r"^round.*", again, re.MULTILINE)


def test_what_one_seat_knows_is_all_that_is_shown() -> None:
    text = shown("play", "house:counter", "house:random", *CLEAR, "--seat", 1)
    assert "As house-random (seat 1) sees it" in text
    assert not re.search(r"^0 house-counter  [RYGB] ", text, re.MULTILINE), "the other's hand"
    assert not re.search(r"^round \d+: house", text, re.MULTILINE)


@pytest.mark.parametrize("columns", [60, 80])
def test_every_card_of_a_full_table_has_its_place_on_a_narrow_screen(columns: int) -> None:
    words = ("play", *["house:random"] * 7, *CLEAR, "--seat", 1)
    text = shown(*words, env={"COLUMNS": f"{columns}"})
    assert max(map(len, text.splitlines())) <= columns
    tricks = re.findall(r"^ *(\d+) ((?: +▸?[RYGB]\d\S*){7}) +\d *$", text, re.MULTILINE)
    assert len(tricks) >= 20, text


@pytest.mark.process
def test_json_tells_the_result_and_the_replay_verifies(tmp_path: Path) -> None:
    bot, out = written(tmp_path, CHANCE), tmp_path / "game.jsonl.gz"
    words = ("play", bot, "house:careful", "--seats", 3, "--game", "sixth_sense", "--seed", 7, "--json")
    found = json.loads(shown(*words, "--out", out))
    assert found["bots"] == [bot, "house:careful", found["bots"][2]]
    assert found["bots"][2].startswith("house:")
    assert len(found["scores"]) == len(found["places"]) == 3
    assert min(found["decisions"]) > 0
    assert (found["replay"], found["logs"]) == (str(out), [None, None, None])
    verified = json.loads(shown("replay", "verify", out, "--json"))
    assert (verified["verified"], verified["scores"]) == (True, found["scores"])
    again = json.loads(shown(*words))
    assert again["scores"] == found["scores"], "a bot's own chance follows from the seed, too"
    assert sorted(path.name for path in tmp_path.iterdir() if path.is_file()) == ["bot.py", "game.jsonl.gz"]


@pytest.mark.process
@pytest.mark.parametrize("columns", [60, 100])
def test_a_terminal_shows_the_game_as_it_goes_on(columns: int) -> None:
    with terminal("play", "house:counter", "house:random", *CLEAR, "--delay", 0.001, columns=columns) as shows:
        shows.expect("choice 0 · all hands")
        shows.expect("Round 2")
        shows.expect("place  seat and bot")
        assert shows.end() == 0
        assert "\x1b[?1049h" in shows.text
        assert "\x1b[?1049l" in shows.text, "the terminal is as it was"


def prompted(keyboard: Terminal) -> bool:
    """Wait for the prompt. Return False if the game ends first."""
    while not re.search(r"Your choice, 1 to \d+: $", plain(keyboard.text)):
        if not keyboard.more():
            return False
    return True


@pytest.mark.process
def test_a_human_plays_a_whole_game_at_the_keyboard(tmp_path: Path) -> None:
    out = tmp_path / "game.jsonl.gz"
    words = ("play", "house:counter", "human", "--game", "nullern", "--seed", 5, "--out", out)
    with terminal(*words, columns=60, rows=24) as keyboard:
        asked, wrong = 0, ["zwölf", "0", "99", ""]
        while prompted(keyboard):
            assert "human (seat 1) sees it" in plain(keyboard.text)
            keyboard.press(f"{wrong.pop() if wrong else 1}\n")
            keyboard.more()  # the echo of the keystrokes
            asked += 1
        assert keyboard.end() == 0
    assert asked > 20
    text = plain(keyboard.text)
    for typed in ("zwölf", "0", "99", ""):
        assert f"'{typed}' is not a number from 1 to 2." in text
    assert "You have one choice only: " in text
    assert not re.search(r"^0 house-cou\S*  [RYGB] ", text, re.MULTILINE), "the other's hand"
    verified = json.loads(shown("replay", "verify", out, "--json"))
    assert verified["verified"] is True


def test_a_human_whose_input_ends_is_told_so() -> None:
    ran = subprocess.run(
        [*ARENA, "play", "human", "house:random", "--game", "nullern"],
        input="1\n", capture_output=True, text=True, timeout=PATIENCE, check=False,
    )  # fmt: skip
    assert ran.returncode == 1
    assert "the input for seat 0 has ended before the game: nobody continues it" in ran.stderr
    assert "Traceback" not in ran.stderr


RAISES = FIRST.replace("return decision.legal[0]", "raise KeyError('my own fault')")
EXITS = FIRST.replace("return decision.legal[0]", "import os; print('so long', flush=True); os._exit(7)")
KILLED = FIRST.replace("return decision.legal[0]", "import os; os.kill(os.getpid(), 9)")


@pytest.mark.process
@pytest.mark.parametrize(
    ("text", "said"),
    [
        (RAISES, ("in seat 1 ended with exit status 1; the end of", "raise KeyError('my own fault')", "KeyError")),
        (EXITS, ("in seat 1 ended with exit status 7; the end of", "so long")),
        (KILLED, ("in seat 1 was ended by signal 9; it wrote nothing to",)),
        (FIRST.replace("decision.legal[0]", "10**6"), ("answer 1 of 1 is 1000000, which is not legal here",)),
    ],
)
def test_a_bot_that_crashes_is_named_with_its_last_lines(tmp_path: Path, text: str, said: tuple[str, ...]) -> None:
    bot = written(tmp_path, text)
    ran = arena("play", "house:random", bot, *CLEAR, "--out", tmp_path / "game.gz")
    assert ran.exit_code == 1
    assert [words for words in said if words not in " ".join(ran.output.split())] == []
    assert "arena/local" not in ran.output, "the traceback is the author's"
    assert not (tmp_path / "game.gz").exists()
    assert (tmp_path / "game.gz.seat-1.log").exists() is (text is not KILLED)


@pytest.mark.process
def test_what_a_bot_prints_is_kept_beside_the_game(tmp_path: Path) -> None:
    bot = written(tmp_path, FIRST.replace("return", "print('I think', flush=True); return"))
    shown("play", "house:random", bot, *CLEAR, "--out", tmp_path / "game.gz")
    assert set((tmp_path / "game.gz.seat-1.log").read_text().splitlines()) == {"I think"}
    text = shown("play", "house:random", bot, *CLEAR)
    log = re.search(r"What seat 1 printed is in (\S+)", text)
    assert log
    assert Path(log[1]).read_text().startswith("I think\n")


@pytest.mark.process
def test_ctrl_c_ends_it_and_its_bots_at_once(tmp_path: Path) -> None:
    stuck = "import time, pathlib; pathlib.Path(__file__).with_name('stuck').touch(); time.sleep(600)"
    bot = written(tmp_path, FIRST.replace("return decision.legal[0]", stuck))
    with terminal("play", "house:random", bot, *CLEAR, "--out", tmp_path / "game.gz") as shows:
        until = time.monotonic() + PATIENCE
        while not (tmp_path / "stuck").exists():
            assert time.monotonic() < until
            time.sleep(0.01)
        os.killpg(shows.process.pid, signal.SIGINT)
        shows.expect("Interrupted; of a game that is not over nothing is kept.")
        assert shows.end() == 130
        assert "Traceback" not in shows.text
    assert not (tmp_path / "game.gz").exists()
    assert processes_of(tmp_path) == []


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("nobody.py", "house:random"), 1, "no bot 'nobody.py': there is no file"),
        (("house:nobody", "house:random"), 1, "the house bots of nullern are house:random"),
        (("somebody", "house:random"), 1, "it is neither FILE.py"),
        (("human", "human"), 2, "there is one keyboard"),
        (("human", "house:random", "--seat", "0"), 2, "leave --seat out"),
        (("house:random",) * 9, 2, "Nullern is for 2 to 7 seats, not 9"),
        (("house:random",) * 3 + ("--seats", "2"), 2, "3 players do not fit at a table of 2"),
        (("house:random", "house:random", "--seat", "2"), 2, "the table has seats 0 to 1, not seat 2"),
        (("house:random", "house:random", "--option", "x=1"), 2, "there is no option 'x'"),
        (("house:random", "house:random", "--out", "/nowhere/at/all"), 1, "there is no folder /nowhere/at for all"),
        (("house:random", "house:random", "--out", __file__), 1, "exists already: choose another file"),
    ],
)  # fmt: skip
def test_what_cannot_be_is_named(words: tuple[str, ...], status: int, said: str) -> None:
    ran = arena("play", *words, "--game", "nullern")
    assert ran.exit_code == status
    assert said in " ".join(ran.output.split())
