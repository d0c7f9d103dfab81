"""The SDK for Java as its user meets it: the README's bot on a real server, its samples, and how they end."""

from __future__ import annotations

import os
import re
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

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
BUILD: Final = ROOT / "build" / "client-java"
README: Final = ROOT / "clients" / "java" / "README.md"
SAMPLES: Final = ("RandomBot", "Rules")

pytestmark = [pytest.mark.process, tool("mvn")]


@pytest.fixture(scope="module")
def java() -> list[str]:
    """The command that runs programs, once the library has passed its own tests and all conversations."""
    built("make", "client-java", where=ROOT)
    return ["java", f"-Duser.home={BUILD}/home", "-cp", f"{BUILD}/arena-client.jar:{BUILD}/jars/*"]


def started(java: list[str], folder: Path, *words: str, **env: str) -> subprocess.Popen[str]:
    """A program whose home is its folder."""
    command = [java[0], f"-Duser.home={folder}", *java[2:], *words]
    environment = {**os.environ, **env}
    return subprocess.Popen(
        command, cwd=folder, env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def mine(folder: Path, decide: str, address: str) -> str:
    """Writes a bot of an author's own; returns its file."""
    (folder / "Mine.java").write_text(f"""
import arena.client.*;

class Mine extends Bot {{
    Mine() {{ super("mine"); }}

    @Override public String version() {{ return "1"; }}

    @Override public int decide(Decision d) {{
        {decide}
    }}

    public static void main(String[] arguments) {{
        int status = 0;
        try {{
            Options options = new Options().tokenFile(java.nio.file.Path.of("token")).noReceipts().matches(1);
            Arena.run(new Mine(), "{address}", options);
        }} catch (ArenaException why) {{
            System.err.println("mine: " + why.kind() + ": " + why.getMessage());
            status = why.status();
        }}
        System.out.println("after the run");
        System.exit(status);
    }}
}}
""")
    return "Mine.java"


def test_the_bot_of_the_readme_plays_rated_matches_and_keeps_receipts_that_bear_them_out(
    tmp_path: Path, java: list[str]
) -> None:
    """Run as it stands by the README's command; then it is stopped as by Ctrl-C."""
    text = README.read_text(encoding="utf-8")
    [bot] = re.findall(r"```java\n(.*?)```", text, re.DOTALL)
    assert len([line for line in bot.splitlines() if line.strip()]) <= 12
    assert bot in first_bots(), "both pages show the same"
    (tmp_path / "MyBot.java").write_text(bot)
    [command] = re.findall(r"^java -cp '(\S+)' MyBot.java --server localhost:50051$", text, re.MULTILINE)
    assert command.replace("../arena", str(ROOT)) == java[-1]
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        with started(java, tmp_path, "MyBot.java", "--server", server.server) as player:
            try:
                let_play(server.server, tmp_path, 2, bots=["random"])
                player.send_signal(signal.SIGINT)
                log = player.communicate(timeout=PATIENCE)[1]
            finally:
                player.kill()
        assert player.returncode == 0, log
        assert ", rating " in log
        assert log.endswith(" stopped\n")
        tokens = tmp_path / ".arena" / "tokens"
        ran = arena("replay", "verify", "1", "--receipts", str(tokens), "--server", server.server)
        assert ran.exit_code == 0, ran.output


@pytest.mark.long
def test_the_receipts_of_a_bot_that_comes_back_bear_its_matches_out(tmp_path: Path, java: list[str]) -> None:
    """Each run records the log that its welcome shows, and its match."""
    token = tmp_path / "token"
    kept = token.with_name("token.receipts")

    def played(address: str) -> str:
        words = ["arena.samples.RandomBot", "--matches", "1", "--server", address, "--token-file", str(token)]
        with started(java, tmp_path, *words) as player:
            try:
                let_play(address, tmp_path / "others", 1, bots=["rules"])
                log = player.communicate(timeout=PATIENCE)[1]
            finally:
                player.kill()
        assert player.returncode == 0, log
        return log

    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        for pins in (1, 2):
            log = played(server.server)
            assert "LOG OF RESULTS" not in log
            lines = kept.read_text().splitlines()
            assert [line.startswith('{"match":') for line in lines] == [False, True] * pins
        for match in ("1", "2"):
            ran = arena("replay", "verify", match, "--receipts", str(tmp_path), "--server", server.server)
            assert ran.exit_code == 0, ran.output


def test_heartbeats_and_invitations_are_answered_while_a_bot_computes(tmp_path: Path, java: list[str]) -> None:
    """It computes until a file is there, which the script makes once all was answered."""
    done = tmp_path / "done"
    decide = f'while (!new java.io.File("{done}").exists()) Thread.onSpinWait(); return d.legal().get(0);'

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield asks((1, 1), heartbeat=1)
        assert talk.next() == play_pb2.PlayRequest(heartbeat=1)
        for number in (2, 3, 4):
            yield play_pb2.PlayResponse(heartbeat=number)
            assert talk.next() == play_pb2.PlayRequest(heartbeat=number)
        yield invites(2)
        assert list(talk.next().declined) == [2]
        done.touch()
        assert [answer.decision_id for answer in talk.next().answers] == [1]
        yield reports(1)
        talk.wait_for_goodbye()

    with Peer([script]) as peer, started(java, tmp_path, mine(tmp_path, decide, peer.address)) as bot:
        out, errors = bot.communicate(timeout=PATIENCE)
    assert (out, bot.returncode) == ("after the run\n", 0), errors


def test_the_second_signal_leaves_even_where_the_bot_computes_for_ever(tmp_path: Path, java: list[str]) -> None:
    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield invites(1)
        talk.next()
        yield starts(1)
        yield asks((1, 1), heartbeat=1)
        talk.next()
        bot.send_signal(signal.SIGINT)
        assert talk.next() == play_pb2.PlayRequest(capacity=0)
        bot.send_signal(signal.SIGINT)
        assert talk.next() == play_pb2.PlayRequest(leave=True)

    with Peer([script]) as peer:
        program = mine(tmp_path, "while (true) Thread.onSpinWait();", peer.address)
        with started(java, tmp_path, program) as bot:
            try:
                out, errors = bot.communicate(timeout=PATIENCE)
            finally:
                bot.kill()
    assert (out, bot.returncode) == ("after the run\n", 0), errors


@pytest.mark.long
def test_what_a_program_ends_with(tmp_path: Path, java: list[str]) -> None:
    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield asks((1, 1))
        list(talk.requests)

    decide = """if ("error".equals(System.getenv("DECIDES"))) throw new IllegalStateException("my own fault");
        return 99;"""
    program = mine(tmp_path, decide, "")
    for told, status, line in (
        ({}, 1, r"BAD_ANSWER: answer 1 of 1 is 99, which is not legal here; decision.legal\(\) is \[0, 1, 2\]"),
        ({"DECIDES": "error"}, 1, r"BOT_FAILED: the bot failed: java.lang.IllegalStateException: my own fault"),
        ({"ARENA_DRAIN": "soon"}, 2, r"BAD_ARGUMENT: ARENA_DRAIN is 'soon': it takes seconds from 0 to 30"),
        ({"ARENA_TOKEN": "wrong"}, 3, r"TOKEN_REFUSED: the server refuses the token: no bot has this token"),
        ({"ARENA_SERVER": "nowhere"}, 2, r"BAD_ARGUMENT: the address 'nowhere' is not of the form HOST:PORT; .*"),
    ):
        (tmp_path / "token").unlink(missing_ok=True)
        with Peer([script]) as peer, started(java, tmp_path, program, **{"ARENA_SERVER": peer.address, **told}) as bot:
            out, errors = bot.communicate(timeout=PATIENCE)
        assert (out, bot.returncode) == ("after the run\n", status), errors
        assert re.search(rf"^mine: {line}$", errors, re.MULTILINE), errors
        assert ("in match 1 of sixth_sense, round 1, decision 1; legal: [0, 1, 2]; view: " in errors) is (status == 1)


@pytest.mark.long
def test_a_sample_says_what_is_wrong_and_has_a_status(tmp_path: Path, java: list[str]) -> None:
    for words, status, line in (
        (["--capacity", "many"], 2, "random: --capacity is 'many': it takes a number from 1 on; see --help"),
        (["--colour", "red"], 2, "random: there is no option '--colour'; see --help"),
        (["--on-error=die"], 2, "random: --on-error is 'die': it takes raise or continue; see --help"),
        (["--server", "127.0.0.1:1", "--give-up-after=0", "--token", "t"], 4, "random: no connection to 127.0.0.1:1"),
    ):
        with started(java, tmp_path, "arena.samples.RandomBot", "--quiet", *words) as bot:
            errors = bot.communicate(timeout=PATIENCE)[1]
        assert bot.returncode == status, errors
        assert errors.splitlines()[-1].startswith(line)


@pytest.mark.long
def test_tls_and_what_is_in_its_way(tmp_path: Path, java: list[str]) -> None:
    """What trying again cannot change is told at the first try; with the authority named it plays."""

    def sample(address: str, *words: str) -> tuple[int, str]:
        told = ("--quiet", "--matches=1", "--token-file", "t", "--server", address, *words)
        with started(java, tmp_path, "arena.samples.RandomBot", *told) as bot:
            errors = bot.communicate(timeout=PATIENCE)[1]
        return bot.returncode, (errors.splitlines() or [""])[-1]

    key, cert = certificate(tmp_path)
    secrets = grpc.ssl_server_credentials([(key.read_bytes(), cert.read_bytes())])
    with Peer([one_decision]) as plain:
        without = "leave --tls, --tls-roots, tls() and tlsRoots() out"
        assert sample(plain.address, "--tls") == (4, f"random: the server at {plain.address} has no TLS: {without}")
    with Peer([one_decision], credentials=secrets) as secured:
        address = f"localhost:{secured.port}"
        status, line = sample(address)
        assert (status, line.partition(": --tls")[0]) == (4, f"random: the server at {address} wants TLS")
        status, line = sample(address, "--tls")
        assert (status, line.partition(" (")[0]) == (4, f"random: the certificate of {address} is not trusted")
        assert sample(address, "--tls-roots", str(cert)) == (0, "")
        assert sample(address, "--tls-roots", "nowhere.pem")[0] == 2


@pytest.mark.long
@pytest.mark.parametrize("game", ["sixth_sense", "nullern"])
@pytest.mark.parametrize("sample", SAMPLES)
def test_the_samples_play_rated_matches(tmp_path: Path, java: list[str], sample: str, game: str) -> None:
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        words = [f"arena.samples.{sample}", "--matches", "2", "--server", server.server, "--name", "from-java"]
        with started(java, tmp_path, *words, "--game", game) as player:
            try:
                let_play(server.server, tmp_path, 2, bots=["random"], game=game)
                log = player.communicate(timeout=PATIENCE)[1]
            finally:
                player.kill()
        assert player.returncode == 0, log
        assert log.count(", rating ") == 2
        ran = arena("replay", "verify", "1", "--server", server.server)
        assert ran.exit_code == 0, ran.output


@pytest.mark.long
@pytest.mark.parametrize("sample", SAMPLES)
def test_the_samples_pass_every_check(java: list[str], sample: str) -> None:
    command = [*ARENA, "check", "--", *java, f"arena.samples.{sample}"]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    verdicts = {line.split()[1]: line.split()[0] for line in ran.stdout.splitlines() if line.endswith("?")}
    assert verdicts == dict.fromkeys(CHECKS, "PASS")
