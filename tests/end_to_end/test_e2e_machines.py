"""Servers with different data directories on one PostgreSQL database, as on several machines. Real processes."""

from __future__ import annotations

import os
import shutil
import signal
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import pytest
from sqlalchemy import select

from arena.store import schema
from arena.store.nodes import LEASE
from arena.store.opening import open_readonly
from tests.cli.cli_rig import shown
from tests.end_to_end.e2e_rig import Crowd, Server, server, until
from tests.end_to_end.test_e2e_nodes import (
    AGAIN,
    HARMLESS,
    NAMES,
    Streams,
    addresses,
    alive,
    audit_interrupted,
    check_log,
    enter_event,
    event_matches,
    free_ports,
    pid_of,
    stop,
    tables_without_one_result,
    undisturbed,
)
from tests.postgresql import server as postgresql

if TYPE_CHECKING:
    from pathlib import Path

SLOW_TO_START = 60.0
HOLDS_EVENTS = '"job": "events"'


@pytest.mark.long
def test_a_machine_that_dies_costs_nobody_and_comes_back_under_its_numbers(tmp_path: Path) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    ports = ",".join(f"127.0.0.1:{port}" for port in free_ports(2))
    with postgresql() as database, ExitStack() as stack:
        store = ("--store", database.address(database.new_database()), *AGAIN, "--luck", "off")
        first = stack.enter_context(server(one, *store, "--node", "1"))
        other.mkdir()
        shutil.copy(one / "log.key", other)
        again = (*store, "--node", "2", "--processes", "2")
        second = stack.enter_context(server(other, *again, address=ports))
        crowds = [stack.enter_context(Crowd(address)) for address in (*addresses(first), *addresses(second))]
        streams = Streams(crowds)
        until(lambda: all(streams.have_results(at) for at in range(3)), "results at all nodes")
        kill(second, [pid_of(second, number) for number in (2, 3)])
        killed = time.monotonic()
        until(lambda: not playing(one) & {2, 3}, "the end of its matches", patience=LEASE + 15)
        assert time.monotonic() - killed < LEASE + 6
        void = audit_interrupted(one)
        assert void
        before = {name: len(streams.bots[0, name].reports) for name in NAMES}
        until(lambda: all(len(streams.bots[0, name].reports) > before[name] + 5 for name in NAMES), "play elsewhere")
        second = stack.enter_context(server(other, *again, address=ports))
        until(lambda: all(streams.have_results(at) for at in range(3)), "results at all nodes", SLOW_TO_START)
        assert streams.notices <= HARMLESS
        assert audit_interrupted(one) == void
        stop(second)
        stop(first)
        assert {match.match_id for match in undisturbed(one).interrupted} == void
        check_log(other, streams)


@pytest.mark.long
def test_an_event_goes_on_at_another_machine_when_its_machine_dies(tmp_path: Path) -> None:
    one, other, bundle = tmp_path / "one", tmp_path / "other", tmp_path / "friday.bundle"
    with postgresql() as database, ExitStack() as stack:
        store = ("--store", database.address(database.new_database()), "--luck", "off", "--drain", "0")
        light = (*store, "--house", "--house-workers", "0")
        first = stack.enter_context(server(one, *light, "--node", "1", seats="4"))
        other.mkdir()
        shutil.copy(one / "log.key", other)
        second = stack.enter_context(server(other, *light, "--node", "2", seats="4"))
        shown("event", "create", "friday", "--ladder", "nullern", "--start", "+30m", "--budget", "60", "--data", one)
        enter_event(stack, first.address, NAMES, tmp_path)
        until(lambda: all((tmp_path / f"{name}.receipts").exists() for name in NAMES), "matches of all bots")
        shown("event", "start", "friday", "--data", one)
        until(lambda: event_matches(one)["finished"] > 5, "tables")
        assert HOLDS_EVENTS in first.log
        assert HOLDS_EVENTS not in second.log
        kill(first, [])
        until(lambda: HOLDS_EVENTS in second.log, "another holder", patience=LEASE + 15)
        until(lambda: "event over" in second.log, "the end of the event", patience=180)
        shown("event", "export", "friday", bundle, "--data", other)
        assert "decision of 60 matches agree" in shown("event", "verify", bundle)
        stop(second)
        assert "a fault of the server" not in second.log
        assert not tables_without_one_result(other)


def kill(running: Server, nodes: list[int]) -> None:
    """Kill all processes of a server at once."""
    for pid in (running.process.pid, *nodes):
        os.kill(pid, signal.SIGKILL)
    running.process.wait()
    until(lambda: not any(map(alive, nodes)), "the end of the nodes")


def playing(data: Path) -> set[int]:
    """Return the nodes that have running matches."""
    with open_readonly(data) as connection:
        found = select(schema.matches.c.node).where(schema.matches.c.state == "playing")
        return {*connection.scalars(found)}
