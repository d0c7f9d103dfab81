"""A server of several processes: bots of all processes meet, calls are answered by any process, and one may be
killed.
"""

from __future__ import annotations

import os
import re
import signal
import threading
import time
from collections import Counter
from itertools import combinations
from pathlib import Path

import grpc
import pytest
from arena_client.v1 import play_pb2 as pb

from arena.match.inputs import Acted, Left, Sent
from arena.store.base.interruption import A_PROCESS, Interruption
from tests.end_to_end.e2e_rig import (
    Crowd,
    Ended,
    RawBot,
    Server,
    audit,
    failing_server,
    is_connected,
    listed,
    register,
    server,
    until,
)

NAMES = ("ann", "bob", "cid", "dan")
TWO = ("--processes", "2")
AGAIN = "--patience", "0.2"
HARMLESS = {pb.NOTICE_KIND_HELD, pb.NOTICE_KIND_RELEASED, pb.NOTICE_KIND_WITHDRAWN, pb.NOTICE_KIND_DRAINING}
"""Notices that a bot may get while a process is replaced. None of them may report that another bot is gone."""


def further(running: Server) -> int:
    """Return the worker process that was started last."""
    return int(re.findall(r'"pid": (\d+), "event": "a process of the server runs"', running.log)[-1])


def alive(pid: int) -> bool:
    stat = Path(f"/proc/{pid}/stat")
    return stat.exists() and stat.read_text().rpartition(")")[2].split()[0] != "Z"


def connections(pid: int) -> int:
    """Return the sockets of a process that are connected to a TCP port."""
    inodes = {line.split()[9] for line in Path("/proc/net/tcp").read_text().splitlines()[1:] if line.split()[3] == "01"}
    wanted = {Path(f"socket:[{inode}]") for inode in inodes}
    return sum(file.readlink() in wanted for file in Path(f"/proc/{pid}/fd").iterdir())


def come_back(crowd: Crowd, bot: RawBot, name: str) -> RawBot:
    """Return the same bot on a new stream, once its first stream has ended."""
    assert bot.thread is not None
    bot.thread.join()
    return crowd.come(name, capacity=8, reports_after=bot.reports_after).play_in_background()


def has_met_all(bot: RawBot) -> bool:
    """Return whether a bot has begun a match with each of the others."""
    return {name for start in bot.starts for name in start.bots} >= set(NAMES)


def undisturbed(data: Path) -> list[str]:
    """Check that all matches are in order and no bot was charged; return the replays in order."""
    found = audit(data)
    absent = [each for replay in found.replays.values() for each in replay.inputs if isinstance(each, Left)]
    assert not found.interrupted
    assert found.finished
    assert not absent
    assert not any(any(replay.result.forced) for replay in found.replays.values())
    assert not any(any(replay.result.troubled) for replay in found.replays.values())
    return [seat.bot for match in found.finished for seat in match.seats]


def test_bots_of_two_processes_play_with_each_other(tmp_path: Path) -> None:
    with server(tmp_path / "data", *TWO, *AGAIN) as running, Crowd(running.address) as crowd:
        for name in NAMES:
            crowd.token(name)
        bots = [crowd.come(name, capacity=4).play_in_background() for name in NAMES]
        until(lambda: all(len(bot.reports) >= 20 and has_met_all(bot) for bot in bots), "results with everybody")
        assert connections(running.process.pid) >= 1
        assert connections(further(running)) >= 1
        assert not [notice for bot in bots for notice in bot.notices]
        running.signal(signal.SIGTERM)
        assert running.ended() == 0
        assert not alive(further(running))
    undisturbed(tmp_path / "data")
    pairs = Counter(
        pair
        for match in audit(tmp_path / "data").finished
        for pair in combinations(sorted(seat.bot for seat in match.seats), 2)
    )
    assert len(pairs) == 6, "everybody met everybody, wherever they are connected"
    written = [path.stat().st_size for path in (tmp_path / "data" / "journal").rglob("*.log")]
    assert len(written) == 2
    assert min(written) > 1000, "both processes have played"


@pytest.mark.parametrize("how", [signal.SIGKILL, signal.SIGINT])
def test_a_process_that_ends_costs_no_match_and_charges_nobody(tmp_path: Path, how: int) -> None:
    """The process is killed, or ends by its own fault: SIGINT raises an exception in it."""
    with server(tmp_path / "data", *TWO, *AGAIN, "--grace", "60") as running, Crowd(running.address) as crowd:
        for name in NAMES:
            crowd.token(name)
        bots = {name: crowd.come(name, capacity=8).play_in_background() for name in NAMES}
        came = list(bots.values())

        def have_results() -> bool:
            """Return whether each bot has results on its newest stream; disconnected bots return."""
            for name, bot in bots.items():
                if bot.end is not None:
                    bots[name] = come_back(crowd, bot, name)
                    came.append(bots[name])
            return all(len(bot.reports) > 6 for bot in bots.values())

        for _ in range(3):
            # shorter than the time for which a bot that owes an answer gets no invitation
            until(have_results, "results", patience=25)
            killed = further(running)
            os.kill(killed, how)
            until(lambda killed=killed: further(running) != killed, "another process")  # type: ignore[misc]
        until(have_results, "results after all that", patience=25)
        running.signal(signal.SIGTERM)
        assert running.ended() == 0
        assert running.log.count("a process of the server ended") == 3
        assert "match taken over" in running.log
        assert {notice.kind for bot in came for notice in bot.notices} <= HARMLESS
    undisturbed(tmp_path / "data")


def test_a_match_of_a_killed_process_whose_journal_cannot_be_read_is_void_for_that_cause(tmp_path: Path) -> None:
    data = tmp_path / "data"
    with server(data, *TWO, *AGAIN) as running, Crowd(running.address) as crowd:
        for name in NAMES:
            crowd.token(name)
        bots = [crowd.come(name, capacity=8).play_in_background() for name in NAMES]
        until(lambda: all(len(bot.reports) > 6 for bot in bots), "results")
        process = further(running)
        os.kill(process, signal.SIGSTOP)
        played = {match.match_id for match in audit(data).playing}
        [path] = (data / "journal").glob("*/*.log")
        content = path.read_bytes()
        begun = {match: at for match in played if (at := content.find(b'\n%d {"arena_replay"' % match)) > 0}
        assert begun, "it plays a match"
        with path.open("r+b") as journal:
            for at in begun.values():
                journal.seek(at + 20)
                journal.write(bytes(byte ^ 1 for byte in content[at + 20 : at + 30]))
        os.kill(process, signal.SIGKILL)
        until(lambda: audit(data).interrupted, "matches without a result")
        running.signal(signal.SIGTERM)
        assert running.ended() == 0
    causes = {Interruption.JOURNAL_LOST, Interruption.JOURNAL_DAMAGED}
    for match in audit(data).interrupted:
        assert match.match_id in begun
        assert match.reason in {cause.in_words(A_PROCESS) for cause in causes}, "its beginning cannot be read"


def test_a_killed_first_process_takes_the_further_ones_along_and_the_next_start_plays_all_on(tmp_path: Path) -> None:
    data = tmp_path / "data"
    tokens: dict[str, str] = {}
    for processes in ("2", "3", "1"):
        with server(data, "--processes", processes, *AGAIN) as running, Crowd(running.address) as crowd:
            crowd.tokens |= tokens
            bots = [crowd.come(name, capacity=8).play_in_background() for name in NAMES]
            tokens = crowd.tokens
            until(lambda bots=bots: all(len(bot.reports) > 6 for bot in bots), "results")  # type: ignore[misc]
            running.kill()
            for pid in map(int, re.findall(r'"pid": (\d+), "event": "a process of the server runs"', running.log)):
                until(lambda pid=pid: not alive(pid), "the end of a further process")  # type: ignore[misc]
            assert audit(data).playing
    with server(data, *TWO, "--drain", "0") as running:
        assert not audit(data).interrupted
        running.signal(signal.SIGTERM)
        assert running.ended() == 0
    assert not audit(data).interrupted


def test_every_call_is_answered_in_whichever_process_it_arrives(tmp_path: Path) -> None:
    with server(tmp_path / "data", *TWO) as running, Crowd(running.address) as crowd:
        first = crowd.come("ann")
        until(lambda: is_connected(running.address, "ann"), "ann")
        assert [is_connected(running.address, "ann") for _ in range(4)] == [True] * 4
        assert [listed(running.address) for _ in range(4)] == [[]] * 4
        for _ in range(4):
            with pytest.raises(grpc.RpcError) as refused:
                register(running.address, "a name that is none!")
            assert refused.value.code() is grpc.StatusCode.INVALID_ARGUMENT
            with pytest.raises(Ended) as ended:
                crowd.stranger("no token").play_until(lambda: False)
            assert ended.value.code is grpc.StatusCode.UNAUTHENTICATED
        for _ in range(3):  # each bot in the process that did not get the one before
            again = crowd.come("ann")
            assert first.last_word().code is grpc.StatusCode.FAILED_PRECONDITION
            until(lambda: is_connected(running.address, "ann"), "ann again")
            first = again


def test_a_stream_that_breaks_the_protocol_is_over_in_whichever_process_it_is(tmp_path: Path) -> None:
    with server(tmp_path / "data", *TWO) as running, Crowd(running.address) as crowd:
        for bad in (b"\xff\xff\xff\xff", bytes(2 << 20)) * 2:
            crowd.come("bob")  # so that the next bot gets the same process, or the other one
            bot = crowd.come("ann")
            until(lambda: is_connected(running.address, "ann"), "ann")
            bot.send(bad)
            assert bot.last_word().code in {grpc.StatusCode.INVALID_ARGUMENT, grpc.StatusCode.RESOURCE_EXHAUSTED}
            until(lambda: not is_connected(running.address, "ann"), "her end")


def test_a_bot_elsewhere_has_its_own_time_only(tmp_path: Path) -> None:
    """The way between processes does not count as a bot's time, nor does the work of others meanwhile."""
    with server(tmp_path / "data", *TWO, *AGAIN, "--soft-limit", "5", "--bank", "0") as running:
        with Crowd(running.address) as crowd:
            for name in NAMES[:2]:
                crowd.token(name)
            slow, quick = crowd.come("ann"), crowd.come("bob").play_in_background()

            def think() -> None:
                while not slow.reports:
                    if slow.decisions:
                        time.sleep(0.05)
                        due, slow.decisions = slow.decisions, []
                        slow.answer(*due)
                    slow.read()

            thinking = threading.Thread(target=think)
            thinking.start()
            thinking.join()
            until(lambda: quick.reports, "the result")
        running.signal(signal.SIGTERM)
        running.ended()
    found = audit(tmp_path / "data")
    replay = found.replays[found.finished[-1].match_id]
    seat = [bot.name for bot in replay.header.bots].index("ann")
    assert not any(replay.result.forced)
    sent = {each.decision: each.at for each in replay.inputs if isinstance(each, Sent) and each.seat == seat}
    took = sorted(
        each.at - sent[each.decision] for each in replay.inputs if isinstance(each, Acted) and each.seat == seat
    )
    assert 45_000 < took[len(took) // 2] < 1_000_000


def test_more_processes_than_can_be_are_refused(tmp_path: Path) -> None:
    for wrong in ("0", "65", "two"):
        status, said = failing_server("--data", str(tmp_path / "data"), "--processes", wrong)
        assert status == 2
        assert "processes" in said
        assert wrong in said


def pairs_met(data: Path, processes: int, matches: int) -> Counter[tuple[str, str]]:
    """Count how often each pair of bots met in a number of matches on a server with a number of processes."""
    names = ("ann", "bob", "cid", "dan", "eve", "fay")
    with server(data, "--processes", str(processes)) as running, Crowd(running.address) as crowd:
        for name in names:
            crowd.token(name)
        bots = [crowd.come(name, capacity=4).play_in_background() for name in names]
        until(lambda: sum(len(bot.reports) for bot in bots) >= 2 * matches, "the results", patience=300)
        running.signal(signal.SIGTERM)
        assert running.ended() == 0
    met = [tuple(sorted(seat.bot for seat in match.seats)) for match in audit(data).finished[-matches:]]
    return Counter((first, second) for first, second in met)


@pytest.mark.long
def test_who_meets_whom_does_not_depend_on_the_number_of_processes(tmp_path: Path) -> None:
    """Compare by chi-square the pairs of one process with those of two. The bound is the 99.9th percentile for 14
    degrees of freedom.
    """
    one, two = (pairs_met(tmp_path / str(processes), processes, 600) for processes in (1, 2))
    assert len(one) == len(two) == 15
    square = sum((one[pair] - two[pair]) ** 2 / (one[pair] + two[pair]) for pair in one)
    assert square < 36.1, (one, two)
