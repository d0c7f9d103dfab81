"""Bots as programs: Ctrl-C, exit codes, command lines, and the README's bot."""

from __future__ import annotations

import os
import re
import runpy
import signal
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import arena_client
import grpc
import pytest
from arena_client import GAMES, samples
from arena_client import __main__ as arena_bot
from arena_client.v1 import game_pb2, play_pb2
from client_tests.peer import PATIENCE, Peer, Script, Talk, asks, begun, invites, reports, starts, welcome

pytestmark = pytest.mark.process

PROGRAM = """
import signal
import sys
from arena_client import Bot, run

class Mine(Bot):
    def decide(self, decision):
        {body}

if __name__ == "__main__":
    signal.signal(signal.SIGTERM, signal.SIG_DFL)  # who measures coverage handles it, too
    run(Mine(), sys.argv[1], token_file="token")
    print("after the run")
"""


def one_decision(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
    """Play match 1 with a single decision and accept any choice."""
    yield from begun(talk, 1)
    yield asks((1, 1), legal=(1, 2))
    talk.next()
    yield reports(1)
    talk.wait_for_goodbye()


def start(folder: Path, body: str, address: str, **env: str) -> subprocess.Popen[str]:
    (folder / "mine.py").write_text(PROGRAM.format(body=body))
    command = [sys.executable, "mine.py", address]
    return subprocess.Popen(
        command, cwd=folder, env={**os.environ, **env}, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


@pytest.mark.skipif(os.name != "posix", reason="signals are sent the POSIX way here")
@pytest.mark.parametrize("stop", [signal.SIGINT, signal.SIGTERM], ids=["SIGINT", "SIGTERM"])
@pytest.mark.parametrize(
    ("body", "line"),
    [
        ("return 0", ""),
        ("print('thinking', flush=True)\n        while True: pass", "thinking\n"),
        ("import time; print('thinking', flush=True); time.sleep(60)", "thinking\n"),
    ],
    ids=["idle", "computing", "sleeping"],
)
def test_where_nothing_shall_be_finished_a_signal_ends_a_bot(
    tmp_path: Path, body: str, line: str, stop: signal.Signals
) -> None:
    playing, over = threading.Event(), threading.Event()
    left: list[bool] = []

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.context.add_callback(over.set)
        yield from begun(talk, 1)
        playing.set()
        if line:
            yield asks((1, 1))
        left.append(talk.next().leave)

    with Peer([script]) as peer, start(tmp_path, body, peer.address, ARENA_DRAIN="0") as program:
        try:
            assert playing.wait(PATIENCE)
            if line:
                assert program.stdout
                assert program.stdout.readline() == line
            program.send_signal(stop)
            out, errors = program.communicate(timeout=PATIENCE)
            assert (out, program.returncode) == ("after the run\n", 0), errors
            assert re.fullmatch(
                r"(.* (registered|Mine is connected|bot is connected|leaving 1 match in order).*\n)*.* stopped\n",
                errors,
            ), errors
            assert over.wait(PATIENCE)  # the server has noticed the broken stream
            assert left == [True]
        finally:
            program.kill()


def test_an_error_in_a_bot_is_a_traceback_and_an_exit_code(tmp_path: Path) -> None:
    with Peer([one_decision]) as peer, start(tmp_path, "return 1 // 0", peer.address) as program:
        _, errors = program.communicate(timeout=PATIENCE)
    assert program.returncode == 1
    assert "return 1 // 0" in errors
    error, where = errors.splitlines()[-2:]
    assert error == "ZeroDivisionError: integer division or modulo by zero"
    assert where.startswith("in match 1 of sixth_sense, round 1, decision 1; ")


def call(monkeypatch: pytest.MonkeyPatch, *arguments: str) -> None:
    monkeypatch.setattr(sys, "argv", ["arena-bot", *arguments])
    monkeypatch.setattr(sys, "path", sys.path[:])
    arena_bot.main()


def test_any_bot_class_runs_from_the_command_line(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mybots.py").write_text(PROGRAM.format(body="return decision.legal[0]"))
    with Peer([one_decision]) as peer:
        told = [
            "--name",
            "neo",
            "--owner",
            "me",
            "--capacity",
            "2",
            "--matches",
            "1",
            "--token-file",
            "token",
            "--quiet",
        ]
        call(monkeypatch, "mybots:Mine", peer.address, *told)
        assert [(each.name, each.owner) for each in peer.registrations] == [("neo", "me")]
    assert (tmp_path / "token").exists()


def test_an_author_un_parks_a_bot_and_replaces_its_token(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "bot.token"
    file.write_text("mine\n")
    with Peer([one_decision], tokens={"mine": "bot"}) as peer:
        here = ("bot", "--server", peer.address)
        call(monkeypatch, "unpark", *here, "--token-file", str(file))
        assert (peer.unparked, capsys.readouterr().out) == (["bot"], "bot is given seats again.\n")

        call(monkeypatch, "rotate", *here, "--token-file", str(file))
        told = f"The old token of bot is no longer valid; the new one is in {file}.\n"
        assert (peer.tokens, file.read_text(), capsys.readouterr().out) == ({"new-mine": "bot"}, "new-mine\n", told)
        call(monkeypatch, "rotate", *here, "--token", "new-mine")
        assert (file.read_text(), capsys.readouterr().out) == ("new-mine\n", "new-new-mine\n")

        joining = ("slow", "CODE", "--server", peer.address, "--token", "new-new-mine")
        call(monkeypatch, "join", "bot", *joining)
        assert peer.joined == [("slow", "CODE")]
        assert capsys.readouterr().out == "bot may play on slow now: start it with --ladder slow\n"

        for words, status, text in (
            ((*here, "--token", "mine"), 3, "bot: the server refuses the bot: this token is not that of bot"),
            (
                (*here, "--token-file", str(tmp_path / "none")),
                2,
                f"bot: there is no token in {tmp_path / 'none'}: name",
            ),
            ((*here, "--token", ""), 2, "bot: the token is empty"),
            (("bot", "--server", "127.0.0.1:1", "--token", "x"), 4, "bot: no connection to 127.0.0.1:1: "),
        ):
            with pytest.raises(SystemExit) as end:
                call(monkeypatch, "unpark", *words)
            assert end.value.code == status
            assert capsys.readouterr().err.startswith(text)

        with pytest.raises(SystemExit) as end:
            call(monkeypatch, "unpark", "--server", peer.address)
        assert end.value.code == 2
        assert "the following arguments are required: NAME" in capsys.readouterr().err


def test_a_new_token_that_cannot_be_stored_is_shown(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    file = tmp_path / "bot.token"
    file.write_text("mine\n")
    rotate = Peer.RotateToken

    def in_a_folder_that_is_gone(self: Peer, request: Any, context: Any) -> Any:
        file.unlink()
        tmp_path.joinpath("bot.token").mkdir()
        return rotate(self, request, context)

    monkeypatch.setattr(Peer, "RotateToken", in_a_folder_that_is_gone)
    with Peer([one_decision], tokens={"mine": "bot"}) as peer:
        with pytest.raises(SystemExit) as end:
            call(monkeypatch, "rotate", "bot", "--server", peer.address, "--token-file", str(file))
        assert end.value.code == 2
        assert f"bot: the file {file} cannot be written (Is a directory)" in (said := capsys.readouterr().err)
        assert "the bot's new token is new-mine: write it there yourself" in said


@pytest.mark.parametrize(
    ("name", "complaint"),
    [
        ("random", "'random' is not of the form MODULE:CLASS"),
        ("no_such_thing:Bot", "there is no module 'no_such_thing' here"),
        ("json:Nothing", "json has no class Nothing that extends arena_client.Bot"),
        ("json:JSONDecoder", "json has no class JSONDecoder that extends arena_client.Bot"),
    ],
)
def test_a_wrong_bot_name_is_explained(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], name: str, complaint: str
) -> None:
    with pytest.raises(SystemExit) as end:
        call(monkeypatch, name, "localhost:1")
    assert end.value.code == 2
    assert complaint in capsys.readouterr().err


def test_a_module_that_misses_another_says_which(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "needy.py").write_text("import no_such_thing\n")
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ModuleNotFoundError, match="no_such_thing"):
        call(monkeypatch, "needy:Bot", "localhost:1")


def refusing(code: grpc.StatusCode) -> Script:
    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        talk.fail(code, "the very\nreason")
        yield welcome()

    return script


@pytest.mark.parametrize(
    ("options", "status", "line"),
    [
        (["--name", "taken"], 3, "taken: the name 'taken' is taken. If the bot is yours"),
        (["--name", "no good"], 3, "no good: the name 'no good' is not allowed"),
        (["--invitation", "forged"], 3, "random: registration is by invitation"),
        (["--token", "wrong"], 3, "random: the server refuses the token: no bot has this token"),
        (["--token", "t"], 3, "random: the server refuses the bot: the very reason"),
        (["--token", ""], 2, "random: the token is empty"),
        (["--capacity", "0"], 2, "random: the bot's capacity is 0: it takes 1 or more"),
        (["--bot-version", "x" * 41], 2, "random: the bot's version is 'xxx"),
        (
            ["--tls-roots", "nowhere.pem"],
            2,
            "random: the file nowhere.pem cannot be used: No such file or directory",
        ),
        (["--token-file", "/dev/null/t"], 2, "random: the file /dev/null/t cannot be used: Not a directory"),
    ],
    ids=lambda words: " ".join(words)[:20] if isinstance(words, list) else "",
)
def test_what_cannot_be_helped_is_one_line_and_a_status(
    tmp_path: Path, options: list[str], status: int, line: str
) -> None:
    command = [sys.executable, "-m", "arena_client", "arena_client.samples.random_bot:RandomBot"]
    with Peer([refusing(grpc.StatusCode.INVALID_ARGUMENT)], tokens={"t": "taken"}) as peer:
        ran = subprocess.run(
            [*command, peer.address, "--token-file", "t", "--quiet", *options],
            capture_output=True,
            text=True,
            check=False,
            cwd=tmp_path,
            timeout=PATIENCE,
        )
    assert ran.returncode == status, ran.stderr
    assert ran.stdout == ""
    [told] = ran.stderr.splitlines()
    assert told.startswith(line)


@pytest.mark.parametrize(
    ("address", "options", "status", "line"),
    [
        ("localhost", [], 2, "random: the address 'localhost' is not of the form HOST:PORT"),
        ("localhost:1", ["--give-up-after", "0"], 4, "random: no connection to localhost:1: "),
    ],
)
def test_an_address_where_nobody_is_has_a_status(
    tmp_path: Path, address: str, options: list[str], status: int, line: str
) -> None:
    command = [sys.executable, "-m", "arena_client.samples.random_bot", "--server", address, "--quiet", *options]
    ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=PATIENCE)
    assert ran.returncode == status, ran.stderr
    [told] = ran.stderr.splitlines()
    assert told.startswith(line)


def test_an_answer_that_is_none_is_the_bot_s_own_error(tmp_path: Path) -> None:
    (tmp_path / "mybots.py").write_text(PROGRAM.format(body="return None"))
    with Peer([one_decision]) as peer:
        command = [sys.executable, "-m", "arena_client", "mybots:Mine", peer.address, "--token-file", "t", "--quiet"]
        ran = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, timeout=PATIENCE)
    assert ran.returncode == 1
    told, where = ran.stderr.splitlines()
    assert told == "Mine: answer 1 of 1 is None: an answer is an action, one of decision.legal"
    assert where.startswith("in match 1 of sixth_sense, round 1, decision 1; ")


def test_the_help_has_an_example_and_the_statuses(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    with pytest.raises(SystemExit) as end:
        call(monkeypatch, "--help")
    assert end.value.code == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "example: arena-bot my_bot:MyBot localhost:50051" in text
    assert "3 where the server refuses the bot" in text


@pytest.mark.parametrize("told", [[*GAMES], ["nullern"], ["sixth_sense"]], ids=" ".join)
@pytest.mark.parametrize(
    "sample", ["random_bot:RandomBot", "rule_bot:RuleBot", "counter_bot:CounterBot", "search_bot:SearchBot"]
)
def test_a_sample_plays_every_game_or_those_it_is_told(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sample: str, told: list[str]
) -> None:
    heard: list[str] = []

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        heard.extend(talk.next().hello.games)
        yield welcome(*(game_pb2.GameCatalog(name=name) for name in heard))
        yield invites(1)
        talk.next()
        yield starts(1)
        yield reports(1)
        talk.wait_for_goodbye()

    options = [f"--game={name}" for name in told] if len(told) == 1 else []
    with Peer([script]) as peer:
        once = ["--token-file", str(tmp_path / "t"), "--matches", "1", "--quiet"]
        call(monkeypatch, f"arena_client.samples.{sample}", peer.address, *once, *options)
    assert heard == told


@pytest.mark.parametrize("sample", ["random_bot", "rule_bot", "counter_bot"])
def test_a_sample_is_a_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, sample: str) -> None:
    with Peer([one_decision]) as peer:
        told = [
            "--server",
            peer.address,
            "--name",
            "x",
            "--matches",
            "1",
            "--token-file",
            str(tmp_path / "t"),
            "--quiet",
        ]
        monkeypatch.setattr(sys, "argv", [sample, *told])
        runpy.run_path(str(Path(samples.__file__).parent / f"{sample}.py"), run_name="__main__")
        assert [each.name for each in peer.registrations] == ["x"]


README = Path(__file__).parent.parent / "README.md"


def test_the_bot_of_the_readme_plays(tmp_path: Path) -> None:
    """Run the README's first Python block with another server address and number of matches."""
    found = re.search(r"```python\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert found
    bot = found[1]
    assert len([line for line in bot.splitlines() if line.strip()]) <= 10
    assert bot.count('"localhost:50051"') == 1
    home = {**os.environ, "HOME": str(tmp_path), "USERPROFILE": str(tmp_path)}
    with Peer([one_decision]) as peer:
        (tmp_path / "bot.py").write_text(
            bot.replace('"localhost:50051"', f'"{peer.address}", matches=1'), encoding="utf-8"
        )
        command = [sys.executable, "bot.py"]
        subprocess.run(command, cwd=tmp_path, env=home, check=True, timeout=PATIENCE)
        assert [each.name for each in peer.registrations] == ["my-bot"]
    assert len(list((tmp_path / ".arena" / "tokens").iterdir())) == 1


def test_the_program_of_the_readme_that_asks_itself_plays(tmp_path: Path) -> None:
    """Run the README's program with only the server's address and the number of matches changed."""
    [found] = re.findall(r"```python\n((?:(?!```).)*?\bconnect\(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    with Peer([one_decision]) as peer:
        program = found.replace("localhost:50051", peer.address).replace("matches=10", "matches=1")
        home = {**os.environ, "HOME": str(tmp_path)}
        subprocess.run([sys.executable, "-c", program], env=home, timeout=PATIENCE, check=True)
        assert [each.name for each in peer.registrations] == ["my-bot"]


def test_the_readme_names_everything_public() -> None:
    text = README.read_text(encoding="utf-8")
    choices = (
        play_pb2.Decision.DESCRIPTOR.oneofs_by_name["view"],
        play_pb2.RoundReport.DESCRIPTOR.oneofs_by_name["record"],
    )
    of_games = {field.message_type.name for choice in choices for field in choice.fields if field.message_type}
    public = set(arena_client.__all__) - of_games
    missing = [name for name in public if not re.search(rf"`[^`\n]*\b{name}\b", text)]
    assert not missing
