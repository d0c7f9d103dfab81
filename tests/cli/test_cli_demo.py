"""`arena demo` plays and shows matches, and leaves no process behind, however it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path

import pytest

from arena.store.base.rows import MatchState
from arena.store.matches import matches
from arena.store.opening import open_readonly
from engine.registry import GAMES
from tests.cli.cli_rig import ARENA, BOTS, PATIENCE, Played, plain, processes_of, shown, terminal
from tests.end_to_end.e2e_rig import until


@contextmanager
def demo(data: Path, *options: str, seconds: int = 600) -> Iterator[subprocess.Popen[str]]:
    """Run a demo whose output goes to a pipe."""
    process = subprocess.Popen(
        [*ARENA, "demo", "--data", str(data), "--seconds", str(seconds), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        start_new_session=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def finished(data: Path, bot: str) -> int:
    """Return the number of a bot's matches with a result, from the running demo or its directory."""
    with open_readonly(data) as connection:
        stored = matches.list_matches(connection, limit=100_000)
    played = [match for match in stored if match.state is MatchState.FINISHED]
    return sum(any(seat.bot == bot for seat in match.seats) for match in played)


def played_out(data: Path, number: int, *options: str) -> str:
    """Run a demo until each bot has ended the given number of further matches, then stop it and return its output."""
    before = {name: finished(data, name) if data.exists() else 0 for name in BOTS}
    with demo(data, *options) as process:
        begun = read_until(process, "matches finished")
        for name in BOTS:
            until(lambda name=name: finished(data, name) >= before[name] + number, f"matches of {name}")  # type: ignore[misc]
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, text
    return begun + text


def read_until(process: subprocess.Popen[str], words: str) -> str:
    """Read all lines up to a line with the given words."""
    assert process.stdout is not None
    text = ""
    for line in process.stdout:
        text += line
        if words in line:
            return text
    pytest.fail(f"it ended without {words!r}: {text}")


def all_gone(data: Path) -> None:
    """Wait until the processes of a killed parent have ended by themselves."""
    end = time.monotonic() + PATIENCE
    while processes_of(data):
        assert time.monotonic() < end, processes_of(data)


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """A path that does not exist yet. The command line of every program of a demo contains it."""
    return tmp_path / "demo-data"


def test_demo_plays_and_shows_and_its_hints_work(data: Path) -> None:
    """Run the demo twice. In the second run the bots are already registered. The first run ends by itself."""
    with demo(data, seconds=3) as process:
        text, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, text
    assert processes_of(data) == []
    text = played_out(data, 40)
    assert processes_of(data) == []
    assert "\x1b" not in text
    assert re.search(r"^ +\d\.\d s +\d+ matches finished", text, re.MULTILINE)
    for words in ("Ladder of sixth_sense", "The last trick of match", "is what was played", "Try next", *BOTS):
        assert words in text
    assert re.search(r"^[1-9]\d* matches finished\.", text, re.MULTILINE)

    hints = re.findall(r"-m arena\.cli (.*)", text)
    assert len(hints) == 4
    for hint in hints:
        if not hint.startswith("serve"):
            assert shown(*hint.split())
    [ladder] = json.loads(shown("ladder", "--json", "--game", "sixth_sense", "--data", data))["ladders"]
    rows = {row["bot"]: row for row in ladder["standings"]}
    assert set(BOTS) <= rows.keys()
    assert any(row["house"] for row in ladder["standings"]), "house bots filled the tables"
    assert rows["counter"]["rating"] > rows["random"]["rating"]


@pytest.mark.parametrize("game", [name for name in GAMES if name != "sixth_sense"])
def test_demo_plays_another_game_on_a_ladder_of_its_own(data: Path, game: str) -> None:
    text = played_out(data, 1, "--game", game)
    assert f"Ladder of {game}" in text
    assert "is what was played" in text
    ladders = json.loads(shown("ladder", "--json", "--data", data))["ladders"]
    [played] = [ladder for ladder in ladders if ladder["standings"]]
    assert played["game"] == game
    assert set(BOTS) <= {row["bot"] for row in played["standings"]}
    assert processes_of(data) == []


@pytest.mark.long
@pytest.mark.parametrize("game", ["sixth_sense", "nullern"])
def test_a_demo_puts_the_samples_in_the_order_of_their_strength(data: Path, game: str) -> None:
    with demo(data, "--game", game, seconds=30) as process:
        text, _ = process.communicate(timeout=2 * PATIENCE)
    assert process.returncode == 0, text
    [ladder] = json.loads(shown("ladder", "--json", "--game", game, "--data", data))["ladders"]
    names = [row["bot"] for row in ladder["standings"] if row["bot"] in BOTS]
    assert names == ["counter", "rules", "random"], text


def test_demo_in_a_terminal_moves_and_is_left_with_ctrl_c(data: Path) -> None:
    with terminal("demo", "--seconds", "600", "--data", data, columns=120) as screen:
        found = re.search(r"Watch at http://(\S+?)/\s", screen.expect("matches finished"))
        assert found
        address = found[1]
        until(lambda: 'data-key="' in page(address, "/live"), "a running match on the page")
        screen.press("\x03")
        screen.expect("Stopping")
        assert screen.end() == 0
    assert processes_of(data) == []
    assert "\x1b[?25h" in screen.text, "the cursor is shown again"
    assert "of 600 s" in plain(screen.text)


def test_demo_in_a_terminal_shows_its_pages_until_ctrl_c(data: Path) -> None:
    """Later pages over the same directory have the same address."""
    with terminal("demo", "--seconds", "1", "--data", data, columns=120) as screen:
        found = re.search(r"Watch at http://(\S+?)/\s", screen.expect("matches finished"))
        assert found
        screen.expect(f"The pages stay at http://{found[1]}/ until Ctrl-C.")
        assert 'href="/matches/1"' in page(found[1], "/matches")
        screen.press("\x03")
        assert screen.end() == 0
    assert processes_of(data) == []


def page(address: str, path: str) -> str:
    with closing(HTTPConnection(address, timeout=PATIENCE)) as connection:
        connection.request("GET", path)
        answer = connection.getresponse()
        assert answer.status == 200
        return answer.read().decode()


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_demo_that_is_stopped_leaves_no_process(data: Path, number: signal.Signals) -> None:
    with demo(data) as process:
        read_until(process, "matches finished")
        assert len(processes_of(data)) == 8, (
            "itself, the server, its writer and fit processes, its pages and three bots"
        )
        process.send_signal(number)
        text, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, text
    assert processes_of(data) == []


def test_demo_that_is_stopped_while_it_starts_leaves_no_process(data: Path) -> None:
    with demo(data) as process:
        read_until(process, "Starting")
        process.send_signal(signal.SIGINT)
        text, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 0, text
    all_gone(data)


def test_demo_that_is_killed_takes_its_programs_along(data: Path) -> None:
    with demo(data) as process:
        read_until(process, "matches finished")
        process.kill()
    all_gone(data)


def test_demo_on_a_directory_in_use_shows_the_servers_words(played: Played) -> None:
    with demo(played.data) as process:
        text, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "the server ended with status 1" in text
    assert f"is in use by the server with process id {played.pid}" in text


def test_demo_in_a_directory_that_cannot_be_made_fails(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with demo(tmp_path / "file") as process:
        text, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "Error" in text


def test_demo_whose_bot_dies_shows_its_last_words(data: Path) -> None:
    """The server does not know the bot's token, so the bot gives up."""
    (data / "tokens").mkdir(parents=True)
    (data / "tokens" / "rules.token").write_text("arena_wrong\n")
    with demo(data) as process:
        text, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "the bot rules ended with status 3" in text
    assert "token" in text
    assert processes_of(data) == []


def test_demo_whose_server_dies_says_so(data: Path) -> None:
    with demo(data) as process:
        read_until(process, "matches finished")
        server, _writer_process = sorted(int(line.split()[0]) for line in processes_of(data) if " serve " in line)
        os.kill(server, signal.SIGKILL)
        text, _ = process.communicate(timeout=PATIENCE)
    assert process.returncode == 1
    assert "the server ended with status -9" in text
    all_gone(data)
