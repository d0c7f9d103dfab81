"""The log of a server: tracebacks in it show where, never with what."""

from __future__ import annotations

import subprocess
import sys

import pytest

PROGRAM = """
import sys
import structlog
from arena.stderr import log_to_stderr

sys.stderr.isatty = lambda: True
log_to_stderr(sys.argv[1] == "json")

def fails():
    seed = "coffee" * 4
    raise ValueError("no luck")

try:
    fails()
except ValueError:
    structlog.get_logger("arena").exception("failed")
"""


@pytest.mark.parametrize("form", ["json", "people"])
def test_a_traceback_shows_no_local_variables(form: str) -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM, form], check=True, capture_output=True, text=True)
    assert "ValueError: no luck" in done.stderr
    assert "coffeecoffee" not in done.stderr
