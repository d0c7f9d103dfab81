"""The SDK for Rust as its user meets it: the README's bot on a real server, its samples, and how they end."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import grpc
import pytest
from arena_client.v1 import play_pb2
from client_tests.peer import PATIENCE, Peer, Talk, asks, invites, reports, starts, welcome
from client_tests.test_client_programs import one_decision

from arena.local.check.checks import CHECKS
from tests.cli.cli_rig import ARENA, arena, let_play, serving
from tests.documents import first_bots
from tests.interop.interop_rig import built, tool

ROOT: Final = Path(__file__).parents[2]
SOURCE: Final = ROOT / "clients" / "rust"
BUILD: Final = ROOT / "build" / "client-rust"
README: Final = SOURCE / "README.md"
SAMPLES: Final = ("random", "rules")

MINE: Final = """use arena_client::{Bot, Decision, Options, Profile, run, told};

struct Mine;

impl Bot for Mine {
    fn profile(&self) -> Profile {
        Profile { version: "1".into(), ..Profile::new("mine", &[]) }
    }
    fn decide(&mut self, decision: &Decision) -> usize {
        match std::env::var("DECIDES").as_deref() {
            Ok("illegal") => return 99,
            Ok("error") => panic!("my own fault"),
            Ok("later") => while !std::path::Path::new("done").exists() {},
            Ok("never") => loop {
                std::hint::black_box(decision);
            },
            _ => {}
        }
        decision.legal[0]
    }
}

fn main() -> std::process::ExitCode {
    let options = Options { token_file: Some("token".into()), matches: 1, ..Options::default() };
    let ended = run(Mine, "", &options);
    println!("after the run");
    told("mine", &ended)
}
"""

pytestmark = [pytest.mark.process, tool("cargo")]


@pytest.fixture(scope="module")
def samples() -> Path:
    """The folder of the samples, once the crate has passed its own tests and all conversations."""
    built("make", "client-rust", where=ROOT)
    return BUILD


@pytest.fixture(scope="module")
def project(tmp_path_factory: pytest.TempPathFactory, samples: Path) -> Path:
    """The crate of an author, made as the README says, with the versions that are there already."""
    folder = tmp_path_factory.mktemp("rust")
    [command] = re.findall(r"^cargo new .*$", README.read_text(encoding="utf-8"), re.MULTILINE)
    assert "--path ../arena/clients/rust" in command
    command = command.replace("../arena/clients/rust", str(SOURCE))
    built("sh", "-c", command, where=folder, CARGO_NET_OFFLINE="true")
    shutil.copy(SOURCE / "Cargo.lock", folder / "my-bot")
    with (folder / "my-bot" / "Cargo.toml").open("a") as manifest:
        manifest.write("\n[profile.dev]\ndebug = false\n")  # as what is compiled already
    return folder / "my-bot"


def compiled(project: Path, program: str, name: str) -> Path:
    """A bot of an author's own."""
    (project / "src" / "main.rs").write_text(program)
    built("cargo", "build", "--offline", where=project, CARGO_TARGET_DIR=str(BUILD))
    shutil.copy(BUILD / "debug" / "my-bot", project / name)
    return project / name


@pytest.fixture(scope="module")
def mine(project: Path) -> Path:
    """A bot that does what `DECIDES` says."""
    return compiled(project, MINE, "mine")


def started(program: Path, folder: Path, *words: str, **env: str) -> subprocess.Popen[str]:
    home = {**os.environ, "HOME": str(folder), **env}
    command = [str(program), *words]
    return subprocess.Popen(command, cwd=folder, env=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


@pytest.mark.long
def test_the_generated_code_is_up_to_date(tmp_path: Path) -> None:
    command = ("cargo", "run", "--locked", "--package", "generate", "--", ROOT / "proto", tmp_path)
    built(*command, where=SOURCE, CARGO_TARGET_DIR=str(BUILD))
    made = {path.name: path.read_bytes() for path in tmp_path.iterdir()}
    there = {path.name: path.read_bytes() for path in (SOURCE / "src" / "v1").iterdir()}
    assert made == there, "run make proto"


def test_the_bot_of_the_readme_plays_rated_matches_and_keeps_receipts_that_bear_them_out(
    tmp_path: Path, project: Path
) -> None:
    """Compiled as it stands, in a crate of its own; stopped as by Ctrl-C, it comes back to a log that has grown."""
    [bot] = re.findall(r"```rust\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len([line for line in bot.splitlines() if line.strip()]) <= 14
    assert bot in first_bots(), "both pages show the same"
    program = compiled(project, bot, "readme")
    tokens = tmp_path / ".arena" / "tokens"

    def played() -> str:
        with started(program, tmp_path, "--server", server.server) as player:
            try:
                let_play(server.server, tmp_path, 1, bots=["random"])
                player.send_signal(signal.SIGINT)
                log = player.communicate(timeout=PATIENCE)[1]
            finally:
                player.kill()
        assert player.returncode == 0, log
        assert ", rating " in log
        assert log.endswith(" stopped\n")
        return log

    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        for log in (played(), played()):
            assert "log of results" not in log.lower(), "nothing is said of it"
        [kept] = tokens.glob("*.receipts")
        lines = [json.loads(line) for line in kept.read_text().splitlines()]
        first, second = (line["head"]["size"] for line in lines if "arena_receipts" in line)
        assert first < second, "the log of each welcome is recorded"
        for match in {line["match"] for line in lines if "match" in line}:
            ran = arena("replay", "verify", str(match), "--receipts", str(tokens), "--server", server.server)
            assert ran.exit_code == 0, ran.output


def test_heartbeats_and_invitations_are_answered_while_a_bot_computes(tmp_path: Path, mine: Path) -> None:
    """It computes until a file is there, which the script makes once all was answered."""

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
        (tmp_path / "done").touch()
        assert [answer.decision_id for answer in talk.next().answers] == [1]
        yield reports(1)
        talk.wait_for_goodbye()

    with Peer([script]) as peer, started(mine, tmp_path, ARENA_SERVER=peer.address, DECIDES="later") as bot:
        out, errors = bot.communicate(timeout=PATIENCE)
    assert (out, bot.returncode) == ("after the run\n", 0), errors


def test_the_second_signal_leaves_even_where_the_bot_computes_for_ever(tmp_path: Path, mine: Path) -> None:
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

    with Peer([script]) as peer, started(mine, tmp_path, ARENA_SERVER=peer.address, DECIDES="never") as bot:
        try:
            out, errors = bot.communicate(timeout=PATIENCE)
        finally:
            bot.kill()
    assert (out, bot.returncode) == ("after the run\n", 0), errors


def test_what_a_program_ends_with(tmp_path: Path, mine: Path) -> None:
    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield asks((1, 1))
        list(talk.requests)

    for told, status, line in (
        (
            {"DECIDES": "illegal"},
            1,
            r"mine: answer 1 of 1 is 99, which is not legal here; decision.legal is \[0, 1, 2\]",
        ),
        ({"DECIDES": "error"}, 1, r"mine: the bot panicked: my own fault"),
        ({"ARENA_DRAIN": "soon"}, 2, r"mine: ARENA_DRAIN is 'soon': it takes seconds from 0 to 30"),
        ({"ARENA_TOKEN": "wrong"}, 3, r"mine: the server refuses the token: no bot has this token"),
        ({"ARENA_SERVER": "nowhere"}, 2, r"mine: the address 'nowhere' is not of the form HOST:PORT; .*"),
    ):
        (tmp_path / "token").unlink(missing_ok=True)
        with Peer([script]) as peer, started(mine, tmp_path, **{"ARENA_SERVER": peer.address, **told}) as bot:
            out, errors = bot.communicate(timeout=PATIENCE)
        assert (out, bot.returncode) == ("after the run\n", status), errors
        assert re.search(rf"^{line}$", errors, re.MULTILINE), errors
        assert ("in match 1 of sixth_sense, round 1, decision 1; legal: [0, 1, 2]; view: " in errors) is (status == 1)


@pytest.mark.parametrize(
    ("words", "status", "line"),
    [
        (["--capacity", "many"], 2, "random: --capacity is 'many': it takes 1 or more; see --help"),
        (["--colour", "red"], 2, "random: there is no option --colour; see --help"),
        (["--on-error", "die"], 2, "random: --on-error is 'die': it takes raise or continue; see --help"),
        (["--server", "127.0.0.1:1", "--give-up-after=0", "--token", "t"], 4, "random: no connection to 127.0.0.1:1"),
    ],
    ids=["number", "option", "choice", "nobody"],
)  # fmt: skip
def test_a_sample_says_what_is_wrong_and_has_a_status(samples: Path, words: list[str], status: int, line: str) -> None:
    command = [str(samples / "random"), "--quiet", *words]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ran.returncode == status, ran.stderr
    assert ran.stderr.splitlines()[-1].startswith(line)


def test_tls_and_what_is_in_its_way(samples: Path, tmp_path: Path) -> None:
    """What trying again cannot change is told at the first try; with the authority named it plays."""

    def sample(address: str, *words: str) -> subprocess.CompletedProcess[str]:
        command = [str(samples / "random"), "--quiet", "--matches=1", "--token-file", "t", "--server", address, *words]
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
        )  # fmt: skip

    assert arena("cert", tmp_path / "tls").exit_code == 0  # none of an authority, which rustls takes for no server's
    key, cert = tmp_path / "tls" / "key.pem", tmp_path / "tls" / "cert.pem"
    secrets = grpc.ssl_server_credentials([(key.read_bytes(), cert.read_bytes())])
    with Peer([one_decision]) as plain:
        ran = sample(plain.address, "--tls")
        assert ran.returncode == 4, ran.stderr
        told = f"random: the server at {plain.address} has no TLS: leave --tls, --tls-roots, `tls` and `tls_roots` out"
        assert ran.stderr.splitlines()[-1] == told
    with Peer([one_decision], credentials=secrets) as secured:
        address = f"localhost:{secured.port}"
        for words, line in (
            ([], f"the server at {address} wants TLS: --tls "),
            (["--tls"], f"the certificate of {address} is not trusted "),
        ):
            ran = sample(address, *words)
            assert ran.returncode == 4, ran.stderr
            assert ran.stderr.splitlines()[-1].startswith(f"random: {line}")
        ran = sample(address, "--tls-roots", str(cert))
        assert ran.returncode == 0, ran.stderr
        assert sample(address, "--tls-roots", "nowhere.pem").returncode == 2


@pytest.mark.long
@pytest.mark.parametrize("sample", SAMPLES)
def test_the_samples_play_rated_matches(tmp_path: Path, samples: Path, sample: str) -> None:
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        words = ["--matches", "2", "--server", server.server, "--name", "from-rust"]
        with started(samples / sample, tmp_path, *words) as player:
            try:
                let_play(server.server, tmp_path, 2, bots=["random"])
                log = player.communicate(timeout=PATIENCE)[1]
            finally:
                player.kill()
        assert player.returncode == 0, log
        assert log.count(", rating ") == 2
        ran = arena("replay", "verify", "1", "--server", server.server)
        assert ran.exit_code == 0, ran.output


@pytest.mark.long
@pytest.mark.parametrize("sample", SAMPLES)
def test_the_samples_pass_every_check(samples: Path, sample: str) -> None:
    command = [*ARENA, "check", "--", str(samples / sample)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    verdicts = {line.split()[1]: line.split()[0] for line in ran.stdout.splitlines() if line.endswith("?")}
    assert verdicts == dict.fromkeys(CHECKS, "PASS")
