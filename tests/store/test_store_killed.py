"""A server killed in the middle of writing: what it acknowledged is there, and nothing is there by halves."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from random import Random

import pytest

from arena.store.matches.matches import playing
from arena.store.opening import open_readonly
from arena.store.store import open_store
from tests.store.jobs import NOW, audit

pytestmark = pytest.mark.process

KILLS = 24

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


async def test_a_killed_writer_loses_nothing_acknowledged_and_leaves_nothing_half_recorded(directory: Path) -> None:
    chance = Random(7)
    acknowledged: set[int] = set()
    launcher = subprocess.Popen(
        [sys.executable, "-W", "error", "-c", SCRIPT],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parents[2],
    )
    with launcher:
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
            time.sleep(chance.uniform(0, 0.02))  # waits for nothing: the kill is to come at any moment of a commit
            os.kill(pid, signal.SIGKILL)
            for text in iter(launcher.stdout.readline, "dead\n"):
                acknowledged.update(int(word) for word in text.split() if word.isdigit() and "pid" not in text)
            if not (directory / "arena.db").exists():
                continue  # killed before there was anything
            with open_readonly(directory) as connection:
                assert audit(connection) >= acknowledged
            async with open_store(directory, NOW) as store:
                assert await store.read(audit) >= acknowledged
                assert await store.read(playing) == ()
        launcher.stdin.close()
    assert len(acknowledged) > KILLS
