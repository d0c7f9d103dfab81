"""A server under floods. The floods use no more than their budget, and bots continue to play."""

from __future__ import annotations

import multiprocessing
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import lru_cache
from pathlib import Path
from typing import Final

import pytest
from arena_client.v1 import play_pb2 as pb
from hpack import Encoder

from tests.end_to_end.e2e_rig import Crowd, Server, server
from tests.trio_grpc.raw_http2 import END_HEADERS, END_STREAM, Kind, RawConnection, frame, message

PLAY: Final = "/arena.v1.PlayService/Play"


@lru_cache
def costly_headers(path: str = "/no.Such/Call") -> bytes:
    """Return a header block that is expensive to decode and adds nothing to the dynamic table."""
    fields = {":method": "POST", ":scheme": "http", ":path": path, ":authority": "localhost"}
    fields |= {"content-type": "application/grpc", "x-long": "&" * 3500}
    return Encoder().encode(fields.items(), huffman=True)


def flood_with_headers(connection: RawConnection) -> None:
    """Open as many concurrent calls as allowed. Check that the server refuses them."""
    streams = [connection.stream() for _ in range(8)]
    for stream in streams:
        connection.send(frame(Kind.HEADERS, END_HEADERS | END_STREAM, stream, costly_headers()))
    for stream in streams:
        connection.outcome(stream)


def flood_with_reads(connection: RawConnection) -> None:
    """Read all matches in as many concurrent calls as allowed."""
    streams = [connection.open("/arena.v1.MatchService/ListMatches") for _ in range(8)]
    for stream in streams:
        connection.data(stream, message(b"\x18\xe8\x07"), end=True)  # the field `limit` with the value 1000
    for stream in streams:
        connection.outcome(stream)


def flood_with_registrations(connection: RawConnection) -> None:
    """Request registrations of names that are in use or not allowed."""
    for _ in range(8):
        connection.call("/arena.v1.BotService/RegisterBot", message(b"\x0a\x03ann"))


SPAWN: Final = multiprocessing.get_context("spawn")
FLOODS: Final = (flood_with_headers, flood_with_reads, flood_with_registrations)


def keep_flooding(address: str, flood: Callable[[RawConnection], None]) -> None:
    """Flood the server forever. Open a new connection whenever one is closed."""
    while True:
        with suppress(AssertionError, OSError), RawConnection(address) as connection:
            while True:
                flood(connection)
                connection.answers.clear()


@contextmanager
def flooding(address: str, flood: Callable[[RawConnection], None], connections: int = 4) -> Iterator[None]:
    """Flood from several connections during the `with` block. Processes send the floods, because threads would slow the
    measurement.
    """
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
    """2 % of a core for 4 s. The rest is the server's usual work, unmeasured work, and the last 0.2 s."""
    seconds = 4.0
    options = ("--drain", "0", "--no-house", "--work-untrusted", "2")
    with server(tmp_path / "data", *options) as running, flooding(running.address, flood):
        time.sleep(3.0)  # until the floods have begun and used up their saved budget
        before = processor_time(running)
        time.sleep(seconds)
        taken = processor_time(running) - before
    assert taken < 0.2 + 0.02 * seconds + 0.4, f"took {taken:.2f} s"


def round_trips(connection: RawConnection, seconds: float) -> float:
    """Return the 99th percentile of the response times of pings."""
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
    with server(tmp_path / "data", "--drain", "0") as running, Crowd(running.address) as crowd:
        for name in ("ann", "bob"):
            crowd.come(name, patience=900.0).play_in_background()
        token = ("authorization", f"Bearer {crowd.token('stranger')}")
        with RawConnection(running.address) as bot:
            stream = bot.open(PLAY, token)
            bot.data(stream, message(pb.PlayRequest(hello=pb.Hello(games=["nullern"])).SerializeToString()))
            bot.until(lambda: bot.answers[stream].messages)
            time.sleep(5.0)  # until the budget used for connecting has recovered
            quiet = round_trips(bot, 20.0)
            with flooding(running.address, flood):
                time.sleep(5.0)
                flooded = round_trips(bot, 20.0)
    assert flooded < 3 * max(quiet, 0.005), f"from {quiet * 1000:.1f} to {flooded * 1000:.1f} ms"
