"""Nodes: several processes that write to one directory, with leases, numbers, journals, changes and one log."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, select, update

from arena.log.head import LogHead
from arena.log.keys import LogKeys
from arena.log.tree import TreeEdge
from arena.replay.header import MatchKind
from arena.store import nodes, schema
from arena.store.base import changes
from arena.store.base import leaves as log
from arena.store.base.directory import database_of, identity
from arena.store.base.errors import (
    JobLost,
    LeaseLost,
    MatchNotPlaying,
    NodeError,
    StoreBusy,
    StoreLocked,
)
from arena.store.base.rows import MatchState
from arena.store.base.statements import database_now
from arena.store.bots import bots, paces
from arena.store.journal.journal import journal_numbers
from arena.store.ladder import seasons
from arena.store.ladder.rebuild import rebuild
from arena.store.ladder.rebuild import verify as verify_ladder
from arena.store.log.audit import audit
from arena.store.matches import matches
from arena.store.moderation import moderation, parking
from arena.store.nodes import LEASE, LOST, NodeStart
from arena.store.opening import open_readonly, open_to_amend
from arena.store.sqlite import engine
from arena.store.store import open_store
from arena.store.writer.group_commit import Committer
from tests.store import jobs
from tests.store.jobs import GAME, NOW, add_bots
from tests.store.node_script import PROGRAM


class NodeProcess:
    """A node in a separate process."""

    def __init__(self, launcher: socket.socket, directory: Path, number: int, beside: list[int], lock: int) -> None:
        self._started = launcher, directory, number, beside, lock
        source, sink = os.pipe()
        answers, told = os.pipe()
        message = json.dumps([str(directory), number, beside]).encode()
        socket.send_fds(launcher, [message], [lock, source, told])
        self._pid = int(launcher.recv(64))
        os.close(source)
        os.close(told)
        self._sink, self._answers = os.fdopen(sink, "w"), os.fdopen(answers)

    def again(self) -> NodeProcess:
        """Start the node again, after its end."""
        return NodeProcess(*self._started)

    def ask(self, line: str) -> dict[str, Any]:
        self.send(line)
        return self.answer()

    def send(self, line: str) -> None:
        self._sink.write(line + "\n")
        self._sink.flush()

    def answer(self) -> dict[str, Any]:
        answer: dict[str, Any] = json.loads(self._answers.readline())
        return answer

    def answers(self) -> Iterator[dict[str, Any]]:
        """Yield the answers up to the last one of a `play`."""
        while "done" not in (answer := self.answer()):
            yield answer

    def signal_all(self, number: int) -> None:
        """Send a signal to the node and to its writer process."""
        os.killpg(self._pid, number)

    def kill(self) -> None:
        """Kill the node and its writer process, and wait until both have ended."""
        self.signal_all(signal.SIGKILL)
        self._answers.read()
        self.close()

    def end(self, line: str = "") -> None:
        """Let the node end properly."""
        if line:
            self.send(line)
        self._sink.close()
        assert json.loads(self._answers.read()) == {"ended": True}

    def close(self) -> None:
        """Kill the node if it is still running, and close its pipes."""
        with suppress(ProcessLookupError):
            self.signal_all(signal.SIGKILL)
        with suppress(BrokenPipeError):
            self._sink.close()
        self._answers.close()


@pytest.fixture(scope="module")
def launcher() -> Iterator[socket.socket]:
    """The channel to a process that forks nodes."""
    ours, theirs = socket.socketpair()
    command = [sys.executable, "-m", "tests.store.node_script", str(theirs.fileno())]
    with ours, subprocess.Popen(command, pass_fds=[theirs.fileno()], cwd=Path(__file__).parents[2]) as process:
        theirs.close()
        yield ours
        ours.close()
        process.wait(60)


@contextmanager
def started(launcher: socket.socket, directory: Path, *numbers: int) -> Iterator[list[NodeProcess]]:
    """Start nodes on one directory, whose lock this process holds, like their parent process on a server."""
    with database_of(directory).locked() as lock:
        found = [NodeProcess(launcher, directory, number, [*numbers], lock) for number in numbers]
        try:
            yield found
        finally:
            for node in found:
                node.close()


def registered(connection: Connection, number: int, identity: str = "here", **more: Any) -> nodes.Lease:
    start = nodes.NodeStart(number, f"localhost:{number}", more.pop("program", PROGRAM), **more)
    return nodes.register(connection, start, identity)


def over(connection: Connection, number: int) -> None:
    """Let the leases of a node and of its jobs expire."""
    connection.execute(update(schema.nodes).where(schema.nodes.c.number == number).values(lease_until=1))
    connection.execute(update(schema.leases).where(schema.leases.c.node == number).values(until=1))


def test_a_node_lives_for_the_length_of_its_lease_by_the_clock_of_the_database(data: Path) -> None:
    with open_to_amend(data) as connection:
        before = time.time()
        lease = registered(connection, 7)
        (found,) = nodes.living(connection)
        assert (found.number, found.address, found.program, found.state) == (7, "localhost:7", PROGRAM, "registered")
        assert before - 0.01 <= lease.until / 1e6 - LEASE <= time.time() + 0.01
        assert nodes.renew(connection, lease).until >= lease.until
        over(connection, 7)
        assert nodes.living(connection) == ()
        assert nodes.renew(connection, lease).until > lease.until, "nobody has interrupted its matches"
        assert len(nodes.living(connection)) == 1
        nodes.release(connection, lease)
        assert (nodes.living(connection), nodes.list_nodes(connection)[0].state) == ((), "released")
        with pytest.raises(LeaseLost, match="node 7 no longer"):
            nodes.renew(connection, lease)


def test_who_cannot_be_a_node_is_refused_by_name(data: Path) -> None:
    with open_to_amend(data) as connection:
        registered(connection, 2, settings="bank:2 drops:1 house:1 seats:4,3")
        for number in (0, 100, -1):
            with pytest.raises(NodeError, match="from 1 to 99"):
                registered(connection, number)
        with pytest.raises(NodeError, match=r"node 2 is the server at localhost:2, whose lease lasts .* 1\d s"):
            registered(connection, 2, "another machine")
        with pytest.raises(NodeError, match=r"node 2 runs arena 1, schema 25, and this server arena 2, schema 26"):
            registered(connection, 3, program="arena 2, schema 26")
        with pytest.raises(NodeError, match=r"node 2 has other settings .* \(bank, drops, seats\)"):
            registered(connection, 3, settings="seats:4 house:1 bank:3")
        assert [node.number for node in nodes.list_nodes(connection)] == [2]
        over(connection, 2)
        registered(connection, 2, "another machine", settings="other", program="arena 2, schema 26")
        registered(connection, 3, settings="other", program="arena 2, schema 26")


def test_a_node_that_starts_again_replaces_its_earlier_start(data: Path) -> None:
    with open_to_amend(data) as connection:
        first, again = registered(connection, 1), registered(connection, 1)
        with pytest.raises(LeaseLost):
            nodes.renew(connection, first)
        nodes.release(connection, first)
        assert nodes.renew(connection, again).number == 1, "the earlier start does not end the later one's lease"


def test_matches_of_a_lost_node_are_interrupted_once_and_refuse_results(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        lost, lives = registered(connection, 1), registered(connection, 2)
        own = [jobs.begin(connection, players, match_id=number, node=node) for number, node in ((1, None), (2, 1))]
        other = jobs.begin(connection, players, match_id=3, node=2)
        jobs.finish(connection, own[0], [1, 2])
        over(connection, 1)
        assert nodes.acquire(connection, "event:1", 2)
        assert nodes.interrupt_lost(connection, NOW, grace=0) == {}, "it is only suspected"
        assert nodes.interrupt_lost(connection, NOW, grace=0) == {1: (2,)}
        assert nodes.interrupt_lost(connection, NOW, grace=0) == {}
        row = matches.get_match(connection, 2)
        assert (row.state, row.interruption and row.interruption.name) == (MatchState.INTERRUPTED, "JOURNAL_LOST")
        assert row.reason == "node 1 did not renew its lease: it died and left no journal of the match"
        assert matches.playing(connection) == (other,)
        assert [node.state for node in nodes.list_nodes(connection)] == [LOST, "registered"]
        with pytest.raises(MatchNotPlaying, match="match 2 is interrupted"):
            jobs.finish(connection, own[1], [1, 2])
        with pytest.raises(LeaseLost):
            nodes.renew(connection, lost)
        assert nodes.renew(connection, lives)
        assert registered(connection, 1).number == 1, "it may come back, without matches"
    with open_readonly(data) as connection:
        assert audit(connection, replays=True).kinds == {"key": 1, "rated": 1, "interrupted": 1}


def test_a_node_that_was_only_late_keeps_its_matches(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        late = registered(connection, 1)
        match = jobs.begin(connection, players, node=1)
        over(connection, 1)
        assert [nodes.interrupt_lost(connection, NOW) for _ in range(3)] == [{}] * 3, "within the two seconds"
        nodes.renew(connection, late)
        over_again = database_now(connection) - 1
        connection.execute(update(schema.nodes).values(lease_until=over_again))
        connection.execute(update(schema.leases).values(until=over_again - 1))
        assert nodes.interrupt_lost(connection, NOW) == {}, "an earlier suspicion does not count"
        assert matches.playing(connection) == (match,)


def test_one_node_has_the_lease_of_a_job(data: Path) -> None:
    with open_to_amend(data) as connection:
        one, two = registered(connection, 1), registered(connection, 2)
        assert nodes.holder_of(connection, "fit") is None
        assert [nodes.acquire(connection, "fit", number) for number in (2, 1, 2)] == [True, False, True]
        assert nodes.acquire(connection, "luck", 1), "another job"
        assert nodes.holder_of(connection, "fit") == 2
        over(connection, 2)
        assert nodes.holder_of(connection, "fit") is None
        assert [nodes.acquire(connection, "fit", number) for number in (1, 2)] == [True, False]
        nodes.release(connection, one)
        assert nodes.acquire(connection, "fit", two.number)


def test_who_has_not_the_lease_of_a_job_is_refused_by_name(data: Path) -> None:
    with open_to_amend(data) as connection:
        registered(connection, 1)
        registered(connection, 2)
        assert nodes.acquire(connection, "events", 1)
        nodes.require_job(connection, "events", 1)
        with pytest.raises(JobLost, match="another node does the job 'events' now; start node 2 again"):
            nodes.require_job(connection, "events", 2)


def test_blocks_of_match_numbers_are_disjoint_and_above_every_match(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        jobs.begin(connection, players)
        for number in (1, 2):
            registered(connection, number)
        blocks = [nodes.reserve_numbers(connection, number, count) for number, count in ((1, 10), (2, 5), (1, 1))]
        assert blocks == [range(2, 12), range(12, 17), range(17, 18)]
        jobs.begin(connection, players, match_id=30)
        assert nodes.reserve_numbers(connection, 2, 2) == range(31, 33)
        registered(connection, 2)
        assert nodes.reserve_numbers(connection, 1, 1) == range(33, 34), "a start forgets no block"


def test_a_node_learns_what_others_changed_and_each_subject_once(data: Path) -> None:
    with open_to_amend(data) as connection:
        ada, bob = add_bots(connection, "Ada", "Bob")
        mark = nodes.newest_change(connection)
        assert nodes.changed_since(connection, mark) == (mark, ())
        moderation.ban(connection, "Ada", "cheats", NOW)
        bots.revoke(connection, "Ada")
        bots.rotate(connection, "Ada")
        seasons.begin(connection, GAME, NOW)
        paces.keep(connection, [(bob, 0.5, NOW, 0.0)])
        mark, found = nodes.changed_since(connection, mark)
        assert found == (
            (changes.OWNER, "ada"),
            (changes.BOT, str(ada)),
            (changes.SEASON, GAME),
            (changes.PACES, ""),
        )
        moderation.unban(connection, "Ada", "", NOW)
        match = jobs.begin(connection, [ada, bob])
        jobs.finish(connection, match, [1, 2])
        assert parking.count(connection, match, [True, None], 1, NOW)[0].parked == NOW
        mark, found = nodes.changed_since(connection, mark)
        assert found == ((changes.OWNER, "ada"), (changes.BOT, str(ada)))
        parking.unpark(connection, "Ada")
        moderation.hide(connection, "Bob", "", NOW)
        assert nodes.changed_since(connection, mark)[1] == ((changes.BOT, str(ada)), (changes.BOT, str(bob)))
        assert nodes.changed_since(connection, 0)[0] == nodes.newest_change(connection)


def test_a_node_reads_the_newest_rated_matches_of_others(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob", "Cleo")
        for match_id, node in (1, 1), (2, 2), (5, 2), (4, 3), (6, None):
            jobs.begin(connection, players[match_id % 2 :], "chess", match_id, node)
        matches.begin(connection, GAME, {}, players, NOW, 7, kind=MatchKind.CASUAL, node=2)
        assert nodes.meetings(connection, 1, 0) == (
            (2, 2, "chess", (1, 2, 3)),
            (4, 3, "chess", (1, 2, 3)),
            (5, 2, "chess", (2, 3)),
        )
        assert [each.match_id for each in nodes.meetings(connection, 2, 0)] == [1, 4]
        assert [each.match_id for each in nodes.meetings(connection, 1, 4)] == [5]
        jobs.begin(connection, players, match_id=nodes.MOST_NUMBERS + 4, node=3)
        assert [each.match_id for each in nodes.meetings(connection, 1, 0)] == [5, nodes.MOST_NUMBERS + 4]


def test_an_hourly_allowance_is_one_for_all_nodes_and_fills_over_time(data: Path) -> None:
    with open_to_amend(data) as connection:
        a, b = (nodes.Allowance(nodes.REGISTRATIONS, key, 4) for key in "ab")
        assert [nodes.spend(connection, a) for _ in range(4)] == [0.0] * 4
        assert 899 < nodes.spend(connection, a) <= 900
        assert nodes.spend(connection, b) == 0.0
        connection.execute(update(schema.allowances).values(full=schema.allowances.c.full - 900_000_000))
        assert nodes.spend(connection, a) == 0.0
        assert nodes.spend(connection, a) > 0
        nodes.give_back(connection, a)
        assert nodes.spend(connection, a) == 0.0
        connection.execute(update(schema.allowances).values(full=1))
        assert nodes.spend(connection, b) == 0.0
        assert connection.scalars(select(schema.allowances.c.key)).all() == ["b"], "a full allowance has no row"


def told(node: NodeProcess) -> list[list[Any]]:
    """Return the results reported to a node for its matches: number, and the head with size, root and signature."""
    found = []
    for answer in node.answers():
        assert answer.keys() <= {"told", "undone", "failed"}, answer
        assert "FOREIGN KEY" in answer.get("failed", "FOREIGN KEY").upper(), answer
        found += [answer["told"]] if "told" in answer else []
    return found


@pytest.mark.process
@pytest.mark.parametrize(("each", "at_once"), [(30, 4), pytest.param(3000, 1, marks=pytest.mark.long)])
def test_every_head_that_several_writers_sign_while_jobs_and_commits_fail_is_of_the_leaves(
    launcher: socket.socket, data: Path, each: int, at_once: int
) -> None:
    numbers = [1, 2, 3, 4]
    with started(launcher, data, *numbers) as running:
        for node in running:
            assert "pid" in node.answer()
        for node in running:
            node.send(f"play {each} {at_once}")
        found = [entry for node in running for entry in told(node)]
        for node in running:
            node.end("release")
    with open_readonly(data) as connection:
        checked = audit(connection, replays=True)
        assert checked.faults == []
        assert jobs.audit(connection) == {number for number, *_ in found}, "what was told is stored, and nothing else"
        keys, edge, roots = LogKeys(log.key_leaves(connection)), TreeEdge(), [b""]
        for number in range(1, log.size(connection) + 1):
            edge.add(number - 1, log.leaf(connection, number))
            roots.append(edge.root())
    heads = {LogHead(size, bytes.fromhex(root), bytes.fromhex(signed)) for _, size, root, signed in found}
    assert len(heads) >= (len(found) / 4 if at_once > 1 else 10_000), "a head for each commit"
    for head in heads:
        assert head.root == roots[head.size]
        assert keys.signed(head)
    with open_to_amend(data) as connection:
        rebuild(connection, GAME, NOW)
        assert verify_ladder(connection, GAME).identical
    print(f"{len(heads)} heads of {len(found)} matches by {len(numbers)} processes")


@pytest.mark.process
async def test_a_killed_node_takes_up_its_matches_and_one_less_hands_them_to_the_first(
    launcher: socket.socket, data: Path
) -> None:
    with started(launcher, data, 1, 2, 3) as running:
        for node in running:
            node.answer()
        begun = [node.ask("begin")["begun"] for node in running]
        assert [node.ask("numbers 2 8")["numbers"] for node in running] == [
            [[each, each + 8], [each + 8, each + 16]] for each in (4, 20, 36)
        ]
        running[1].kill()
        with database_of(data).locked(2) as own:
            assert own >= 0, "node 2 and its writer process have ended"
        again = running[1].again()
        running.append(again)
        assert again.answer()["taken_up"] == {str(begun[1]): 2}
        assert running[0].ask("interrupt")["interrupted"] == {}, "all leases last"
        for node in (running[0], again):
            node.kill()
        running[2].end("release")
        assert journal_numbers(data) == {2, 3}
    with started(launcher, data, 1, 2) as running:
        assert running[0].answer()["taken_up"] == {str(begun[0]): 2, str(begun[2]): 2}
        assert running[1].answer()["taken_up"] == {str(begun[1]): 2}
        assert journal_numbers(data) == {2}
        for node, match in ((running[0], begun[2]), (running[1], begun[1])):
            assert node.ask(f"finish {match}") == {"finished": match}
            node.end("release")
    async with open_store(data, NOW) as store:
        assert (store.lost, store.lease) == ({}, None)
        assert [*store.unfinished] == [begun[0]], "a server without further nodes takes up what is left"
    assert journal_numbers(data) == frozenset()
    with open_readonly(data) as connection:
        assert audit(connection).kinds == {"key": 1, "rated": 2}
        assert matches.playing(connection, 1) == matches.playing(connection) == (begun[0],)


@pytest.mark.process
def test_a_stopped_node_is_refused_and_asks_nothing_of_the_store_that_counts(
    launcher: socket.socket, data: Path
) -> None:
    with started(launcher, data, 1, 2) as (one, two):
        one.answer(), two.answer()
        match = one.ask("begin")["begun"]
        assert one.ask("acquire event:1") == {"acquired": True}
        assert two.ask("acquire event:1") == {"acquired": False}
        one.signal_all(signal.SIGSTOP)
        with database_of(data).writing().begin() as connection:
            over(connection, 1)  # Time passes.
        assert two.ask("interrupt") == {"interrupted": {"1": [match]}}
        assert two.ask("acquire event:1") == {"acquired": True}
        one.signal_all(signal.SIGCONT)
        assert one.ask(f"finish {match}")["error"] == "MatchNotPlaying"
        assert one.ask("renew")["error"] == "LeaseLost"
        with pytest.raises(StoreLocked), database_of(data).locked(1):
            pass
        one.end()
        again = one.again()
        assert again.answer()["taken_up"] == {}
        assert again.ask("renew").keys() == {"renewed"}
        again.end("release")
        again.close()
        two.end("release")
    with open_readonly(data) as connection:
        assert audit(connection).kinds == {"key": 1, "interrupted": 1}


@pytest.mark.sqlite_only("PostgreSQL ends the transaction of a writer that pauses")
@pytest.mark.process
def test_a_writer_stopped_in_mid_transaction_delays_others_until_it_goes_on_or_ends(
    launcher: socket.socket, data: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(engine, "BUSY_TIMEOUT", 0.2)
    database = database_of(data)
    with started(launcher, data, 1) as (node,):
        node.answer()
        node.send("stuck")
        assert node.answer() == {"stuck": True}
        with database.writing().connect() as connection:
            committer = Committer(connection, database, shared=True)
            (outcome,) = committer.commit([nodes.newest_change])
            assert isinstance(outcome.error, StoreBusy)
            assert "find the stopped process" in str(outcome.error)
            node.kill()
            (outcome,) = committer.commit([partial(add_bots_of, names=("Ada",))])
            assert outcome.error is None
            committer.close()


def add_bots_of(connection: Connection, names: tuple[str, ...]) -> int:
    return len(add_bots(connection, *names))


async def test_a_node_registers_when_it_opens_the_store_and_only_once_at_a_time(data: Path) -> None:
    start = NodeStart(4, "localhost:4", PROGRAM)
    async with open_store(data, NOW, node=start) as store:
        assert store.lease is not None
        assert [node.number for node in await store.read(nodes.living)] == [4]
        with pytest.raises(StoreLocked):
            async with open_store(data, NOW, node=start, lock=store.lock):
                pass
        await store.write(partial(nodes.release, lease=store.lease))
    assert identity(data) == identity(data)


def test_a_read_of_what_changed_costs_little(data: Path) -> None:
    """Nodes read once a second, so 200 µs would still be acceptable; a read takes about 10 µs."""
    with open_to_amend(data) as connection:
        for ladder in range(300):
            seasons.begin(connection, f"ladder-{ladder}", NOW)
    with open_readonly(data) as connection:
        mark = nodes.newest_change(connection)
        begun = time.process_time()
        for _ in range(1000):
            assert nodes.changed_since(connection, mark) == (mark, ())
        assert (time.process_time() - begun) / 1000 < 200e-6
