"""A server's log: tracebacks without values, the operator's decisions, and the status line on a terminal."""

from __future__ import annotations

import io
import json
import re
import select
import subprocess
import sys
from pathlib import Path

import pytest

from arena.stderr import StatusLine
from tests.cli.cli_rig import ARENA, PATIENCE, arena, plain, shown, terminal

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


def test_a_quiet_server_logs_what_its_operator_decides_and_nothing_else(tmp_path: Path) -> None:
    data = tmp_path / "data"
    command = [
        *ARENA,
        "serve",
        "--quiet",
        "--data",
        str(data),
        "--address",
        "127.0.0.1:0",
        "--no-house",
        "--seats",
        "2",
    ]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert select.select([server.stdout], [], [], PATIENCE)[0], "the server says nothing"
        server.stdout.readline()
        shown("bots", "invite", "--owner", "ann", "--data", data)
        assert arena("bots", "ban", "ann", "--reason", "two bots", "--data", data).exit_code == 0
        assert arena("drain", "--data", data).exit_code == 0
        _, log = server.communicate(timeout=PATIENCE)
    assert [json.loads(line)["event"] for line in log.splitlines()] == ["invitation made", "owner banned", "draining"]


def test_a_server_in_a_terminal_shows_its_state_in_a_line_below_the_log(tmp_path: Path) -> None:
    data = tmp_path / "data"
    options = ("--address", "127.0.0.1:0", "--web", "127.0.0.1:0", "--no-house", "--seats", "2")
    with terminal("serve", "--data", data, *options, columns=200) as screen:
        screen.expect("0 bots connected, 0 matches running, 0 finished. Pages at http://127.0.0.1:")
        shown("bots", "invite", "--owner", "ann", "--data", data)
        screen.expect("owner=ann")
        screen.press("\x03")
        assert screen.end() == 0
    assert plain(screen.text).count("\n") < 9, "it does not scroll"
    assert "running" not in screen.text.rpartition("\x1b[K")[2], "it is gone at the end"


def test_the_line_is_shortened_to_the_terminal_and_stays_below_what_is_logged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COLUMNS", "10")
    stream = io.StringIO()
    status = StatusLine(stream)
    status.write("first\n")
    status.show("twelve bytes")
    status.show("twelve bytes")
    status.write("second")
    status.write("\n")
    status.show("")
    status.write("third\n")
    assert stream.getvalue() == "first\n\r\x1b[Ktwelve by\r\x1b[Ksecond\ntwelve by\r\x1b[Kthird\n"
    assert len(re.findall("twelve by", stream.getvalue())) == 2
