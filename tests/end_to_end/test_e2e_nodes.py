"""A server of several nodes on one data directory: bots with a stream to each node, deaths, stops. Real processes."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import time
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import ExitStack, contextmanager
from itertools import combinations
from pathlib import Path
from urllib.request import urlopen

import grpc
import pytest
from arena_client.v1 import play_pb2 as pb
from sqlalchemy import func, select

from arena.log.leaf import LeafKind
from arena.match.inputs import Left
from arena.store import schema
from arena.store.base.rows import MatchState
from arena.store.log.audit import audit as audit_log
from arena.store.matches import matches
from arena.store.nodes import LEASE
from arena.store.opening import open_readonly
from tests.cli.cli_rig import arena, shown
from tests.end_to_end.e2e_rig import (
    PATIENCE,
    Audit,
    Crowd,
    RawBot,
    Server,
    audit,
    failing_server,
    program,
    server,
    until,
)

NAMES = ("ann", "bob", "cid", "dan")
AGAIN = "--patience", "0.2", "--grace", "60"
HARMLESS = {pb.NOTICE_KIND_HELD, pb.NOTICE_KIND_RELEASED, pb.NOTICE_KIND_WITHDRAWN, pb.NOTICE_KIND_DRAINING}
"""Notices that a bot may get while a node is replaced. No notice may report that another bot is gone."""


def addresses(running: Server) -> list[str]:
    """Return the addresses of all nodes, which the server prints after its first line."""
    assert running.process.stdout is not None
    return running.process.stdout.readline().strip().removeprefix("Nodes at ").split(", ")


def pid_of(running: Server, node: int) -> int:
    """Return the most recently started process of a node."""
    return int(re.findall(rf'"node": {node}, "pid": (\d+), .*"event": "node runs"', running.log)[-1])


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


class Streams:
    """Bots with a stream to each node. Broken streams are opened again."""

    def __init__(self, crowds: list[Crowd]) -> None:
        self.crowds = crowds
        for name in NAMES:
            token = crowds[0].token(name)
            for crowd in crowds:
                crowd.tokens[name] = token
        self.bots = {(at, name): self._open(at, name) for at in range(len(crowds)) for name in NAMES}
        self.reports: dict[int, dict[str, pb.MatchReport]] = {}
        """The results that the server reported to bots, by match."""

    def _open(self, at: int, name: str, reports_after: int | None = None) -> RawBot:
        return self.crowds[at].come(name, capacity=4, reports_after=reports_after, patience=1800).play_in_background()

    def reopen(self) -> None:
        """Open the broken streams again."""
        for (at, name), bot in self.bots.items():
            if bot.end is not None:
                assert bot.thread is not None
                bot.thread.join()
                self._collect(name, bot)
                self.bots[at, name] = self._open(at, name, bot.reports_after)

    def have_results(self, at: int, more: int = 5) -> bool:
        """Return True if every bot has at least `more` results on its current stream to a node."""
        self.reopen()
        return all(len(bot.reports) >= more for (there, _), bot in self.bots.items() if there == at)

    def collect(self) -> dict[int, dict[str, pb.MatchReport]]:
        """Return all results that were reported to bots, by match and bot."""
        for (_, name), bot in self.bots.items():
            self._collect(name, bot)
        return self.reports

    def _collect(self, name: str, bot: RawBot) -> None:
        for report in bot.reports:
            self.reports.setdefault(report.match_id, {})[name] = report

    @property
    def notices(self) -> set[int]:
        return {notice.kind for crowd in self.crowds for bot in crowd.bots for notice in bot.notices}


@contextmanager
def nodes(data: Path, count: int, *options: str) -> Iterator[tuple[Server, Streams]]:
    """Run a server of several nodes, with bots that have a stream to each."""
    with server(data, "--processes", str(count), *AGAIN, *options) as running:
        crowds = [Crowd(address) for address in addresses(running)]
        try:
            yield running, Streams(crowds)
        finally:
            for crowd in crowds:
                for bot in crowd.bots:
                    bot.close()


def stop(running: Server) -> None:
    running.signal(signal.SIGTERM)
    assert running.ended() == 0


def undisturbed(data: Path) -> Audit:
    """Check that all matches are valid and no bot was charged."""
    found = audit(data)
    assert found.finished
    assert not [each for replay in found.replays.values() for each in replay.inputs if isinstance(each, Left)]
    assert not any(any(replay.result.forced) for replay in found.replays.values())
    assert not any(any(replay.result.troubled) for replay in found.replays.values())
    return found


def check_log(data: Path, streams: Streams) -> None:
    """Check that every reported result is stored, and that the log has one outcome for each match."""
    told = streams.collect()
    with open_readonly(data) as connection:
        rows = {row.id: row.state for row in connection.execute(select(schema.matches.c.id, schema.matches.c.state))}
        leaves = connection.execute(
            select(schema.log.c.match_id, func.count())
            .where(schema.log.c.kind.in_([LeafKind.RATED.value, LeafKind.CASUAL.value, LeafKind.INTERRUPTED.value]))
            .group_by(schema.log.c.match_id)
        ).all()
        assert not audit_log(connection).faults
    for match_id, reports in told.items():
        assert rows[match_id] == ("interrupted" if any(each.interrupted for each in reports.values()) else "finished")
    assert {count for _, count in leaves} == {1}


def test_bots_play_at_every_node_and_go_on_when_one_is_killed(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with nodes(data, 2) as (running, streams):
        until(lambda: streams.have_results(0) and streams.have_results(1), "results at both nodes")
        killed = pid_of(running, 2)
        os.kill(killed, signal.SIGKILL)
        before = {name: len(streams.bots[0, name].reports) for name in NAMES}
        until(lambda: all(len(streams.bots[0, name].reports) > before[name] + 5 for name in NAMES), "play elsewhere")
        until(lambda: pid_of(running, 2) != killed, "the node again")
        until(lambda: streams.have_results(1), "results there")
        assert streams.notices <= HARMLESS
        shown("bots", "revoke", "dan", "--data", data)
        until(lambda: all(streams.bots[at, "dan"].end is not None for at in (0, 1)), "the end of both streams")
        assert {streams.bots[at, "dan"].end.code for at in (0, 1)} == {grpc.StatusCode.UNAUTHENTICATED}  # type: ignore[union-attr]
        stop(running)
        assert "match resumed" in running.log
        assert not alive(pid_of(running, 2))
    found = audit(data)
    assert not found.interrupted
    check_log(data, streams)
    with open_readonly(data) as connection:
        assert {*connection.scalars(select(schema.matches.c.node))} == {1, 2}


def test_the_number_of_nodes_may_differ_from_start_to_start(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with nodes(data, 2) as (running, streams):
        until(lambda: streams.have_results(0, 2) and streams.have_results(1, 2), "results at both nodes")
        pids = [pid_of(running, node) for node in (1, 2)]
        running.kill()
        until(lambda: not any(alive(pid) for pid in pids), "the end of the nodes")
    playing = audit(data).playing
    assert playing
    with server(data, "--drain", "0", *AGAIN) as running:
        assert running.log.count("match resumed") == len(playing)
        stop(running)
    assert not undisturbed(data).interrupted


@pytest.mark.long
def test_a_node_that_stands_still_loses_its_matches_and_asks_nothing_when_it_goes_on(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with nodes(data, 2) as (running, streams):
        until(lambda: streams.have_results(0) and streams.have_results(1), "results at both nodes")
        stopped = pid_of(running, 2)
        os.kill(stopped, signal.SIGSTOP)
        began = time.monotonic()
        until(lambda: audit_interrupted(data), "void matches", patience=LEASE + 20)
        assert time.monotonic() - began < LEASE + 6
        time.sleep(max(0.0, 20 - (time.monotonic() - began)))
        void = audit_interrupted(data)
        asked = {name: len(streams.bots[1, name].matches) + streams.bots[1, name].answered for name in NAMES}
        results = {name: len(streams.bots[1, name].reports) for name in NAMES}
        os.kill(stopped, signal.SIGCONT)
        until(lambda: pid_of(running, 2) != stopped, "another start of the node")
        for name in NAMES:
            bot = streams.bots[1, name]
            assert bot.end is not None
            assert len(bot.matches) + bot.answered == asked[name], "it asked nothing"
            assert len(bot.reports) == results[name]
        assert "not ours any more" in running.log
        until(lambda: streams.have_results(1), "results there")
        assert audit_interrupted(data) == void
        stop(running)
    assert {match.match_id for match in undisturbed(data).interrupted} == void
    check_log(data, streams)


def audit_interrupted(data: Path) -> set[int]:
    """Return the matches without a result."""
    with open_readonly(data) as connection:
        return {*connection.scalars(select(schema.matches.c.id).where(schema.matches.c.state == "interrupted"))}


@pytest.mark.long
def test_ten_kills_of_nodes_lose_no_told_result_and_charge_nobody(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with nodes(data, 3) as (running, streams):
        for round_ in range(10):
            until(lambda: all(streams.have_results(at, 3) for at in range(3)), "results at all nodes")
            killed = pid_of(running, node := round_ % 3 + 1)
            os.kill(killed, signal.SIGKILL)
            until(lambda node=node, killed=killed: pid_of(running, node) != killed, "the node again")  # type: ignore[misc]
        until(lambda: all(streams.have_results(at, 3) for at in range(3)), "results at all nodes")
        assert streams.notices <= HARMLESS
        stop(running)
    undisturbed(data)
    assert not audit_interrupted(data)
    check_log(data, streams)


def test_addresses_that_do_not_fit_the_number_of_processes_are_refused(tmp_path: Path) -> None:
    for wrong, said in (
        (("--processes", "65"), "65"),
        (("--processes", "3", "--address", "127.0.0.1:50051,127.0.0.1:50052"), "lists 2 addresses"),
        (("--processes", "3", "--address", "127.0.0.1:65534"), "leaves no ports for 3"),
    ):
        status, error = failing_server("--data", str(tmp_path / "data"), *wrong)
        assert status == 2
        assert said in error


@pytest.mark.long
def test_bots_with_one_match_at_a_time_play_at_every_node(tmp_path: Path) -> None:
    data, bots = tmp_path / "data", [f"b{number}" for number in range(8)]
    with server(data, "--processes", "3", "--drain", "0", seats="4") as running, ExitStack() as stack:
        address = addresses(running)[0]
        for name in bots:
            sample = ("-m", "arena_client.samples.random_bot", "--server", address, "--name", name, "--capacity", "1")
            stack.enter_context(program(*sample, "--token-file", str(tmp_path / name), listened_to=False))
        # Bots that move from node to node at the same pace never meet again after their first matches.
        until(lambda: all(count >= 5 for count in played(data)), "matches at all nodes", patience=90)
        until(lambda: met(data) == {*combinations(bots, 2)}, "matches of all pairs", patience=90)
        stop(running)


def played(data: Path) -> list[int]:
    """Return the number of finished matches of each of three nodes."""
    with open_readonly(data) as connection:
        over = schema.matches.c.state == "finished"
        nodes_of = Counter(connection.scalars(select(schema.matches.c.node).where(over)))
    return [nodes_of[number] for number in (1, 2, 3)]


def met(data: Path) -> set[tuple[str, ...]]:
    """Return the pairs of bots that have finished a match together."""
    with open_readonly(data) as connection:
        ended = [match for match in matches.list_matches(connection, limit=1000) if match.state is MatchState.FINISHED]
    return {pair for match in ended for pair in combinations(sorted(seat.bot for seat in match.seats), 2)}


@pytest.mark.long
def test_a_drain_counts_the_matches_of_all_nodes_which_show_their_own_figures_and_speak_tls(tmp_path: Path) -> None:
    data, tls, ports = tmp_path / "data", tmp_path / "tls", free_ports(2)
    shown("cert", tls)
    secure = ("--tls-cert", str(tls / "cert.pem"), "--tls-key", str(tls / "key.pem"))
    figures = ("--metrics", ",".join(f"127.0.0.1:{port}" for port in ports), "--web", "127.0.0.1:0")
    with server(data, "--processes", "2", *AGAIN, *secure, *figures) as running, ExitStack() as stack:
        assert running.process.stdout is not None
        lines = iter(running.process.stdout.readline, "")
        pages = next(line for line in lines if line.startswith("Pages at ")).removeprefix("Pages at ").strip()
        address = next(line for line in lines if line.startswith("Nodes at ")).split()[2].rstrip(",")
        for name in NAMES:
            sample = ("-m", "arena_client.samples.search_bot", "--server", address, "--name", name, "--game", "nullern")
            token = ("--tls-roots", str(tls / "cert.pem"), "--token-file", str(tmp_path / name))
            stack.enter_context(program(*sample, *token, listened_to=False))

        def bots_at(port: int) -> bool:
            try:
                return "arena_bots_connected 4.0" in read_text(f"http://127.0.0.1:{port}/metrics")
            except OSError:  # the metrics start a moment after the node
                return False

        until(lambda: all(map(bots_at, ports)), "all bots at both nodes")
        until(lambda: all(played(data)[:2]), "matches at both nodes")
        assert "ann" in read_text(f"{pages}ladder/nullern")
        drained = arena("drain", "--limit", "0", "--data", data, "--json")
        assert running.ended() == 0
    assert drained.exit_code == 3, drained.output
    assert json.loads(drained.stdout)["left"] == len(audit(data).playing) > 0


def free_ports(count: int) -> list[int]:
    with ExitStack() as stack:
        sockets = [stack.enter_context(socket.socket()) for _ in range(count)]
        for each in sockets:
            each.bind(("127.0.0.1", 0))
        return [each.getsockname()[1] for each in sockets]


def read_text(url: str) -> str:
    with urlopen(url, timeout=PATIENCE) as page:
        text: str = page.read().decode()
    return text


def holder(running: Server) -> int:
    """Return the node that runs the events, according to the log."""
    return int(re.findall(r'"node": (\d+), "job": "events"', running.log)[-1])


def event_matches(data: Path) -> Counter[str]:
    """Return the number of matches of the event by state."""
    with open_readonly(data) as connection:
        of_event = select(schema.matches.c.state).where(schema.matches.c.kind == "event")
        return Counter(connection.scalars(of_event))


def enter_event(stack: ExitStack, address: str, names: Iterable[str], folder: Path) -> None:
    """Start sample bots that enter the event "friday". Their tokens and receipts are in the folder."""
    for name in names:
        sample = ("-m", "arena_client.samples.random_bot", "--server", address, "--name", name, "--game", "nullern")
        entry = ("--event", "friday", "--capacity", "4", "--token-file", str(folder / name))
        stack.enter_context(program(*sample, *entry, listened_to=False))


@pytest.mark.long
def test_an_event_goes_on_when_its_node_is_killed_and_at_another_when_it_stands_still(tmp_path: Path) -> None:
    data, bundle = tmp_path / "data", tmp_path / "friday.bundle"
    light = ("--luck", "off", "--house", "--house-workers", "0", "--drain", "0")
    with server(data, "--processes", "2", *light, seats="4") as running, ExitStack() as stack:
        address = addresses(running)[0]
        shown("event", "create", "friday", "--ladder", "nullern", "--start", "+30m", "--budget", "60", "--data", data)
        enter_event(stack, address, NAMES, tmp_path)
        until(lambda: all((tmp_path / f"{name}.receipts").exists() for name in NAMES), "matches of all bots")
        assert shown("event", "start", "friday", "--data", data) == "The event friday has begun.\n"
        until(lambda: event_matches(data)["finished"] > 5, "tables")
        killed = pid_of(running, first := holder(running))
        os.kill(killed, signal.SIGKILL)
        until(lambda: pid_of(running, first) != killed, "the node again")
        before = event_matches(data)["finished"]
        until(lambda: event_matches(data)["finished"] > before + 5, "further tables")
        assert holder(running) == first
        os.kill(stopped := pid_of(running, first), signal.SIGSTOP)
        until(lambda: holder(running) != first, "another holder", patience=LEASE + 15)
        before = event_matches(data)["finished"]
        until(lambda: event_matches(data)["finished"] > before + 5, "tables there")
        os.kill(stopped, signal.SIGCONT)
        until(lambda: "event over" in running.log, "the end of the event", patience=90)
        shown("event", "export", "friday", bundle, "--data", data)
        assert "decision of 60 matches agree" in shown("event", "verify", bundle)
        stop(running)
        assert "a fault of the server" not in running.log
    assert not tables_without_one_result(data)


def tables_without_one_result(data: Path) -> list[int]:
    """Return the tables of the event that have no result or several. Audit the log."""
    with open_readonly(data) as connection:
        of_event, match = schema.event_matches.c, schema.matches.c
        query = select(of_event.number, match.state).join_from(schema.event_matches, schema.matches)
        results = Counter[int]()
        for number, state in connection.execute(query):
            results[number] += state == "finished"
        assert not audit_log(connection).faults
    return [number for number, count in results.items() if count != 1]
