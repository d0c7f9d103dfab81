"""The SDKs as their users use them: the README's bot on a real server, samples, threads, and program exits."""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import threading
import time
import zipfile
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Final, TypeAlias

import grpc
import pytest
from arena_client.v1 import play_pb2
from client_tests.peer import PATIENCE, Peer, Talk, asks, begun, invites, notice, reports, starts, welcome
from client_tests.test_client_connection import certificate
from client_tests.test_client_programs import one_decision

from arena.local.check.checks import CHECKS
from tests.cli.cli_rig import ARENA, arena, let_play, serving
from tests.clients.sdks import ALIKE, SDKS, Command, Python, Sdk, started
from tests.documents import ROOT, first_bots
from tests.interop.interop_rig import built, tool

GAMES: Final = ("sixth_sense", "nullern")
LONG: Final = ("cpp",)
"""The SDKs whose build takes minutes."""

RUST: Final = re.MULTILINE | re.DOTALL
Mine: TypeAlias = Callable[..., subprocess.Popen[str]]

pytestmark = pytest.mark.process


def of_each(*names: str, long: Sequence[str] = LONG) -> pytest.MarkDecorator:
    """Run a test with each SDK, or with the named ones; skip those whose tools are not installed."""
    return pytest.mark.parametrize(
        "name",
        [
            pytest.param(name, marks=[*map(tool, SDKS[name].tools), *[pytest.mark.long] * (name in long)])
            if name in SDKS
            else name
            for name in names or SDKS
        ],
    )


@pytest.fixture(scope="module")
def sdks(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sdk]:
    """Each requested SDK, built once, after its own tests and all conversations have passed."""

    class Built(dict[str, Sdk]):
        def __missing__(self, name: str) -> Sdk:
            self[name] = {**SDKS, Python.name: Python}[name](tmp_path_factory.mktemp(name))
            return self[name]

    return Built()


@pytest.fixture
def sdk(sdks: dict[str, Sdk], name: str) -> Sdk:
    return sdks[name]


@pytest.fixture
def mine(sdk: Sdk, tmp_path: Path) -> Mine:
    """Start an author's bot that plays a number of matches as the arguments describe."""

    def start(peer: Peer, decides: str, matches: int = 0, **env: str) -> subprocess.Popen[str]:
        told = {"ARENA_SERVER": peer.address, "DECIDES": decides, "MATCHES": str(matches)}
        return started(sdk.mine_command(), tmp_path, **{**told, **env})

    return start


def played(command: Command, folder: Path, words: Sequence[str], server: str, **others: Any) -> str:
    """Return the log of a program that has played with others, and has ended by itself or after Ctrl-C."""
    matches = others.pop("matches")
    with started(command, folder, *words, ARENA_SERVER=server) as player:
        try:
            let_play(server, folder, matches, **{"bots": ["random"], **others})
            if "--matches" not in words:
                player.send_signal(signal.SIGINT)
            log = player.communicate(timeout=PATIENCE)[1]
        finally:
            player.kill()
    assert player.returncode == 0, log
    return log


def wait_for(file: Path) -> None:
    end = time.monotonic() + PATIENCE
    while not file.exists():
        assert time.monotonic() < end, f"there is no {file.name}"
        time.sleep(0.01)


def lines_of(receipts: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in receipts.read_text(encoding="utf-8").splitlines()]


def logs_in(receipts: Path) -> list[int]:
    """Return the sizes of the server's log that the file records, one per Welcome message."""
    return [line["head"]["size"] for line in lines_of(receipts) if "arena_receipts" in line]


def verified(match: int, server: str, *words: object) -> Any:
    """Return the result of `arena replay verify` for a match."""
    ran = arena("replay", "verify", match, *words, "--server", server, "--json")
    assert ran.exit_code == 0, ran.output
    said = json.loads(ran.stdout)
    assert said["verified"], said
    return said


@of_each("typescript", "go", "rust", long=("go", "rust"))
def test_the_generated_code_is_up_to_date(sdk: Sdk, tmp_path: Path) -> None:
    made, there = (
        {path.relative_to(folder): path.read_bytes() for path in folder.rglob("*.*") if path.is_file()}
        for folder in sdk.generated(tmp_path)
    )
    assert made == there, "run make proto"


@of_each("typescript")
def test_the_packed_file_has_what_is_imported_and_nothing_of_the_tests(sdk: Sdk) -> None:
    [packed] = sdk.build.glob("arena-client-*.tgz")
    names = subprocess.run(["tar", "tzf", packed], capture_output=True, text=True, check=True).stdout.split()
    assert {"package/dist/src/index.js", "package/dist/src/worker.js", "package/README.md"} <= {*names}
    assert not [name for name in names if "/tests/" in name]


@of_each("typescript")
def test_a_bundle_needs_worker_js_beside_it_and_says_so(sdk: Sdk, tmp_path: Path) -> None:
    """Copy the modules into one folder, as a bundler does, at first without worker.js."""
    assert "A bundle needs a second file, worker.js" in (sdk.source / "README.md").read_text(encoding="utf-8")
    out = tmp_path / "out"
    shutil.copytree(sdk.source / "dist" / "src", out, ignore=shutil.ignore_patterns("worker.js"))
    (out / "node_modules").symlink_to(sdk.source / "node_modules")
    (out / "package.json").write_text('{"type": "module"}')
    (out / "mine.js").write_text(sdk.mine.replace('"arena-client"', '"./index.js"'))
    command = ("node", str(out / "mine.js"))
    with Peer([one_decision]) as peer:
        env = {"ARENA_SERVER": peer.address, "MATCHES": "1"}
        with started(command, tmp_path, **env) as lacking:
            errors = lacking.communicate(timeout=PATIENCE)[1]
        needed = f"there is no {out / 'worker.js'}: a bundle needs arena-client/worker beside it, as worker.js"
        assert needed in errors
        assert lacking.returncode == 2
        worker = json.loads((sdk.source / "package.json").read_text(encoding="utf-8"))["exports"]["./worker"]["default"]
        shutil.copy(sdk.source / worker, out)
        with started(command, tmp_path, **env) as bundled:
            errors = bundled.communicate(timeout=PATIENCE)[1]
        assert bundled.returncode == 0, errors


@of_each("rust")
def test_a_bot_that_lists_all_of_what_may_grow_does_not_compile(sdk: Sdk) -> None:
    """The author's project lists all public fields of a struct without `..` and all variants of an enum without `_`."""
    program, expected = ["use arena_client::*;", "fn main() {}"], {}
    places = {
        "decision": "",
        "errors": "",
        "sixth_sense": "sixth_sense::",
        "nullern": "nullern::",
        "v1/arena.v1": "v1::",
    }
    growing = r"#\[non_exhaustive\]\n(?:#\[derive[^\n]*\n)?pub (struct|enum) (\w+) \{\n(.*?)^\}"
    for file, where in places.items():
        source = (sdk.source / "src" / f"{file}.rs").read_text(encoding="utf-8")
        for kind, name, body in re.findall(growing, source, RUST):
            if kind == "struct":
                fields = "".join(f"{field}: _, " for field in re.findall(r"^    pub (\w+):", body, re.MULTILINE))
                line, error = f"let {where}{name} {{ {fields}}} = given;", "E0638"
            else:
                variants = re.findall(r"^    (\w+)(\(?)", body, re.MULTILINE)
                arms = "".join(f"{name}::{variant}{'(_)' * bool(inside)} => (), " for variant, inside in variants)
                line, error = f"match given {{ {arms}}}", "E0004"
            program.append(f"fn f{len(program)}(given: {where}{name}) {{ {line} }}")
            expected[len(program)] = error
    assert sorted(expected.values()) == ["E0004"] * 2 + ["E0638"] * 6
    sdk.mine_command()
    project = sdk.folder / "mine" / "my-bot"
    (project / "src" / "main.rs").write_text("\n".join(program))
    env = {**os.environ, "CARGO_TARGET_DIR": str(sdk.build)}
    command = ("cargo", "build", "--offline", "--message-format", "short")
    ran = subprocess.run(command, cwd=project, env=env, capture_output=True, text=True, timeout=PATIENCE, check=False)
    found = re.findall(r"^src/main\.rs:(\d+):\d+: error\[(E\d+)\]", ran.stderr, re.MULTILINE)
    assert {int(line): error for line, error in found} == expected, ran.stderr


@of_each("java")
def test_a_bot_can_be_a_module_and_the_sources_lie_beside_the_jar(sdk: Sdk, tmp_path: Path) -> None:
    (tmp_path / "module-info.java").write_text("module mine { requires arena.client; requires jdk.unsupported; }")
    (tmp_path / "Mine.java").write_text(f"package mine;\n{sdk.mine.replace('class Mine', 'public class Mine')}")
    path = f"{sdk.build}/arena-client.jar:{sdk.build}/jars"
    built("javac", "-p", path, "-d", "out", "module-info.java", "Mine.java", where=tmp_path)
    words = ("java", "-p", f"{path}:out", "-m", "mine/mine.Mine")
    with started(words, tmp_path, ARENA_SERVER="nowhere", MATCHES="1") as program:
        assert "mine: BAD_ARGUMENT: the address 'nowhere' is not" in program.communicate(timeout=PATIENCE)[1]
    with zipfile.ZipFile(sdk.build / "arena-client-sources.jar") as sources:
        assert {"arena/client/Bot.java", "arena/v1/Decision.java"} <= {*sources.namelist()}


@of_each()
def test_the_bot_of_the_readme_plays_rated_matches_and_keeps_receipts_that_bear_them_out(
    sdk: Sdk, tmp_path: Path
) -> None:
    """The bot compiles unchanged in its own project. After a stop as by Ctrl-C, it returns to a longer log."""
    bot = sdk.shown(sdk.fence)
    assert len([line for line in bot.splitlines() if line.strip()]) <= sdk.lines
    assert bot in first_bots(), "both pages show the same"
    program = sdk.readme_bot()
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        for _ in range(2):
            log = played(program, tmp_path, [], server.server, matches=1)
            assert ", rating " in log
            assert log.endswith(" stopped\n")
            assert "log of results" not in log.lower(), "nothing is said of it"
        tokens = tmp_path / ".arena" / "tokens"
        token, receipts = sorted(tokens.iterdir())
        assert receipts.name == f"{token.name}.receipts"
        assert [each.stat().st_mode & 0o777 for each in (token, receipts)] == [0o600, 0o600]
        assert [len(line.get("nonce", "")) for line in lines_of(receipts)] == [0, 32, 0, 32]
        first, second = logs_in(receipts)
        assert first < second, "the log of each welcome is recorded"
        for match in (1, 2):
            assert verified(match, server.server, "--receipts", tokens)["receipt"]["file"] == str(receipts)


@pytest.mark.long
@of_each("typescript", "cpp", "rust", "java")
def test_the_log_of_each_welcome_is_recorded_and_none_with_other_keys(sdk: Sdk, tmp_path: Path) -> None:
    """A bot returns to its server after other bots' matches, and then to a server with another key."""

    def plays(server: str, token: str) -> str:
        words = ["--matches", "1", "--capacity", "1", "--name", "it", "--token-file", token]
        return played(sdk.sample(1), tmp_path, words, server, matches=1)

    here, there = (tmp_path / f"{name}.token.receipts" for name in ("here", "there"))
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        logs = [plays(server.server, "here.token")]
        let_play(server.server, tmp_path, 2, bots=["random", "rules"])
        logs.append(plays(server.server, "here.token"))
        assert logs_in(here) == [1, 4], "a leaf for the key, and one for each of three matches"
        assert not any("log of results" in log.lower() for log in logs), logs
        for match in (1, 4):
            assert verified(match, server.server, "--receipts", here)["receipt"]["file"] == str(here)
    here.rename(there)
    for token in tmp_path.glob("random.token*"):
        token.unlink()
    with serving(tmp_path / "other", "--no-house", "--seats", "2") as server:
        plays(server.server, "there.token")
        assert logs_in(there) == [1, 4], "the first log's keys stay"
        ran = arena("replay", "verify", "1", "--receipts", there, "--server", server.server)
        assert ran.exit_code == 1, ran.output
        assert "its head is not signed by the key of the log" in " ".join(ran.output.split())


@of_each(*SDKS, Python.name)
def test_heartbeats_and_invitations_are_answered_while_a_bot_computes(sdk: Sdk, tmp_path: Path, mine: Mine) -> None:
    """The bot computes until a file exists. The script creates the file after the last answer."""

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield asks((1, 1), heartbeat=1)
        assert talk.next() == play_pb2.PlayRequest(heartbeat=1)
        for number in (2, 3, 4):
            yield play_pb2.PlayResponse(heartbeat=number)
            assert talk.next() == play_pb2.PlayRequest(heartbeat=number)
            yield invites(number)
            if number == 4:
                assert list(talk.next().declined) == [4], "it wants three matches"
                continue
            assert [ready.invitation_id for ready in talk.next().ready] == [number]
            yield starts(number)
        (tmp_path / "done").touch()
        assert [answer.decision_id for answer in talk.next().answers] == [1]
        yield reports(1, 2, 3)
        talk.wait_for_goodbye()

    with Peer([script]) as peer, mine(peer, "later", matches=3) as bot:
        out, errors = bot.communicate(timeout=PATIENCE)
    assert (out, bot.returncode) == ("1\nafter the run\n", 0), errors


@of_each(*SDKS, Python.name)
def test_what_an_old_stream_asked_is_not_answered_on_the_new_one(sdk: Sdk, tmp_path: Path, mine: Mine) -> None:
    """The bot computes while its stream breaks, and the next stream repeats the question."""

    def before(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield asks((1, 1))
        yield asks((2, 2))
        yield play_pb2.PlayResponse(heartbeat=1)
        talk.next()
        wait_for(tmp_path / "begun")  # heartbeats have been answered before the bot begins to compute
        talk.fail(grpc.StatusCode.UNAVAILABLE, "not now")

    def after(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield asks((1, 1), (2, 2))
        yield play_pb2.PlayResponse(heartbeat=2)
        assert talk.next().heartbeat == 2
        (tmp_path / "done").touch()
        answered: list[int] = []
        while len(answered) < 2:
            answered += [answer.decision_id for answer in talk.next().answers]
        assert answered == [1, 2]
        yield reports(1, 2)
        talk.wait_for_goodbye()

    with Peer([before, after]) as peer, mine(peer, "later", matches=2) as bot:
        out, errors = bot.communicate(timeout=PATIENCE)
    assert (out, bot.returncode) == ("1\n1\n2\nafter the run\n", 0), errors


@of_each(*SDKS, Python.name)
def test_a_bot_that_computes_is_asked_for_no_decision_that_was_made_meanwhile(
    sdk: Sdk, tmp_path: Path, mine: Mine
) -> None:
    """While the bot computes, it is suspended in one match and another match ends. Then it sends its late answer."""

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield asks((1, 1))
        wait_for(tmp_path / "begun")
        yield asks((1, 2), (2, 3))
        made = [play_pb2.ClosedDecision(match_id=1, decision_id=number) for number in (1, 2)]
        suspended = play_pb2.Notice(kind=play_pb2.NoticeKind.NOTICE_KIND_SUSPENDED, match_id=1, text="too late")
        yield play_pb2.PlayResponse(closed=made, notices=[suspended])
        yield reports(2)
        yield asks((1, 4), heartbeat=1)
        assert talk.next() == play_pb2.PlayRequest(heartbeat=1)
        time.sleep(0.02)  # the TypeScript SDK receives messages only after decisions of at least 10 ms
        (tmp_path / "done").touch()
        for wanted in (
            play_pb2.PlayRequest(answers=[play_pb2.Answer(match_id=1, decision_id=1)]),
            play_pb2.PlayRequest(resumed=[1]),
            play_pb2.PlayRequest(answers=[play_pb2.Answer(match_id=1, decision_id=4)]),
        ):
            assert talk.next() == wanted
        yield reports(1)
        talk.wait_for_goodbye()

    with Peer([script]) as peer, mine(peer, "later", matches=2) as bot:
        out, errors = bot.communicate(timeout=PATIENCE)
    assert (out, bot.returncode) == ("1\n4\nafter the run\n", 0), errors


@pytest.mark.parametrize("signals", [1, 2])
@of_each(*SDKS, Python.name)
def test_the_first_signal_finishes_and_the_second_leaves(sdk: Sdk, mine: Mine, signals: int) -> None:
    playing, told = threading.Event(), threading.Event()
    heard: list[play_pb2.PlayRequest] = []

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        yield from begun(talk, 1)
        playing.set()
        heard.append(talk.next())
        told.set()
        if signals == 1:
            yield asks((1, 1))
        heard.append(talk.next())
        if signals == 1:
            yield reports(1)
            talk.wait_for_goodbye()

    with Peer([script]) as peer, mine(peer, "first") as bot:
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


@of_each("go", "rust", "java", Python.name)
def test_the_second_signal_leaves_even_where_the_bot_computes_for_ever(sdk: Sdk, mine: Mine) -> None:
    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        yield from begun(talk, 1)
        yield asks((1, 1), heartbeat=1)
        talk.next()
        bot.send_signal(signal.SIGINT)
        assert talk.next() == play_pb2.PlayRequest(capacity=0)
        bot.send_signal(signal.SIGINT)
        assert talk.next() == play_pb2.PlayRequest(leave=True)

    with Peer([script]) as peer, mine(peer, "never", matches=1) as bot:
        try:
            out, errors = bot.communicate(timeout=PATIENCE)
        finally:
            bot.kill()
    assert (out, bot.returncode) == ("after the run\n", 0), errors


@of_each(*SDKS, Python.name, long=("cpp", "java"))
def test_what_a_program_ends_with(sdk: Sdk, tmp_path: Path, mine: Mine) -> None:
    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield asks((1, 1))
        list(talk.requests)

    answer, _, argument, refused = (f"{sdk.bot}: {kind}" for kind in sdk.kinds)
    for decides, env, status, line in (
        ("illegal", {}, 1, f"{answer}answer 1 of 1 is 99, which is not legal here; {sdk.legal}"),
        ("error", {}, 1, sdk.error),
        ("first", {"ARENA_DRAIN": "soon"}, 2, f"{argument}ARENA_DRAIN is 'soon': it takes seconds from 0 to 30"),
        ("first", {"ARENA_TOKEN": "wrong"}, 3, f"{refused}the server refuses the token: no bot has this token"),
        ("first", {"ARENA_SERVER": "nowhere"}, 2, f"{argument}the address 'nowhere' is not of the form HOST:PORT; .*"),
    ):
        (tmp_path / "token").unlink(missing_ok=True)
        with Peer([script]) as peer, mine(peer, decides, matches=1, **env) as bot:
            out, errors = bot.communicate(timeout=PATIENCE)
        assert (out, bot.returncode) == (sdk.printed_after_failure, status), errors
        assert re.search(rf"^{line}$", errors, re.MULTILINE), errors
        where = re.search(r"in match 1 of sixth_sense, round 1, decision 1; legal: \[0,? 1,? 2\]; view: ", errors)
        assert (where is not None) is (status == 1)

    def parking(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield notice(play_pb2.NoticeKind.NOTICE_KIND_PARKED, text="it is parked: it was late; mend it, then: `x`")
        talk.wait_for_goodbye()

    with Peer([parking]) as peer, mine(peer, "first") as bot:
        errors = bot.communicate(timeout=PATIENCE)[1]
    remedy = rf"arena-bot unpark bot --server {peer.address} --token-file \S*token{sdk.where_to_unpark}"
    assert re.search(f"it is parked: it was late. Mend it, then un-park it: {remedy}", errors), errors
    assert bot.returncode == 3


@of_each(long=("cpp", "java"))
def test_a_sample_says_what_is_wrong_and_has_a_status(sdk: Sdk, tmp_path: Path) -> None:
    for words, status, line in (*sdk.wrong, *ALIKE):
        with started(sdk.sample(0), tmp_path, "--quiet", *words) as bot:
            errors = bot.communicate(timeout=PATIENCE)[1]
        assert bot.returncode == status, errors
        assert re.fullmatch(line, errors.splitlines()[-1]), errors


@of_each("cpp")
def test_the_installed_package_needs_no_checkout_and_has_a_version(sdk: Sdk, tmp_path: Path) -> None:
    prefix, project = tmp_path / "prefix", tmp_path / "project"
    project.mkdir()
    built("cmake", "--install", sdk.build, "--prefix", prefix, where=project)
    assert not [path for path in prefix.rglob("*.cmake") if str(ROOT) in path.read_text(encoding="utf-8")]
    shutil.copy(sdk.source / "samples" / "random_bot.cc", project / "bot.cc")
    for version, found in (("9", False), ("0.1", True)):
        lists = sdk.shown("cmake").replace("find_package(arena_client", f"find_package(arena_client {version}")
        (project / "CMakeLists.txt").write_text(lists, encoding="utf-8")
        command = ["cmake", "-S", ".", "-B", "build", f"-DCMAKE_PREFIX_PATH={prefix}"]
        ran = subprocess.run(command, cwd=project, capture_output=True, text=True, timeout=PATIENCE, check=False)
        assert (ran.returncode == 0, "requested version" in ran.stderr) == (found, not found), ran.stderr
    built("cmake", "--build", "build", where=project)
    with started((str(project / "build" / "my_bot"),), tmp_path, "--help") as bot:
        assert bot.communicate(timeout=PATIENCE)[0].startswith("usage: my_bot ")


@of_each("cpp")
def test_a_project_around_the_sdk_has_its_library_and_not_its_tests(sdk: Sdk, tmp_path: Path) -> None:
    (tmp_path / "bot.cc").touch()
    (tmp_path / "CMakeLists.txt").write_text(f"""
cmake_minimum_required(VERSION 3.20)
project(around CXX)
enable_testing()
add_subdirectory({sdk.source} arena_client EXCLUDE_FROM_ALL)
add_executable(my_bot bot.cc)
target_link_libraries(my_bot arena::client)
add_test(NAME mine COMMAND my_bot)
""")
    built("cmake", "-S", ".", "-B", "build", where=tmp_path)
    assert "Total Tests: 1\n" in built("ctest", "--test-dir", "build", "-N", where=tmp_path)
    targets = built("cmake", "--build", "build", "--target", "help", where=tmp_path)
    assert "arena_client" in targets
    assert "corpus" not in targets
    assert "CMAKE_BUILD_TYPE:STRING=\n" in (tmp_path / "build" / "CMakeCache.txt").read_text(encoding="utf-8")


@of_each("cpp")
def test_help_names_every_option_and_has_an_example(sdk: Sdk, tmp_path: Path) -> None:
    with started(sdk.sample(1), tmp_path, "--help") as bot:
        out, errors = bot.communicate(timeout=PATIENCE)
    assert bot.returncode == 0, errors
    source = (sdk.source / "src" / "arena_client" / "command.cc").read_text(encoding="utf-8")
    options = set(re.findall(r'\{"(--[a-z-]+)",', source))
    assert len(options) > 15
    assert not [option for option in options if f"  {option} " not in out]
    assert "example: rule_bot --server localhost:50051" in out


@of_each(long=("cpp", "java"))
def test_tls_and_what_is_in_its_way(sdk: Sdk, tmp_path: Path) -> None:
    """The SDK reports errors that a retry cannot fix at the first attempt. With the authority's certificate the bot
    plays.
    """

    def sample(address: str, *words: str) -> tuple[int, str]:
        always = ("--quiet", "--matches", "1", "--token-file", "t", "--server", address)
        with started(sdk.sample(0), tmp_path, *always, *words) as bot:
            errors = bot.communicate(timeout=PATIENCE)[1]
        # the last line only: gRPC warns about a certificate whose name is an address
        return bot.returncode, (errors.splitlines() or [""])[-1]

    if sdk.authorities:
        key, cert = certificate(tmp_path)
    else:
        assert arena("cert", tmp_path / "tls").exit_code == 0
        key, cert = tmp_path / "tls" / "key.pem", tmp_path / "tls" / "cert.pem"
    secrets = grpc.ssl_server_credentials([(key.read_bytes(), cert.read_bytes())])
    with Peer([one_decision]) as plain:
        told = f"random: the server at {plain.address} has no TLS: leave {sdk.without_tls} out"
        assert sample(plain.address, "--tls") == (4, told)
    with Peer([one_decision], credentials=secrets) as secured:
        address = f"localhost:{secured.port}"
        for words, line in (
            ([], f"the server at {address} wants TLS: --tls "),
            (["--tls"], f"the certificate of {address} {sdk.untrusted}"),
        ):
            status, said = sample(address, *words)
            assert (status, said.startswith(f"random: {line}")) == (4, True), said
        assert sample(address, "--tls-roots", str(cert)) == (0, "")
        assert sample(address, "--tls-roots", "nowhere.pem")[0] == 2


@pytest.mark.long
@pytest.mark.parametrize("game", GAMES)
@pytest.mark.parametrize("sample", [0, 1])
@of_each()
def test_the_samples_play_rated_matches(sdk: Sdk, tmp_path: Path, sample: int, game: str) -> None:
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        words = ["--matches", "2", "--name", "it", "--token-file", "it.token", "--game", game]
        log = played(sdk.sample(sample), tmp_path, words, server.server, matches=2, game=game)
        assert len(re.findall(r"match \d.*: place [12] of 2 with -?\d+ points, rating ", log)) == 2, log
        verified(1, server.server)


@pytest.mark.long
@pytest.mark.parametrize("sample", [0, 1])
@of_each()
def test_the_samples_pass_every_check(sdk: Sdk, tmp_path: Path, sample: int) -> None:
    bot = [word.replace("{home}", str(tmp_path)) for word in sdk.sample(sample)]
    ran = subprocess.run([*ARENA, "check", "--", *bot], capture_output=True, text=True, timeout=240, check=False)
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    verdicts = {line.split()[1]: line.split()[0] for line in ran.stdout.splitlines() if line.endswith("?")}
    assert verdicts == dict.fromkeys(CHECKS, "PASS")
