"""Promises of the project's own files about continuous integration and the lock file."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path
from urllib.parse import urlsplit

import pytest

pytestmark = pytest.mark.process

ROOT = Path(__file__).parents[1]
WORKFLOW = (ROOT / ".github" / "workflows" / "ci.yml").read_text()
RUN = re.findall(r"\brun: (.*)", WORKFLOW)


@pytest.mark.parametrize("line", RUN)
def test_the_workflow_runs_only_make_targets_and_scripts_that_exist(line: str) -> None:
    if line.startswith("tools/"):
        assert os.access(ROOT / line, os.X_OK)
        return
    make, *targets = line.split()
    assert make == "make"
    assert targets
    subprocess.run(["make", "--dry-run", *targets], check=True, cwd=ROOT, capture_output=True)


def test_the_workflow_runs_what_the_ci_script_runs() -> None:
    script = re.findall(r"^(?:make|tools/).*", (ROOT / ".ci" / "run").read_text(), re.MULTILINE)
    assert [line for line in script if line not in RUN] == []


@pytest.mark.parametrize("name", ["pyproject.toml", "clients/python/pyproject.toml"])
def test_the_workflow_runs_every_python_that_the_classifiers_name(name: str) -> None:
    classifiers = tomllib.loads((ROOT / name).read_text())["project"]["classifiers"]
    named = re.findall(r"Python :: (3\.\d+)", "\n".join(classifiers))
    assert named
    assert named == re.findall(r'"(3\.\d+)"', WORKFLOW)


def test_the_lock_is_up_to_date() -> None:
    uv = str(Path(sys.executable).with_name("uv"))
    lock = [uv, "lock", "--check", "--offline", "--default-index", "https://pypi.org/simple"]
    checked = subprocess.run(lock, check=False, cwd=ROOT, capture_output=True, text=True)
    assert checked.returncode == 0, f"make lock renews it: {checked.stderr}"


def test_the_lock_names_the_public_index_only() -> None:
    addresses = re.findall(r'"(\w+://[^"]+)"', (ROOT / "uv.lock").read_text())
    assert {urlsplit(address).hostname for address in addresses} == {"pypi.org", "files.pythonhosted.org"}
