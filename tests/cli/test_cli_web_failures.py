"""Requests that fail unexpectedly: the answers to a browser, a program and a WebSocket, and the log."""

from __future__ import annotations

import json
import select
import signal
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from urllib.parse import urlsplit

import pytest
from structlog.testing import capture_logs

from arena.web.answers.responses import FAULT
from arena.web.requests import failures
from arena.web.requests.failures import INTERVAL, FailureLog
from tests.cli.cli_rig import PATIENCE
from tests.cli.failing_pages import OPENS_FIRST
from tests.cli.web_process_rig import ask
from tests.cli.web_socket import Refusal, Socket
from trio_grpc.limits.connection_limits import LOOPBACK, Origin


@contextmanager
def failing(log: list[str]) -> Iterator[tuple[str, int]]:
    """Pages on which every read fails. Afterwards `log` contains the log lines."""
    pipe = subprocess.PIPE
    with subprocess.Popen(
        [sys.executable, "-m", "tests.cli.failing_pages"], stdout=pipe, stderr=pipe, text=True
    ) as pages:
        try:
            assert pages.stdout is not None
            assert select.select([pages.stdout], [], [], PATIENCE)[0], "it says nothing"
            place = urlsplit(pages.stdout.readline())
            yield str(place.hostname), int(place.port or 0)
        finally:
            pages.send_signal(signal.SIGINT)
            log += pages.communicate(timeout=PATIENCE)[1].splitlines()
    assert pages.returncode == 0


def test_a_fault_is_a_page_or_json_and_a_line_in_the_log_for_each_address_and_minute() -> None:
    log: list[str] = []
    with failing(log) as place:
        for path in ("/matches", "/matches/1/replay", "/bots/x", "/api/v1/bots", "/api/v1/matches/1") * 4:
            answer, content = ask(place, path, origin="https://bots.example")
            assert answer.status == 500
            assert "default-src 'none'" in str(answer.getheader("content-security-policy"))
            if path.startswith("/api/"):
                assert (json.loads(content)["detail"], answer.getheader("content-type")) == (
                    FAULT,
                    "application/problem+json",
                )
                assert answer.getheader("access-control-allow-origin") == "*"
            else:
                assert str(answer.getheader("content-type")).startswith("text/html")
                assert "<h1>A fault</h1>" in content.decode()
                assert FAULT in content.decode()
        answer, content = ask(place, "/bots", accept="application/json", x_forwarded_for="192.0.2.7")
        assert (answer.status, json.loads(content)["detail"]) == (500, FAULT)
        families = ask(place, "/metrics")[1].decode()
        assert 'arena_web_requests_total{status="500"} 21.0' in families
    lines = [json.loads(line) for line in log]
    assert [(line["event"], line["path"]) for line in lines] == [
        ("a request failed", "/matches"),
        ("a request failed", "/bots"),
    ]
    assert all("ZeroDivisionError: nobody expected this" in line["exception"] for line in lines)
    assert "192.0.2.7" not in "".join(log)


def test_a_websocket_that_fails_is_refused_or_closed_and_logged_once() -> None:
    log: list[str] = []
    with failing(log) as place:
        for _ in range(3):
            with pytest.raises(Refusal) as refused:
                Socket(*place)
            assert (refused.value.status, refused.value.problem["detail"]) == (500, FAULT)
            with Socket(*place, {"x-forwarded-for": OPENS_FIRST}) as opened:
                assert opened.end()[1].code == 1011
    assert [json.loads(line)["path"] for line in log] == ["/play", "/play"]


def test_the_log_counts_what_it_leaves_out_and_remembers_so_many_addresses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(failures, "MOST", 3)
    now = 0.0
    record, error = FailureLog(lambda: now).record, ValueError("x")

    def unlogged(origin: str) -> list[int]:
        with capture_logs() as logs:
            record(Origin(origin), "a request failed", error, "/x" * 1000)
        assert all(len(line["path"]) == 200 for line in logs)
        return [line["unlogged"] for line in logs]

    assert [unlogged(LOOPBACK) for _ in range(4)] == [[0], [], [], []]
    assert unlogged("192.0.2.1") == [0]
    now += INTERVAL
    assert unlogged(LOOPBACK) == [3]
    assert unlogged(LOOPBACK) == []
    assert [unlogged(f"192.0.2.{number}") for number in (2, 3, 4)] == [[0]] * 3
    assert unlogged(LOOPBACK) == [0], "it was forgotten, as the one that had failed for the longest time"
