"""The SDK for C++ as its user meets it: built, the README's bot on a real server, its threads, how it ends."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

import grpc
import pytest
from arena_client.v1 import play_pb2
from client_tests.peer import PATIENCE, Peer, Talk, asks, invites, reports, starts, welcome
from client_tests.test_client_connection import certificate
from client_tests.test_client_programs import one_decision

from arena.local.check.checks import CHECKS
from tests.cli.cli_rig import ARENA, arena, let_play, serving
from tests.documents import first_bots
from tests.interop.interop_rig import built, tool

ROOT: Final = Path(__file__).parents[2]
README: Final = ROOT / "clients" / "cpp" / "README.md"
ADDRESS: Final = "localhost:50051"

pytestmark = [pytest.mark.process, pytest.mark.long, tool("cmake"), tool("grpc_cpp_plugin")]


@pytest.fixture(scope="module")
def package() -> Path:
    """The SDK, built and tested by itself: the corpus and the vectors."""
    built("make", "client-cpp", where=ROOT)
    return ROOT / "build" / "client-cpp"


def shown(language: str) -> str:
    """What the README shows in a language."""
    [block] = re.findall(rf"```{language}\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert isinstance(block, str)
    return block


def compiled(package: Path, folder: Path, program: str) -> Path:
    """A program of an author's own, built in the way of the README."""
    folder.mkdir()
    (folder / "CMakeLists.txt").write_text(shown("cmake"))
    (folder / "bot.cc").write_text(program)
    built("cmake", "-S", ".", "-B", "build", f"-Darena_client_DIR={package}", where=folder)
    built("cmake", "--build", "build", where=folder)
    return folder / "build" / "my_bot"


@pytest.fixture(scope="module")
def readme_bot(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The README's bot, for the server that ARENA_SERVER names."""
    bot = shown("cpp")
    assert len([line for line in bot.splitlines() if line.strip()]) <= 10
    assert bot.count(f', "{ADDRESS}"') == 1
    assert bot in first_bots(), "both pages show the same"
    return compiled(package, tmp_path_factory.mktemp("readme") / "bot", bot.replace(f', "{ADDRESS}"', ""))


@pytest.fixture(scope="module")
def mine(package: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A bot that does what its first argument says."""
    program = """
#include <arena_client/client.h>
#include <fstream>
#include <iostream>
#include <stdexcept>
struct Mine : arena::Bot {
  std::string does;
  int decide(const arena::Decision& decision) override {
    if (does == "throws") throw std::runtime_error("my own fault");
    if (does == "illegal") return 99;
    if (does == "waits") {
      std::cout << decision.decision_id << std::endl;
      while (!std::ifstream("done")) continue;
    }
    return decision.legal[0];
  }
};
int main(int, char** arguments) {
  Mine bot;
  bot.name = "Mine";
  bot.version = "1";
  bot.does = arguments[1];
  arena::Options options;
  options.token_file = "token";
  if (arguments[2]) options.matches = std::stoi(arguments[2]);
  const int status = arena::run(bot, options);
  std::cout << "after the run" << std::endl;
  return status;
}
"""
    return compiled(package, tmp_path_factory.mktemp("mine") / "bot", program)


def start(program: Path, folder: Path, address: str, *words: str, **env: str) -> subprocess.Popen[str]:
    home = {**os.environ, "HOME": str(folder), "ARENA_SERVER": address, **env}
    return subprocess.Popen(
        [program, *words], cwd=folder, env=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )  # fmt: skip


def test_the_bot_of_the_readme_plays_rated_matches_and_keeps_receipts_that_bear_them_out(
    tmp_path: Path, readme_bot: Path
) -> None:
    """It is stopped as by Ctrl-C."""
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        with start(readme_bot, tmp_path, server.server) as player:
            try:
                let_play(server.server, tmp_path, 2, bots=["random"])
                player.send_signal(signal.SIGINT)
                _, log = player.communicate(timeout=PATIENCE)
            finally:
                player.kill()
        assert player.returncode == 0, log
        assert "rating" in log
        assert log.endswith(" stopped\n")
        tokens = tmp_path / ".arena" / "tokens"
        token, receipts = sorted(tokens.iterdir())
        assert receipts.name == f"{token.name}.receipts"
        assert [each.stat().st_mode & 0o777 for each in (token, receipts)] == [0o600, 0o600]
        for match in (1, 2):
            assert verified(match, tokens, server.server)["receipt"]["file"] == str(receipts)
        assert [len(line.get("nonce", "")) for line in lines_of(receipts)] == [0, 32, 32]


def lines_of(receipts: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in receipts.read_text(encoding="utf-8").splitlines()]


def verified(match: int, receipts: Path, server: str) -> Any:
    """What `arena replay verify` says of a match by what a bot keeps and by the server's log."""
    ran = arena("replay", "verify", match, "--receipts", receipts, "--server", server, "--json")
    assert ran.exit_code == 0, ran.output
    said = json.loads(ran.stdout)
    assert said["verified"], said
    return said


def test_the_log_of_each_welcome_is_recorded_and_none_with_other_keys(package: Path, tmp_path: Path) -> None:
    """A bot that comes back, after matches of others, to its server; and to one whose key is another."""

    def plays(server: str, token: str) -> str:
        words = ["--matches", "1", "--capacity", "1", "--name", "cpp", "--token-file", token]
        with start(package / "rule_bot", tmp_path, server, *words) as player:
            try:
                let_play(server, tmp_path, 1, bots=["random"])
                _, log = player.communicate(timeout=PATIENCE)
            finally:
                player.kill()
        assert player.returncode == 0, log
        return log

    def pins(receipts: Path) -> list[int]:
        return [line["head"]["size"] for line in lines_of(receipts) if "arena_receipts" in line]

    here, there = (tmp_path / f"{name}.token.receipts" for name in ("here", "there"))
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        logs = [plays(server.server, "here.token")]
        let_play(server.server, tmp_path, 2, bots=["random", "rules"])
        logs.append(plays(server.server, "here.token"))
        assert pins(here) == [1, 4], "a leaf for the key, and one for each of three matches"
        assert not any("log of results" in log for log in logs), logs
        for match in (1, 4):
            assert verified(match, here, server.server)["receipt"]["file"] == str(here)
    here.rename(there)
    for token in tmp_path.glob("random.token*"):
        token.unlink()
    with serving(tmp_path / "other", "--no-house", "--seats", "2") as server:
        plays(server.server, "there.token")
        assert pins(there) == [1, 4], "the first log's keys stay"
        ran = arena("replay", "verify", "1", "--receipts", there, "--server", server.server)
        assert ran.exit_code == 1, ran.output
        assert "its head is not signed by the key of the log" in " ".join(ran.output.split())


@pytest.mark.parametrize("game", ["sixth_sense", "nullern"])
@pytest.mark.parametrize("sample", ["random_bot", "rule_bot"])
def test_each_sample_plays_a_rated_match_of_each_game(package: Path, tmp_path: Path, sample: str, game: str) -> None:
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        words = ["--matches", "1", "--capacity", "1", "--game", game, "--name", "cpp", "--token-file", "cpp.token"]
        with start(package / sample, tmp_path, server.server, *words) as player:
            try:
                let_play(server.server, tmp_path, 1, bots=["rules"], game=game)
                _, log = player.communicate(timeout=PATIENCE)
            finally:
                player.kill()
        assert player.returncode == 0, log
        assert re.search(r"match 1: place [12] of 2 with -?\d+ points, rating ", log), log


def test_heartbeats_and_invitations_are_answered_while_a_bot_computes(mine: Path, tmp_path: Path) -> None:
    """It computes until a file is there, which the script makes once all was answered."""

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield asks((1, 1), heartbeat=1)
        assert talk.next() == play_pb2.PlayRequest(heartbeat=1)
        for number in (2, 3, 4):
            yield play_pb2.PlayResponse(heartbeat=number)
            assert talk.next() == play_pb2.PlayRequest(heartbeat=number)
            yield invites(number)
            assert [ready.invitation_id for ready in talk.next().ready] == [number]
            yield starts(number)
        (tmp_path / "done").touch()
        assert [answer.decision_id for answer in talk.next().answers] == [1]
        yield reports(1, 2, 3, 4)
        talk.wait_for_goodbye()

    with Peer([script]) as peer, start(mine, tmp_path, peer.address, "waits", "4") as bot:
        out, errors = bot.communicate(timeout=PATIENCE)
    assert (out, bot.returncode) == ("1\nafter the run\n", 0), errors


def test_what_an_old_stream_asked_is_not_answered_on_the_new_one(mine: Path, tmp_path: Path) -> None:
    """The bot computes while its stream breaks and the next one asks again."""

    def before(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield asks((1, 1))
        yield asks((2, 2))
        yield play_pb2.PlayResponse(heartbeat=1)
        talk.next()
        talk.fail(grpc.StatusCode.UNAVAILABLE, "not now")

    def after(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        assert list(talk.next().hello.playing) == [1, 2]
        yield welcome()
        yield asks((1, 1), (2, 2))
        yield play_pb2.PlayResponse(heartbeat=2)
        assert talk.next().heartbeat == 2
        (tmp_path / "done").touch()
        assert [answer.decision_id for answer in talk.next().answers] == [1, 2]
        yield reports(1, 2)
        talk.wait_for_goodbye()

    with Peer([before, after]) as peer, start(mine, tmp_path, peer.address, "waits", "2") as bot:
        out, errors = bot.communicate(timeout=PATIENCE)
    assert (out, bot.returncode) == ("1\n1\n2\nafter the run\n", 0), errors


@pytest.mark.parametrize("signals", [1, 2])
def test_the_first_signal_finishes_and_the_second_leaves(mine: Path, tmp_path: Path, signals: int) -> None:
    playing, told = threading.Event(), threading.Event()
    heard: list[play_pb2.PlayRequest] = []

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield invites(1)
        talk.next()
        yield starts(1)
        playing.set()
        heard.append(talk.next())
        told.set()
        if signals == 1:
            yield asks((1, 1))
        heard.append(talk.next())
        if signals == 1:
            yield reports(1)
            talk.wait_for_goodbye()

    with Peer([script]) as peer, start(mine, tmp_path, peer.address, "plays") as bot:
        try:
            assert playing.wait(PATIENCE)
            bot.send_signal(signal.SIGINT)
            assert told.wait(PATIENCE)
            if signals == 2:
                bot.send_signal(signal.SIGINT)
            out, errors = bot.communicate(timeout=PATIENCE)
        finally:
            bot.kill()
    assert (out, bot.returncode) == ("after the run\n", 0), errors
    room, last = heard
    assert (room.HasField("capacity"), room.capacity) == (True, 0)
    assert (len(last.answers), last.leave) == ((1, False) if signals == 1 else (0, True))


@pytest.mark.parametrize(
    ("does", "told", "status", "line"),
    [
        ("illegal", {}, 1, r"Mine: answer 1 of 1 is 99, which is not legal here; decision.legal is \[0, 1, 2\]"),
        ("throws", {}, 1, r"Mine: the bot failed: my own fault"),
        ("plays", {"ARENA_DRAIN": "soon"}, 2, r"Mine: ARENA_DRAIN is 'soon': it takes seconds from 0 to 30"),
        ("plays", {"ARENA_TOKEN": "wrong"}, 3, r"Mine: the server refuses the token: no bot has this token"),
    ],
    ids=["illegal", "error", "argument", "refused"],
)
def test_what_a_program_ends_with(
    mine: Path, tmp_path: Path, does: str, told: dict[str, str], status: int, line: str
) -> None:
    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield asks((1, 1))
        list(talk.requests)

    with Peer([script]) as peer, start(mine, tmp_path, peer.address, does, **told) as bot:
        out, errors = bot.communicate(timeout=PATIENCE)
    assert (out, bot.returncode) == ("after the run\n", status), errors
    assert re.search(rf"^{line}$", errors, re.MULTILINE), errors
    assert ("in match 1 of sixth_sense, round 1, decision 1; legal: [0, 1, 2]; view: " in errors) is (status == 1)


@pytest.mark.parametrize(
    ("words", "status", "line"),
    [
        (["--server", "localhost"], 2, "random: the address 'localhost' is not of the form HOST:PORT; "),
        (["--capacity", "many"], 2, "random_bot: --capacity is 'many': it takes a number; see --help"),
        (["--colour", "red"], 2, "random_bot: there is no option '--colour'; see --help"),
        (["--matches"], 2, "random_bot: --matches takes a value; see --help"),
        (["--tls-roots", "nowhere.pem", "--token", "t"], 2, "random: the file nowhere.pem cannot be used: "),
        (
            ["--server", "127.0.0.1:1", "--give-up-after", "0", "--token", "t"],
            4,
            "random: no connection to 127.0.0.1:1: ",
        ),
    ],
    ids=["address", "number", "option", "value", "file", "nobody"],
)
def test_a_sample_says_what_is_wrong_and_has_a_status(package: Path, words: list[str], status: int, line: str) -> None:
    command = [str(package / "random_bot"), "--quiet", *words]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ran.returncode == status, ran.stderr
    assert ran.stderr.splitlines()[-1].startswith(line)


def test_help_names_every_option_and_has_an_example(package: Path) -> None:
    ran = subprocess.run([package / "rule_bot", "--help"], capture_output=True, text=True, timeout=PATIENCE, check=True)
    source = (ROOT / "clients" / "cpp" / "src" / "arena_client" / "command.cc").read_text(encoding="utf-8")
    options = set(re.findall(r'\{"(--[a-z-]+)",', source))
    assert len(options) > 15
    assert not [option for option in options if f"  {option} " not in ran.stdout]
    assert "example: rule_bot --server localhost:50051" in ran.stdout


def test_tls_and_what_is_in_its_way(package: Path, tmp_path: Path) -> None:
    """What trying again cannot change is told at the first try; with the authority named it plays."""

    def sample(address: str, *words: str) -> tuple[int, str]:
        always = ["--quiet", "--matches", "1", "--token-file", "t"]
        with start(package / "random_bot", tmp_path, address, *always, *words) as bot:
            _, errors = bot.communicate(timeout=PATIENCE)
        return bot.returncode, errors.splitlines()[-1] if errors else ""

    key, cert = certificate(tmp_path)
    secrets = grpc.ssl_server_credentials([(key.read_bytes(), cert.read_bytes())])
    with Peer([one_decision]) as plain:
        told = f"random: the server at {plain.address} has no TLS: leave --tls, --tls-roots, tls and tls_roots out"
        assert sample(plain.address, "--tls") == (4, told)
    with Peer([one_decision], credentials=secrets) as secured:
        address = f"localhost:{secured.port}"
        for words, line in (
            ([], f"the server at {address} wants TLS: --tls "),
            (["--tls"], f"the certificate of {address} is not trusted ("),
        ):
            status, said = sample(address, *words)
            assert (status, said.startswith(f"random: {line}")) == (4, True), said
        status, said = sample(address, "--tls-roots", str(cert))
        assert status == 0, said


def test_an_unknown_host_is_told_at_once(package: Path, tmp_path: Path) -> None:
    """No name has two dots in a row, so that nobody is asked."""
    with start(package / "random_bot", tmp_path, "no..host:1", "--quiet", "--token", "t") as bot:
        _, errors = bot.communicate(timeout=PATIENCE)
    assert bot.returncode == 4, errors
    assert errors.splitlines()[-1] == "random: there is no host 'no..host': check the address no..host:1"


@pytest.mark.parametrize("sample", ["random_bot", "rule_bot"])
def test_the_samples_pass_every_check(package: Path, sample: str) -> None:
    command = [*ARENA, "check", "--", str(package / sample)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    verdicts = {line.split()[1]: line.split()[0] for line in ran.stdout.splitlines() if line.endswith("?")}
    assert verdicts == dict.fromkeys(CHECKS, "PASS")
