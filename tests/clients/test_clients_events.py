"""An event with a bot in every language: each bot enters in its hello, and the event's roll lists it with its own
random bytes.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any, Final

import pytest

from tests.cli.cli_rig import arena, serving, shown
from tests.clients.test_clients_mixed_table import PROGRAMS, SDKS
from tests.documents import ROOT
from tests.end_to_end.e2e_rig import PATIENCE, until
from tests.interop.interop_rig import built, tool

GAME: Final = "sixth_sense"
BUDGET: Final = 7
LINES: Final = ("-m", "arena_client", "pipe")
"""The command that connects a starter."""

pytestmark = [
    pytest.mark.process,
    pytest.mark.long,
    *map(tool, ("npm", "go", "cmake", "grpc_cpp_plugin", "cargo", "mvn")),
]


def lines_bot(folder: Path) -> str:
    """Write the Python program of the page about JSON lines; return its path."""
    page = (ROOT / "docs" / "json-lines.md").read_text()
    found = re.search(r"```python\n(.*?)```", page, re.DOTALL)
    assert found is not None
    (folder / "bot.py").write_text(found[1])
    return str(folder / "bot.py")


def test_bots_in_all_languages_enter_an_event_by_their_hello(tmp_path: Path) -> None:
    for sdk in SDKS:
        built("make", sdk, where=ROOT)
    programs = {**PROGRAMS, "lines": (sys.executable, *LINES)}

    def told(name: str, *words: str, **variables: str) -> dict[str, Any]:
        """Return the arguments that start a bot; every other bot gets its event from an environment variable."""
        own = ("--name", name, "--game", GAME, "--capacity", "1", "--token-file", str(tmp_path / f"{name}.token"))
        program = ("--", sys.executable, lines_bot(tmp_path)) if name == "lines" else ()
        return {"args": [*programs[name], *own, *words, *program], "env": {**os.environ, **variables}}

    def show(name: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(shown("event", "show", name, "--data", tmp_path / "data", "--json"))
        return found

    with serving(tmp_path / "data", "--drain", "0") as server, ExitStack() as stack:
        terms = ("--ladder", GAME, "--start", "+1h", "--budget", BUDGET, "--data", server.data)
        shown("event", "create", "friday", *terms)
        for name in programs:
            where = {"ARENA_SERVER": server.server}
            wrong = told(name, **where, ARENA_EVENTS="rain")
            refused = subprocess.run(**wrong, capture_output=True, text=True, timeout=PATIENCE, check=False)
            words = refused.stdout + refused.stderr
            assert refused.returncode == 3, words
            assert "hello.events: there is no event 'rain'" in words, words
            by_option = len(name) % 2
            chosen = ("--event", "friday") if by_option else ()
            entered = told(name, *chosen, **where, ARENA_EVENTS="rain" if by_option else " friday,")
            bot = stack.enter_context(subprocess.Popen(**entered, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))
            stack.callback(bot.kill)
        until(lambda: len(show("friday")["entrants"]) == len(programs), "all bots to enter")
        shown("event", "start", "friday", "--data", server.data)
        until(lambda: show("friday")["event"]["state"] == "finished", "the event to end")

    found = json.loads(arena("event", "result", "friday", "--data", tmp_path / "data", "--json").stdout)
    assert {each["bot"] for each in found["standings"] if each["matches"]} == {*programs}
    bundle = tmp_path / "friday.bundle"
    shown("event", "export", "friday", bundle, "--data", tmp_path / "data")
    assert f"decision of {BUDGET} matches agree" in shown("event", "verify", bundle)
    [entrants] = re.findall(r'\{[^{}]*"nonces":\[[^{}]*\}', bundle.read_text().replace('\\"', '"').replace(" ", ""))
    nonces = json.loads(entrants)["nonces"]
    assert len({*nonces} - {"00" * 16}) == len(programs), "each SDK sends random bytes"
