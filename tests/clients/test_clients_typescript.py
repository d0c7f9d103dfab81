"""The SDK for TypeScript as its user meets it: packed, the README's bot on a real server, its thread, how it ends."""

from __future__ import annotations

import os
import re
import shutil
import signal
import subprocess
import threading
import time
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
SOURCE: Final = ROOT / "clients" / "typescript"
README: Final = SOURCE / "README.md"
ADDRESS: Final = "localhost:50051"

pytestmark = [pytest.mark.process, tool("npm")]


@pytest.fixture(scope="module")
def package() -> Path:
    """The package, tested by itself and packed."""
    built("make", "client-typescript", where=ROOT)
    return SOURCE


@pytest.fixture
def project(tmp_path: Path, package: Path) -> Path:
    """The folder of an author who has it installed."""
    modules = tmp_path / "project" / "node_modules"
    (modules / "@types").mkdir(parents=True)
    (modules / "arena-client").symlink_to(package)
    (modules / "@types" / "node").symlink_to(package / "node_modules" / "@types" / "node")
    (modules.parent / "package.json").write_text('{"type": "module"}')
    return modules.parent


def start(project: Path, program: str, *words: str, **env: str) -> subprocess.Popen[str]:
    """Start a bot of an author's own."""
    (project / "bot.mjs").write_text(program)
    home = {**os.environ, "HOME": str(project), **env}
    command = ["node", "bot.mjs", *words]
    return subprocess.Popen(command, cwd=project, env=home, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)


def mine(decide: str, address: str, options: str = "") -> str:
    return f"""
import {{ Bot, run }} from "arena-client";
class Mine extends Bot {{
  version = "1";
  decide(decision) {{ {decide} }}
}}
await run(new Mine(), "{address}", {{ tokenFile: "token", receipts: false, {options} }});
console.log("after the run");
"""


def test_the_generated_code_is_up_to_date(package: Path, tmp_path: Path) -> None:
    buf = shutil.which("buf", path=f"{ROOT / '.venv' / 'bin'}{os.pathsep}{os.environ['PATH']}")
    assert buf, "make setup installs it"
    built(buf, "generate", "-o", tmp_path, where=package)
    made = {path.relative_to(tmp_path): path.read_text() for path in tmp_path.rglob("*.ts")}
    there = {path.relative_to(package): path.read_text() for path in (package / "src" / "v1").rglob("*.ts")}
    assert made == there, "run make proto"


def test_the_packed_file_has_what_is_imported_and_nothing_of_the_tests(package: Path) -> None:
    [packed] = (ROOT / "build" / "client-typescript").glob("arena-client-*.tgz")
    names = subprocess.run(["tar", "tzf", packed], capture_output=True, text=True, check=True).stdout.split()
    assert {"package/dist/src/index.js", "package/dist/src/worker.js", "package/README.md"} <= {*names}
    assert not [name for name in names if "/tests/" in name]


def test_the_bot_of_the_readme_plays_rated_matches_and_keeps_receipts_that_bear_them_out(
    tmp_path: Path, project: Path
) -> None:
    """Compiled as it stands, for the address; then it is stopped as by Ctrl-C."""
    [bot] = re.findall(r"```ts\n(.*?)```", README.read_text(encoding="utf-8"), re.DOTALL)
    assert len([line for line in bot.splitlines() if line.strip()]) <= 10
    assert bot.count(ADDRESS) == 1
    assert bot in first_bots(), "both pages show the same"
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        (project / "bot.ts").write_text(bot.replace(ADDRESS, server.server))
        strict = ["--strict", "--target", "es2022", "--module", "nodenext", "--noImplicitOverride", "--skipLibCheck"]
        built(SOURCE / "node_modules" / ".bin" / "tsc", *strict, "bot.ts", where=project)
        home = {**os.environ, "HOME": str(project)}
        with subprocess.Popen(["node", "bot.js"], cwd=project, env=home, stderr=subprocess.PIPE, text=True) as player:
            try:
                let_play(server.server, tmp_path, 2, bots=["random"])
                player.send_signal(signal.SIGINT)
                log = player.communicate(timeout=PATIENCE)[1]
            finally:
                player.kill()
        assert player.returncode == 0, log
        assert "rating" in log
        assert log.endswith(" stopped\n")
        tokens = project / ".arena" / "tokens"
        ran = arena("replay", "verify", "1", "--receipts", str(tokens), "--server", server.server)
        assert ran.exit_code == 0, ran.output


def test_heartbeats_and_invitations_are_answered_while_a_bot_computes(project: Path) -> None:
    """It computes until a file is there, which the script makes once all was answered."""
    done = project / "done"
    decide = f"while (!existsSync('{done}')); return decision.legal[0];"

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
        done.touch()
        assert [answer.decision_id for answer in talk.next().answers] == [1]
        yield reports(1, 2, 3, 4)
        talk.wait_for_goodbye()

    with Peer([script]) as peer:
        program = 'import { existsSync } from "node:fs";' + mine(decide, peer.address, "matches: 4")
        with start(project, program) as bot:
            out, errors = bot.communicate(timeout=PATIENCE)
    assert (out, bot.returncode) == ("after the run\n", 0), errors


def test_what_an_old_stream_asked_is_not_answered_on_the_new_one(project: Path) -> None:
    """The bot computes while its stream breaks and the next one asks again."""
    begun, done = project / "begun", project / "done"
    begin = f"console.log(decision.decisionId); writeFileSync('{begun}', '');"
    decide = f"{begin} while (!existsSync('{done}')); return decision.legal[0];"

    def before(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield asks((1, 1))
        yield asks((2, 2))
        yield play_pb2.PlayResponse(heartbeat=1)
        talk.next()
        end = time.monotonic() + PATIENCE
        while not begun.exists():  # heartbeats are answered before the bot begins to compute
            assert time.monotonic() < end, "the bot never began"
            time.sleep(0.01)
        talk.fail(grpc.StatusCode.UNAVAILABLE, "not now")

    def after(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        assert list(talk.next().hello.playing) == [1, 2]
        yield welcome()
        yield asks((1, 1), (2, 2))
        yield play_pb2.PlayResponse(heartbeat=2)
        assert talk.next().heartbeat == 2
        done.touch()
        assert [answer.decision_id for answer in talk.next().answers] == [1, 2]
        yield reports(1, 2)
        talk.wait_for_goodbye()

    with Peer([before, after]) as peer:
        program = 'import { existsSync, writeFileSync } from "node:fs";' + mine(decide, peer.address, "matches: 2")
        with start(project, program) as bot:
            out, errors = bot.communicate(timeout=PATIENCE)
    assert (out, bot.returncode) == ("1\n1\n2\nafter the run\n", 0), errors


@pytest.mark.parametrize("signals", [1, 2])
def test_the_first_signal_finishes_and_the_second_leaves(project: Path, signals: int) -> None:
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

    with Peer([script]) as peer, start(project, mine("return decision.legal[0];", peer.address)) as bot:
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
    ("decide", "told", "status", "line"),
    [
        ("return 99;", {}, 1, r"Mine: answer 1 of 1 is 99, which is not legal here; decision.legal is \[0, 1, 2\]"),
        ("throw new Error('my own fault');", {}, 1, r"Error: my own fault"),
        ("return 0;", {"ARENA_DRAIN": "soon"}, 2, r"Mine: ARENA_DRAIN is 'soon': it takes seconds from 0 to 30"),
        ("return 0;", {"ARENA_TOKEN": "wrong"}, 3, r"Mine: the server refuses the token: no bot has this token"),
    ],
    ids=["illegal", "error", "argument", "refused"],
)
def test_what_a_program_ends_with(project: Path, decide: str, told: dict[str, str], status: int, line: str) -> None:
    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield asks((1, 1))
        list(talk.requests)

    with Peer([script]) as peer, start(project, mine(decide, peer.address), **told) as bot:
        out, errors = bot.communicate(timeout=PATIENCE)
    assert (out, bot.returncode) == ("", status), errors
    assert re.search(rf"^{line}$", errors, re.MULTILINE), errors
    assert ("in match 1 of sixth_sense, round 1, decision 1; legal: [0, 1, 2]; view: " in errors) is (status == 1)


@pytest.mark.parametrize(
    ("words", "status", "line"),
    [
        (["--server", "localhost"], 2, "random: the address 'localhost' is not of the form HOST:PORT; "),
        (["--capacity", "many"], 2, "random_bot.js: --capacity is 'many': it takes a number; see --help"),
        (["--colour", "red"], 2, "random_bot.js: Unknown option '--colour'"),
        (
            ["--server", "127.0.0.1:1", "--give-up-after", "0", "--token", "t"],
            4,
            "random: no connection to 127.0.0.1:1: ",
        ),
    ],
    ids=["address", "number", "option", "nobody"],
)
def test_a_sample_says_what_is_wrong_and_has_a_status(package: Path, words: list[str], status: int, line: str) -> None:
    command = ["node", str(package / "dist" / "samples" / "random_bot.js"), "--quiet", *words]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ran.returncode == status, ran.stderr
    assert ran.stderr.splitlines()[-1].startswith(line)


def test_tls_and_what_is_in_its_way(package: Path, tmp_path: Path) -> None:
    """What trying again cannot change is told at the first try; with the authority named it plays."""

    def sample(address: str, *words: str) -> subprocess.CompletedProcess[str]:
        program = str(package / "dist" / "samples" / "random_bot.js")
        command = ["node", program, "--quiet", "--matches=1", "--token-file", "t", "--server", address, *words]
        return subprocess.run(
            command, cwd=tmp_path, capture_output=True, text=True, timeout=PATIENCE, check=False
        )  # fmt: skip

    key, cert = certificate(tmp_path)
    secrets = grpc.ssl_server_credentials([(key.read_bytes(), cert.read_bytes())])
    with Peer([one_decision]) as plain:
        ran = sample(plain.address, "--tls")
        assert ran.returncode == 4
        told = ran.stderr.splitlines()[-1]  # gRPC warns of names that are addresses
        assert told == f"random: the server at {plain.address} has no TLS: leave --tls, --tls-roots and tls out"
    with Peer([one_decision], credentials=secrets) as secured:
        address = f"localhost:{secured.port}"
        for words, line in (
            ([], f"the server at {address} wants TLS: --tls "),
            (["--tls"], f"the certificate of {address} "),
        ):
            ran = sample(address, *words)
            assert ran.returncode == 4, ran.stderr
            assert ran.stderr.splitlines()[-1].startswith(f"random: {line}")
        ran = sample(address, "--tls-roots", str(cert))
        assert ran.returncode == 0, ran.stderr
        assert sample(address, "--tls-roots", "nowhere.pem").returncode == 2


@pytest.mark.long
@pytest.mark.parametrize("sample", ["random_bot", "rule_bot"])
def test_the_samples_pass_every_check(package: Path, sample: str) -> None:
    command = [*ARENA, "check", "--", "node", str(package / "dist" / "samples" / f"{sample}.js")]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    verdicts = {line.split()[1]: line.split()[0] for line in ran.stdout.splitlines() if line.endswith("?")}
    assert verdicts == dict.fromkeys(CHECKS, "PASS")
