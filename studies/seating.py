"""Seating of many bots that come at once: how long until each has begun a match, and what it costs the server.

    python -m studies.seating [--bots 2000 …] [--json]

A complete arena with store and journal, without its sockets. The bots have tokens and a capacity of 1, say Ready at
once and answer nothing: from the first token to the last beginning of a match. There are no house bots: one bot may be
left alone.
"""

from __future__ import annotations

import gc
import json
import logging
import tempfile
import time
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

import click
import structlog
import trio
from rich.console import Console
from rich.table import Table

from arena.api.codec import PROTOBUF
from arena.processes.garbage import collect_rarely
from arena.server.arena import Arena, open_arena
from arena.server.config import Config, Offer
from arena.server.runtime.wall_clock import now_us
from arena.server.sessions.messages import Hello
from arena.store import bots
from arena.store.store import open_store
from arena.v1.play_pb2 import PlayRequest, PlayResponse, Ready
from bench.turns import GAME, NONCE, Line

CROWDS: Final = (200, 500, 1_000, 2_000)
SEATS: Final = (2, 3, 4)
MESSAGES: Final = 4
"""Heard in one turn, at most."""
PATIENCE: Final = 120.0
"""Seconds after which the rest is not waited for."""


class Seating(NamedTuple):
    """Figures of a crowd."""

    bots: int
    seated: int
    seconds: float
    process: float
    """Processor time of the server with the bots, in seconds."""


class Crowd:
    """Bots that say Ready to whatever they are invited to."""

    def __init__(self, arena: Arena) -> None:
        self.seated: set[Line] = set()
        self._arena = arena
        self._unread: list[tuple[Line, bytes]] = []
        self._some = trio.Event()

    async def come(self, token: str, number: int) -> None:
        """Connect a bot as the service `Play` does."""
        arena = self._arena
        authorize = partial(arena.authorization.bot, token)
        await authorize()
        await arena.attend(Line(number, self._sent), PROTOBUF, authorize, Hello((GAME.name,), 1, "study"))

    async def listen(self, bots: int) -> None:
        """Answer until so many bots are seated, but for one that has nobody to play with."""
        while True:
            await self._some.wait()
            self._some = trio.Event()
            while self._unread:
                heard, self._unread = self._unread[:MESSAGES], self._unread[MESSAGES:]
                with self._arena.turns:
                    now = trio.current_time()
                    for line, message in heard:
                        line.received_at = now
                        self._hear(line, PlayResponse.FromString(message))
                if len(self.seated) > bots - min(SEATS):  # fewer find no table
                    return
                await trio.lowlevel.checkpoint()

    def _hear(self, line: Line, message: PlayResponse) -> None:
        if message.starts:
            self.seated.add(line)
        if message.invitations:
            ready = [Ready(invitation_id=each.invitation_id, nonce=NONCE) for each in message.invitations]
            line.take(PlayRequest(ready=ready).SerializeToString())

    def _sent(self, line: Line, message: bytes) -> None:
        self._unread.append((line, message))
        self._some.set()


async def measure(number: int) -> Seating:
    """Seat so many bots."""
    config = Config(offers=(Offer(GAME, SEATS),), house=False)
    with tempfile.TemporaryDirectory() as directory:
        async with open_store(Path(directory), now_us()) as store, open_arena(config, store) as arena:
            tokens = [
                (await store.write(partial(bots.register, name=f"bot-{each}", owner=f"{each}", at=now_us()))).token
                for each in range(number)
            ]
            collect_rarely()
            crowd = Crowd(arena)
            began, cpu = time.monotonic(), time.process_time()
            async with trio.open_nursery() as nursery:
                for each, token in enumerate(tokens):
                    nursery.start_soon(crowd.come, token, each)
                with trio.move_on_after(PATIENCE):
                    await crowd.listen(number)
                seating = Seating(number, len(crowd.seated), time.monotonic() - began, time.process_time() - cpu)
                nursery.cancel_scope.cancel()
            gc.unfreeze()
    return seating


@click.command()
@click.option("--bots", "crowds", type=click.IntRange(2), multiple=True, help="How many come at once; repeatable.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(crowds: tuple[int, ...], as_json: bool) -> None:
    """Measure how long many bots that come at once wait for their first match."""
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    figures = [trio.run(measure, crowd) for crowd in crowds or CROWDS]
    if as_json:
        click.echo(json.dumps([each._asdict() for each in figures], indent=2))
        return
    table = Table(title="Bots of capacity 1 that come at once")
    for heading in ("bots", "seated", "after, s", "processor time, s"):
        table.add_column(heading, justify="right")
    for each in figures:
        table.add_row(f"{each.bots:,}", f"{each.seated:,}", f"{each.seconds:.1f}", f"{each.process:.1f}")
    Console().print(table)


if __name__ == "__main__":
    main()
