"""The exit and the output of a bot as its author sees them: programs against a server that follows a script."""

from __future__ import annotations

import os
import re
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator
from pathlib import Path

import grpc
import pytest
from arena_client.v1 import play_pb2
from arena_client.v1.play_pb2 import NoticeKind
from client_tests.peer import PATIENCE, Peer, Script, Talk, asks, begun, invites, notice, reports
from client_tests.test_client_connection import certificate
from client_tests.test_client_programs import one_decision, refusing, start

pytestmark = pytest.mark.process
posix = pytest.mark.skipif(os.name != "posix", reason="signals are sent the POSIX way here")


def played(talk: Talk, more: Iterator[play_pb2.PlayResponse]) -> Iterator[play_pb2.PlayResponse]:
    """Begin match 1, then continue with `more`."""
    yield from begun(talk, 1)
    yield from more


@posix
@pytest.mark.parametrize(
    ("stop", "within"), [(signal.SIGINT, "within 30 s"), (signal.SIGTERM, "within 8 s")], ids=["SIGINT", "SIGTERM"]
)
def test_the_first_signal_finishes_what_is_played_and_begins_no_more(
    tmp_path: Path, stop: signal.Signals, within: str
) -> None:
    playing = threading.Event()
    heard: list[play_pb2.PlayRequest] = []

    def rest(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        yield asks((1, 1))
        talk.next()
        playing.set()
        heard.append(talk.next())
        yield invites(2)
        heard.append(talk.next())
        yield asks((1, 2))
        heard.append(talk.next())
        yield reports(1)
        talk.wait_for_goodbye()

    with Peer([lambda talk: played(talk, rest(talk))]) as peer, start(tmp_path, "return 0", peer.address) as program:
        try:
            assert playing.wait(PATIENCE)
            program.send_signal(stop)
            out, errors = program.communicate(timeout=PATIENCE)
        finally:
            program.kill()
    assert (out, program.returncode) == ("after the run\n", 0), errors
    room, declined, answered = heard
    assert (room.HasField("capacity"), room.capacity) == (True, 0)
    assert list(declined.declined) == [2]
    assert [answer.decision_id for answer in answered.answers] == [2]
    assert f"finishing 1 match {within}, and beginning no more; once more, and it leaves at once: house bots" in errors
    assert "match 1 of sixth_sense: place 1 of 2 with 12 points" in errors
    assert errors.endswith(" stopped\n")


def test_a_bot_that_thinks_for_long_is_named_while_it_does(tmp_path: Path) -> None:
    body = "import os, time; until = time.monotonic() + 30\n        "
    body += "while time.monotonic() < until and not os.path.exists('named'): pass\n        return 1"
    with Peer([one_decision]) as peer, start(tmp_path, body, peer.address) as program:
        try:
            assert program.stderr is not None
            heard = []
            for line in iter(program.stderr.readline, ""):
                heard.append(line)
                if "has been thinking for" in line:
                    (tmp_path / "named").touch()
                if "match 1 of sixth_sense: place 1 of 2" in line:
                    break
        finally:
            program.kill()
    named = r"Mine has been thinking for 1\d s about decision 1 of match 1 of sixth_sense, for which it had 31 s\n"
    assert re.search(named, heard[-2]), heard


@posix
def test_what_is_not_finished_in_time_is_left(tmp_path: Path) -> None:
    playing = threading.Event()
    heard: list[play_pb2.PlayRequest] = []

    def rest(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        yield asks((1, 1))
        playing.set()
        heard.extend((talk.next(), talk.next()))

    scripts: list[Script] = [lambda talk: played(talk, rest(talk))]
    with Peer(scripts) as peer, start(tmp_path, "while True: pass", peer.address, ARENA_DRAIN="0.2") as program:
        try:
            assert playing.wait(PATIENCE)
            program.send_signal(signal.SIGINT)
            _, errors = program.communicate(timeout=PATIENCE)
        finally:
            program.kill()
    assert program.returncode == 0, errors
    assert [each.leave for each in heard] == [False, True]
    assert "leaving 1 match in order" in errors


@pytest.mark.parametrize("drain", ["soon", "-1", "31", "nan"])
def test_a_drain_that_is_none_is_named(tmp_path: Path, drain: str) -> None:
    with start(tmp_path, "return 0", "127.0.0.1:1", ARENA_DRAIN=drain) as program:
        _, errors = program.communicate(timeout=PATIENCE)
    assert program.returncode == 2
    assert errors == f"Mine: ARENA_DRAIN is {drain!r}: it takes seconds from 0 to 30\n"


@pytest.mark.parametrize("body", ["return 1 // 0", "return 99", "return None"])
def test_a_fault_in_a_decision_names_match_round_and_view(tmp_path: Path, body: str) -> None:
    with Peer([one_decision]) as peer, start(tmp_path, body, peer.address) as program:
        _, errors = program.communicate(timeout=PATIENCE)
    assert program.returncode == 1
    assert "in match 1 of sixth_sense, round 1, decision 1; legal: [1, 2]; view: seat: 1 seats: 4" in errors
    assert ("Traceback" in errors) is (body == "return 1 // 0"), "the author's own, not the client's"


def test_a_program_that_is_refused_ends_with_the_sentence_and_the_status(tmp_path: Path) -> None:
    script = refusing(grpc.StatusCode.INVALID_ARGUMENT)
    with Peer([script]) as peer, start(tmp_path, "return 0", peer.address) as program:
        out, errors = program.communicate(timeout=PATIENCE)
    assert (program.returncode, out) == (3, "")
    assert errors.splitlines()[-1] == "Mine: the server refuses the bot: the very reason"
    assert "Traceback" not in errors


def test_a_program_that_catches_its_refusal_goes_on(tmp_path: Path) -> None:
    with Peer([refusing(grpc.StatusCode.INVALID_ARGUMENT)]) as peer:
        program = f"""
import arena_client
class Mine(arena_client.Bot): pass
try:
    arena_client.run(Mine(), {peer.address!r}, token_file="token", verbose=False)
except arena_client.RefusedError as error:
    print("caught", error.status)
raise KeyError("another error")
"""
        ran = subprocess.run(
            [sys.executable, "-c", program], capture_output=True, text=True, cwd=tmp_path, timeout=PATIENCE, check=False
        )
    assert (ran.returncode, ran.stdout) == (1, "caught 3\n")
    assert ran.stderr.endswith("KeyError: 'another error'\n")


def sample(address: str, folder: Path, *options: str, **env: str) -> subprocess.CompletedProcess[str]:
    words = ["-m", "arena_client.samples.random_bot", *(["--server", address] if address else []), *options]
    return subprocess.run(
        [sys.executable, *words], capture_output=True, cwd=folder, env={**os.environ, **env},
        encoding=env.get("PYTHONIOENCODING", "utf-8"), timeout=PATIENCE, check=False,
    )  # fmt: skip


def last_line(ran: subprocess.CompletedProcess[str]) -> str:
    """Return the last output line that gRPC did not log."""
    return [line for line in ran.stderr.splitlines() if not re.match(r"[EIW]\d{4} ", line)][-1]


def test_an_unknown_host_is_told_at_once(tmp_path: Path) -> None:
    """Simulate the name service, because tests use no network."""
    program = tmp_path / "bot.py"
    program.write_text("""
import socket
def unknown(*_, **__): raise socket.gaierror(socket.EAI_NONAME, "Name or service not known")
socket.getaddrinfo = unknown
from arena_client import Bot, run
class Mine(Bot): pass
run(Mine(), "no.such.host.invalid:50051", token_file="token")
""")
    ran = subprocess.run(
        [sys.executable, str(program)], capture_output=True, text=True, cwd=tmp_path, timeout=60, check=False
    )
    assert ran.returncode == 4, ran.stderr
    assert (
        last_line(ran) == "Mine: there is no host 'no.such.host.invalid': check the address no.such.host.invalid:50051"
    )


def test_tls_on_one_side_only_is_told_at_once(tmp_path: Path) -> None:
    roots = certificate(tmp_path)[1]
    key, cert = (path.read_bytes() for path in certificate(tmp_path))
    with Peer([one_decision]) as plain:
        ran = sample(plain.address, tmp_path, "--tls", "--token-file", "t")
        assert ran.returncode == 4
        assert last_line(ran) == (
            f"random: the server at {plain.address} has no TLS: leave --tls, --tls-roots and tls= out"
        )
    with Peer([one_decision], credentials=grpc.ssl_server_credentials([(key, cert)])) as secured:
        ran = sample(secured.address, tmp_path, "--token-file", "t")
        assert ran.returncode == 4
        assert last_line(ran).startswith(f"random: the server at {secured.address} wants TLS: --tls or tls=True")
        ran = sample(secured.address, tmp_path, "--tls", "--token-file", "t")
        assert ran.returncode == 4
        assert f"the certificate of {secured.address} is not trusted (" in last_line(ran)
        address = f"localhost:{secured.port}"
        ran = sample(address, tmp_path, "--tls-roots", str(roots), "--token-file", "t", "--matches=1")
        assert ran.returncode == 0, ran.stderr


def test_a_server_that_is_not_there_yet_is_waited_for(tmp_path: Path) -> None:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port = held.getsockname()[1]
    words = [
        "-m",
        "arena_client.samples.random_bot",
        "--server",
        f"127.0.0.1:{port}",
        "--token-file",
        "t",
        "--matches=1",
    ]
    with subprocess.Popen([sys.executable, *words], cwd=tmp_path, stderr=subprocess.PIPE, text=True) as bot:
        assert bot.stderr is not None
        first = bot.stderr.readline()
        assert re.search(
            rf"no connection to 127\.0\.0\.1:{port}: Connection refused \(111\) \(UNAVAILABLE\); next try", first
        )
        with Peer([one_decision], port=port):
            assert bot.wait(PATIENCE) == 0


def test_server_token_file_and_owner_may_be_in_the_environment(tmp_path: Path) -> None:
    with Peer([one_decision]) as peer:
        told = {"ARENA_SERVER": peer.address, "ARENA_TOKEN_FILE": "kept", "ARENA_OWNER": "us"}
        ran = sample("", tmp_path, "--matches", "1", **told)
        assert ran.returncode == 0, ran.stderr
        assert [each.owner for each in peer.registrations] == ["us"]
        assert (tmp_path / "kept").exists()
        ran = sample(peer.address, tmp_path, "--matches", "1", "--token-file", "other", "--name", "b", "--owner", "me",
                     **told | {"ARENA_SERVER": "127.0.0.1:1"})  # fmt: skip
        assert ran.returncode == 0, ran.stderr
        assert [each.owner for each in peer.registrations] == ["us", "me"], "what is said goes before"
    words = [sys.executable, "-m", "arena_client", "arena_client.samples.random_bot:RandomBot", "--matches", "1"]
    with Peer([one_decision]) as peer:
        env = {**os.environ, **told, "ARENA_SERVER": peer.address, "ARENA_TOKEN_FILE": "third"}
        subprocess.run(words, cwd=tmp_path, env=env, timeout=PATIENCE, check=True)


@pytest.mark.parametrize("encoding", ["ascii", "latin-1", "cp1252"])
def test_what_it_says_survives_a_terminal_that_is_not_utf_8(tmp_path: Path, encoding: str) -> None:
    def says(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        yield from played(talk, iter([notice(NoticeKind.NOTICE_KIND_ILLEGAL, match_id=1, text="nö → ☃"), reports(1)]))
        talk.wait_for_goodbye()

    with Peer([says]) as peer:
        ran = sample(peer.address, tmp_path, "--matches", "1", "--token-file", "t", PYTHONIOENCODING=encoding)
        assert ran.returncode == 0
        assert "match 1 of sixth_sense: illegal: n" in ran.stderr
        assert "UnicodeEncodeError" not in ran.stderr
    assert sample("", tmp_path, "--help", PYTHONIOENCODING=encoding).returncode == 0


def test_an_option_that_there_is_not_is_named() -> None:
    program = "import arena_client; arena_client.run(arena_client.Bot(), 'localhost:1', tokens='x')"
    ran = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ran.returncode == 1
    assert last_line(ran).startswith("TypeError: run() got an unexpected keyword argument 'tokens'; there is token, ")
