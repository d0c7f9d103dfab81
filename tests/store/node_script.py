"""A node of a store without a server. It obeys the lines that it reads, and prints the results."""

from __future__ import annotations

import json
import os
import signal
import socket
import sys
import time
import traceback
from collections.abc import Callable
from dataclasses import replace
from functools import partial
from pathlib import Path
from random import Random
from typing import Any

import trio
from sqlalchemy import Connection, text

from arena.replay.header import Header
from arena.store import nodes
from arena.store.base import leaves as log
from arena.store.bots import bots
from arena.store.matches.matches import MatchId
from arena.store.nodes import NodeStart
from arena.store.store import Store, open_store
from arena.store.writer.group_commit import AtEnd
from arena.store.writer.process import fork_writer_process
from tests.postgresql import defer_foreign_key, in_words_of
from tests.store import jobs
from tests.store.test_store_journal import header, sent

PROGRAM = "arena 1, schema 25"


class Injected(Exception):  # noqa: N818 - no error of ours
    """An error after a job has done all its work."""


def undone(connection: Connection, players: list[Any]) -> None:
    """Play a match, then fail, so that the job is rolled back."""
    played(connection, players, 0)
    raise Injected


def uncommitted(connection: Connection, players: list[Any]) -> None:
    """Play a match and let the commit of the whole transaction fail: the commit checks a deferred constraint."""
    played(connection, players, 0)
    defer_foreign_key(connection, "replays")
    wrong = "INSERT INTO replays (match_id, content, sha256) VALUES (999999999, x'', x'')"
    connection.execute(in_words_of(connection, wrong))


def begun(connection: Connection, players: list[Any], number: int) -> MatchId:
    """Start a match of this node under the next free number."""
    (match_id,) = nodes.reserve_numbers(connection, number, 1)
    return jobs.begin(connection, players, match_id=match_id, node=number)


def played(connection: Connection, players: list[Any], number: int) -> int:
    """Begin a match and finish it in one step."""
    match_id = begun(connection, players, number)
    jobs.finish(connection, match_id, [1, 2])
    return match_id


def with_head(connection: Connection, job: Callable[[Connection], int]) -> AtEnd:
    """Run a job; return its value with the head that its transaction signs."""
    value = job(connection)
    return AtEnd(partial(_with_head, value=value))


def _with_head(connection: Connection, value: int) -> tuple[int, int, str, str]:
    head = log.head(connection)
    assert head is not None
    return value, head.size, head.root.hex(), head.signature.hex()


def stuck(connection: Connection) -> None:
    """Hold the write lock until the process is killed or continued."""
    connection.execute(text("UPDATE nodes SET address = address"))
    os.write(1, b'{"stuck": true}\n')
    time.sleep(600)


def say(**values: object) -> None:
    os.write(1, json.dumps(values).encode() + b"\n")


async def play(store: Store, players: list[Any], number: int, matches: int, at_once: int, chance: Random) -> None:
    """Play matches, `at_once` at a time, while some jobs and some commits fail."""
    left = matches

    async def table() -> None:
        nonlocal left
        while left > 0:
            left -= 1
            seated = chance.sample(players, 2)
            wrong = chance.random()
            try:
                if wrong < 0.1:
                    await store.write(partial(undone, players=seated))
                elif wrong < 0.15:
                    await store.write(partial(uncommitted, players=seated))
                job = partial(played, players=seated, number=number)
                say(told=await store.write(partial(with_head, job=job)))
            except Injected:
                say(undone=True)
            except Exception as error:  # noqa: BLE001 - the test sees it
                say(failed=str(error))

    async with trio.open_nursery() as nursery:
        for _ in range(at_once):
            nursery.start_soon(table)


def main(directory: Path, number: int, beside: list[int], lock: int) -> None:
    node = NodeStart(number, f"localhost:{50000 + number}", PROGRAM, "", beside)
    with fork_writer_process() as writer_process:
        trio.run(obey, directory, number, node, lock, Random(number), writer_process)


async def obey(directory: Path, number: int, node: NodeStart, lock: int, chance: Random, writer_process: Any) -> None:
    async with open_store(directory, jobs.NOW, writer_process, node=node, lock=lock) as store:
        assert store.lease is not None
        lease = store.lease
        names = [f"bot{number}-{each}" for each in range(4)]
        players = await store.write(partial(known_bots, names=names))
        running: dict[int, Header] = {}
        say(pid=os.getpid(), taken_up={each: len(lines) for each, lines in store.unfinished.items()})
        while line := await trio.to_thread.run_sync(sys.stdin.readline):
            verb, *rest = line.split()
            try:
                match verb:
                    case "play":
                        await play(store, players, number, int(rest[0]), int(rest[1]), chance)
                        say(done=True)
                    case "begin":
                        match_id = await store.write(partial(begun, players=players[:2], number=number))
                        running[match_id] = replace(header(match_id), started=jobs.NOW)
                        store.journal.begin(running[match_id])
                        store.journal.add(running[match_id], sent(0))
                        store.journal.commit()
                        say(begun=match_id)
                    case "finish":
                        await store.write(partial(jobs.finish, match_id=MatchId(int(rest[0])), places=[1, 2]))
                        say(finished=int(rest[0]))
                    case "renew":
                        lease = await store.write(partial(nodes.renew, lease=lease))
                        say(renewed=lease.until)
                    case "interrupt":
                        interrupt = partial(nodes.interrupt_lost, at=jobs.NOW, grace=0)
                        await store.write(interrupt)  # The first call only suspects lost nodes.
                        found = await store.write(interrupt)
                        say(interrupted=found)
                    case "numbers":
                        blocks = [
                            await store.write(partial(nodes.reserve_numbers, number=number, count=int(rest[1])))
                            for _ in range(int(rest[0]))
                        ]
                        say(numbers=[[block.start, block.stop] for block in blocks])
                    case "acquire":
                        say(acquired=await store.write(partial(nodes.acquire, name=rest[0], number=number)))
                    case "stuck":
                        await store.write(stuck)
                    case "release":
                        await store.write(partial(nodes.release, lease=lease))
                        break
            except Exception as error:  # noqa: BLE001 - the test sees it
                say(error=type(error).__name__, text=str(error))


def known_bots(connection: Connection, names: list[str]) -> list[Any]:
    """Return bots, after registering those that are new."""
    found = [bots.holder(connection, name) for name in names]
    return [jobs.add_bots(connection, n)[0] if f is None else f.id for n, f in zip(names, found, strict=True)]


def launch(line: socket.socket) -> None:
    """Fork a node for each message, after the imports, so that a start takes milliseconds."""
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)
    while True:
        message, descriptors, _, _ = socket.recv_fds(line, 4096, 3)
        if not message:
            return
        pid = os.fork()
        if pid:
            for each in descriptors:
                os.close(each)
            line.send(str(pid).encode())
            continue
        line.close()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        os.setsid()
        lock, source, sink = descriptors
        os.dup2(source, 0)
        os.dup2(sink, 1)
        os.close(source)
        os.close(sink)
        directory, number, beside = json.loads(message)
        try:
            main(Path(directory), number, beside, lock)
            say(ended=True)
        except BaseException:  # noqa: BLE001 - a child must not return
            traceback.print_exc()
        os._exit(0)


if __name__ == "__main__":
    launch(socket.socket(fileno=int(sys.argv[1])))
