"""A client that uses @grpc/grpc-js, an independent gRPC implementation, plays a match on a real server and stays
connected.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from arena.local.check.checks import CHECKS
from tests.cli.cli_rig import ARENA
from tests.interop.interop_rig import BUILD, HERE, PATIENCE, PROTOS, built, checked, tool

SOURCE = HERE / "javascript"

pytestmark = [pytest.mark.long, tool("node"), tool("npm")]


@pytest.fixture(scope="module")
def packages() -> Path:
    """Return the folder with the packages of the lock file."""
    folder = BUILD / "javascript"
    lock = (SOURCE / "package-lock.json").read_text()
    if not (folder / "node_modules").exists() or (folder / "package-lock.json").read_text() != lock:
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("package.json", "package-lock.json"):
            shutil.copy(SOURCE / name, folder)
        built("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", where=folder)
    return folder


@pytest.mark.parametrize("tls", [False, True], ids=["plain", "tls"])
def test_javascript_plays_looks_up_and_is_refused(tmp_path: Path, packages: Path, tls: bool) -> None:
    checked(tmp_path, ["node", SOURCE / "client.mjs", packages], tls=tls)


def test_a_javascript_bot_passes_every_check(packages: Path) -> None:
    command = [*ARENA, "check", "--", "node", str(SOURCE / "bot.mjs"), str(packages), str(PROTOS)]
    ran = subprocess.run(command, capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ran.returncode == 0, f"{ran.stdout}\n{ran.stderr}"
    verdicts = {line.split()[1]: line.split()[0] for line in ran.stdout.splitlines() if line.endswith("?")}
    assert verdicts == dict.fromkeys(CHECKS, "PASS")
