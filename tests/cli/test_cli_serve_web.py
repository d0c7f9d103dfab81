"""`arena serve --web`: pages of a real server with real bots, their event streams, and the ends of both processes."""

from __future__ import annotations

import json
import os
import re
import select
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager
from functools import partial
from http.client import HTTPConnection, HTTPResponse
from pathlib import Path
from typing import Any

import pytest
import sqlalchemy

from arena.store import schema
from arena.store.opening import open_readonly
from arena.web.live.boards import ANSWER_LIMIT
from tests.cli.cli_rig import ARENA, PATIENCE, arena, processes_of
from tests.end_to_end.e2e_rig import program


class Server:
    """A server with pages."""

    def __init__(self, process: subprocess.Popen[bytes], data: Path, log: Path) -> None:
        self.process = process
        self.data = data
        self._log = log
        self.address = self._said(r"Arena listens on (\S+:\d+),")
        self.host, port = self._said(r"Pages at http://(\S+)/").split(":")
        self.port = int(port)

    def _said(self, pattern: str) -> str:
        assert self.process.stdout is not None
        assert select.select([self.process.stdout], [], [], PATIENCE)[0], "the server says nothing"
        line = self.process.stdout.readline().decode()
        found = re.match(pattern, line)
        assert found, (line, self.log)
        return found[1]

    @property
    def log(self) -> str:
        return self._log.read_text()

    @property
    def beside(self) -> int:
        """Return the process that serves the pages."""
        return int(re.findall(r'"process": (\d+), "event": "pages"', self.log)[-1])

    def get(self, path: str, method: str = "GET") -> tuple[HTTPResponse, str]:
        with closing(HTTPConnection(self.host, self.port, timeout=PATIENCE)) as connection:
            connection.request(method, path)
            answer = connection.getresponse()
            return answer, answer.read().decode()


@contextmanager
def serving(data: Path, *options: str, files: int | None = None) -> Iterator[Server]:
    """Run a server with pages. `files` limits the number of open files of each of its processes."""
    log = data.with_name("server.log")
    command = [*ARENA, "serve", "--data", str(data), "--address", "127.0.0.1:0", "--web", "127.0.0.1:0", *options]
    if files is not None:
        command = ["sh", "-c", f'ulimit -n {files}; exec "$@"', "sh", *command]
    with log.open("a") as errors:
        process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=errors, bufsize=0)
    try:
        yield Server(process, data, log)
    finally:
        process.kill()
        process.wait()
        assert process.stdout is not None
        process.stdout.close()


@contextmanager
def bots(server: Server, directory: Path, *names: str, matches: int = 1000) -> Iterator[None]:
    """Run sample bots during the `with` block."""
    programs = [
        subprocess.Popen(
            [
                *(sys.executable, "-m", "arena_client.samples.random_bot", "--quiet", "--server", server.address),
                *("--name", name, "--token-file", str(directory / f"{name}.token"), "--game", "sixth_sense"),
                *("--capacity", "1", "--matches", str(matches)),
            ],
            stderr=subprocess.DEVNULL,
        )
        for name in names
    ]
    try:
        yield
    finally:
        for program in programs:
            program.kill()
            program.wait()


def until(done: Callable[[], Any], what: str) -> Any:
    end = time.monotonic() + PATIENCE
    while not (found := done()):
        assert time.monotonic() < end, f"waited in vain for: {what}"
        time.sleep(0.05)
    return found


class Stream:
    """A stream of server-sent events, read as a browser reads it."""

    def __init__(self, server: Server, name: str) -> None:
        self._connection = HTTPConnection(server.host, server.port, timeout=PATIENCE)
        self._connection.request("GET", f"/live/events/{name}", headers={"accept-encoding": "gzip"})
        self.answer = self._connection.getresponse()
        self.rows: dict[str, str] = {}
        """The rows as the page shows them."""
        self.keys: list[list[str]] = []
        """The order of the rows after each message."""
        self.state = ""
        """The reasons why rows are missing or old."""

    def read(self) -> dict[str, str]:
        """Return the rows after the next message."""
        fields: dict[str, str] = {}
        while True:
            line = self.answer.readline().decode().rstrip("\n")
            if not line and fields.get("event") == "rows":
                break
            name, _, value = line.partition(": ")
            fields = {**fields, name: value} if line else {}
        sent = json.loads(fields["data"])
        self.rows = {key: sent["rows"].get(key, self.rows.get(key)) for key in sent["order"]}
        assert None not in self.rows.values(), "a row that never came"
        self.keys.append(sent["order"])
        self.state = sent.get("state", "")
        return self.rows

    def until(self, done: Callable[[dict[str, str]], Any]) -> Any:
        while not (found := done(self.rows)):
            self.read()
        return found

    def close(self) -> None:
        self._connection.close()


def gone(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return True
    return False


def test_a_match_is_on_the_pages_from_its_beginning_to_the_ladder(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        until(lambda: "No match is being played." in server.get("/live")[1], "the server's first word")
        running, ladder = Stream(server, "matches"), Stream(server, "ladder/sixth_sense")
        newest = Stream(server, "newest")
        assert running.answer.headers["content-type"] == "text/event-stream"
        assert running.answer.headers["content-encoding"] is None, "a compressed stream would wait for more"
        assert (running.read(), ladder.read()) == ({}, {})
        with bots(server, tmp_path, "ann", "bob"):
            key = running.until(lambda rows: next(iter(rows), None))
            online = re.findall(r'/bots/(\w+)">.*?●</span> (?:plays 1|online)</td>', server.get("/bots")[1], re.DOTALL)
            assert sorted(online) == ["ann", "bob"], "the pages ask the server, which alone knows"
            one = Stream(server, f"matches/{key}")
            one.until(lambda rows: any(name.startswith("round-") for name in rows) or "over" in rows)
            rounds = [int(name.removeprefix("round-")) for name in one.rows if name != "over"]
            assert rounds == list(range(len(rounds)))[::-1], "every round that is over, the newest first"
            one.until(lambda rows: "over" in rows)
            assert f"/matches/{key}" in one.rows["over"]
            assert {"over", "round-0", *(f"round-{number}" for number in rounds)} <= {*one.rows}, "no round goes away"
            assert re.search(r"<strong>Over</strong>: (?:1\. .*2\.|2\. .*1\.|1\. .*1\.)", one.rows["over"])
            ladder.until(lambda rows: {*rows} == {"ann", "bob"})
            running.until(lambda rows: "<strong>over</strong>" in rows.get(key, ""))
            order = running.keys[-1]
            assert order == sorted(order, key=int, reverse=True), "a match that ends stays where it is"
            newest.until(lambda rows: any(int(number) >= int(key) for number in rows))
        for stream in (running, ladder, newest, one):
            stream.close()
        answer, _ = server.get(f"/live/matches/{key}")
        assert (answer.status, answer.headers["location"]) == (303, f"/matches/{key}"), "it has a page of its own now"
        for path in ("/live", "/status", "/ladder/sixth_sense"):
            answer, text = server.get(path)
            assert answer.status == 200
            assert re.search(r'data-live="/live/events/[a-z_/]+"', text), path
        assert re.search(r'data-tv data-number="\d+"', server.get("/tv")[1]), "a finished match"
        assert re.search(r'data-key="sixth_sense">.*?class="number">0<', server.get("/status")[1], re.DOTALL)


def test_what_is_unknown_is_said_and_a_head_does_not_stream(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        for path in (
            "/live/matches/7",
            "/live/events/matches/x",
            "/live/events/chess",
            "/live/matches/99999999999999999",
        ):
            assert server.get(path)[0].status == 404, path
        answer, _ = server.get("/live/events/matches", "HEAD")
        assert (answer.status, answer.headers["content-type"]) == (200, "text/event-stream")


def test_a_taken_port_is_named_and_no_server_begins(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        refused = arena("serve", "--data", tmp_path / "data", "--address", "127.0.0.1:0", "--web", place)
    assert refused.exit_code == 1
    assert f"web: cannot listen at {place}" in refused.output
    assert processes_of(tmp_path) == []
    refused = arena("serve", "--data", tmp_path / "data", "--web", "8080")
    assert refused.exit_code == 2
    assert "web: '8080' is no HOST:PORT" in refused.output


def test_several_nodes_name_a_taken_port_before_they_start_and_leave_no_socket(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        place = f"127.0.0.1:{taken.getsockname()[1]}"
        several = ("--processes", "2", "--unix-socket", tmp_path / "socket")
        refused = arena("serve", "--data", tmp_path / "several", "--address", "127.0.0.1:0", "--web", place, *several)
        assert refused.exit_code == 1
        assert f"web: cannot listen at {place}" in refused.output
        assert not (tmp_path / "several").exists(), "no node has started"
        other = ("--data", tmp_path / "several", "--address", f"127.0.0.1:0,{place}")
        refused = arena("serve", *other, *several)
        assert (refused.exit_code, f"cannot listen at {place}" in refused.output) == (1, True), refused.output
    assert [*tmp_path.glob("socket*")] == []
    until(lambda: processes_of(tmp_path) == [], "the end of all")


def test_the_process_that_shows_pages_dies_and_is_started_anew_at_the_same_place(tmp_path: Path) -> None:
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        first = server.beside
        assert server.get("/live")[0].status == 200
        assert f"run(MyBot(), &#34;{server.address}&#34;)" in server.get("/write-a-bot")[1]
        os.kill(first, signal.SIGKILL)
        until(lambda: server.beside != first, "the next one")
        assert "the process that shows pages ended; it is started anew" in server.log
        assert server.get("/status")[0].status == 200


def test_the_code_of_the_pages_is_not_loaded_before_the_first_request() -> None:
    heavy = {"trio", "starlette", "sqlalchemy", "structlog", "grpc"}
    program = f"import sys, arena.web.beside_server; print(sorted({heavy!r} & set(sys.modules)))"
    assert subprocess.run([sys.executable, "-c", program], check=True, capture_output=True).stdout == b"[]\n"


KILLED_AT_ITS_FIRST_START = """
import os, pathlib, signal, sys
mark = pathlib.Path(__file__).with_name("started")
if "arena.web.beside_server" in sys.orig_argv and not mark.exists():
    mark.touch()
    os.kill(os.getpid(), signal.SIGKILL)
"""
"""A module that Python runs as `sitecustomize` at the start of every process."""


def test_a_process_that_shows_pages_and_is_killed_while_it_first_starts_costs_the_server_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sitecustomize.py").write_text(KILLED_AT_ITS_FIRST_START)
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
        assert server.log.count("the process that shows pages cannot be started; it is tried again") == 1
        assert server.get("/live")[0].status == 200
        server.process.send_signal(signal.SIGTERM)
        assert server.process.wait(PATIENCE) == 0


def test_pages_end_with_the_server_also_when_it_is_killed(tmp_path: Path) -> None:
    for number in (signal.SIGTERM, signal.SIGKILL):
        with serving(tmp_path / "data", "--no-house", "--seats", "2") as server:
            beside = server.beside
            viewer = Stream(server, "status")
            assert "server" in viewer.read(), "somebody looks meanwhile"
            server.process.send_signal(number)
            assert server.process.wait(PATIENCE) == (0 if number == signal.SIGTERM else -number)
            until(partial(gone, beside), "the end of the pages")
            viewer.close()
    until(lambda: processes_of(tmp_path) == [], "the end of all")


def test_a_server_that_is_started_again_is_followed_again(tmp_path: Path) -> None:
    """`arena web --server` outlives a server, reports that no server answers, and shows the running matches of the next
    server.
    """
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"127.0.0.1:{free.getsockname()[1]}"
    options = ("--no-house", "--seats", "2", "--address", address)
    with serving(tmp_path / "data", *options) as server:
        command = [*ARENA, "web", "--listen", "127.0.0.1:0", "--server", address]
        pages = subprocess.Popen(command, stdout=subprocess.PIPE, bufsize=0)
        assert pages.stdout is not None
        assert select.select([pages.stdout], [], [], PATIENCE)[0]
        found = re.match(r"Pages at http://([\d.]+):(\d+)/", pages.stdout.readline().decode())
        assert found
        server.host, server.port = found[1], int(found[2])
        until(lambda: "No match is being played." in server.get("/live")[1], "the first server")
        viewer = Stream(server, "matches")
        viewer.read()
        server.process.kill()
        server.process.wait()
        until(lambda: "it is tried again" in server.get("/live")[1], "word that nothing answers")
        place = server.host, server.port
    with serving(tmp_path / "data", *options) as server, bots(server, tmp_path, "ann", "bob"):
        assert viewer.until(lambda rows: rows), "the same viewer sees what the new server plays"
        server.host, server.port = place
        # between two matches the page shows none
        until(lambda: "data-key" in server.get("/live")[1], "a match on the page")
    viewer.close()
    pages.send_signal(signal.SIGINT)
    assert pages.wait(PATIENCE) == 0
    pages.stdout.close()


def test_a_ladder_of_the_server_is_listed_with_its_terms_before_its_first_match(tmp_path: Path) -> None:
    settings = tmp_path / "arena.toml"
    ladder = 'name = "class"\ngame = "nullern"\nseats = [3, 4]\nentry = "invited"\nhouse = false\n'
    settings.write_text(f"[[ladders]]\n{ladder}policy = {{ soft_limit = 2.5, bank = 60 }}\n")
    with serving(tmp_path / "data", "--config", str(settings)) as server:
        text = until(lambda: page if "by invitation" in (page := server.get("/")[1]) else "", "the server's list")
        [row] = [each for each in re.findall(r"<tr>.*?</tr>", text, re.DOTALL) if 'href="/ladder/class"' in each]
        assert " ".join(re.sub(r"<[^>]*>", " ", row).split()) == "class Nullern 0 0 1 2.5 s by invitation"
        text = server.get("/ladder/class")[1]
        assert "Ladder of class (Nullern)</h1>" in text
        assert "2.5 s for a decision, and 60 s in reserve for a match. Tables of 3 or 4; by invitation; without" in text
        assert "Nobody has finished a match yet." in text
        assert server.get("/matches?ladder=class")[0].status == 200
        assert "class (Nullern)" in server.get("/status")[1]
        *_, listed = json.loads(server.get("/api/v1/ladders")[1])["ladders"]
        assert listed | {"seasons": []} == {
            "name": "class",
            "game": "nullern",
            "seasons": [],
            "seats": [3, 4],
            "soft_limit_ms": 2500,
            "bank_ms": 60_000,
            "access": "invited",
            "house": False,
            "matches_per_hour": 0,
        }
        command = [*ARENA, "ladder", "list", "--server", server.address]
        wide = {**os.environ, "COLUMNS": "200"}
        text = subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE, env=wide).stdout.decode()
        rows = [line.strip("│ ").split() for line in text.splitlines()]
        assert ["class", "nullern", "1", "0", "0", "3,", "4", "2.5", "s", "60", "s", "invited"] in rows
        command = [*ARENA, "ladder", "--ladder", "class", "--json", "--server", server.address]
        printed = subprocess.run(command, check=True, capture_output=True, timeout=PATIENCE).stdout
        [shown] = json.loads(printed)["ladders"]
        assert (shown["game"], shown["ladder"], shown["season"], shown["standings"]) == ("nullern", "class", 1, [])


def nodes_of(data: Path) -> dict[int, int]:
    """Return the node of each running match."""
    table = schema.matches.c
    playing = sqlalchemy.select(table.id, table.node).where(table.state == "playing")
    with open_readonly(data) as connection:
        return {row.id: row.node for row in connection.execute(playing)}


def node_process(server: Server, node: int) -> int:
    """Return the most recently started process of a node."""
    return int(re.findall(rf'"node": {node}, "pid": (\d+), .*"event": "node runs"', server.log)[-1])


def test_the_pages_show_the_matches_of_all_nodes_and_wait_for_none_that_stands_still(tmp_path: Path) -> None:
    options = ("--no-house", "--seats", "2", "--processes", "3", "--grace", "60")
    with serving(tmp_path / "data", *options) as server, ExitStack() as stack:
        for name in ("ann", "bob"):
            slow = ("-m", "tests.end_to_end.slow_bot", server.address, name, str(tmp_path / name), "6", "300")
            stack.enter_context(program(*slow, listened_to=False))
        stack.callback((viewer := Stream(server, "matches")).close)

        def state(node: int, word: str) -> list[str]:
            """Return a node's running matches whose rows contain a word."""
            return [
                key for key, row in viewer.rows.items() if nodes_of(server.data).get(int(key)) == node and word in row
            ]

        viewer.until(lambda _: all(state(node, "plays round") for node in (1, 2, 3)))
        assert viewer.state == ""
        assert re.findall(r'<tr data-key="(Node \d)">', server.get("/status")[1]) == ["Node 1", "Node 2", "Node 3"]
        status = json.loads(server.get("/api/v1/status")[1])
        assert status["bots"] == 2, "each has a stream to every node"
        assert sum(game["playing"] for game in status["games"]) >= 3

        lost = state(2, "plays round")
        os.kill(node_process(server, 2), signal.SIGKILL)
        viewer.until(lambda _: state(2, "Node 2 does not answer"))
        assert viewer.state == "Node 2 does not answer; it is tried again."
        assert state(1, "plays round")
        assert state(3, "plays round")
        viewer.until(lambda _: {*lost} & {*state(2, "plays round")})
        assert viewer.state == "", "its matches go on"

        [stopped, *_] = state(3, "plays round")
        os.kill(node_process(server, 3), signal.SIGSTOP)
        for limit in (2 * ANSWER_LIMIT, ANSWER_LIMIT):
            for path in ("/bots", "/status", "/", "/live", f"/live/matches/{stopped}", "/api/v1/live"):
                began = time.monotonic()
                answer, text = server.get(path)
                assert answer.status in {200, 303}
                assert time.monotonic() - began < limit, path
        assert "Node 3 does not answer; it is tried again." in text
        assert '<th scope="row">Node 3</th>' not in server.get("/status")[1]
        viewer.until(lambda _: viewer.state.startswith("Node 3") and state(1, "plays round"))
        os.kill(node_process(server, 3), signal.SIGCONT)
        viewer.until(lambda _: not viewer.state)
        os.kill(node_process(server, 3), signal.SIGSTOP)
        began = time.monotonic()
        viewer.until(lambda _: viewer.state)
        assert time.monotonic() - began < 4 * ANSWER_LIMIT, "an open page names it without a further request"
