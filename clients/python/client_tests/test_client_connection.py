"""The SDK against a real gRPC server: registration, playing, reconnecting, and every way in which a run ends."""

from __future__ import annotations

import asyncio
import ctypes
import re
import shutil
import subprocess
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any, cast

import arena_client
import grpc
import pytest
from arena_client import (
    ArenaError,
    ArgumentError,
    Decision,
    InvitationNeededError,
    NameNotAllowedError,
    NameTakenError,
    ProtocolMismatchError,
    RefusedError,
    TakenOverError,
    TokenRefusedError,
    UnreachableError,
    connection,
    play,
    run,
)
from arena_client.channel import DroppedError, open_channel, play_failure, registration_failure
from arena_client.options import OnError
from arena_client.v1 import play_pb2
from arena_client.v1.play_pb2_grpc import PlayServiceStub
from client_tests.peer import PATIENCE, First, Peer, Playing, Talk, asks, begun, invites, reports, starts, welcome

pytestmark = pytest.mark.process


@pytest.fixture
def token_file(tmp_path: Path) -> Path:
    return tmp_path / "bot.token"


def one_match(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
    """Play match 1 with a single decision."""
    talk.next()
    yield welcome()
    yield invites(1)
    assert [ready.invitation_id for ready in talk.next().ready] == [1]
    yield starts(1)
    yield asks((1, 1))
    assert [(each.decision_id, each.action) for each in talk.next().answers] == [(1, 0)]
    yield reports(1)
    talk.wait_for_goodbye()


def test_the_default_token_file_is_below_the_home(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, token_file: Path
) -> None:
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    with Peer([one_match]) as peer:
        Playing(First(), peer.address, None, matches=1).result()  # type: ignore[arg-type]
        (kept,) = (tmp_path / ".arena" / "tokens").iterdir()
        assert kept.name == f"127.0.0.1_{peer.port}-bot.token"


async def _stopped_while_the_stream_breaks(monkeypatch: pytest.MonkeyPatch, token_file: Path) -> None:
    async def stream(self: connection.Connection, node: object) -> None:
        try:
            await asyncio.sleep(PATIENCE)
        except asyncio.CancelledError:
            raise DroppedError("the server went away") from None

    monkeypatch.setattr(connection.Connection, "_connect", stream)
    playing = asyncio.create_task(play(First(), "127.0.0.1:1", token_file=token_file))
    await asyncio.sleep(0)
    playing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asyncio.wait_for(playing, PATIENCE)


def test_a_bot_that_is_stopped_while_its_stream_breaks_does_not_connect_again(
    monkeypatch: pytest.MonkeyPatch, token_file: Path
) -> None:
    """If both happen at once, gRPC reports the broken stream, but not the stop."""
    asyncio.run(_stopped_while_the_stream_breaks(monkeypatch, token_file))


def test_a_given_token_needs_no_file(token_file: Path) -> None:
    with Peer([one_match], tokens={"given": "bot"}) as peer:
        Playing(First(), peer.address, token_file, token="given", matches=1).result()
        assert not peer.registrations
        assert not token_file.exists()


def test_the_hello_says_what_the_bot_can_do(token_file: Path) -> None:
    hellos: list[play_pb2.Hello] = []

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        hellos.append(talk.next().hello)
        yield welcome()
        yield reports(1)
        talk.wait_for_goodbye()

    with Peer([script]) as peer:
        Playing(First(capacity=5), peer.address, token_file, matches=1).result()
        Playing(First(capacity=5, version="2.1"), peer.address, token_file, matches=1, owner="x").result()
    assert [list(hello.games) for hello in hellos] == [["sixth_sense"]] * 2
    assert [hello.capacity for hello in hellos] == [1, 1]  # never more than the bot's total
    assert [hello.version for hello in hellos] == [First().digest(), "2.1"]
    assert hellos[0].client == f"arena-client-python {arena_client.__version__}"


def test_a_bot_names_the_features_it_understands_and_is_told_which_hold(
    token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "FEATURES", ("of-the-client",))

    class Modern(First):
        features = ("made-up", "of-the-client")

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        assert list(talk.next().hello.features) == ["of-the-client", "made-up"]
        greeting = welcome()
        greeting.welcome.features.append("made-up")
        yield greeting
        yield reports(1)
        talk.wait_for_goodbye()

    bot = Modern()
    assert not bot.welcome.features
    with Peer([script]) as peer:
        Playing(bot, peer.address, token_file, matches=1).result()
    assert list(bot.welcome.features) == ["made-up"]
    assert bot.welcome.bot == "bot"


def test_a_bot_comes_back_when_the_server_does(token_file: Path, caplog: pytest.LogCaptureFixture) -> None:
    gone = threading.Event()

    def before(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        yield from begun(talk, 1)
        yield asks((1, 1))
        talk.next()
        gone.set()
        talk.next()

    def after(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield starts(1)
        yield asks((1, 2))
        assert talk.next().answers[0].match_id == 1
        yield reports(1)
        talk.wait_for_goodbye()

    with Peer([before], tokens={"t": "bot"}) as first:
        playing = Playing(First(), first.address, token_file, token="t", matches=1)
        assert gone.wait(PATIENCE)
    with Peer([after], port=first.port, tokens={"t": "bot"}):
        playing.result()
    assert any("no connection to" in line and "next try in" in line for line in caplog.messages)


def test_a_bot_comes_back_when_its_answer_finds_the_stream_ended(token_file: Path) -> None:
    ended = threading.Event()

    class Waits(First):
        def decide(self, decision: Decision) -> int:
            if not ended.is_set():
                assert ended.wait(PATIENCE)
            return 0

    def failing(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield asks((1, 1), (1, 2))
        talk.context.add_callback(ended.set)
        talk.fail(grpc.StatusCode.UNAVAILABLE, "not now")

    with Peer([failing, one_match]) as peer:
        Playing(Waits(), peer.address, token_file, matches=1).result()
        assert peer.streams == 2


def test_nothing_is_written_to_a_stream_that_has_ended() -> None:
    def failing(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.fail(grpc.StatusCode.UNAVAILABLE, "not now")
        yield welcome()

    async def write_late(address: str) -> None:
        async with open_channel(address, None) as channel:
            stub: Any = PlayServiceStub(channel)
            call = stub.Play(metadata=(("authorization", "Bearer t"),))
            assert await call.code() is grpc.StatusCode.UNAVAILABLE
            stream = connection._Stream(call)
            stream.send(play_pb2.PlayRequest())
            await stream.finish()

    with Peer([failing], tokens={"t": "bot"}) as peer, pytest.raises(DroppedError, match="not now"):
        asyncio.run(write_late(peer.address))


def test_a_server_that_says_nothing_is_tried_again(
    token_file: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(connection, "ANSWER_TIME", 0.3)

    def silent(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        talk.context.add_callback(over.set)
        over.wait(PATIENCE)
        yield welcome()

    over = threading.Event()
    with Peer([silent, one_match], tokens={"t": "bot"}) as peer:
        Playing(First(), peer.address, token_file, token="t", matches=1).result()
    assert any("no welcome within" in line for line in caplog.messages)


def test_waiting_times_are_any_part_of_the_outage_and_bounded() -> None:
    for outage, longest in [(0, 0.1), (0.05, 0.1), (1, 1), (4, 4), (60, 5), (120, 5), (121, 30), (1e6, 30)]:
        waits = [connection.waiting_time(outage) for _ in range(500)]
        assert 0 <= min(waits) < 0.1 * longest
        assert 0.9 * longest < max(waits) <= longest


@pytest.mark.parametrize(("up", "down"), [(4.0, 0.5), (4.0, 2.0), (30.0, 10.0)])
def test_a_bot_prolongs_none_of_seventy_outages_by_more_than_its_length_or_five_seconds(
    token_file: Path, monkeypatch: pytest.MonkeyPatch, up: float, down: float
) -> None:
    """On a virtual clock, the server is alternately up and down, starting at time 0."""
    now, back = 0.0, []
    period = up + down

    class Outages(connection.Connection):
        async def _connect(self, node: connection._Node) -> None:
            nonlocal now
            if now % period < up:
                node.session = session
                back.append(now)
                now = now - now % period + up
            if len(back) <= 70:
                raise DroppedError("the server is gone")

    async def sleep(seconds: float) -> None:
        nonlocal now
        now += seconds

    session: Any = object()
    monkeypatch.setattr("arena_client.connection.time.monotonic", lambda: now)
    monkeypatch.setattr("arena_client.connection.asyncio.sleep", sleep)
    asyncio.run(
        Outages(
            First(),
            "127.0.0.1:1",
            token=None,
            token_file=token_file,
            invitation=None,
            owner=None,
            tls=None,
            matches=None,
            give_up_after=None,
        ).stay()
    )
    late = [moment % period for moment in back]
    assert [int(moment // period) for moment in back] == list(range(71)), "back after every outage"
    assert max(late) <= min(down, 5.0)
    assert sum(late) / len(late) < 0.75 * min(down, 5.0)


def test_an_unreachable_server_is_given_up_when_told(token_file: Path) -> None:
    with Peer([one_match]) as peer:
        pass
    with pytest.raises(UnreachableError, match=f"no connection to 127.0.0.1:{peer.port}"):
        Playing(First(), peer.address, token_file, give_up_after=0.1).result()
    assert not token_file.exists()


def test_the_newest_connection_plays_on(token_file: Path) -> None:
    def taken_over(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        talk.fail(grpc.StatusCode.FAILED_PRECONDITION, "a newer stream took over", "TAKEN_OVER")

    with Peer([taken_over]) as peer:
        with pytest.raises(TakenOverError, match="connected from somewhere else: a newer stream took over"):
            Playing(First(), peer.address, token_file).result()
        assert peer.streams == 1


def test_a_refused_token_names_its_file(token_file: Path) -> None:
    token_file.write_text("old\n")
    with Peer([one_match]) as peer:
        with pytest.raises(TokenRefusedError, match=r"no bot has this token \(from .*bot\.token; remove it"):
            Playing(First(), peer.address, token_file).result()
        with pytest.raises(TokenRefusedError, match=r"no bot has this token$"):
            Playing(First(), peer.address, token_file, token="wrong").result()
        assert not peer.registrations


@pytest.mark.parametrize(
    ("name", "invitation", "error", "text"),
    [
        ("taken", "", NameTakenError, "'taken' is taken. If the bot is yours"),
        ("no good", "", NameNotAllowedError, "'no good' is not allowed"),
        ("bot", "forged", InvitationNeededError, "by invitation"),
        ("bot", "", RefusedError, "me has 1 bots"),
    ],
)
def test_a_refused_registration_says_why(
    token_file: Path, name: str, invitation: str, error: type[ArenaError], text: str
) -> None:
    with Peer([one_match], tokens={"t": "taken"}, most=1) as peer, pytest.raises(error, match=text):
        Playing(First(name=name), peer.address, token_file, invitation=invitation).result()
    assert not list(token_file.parent.iterdir())


@pytest.mark.parametrize(
    ("code", "error"),
    [
        (grpc.StatusCode.UNIMPLEMENTED, ProtocolMismatchError),
        (grpc.StatusCode.FAILED_PRECONDITION, RefusedError),
        (grpc.StatusCode.INVALID_ARGUMENT, RefusedError),
        (grpc.StatusCode.PERMISSION_DENIED, RefusedError),
    ],
)
def test_a_refused_stream_says_why(token_file: Path, code: grpc.StatusCode, error: type[ArenaError]) -> None:
    def refusing(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        talk.fail(code, "the very\nreason")
        yield welcome()

    with Peer([refusing]) as peer:
        with pytest.raises(error, match="the very reason"):
            Playing(First(), peer.address, token_file).result()
        assert peer.streams == 1


def test_a_server_of_something_else_is_recognised(token_file: Path) -> None:
    bare = grpc.server(ThreadPoolExecutor(1), options=(("grpc.so_reuseport", 0),))
    port = bare.add_insecure_port("127.0.0.1:0")
    bare.start()
    try:
        with pytest.raises(ProtocolMismatchError, match="no Arena server"):
            Playing(First(), f"127.0.0.1:{port}", token_file).result()
    finally:
        bare.stop(None).wait(PATIENCE)


@pytest.mark.parametrize("stop", [KeyboardInterrupt, asyncio.CancelledError, SystemExit])
def test_a_bot_may_stop_itself(token_file: Path, stop: type[BaseException]) -> None:
    class Stops(First):
        def decide(self, decision: Decision) -> int:
            raise stop

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        yield asks((1, 1))

    with Peer([script]) as peer, pytest.raises(stop):
        Playing(Stops(), peer.address, token_file, on_error="continue").result()


def test_a_bot_without_a_name_has_its_class_s(token_file: Path) -> None:
    with Peer([one_match]) as peer:
        Playing(First(name=""), peer.address, token_file, matches=1).result()
        assert [each.name for each in peer.registrations] == ["First"]


def test_numbers_below_one_are_refused() -> None:
    with pytest.raises(ValueError, match="matches is 0"):
        run(First(), "localhost:1", matches=0, verbose=False)
    with pytest.raises(ValueError, match="capacity is 0"):
        run(First(capacity=0), "localhost:1", verbose=False)
    for version in ("x" * 41, "1\n2"):
        with pytest.raises(ValueError, match="at most 40 printable characters"):
            run(First(version=version), "localhost:1", verbose=False)


def test_an_on_error_that_says_nothing_is_refused() -> None:
    with pytest.raises(ValueError, match="on_error is 'contine': it is 'raise' or 'continue'"):
        run(First(), "localhost:1", on_error=cast("OnError", "contine"), verbose=False)


def certificate(folder: Path) -> tuple[Path, Path]:
    """Create a key and certificate for localhost with the system's openssl."""
    openssl = shutil.which("openssl")
    assert openssl, "this test makes its certificate with the openssl command"
    key, cert = folder / "key.pem", folder / "cert.pem"
    subject = ["-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost"]
    made = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2"]
    command = [openssl, "req", "-x509", *made, "-keyout", str(key), "-out", str(cert), *subject]
    subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE)
    return key, cert


def test_tls_with_a_certificate_of_one_s_own(token_file: Path, tmp_path: Path) -> None:
    key, cert = certificate(tmp_path)
    credentials = grpc.ssl_server_credentials([(key.read_bytes(), cert.read_bytes())])
    with Peer([one_match], credentials=credentials) as peer:
        Playing(First(), f"localhost:{peer.port}", token_file, tls=cert, matches=1).result()
        with pytest.raises(UnreachableError):  # self-signed
            Playing(First(), f"localhost:{peer.port}", token_file, tls=True, give_up_after=0.1).result()


def test_the_network_s_thread_ends_with_the_last_bot(token_file: Path) -> None:
    with Peer([one_match]) as peer:
        Playing(First(), peer.address, token_file, matches=1).result()
    assert not [thread for thread in threading.enumerate() if thread.name == "arena-network"]


def test_several_bots_of_a_process_share_a_thread_and_play_at_once(token_file: Path) -> None:
    met = threading.Barrier(3)

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.next()
        yield welcome()
        met.wait(PATIENCE)  # all three bots are connected
        yield invites(1)
        talk.next()
        yield starts(1)
        shared.append([thread.name for thread in threading.enumerate()].count("arena-network"))
        for number in range(20):
            yield asks((1, number))
            assert [answer.decision_id for answer in talk.next().answers] == [number]
        yield reports(1)
        talk.wait_for_goodbye()

    async def together(address: str) -> None:
        names = ["ann", "bob", "cyd"]
        async with asyncio.TaskGroup() as group:
            for name in names:
                file = token_file.with_name(name)
                group.create_task(play(First(name=name), address, token_file=file, matches=1))

    shared: list[int] = []
    with Peer([script]) as peer:
        asyncio.run(together(peer.address))
    assert shared == [1, 1, 1]


def leaves(left: list[bool], asking: bool = False) -> Callable[[Talk], Iterator[play_pb2.PlayResponse]]:
    """Return a script that begins a match, waits until the bot leaves it, and ends the stream."""

    def script(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        yield from begun(talk, 1)
        if asking:
            yield asks((1, 1))
        left.append(talk.next().leave)

    return script


@pytest.mark.parametrize("stop", [KeyboardInterrupt, SystemExit])
def test_an_interrupted_play_leaves_in_order(token_file: Path, stop: type[BaseException]) -> None:
    class Interrupted(First):
        def decide(self, decision: Decision) -> int:
            raise stop

    left: list[bool] = []
    with Peer([leaves(left, asking=True)]) as peer, pytest.raises(stop):
        asyncio.run(play(Interrupted(), peer.address, token_file=token_file))
    assert left == [True]


def test_a_server_that_does_not_take_leave_is_not_waited_for_twice(
    token_file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(connection, "LEAVE_TIME", PATIENCE)
    gone = threading.Event()

    def cancel() -> None:
        playing[0].get_loop().call_soon_threadsafe(playing[0].cancel)

    class Cancels(First):
        def on_match_start(self, start: play_pb2.MatchStart) -> None:
            cancel()

    def silent(talk: Talk) -> Iterator[play_pb2.PlayResponse]:
        talk.context.add_callback(gone.set)
        yield from leaves([])(talk)
        cancel()
        gone.wait(PATIENCE)

    async def author(address: str) -> None:
        playing.append(asyncio.create_task(play(Cancels(), address, token_file=token_file)))
        with pytest.raises(asyncio.CancelledError):
            await playing[0]

    playing: list[asyncio.Task[None]] = []
    since = time.monotonic()
    with Peer([silent]) as peer:
        asyncio.run(author(peer.address))
        assert time.monotonic() - since < PATIENCE
        assert gone.wait(PATIENCE)


@pytest.mark.parametrize(
    ("address", "advice"),
    [
        ("localhost", "localhost:50051"),
        ("arena.example.org", "arena.example.org:50051"),
        ("127.0.0.1", "127.0.0.1:50051"),
        ("::1", "HOST:50051"),
        ("localhost:", "HOST:50051"),
        ("localhost:0", "HOST:50051"),
        ("localhost:65536", "HOST:50051"),
        ("http://localhost:50051", "HOST:50051"),
        ("", "HOST:50051"),
    ],
)
def test_an_address_without_a_port_is_refused_and_the_default_port_told(address: str, advice: str) -> None:
    with pytest.raises(ArgumentError, match=f"'{re.escape(address)}' is not of the form HOST:PORT.*: {advice}$"):
        run(First(), address, verbose=False)


@pytest.mark.parametrize("address", ["[::1]:1", "localhost:1", "dns:///localhost:1", "unix:/tmp/socket"])
def test_an_address_of_another_kind_is_left_to_grpc(token_file: Path, address: str) -> None:
    with pytest.raises(UnreachableError):
        run(First(), address, token_file=token_file, give_up_after=0.0, verbose=False)


@pytest.mark.parametrize("token", ["", " ", "two\nlines", "t "])
def test_a_token_that_is_none_is_refused(token_file: Path, token: str) -> None:
    with Peer([one_match]) as peer:
        with pytest.raises(ArgumentError, match=r"the token is (empty|not one line of printable characters): give it"):
            Playing(First(), peer.address, token_file, token=token).result()
        assert not peer.registrations


@pytest.mark.long
@pytest.mark.parametrize("lock_held", [False, True], ids=["python", "lock-held"])
def test_the_connection_outlives_twenty_seconds_of_thinking(token_file: Path, *, lock_held: bool) -> None:
    """A ping arrives every 5 s and must be answered within 5 s, even while a library holds the interpreter's lock."""
    pings = (
        ("grpc.keepalive_time_ms", 5000),
        ("grpc.keepalive_timeout_ms", 5000),
        ("grpc.http2.ping_timeout_ms", 5000),
    )

    class Thinks(First):
        def decide(self, decision: Decision) -> int:
            if lock_held:
                ctypes.PyDLL(None).sleep(20)
            end = since + 20
            while time.monotonic() < end:
                pass
            return 0

    since = time.monotonic()
    with Peer([one_match], options=pings) as peer:
        Playing(Thinks(), peer.address, token_file, matches=1).result(60)
        assert peer.streams == 1
    assert time.monotonic() - since >= 20


@pytest.mark.parametrize("failure", [play_failure, registration_failure])
def test_a_bot_comes_back_where_its_address_has_asked_for_too_much(failure: Callable[..., object]) -> None:
    over = failure(grpc.StatusCode.RESOURCE_EXHAUSTED, "try again in 3 s", "OVER_BUDGET")
    assert isinstance(over, DroppedError)
    assert str(over) == "try again in 3 s (OVER_BUDGET)"
    assert isinstance(registration_failure(grpc.StatusCode.FAILED_PRECONDITION, "me", "TOO_MANY_BOTS"), RefusedError)
