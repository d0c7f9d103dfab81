"""The distribution by itself: with the oldest libraries that it allows, without the server, and together with the
server.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import arena_client
import pytest
from client_tests.peer import Peer
from client_tests.test_client_connection import one_match

pytestmark = pytest.mark.process

DISTRIBUTION = Path(__file__).parent.parent
ROOT = DISTRIBUTION.parents[1]
WINDOWS = (ROOT / ".github" / "workflows" / "client.yml").read_text("utf-8")


def program(environment: Path, name: str) -> str:
    """Return the path of a program in a virtual environment."""
    return str(environment / ("Scripts" if os.name == "nt" else "bin") / name)


def found_python(version: str) -> str | None:
    """Return a Python of this version, found on the path or among pyenv's versions; None if there is none."""
    pyenv = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"), "versions").glob(f"{version}.*/bin/python3")
    for each in (shutil.which(f"python{version}"), *map(str, pyenv)):
        if each and subprocess.run([each, "--version"], capture_output=True, check=False).returncode == 0:
            return each
    return None


@pytest.mark.long
def test_a_bot_plays_with_the_oldest_libraries_allowed(tmp_path: Path) -> None:
    uv = str(Path(sys.executable).with_name("uv"))
    python = program(tmp_path / "venv", "python")
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("UV_", "PYTHON"))}

    def call(*command: str) -> str:
        done = subprocess.run(
            command, cwd=tmp_path, env=environment, check=True, capture_output=True, text=True, timeout=300
        )
        return done.stdout

    call(uv, "venv", "--quiet", "--python", "3.11", "venv")
    told = ["--quiet", "--python", python, "--resolution", "lowest-direct"]
    call(uv, "pip", "install", *told, str(DISTRIBUTION))
    installed = call(uv, "pip", "freeze", "--python", python).splitlines()
    client, common_protos, grpcio, protobuf = sorted(installed)
    assert client.startswith("arena-client")
    assert common_protos == "googleapis-common-protos==1.65.0"
    assert grpcio == "grpcio==1.71.2"
    assert protobuf.startswith("protobuf==5.29.")  # the first releases of 5.29 were withdrawn
    bot = "from arena_client import Bot\nclass First(Bot):\n    def decide(self, decision): return decision.legal[0]\n"
    (tmp_path / "bot.py").write_text(bot)
    with Peer([one_match]) as peer:
        call(python, "-W", "error", "-m", "arena_client", "bot:First", peer.address, "--token-file=t", "--matches=1")
    assert (tmp_path / "t").exists()


@pytest.mark.long
@pytest.mark.parametrize("version", re.findall(r'"(3\.\d+)"', WINDOWS))
def test_the_tests_pass_on_every_python_that_is_here(version: str, tmp_path: Path) -> None:
    """Use the commands of the workflow for Windows, in an environment with nothing else."""
    if (python := found_python(version)) is None:
        pytest.skip(f"there is no Python {version} here")
    subprocess.run([python, "-m", "venv", tmp_path / "venv"], check=True)
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("UV_", "PYTHON"))}
    install, test = re.findall(r"^      - run: python (.*)$", WINDOWS, re.MULTILINE)
    for words in (install, test):
        command = [program(tmp_path / "venv", "python"), *words.split()]
        ran = subprocess.run(
            command, cwd=ROOT, env=environment | {"HATCH_BUILD_NO_HOOKS": "true"}, capture_output=True, text=True,
            timeout=1200, check=False,
        )  # fmt: skip
        assert ran.returncode == 0, ran.stdout[-4000:] + ran.stderr[-2000:]


@pytest.mark.long
def test_a_bot_is_set_up_without_the_internet_as_the_readme_says(tmp_path: Path) -> None:
    page = (DISTRIBUTION / "README.md").read_text("utf-8").partition("### Without the internet")[2]
    collect, install = re.findall(r"```sh\n(.*?)```", page, re.DOTALL)
    (tmp_path / "arena").symlink_to(ROOT)

    def here(folder: str, script: str) -> None:
        (tmp_path / folder).mkdir(exist_ok=True)
        script = script.replace("python3 ", f"{program(tmp_path / 'venv', 'python')} ")
        subprocess.run(["sh", "-euc", script], cwd=tmp_path / folder, check=True, capture_output=True, timeout=300)

    subprocess.run([sys.executable, "-m", "venv", tmp_path / "venv"], check=True)
    here("windows", collect)
    wheels = [path.name for path in (tmp_path / "windows" / "wheels").iterdir()]
    for name in (
        "arena_client-.*-none-any",
        "grpcio-.*-win_amd64",
        "protobuf-.*-win_amd64",
        "googleapis_common_protos-.*",
    ):
        assert [wheel for wheel in wheels if re.fullmatch(f"{name}.whl", wheel)], wheels
    here("mine", collect.replace("--platform win_amd64 --python-version 3.13 ", ""))
    here("mine", install)
    (tmp_path / "bot.py").write_text("from arena_client import Bot\nclass First(Bot):\n    pass\n")
    here(".", "python3 -W error -c 'from bot import First; First(name=\"first\")'")


def loaded(program: str) -> list[str]:
    """Run a program in a separate process and return the modules that it imports, in order."""
    words = [sys.executable, "-W", "error", "-c", f"{program}\nimport sys; print(*sys.modules)"]
    return subprocess.run(words, check=True, timeout=60, capture_output=True, text=True).stdout.split()


def test_the_messages_alone_load_neither_the_sdk_nor_grpc() -> None:
    """A server also imports the messages, but its gRPC must not get a bot's settings."""
    found = loaded("from arena_client.v1 import bots_pb2, game_pb2, ladder_pb2, log_pb2, matches_pb2, play_pb2")
    of_the_sdk = {name for name in found if name.startswith("arena_client") and ".v1" not in name}
    assert of_the_sdk == {"arena_client", "arena_client.version"}
    assert not {"grpc", "asyncio", "logging"} & {*found}


@pytest.mark.skipif(find_spec("sqlalchemy") is None, reason="what the server needs is not installed")
def test_a_server_loads_of_the_sdk_the_messages_and_what_reads_them_only() -> None:
    found = loaded("import arena.api.server, arena.cli.operate.serve, arena.web.serving")
    of_the_sdk = {name for name in found if name.startswith("arena_client") and ".v1" not in name}
    assert of_the_sdk == {f"arena_client{name}" for name in ("", ".version", ".descriptors", ".errors")}


@pytest.mark.skipif(sys.platform != "linux", reason="the polling is set on Linux only")
@pytest.mark.parametrize("first", ["arena_client.run(arena_client.Bot(), 'nowhere')", "arena_client.__main__.main()"])
def test_grpc_is_first_imported_with_the_polling_for_the_first_connection(first: str) -> None:
    """The address is wrong, so the program makes no connection."""
    watched = """
import arena_client.__main__, os, sys
for name in arena_client.__all__: getattr(arena_client, name)
assert "grpc" not in sys.modules
sys.argv = ["arena-bot", "unpark", "me", "--server", "nowhere"]
def imported(event, names):
    if event == "import" and names[0] == "grpc":
        assert os.environ.get("GRPC_EXPERIMENTS") == "-event_engine_client"
sys.addaudithook(imported)
try: %s
except (SystemExit, ValueError): pass
"""
    assert "grpc" in loaded(watched % first)


def test_every_name_of_the_sdk_is_there() -> None:
    loaded(
        "import arena_client as c\nfor name in c.__all__: assert name in dir(c) and getattr(c, name) is vars(c)[name]"
    )


def test_a_name_that_the_sdk_does_not_have_is_an_error() -> None:
    with pytest.raises(AttributeError, match="module 'arena_client' has no attribute 'Bott'"):
        arena_client.Bott  # type: ignore[attr-defined] # noqa: B018


def test_the_polling_asked_of_grpc_is_known_to_it_and_leaves_nothing_behind() -> None:
    """gRPC reports unknown settings on standard error."""
    program = """import os, sys, arena_client
try: arena_client.run(arena_client.Bot(), "nowhere")
except ValueError: import grpc
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
