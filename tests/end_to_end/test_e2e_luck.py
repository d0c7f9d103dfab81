"""The luck column of real servers. No baseline is lost or counted twice, whichever process is killed."""

from __future__ import annotations

import signal
from contextlib import ExitStack
from pathlib import Path

from arena_client.v1 import ladder_pb2, ladder_pb2_grpc

from arena.store.ladder import baselines, events
from arena.store.opening import open_readonly
from tests.end_to_end.e2e_rig import PATIENCE, audit, channel_to, listed, program, server, until

GAME = "nullern"
MATCHES = 3


def replayed(data: Path) -> list[int]:
    with open_readonly(data) as connection:
        return [match.match_id for match in baselines.read(connection, GAME)]


def results(data: Path) -> list[int]:
    with open_readonly(data) as connection:
        return [event.match_id for event in events.read(connection, GAME)]


def luck(address: str) -> dict[str, ladder_pb2.Luck]:
    with channel_to(address) as channel:
        stub = ladder_pb2_grpc.LadderServiceStub(channel)
        answer = stub.GetLadder(ladder_pb2.GetLadderRequest(game=GAME), timeout=PATIENCE)
    return {line.bot: line.luck for line in answer.standings if line.HasField("luck")}


def test_baselines_outlive_every_death_of_their_server(tmp_path: Path) -> None:
    data, options = tmp_path / "data", ("--game", GAME)
    with server(data, *options) as arena, ExitStack() as stack:
        for name in ("ann", "bob"):
            command = ["-m", "arena_client.samples.random_bot", "--server", arena.address, "--name", name]
            command += ["--token-file", str(tmp_path / f"{name}.token"), "--capacity", "2", "--game", GAME]
            stack.enter_context(program(*command))
        until(lambda: len(listed(arena.address)) > MATCHES, "some matches")
        arena.kill()
    audit(data)
    with server(data, *options) as arena:
        until(lambda: sorted(replayed(data)) == sorted(results(data)), "the baselines of what the dead server left")
        arena.kill()
    before = replayed(data)
    with server(data, *options) as arena:
        until(lambda: len(luck(arena.address)) == 2, "the ladder with its luck column")
        assert {each.matches for each in luck(arena.address).values()} == {len(before)}
        assert all(each.HasField("adjusted_error") for each in luck(arena.address).values())
        arena.signal(signal.SIGTERM)
        assert arena.ended() == 0
    assert replayed(data) == before
    audit(data)
