"""A server that is killed while it writes: all acknowledged data is stored, and no data is stored in part."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from arena.replay.read import read_unfinished
from arena.store.journal.journal import read_running
from arena.store.matches.matches import playing
from arena.store.opening import open_readonly
from arena.store.store import open_store
from tests.store.jobs import NOW, audit

pytestmark = pytest.mark.process

KILLS = 24
LONG = (1, 2, 3)
"""Matches that run throughout."""

# Forks a writer for each line it reads, after the imports, so that a round takes milliseconds.
SCRIPT = """
import os, sys
from pathlib import Path
from random import Random
import trio
from arena.store.matches.matches import playing
from arena.store.store import open_store
from tests.store.jobs import NOW, add_bots, begin, finish

async def table(store, players, seed):
    chance = Random(seed)
    while True:
        seated = chance.sample(players, 2) + [chance.choice(players) for _ in range(chance.randint(0, 3))]
        places = [1 + place for place in range(len(seated))]
        match = await store.write(lambda connection: begin(connection, seated))
        await store.write(lambda connection: finish(connection, match, places))
        os.write(1, b"%d\\n" % match)

async def main(directory, seed):
    async with open_store(directory, NOW) as store, trio.open_nursery() as nursery:
        names = [f"bot{seed}-{number}" for number in range(4)]
        players = await store.write(lambda connection: add_bots(connection, *names))
        for number in range(6):
            nursery.start_soon(table, store, players, f"{seed} {number}")

for line in sys.stdin:
    seed, directory = line.rstrip("\\n").split(" ", 1)
    child = os.fork()
    if child == 0:
        trio.run(main, Path(directory), seed)
    os.write(1, b"pid %d\\n" % child)
    os.waitpid(child, 0)
    os.write(1, b"dead\\n")
"""

# Appends to a journal whose files fill up at once, so that it copies the lines of matches 1 to 3 all the time.
JOURNAL_SCRIPT = """
import os, sys
from pathlib import Path
from arena.store.journal.journal import open_journal
from tests.store.test_store_journal import begin, header, sent

def main(directory, long):
    journal, left = open_journal(directory, long, full=16384)
    begin(journal, *(number for number in long if number not in left.lines))
    done = sum(len(lines) - 2 for lines in left.lines.values())
    short = 10
    while True:
        begin(journal, short)
        for _ in range(6):
            journal.add(header(long[done % 3]), sent(done))
            for at in range(20):
                journal.add(header(short), sent(at))
            journal.commit()
            done += 1
            os.write(1, b"%d %d\\n" % (done, journal._number))
        journal.forget(short)
        short += 1

for line in sys.stdin:
    directory = line.rstrip("\\n")
    child = os.fork()
    if child == 0:
        main(Path(directory), (1, 2, 3))
    os.write(1, b"pid %d\\n" % child)
    os.waitpid(child, 0)
    os.write(1, b"dead\\n")
"""


def launched(script: str) -> subprocess.Popen[str]:
    """Start a script that forks one child after another."""
    command = [sys.executable, "-W", "error", "-c", script]
    pipe = subprocess.PIPE
    return subprocess.Popen(command, stdin=pipe, stdout=pipe, text=True, cwd=Path(__file__).parents[2])


@pytest.mark.parametrize("kills", [KILLS // 2, pytest.param(400, marks=pytest.mark.long)])
def test_a_kill_while_the_lines_of_long_matches_are_copied_loses_and_doubles_none(tmp_path: Path, kills: int) -> None:
    chance = Random(11)
    copying, replaced = 0, 0
    with launched(JOURNAL_SCRIPT) as launcher:
        assert launcher.stdin is not None
        assert launcher.stdout is not None
        for kill in range(kills):
            data = tmp_path / str(kill // 4)
            data.mkdir(exist_ok=True)
            launcher.stdin.write(f"{data}\n")
            launcher.stdin.flush()
            pid, done, first, number, wanted = 0, 0, 0, 0, chance.randint(3, 6)
            copy = data / "journal" / "copy"
            while not pid or not first or number < first + wanted or (copy.exists() != kill % 2):
                line = launcher.stdout.readline().split()
                if line[0] == "pid":
                    pid = int(line[1])
                else:
                    done, number = map(int, line)
                    first = first or number
            time.sleep(chance.uniform(0, 0.002))  # do not wait, so that the kill comes at any moment of a copy
            os.kill(pid, signal.SIGKILL)
            for text in iter(launcher.stdout.readline, "dead\n"):
                done = int(text.split()[0])
            left = [path.name for path in sorted((data / "journal").iterdir())]
            copying += "copy" in left
            replaced += f"{first:08}.log" not in left
            running = read_running(data, LONG)
            inputs = [read_unfinished(running[match_id], f"match {match_id}")[1][1:] for match_id in LONG]
            events = sorted(event.at for each in inputs for event in each)
            assert events == [*range(len(events))]
            assert len(events) in (done, done + 1), "all that was acknowledged, and one turn more at most"
            assert all([event.at % 3 for event in each] == [at] * len(each) for at, each in enumerate(inputs))
        launcher.stdin.close()
    assert copying, "a kill has interrupted a copy"
    assert replaced, "a copy has replaced its originals"


async def test_a_killed_writer_loses_nothing_acknowledged_and_leaves_nothing_half_recorded(directory: Path) -> None:
    chance = Random(7)
    acknowledged: set[int] = set()
    with launched(SCRIPT) as launcher:
        assert launcher.stdin is not None
        assert launcher.stdout is not None
        for kill in range(KILLS):
            launcher.stdin.write(f"{kill} {directory}\n")
            launcher.stdin.flush()
            before, pid, wanted = len(acknowledged), 0, chance.randint(0, 25)
            while not pid or len(acknowledged) - before < wanted:
                line = launcher.stdout.readline().split()
                if line[0] == "pid":
                    pid = int(line[1])
                else:
                    acknowledged.add(int(line[0]))
            time.sleep(chance.uniform(0, 0.02))  # do not wait, so that the kill comes at any moment of a commit
            os.kill(pid, signal.SIGKILL)
            for text in iter(launcher.stdout.readline, "dead\n"):
                acknowledged.update(int(word) for word in text.split() if word.isdigit() and "pid" not in text)
            if not (directory / "arena.db").exists():
                continue  # killed before it wrote any data
            with open_readonly(directory) as connection:
                assert audit(connection) >= acknowledged
            async with open_store(directory, NOW) as store:
                assert await store.read(audit) >= acknowledged
                assert await store.read(playing) == ()
        launcher.stdin.close()
    assert len(acknowledged) > KILLS
