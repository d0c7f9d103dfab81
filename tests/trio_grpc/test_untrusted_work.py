"""Processor time that peers take without a token, over real sockets: refused or slowed down, beside bots at ease."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from time import thread_time
from typing import Any, Final

import grpc
import pytest
import trio
from arena_client.v1 import game_pb2, game_pb2_grpc
from arena_client.v1 import play_pb2 as client_pb
from arena_client.v1 import play_pb2 as pb
from google.rpc import error_details_pb2, status_pb2
from hpack import Encoder

from tests.end_to_end.e2e_rig import Server, server
from tests.trio_grpc.grpc_rig import PlayStream, in_thread, play_service, serving
from tests.trio_grpc.loaded_server import LoadedServer
from tests.trio_grpc.raw_http2 import (
    EMPTY,
    END_HEADERS,
    END_STREAM,
    LIST_GAMES,
    PLAY,
    Answer,
    Kind,
    RawConnection,
    frame,
    message,
)
from trio_grpc.grpc.call import Call, CallRefused, bearer
from trio_grpc.grpc.server import Service
from trio_grpc.limits.settings import TransportSettings

pytestmark = pytest.mark.process

EXHAUSTED: Final = 8
UNAUTHENTICATED: Final = 16
CALM: Final = 11
"""The code ENHANCE_YOUR_CALM (RFC 9113, section 7)."""
TOKEN: Final = ("authorization", "Bearer good")
GUESS: Final = ("authorization", "Bearer bad")


@pytest.fixture
def hurry(monkeypatch: pytest.MonkeyPatch) -> None:
    """Save up a budget within a second, and forgive debts within two."""
    monkeypatch.setattr("trio_grpc.limits.work_budget.SAVED", 1.0)
    monkeypatch.setattr("trio_grpc.limits.work_budget.MAX_DEBT", 2.0)


def burn(seconds: float) -> None:
    end = thread_time() + seconds
    while thread_time() < end:
        pass


class Dear:
    """A service whose only method takes much processor time."""

    def __init__(self, seconds: float) -> None:
        self._seconds = seconds

    async def ListGames(self, _: object, __: Call) -> game_pb2.ListGamesResponse:
        burn(self._seconds)
        return game_pb2.ListGamesResponse()


def authenticating(seconds: float) -> Callable[[PlayStream], Any]:
    async def handler(stream: PlayStream) -> None:
        """Check the token, which takes so much processor time, and echo."""
        burn(seconds)
        if bearer(stream) != "good":
            raise CallRefused(grpc.StatusCode.UNAUTHENTICATED, "no such token")
        stream.trust()
        while (received := await stream.receive()) is not None:
            await stream.send(pb.PlayResponse(heartbeat=received.heartbeat))

    return handler


def served(client: Callable[[str], Any], percent: float, call: float = 0.02, check: float = 0.0) -> Any:
    """Return the result of a client that blocks its thread; seconds that a call and that checking a token take."""

    async def run() -> Any:
        dear = Service(game_pb2_grpc.add_GameServiceServicer_to_server, Dear(call))
        settings = TransportSettings(work_untrusted=percent)
        async with serving(dear, play_service(authenticating(check)), settings=settings) as address:
            return await in_thread(client, address)

    return trio.run(run)


def play(connection: RawConnection, token: tuple[str, str]) -> Answer:
    """Open a stream and send a heartbeat; return it when it was answered, or is over."""
    stream = connection.open(PLAY, token)
    connection.data(stream, message(pb.PlayRequest(heartbeat=5).SerializeToString()))
    answer = connection.answers[stream]
    connection.until(lambda: answer.messages or answer.over)
    return answer


def spend(address: str) -> Answer:
    """Call on a connection of its own, several times at once, until refused; return the refusal."""
    with RawConnection(address) as connection:
        return refused(connection)


def refused(connection: RawConnection) -> Answer:
    """Call, several times at once, until refused; return the refusal."""
    for _ in range(10):
        streams = [connection.stream() for _ in range(7)]
        data = (frame(Kind.DATA, END_STREAM, stream, EMPTY) for stream in streams)
        connection.send(*(connection.opening(stream, LIST_GAMES) for stream in streams), *data)
        for answer in [connection.outcome(stream) for stream in streams]:
            if answer.status:
                return answer
    raise AssertionError("nothing was refused")


@pytest.mark.usefixtures("hurry")
def test_who_has_spent_the_budget_is_refused_told_when_to_come_again_and_served_then() -> None:
    def client(address: str) -> None:
        refusal = spend(address)
        assert refusal.status == EXHAUSTED
        text = refusal.headers["grpc-message"]
        assert text.startswith("calls without a valid token from this address have 10 %25 of a core")
        seconds = int(text.split()[-2])
        assert 1 <= seconds <= 2
        time.sleep(seconds)
        with RawConnection(address) as connection:
            assert connection.call(LIST_GAMES).status == 0

    served(client, 10.0)


@pytest.mark.usefixtures("hurry")
def test_a_refusal_has_its_advice_in_a_form_for_programs() -> None:
    def client(address: str) -> None:
        with grpc.insecure_channel(address) as channel:
            stub = game_pb2_grpc.GameServiceStub(channel)
            calls: list[Any] = [stub.ListGames.future(game_pb2.ListGamesRequest(), timeout=30) for _ in range(80)]
            first = next(call for call in calls if call.code() is grpc.StatusCode.RESOURCE_EXHAUSTED)
            trailers = dict(first.trailing_metadata())
        detail, _ = status_pb2.Status.FromString(trailers["grpc-status-details-bin"]).details
        advice = error_details_pb2.RetryInfo()
        assert detail.Unpack(advice)
        assert 0 < advice.retry_delay.ToTimedelta().total_seconds() <= 2

    served(client, 10.0)


@pytest.mark.usefixtures("hurry")
def test_a_token_leaves_the_budget_of_its_address() -> None:
    """Also one that the server has yet to check, and one that was valid before."""

    def client(address: str) -> None:
        with RawConnection(address) as early, RawConnection(address) as late, RawConnection(address) as again:
            before = play(early, TOKEN)
            assert before.messages
            spend(address)
            for connection in (late, again):
                assert play(connection, TOKEN).messages
            early.data(1, message(pb.PlayRequest(heartbeat=6).SerializeToString()))
            early.until(lambda: len(before.messages) == 2 or before.over)
            assert not before.over
            assert refused(early).status == EXHAUSTED, "without its token it is a stranger again"

    served(client, 10.0)


@pytest.mark.usefixtures("hurry")
def test_whose_token_is_valid_gets_back_what_looking_it_up_took() -> None:
    def client(address: str) -> list[bool]:
        answered = []
        for _ in range(30):
            with RawConnection(address) as connection:
                answered.append(bool(play(connection, TOKEN).messages))
        return answered

    began = time.monotonic()
    assert all(served(client, 0.1, check=0.02))
    assert time.monotonic() - began < 10, "each would have to wait for most of a second"


@pytest.mark.usefixtures("hurry")
def test_guesses_of_tokens_are_charged() -> None:
    def client(address: str) -> float:
        began = time.monotonic()
        with RawConnection(address) as connection:
            for _ in range(12):
                assert play(connection, GUESS).status == UNAUTHENTICATED
        return time.monotonic() - began

    assert served(client, 10.0, check=0.02) > 0.8, "together 0.24 s, and a second brings 0.1 s"


@pytest.mark.usefixtures("hurry")
def test_who_goes_on_calling_is_disconnected_also_with_a_valid_token_in_another_call() -> None:
    def client(address: str) -> int | None:
        with RawConnection(address) as connection:
            assert play(connection, TOKEN).messages
            for _ in range(50):
                streams = [connection.stream() for _ in range(7)]
                connection.send(*(connection.opening(stream, LIST_GAMES, end=True) for stream in streams))
                for stream in streams:
                    connection.until(lambda answer=connection.answers[stream]: answer.over)  # type: ignore[misc]
            return connection.goaway_code

    assert served(client, 0.5) == CALM


# --- a real server ---


@lru_cache
def costly_headers(path: str = "/no.Such/Call") -> bytes:
    """Return a header block that takes long to decode, with nothing of it in a table."""
    fields = {":method": "POST", ":scheme": "http", ":path": path, ":authority": "localhost"}
    fields |= {"content-type": "application/grpc", "x-long": "&" * 3500}
    return Encoder().encode(fields.items(), huffman=True)


def flood_with_headers(connection: RawConnection) -> None:
    """Open as many calls as may be open at once, and see them refused."""
    streams = [connection.stream() for _ in range(8)]
    for stream in streams:
        connection.send(frame(Kind.HEADERS, END_HEADERS | END_STREAM, stream, costly_headers()))
    for stream in streams:
        connection.outcome(stream)


def flood_with_reads(connection: RawConnection) -> None:
    """Read all matches, as often as calls may be open at once."""
    streams = [connection.open("/arena.v1.MatchService/ListMatches") for _ in range(8)]
    for stream in streams:
        connection.data(stream, message(b"\x18\xe8\x07"), end=True)  # limit = 1000
    for stream in streams:
        connection.outcome(stream)


def flood_with_registrations(connection: RawConnection) -> None:
    """Ask for names that are taken, or not allowed."""
    for _ in range(8):
        connection.call("/arena.v1.BotService/RegisterBot", message(b"\x0a\x03ann"))


SPAWN: Final = multiprocessing.get_context("spawn")
FLOODS: Final = (flood_with_headers, flood_with_reads, flood_with_registrations)


def keep_flooding(address: str, flood: Callable[[RawConnection], None]) -> None:
    """Flood for ever, on a connection opened anew whenever it is closed."""
    while True:
        with suppress(AssertionError, OSError), RawConnection(address) as connection:
            while True:
                flood(connection)
                connection.answers.clear()


@contextmanager
def flooding(address: str, flood: Callable[[RawConnection], None], connections: int = 4) -> Iterator[None]:
    """Flood from several connections for the block; in processes, as threads would slow down whoever measures."""
    processes = [SPAWN.Process(target=keep_flooding, args=(address, flood), daemon=True) for _ in range(connections)]
    for process in processes:
        process.start()
    try:
        yield
    finally:
        for process in processes:
            process.kill()
            process.join()
            process.close()


def processor_time(running: Server) -> float:
    fields = Path(f"/proc/{running.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


@pytest.mark.parametrize("flood", [FLOODS[0], *(pytest.param(flood, marks=pytest.mark.long) for flood in FLOODS[1:])])
def test_a_flood_takes_no_more_processor_time_than_its_budget(
    tmp_path: Path, flood: Callable[[RawConnection], None]
) -> None:
    """2 % of a core for 4 s; the rest is what the server takes anyway, what is not measured, and the last of 0.2 s."""
    seconds = 4.0
    options = ("--drain", "0", "--no-house", "--work-untrusted", "2")
    with server(tmp_path / "data", *options) as running, flooding(running.address, flood):
        time.sleep(3.0)  # until they have begun, and spent what was saved up
        before = processor_time(running)
        time.sleep(seconds)
        taken = processor_time(running) - before
    assert taken < 0.2 + 0.02 * seconds + 0.4, f"took {taken:.2f} s"


def round_trips(connection: RawConnection, seconds: float) -> float:
    """Return the 99th percentile of the time in which pings are answered."""
    trips, end = [], time.monotonic() + seconds
    while (sent := time.monotonic()) < end:
        connection.settle()
        trips.append(time.monotonic() - sent)
        time.sleep(0.02)
    return sorted(trips)[int(len(trips) * 0.99)]


@pytest.mark.long
@pytest.mark.unmeasured
@pytest.mark.parametrize("flood", FLOODS)
def test_bots_are_answered_nearly_as_soon_beside_a_flood(
    tmp_path: Path, flood: Callable[[RawConnection], None]
) -> None:
    with LoadedServer.started(tmp_path / "data") as loaded_server:
        token = ("authorization", f"Bearer {loaded_server.token()}")
        with RawConnection(loaded_server.address) as bot:
            stream = bot.open(PLAY, token)
            bot.data(
                stream, message(client_pb.PlayRequest(hello=client_pb.Hello(games=["nullern"])).SerializeToString())
            )
            bot.until(lambda: bot.answers[stream].messages)
            time.sleep(5.0)  # until the budget that coming here took is saved up again
            quiet = round_trips(bot, 20.0)
            with flooding(loaded_server.address, flood):
                time.sleep(5.0)
                flooded = round_trips(bot, 20.0)
    assert flooded < 3 * max(quiet, 0.005), f"from {quiet * 1000:.1f} to {flooded * 1000:.1f} ms"
