"""The distributions of this repository, each in an environment without the rest of the repository."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import time
import tomllib
import zipfile
from collections.abc import Mapping, Sequence
from html import unescape
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path
from typing import Final

import pytest
from arena_client.version import __version__ as version_of_client

from arena.version import __version__ as version
from arena.wheels import engine_wheel
from engine.version import __version__ as version_of_engine
from tests.cli.test_cli_serve_web import Server, serving
from trio_grpc.version import __version__ as version_of_transport

pytestmark = pytest.mark.process

ROOT: Final = Path(__file__).parents[1]
PIP: Final = (sys.executable, "-m", "pip", "--quiet", "--python")
"""Start of a pip command that works on another environment, whose Python follows."""
GAME_OF_EACH: Final = """
import sys
before = {*sys.modules}
from random import Random
from engine.deal import SeededDecks
from engine.registry import GAMES

random = Random(1)
for game in GAMES.values():
    state = game.new(game.seats.start, SeededDecks(bytes(32)))
    while (player := state.player) >= 0:
        view, legal = state.view(player), state.legal(player)
        assert len(state.vector(player)) == sum(field.size for field in game.observation(game.seats.start))
        game.sample(view, random).apply(legal[0], player)
        state.apply(random.choice(legal), player)
    print(game.name, len(state.ranking()))
print(sorted({name.partition(".")[0] for name in {*sys.modules} - before} - sys.stdlib_module_names))
"""
ECHO: Final = """
import grpc, sys, trio
from trio_grpc.grpc.server import Service, serve

class Echo:
    async def Say(self, stream):
        while (message := await stream.receive()) is not None:
            await stream.send(message)

def register(servicer, server):
    server.add_registered_method_handlers("Echo", {"Say": grpc.stream_stream_rpc_method_handler(servicer.Say)})

def ask(port):
    with grpc.insecure_channel(f"127.0.0.1:{port}") as channel:
        return [*channel.stream_stream("/Echo/Say")(iter([b"one", b"two"]), timeout=60)]

async def main():
    async with trio.open_nursery() as nursery:
        port = await nursery.start(serve, [Service(register, Echo())], "127.0.0.1:0")
        for answer in await trio.to_thread.run_sync(ask, port):
            print(answer.decode())
        nursery.cancel_scope.cancel()

trio.run(main)
"""
PETTINGZOO_TEST: Final = """
from pettingzoo.test import api_test
from engine.adapters.pettingzoo import env
api_test(env("nullern", seats=3), num_cycles=100)
"""


def run(words: list[str], folder: Path, status: int = 0, settings: Mapping[str, str] = {}) -> str:
    """Return the output of a program that cannot import anything from this checkout."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "UV_", "ARENA_"))}
    clean |= settings
    ran = subprocess.run(words, cwd=folder, env=clean, capture_output=True, text=True, timeout=600, check=False)
    assert ran.returncode == status, (words, ran.stdout, ran.stderr)
    return ran.stdout + ran.stderr


def environment(folder: Path, *, pip: bool = False) -> Path:
    """Create an environment that is empty or has only pip. Return the folder of its programs."""
    name, options = ("builder", []) if pip else ("venv", ["--without-pip"])
    run([sys.executable, "-m", "venv", *options, name], folder)
    return folder / name / "bin"


def install(programs: Path, *words: str | Path) -> None:
    """Use this environment's pip to install into another environment."""
    run([*PIP, str(programs / "python"), *map(str, words)], programs.parent.parent)


def built(folder: Path, places: Sequence[str], settings: Mapping[str, str]) -> dict[str, Path]:
    """Build the repository's wheels as for a release, in an environment with only pip. Return them by distribution."""
    words = [str(environment(folder, pip=True) / "pip"), "wheel", "--no-deps", "--wheel-dir", "dist"]
    run([*words, *(str(ROOT / place) for place in places)], folder, settings=settings)
    return {wheel.name.partition("-")[0]: wheel for wheel in (folder / "dist").iterdir()}


def names(wheel: Path) -> set[str]:
    with zipfile.ZipFile(wheel) as packed:
        return set(packed.namelist())


def test_the_engine_alone_plays_every_game_with_the_standard_library(tmp_path: Path) -> None:
    name, content = engine_wheel()
    (tmp_path / name).write_bytes(content)
    programs = environment(tmp_path)
    install(programs, "install", "--no-index", tmp_path / name)
    said = run([str(programs / "python"), "-W", "error", "-c", GAME_OF_EACH], tmp_path)
    assert said.splitlines() == ["sixth_sense 2", "nullern 2", "['engine']"]


def test_all_distributions_have_one_version_and_name_each_other_by_one_that_no_registry_takes() -> None:
    assert version_of_client == version_of_engine == version_of_transport == f"{version}+file"
    needed = {
        ".": ["arena-client", "arena-engine", "trio-grpc"],
        "clients/python": ["arena-engine"],
        "trio_grpc": [],
        "engine": [],
    }
    for place, others in needed.items():
        project = tomllib.loads((ROOT / place / "pyproject.toml").read_text())["project"]
        required = [*project["dependencies"], *project.get("optional-dependencies", {}).get("engine", ())]
        named = [each for each in required if each.startswith(("arena", "trio-grpc"))]
        assert named == [f"{other}=={version}+file" for other in others]


@pytest.mark.long
@pytest.mark.parametrize("build", ["sources", "compiled"])
def test_the_wheels_of_a_release_play_in_an_empty_environment(tmp_path: Path, build: str) -> None:
    """Install from a registry the libraries that the wheels need."""
    settings = {"HATCH_BUILD_NO_HOOKS": "true"} if build == "sources" else {"CI": "true"}
    wheels = built(tmp_path, (".", "engine", "clients/python", "trio_grpc"), settings)
    starters = {path.name for path in (ROOT / "clients" / "starters").iterdir()}
    assert {f"arena/sdks/clients/starters/{name}" for name in starters} <= names(wheels["arena"])
    for place in ("clients/cpp", "clients/go", "clients/java", "clients/rust", "clients/typescript", "proto/arena"):
        listed = run(["git", "ls-files", place], ROOT).splitlines()
        shipped = {name for name in names(wheels["arena"]) if name.startswith(f"arena/sdks/{place}/")}
        assert shipped == {f"arena/sdks/{name}" for name in listed}, "the sources for `arena new`, and nothing made"
    server, engine = wheels["arena"], wheels["arena_engine"]
    client, transport = wheels["arena_client"], wheels["trio_grpc"]
    tops = {"arena", f"arena-{version}.dist-info"}
    assert {name.partition("/")[0] for name in names(server) if not name.startswith("arena_compiled")} == tops
    if build == "sources":
        packed, content = engine_wheel()
        (tmp_path / packed).write_bytes(content)
        assert names(tmp_path / packed) == names(engine), "a bot's project is given what a release has"

    assert any("/compiled__mypyc" in name for name in names(transport)) == (build == "compiled")
    programs = environment(tmp_path)
    install(programs, "install", transport)
    said = run([str(programs / "python"), "-W", "error", "-c", ECHO], tmp_path)
    assert said.splitlines() == ["one", "two"]

    install(programs, "install", f"{engine}[pettingzoo]", server, client)
    arena = str(programs / "arena")
    assert run([arena, "--version"], tmp_path) == f"arena, version {version} ({build})\n"
    offered = "from arena.web.pages.downloads import downloads; print(*downloads())"
    assert starters < {*run([str(programs / "python"), "-c", offered], tmp_path).split()}
    said = run([arena, "demo", "--seconds", "1"], tmp_path)
    assert "a replay" in said, said
    assert "Passed API test" in run([str(programs / "python"), "-c", PETTINGZOO_TEST], tmp_path)
    install(programs, "uninstall", "--yes", "arena-client")
    for verb in ("demo", "matches"):
        told = run([arena, verb], tmp_path, 1)
        assert re.fullmatch(r"Error: the Python client is not installed: run .*arena_client-\*\.whl.*\n", told)
    install(programs, "uninstall", "--yes", "trio-grpc")
    told = run([arena, "serve"], tmp_path, 1)
    assert re.fullmatch(r"Error: the gRPC server for trio is not installed: run .*trio_grpc-\*\.whl.*\n", told)
    install(programs, "uninstall", "--yes", "arena-engine")
    for verb in ("demo", "games", "rules"):
        told = run([arena, verb], tmp_path, 1)
        assert re.fullmatch(r"Error: the engine is not installed: run .*arena_engine-\*\.whl.*\n", told)


@pytest.mark.long
def test_the_pages_lead_from_an_empty_environment_to_a_match(tmp_path: Path) -> None:
    """Follow the instructions of the page for authors. The client's libraries come from a registry."""
    with serving(tmp_path / "data", "--seats", "2") as server:
        page = server.get("/write-a-bot")[1]
        installs, bot, *_ = [unescape(each) for each in re.findall(r"<code>([^<]*)</code></pre>", page)]
        found = re.search(r"pip install (http://\S+\.whl#sha256=[0-9a-f]{64})$", installs)
        assert found
        assert f'"{server.address}"' in bot
        programs = environment(tmp_path)
        wrong = re.sub(r"[0-9a-f]{64}$", 64 * "0", found[1])
        assert "hash" in run([*PIP, str(programs / "python"), "install", wrong], tmp_path, status=1).lower()
        install(programs, "install", found[1])
        (tmp_path / "my_bot.py").write_text(bot)
        clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "ARENA_"))}
        with subprocess.Popen(
            [programs / "python", "my_bot.py"], cwd=tmp_path, env=clean, stderr=subprocess.PIPE
        ) as plays:
            until = time.monotonic() + 120
            while not finished(server) and time.monotonic() < until:
                time.sleep(0.5)
            plays.terminate()
            assert finished(server), plays.communicate()[1]


def finished(server: Server) -> bool:
    """Return True if the page's bot has played a match to its end."""
    played = json.loads(server.get("/api/v1/matches?bot=my-bot")[1])["matches"]
    return any(match["state"] == "finished" for match in played)


@pytest.mark.long
def test_a_source_distribution_of_the_engine_gives_the_compiled_wheel(tmp_path: Path) -> None:
    """The compiler's packages come from a registry."""
    uv = str(Path(sys.executable).with_name("uv"))
    settings = {"CI": "true", "UV_SYSTEM_CERTS": "true"}
    run(
        [uv, "build", "--python", sys.executable, "--out-dir", "dist", str(ROOT / "engine")],
        tmp_path,
        settings=settings,
    )
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    packed, content = engine_wheel()
    (tmp_path / packed).write_bytes(content)
    compiled = {name for name in names(wheel) if name.endswith(tuple(EXTENSION_SUFFIXES))}
    assert names(wheel) - compiled == names(tmp_path / packed)
    programs = environment(tmp_path)
    install(programs, "install", "--no-index", wheel)
    said = run([str(programs / "python"), "-W", "error", "-c", GAME_OF_EACH], tmp_path)
    assert said.splitlines() == ["sixth_sense 2", "nullern 2", "['engine']"]
    where = run([str(programs / "python"), "-c", "import engine.deal; print(engine.deal.__file__)"], tmp_path)
    assert where.strip().endswith(tuple(EXTENSION_SUFFIXES))


@pytest.mark.long
def test_a_source_distribution_of_the_grpc_server_gives_the_compiled_wheel(tmp_path: Path) -> None:
    """The compiler's packages and its libraries come from a registry."""
    words = [str(Path(sys.executable).with_name("uv")), "build", "--python", sys.executable, "--out-dir", "dist"]
    run([*words, str(ROOT / "trio_grpc")], tmp_path, settings={"CI": "true", "UV_SYSTEM_CERTS": "true"})
    (wheel,) = (tmp_path / "dist").glob("*.whl")
    programs = environment(tmp_path)
    install(programs, "install", wheel)
    where = "import trio_grpc.http2.listener as listener; print(listener.__file__)"
    said = run([str(programs / "python"), "-W", "error", "-c", ECHO + where], tmp_path)
    assert said.splitlines()[:2] == ["one", "two"]
    assert said.strip().endswith(tuple(EXTENSION_SUFFIXES))


def pure(folder: Path, settings: Mapping[str, str]) -> str:
    """Return the output of a build of the engine's wheel, which must be a pure wheel."""
    words = [str(environment(folder, pip=True) / "pip"), "wheel", "--verbose", "--no-deps", "--wheel-dir", "dist"]
    said = run([*words, str(ROOT / "engine")], folder, settings=settings)
    assert [wheel.name for wheel in (folder / "dist").iterdir()] == [
        f"arena_engine-{version_of_engine}-py3-none-any.whl"
    ]
    return said


@pytest.mark.long
def test_without_a_compiler_a_wheel_is_pure_and_says_so(tmp_path: Path) -> None:
    assert "a pure wheel, which is slower" in (said := pure(tmp_path, {"PATH": str(tmp_path)})), said
    assert re.search(r"no C compiler \S+: ", said), said


@pytest.mark.long
def test_a_build_that_fails_leaves_a_pure_wheel_and_says_so_but_is_an_error_where_ci_is_set(tmp_path: Path) -> None:
    said = pure(tmp_path, {"CC": "false", "CI": ""})
    assert "compiling failed, as said above: a pure wheel, which is slower" in said, said
    words = [str(tmp_path / "builder" / "bin" / "pip"), "wheel", "--no-deps", "--wheel-dir", "none"]
    said = run([*words, str(ROOT / "engine")], tmp_path, status=1, settings={"CC": "false", "CI": "true"})
    assert "compiling failed, as said above; HATCH_BUILD_NO_HOOKS=true makes a pure wheel" in said, said
