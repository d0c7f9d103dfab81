"""The server under systemd: its notifications to a real socket, and the repository's unit files."""

from __future__ import annotations

import re
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from arena.api.metrics import METRICS
from tests.cli.cli_rig import ARENA, PATIENCE

UNITS = Path(__file__).parents[2] / "contrib" / "systemd"
SLEEPER = """
import sys, time
from arena_client import Bot, run

class Sleeper(Bot):
    name = "sleeper"
    games = ("nullern",)

    def decide(self, decision):
        time.sleep(0.5)
        return decision.legal[0]

run(Sleeper(), sys.argv[1], token_file=sys.argv[2], owner="someone")
"""


class Manager:
    """A service manager that receives a server's notifications."""

    def __init__(self, at: socket.socket) -> None:
        self._at = at
        self.state: dict[str, str] = {}

    def until(self, name: str, value: str = ".*") -> str:
        """Receive notifications until a variable has a value. Return the value."""
        while True:
            message = dict(line.split("=", 1) for line in self._at.recv(4096).decode().splitlines())
            self.state |= message
            if name in message and re.fullmatch(value, message[name]):
                return message[name]


@contextmanager
def managed(
    data: Path, address: str, monkeypatch: pytest.MonkeyPatch, *options: str
) -> Iterator[tuple[Manager, subprocess.Popen[bytes]]]:
    """Run a server with a watchdog interval of one second and a manager that receives its notifications."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as at:
        at.settimeout(PATIENCE)
        at.bind(address.replace("@", "\0", 1))
        monkeypatch.setenv("NOTIFY_SOCKET", address)
        monkeypatch.setenv("WATCHDOG_USEC", "1000000")
        command = [*ARENA, "serve", "--quiet", "--address", "127.0.0.1:0", "--data", str(data), *options]
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as server:
            try:
                yield Manager(at), server
            finally:
                server.kill()


@pytest.mark.parametrize("abstract", [False, True])
def test_a_server_reports_that_it_is_ready_lives_and_stops(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, abstract: bool
) -> None:
    address = f"@{tmp_path}/notify" if abstract else str(tmp_path / "notify")
    with managed(tmp_path / "data", address, monkeypatch) as (manager, server):
        manager.until("READY", "1")
        assert manager.until("STATUS") == "0 bots connected, 0 matches running"
        for _ in range(3):
            manager.until("WATCHDOG", "1")
        server.send_signal(signal.SIGTERM)
        manager.until("STOPPING", "1")
        assert server.wait(PATIENCE) == 0


def test_a_server_whose_matches_go_on_asks_for_time(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    options = ("--seats", "nullern:2", "--drain", "3")
    with managed(tmp_path / "data", str(tmp_path / "notify"), monkeypatch, *options) as (manager, server):
        manager.until("READY")
        bot = subprocess.Popen(
            [*(sys.executable, "-c", SLEEPER), f"unix:{tmp_path}/data/arena.socket", str(tmp_path / "token")],
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        try:
            manager.until("STATUS", "1 bots connected, [1-9] matches running")
            server.send_signal(signal.SIGTERM)
            manager.until("STATUS", "stops after its matches: .*")
            assert int(manager.state["EXTEND_TIMEOUT_USEC"]) >= 10_000_000
            assert server.wait(PATIENCE) == 0
        finally:
            bot.kill()
            bot.wait()


@pytest.mark.skipif(shutil.which("systemd-analyze") is None, reason="there is no systemd-analyze")
@pytest.mark.parametrize("unit", ["arena.service", "arena-backup.service", "arena-backup.timer"])
def test_a_unit_is_valid_and_shuts_in_what_it_starts(unit: str, tmp_path: Path) -> None:
    for each in UNITS.iterdir():
        text = each.read_text().replace("/opt/arena/bin/arena", "/bin/true")
        (tmp_path / each.name).write_text(text)
    checked = subprocess.run(
        ["systemd-analyze", "verify", "--man=no", "--recursive-errors=no", str(tmp_path / unit)],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (checked.returncode, checked.stderr) == (0, "")
    if unit.endswith(".service"):
        judged = subprocess.run(
            ["systemd-analyze", "security", "--offline=true", "--threshold=20", str(tmp_path / unit)],
            capture_output=True,
            text=True,
            check=False,
        )
        assert judged.returncode == 0, judged.stdout.splitlines()[-1]


def test_alert_rules_are_valid_and_ask_for_figures_that_there_are(tmp_path: Path) -> None:
    rules = UNITS.parent / "prometheus" / "arena.rules.yml"
    named = re.findall(r"\barena_\w+", rules.read_text())
    assert named
    assert {name.removesuffix("_bucket") for name in named} <= {*METRICS} | {f"{name}_total" for name in METRICS}
    if promtool := shutil.which("promtool"):
        subprocess.run([promtool, "check", "rules", str(rules)], check=True, capture_output=True)
