"""Failures with the store in PostgreSQL: a lost primary, stopped and killed nodes and writers. Real processes."""

from __future__ import annotations

import os
import re
import signal
import time
from collections.abc import Callable, Collection, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from random import Random
from statistics import quantiles
from typing import Any

import psycopg
import pytest
from arena_client.v1 import play_pb2 as pb
from sqlalchemy import select

from arena.store import schema
from arena.store.nodes import LEASE
from arena.store.opening import open_readonly
from tests.cli.cli_rig import shown
from tests.end_to_end.e2e_rig import Crowd, RawBot, Server, program, server, until
from tests.end_to_end.test_e2e_nodes import (
    AGAIN,
    HARMLESS,
    NAMES,
    Streams,
    addresses,
    audit_interrupted,
    check_log,
    enter_event,
    pid_of,
    read_text,
    stop,
    tables_without_one_result,
    undisturbed,
)
from tests.postgresql import Server as PostgresqlServer
from tests.postgresql import pair

SEED = 38
LIGHT = ("--luck", "off", "--drain", "0", "--patience", "0.2", "--grace", "60")


@contextmanager
def playing(crowds: list[Crowd]) -> Iterator[Streams]:
    try:
        yield Streams(crowds)
    finally:
        for crowd in crowds:
            for bot in crowd.bots:
                bot.close()


def reported(streams: Streams) -> int:
    return sum(len(bot.reports) for bot in streams.bots.values())


def pages_of_the_standby_name(bot: str, store: str) -> None:
    """Check that `arena web` serves a ladder from a hot standby."""
    with program("-m", "arena.cli", "web", "--store", store, "--listen", "127.0.0.1:0") as process:
        assert process.stdout is not None
        place = process.stdout.readline().removeprefix("Pages at ").partition(";")[0]
        assert place.startswith("http"), place
        until(lambda: bot in read_text(f"{place}bots"), "the bot on a page of the standby")


@pytest.mark.parametrize("promotions", [2, pytest.param(20, marks=pytest.mark.long)])
def test_a_promoted_standby_has_every_reported_result(tmp_path: Path, promotions: int) -> None:
    data, chance = tmp_path / "data", Random(SEED)
    with pair(synchronous=True) as both:
        store = both.address(both.primary.new_database())
        with server(data, "--store", store, *LIGHT) as running, playing([Crowd(running.address)]) as streams:
            until(lambda: streams.have_results(0), "results", 60)
            pages_of_the_standby_name("ann", both.standby.address(store.rpartition("/")[2].partition("?")[0]))
            for _ in range(promotions):
                time.sleep(chance.uniform(0, 0.5))  # so that the primary dies at a random moment
                both.lose_primary()
                time.sleep(1)
                both.promote()
                before = reported(streams)
                until(lambda before=before: reported(streams) > before + 20, "results from the new primary", 60)  # type: ignore[misc]
                both.follow()
            assert all(bot.end is None for bot in streams.bots.values()), "every stream has lasted"
            stop(running)
            assert "a fault of the server" not in running.log
        check_log(data, streams)
        undisturbed(data)
        print(f"{promotions} promotions, {len(streams.collect())} reported results, 0 lost; {sorted(streams.notices)}")


@pytest.mark.long
def test_how_many_results_a_standby_lacks_that_nobody_waited_for(tmp_path: Path) -> None:
    data, chance, promotions, lost = tmp_path / "data", Random(SEED), 20, 0
    with pair(synchronous=False) as both:
        store = both.address(both.primary.new_database())
        with server(data, "--store", store, *LIGHT) as running, playing([Crowd(running.address)]) as streams:
            until(lambda: streams.have_results(0), "results")
            for _ in range(promotions):
                time.sleep(chance.uniform(0, 0.5))
                both.lose_primary()
                both.promote()
                before = reported(streams)
                until(lambda before=before: reported(streams) > before + 20, "results from the new primary")  # type: ignore[misc]
                both.follow()
            stop(running)
            assert "a fault of the server" not in running.log
        told = {
            number for number, each in streams.collect().items() if not any(one.interrupted for one in each.values())
        }
        lost = len(told - finished(data))
        print(f"{promotions} promotions, {len(told)} reported results, {lost} lost with synchronous_commit=off")
    assert lost < len(told) / 10


def finished(data: Path) -> set[int]:
    """Return the matches with a result."""
    with open_readonly(data) as connection:
        return {*connection.scalars(select(schema.matches.c.id).where(schema.matches.c.state == "finished"))}


# --- nodes and their writers ---


def writer_of(running: Server, node: int) -> int:
    """Return the most recently started writer process of a node."""
    return int(re.findall(rf'"writer_process": (\d+), "node": {node},', running.log)[-1])


def longest_pause(streams: Streams, nodes: Collection[int], done: Callable[[], object], patience: float) -> float:
    """Wait for a condition. Return the longest time for which any one of these nodes reported no result."""
    began = time.monotonic()
    known, since, longest = dict.fromkeys(nodes, -1), dict.fromkeys(nodes, began), 0.0
    while not done():
        now = time.monotonic()
        assert now - began < patience
        for node in nodes:
            count = sum(len(bot.reports) for (at, _), bot in streams.bots.items() if at == node)
            if count != known[node]:
                known[node], since[node] = count, now
            longest = max(longest, now - since[node])
        time.sleep(0.02)
    return longest


def stop_in_transaction(postgresql: PostgresqlServer, database: str, writers: Collection[int]) -> int:
    """Stop a writer process within its transaction, and return the process.

    The writer is caught while it waits for a locked table.
    """
    waiting = "SELECT client_port FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND wait_event = 'relation'"
    with psycopg.connect(postgresql.address(database)) as session:
        session.execute("LOCK TABLE match_seats IN EXCLUSIVE MODE")
        until(lambda: postgresql.run(waiting), "a writer that waits for the table")
        (port,) = postgresql.run(waiting)[0]
        pid = next(each for each in writers if port in ports_of(each))
        os.kill(pid, signal.SIGSTOP)
    return pid


def ports_of(pid: int) -> set[int]:
    """Return the local ports of a process's connections."""
    links = {str(each.readlink()) for each in Path(f"/proc/{pid}/fd").iterdir()}
    rows = [line.split() for line in Path(f"/proc/{pid}/net/tcp").read_text().splitlines()[1:]]
    return {int(row[1].partition(":")[2], 16) for row in rows if f"socket:[{row[9]}]" in links}


@pytest.mark.long
@pytest.mark.parametrize("seconds", [20, 60])
@pytest.mark.parametrize("what", ["node", "writer", "writer in its transaction"])
def test_others_go_on_while_a_node_or_its_writer_stands_still(
    tmp_path: Path, postgresql: PostgresqlServer, what: str, seconds: float
) -> None:
    data, database = tmp_path / "data", postgresql.new_database()
    store = ("--processes", "3", "--store", postgresql.address(database), "--luck", "off")
    with server(data, *store, *AGAIN) as running, playing([Crowd(each) for each in addresses(running)]) as streams:
        until(lambda: all(streams.have_results(at, 3) for at in range(3)), "results at all nodes")
        writers = {writer_of(running, node): node for node in (1, 2, 3)}
        if what == "writer in its transaction":
            stopped = stop_in_transaction(postgresql, database, writers)
            node = writers[stopped]
        else:
            node = 2
            stopped = pid_of(running, node) if what == "node" else writer_of(running, node)
            os.kill(stopped, signal.SIGSTOP)
        began, pid = time.monotonic(), pid_of(running, node)
        lost = f'{{"node": {node}, "matches": ['
        others = {0, 1, 2} - {node - 1}
        pause = longest_pause(streams, others, lambda: lost in running.log, LEASE + 20)
        voided = time.monotonic() - began
        pause = max(pause, longest_pause(streams, others, lambda: time.monotonic() > began + seconds, 2 * seconds))
        void = audit_interrupted(data)
        os.kill(stopped, signal.SIGCONT)
        until(lambda: pid_of(running, node) != pid, "another start of the node")
        until(lambda: streams.have_results(node - 1), "results there")
        assert audit_interrupted(data) == void, "nothing of the void matches was recorded"
        assert streams.notices <= HARMLESS
        stop(running)
        assert "a fault of the server" not in running.log
    assert {match.match_id for match in undisturbed(data).interrupted} == void
    check_log(data, streams)
    print(f"{what}, {seconds} s: others waited {pause:.1f} s, {len(void)} matches void after {voided:.1f} s")
    assert voided <= 20
    assert pause <= 6


@pytest.mark.long
@pytest.mark.parametrize("kills", [5, 50])
def test_kills_of_nodes_and_writers_lose_no_reported_result(
    tmp_path: Path, postgresql: PostgresqlServer, kills: int
) -> None:
    data, chance, budget = tmp_path / "data", Random(SEED), 30 if kills < 10 else 400
    store = (
        "--processes",
        "3",
        "--store",
        postgresql.address(postgresql.new_database()),
        "--luck",
        "off",
        "--house",
        "--house-search",
        "0",
    )
    with ExitStack() as stack:
        running = stack.enter_context(server(data, *store, *AGAIN, "--house-workers", "0", seats="2"))
        places = addresses(running)
        plan = ("--ladder", "nullern", "--seats", "2", "--start", "+30m", "--budget", str(budget))
        shown("event", "create", "friday", *plan, "--data", data)
        enter_event(stack, places[0], [f"e{number}" for number in range(8)], tmp_path)
        streams = stack.enter_context(playing([Crowd(each) for each in places]))
        until(lambda: all(streams.have_results(at, 2) for at in range(3)), "results at all nodes")
        until(lambda: all((tmp_path / f"e{number}.receipts").exists() for number in range(8)), "the event's bots")
        shown("event", "start", "friday", "--data", data)
        for kill in range(kills):
            node = chance.randint(1, 3)
            pid = pid_of(running, node)
            os.kill(pid if kill % 2 else writer_of(running, node), signal.SIGKILL)
            until(lambda node=node, pid=pid: pid_of(running, node) != pid, "the node again")  # type: ignore[misc]
            until(lambda node=node: streams.have_results(node - 1, 2), "results there")  # type: ignore[misc]
        until(lambda: "event over" in running.log, "the end of the event", patience=240)
        assert streams.notices <= HARMLESS
        stop(running)
        assert "a fault of the server" not in running.log
    undisturbed(data)
    # A node whose start takes longer than its lease loses its matches, at no bot's cost.
    assert "its matches are void" in running.log or not audit_interrupted(data)
    assert not tables_without_one_result(data)
    check_log(data, streams)
    told = streams.collect()
    print(f"{kills} kills, {len(told)} reported results of {len(NAMES)} bots, {len(finished(data))} matches, 0 lost")


class TimedBot(RawBot):
    """A bot that measures the seconds from each answer to the next decision of the same match."""

    def __init__(self, *what: Any, **how: Any) -> None:
        self.trips: list[float] = []
        self._since: dict[int, float] = {}
        super().__init__(*what, **how)

    def answer(self, *decisions: pb.Decision, action: int | None = None) -> None:
        super().answer(*decisions, action=action)
        self._since.update(dict.fromkeys((each.match_id for each in decisions), time.monotonic()))

    def read(self) -> pb.PlayResponse:
        message = super().read()
        for each in message.decisions:
            if each.match_id in self._since:
                self.trips.append(time.monotonic() - self._since.pop(each.match_id))
        return message


@pytest.mark.long
def test_kills_of_nodes_and_writers_slow_down_nobody_else(tmp_path: Path, postgresql: PostgresqlServer) -> None:
    """Bots of one node time their turns, first undisturbed, then while the other nodes and their writers are killed."""
    data, chance, kills = tmp_path / "data", Random(SEED), 12
    store = ("--processes", "3", "--store", postgresql.address(postgresql.new_database()), "--luck", "off", *AGAIN)
    with ExitStack() as stack:
        running = stack.enter_context(server(data, *store))
        *others, quiet = addresses(running)
        crowd = stack.enter_context(Crowd(quiet))
        timed = [TimedBot(quiet, crowd.token(f"timed-{number}"), capacity=2, patience=1800) for number in range(4)]
        crowd.bots += timed
        streams = stack.enter_context(playing([Crowd(each) for each in others]))
        for bot in timed:
            bot.play_in_background()

        def all_play(more: int = 2) -> bool:
            there = [streams.have_results(at, more) for at in range(2)]
            for bot in streams.bots.values():
                bot.pause = 0.02
            return all(there)

        def p99(since: float) -> float:
            trips = [trip for bot in timed for trip in bot.trips]
            for bot in timed:
                bot.trips.clear()
            print(f"{len(trips)} turns in {time.monotonic() - since:.0f} s", end=", ")
            return quantiles(trips, n=100)[98]

        until(all_play, "results at all nodes")
        p99(began := time.monotonic())
        time.sleep(60)
        undisturbed = p99(began)
        began = time.monotonic()
        for kill in range(kills):
            node = chance.randint(1, 2)
            pid = pid_of(running, node)
            os.kill(pid if kill % 2 else writer_of(running, node), signal.SIGKILL)
            until(lambda node=node, pid=pid: pid_of(running, node) != pid, "the node again")  # type: ignore[misc]
            until(all_play, "results there")
        disturbed = p99(began)
        print(f"p99 {1000 * undisturbed:.1f} ms undisturbed, {1000 * disturbed:.1f} ms during {kills} kills")
        stop(running)
    assert disturbed <= 2 * undisturbed
