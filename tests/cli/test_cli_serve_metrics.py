"""`arena serve --metrics`: the metrics of a real server over a real socket."""

from __future__ import annotations

import json
import platform
import re
import shutil
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families

from arena.api.metrics import METRICS
from tests.cli.cli_rig import ARENA, PATIENCE, arena
from tests.cli.hardened import SETPRIORITY
from tests.cli.web_process_rig import ask

DASHBOARD = Path(__file__).parents[2] / "contrib" / "grafana" / "arena.json"


@contextmanager
def measured(data: Path, *options: str, program: Sequence[str] = ARENA) -> Iterator[tuple[str, tuple[str, int]]]:
    """Run a server with metrics and yield both addresses. At the end the server must stop cleanly."""
    command = [*program, "serve", "--quiet", "--address", "127.0.0.1:0", "--data", str(data), *options]
    with subprocess.Popen([*command, "--metrics", "127.0.0.1:0"], stdout=subprocess.PIPE) as server:
        assert server.stdout is not None
        try:
            listens = re.match(r"Arena listens on (\S+:\d+),", server.stdout.readline().decode())
            assert listens
            found = re.fullmatch(r"Metrics at http://127\.0\.0\.1:(\d+)/metrics\n", server.stdout.readline().decode())
            assert found
            yield listens[1], ("127.0.0.1", int(found[1]))
        finally:
            server.send_signal(signal.SIGINT)
            assert server.wait(PATIENCE) == 0


def healthz(place: tuple[str, int]) -> tuple[int, Any]:
    answer, content = ask(place, "/healthz")
    return answer.status, json.loads(content)


def figure(place: tuple[str, int], name: str) -> float:
    """Return the sum of a metric's samples."""
    families = text_string_to_metric_families(ask(place, "/metrics")[1].decode())
    return sum(sample.value for family in families for sample in family.samples if sample.name == name)


def until(done: Callable[[], object], what: str) -> None:
    end = time.monotonic() + PATIENCE
    while not done():
        assert time.monotonic() < end, f"waited in vain for: {what}"
        time.sleep(0.05)


def test_a_server_serves_its_figures(tmp_path: Path) -> None:
    with measured(tmp_path / "data") as (_, place):
        answer, content = ask(place, "/metrics")
        assert answer.status == 200
        families = {each.name for each in text_string_to_metric_families(content.decode())}
        assert {*METRICS, "process_cpu_seconds"} <= families
        assert healthz(place) == (200, {"healthy": True, "troubles": []})


def test_the_dashboard_asks_for_figures_and_labels_that_a_server_has(tmp_path: Path) -> None:
    queries = [query for panel in json.loads(DASHBOARD.read_text())["panels"] for query in panel["targets"]]
    with measured(tmp_path / "data", "--seats", "nullern:3", "--patience", "0") as (address, place):
        words = ("-m", "arena_client.samples.random_bot", "--quiet", "--server", address, "--name", "ann")
        options = ("--token-file", str(tmp_path / "token"), "--game", "nullern", "--matches", "1")
        subprocess.run([sys.executable, *words, *options], check=True, timeout=PATIENCE)
        families = [*text_string_to_metric_families(ask(place, "/metrics")[1].decode())]
    labels = {sample.name: {*sample.labels} for family in families for sample in family.samples}
    labels |= {f"{family.name}_total": set() for family in families if family.type == "counter" and not family.samples}
    for query in queries:
        named = re.findall(r"\b(?:arena|process)_\w+", query["expr"])
        assert named, query
        assert {*named} <= {*labels}, query
        grouped = {*re.findall(r"\w+", " ".join(re.findall(r"\bby \(([^)]*)\)", query["expr"])))}
        assert {*re.findall(r"{{(\w+)}}", query["legendFormat"])} == grouped - {"le"}, query
        assert all(grouped <= labels[name] for name in named if labels[name]), query
    if promtool := shutil.which("promtool"):
        rules = [{"record": "shown", "expr": query["expr"].replace("$__rate_interval", "5m")} for query in queries]
        file = tmp_path / "rules.json"  # JSON is also YAML
        file.write_text(json.dumps({"groups": [{"name": f"{n}", "rules": [rule]} for n, rule in enumerate(rules)]}))
        checked = subprocess.run([promtool, "check", "rules", str(file)], capture_output=True, text=True, check=False)
        assert checked.returncode == 0, checked.stderr


@pytest.mark.skipif(platform.machine() not in SETPRIORITY, reason="the number of the system call is not known here")
def test_a_server_that_may_change_no_priority_fits_ladders_and_searches(tmp_path: Path) -> None:
    hardened = (sys.executable, str(Path(__file__).with_name("hardened.py")), *ARENA)
    options = ("--seats", "3", "--house-search", "1", "--fit-seconds", "1")
    with measured(tmp_path / "data", *options, program=hardened) as (address, place):
        bot = subprocess.Popen(
            [
                *(sys.executable, "-m", "arena_client.samples.random_bot", "--quiet", "--server", address),
                *("--name", "ann", "--token-file", str(tmp_path / "token"), "--game", "nullern", "--capacity", "1"),
            ]
        )
        try:
            until(lambda: figure(place, "arena_fit_seconds_count"), "a ladder")
            until(lambda: figure(place, "arena_search_seconds_total"), "a choice of a bot that searches")
        finally:
            bot.kill()
            bot.wait()
        assert healthz(place) == (200, {"healthy": True, "troubles": []})


ENDED_AT_ITS_START = """
import pathlib, sys
mark = pathlib.Path(__file__).with_name("mended")
if "arena.server.ratings.fit_process" in sys.orig_argv and not mark.exists():
    sys.exit(1)
"""
"""A module that Python runs as `sitecustomize` at the start of every process."""


def test_health_knows_of_a_process_that_cannot_be_started(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sitecustomize.py").write_text(ENDED_AT_ITS_START)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with measured(tmp_path / "data") as (_, place):
        until(lambda: healthz(place)[0] == 503, "word of it")
        why = "arena.server.ratings.fit_process ended before it was ready"
        assert healthz(place)[1]["troubles"] == [f"a process beside the server cannot be started: {why}"]
        assert figure(place, "arena_healthy") == 0
        (tmp_path / "mended").touch()
        until(lambda: healthz(place)[0] == 200, "its start")


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
