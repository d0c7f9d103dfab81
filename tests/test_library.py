"""The examples of docs/library.md and docs/endings.md, run in order in an empty folder: sessions, files, commands."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from doctest import DocTestParser, DocTestRunner
from pathlib import Path
from typing import Any, Final

import pytest

ROOT: Final = Path(__file__).parents[1]
DOCS: Final = ROOT / "docs"
PAGE: Final = DOCS / "library.md"
BLOCK: Final = re.compile(r"^```(\w+)\n(.*?)^```$", re.DOTALL | re.MULTILINE)
PATIENCE: Final = 300


@pytest.mark.process
@pytest.mark.parametrize(("page", "kinds"), [(PAGE, {"pycon", "python", "sh"}), (DOCS / "endings.md", {"pycon"})])
def test_everything_shown_works(page: Path, kinds: set[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    text = page.read_text(encoding="utf-8")
    blocks: list[tuple[str, str]] = BLOCK.findall(text)
    assert text.count(">>> ") == sum(block.count(">>> ") for kind, block in blocks if kind == "pycon") > 10
    assert {kind for kind, _ in blocks} == kinds
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", sys.path[:])
    (tmp_path / "examples").symlink_to(ROOT / "examples")
    names: dict[str, Any] = {}
    for kind, block in blocks:
        if kind == "pycon":
            names = session(page, block, names)
        elif kind == "python":
            first, _ = block.split("\n", 1)
            (tmp_path / first.removeprefix("# ")).write_text(block)
        else:
            for line in block.splitlines():
                command(line)


def session(page: Path, block: str, names: dict[str, Any]) -> dict[str, Any]:
    """Run a session with the names that the sessions before it defined. Return the names defined after it."""
    test, said = DocTestParser().get_doctest(block, names, page.name, str(page), 0), list[str]()
    results = DocTestRunner(verbose=False).run(test, out=said.append, clear_globs=False)
    assert not results.failed, "".join(said)
    return test.globs


def command(line: str) -> None:
    """Run an `arena …` command of the page as a shell would."""
    path = os.pathsep.join([str(ROOT), os.environ.get("PYTHONPATH", "")])
    ran = subprocess.run(
        [sys.executable, "-m", "arena.cli", *shlex.split(line.removeprefix("arena "))],
        capture_output=True,
        text=True,
        timeout=PATIENCE,
        check=False,
        env={**os.environ, "PYTHONPATH": path},
    )
    assert ran.returncode == 0, f"{line}\n{ran.stderr}"


def test_every_error_named_is_there() -> None:
    rows = re.findall(r"^\| [^|]+ \| `(\w+)` \| `([\w.]+)` \|$", PAGE.read_text(encoding="utf-8"), re.MULTILINE)
    assert len(rows) == 11
    for name, module in rows:
        error = getattr(__import__(module, fromlist=[name]), name)
        assert issubclass(error, ValueError | KeyError)
        assert error.__module__ == module
