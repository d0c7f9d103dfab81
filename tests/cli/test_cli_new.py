"""`arena new` as an author uses it: from an empty folder to a rated match, following the README of the new project."""

import json
import os
import re
import shlex
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from arena.cli.workbench import new
from arena.local.project import project
from arena.local.project.sdk_project import LANGUAGES as SDKS
from arena.local.project.sdk_project import STARTERS
from tests.cli.cli_rig import PATIENCE, arena, serving, shown

BAR = 120.0
"""Maximum number of seconds from an empty folder to the first rated match."""


def run(words: list[str], folder: Path, home: Path) -> str:
    """Run a program of the project that must succeed, and return its output. The program can import only installed
    packages.
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("PYTHON", "UV_", "ARENA_"))}
    ran = subprocess.run(
        words,
        cwd=folder,
        env=clean | {"HOME": str(home)},
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
    )
    assert ran.returncode == 0, (words, ran.stdout, ran.stderr)
    return ran.stdout + ran.stderr


def rated(data: Path, name: str) -> int:
    """Return the number of a bot's finished rated matches."""
    bots = json.loads(shown("bots", "list", "--data", data, "--json"))["bots"]
    return next(int(bot["matches"]) for bot in bots if bot["bot"] == name)


def metadata(wheel: Path) -> str:
    """Return the metadata of a wheel."""
    with zipfile.ZipFile(wheel) as packed:
        assert packed.testzip() is None
        return packed.read(next(name for name in packed.namelist() if name.endswith("METADATA"))).decode()


@pytest.mark.process
def test_a_new_bot_passes_its_test_and_plays_a_rated_match(tmp_path: Path) -> None:
    began = time.monotonic()
    folder = tmp_path / "my-bot"
    shown("new", "my-bot", "--directory", folder)
    assert "OK" in run([sys.executable, "-m", "unittest"], folder, tmp_path)
    with serving(tmp_path / "data", "--seats", "2") as server:
        run([sys.executable, "bot.py", "--server", server.server, "--matches", "1"], folder, tmp_path)
        assert rated(tmp_path / "data", "my-bot") == 1
    assert time.monotonic() - began < BAR


@pytest.mark.long
def test_its_readme_leads_from_nothing_to_a_rated_match(tmp_path: Path) -> None:
    """Install the registry's packages into a new environment."""
    began = time.monotonic()
    folder = tmp_path / "my-bot"
    shown("new", "my-bot", "--directory", folder)
    commands = [shlex.split(line) for line in re.findall(r"^\$ (.*)", (folder / "README.md").read_text(), re.MULTILINE)]
    for words in commands[:3]:
        run([sys.executable if words[0] == "python3" else words[0], *words[1:]], folder, tmp_path)
    installed = run([".venv/bin/pip", "freeze"], folder, tmp_path)
    for name in ("client", "engine"):
        assert re.search(rf"^arena-{name} @ file://.*/wheels/arena_{name}-", installed, re.MULTILINE), installed
    run([".venv/bin/python", "-c", "import arena_client.engine, engine.registry"], folder, tmp_path)
    with serving(tmp_path / "data", "--seats", "2") as server:
        play = [word.replace("localhost:50051", server.server) for word in commands[3]]
        run([*play, "--matches", "1"], folder, tmp_path)
        assert rated(tmp_path / "data", "my-bot") == 1
        assert time.monotonic() - began < BAR


def test_it_prints_the_next_three_commands_which_are_those_of_its_readme(tmp_path: Path) -> None:
    folder = tmp_path / "my bot's"
    first, *commands = shown("new", "my-bot", "--directory", folder).splitlines()
    assert "bot.py" in first
    assert [line[:2] for line in commands] == ["  "] * 3
    entering, *others = [line.strip() for line in commands]
    assert shlex.split(entering) == ["cd", str(folder)]
    readme = re.findall(r"^\$ (.*)", (folder / "README.md").read_text(), re.MULTILINE)
    assert set(" && ".join(others).split(" && ")) <= {*readme}
    assert max(map(len, others)) < 100


@pytest.mark.parametrize("language", [*SDKS, *STARTERS])
def test_a_bot_in_another_language_comes_with_all_that_is_ours(tmp_path: Path, language: str) -> None:
    folder = tmp_path / "my-bot"
    first, *commands = shown("new", "my-bot", "--language", language, "--directory", folder).splitlines()
    bot = re.findall(r"; (\S+) is the bot", first)[0]
    assert "legal" in (folder / bot).read_text().lower()
    assert max(map(len, commands)) <= 100
    assert [line.strip() for line in commands[1:]] == re.findall(
        r"^\$ (.*)", (folder / "README.md").read_text(), re.MULTILINE
    )
    names = {path.relative_to(folder).parts[0] for path in folder.rglob("*") if path.is_file()}
    assert ("wheels" in names) == (language in STARTERS)
    if language in SDKS:
        assert '"my-bot"' in (folder / bot).read_text()
        source = folder / "arena" / "clients" / SDKS[language].sdk
        assert len([*source.rglob("*")]) > 20
        assert not {"node_modules", "target", "dist"} & {part for path in folder.rglob("*") for part in path.parts}
    said = json.loads(shown("new", "my-bot", "--language", language, "--directory", tmp_path / "other", "--json"))
    assert len(said["files"]) == int(re.findall(r" has (\d+) files", first)[0])


def test_a_game_is_for_bots_in_python(tmp_path: Path) -> None:
    result = arena("new", "my-bot", "--language", "go", "--game", "nullern", "--directory", tmp_path / "x")
    assert result.exit_code == 2
    assert "--game: a new bot in go plays every game" in result.output
    assert not (tmp_path / "x").exists()


def test_every_language_of_the_help_is_known() -> None:
    assert new.LANGUAGES == project.LANGUAGE_NAMES


def test_a_new_bot_plays_on_the_workbench(tmp_path: Path) -> None:
    shown("new", "first-try", "--directory", tmp_path / "x", "--game", "nullern")
    found = json.loads(
        shown("match", tmp_path / "x" / "bot.py", "house:random", "--game", "nullern", "--seats", 2, "--sets", 2,
              "--concurrency", 1, "--json")
    )  # fmt: skip
    assert found["comparison"]["sets"] == 2


def test_its_test_finds_an_answer_that_is_not_legal(tmp_path: Path) -> None:
    folder = tmp_path / "my-bot"
    shown("new", "my-bot", "--directory", folder)
    bot = folder / "bot.py"
    bot.write_text(bot.read_text().replace("random.choice(decision.legal)", "0"))
    ran = subprocess.run(
        [sys.executable, "-m", "unittest"], cwd=folder, capture_output=True, text=True, timeout=PATIENCE, check=False
    )
    assert ran.returncode == 1
    assert re.search(r"AssertionError: 0 not found in \[", ran.stderr)


def test_no_package_of_ours_is_named_for_a_registry(tmp_path: Path) -> None:
    said = json.loads(shown("new", "my-bot", "--directory", tmp_path / "b", "--json"))
    folder = Path(said["directory"])
    files = sorted(str(path.relative_to(folder)) for path in folder.rglob("*") if path.is_file())
    assert files == said["files"]
    asked = [line for line in (folder / "requirements.txt").read_text().splitlines() if not line.startswith("#")]
    client, engine = sorted((folder / "wheels").iterdir())
    assert asked == [f"./wheels/{client.name}", f"./wheels/{engine.name}"]
    for path in (folder / ".github" / "workflows" / "ci.yml", folder / "README.md"):
        installs = re.findall(r"pip install (.*)", path.read_text())
        assert installs == ["-r requirements.txt"]
    needs = sorted(re.findall(r"^Requires-Dist: ([^>\n]+)", metadata(client), re.MULTILINE))
    of_ours = needs.pop(0)
    assert needs == ["googleapis-common-protos", "grpcio", "protobuf"]
    assert re.fullmatch(r"arena-engine==[\d.]+\+file; extra == 'engine'", of_ours.strip()), "no registry takes it"
    optional = re.findall(r"^Requires-Dist: (.*)", metadata(engine), re.MULTILINE)
    assert all("; extra == " in each for each in optional), "the engine alone needs nothing"


def test_the_same_project_is_the_same_bytes(tmp_path: Path) -> None:
    for name in ("one", "two"):
        shown("new", "my-bot", "--directory", tmp_path / name)
    for file in ("decisions.jsonl", *(path.name for path in (tmp_path / "one" / "wheels").iterdir())):
        found = [next((tmp_path / name).rglob(file)).read_bytes() for name in ("one", "two")]
        assert found[0] == found[1], file


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (("house-cat",), 1, "names beginning with 'house-' are the server's own: no server would register the bot"),
        (("my bot",), 1, "1 to 40 letters, digits"),
        (("../bot",), 1, "1 to 40 letters, digits"),
        (("x" * 41,), 1, "1 to 40 letters, digits"),
        (("there",), 1, "there exists already: choose another name, or another place with --directory"),
        (("bot", "--directory", "file/below"), 1, "file is no directory: choose another place"),
        (("bot", "--language", "cobol"), 2, "'cobol' is not one of 'python', 'typescript'"),
    ],
)
def test_what_cannot_be_is_named_and_leaves_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, words: tuple[str, ...], status: int, said: str
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "there").mkdir()
    (tmp_path / "file").write_text("")
    ran = arena("new", *words)
    assert ran.exit_code == status
    assert said in " ".join(ran.output.split())
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "there"]


@pytest.mark.parametrize("name", ["7th", "none", "bot", "decision", "path", "a.b_c-d", "x"])
def test_any_name_of_a_bot_makes_a_project_that_runs(tmp_path: Path, name: str) -> None:
    shown("new", name, "--directory", tmp_path / "b")
    assert "OK" in run([sys.executable, "-m", "unittest"], tmp_path / "b", tmp_path)
