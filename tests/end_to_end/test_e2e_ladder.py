"""The fitted ladder of real servers. It stays the same bit for bit after fits, annulled results and kills."""

from __future__ import annotations

import os
import signal
from contextlib import ExitStack
from pathlib import Path

import grpc
import pytest
from arena_client.v1 import (
    bots_pb2,
    bots_pb2_grpc,
    ladder_pb2,
    ladder_pb2_grpc,
    operator_pb2,
    operator_pb2_grpc,
)

from arena.store.base.directory import operator_token
from tests.end_to_end.e2e_rig import PATIENCE, Server, audit, channel_to, listed, program, server, until

GAME = "sixth_sense"


def play(arena: Server, home: Path, matches: int, version: str) -> None:
    with ExitStack() as stack:
        bots = [
            stack.enter_context(
                program(
                    *("-m", "arena_client.samples.random_bot", "--server", arena.address, "--name", name),
                    *("--token-file", str(home / f"{name}.token"), "--matches", str(matches), "--capacity", "2"),
                    *("--game", GAME, "--bot-version", version),
                )
            )
            for name in ("ann", "bob")
        ]
        for bot in bots:
            words, _ = bot.communicate(timeout=PATIENCE)
            assert bot.returncode == 0, words


def ladder(address: str, seats: int = 0) -> ladder_pb2.GetLadderResponse:
    with channel_to(address) as channel:
        stub = ladder_pb2_grpc.LadderServiceStub(channel)
        answer: ladder_pb2.GetLadderResponse = stub.GetLadder(
            ladder_pb2.GetLadderRequest(game=GAME, seats=seats or None), timeout=PATIENCE
        )
        return answer


def workers(data: Path) -> list[int]:
    """Return the processes that fit the ladders of a data directory."""
    found = []
    for process in Path("/proc").iterdir():
        try:
            words = (process / "cmdline").read_bytes().split(b"\0") if process.name.isdigit() else []
        except OSError:
            continue  # the fit process has ended
        if b"arena.server.ratings.fit_process" in words and str(data).encode() in words:
            found.append(int(process.name))
    return found


def void(arena: Server, match_id: int, reason: str) -> None:
    with channel_to(arena.address) as channel:
        stub = operator_pb2_grpc.OperatorServiceStub(channel)
        authorization = (("authorization", f"Bearer {operator_token(arena.data)}"),)
        request = operator_pb2.VoidResultRequest(match_id=match_id, reason=reason)
        stub.VoidResult(request, timeout=PATIENCE, metadata=authorization)


def test_a_ladder_outlives_every_death_of_its_server_and_of_the_process_that_fits(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with server(data) as arena:
        play(arena, tmp_path, 4, "1")
        assert not ladder(arena.address).HasField("through")
        assert all(line.provisional and not line.HasField("best") for line in ladder(arena.address).standings)
        arena.kill()
    audit(data)
    with server(data) as arena:
        until(lambda: ladder(arena.address).through == 4, "the fit of what the dead server left")
        # a forked process looks like its parent for a moment
        until(lambda: len(workers(data)) == 1, "one process that fits")
        (worker,) = workers(data)
        os.kill(worker, signal.SIGKILL)
        play(arena, tmp_path, 3, "2")
        first = listed(arena.address)[-1].match_id
        void(arena, first, "the deal was known")
        with pytest.raises(grpc.RpcError, match="void already: the deal was known"):
            void(arena, first, "again")
        until(lambda: ladder(arena.address).through == 8, "the fit of the void result")
        assert listed(arena.address)[-1].voided == "the deal was known"
        made = ladder(arena.address)
        assert {(line.bot, line.version, line.matches) for line in made.standings} == {("ann", "2", 3), ("bob", "2", 3)}
        assert all(line.think_95_us > 0 and line.forced_share == 0 for line in made.standings)
        assert sum(line.best for line in made.standings) == pytest.approx(1)
        (small,) = {line.matches for line in ladder(arena.address, 2).standings}
        assert small == 3
        assert list(ladder(arena.address, 4).standings) == []
        with channel_to(arena.address) as channel:
            stub = ladder_pb2_grpc.LadderServiceStub(channel)
            history = stub.GetHistory(ladder_pb2.GetHistoryRequest(game=GAME, bot="Ann"), timeout=PATIENCE).matches
            bots = bots_pb2_grpc.BotServiceStub(channel).ListBots(bots_pb2.ListBotsRequest(), timeout=PATIENCE).bots
        assert [moment.version for moment in history] == ["1"] * 4 + ["2"] * 3
        assert [moment.voided for moment in history].count(True) == 1
        assert {(bot.name, bot.version) for bot in bots} == {("ann", "2"), ("bob", "2")}
        until(lambda: len(workers(data)) == 1, "one process that fits again")
        arena.kill()
        until(lambda: not workers(data), "the end of the process that fits")
    audit(data)
    with server(data) as arena:
        assert ladder(arena.address).digest == made.digest
        arena.signal(signal.SIGTERM)
        assert arena.ended() == 0
    audit(data)
