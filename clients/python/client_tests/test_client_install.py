"""The distribution on its own: with the oldest libraries it allows, without the server, and beside it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from client_tests.peer import Peer
from client_tests.test_client_connection import one_match

pytestmark = pytest.mark.process

DISTRIBUTION = Path(__file__).parent.parent


@pytest.mark.long
def test_a_bot_plays_with_the_oldest_libraries_allowed(tmp_path: Path) -> None:
    uv = str(Path(sys.executable).with_name("uv"))
    python = tmp_path / "venv" / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("UV_", "PYTHON"))}

    def call(*command: str) -> str:
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True, timeout=300
        )
        return done.stdout

    call(uv, "venv", "--quiet", "--python", "3.11", "venv")
    told = ["--quiet", "--python", str(python), "--resolution", "lowest-direct"]
    call(uv, "pip", "install", *told, str(DISTRIBUTION))
    installed = call(uv, "pip", "freeze", "--python", str(python)).splitlines()
    client, common_protos, grpcio, protobuf = sorted(installed)
    assert client.startswith("arena-client")
    assert common_protos == "googleapis-common-protos==1.65.0"
    assert grpcio == "grpcio==1.71.2"
    assert protobuf.startswith("protobuf==5.29.")  # the first of them were withdrawn
    bot = "from arena_client import Bot\nclass First(Bot):\n    def decide(self, decision): return decision.legal[0]\n"
    (tmp_path / "bot.py").write_text(bot)
    with Peer([one_match]) as peer:
        call(
            str(python), "-W", "error", "-m", "arena_client", "bot:First", peer.address, "--token-file=t", "--matches=1"
        )
    assert (tmp_path / "t").exists()


@pytest.mark.parametrize(
    "order", ["import arena.v1.play_pb2 as s, arena_client as c", "import arena_client as c, arena.v1.play_pb2 as s"]
)
def test_client_and_server_live_in_one_process(order: str) -> None:
    program = f"""{order}
message = s.Notice(match_id=7, text="x").SerializeToString()
assert c.Notice.FromString(message).match_id == 7
"""
    subprocess.run(
        [sys.executable, "-W", "error", "-c", program], cwd=DISTRIBUTION.parent.parent, check=True, timeout=60
    )


def test_the_polling_asked_of_grpc_is_known_to_it_and_leaves_nothing_behind() -> None:
    """gRPC complains on standard error about a setting that it does not know."""
    program = """import os, sys, arena_client, grpc
grpc.insecure_channel("127.0.0.1:1").close()
sys.exit(os.environ.get("GRPC_EXPERIMENTS", "nothing"))"""
    for told, left in (({}, "nothing"), ({"GRPC_EXPERIMENTS": "-event_engine_listener"}, "-event_engine_listener")):
        environment = {name: value for name, value in os.environ.items() if not name.startswith("GRPC_")}
        done = subprocess.run(
            [sys.executable, "-c", program],
            check=False,
            env=environment | told,
            capture_output=True,
            text=True,
            timeout=60,
        )
        assert done.stderr.strip() == left
