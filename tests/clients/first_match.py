"""The way from an empty folder to the first rated match in each language that has an SDK, as documented.

    python -m tests.clients.first_match [--language go …] [--json]

Each run begins with a copy of the checkout in an otherwise empty folder. It starts the server as in the README. Then it
installs packages, and builds and starts the bot, with the unchanged commands of the SDK's README. The environment
contains nothing else from this project. The bot is the one in docs/languages.md or a starter. Only the server's port
differs. Package managers may use downloads that this user has cached, but no compiled files.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, NamedTuple

import click
from rich.console import Console
from rich.table import Table

from tests.cli.cli_rig import PATIENCE, arena, shown
from tests.documents import ADDRESS, CONSOLE, ROOT, blocks, first_bots

LANGUAGES: Final = {"python": (), "typescript": ("npm",), "go": ("go",), "cpp": ("cmake", "grpc_cpp_plugin"),
                    "rust": ("cargo",), "java": ("mvn",)}  # fmt: skip
"""The languages in the order of docs/languages.md, each with the tools that it needs."""
STARTERS: Final = {
    "bash": ("bash", "jq"),
    "awk": ("awk",),
    "ruby": ("ruby",),
    "lua": ("lua",),
    "csharp": ("mcs", "mono"),
}
"""The starters in the order of clients/starters/README.md, each with the tools that it needs."""
TOOLS: Final[dict[str, tuple[str, ...]]] = {**LANGUAGES, **STARTERS}
LONGEST: Final = 900.0
"""Maximum number of seconds for a step. Only a failing step takes that long."""


class Guide(NamedTuple):
    """The steps of an SDK's README."""

    packages: str
    """Commands that create a project and add the SDK."""
    files: dict[str, str]
    """The files that the author writes next, by name."""
    build: str
    """Commands that build a program from the files, if any."""
    play: str
    """The command that starts the bot."""


class Steps(NamedTuple):
    """Durations in seconds. All are wall-clock time, except the last, which is processor time."""

    server: float
    """Time from the copy of the checkout until the server listens."""
    packages: float
    build: float
    match: float
    """Time from the bot's start until its first rated match is listed."""
    total: float
    """Time from the empty folder to the first rated match."""
    processor: float
    """Seconds of processor time for all steps; other load on the machine affects it less than wall-clock time.

    """

    def __str__(self) -> str:
        return ", ".join(f"{name} {seconds:.0f} s" for name, seconds in self._asdict().items())


def guide(language: str) -> Guide:
    """Return the steps of an SDK's README with the bot of docs/languages.md, or the steps of the starters' README."""
    if language in STARTERS:
        packages, *starters = blocks((ROOT / "clients" / "starters" / "README.md").read_text(encoding="utf-8"), "sh")
        *build, start = starters[list(STARTERS).index(language)].splitlines()
        return Guide(packages, {}, "\n".join(build), start)
    text = (ROOT / "clients" / language / "README.md").read_text(encoding="utf-8")
    files = dict(re.findall(r"(?:^|[ (])([\w./]+\.\w+):\n\n```\w+\n(.*?)^```$", text, re.DOTALL | re.MULTILINE))
    assert files, f"clients/{language}/README.md does not say which file the bot is, as in 'a complete bot, bot.py:'"
    bot = next(iter(files))
    files[bot] = first_bots()[list(LANGUAGES).index(language)]
    packages, play, *_ = blocks(text, "sh")
    *build, start = play.splitlines()
    assert ADDRESS in start + files[bot], f"{language}: neither the bot nor the command that starts it names a server"
    return Guide(packages, files, "\n".join(build), start)


def newcomer(home: Path) -> dict[str, str]:
    """Return the environment of an author: tools and cached packages, but nothing of this project."""
    of_ours = re.compile(r"PYTHON|UV_|ARENA_|COV|PYTEST|VIRTUAL_ENV|MAKE|MFLAGS|CI$")
    own, there = {name: value for name, value in os.environ.items() if not of_ours.match(name)}, Path.home()
    places = [place for place in own["PATH"].split(os.pathsep) if not Path(place).is_relative_to(Path(sys.prefix))]
    cargo, rustup = (os.environ.get(f"{name}_HOME", str(there / f".{name}".lower())) for name in ("CARGO", "RUSTUP"))
    return own | {
        "HOME": str(home),
        "PATH": os.pathsep.join(places),
        "XDG_CACHE_HOME": str(there / ".cache"),  # caches of pip and uv
        "npm_config_cache": str(there / ".npm"),
        "CARGO_HOME": cargo,
        "RUSTUP_HOME": rustup,
        "GOPATH": os.environ.get("GOPATH", str(there / "go")),
        "GOCACHE": str(home / "go-build"),  # caches of compiled files
        "JAVA_TOOL_OPTIONS": f"-Duser.home={home} -Dmaven.repo.local={there / '.m2' / 'repository'}",
    }


def copy_checkout(to: Path) -> None:
    """Copy the files of the repository, including uncommitted changes."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    for name in listed.stdout.decode().split("\0")[:-1]:
        if (ROOT / name).is_file():
            (to / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, to / name)


def first_match(language: str, folder: Path) -> Steps:
    """Execute all steps in an empty folder."""
    said, home = guide(language), folder.with_name(f"{folder.name}-home")
    home.mkdir()
    environment, before = newcomer(home), os.times()
    copy_checkout(folder / "arena")
    with _served(folder / "arena", environment) as (address, server):
        where, packages = _done(said.packages, folder, environment)
        for name, text in said.files.items():
            (where / name).write_text(text.replace(ADDRESS, address), encoding="utf-8")
        where, build = _done(said.build, where, environment)
        match = _played(said.play.replace(ADDRESS, address), where, environment, address)
    after = os.times()
    processor = after.children_user + after.children_system - before.children_user - before.children_system
    return Steps(server, packages, build, match, server + packages + build + match, processor)


def first_match_of_new(language: str, folder: Path, address: str) -> None:
    """Follow the instructions that `arena new` prints for a bot in a language, with the server at this address."""
    home = folder.with_name(f"{folder.name}-home")
    home.mkdir()
    environment = newcomer(home)
    _, _, *build, start = shown("new", "my-bot", "--language", language, "--directory", folder).splitlines()
    for path in folder.glob("*.*"):
        if ADDRESS in (text := path.read_text(encoding="utf-8", errors="replace")):
            path.write_text(text.replace(ADDRESS, address), encoding="utf-8")
    for command in build:
        _done(command, folder, environment)
    _played(start.strip().replace(ADDRESS, address), folder, environment, address)


def _done(commands: str, where: Path, environment: dict[str, str]) -> tuple[Path, float]:
    """Run a document's commands in a shell. Return the folder in which they end, and the seconds that they took."""
    began = time.monotonic()
    ran = subprocess.run(
        ["sh", "-exc", f'{commands}\npwd > "$HOME/where"'],
        cwd=where,
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        timeout=LONGEST,
        check=False,
    )
    assert ran.returncode == 0, f"{commands}\nin {where}: {ran.stdout}"
    return Path((Path(environment["HOME"]) / "where").read_text().strip()), time.monotonic() - began


@contextmanager
def _served(checkout: Path, environment: dict[str, str]) -> Iterator[tuple[str, float]]:
    """Start the README's server on any free port. Yield its address and the seconds until it listened."""
    activate, serve = (next(line for line in CONSOLE if line.startswith(begin)) for begin in (". ", "arena serve "))
    began = time.monotonic()
    _done("make setup", checkout, environment)
    command = f"{activate}\nexec {serve} --address 127.0.0.1:0"
    with (
        (Path(environment["HOME"]) / "server.log").open("w") as log,
        subprocess.Popen(
            ["sh", "-ec", command], cwd=checkout, env=environment, stdout=subprocess.PIPE, stderr=log, text=True
        ) as server,
    ):
        try:
            assert server.stdout is not None
            line = server.stdout.readline()
            found = re.match(r"Arena listens on (\S+:\d+),", line)
            assert found, f"{command}: {line}{Path(log.name).read_text()}"
            yield found[1], time.monotonic() - began
        finally:
            _interrupt(server)


def _played(command: str, where: Path, environment: dict[str, str], address: str) -> float:
    """Start the bot, and stop it when its first rated match is listed. Return the seconds until then."""
    log = Path(environment["HOME"]) / "bot.log"
    began = time.monotonic()
    with (
        log.open("w") as out,
        subprocess.Popen(["sh", "-ec", f"exec {command}"], cwd=where, env=environment, stdout=out, stderr=out) as bot,
    ):
        try:
            while not _rated(address):
                assert bot.poll() is None, f"{command} ended with status {bot.returncode}: {log.read_text()}"
                assert time.monotonic() - began < PATIENCE, f"{command}: no rated match yet: {log.read_text()}"
                time.sleep(0.1)
            took = time.monotonic() - began
        finally:
            _interrupt(bot)
    assert bot.returncode == 0, log.read_text()
    return took


def _rated(address: str) -> bool:
    """Return True if the bot has a finished rated match."""
    ran = arena("matches", "--bot", "my-bot", "--server", address, "--json")
    if "there is no bot 'my-bot'" in ran.output:  # the bot has not registered yet
        return False
    assert ran.exit_code == 0, ran.output
    return any((row["kind"], row["state"]) == ("rated", "finished") for row in json.loads(ran.stdout)["matches"])


def _interrupt(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> None:
    """End a process as Ctrl-C does."""
    process.send_signal(signal.SIGINT)
    try:
        process.wait(PATIENCE)
    except subprocess.TimeoutExpired:
        process.kill()


@click.command()
@click.option("--language", "languages", type=click.Choice([*TOOLS]), multiple=True, help="Repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(languages: tuple[str, ...], as_json: bool) -> None:
    """Go from an empty folder to the first rated match in each language whose tools are installed."""
    found = dict[str, Steps]()
    for language in languages or TOOLS:
        if missing := [tool for tool in TOOLS[language] if shutil.which(tool) is None]:
            click.echo(f"{language} is left out: there is no {missing[0]} here", err=True)
            continue
        with tempfile.TemporaryDirectory() as folder:
            (Path(folder) / "empty").mkdir()
            found[language] = first_match(language, Path(folder) / "empty")
    if as_json:
        click.echo(json.dumps({name: steps._asdict() for name, steps in found.items()}, indent=2))
        return
    table = Table(title="From an empty folder to the first rated match, in seconds")
    for heading in ("language", *Steps._fields):
        table.add_column(heading, justify="left" if heading == "language" else "right")
    for language, steps in found.items():
        table.add_row(language, *(f"{seconds:.1f}" for seconds in steps))
    Console().print(table)


if __name__ == "__main__":
    main()
