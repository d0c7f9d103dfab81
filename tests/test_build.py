"""A checkout uses its compiled build if the build matches the sources exactly. Otherwise it states the reason."""

from __future__ import annotations

import os
import subprocess
import sys
from importlib.machinery import EXTENSION_SUFFIXES
from pathlib import Path

import pytest

from arena import build
from arena.version import __version__

ROOT = Path(__file__).parents[1]


@pytest.fixture
def checkout(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A checkout of two small packages, with a build of them."""
    for folder in (tmp_path, tmp_path / "build" / "compiled"):
        for package in build.PACKAGES:
            (folder / package / "match").mkdir(parents=True)
            (folder / package / "match" / "match.py").write_text("x = 1\n")
    compiled = tmp_path / "build" / "compiled"
    (compiled / f"{build.COMPILED}{EXTENSION_SUFFIXES[0]}").write_bytes(b"")
    (compiled / build.FINGERPRINT).write_text(build.fingerprint(tmp_path))
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.delenv("ARENA_BUILD")
    return tmp_path


def refused(checkout: Path) -> str | None:
    """Return the reason why the compiled build is not used, or None if it is used."""
    path, compiled = [str(checkout / "arena")], str(checkout / "build" / "compiled")
    why = build.select(path)
    first = path == [f"{compiled}/arena"]
    assert first == (sys.path[0] == compiled)
    return None if first else why


def test_the_build_of_these_sources_runs(checkout: Path) -> None:
    assert refused(checkout) is None


def test_a_file_that_is_only_newer_changes_nothing(checkout: Path) -> None:
    os.utime(checkout / "arena" / "match" / "match.py")
    assert refused(checkout) is None


@pytest.mark.parametrize("name", ["arena/match/match.py", "engine/match/match.py", "arena/new.html"])
def test_the_build_of_other_sources_does_not_run(checkout: Path, name: str) -> None:
    (checkout / name).write_text("x = 2\n")
    folder = checkout / "build" / "compiled"
    assert refused(checkout) == f"{folder} is of other sources than those that are there: run make compiled"


@pytest.mark.parametrize("text", ["", "{}", "[1]", '{"files": {}, "sha256": 1}'])
def test_a_build_that_does_not_say_of_what_does_not_run(checkout: Path, text: str) -> None:
    (checkout / "build" / "compiled" / build.FINGERPRINT).write_text(text)
    assert "is of other sources" in str(refused(checkout))


def test_the_build_of_another_python_does_not_run(checkout: Path) -> None:
    module = checkout / "build" / "compiled" / f"{build.COMPILED}{EXTENSION_SUFFIXES[0]}"
    module.rename(module.with_name("match.cpython-39-other.so"))
    assert "is of another Python than" in str(refused(checkout))


def test_who_asks_for_the_sources_gets_them(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ARENA_BUILD", "sources")
    assert refused(checkout) == ""


def test_without_a_build_the_sources_run(checkout: Path) -> None:
    (checkout / "build" / "compiled" / build.FINGERPRINT).unlink()
    assert refused(checkout) == ""


@pytest.mark.process
def test_the_version_says_what_runs() -> None:
    told = subprocess.run([sys.executable, "-m", "arena.cli", "--version"], capture_output=True, text=True, check=True)
    assert told.stdout == f"arena, version {__version__} ({build.kind()})\n"
