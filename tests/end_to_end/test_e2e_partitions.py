"""Silent partitions between a node and its database, and between a bot and a node. Real processes and servers."""

from __future__ import annotations

import shutil
import subprocess
import sys
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import psycopg
import pytest
from arena_client.v1 import play_pb2 as pb

from arena.store.nodes import LEASE
from tests.end_to_end.e2e_rig import ARENA, ROOT, Crowd, Server, audit, server, until
from tests.end_to_end.partition_rig import Namespaces, network
from tests.end_to_end.test_e2e_nodes import (
    AGAIN,
    HARMLESS,
    NAMES,
    Streams,
    audit_interrupted,
    check_log,
    free_ports,
    pid_of,
    stop,
    undisturbed,
)
from tests.end_to_end.test_e2e_postgresql import longest_pause, reported
from tests.postgresql import Server as PostgresqlServer
from tests.postgresql import pair
from tests.postgresql import server as postgresql

if TYPE_CHECKING:
    from pathlib import Path

BACK = 20.0
"""Seconds within which a node notices the end of a partition."""
CUT = "cut"
"""The bot that the network cuts off from a node."""
GRACE = 30
"""Seconds in which an absent bot may return. This is the default."""
THINKING = 0.4
"""Seconds per decision, so long that a match outlasts a lease, and so short that no bot is late."""


def decisions(streams: Streams, at: int) -> int:
    """Return the number of decisions that a node has requested from its bots."""
    return sum(bot.answered + len(bot.decisions) for (there, _), bot in streams.bots.items() if there == at)


def finished_at(server: PostgresqlServer, database: str) -> set[int]:
    """Return the matches that a database server stores as finished or interrupted."""
    with psycopg.connect(server.address(database)) as connection:
        rows = connection.execute("SELECT id FROM matches WHERE state <> 'playing'").fetchall()
    return {number for (number,) in rows}


class Nodes:
    """Two servers of one node each, connected to their bots and their database by a network. Bots play at both."""

    def __init__(self, folder: Path, net: Namespaces, store: str, stack: ExitStack, *more: str) -> None:
        self.data = [folder / "n1", folder / "n2"]
        self.running: list[Server] = []
        addresses = []
        for number, (data, port) in enumerate(zip(self.data, free_ports(2), strict=True), 1):
            party = f"n{number}"
            if number > 1:
                data.mkdir()
                shutil.copy(self.data[0] / "log.key", data)
            address = f"{net.hosts[party]}:{port}"
            addresses.append(address)
            options = ("--store", store, "--node", str(number), "--public-address", address, *AGAIN, *more)
            program = (*net.within(party), str(ARENA), "serve")
            own = server(data, *options, "--luck", "off", "--pair-quota", "0", program=program, address=address)
            self.running.append(stack.enter_context(own))
        self.addresses = addresses
        self.streams = Streams([stack.enter_context(Crowd(address)) for address in addresses])
        until(lambda: self.streams.have_results(0) and self.streams.have_results(1), "results at both nodes")

    def stop(self) -> None:
        for each in self.running:
            stop(each)
            assert "a fault of the server" not in each.log

    def check(self, void: set[int]) -> None:
        """Check that exactly these matches are void, that no bot was charged, and that the log has each match once."""
        assert {match.match_id for match in undisturbed(self.data[0]).interrupted} == void
        check_log(self.data[0], self.streams)


@pytest.mark.long
@pytest.mark.parametrize("seconds", [20, 60])
def test_a_node_without_its_database_asks_nothing_after_its_lease(tmp_path: Path, seconds: float) -> None:
    with ExitStack() as stack:
        net = stack.enter_context(network("db", "n1", "n2"))
        database = stack.enter_context(postgresql(host=net.hosts["db"], within=net.within("db")))
        both = Nodes(tmp_path, net, database.address(database.new_database()), stack)
        streams = both.streams
        for name in NAMES:
            streams.bots[1, name].pause = THINKING
        before = decisions(streams, 1)
        until(lambda: decisions(streams, 1) > before + 40, "matches of thinking bots")
        pid = pid_of(both.running[1], 2)
        net.part("n2", "db")
        began = last = time.monotonic()
        count = decisions(streams, 1)

        def is_void() -> bool:
            nonlocal count, last
            if (now := decisions(streams, 1)) != count:
                count, last = now, time.monotonic()
            return '{"node": 2, "matches": [' in both.running[0].log

        pause = longest_pause(streams, {0}, is_void, LEASE + 20)
        voided = time.monotonic() - began
        void = audit_interrupted(both.data[0])
        pause = max(
            pause, longest_pause(streams, {0}, lambda: is_void() and time.monotonic() > began + seconds, 2 * seconds)
        )
        assert audit_interrupted(both.data[0]) == void
        net.heal("n2", "db")
        healed = time.monotonic()
        until(lambda: "not ours any more" in both.running[1].log, "the refusal by name")
        refused = time.monotonic() - healed
        until(lambda: pid_of(both.running[1], 2) != pid, "another start of the node")
        until(lambda: streams.have_results(1), "results there")
        again = time.monotonic() - healed
        assert audit_interrupted(both.data[0]) == void
        assert streams.notices <= HARMLESS
        both.stop()
        both.check(void)
        print(
            f"node–database, {seconds} s: last decision after {last - began:.1f} s, {len(void)} matches void after "
            f"{voided:.1f} s, others waited {pause:.1f} s; after the heal refused in {refused:.1f} s, results of all "
            f"bots in {again:.1f} s; {len(streams.collect())} reported results, 0 lost, twice or charged"
        )
        assert last - began < LEASE
        assert voided <= 20
        assert pause <= 6
        assert refused <= BACK


@pytest.mark.long
def test_a_bot_cut_from_a_node_is_absent_there_plays_elsewhere_and_returns(tmp_path: Path) -> None:
    with ExitStack() as stack:
        net = stack.enter_context(network("db", "n1", "n2", CUT))
        database = stack.enter_context(postgresql(host=net.hosts["db"], within=net.within("db")))
        store = database.address(database.new_database())
        both = Nodes(tmp_path, net, store, stack, "--grace", str(GRACE))
        streams = both.streams
        log = tmp_path / "bot.log"
        sample = ("-m", "arena_client.samples.random_bot", "--server", both.addresses[0], "--name", CUT)
        token = ("--token-file", str(tmp_path / CUT), "--capacity", "4", "--game", "sixth_sense")
        bot = stack.enter_context(
            subprocess.Popen(
                [*net.within(CUT), sys.executable, *sample, *token],
                stdout=stack.enter_context(log.open("w")),
                stderr=subprocess.STDOUT,
                cwd=ROOT,
            )
        )
        stack.callback(bot.kill)

        def starts(at: int) -> set[int]:
            """Return the bot's matches that have started at a node."""
            bots = [each for (there, _), each in streams.bots.items() if there == at]
            return {start.match_id for each in bots for start in [*each.starts] if CUT in start.bots}

        def reports(at: int) -> set[int]:
            bots = [each for (there, _), each in streams.bots.items() if there == at]
            return {report.match_id for each in bots for report in [*each.reports]}

        def has_notice(kind: int) -> bool:
            return any(notice.kind == kind for each in streams.crowds[1].bots for notice in [*each.notices])

        for name in NAMES:  # Slower bots would have to wait for a quick one.
            streams.bots[0, name].pause = streams.bots[1, name].pause = 0.02
        until(lambda: len(starts(0) & reports(0)) >= 5 and len(starts(1) & reports(1)) >= 5, "matches at both nodes")
        until(lambda: starts(1) - reports(1), "a match that runs")
        net.part(CUT, "n2")
        began = time.monotonic()
        running = starts(1) - reports(1)
        elsewhere = len(starts(0) & reports(0))
        until(lambda: has_notice(pb.NOTICE_KIND_GONE), "the bot's absence")
        gone = time.monotonic() - began
        until(lambda: f"no connection to {both.addresses[1]}" in log.read_text(), "the bot's notice")
        noticed = time.monotonic() - began
        until(lambda: has_notice(pb.NOTICE_KIND_SUBSTITUTED), "a house bot in its seat")
        replaced = time.monotonic() - began
        until(lambda: running <= reports(1), "results of its matches there")
        ended = time.monotonic() - began
        until(lambda: time.monotonic() > began + 60, "a minute")
        ended_elsewhere = len(starts(0) & reports(0)) - elsewhere
        known = starts(1)
        net.heal(CUT, "n2")
        healed = time.monotonic()
        until(lambda: starts(1) > known, "the bot's next match there")
        again = time.monotonic() - healed
        until(lambda: (starts(1) - known) & reports(1), "its result")
        assert bot.poll() is None
        assert streams.notices <= HARMLESS | {pb.NOTICE_KIND_GONE, pb.NOTICE_KIND_SUBSTITUTED}
        both.stop()
        found = audit(both.data[0])
        assert not found.interrupted
        spoilt = charged = 0
        for match in found.finished:
            result = found.replays[match.match_id].result
            for seat, forced, troubled in zip(match.seats, result.forced, result.troubled, strict=True):
                if seat.bot != CUT or match.match_id not in known:
                    assert (forced, troubled, seat.spoilt) == (0, False, False), (match.match_id, seat)
                elif troubled:
                    charged += 1
                    spoilt += seat.spoilt
                    assert seat.place == len(match.seats)
        check_log(both.data[0], streams)
        print(
            f"bot–node, 60 s: absent after {gone:.1f} s, replaced after {replaced:.1f} s, the bot noticed after "
            f"{noticed:.1f} s; {len(running)} matches ended within {ended:.1f} s, {charged} charged to the absent bot "
            f"({spoilt} spoilt), no other seat; {ended_elsewhere} matches at the other node; next match {again:.1f} s "
            f"after the heal; {len(streams.collect())} reported results\n{log.read_text()[-1500:]}"
        )
        assert charged
        assert ended_elsewhere
        assert gone <= 12
        assert noticed <= 45
        assert again <= 30


@pytest.mark.long
def test_results_wait_while_a_primary_does_not_reach_its_standby(tmp_path: Path) -> None:
    with ExitStack() as stack:
        net = stack.enter_context(network("db", "standby", "n1", "n2"))
        parties = [(net.hosts[party], net.within(party)) for party in ("db", "standby")]
        servers = stack.enter_context(pair(True, *parties))
        for each in (servers.primary, servers.standby):
            silence = (f"ALTER SYSTEM SET wal_{side}_timeout = '10s'" for side in ("sender", "receiver"))
            each.run(*silence, "SELECT pg_reload_conf()")
        database = servers.primary.new_database()
        both = Nodes(tmp_path, net, servers.primary.address(database), stack)
        streams = both.streams
        net.part("db", "standby")
        began = last = time.monotonic()
        count = reported(streams)
        while time.monotonic() < began + 60:
            time.sleep(0.05)
            if (now := reported(streams)) != count:
                count, last = now, time.monotonic()
        stored = finished_at(servers.standby, database)
        lacking = {number for number in streams.collect() if number not in stored}
        net.heal("db", "standby")
        healed = time.monotonic()
        known = len(streams.collect())
        until(lambda: streams.have_results(0, 0) and len(streams.collect()) > known, "a result after the heal")
        first = time.monotonic() - healed
        until(lambda: all(streams.have_results(at) for at in (0, 1)), "results of all bots at both nodes")
        again = time.monotonic() - healed
        both.stop()
        void = audit_interrupted(both.data[0])
        both.check(void)
        print(
            f"primary–standby, 60 s: last result after {last - began:.1f} s, {len(lacking)} reported that the standby "
            f"lacked; first result {first:.1f} s after the heal, of all bots {again:.1f} s; {len(void)} matches void; "
            f"{len(streams.collect())} reported results, 0 lost, twice or charged"
        )
        assert not lacking
        assert last - began < 10
        assert first <= 2 * BACK
