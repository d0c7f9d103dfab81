"""Pages of interest to an operator: health, the access log, limits by address, proxies."""

from __future__ import annotations

import json
import shutil
import sqlite3
import time
from contextlib import ExitStack, closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any

import pytest
from prometheus_client.parser import text_string_to_metric_families
from starlette.types import Receive, Scope, Send

from arena.web.answers.static_files import static_path
from arena.web.live.board import MOST_OF_ADDRESS
from arena.web.pages.health import PAGE_METRICS
from arena.web.requests.each_request import USUAL, EachRequest, RequestCounts
from tests.cli.cli_rig import PATIENCE, Played, arena, serving
from tests.cli.web_process_rig import ask, browsing

PUBLIC = ("--public-url", "http://arena.example")
"""Without this setting, pages behind a proxy write a warning to the log."""
READER = {"x_forwarded_for": "192.0.2.7"}


def test_one_address_may_ask_so_often_and_a_named_proxy_tells_whose_it_is(empty: Path) -> None:
    with browsing("--data", str(empty), "--rate", "1", "--proxy", "127.0.0.1", *PUBLIC) as place:
        answers = [ask(place, "/write-a-bot", **READER)[0].status for _ in range(30)]
        assert answers[:10] == [200] * 10
        assert 429 in answers
        for path in ("/api/v1/games", f"{static_path('')}/arena.css"):
            refused, content = ask(place, path, origin="https://bots.example", **READER)
            assert refused.status == 429
            assert 1 <= int(str(refused.getheader("retry-after"))) <= 10
            assert refused.getheader("access-control-allow-origin") == "*"
            assert "too many requests from your address" in json.loads(content)["detail"]
        assert ask(place, "/write-a-bot", x_forwarded_for="192.0.2.8")[0].status == 200
        assert ask(place, "/write-a-bot", x_forwarded_for="192.0.2.8, 192.0.2.7")[0].status == 429
        assert ask(place, "/write-a-bot", forwarded="for=192.0.2.7")[0].status == 429


def test_streams_behind_a_named_proxy_are_counted_by_whose_they_are(empty: Path) -> None:
    with browsing("--data", str(empty), "--proxy", "127.0.0.1") as place, ExitStack() as streams:

        def status(reader: str) -> int:
            connection = streams.enter_context(closing(HTTPConnection(*place, timeout=PATIENCE)))
            connection.request("GET", "/live/events/matches", headers={"x-forwarded-for": reader})
            return connection.getresponse().status

        opened = [status(f"2001:db8::{host:x}") for host in range(MOST_OF_ADDRESS + 1)]
        assert opened == [200] * MOST_OF_ADDRESS + [503]
        assert [status("2001:db8:1::1"), status("127.0.0.1")] == [200, 200]


def test_a_header_of_anybody_else_is_not_believed(empty: Path) -> None:
    log: list[str] = []
    with browsing("--data", str(empty), "--rate", "1", "--access-log", log=log) as place:
        assert {ask(place, "/write-a-bot", **READER)[0].status for _ in range(20)} == {200}
    lines = [json.loads(line) for line in log]
    assert {line["address"] for line in lines if line["event"] == "request"} == {"127.0.0.1"}


def test_the_access_log_has_a_line_a_request_and_no_secret(empty: Path) -> None:
    log: list[str] = []
    with browsing("--data", str(empty), "--access-log", "--proxy", "127.0.0.1,192.0.2.0/24") as place:
        pass
    with browsing("--data", str(empty), "--access-log", log=log) as place:
        _, content = ask(
            place, "/write-a-bot?token=hidden-one", authorization="Bearer hidden-two", cookie="hidden-three"
        )
        ask(place, "/api/v1/nothing%0A{}", "HEAD")
        ask(place, f"/{'x' * 4000}")
    first, second, third = [json.loads(line) for line in log]
    assert (first["event"], first["method"], first["path"], first["status"]) == ("request", "GET", "/write-a-bot", 200)
    assert first["bytes"] == len(content)
    assert 0 < first["ms"] < 60_000
    assert (second["method"], second["path"], second["status"]) == ("HEAD", "/api/v1/nothing\n{}", 404)
    assert len(third["path"]) == 200
    assert "hidden" not in "".join(log)


def test_health_is_that_of_what_is_read(played: Played, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    assert arena("backup", tmp_path / "backup", "--data", played.data).exit_code == 0
    assert arena("restore", tmp_path / "backup", "--data", copy).exit_code == 0
    with browsing("--data", str(copy)) as place:
        answer, content = ask(place, "/healthz")
        assert (answer.status, json.loads(content)) == (200, {"healthy": True, "troubles": []})
    with browsing("--data", str(copy)) as place:
        with closing(sqlite3.connect(copy / "arena.db")) as database, database:
            database.execute("UPDATE alembic_version SET version_num = '9999'")
        answer, content = ask(place, "/healthz")
        assert answer.status == 503
        assert "was made by a newer arena (schema 9999)" in json.loads(content)["troubles"][0]
    with browsing("--data", str(played.data)) as place:
        assert ask(place, "/healthz")[0].status == 200


def test_a_directory_that_is_gone_is_no_health(empty: Path) -> None:
    with browsing("--data", str(empty)) as place:
        shutil.rmtree(empty)
        answer, content = ask(place, "/healthz")
        assert answer.status == 503
        assert str(empty) in json.loads(content)["troubles"][0]
        assert ask(place, "/matches")[0].status == 503
        assert ask(place, "/api/v1/matches")[0].getheader("retry-after") == "5"


def test_a_server_that_is_gone_is_no_health(empty: Path) -> None:
    with serving(empty) as server:
        pages = browsing("--server", server.server)
        place = pages.__enter__()
        assert ask(place, "/healthz")[0].status == 200
    try:
        answer, content = ask(place, "/api/v1/bots")
        assert answer.status == 503
        assert "no arena answers at" in json.loads(content)["detail"]
        until = time.monotonic() + PATIENCE
        while ask(place, "/healthz")[0].status == 200:  # the pages cache the result of a check for one second
            assert time.monotonic() < until
        answer, content = ask(place, "/healthz")
        assert answer.status == 503
        assert "no arena answers at" in json.loads(content)["troubles"][0]
    finally:
        pages.__exit__(None, None, None)


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("--public-url", "arena.example"), "'--public-url': 'arena.example' is no address of pages"),
        (("--embed-origins", "blog.example"), "'--embed-origins': 'blog.example' is no origin, such as"),
        (("--public-address", "arena.example"), "'--public-address': 'arena.example' is no address of a server"),
        (
            ("--public-url", "https://a.example/b", "--root", "/c"),
            "the path of 'https://a.example/b' differs from --root '/c'",
        ),
    ],
)
def test_a_public_address_that_cannot_be_is_named(empty: Path, words: tuple[str, ...], said: str) -> None:
    result = arena("web", "--data", empty, *words)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


@pytest.mark.parametrize("proxy", ["here", "10.0.0.1/8", "10.0.0.0/33", ""])
def test_a_proxy_that_is_no_address_is_named(empty: Path, proxy: str) -> None:
    result = arena("web", "--data", empty, "--proxy", proxy)
    assert result.exit_code == 2
    assert "'--proxy'" in result.output


def test_the_pages_count_what_they_answer(empty: Path) -> None:
    with browsing("--data", str(empty), "--rate", "1", "--proxy", "127.0.0.1", *PUBLIC) as place:
        answers = [ask(place, "/write-a-bot", **READER)[0].status for _ in range(20)]
        ask(place, "/nothing")
        answer, content = ask(place, "/metrics")
    families = {each.name: each for each in text_string_to_metric_families(content.decode())}
    assert str(answer.getheader("content-type")).startswith("text/plain")
    assert set(PAGE_METRICS) <= set(families)
    by_status = {each.labels["status"]: each.value for each in families["arena_web_requests"].samples}
    assert by_status == {"200": answers.count(200), "429": answers.count(429), "404": 1}
    assert [each.value for each in families["arena_web_requests_limited"].samples] == [answers.count(429)]
    times = {each.name: each.value for each in families["arena_web_request_seconds"].samples}
    assert times["arena_web_request_seconds_count"] == 21
    assert [each.value for each in families["arena_web_requests_open"].samples] == [1]
    page = (Path(__file__).parents[2] / "docs" / "metrics.md").read_text()
    assert all(meaning in page and name in page for name, meaning in PAGE_METRICS.items())


async def test_an_answer_is_timed_until_it_begins() -> None:
    counts = RequestCounts()

    async def stream(_: Scope, __: Receive, send: Send) -> None:
        await send({"type": "http.response.start", "status": 200, "headers": []})
        time.sleep(0.1)
        await send({"type": "http.response.body"})

    async def nothing(_: object = None) -> Any:
        return {}

    scope: Scope = {"type": "http", "path": "/live/events/matches", "client": None, "headers": []}
    await EachRequest(stream, USUAL, counts)(scope, nothing, nothing)
    assert counts.by_status == {200: 1}
    assert counts.seconds < 0.1
