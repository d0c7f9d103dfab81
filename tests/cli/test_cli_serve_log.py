"""The log of a server: tracebacks in it show where, never with what."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
from arena.cli import server_process
from arena.server.config import Config

sys.stderr.isatty = lambda: True
server_process._log_to_stderr(Config((), debug=True, log_json=sys.argv[1] == "json"))

def fails():
    seed = "coffee" * 4
    raise ValueError("no luck")

try:
    fails()
except ValueError:
    server_process.log.exception("failed")
"""


@pytest.mark.parametrize("form", ["json", "people"])
def test_a_traceback_shows_no_local_variables(form: str) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, form], check=True, capture_output=True, text=True)
    assert "ValueError: no luck" in done.stderr
    assert "coffeecoffee" not in done.stderr
