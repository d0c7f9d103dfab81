"""Requests for analyses: who may request them, how many may run, and no analysis outlives the pages."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
from starlette.applications import Starlette

from arena.web.reading.reviews import MOST_OF_ADDRESS
from tests.cli.cli_rig import arena, processes_of
from tests.cli.test_cli_serve_web import gone, serving, until
from tests.cli.web_data import directory_of, pages_of
from tests.cli.web_process_rig import ask, browsing
from tests.cli.web_rig import routes

PROCESS = "arena.web.reading.review_process"


@pytest.fixture(autouse=True)
def nothing_known(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Remove stored results, so that each analysis takes a minute or more."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    return directory_of(tmp_path / "data", *[4] * 6)


def analysing(parent: int) -> Sequence[int]:
    """Return the processes that compute analyses for this process's pages."""
    listed = subprocess.run(["ps", "-axwwo", "pid=,ppid=,command="], check=True, capture_output=True, text=True).stdout
    found = [line.split(None, 2) for line in listed.splitlines() if PROCESS in line]
    return [int(pid) for pid, of, _ in found if int(of) == parent]


def test_one_address_has_its_share_of_the_analyses_that_wait(data: Path) -> None:
    with browsing("--data", str(data), "--proxy", "127.0.0.1", "--public-url", "http://a.example") as place:

        def asked(number: int, address: str) -> int:
            return ask(place, f"/matches/{number}/analysis", "POST", x_forwarded_for=address)[0].status

        greedy = [asked(number, f"2001:db8::{number}") for number in range(1, MOST_OF_ADDRESS + 1)]
        assert greedy == [303] * MOST_OF_ADDRESS
        answer, content = ask(place, "/matches/3/analysis", "POST", x_forwarded_for="2001:db8::3")
        assert (answer.status, answer.getheader("retry-after")) == (503, "60")
        assert "2 analyses of your address wait already; come back in some minutes" in content.decode()
        assert asked(1, "2001:db8::3") == 303, "what is worked out already costs nothing"
        assert asked(3, "2001:db8:1::1") == 303


@pytest.mark.parametrize(
    ("headers", "status", "words"),
    [
        ({"origin": "http://{}"}, 303, ""),
        ({}, 303, ""),
        ({"host": "arena.example", "origin": "https://arena.example"}, 303, ""),
        ({"origin": "https://arena.example"}, 303, ""),
        ({"origin": "https://evil.example"}, 403, "pages of &#39;https://evil.example&#39; may only read here"),
        ({"origin": "null"}, 403, "may only read here; the operator names them by --web-origin"),
        ({"host": "evil.example", "origin": "http://evil.example"}, 403, "only reading is allowed at the name"),
        ({"host": "192.0.2.7"}, 403, "only reading is allowed at the name &#39;192.0.2.7&#39;"),
    ],
)
def test_only_pages_of_the_server_and_of_named_sites_ask_for_analyses(
    data: Path, headers: dict[str, str], status: int, words: str
) -> None:
    with browsing("--data", str(data), "--web-origin", "https://arena.example") as place:
        headers = {name: value.format("{}:{}".format(*place)) for name, value in headers.items()}
        answer, content = ask(place, "/matches/1/analysis", "POST", **headers)
        assert (answer.status, words in content.decode()) == (status, True)
        assert ask(place, "/matches/1/analysis", **headers)[0].status == 200, "everybody may read"


def test_whatever_does_more_than_read_is_refused_to_pages_of_other_sites(data: Path) -> None:
    pages = pages_of(data)
    assert isinstance(pages.app, Starlette)
    more = [(method, path) for method, path, _ in routes(pages.app.routes) if method not in {"GET", "HEAD"}]
    assert more
    with browsing("--data", str(data)) as place:
        for method, path in more:
            answer, _ = ask(place, path.format(number=1, name="bot-0"), method, origin="https://evil.example")
            assert answer.status == 403, path


def test_an_origin_that_is_none_is_named(data: Path) -> None:
    result = arena("web", "--data", data, "--web-origin", "arena.example")
    assert (result.exit_code, "'arena.example' is no origin" in result.output) == (2, True)


@pytest.mark.parametrize(
    ("killed", "number"), [("server", signal.SIGTERM), ("server", signal.SIGKILL), ("pages", signal.SIGKILL)]
)
def test_an_analysis_ends_with_the_pages_however_they_end(data: Path, killed: str, number: signal.Signals) -> None:
    with serving(data, "--no-house") as server:
        beside = server.beside
        assert server.get("/matches/1/analysis", "POST")[0].status == 303
        [process] = until(lambda: analysing(beside), "the process of the analysis")
        until(lambda: "of 4 seats looked at" in server.get("/matches/1/analysis")[1], "the first of what it finds")
        os.kill(server.process.pid if killed == "server" else beside, number)
        until(partial(gone, process), "the end of the analysis")


def test_an_analysis_ends_with_the_pages_that_control_c_ends(data: Path) -> None:
    with browsing("--data", str(data)) as place:
        [pages] = processes_of(data)
        assert ask(place, "/matches/1/analysis", "POST")[0].status == 303
        [process] = until(lambda: analysing(int(pages.split()[0])), "the process of the analysis")
    until(partial(gone, process), "the end of the analysis")
