"""Bots that are commands. They play as bots in the process do, their faults are named, and no process outlives them."""

from __future__ import annotations

import json
import shlex
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path
from typing import Any

import pytest
import trio
from arena_client.v1 import play_pb2_grpc

from arena.api.play_service import PlayService
from arena.api.statuses import ERROR_DOMAIN
from arena.house import HOUSE_BOTS
from arena.local.commands.command import RunningCommand
from arena.local.commands.spec import names_of, version_of, words_of
from arena.local.errors import BotNotLoaded, CommandFailed
from arena.local.match.design import Design
from arena.local.match.runner import play_sets, versions
from arena.local.match.sets import PlayedSet, Subject
from arena.local.match.thinking import SlowBot
from arena.local.server.command_bot import CommandPlace, told
from arena.local.server.director import DirectedGame, Director, GivenDeal
from arena.local.server.host import LocalHost
from arena.replay.read import read
from arena.replay.verify import verify
from arena.server.config import Config, LadderTable
from arena.server.runtime.timers import Timers
from arena.server.runtime.turns import Turns
from arena.server.sessions.player import HousePlayer, Player
from engine.registry import GAMES
from tests.cli.cli_rig import PATIENCE, serving, shown
from tests.games import THOUGHT_ABOUT, nearest_seats
from tests.local.bots import FIRST, written
from trio_grpc.grpc.server import Service, serve

pytestmark = pytest.mark.process
RUNS = "\nif __name__ == '__main__':\n    from arena_client import run\n    run(First(), 'localhost:1')\n"
PYTHON = shlex.quote(sys.executable)


def command(folder: Path, text: str = FIRST + RUNS, name: str = "bot.py") -> str:
    return f"cmd:{PYTHON} {written(folder, text, name)}"


def subject(*bots: str, game: str = "nullern", design: Design = Design.SAME_SEATS) -> Subject:
    seats = len(bots) - 1 if design is Design.SAME_SEATS else len(bots)
    return Subject(game, {}, seats, design, 11, bots, versions(game, bots))


def outcomes(played: PlayedSet) -> list[object]:
    return [played.number, *[(game.bots, *game.played[:3]) for game in played.games]]


def played_by(bots: Subject, sets: int = 3, place: CommandPlace | None = None) -> list[list[object]]:
    return sorted(outcomes(each) for each in play_sets(bots, range(sets), 4, place=place))


@pytest.mark.parametrize("game", THOUGHT_ABOUT)
def test_a_command_plays_the_games_that_its_class_plays_in_process(tmp_path: Path, game: str) -> None:
    bot = written(tmp_path, FIRST + RUNS)
    here = subject(bot, "house:counter", "house:careful", "house:random", game=game)
    there = subject(command(tmp_path), "house:counter", "house:careful", "house:random", game=game)
    assert played_by(there) == sorted(outcomes(each) for each in play_sets(here, range(3), 1))


def test_commands_bots_in_python_and_the_house_sit_at_one_table(tmp_path: Path) -> None:
    bot = written(tmp_path, FIRST + RUNS)
    mixed = subject(command(tmp_path), f"{bot}:First", "house:random", design=Design.ONE_TABLE)
    alike = subject(bot, f"{bot}:First", "house:random", design=Design.ONE_TABLE)
    assert played_by(mixed) == sorted(outcomes(each) for each in play_sets(alike, range(3), 1))


def test_what_a_game_is_made_of_is_kept_with_it(tmp_path: Path) -> None:
    (one,) = play_sets(subject(command(tmp_path), "house:random", "house:random"), range(1), 4)
    for game in one.games:
        assert len(game.played.actions) == sum(game.played.decisions)
        assert game.played.began > 1_700_000_000_000_000
        assert all(bool(us) == (bot == 0) for us, bot in zip(game.played.think_us, game.bots, strict=True))


@pytest.mark.parametrize(
    ("spec", "why"),
    [
        ("cmd:./no-such-bot --flag", "there is no command ./no-such-bot"),
        ("cmd:no-such-bot", "a program of this folder is written ./no-such-bot"),
        ("cmd:/etc/passwd", "is no program: chmod"),
        ("cmd:", "it has no command"),
        ("cmd:bot 'x", "No closing quotation"),
        ("pipe:./no-such-bot", "there is no command ./no-such-bot"),
    ],
)
def test_a_command_that_is_none_is_named_before_anything_is_played(spec: str, why: str) -> None:
    with pytest.raises(BotNotLoaded) as refused:
        subject(spec, "house:random", "house:random")
    assert why in str(refused.value)
    assert repr(spec) in str(refused.value)


FAILS: dict[str, tuple[str, str]] = {
    "ends at once": (
        "import sys; print('no licence', file=sys.stderr); sys.exit(7)",
        "ended with exit status 7; its last lines:\nno licence\n",
    ),
    "is killed": ("import os; os.kill(os.getpid(), 11)", "was killed by signal 11, and printed nothing"),
    "hangs": (
        "import time; print('thinks', flush=True); time.sleep(1000)",
        "has not connected to $ARENA_SERVER within 8 s; its last lines:\nthinks\n",
    ),
    "raises": (FIRST.replace("return", "raise ValueError('broken')\n        return") + RUNS, "ValueError: broken"),
    "plays another game": (
        FIRST.replace("games = GAMES", 'games = ("chess",)') + RUNS,
        "this match is of nullern; the bot asked for chess",
    ),
    "thinks for ever": (
        FIRST.replace("return", "import time; time.sleep(1000)\n        return") + RUNS,
        "to the referee: no legal answer within 3 s",
    ),
}


@pytest.mark.parametrize("how", FAILS)
def test_a_bot_that_fails_ends_it_with_its_last_words(tmp_path: Path, how: str) -> None:
    text, why = FAILS[how]
    limits = {"hangs": (8.0, 60.0), "thinks for ever": (60.0, 3.0)}.get(how, (60.0, 60.0))
    place = CommandPlace(tmp_path / "logs", *limits)
    bots = subject(command(tmp_path, text), "house:random", "house:random")
    with pytest.raises(CommandFailed) as failed:
        played_by(bots, 20, place)
    assert str(failed.value).startswith(bots.bots[0])
    assert why in str(failed.value)
    assert f"All that it printed is in {tmp_path / 'logs' / 'bot.log'}" in str(failed.value)


def test_a_command_that_thinks_for_long_is_named_while_it_does(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("arena.local.match.thinking.LONG", 2.0)
    named_file = str(tmp_path / "named")
    waits = f"import os, time\n        while not os.path.exists({named_file!r}): time.sleep(0.01)\n        return"
    bots = subject(command(tmp_path, FIRST.replace("return", waits) + RUNS), "house:random", "house:random")
    named: list[SlowBot] = []

    def name(slow: SlowBot) -> None:
        named.append(slow)
        (tmp_path / "named").touch()

    assert len([*play_sets(bots, range(4), 4, report_slow=name)]) == 4
    assert named
    assert {each.spec for each in named} == {bots.bots[0]}
    assert all(each.seconds >= 2.0 for each in named)


def test_much_that_a_bot_prints_is_bounded(tmp_path: Path) -> None:
    text = FIRST.replace("return", "import os; os.write(2, b'x' * (1 << 20))\n        return") + RUNS
    played_by(subject(command(tmp_path, text), "house:random", "house:random"), 1, CommandPlace(tmp_path / "logs"))
    assert 1 << 20 < (tmp_path / "logs" / "bot.log").stat().st_size < 5 << 20


def test_it_stops_when_nobody_wants_more_and_leaves_no_logs(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    bots = subject(command(tmp_path / "bot"), "house:random", "house:random")
    playing = play_sets(bots, range(10**9), 4, place=CommandPlace())
    assert next(playing).number < 10
    playing.close()
    assert [path.name for path in tmp_path.iterdir()] == ["bot"]


def test_names_are_unique_and_versions_are_of_the_files(tmp_path: Path) -> None:
    bot = written(tmp_path, FIRST, "my bot.py")
    spec = f"cmd:{PYTHON} {shlex.quote(bot)} --flag"
    assert names_of([spec, spec, "house:random", f"{bot}:First"]) == ("my-bot", "my-bot-2", "house", "my-bot-3")
    assert words_of(spec) == (sys.executable, bot, "--flag")
    before = version_of(spec)
    assert version_of(spec) == before
    written(tmp_path, FIRST + "\n", "my bot.py")
    assert version_of(spec) != before
    assert version_of(f"{spec} --other") != version_of(spec)


async def directed(words: list[str], game: str, names: list[str], deal: GivenDeal, folder: Path) -> DirectedGame:
    """Play a given deal at a table with one command and house bots in the other seats."""
    house = {bot.name: bot for bot in HOUSE_BOTS[game]}
    turns, timers = Turns(lambda: None, 1.0), Timers()
    config = Config((LadderTable(GAMES[game], (len(names),)),))
    host = LocalHost(config, [name for name in names if name not in house], turns)
    players: list[Player] = [
        HousePlayer(-seat, house[name]) if name in house else host.players[0] for seat, name in enumerate(names)
    ]
    async with trio.open_nursery() as nursery:
        nursery.start_soon(turns.run)
        nursery.start_soon(timers.run)
        service = Service(play_pb2_grpc.add_PlayServiceServicer_to_server, PlayService(host), as_bytes=True)
        address = f"unix:{folder / 'sock'}"
        await nursery.start(partial(serve, [service], address, turn=turns, error_domain=ERROR_DOMAIN))
        bot = RunningCommand(words, told(address, host.tokens[0]), folder / "log")
        with trio.fail_after(PATIENCE):
            game_played = await Director(host, turns, timers).play(deal, players, 1)
        await trio.to_thread.run_sync(bot.end)
        nursery.cancel_scope.cancel()
    return game_played


def without_times(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the lines after the header without clocks, chain and ratings."""
    times = ("at", "lag", "chain")
    return [
        {key: value for key, value in line.items() if key not in times} for line in lines[1:] if "ratings" not in line
    ]


@pytest.mark.parametrize("game", GAMES)
async def test_the_same_deal_gives_the_same_replay_by_the_server_and_by_the_runner(tmp_path: Path, game: str) -> None:
    first = FIRST.replace("games = GAMES", f"games = {game!r}")
    words = [sys.executable, written(tmp_path, first + RUNS)]
    file, seats = tmp_path / "server.jsonl.gz", str(nearest_seats(GAMES[game].seats, 3))

    def on_a_server() -> None:
        with serving(
            tmp_path / "data", "--game", game, "--seats", seats, "--patience", "0", "--house-workers", "0"
        ) as played:
            program = (
                Path(words[1])
                .read_text()
                .replace("localhost:1'", f"{played.server}', matches=1, token_file='{tmp_path / 'token'}'")
            )
            written(tmp_path, program, "once.py")
            subprocess.run([sys.executable, str(tmp_path / "once.py")], check=True, timeout=PATIENCE)
            shown("replay", "export", "1", "--output", file, "--server", played.server)

    await trio.to_thread.run_sync(on_a_server)
    by_server = read(file)
    header = by_server.header
    names = [bot.name for bot in header.bots]
    here = await directed(words, game, names, GivenDeal(header.seed, header.nonces), tmp_path)
    by_runner = read(here.replay)
    assert by_runner.header.dealt_by == "match runner"
    assert verify(by_runner).verified
    assert without_times([*map(json.loads, by_runner.lines)]) == without_times([*map(json.loads, by_server.lines)])
    if (node := shutil.which("node")) is not None:
        (tmp_path / "runner.jsonl.gz").write_bytes(here.replay)
        words = [node, "clients/javascript/verify.mjs", str(tmp_path / "runner.jsonl.gz")]
        said = subprocess.run(words, check=True, capture_output=True, text=True).stdout
        assert "dealt by the match runner on one machine" in said
