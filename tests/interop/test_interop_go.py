"""grpc-go, gRPC written anew in Go, with the code that buf generates, plays a match on a real server; grpcurl asks it
what there is to call.
"""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Final

import pytest

from tests.interop.interop_rig import BUILD, HERE, PATIENCE, built, checked, generated, offered, tool

GRPCURL: Final = "github.com/fullstorydev/grpcurl/cmd/grpcurl@v1.9.3"
SERVICES: Final = {
    *(f"arena.v1.{name}Service" for name in ("Bot", "Game", "Ladder", "Match", "Operator", "Play")),
    "grpc.health.v1.Health",
    "grpc.reflection.v1alpha.ServerReflection",
}

pytestmark = [pytest.mark.long, tool("go")]


@pytest.fixture(scope="module")
def client() -> Path:
    """The program."""
    folder = BUILD / "go"
    shutil.copytree(HERE / "go", folder, dirs_exist_ok=True)
    built("go", "install", "tool", where=folder, GOBIN=str(BUILD / "bin"), GOFLAGS="")
    generated("go", folder, BUILD / "bin")
    shutil.copytree(folder / "generated" / "go", folder, dirs_exist_ok=True)
    built("go", "build", "-o", "client", ".", where=folder, GOFLAGS="-buildvcs=false")
    return folder / "client"


@pytest.fixture(scope="module")
def grpcurl() -> Path:
    """Somebody else's program."""
    BUILD.mkdir(parents=True, exist_ok=True)
    if not (BUILD / "grpcurl").exists():
        built("go", "install", GRPCURL, where=BUILD, GOBIN=str(BUILD), GOFLAGS="")
    return BUILD / "grpcurl"


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_go_plays_looks_up_and_is_refused(tmp_path: Path, client: Path, tls: bool) -> None:
    checked(tmp_path, [client], tls=tls)


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_go_learns_from_the_server_what_there_is_to_call(tmp_path: Path, grpcurl: Path, tls: bool) -> None:
    with offered(tmp_path, tls) as (running, roots):
        trust = ["-cacert", *roots, "-servername", "localhost"] if tls else ["-plaintext"]

        def say(*words: str, status: int = 0, flags: tuple[str, ...] = ()) -> str:
            command = [str(grpcurl), *trust, *flags, running.address, *words]
            ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
            assert (ran.returncode == 0) == (status == 0), f"{ran.stdout}\n{ran.stderr}"
            return ran.stdout + ran.stderr

        assert set(say("list").split()) >= SERVICES
        assert "rpc GetReplay ( .arena.v1.GetReplayRequest ) returns ( stream .arena.v1.GetReplayResponse );" in say(
            "describe", "arena.v1.MatchService"
        )
        assert "google.protobuf.Timestamp" in say("describe", "arena.v1.BotEntry")
        assert "not found" in say("describe", "arena.v1.Nothing", status=1).lower()
        assert [game["name"] for game in json.loads(say("arena.v1.GameService/ListGames"))["games"]] == ["nullern"]
        assert json.loads(say("grpc.health.v1.Health/Check")) == {"status": "SERVING"}
        assert "Unauthenticated" in say("arena.v1.PlayService/Play", status=1)
        odd = ("-d", '{"bot": "x", "game": "chess"}')
        assert "this server does not play 'chess'; it plays nullern" in say(
            "arena.v1.LadderService/GetHistory", status=1, flags=odd
        )
