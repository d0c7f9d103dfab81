"""What it would cost to play a match in another process than the one that holds a bot's connection.

    python -m studies.relaying [--seconds 1.0] [--turns 5] [--json]

Questions of the size that `bench.play` measures go from one process to another over a Unix socket, as the bytes that a
bot would be sent, and answers come back: what a decision takes of both processes, packing, system calls and unpacking,
by how many share a frame. Beside it, for tables whose bots are drawn by lot, the share of decisions whose bot is
connected elsewhere if each match is played where most of its bots are.
"""

from __future__ import annotations

import json
import os
import socket
import struct
import time
from collections import Counter
from random import Random
from statistics import median
from typing import Final

import click
from rich.console import Console
from rich.table import Table

QUESTION: Final = bytes(114)
"""A decision as it is encoded for a bot; `bench.play` shows the size."""
ASKED: Final = struct.Struct("<QIBH")
"""Match, decision, seat, and bytes of the question."""
ANSWERED: Final = struct.Struct("<QIBHd")
"""Match, decision, seat, action, and the instant at which the answer arrived."""
BATCHES: Final = (1, 6, 16)
LOTS: Final = 20_000


def relay(batch: int, seconds: float) -> float:
    """Exchange frames for so long; return the microseconds of processor time of a decision, of both processes."""
    near, far = socket.socketpair()
    child = os.fork()
    if child == 0:
        near.close()
        _answer(far)
        os._exit(0)
    far.close()
    began, spent, decisions = time.monotonic(), time.process_time(), 0
    while time.monotonic() - began < seconds:
        near.sendall(b"".join(_ask(number) for number in range(batch)))
        answers = near.recv(batch * ANSWERED.size, socket.MSG_WAITALL)
        assert [answer[0] for answer in ANSWERED.iter_unpack(answers)] == [*range(batch)]
        decisions += batch
    spent = time.process_time() - spent
    near.close()
    usage = os.wait4(child, 0)[2]
    return 1e6 * (spent + usage.ru_utime + usage.ru_stime) / decisions


def _ask(number: int) -> bytes:
    return ASKED.pack(number, number, 0, len(QUESTION)) + QUESTION


def _answer(far: socket.socket) -> None:
    rest = b""
    while piece := far.recv(1 << 16):
        rest += piece
        start, answers = 0, []
        while len(rest) - start >= ASKED.size:
            match, decision, seat, size = ASKED.unpack_from(rest, start)
            if len(rest) - start < ASKED.size + size:
                break
            start += ASKED.size + size
            answers.append(ANSWERED.pack(match, decision, seat, 1, 0.0))
        rest = rest[start:]
        if answers:
            far.sendall(b"".join(answers))


def crossing(processes: int, seats: int) -> float:
    """Return the share of decisions whose bot is connected elsewhere, by lot; bots are many and spread evenly."""
    chance = Random(1)
    elsewhere = 0
    for _ in range(LOTS):
        where = Counter(chance.randrange(processes) for _ in range(seats))
        elsewhere += seats - max(where.values())
    return elsewhere / (LOTS * seats)


@click.command()
@click.option("--seconds", type=float, default=1.0, show_default=True, help="Length of one run.")
@click.option("--turns", type=click.IntRange(1), default=5, show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of tables.")
def main(seconds: float, turns: int, as_json: bool) -> None:
    """Measure relayed decisions, and count how many there would be."""
    runs: dict[int, list[float]] = {batch: [] for batch in BATCHES}
    for _ in range(turns):
        for batch, costs in runs.items():
            costs.append(relay(batch, seconds))
    shares = {processes: {seats: crossing(processes, seats) for seats in (2, 3, 4, 5)} for processes in (2, 4)}
    if as_json:
        click.echo(json.dumps({"microseconds": runs, "crossing": shares}, indent=2))
        return
    cost = Table("decisions a frame", "µs of both processes", title="A decision relayed")
    for batch, costs in runs.items():
        cost.add_row(str(batch), f"{median(costs):.1f} ({min(costs):.1f} – {max(costs):.1f})")
    share = Table("processes", "2 seats", "3", "4", "5", title="Decisions of bots that are connected elsewhere")
    for processes, by_seats in shares.items():
        share.add_row(str(processes), *(f"{each:.0%}" for each in by_seats.values()))
    console = Console()
    console.print(cost)
    console.print(share)


if __name__ == "__main__":
    main()
