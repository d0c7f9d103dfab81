"""A match of a real server, exported with `arena replay export` and checked by the verifier in JavaScript."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

import pytest

from tests.cli.cli_rig import PATIENCE, shown

VERIFIER = Path(__file__).parents[2] / "clients" / "javascript" / "verify.mjs"


@pytest.mark.skipif(shutil.which("node") is None, reason="there is no Node.js here; .ci/run insists on it")
def test_exported_replay_is_verified_in_javascript(source: tuple[str, str], tmp_path: Path) -> None:
    file = tmp_path / "match-1.jsonl.gz"
    shown("replay", "export", "1", "--output", file, *source)
    ran = subprocess.run(["node", VERIFIER, file], capture_output=True, text=True, timeout=PATIENCE, check=False)
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout.startswith("OK match 1: ")
    assert "; 6 fair deals, and the result that follows; it is consistent; not shown: " in ran.stdout
