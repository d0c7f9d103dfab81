"""`arena serve --metrics`: a real server's figures over a real socket."""

from __future__ import annotations

import json
import re
import signal
import socket
import subprocess
from pathlib import Path

from prometheus_client.parser import text_string_to_metric_families

from arena.api.metrics import METRICS
from tests.cli.cli_rig import ARENA, PATIENCE, arena
from tests.cli.web_process_rig import ask


def test_a_server_serves_its_figures(tmp_path: Path) -> None:
    command = [*ARENA, "serve", "--quiet", "--address", "127.0.0.1:0", "--data", str(tmp_path / "data")]
    with subprocess.Popen([*command, "--metrics", "127.0.0.1:0"], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        try:
            assert b"Arena listens on" in server.stdout.readline()
            found = re.fullmatch(r"Metrics at http://127\.0\.0\.1:(\d+)/metrics\n", server.stdout.readline().decode())
            assert found
            place = ("127.0.0.1", int(found[1]))
            answer, content = ask(place, "/metrics")
            assert answer.status == 200
            families = {each.name for each in text_string_to_metric_families(content.decode())}
            assert {*METRICS, "process_cpu_seconds"} <= families
            answer, content = ask(place, "/healthz")
            assert (answer.status, json.loads(content)) == (200, {"healthy": True, "troubles": []})
        finally:
            server.send_signal(signal.SIGINT)
            assert server.wait(PATIENCE) == 0


def test_an_address_of_metrics_that_is_none_or_taken_is_named(tmp_path: Path) -> None:
    result = arena("serve", "--data", tmp_path / "data", "--metrics", "here")
    assert result.exit_code == 2
    assert "metrics: 'here' is no HOST:PORT" in result.output
    assert not (tmp_path / "data").exists()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        address = f"127.0.0.1:{taken.getsockname()[1]}"
        command = [*ARENA, "serve", "--quiet", "--address", "127.0.0.1:0", "--data", str(tmp_path / "data")]
        ran = subprocess.run(
            [*command, "--metrics", address], capture_output=True, text=True, timeout=PATIENCE, check=False
        )
    assert ran.returncode == 1
    assert f"metrics: cannot listen at {address}" in ran.stderr
