"""Cost of a decision in the whole server without its sockets, in turns like those of a listener.

    python -m bench.turns [--case 2x1 …] [--bots 8 --matches 16] [--messages 4] [--compiled] [--json]

A complete arena with store, journal, clocks, ladder and records plays two-seat games of 6th Sense. Its bots run in the
same process, exchange serialized protocol messages and choose at random. Their own processor time is subtracted. A turn
processes up to `--messages` messages. The column "in turns" is the time to receive and decode these messages, and to
encode and send the replies. "Main thread" adds the time to form, start and end matches and one trio iteration per turn.
"Process" adds the thread that writes to the database. `bench.play` also includes the transport.
"""

from __future__ import annotations

import gc
import json
import logging
import subprocess
import sys
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path
from random import Random
from time import process_time, thread_time
from typing import Final, NamedTuple

import click
import structlog
import trio
from arena_client.v1.play_pb2 import Answer, PlayRequest, PlayResponse, Ready
from rich.console import Console
from rich.table import Table

from arena.api.codec import PROTOBUF
from arena.processes.memory import collect_rarely
from arena.server.arena import Arena, open_arena
from arena.server.config import Config, LadderTable
from arena.server.ratings.fit_client import open_fit_client
from arena.server.runtime.wall_clock import now_us
from arena.server.sessions.messages import Hello
from arena.store.bots import bots
from arena.store.store import open_store
from bench._compiled import environment, option
from engine.registry import GAMES

GAME: Final = GAMES["sixth_sense"]
NONCE: Final = bytes(16)


class Case(NamedTuple):
    """A load: the number of bots, and of matches that each plays."""

    bots: int
    matches: int
    """Number of matches that each bot plays at once."""


class Cost(NamedTuple):
    """Processor times per decision, in microseconds."""

    turns: float
    main: float
    process: float
    batch: float
    """Mean number of decisions per message."""


CASES: Final = {"2x1": Case(2, 1), "8x16": Case(8, 16), "200x1": Case(200, 1)}


class Line:
    """A bot's connection inside the process."""

    peer = "bench"
    busy = False
    received_at = 0.0
    take: Callable[[bytes], None]

    def __init__(self, bot: int, sent: Callable[[Line, bytes], None]) -> None:
        self.chance = Random(bot).random
        self._sent = sent

    def shortest_round_trip(self) -> float | None:
        """Return None: without a network there are no round trips."""
        return None

    def hand_over(self, message: bytes) -> None:
        """Deliver a message to the bot, as in `Link.hand_over`."""
        self._sent(self, message)

    async def deliver(self, take: Callable[[bytes], None], _: Callable[[], None]) -> None:
        """Pass the bot's messages to `take`, as in `Link.deliver`."""
        self.take = take
        await trio.sleep_forever()


class Bots:
    """All bots of a benchmark, with the processor time of their decisions and of the server's turns."""

    def __init__(self, arena: Arena, messages: int) -> None:
        self.own = self.turns = 0.0
        """Processor time of the bots and of the turns, in seconds."""
        self.decisions = self.asked = 0
        """Number of decisions, and of messages with decisions."""
        self._arena = arena
        self._messages = messages
        self._unread: list[tuple[Line, bytes]] = []
        self._some = trio.Event()
        self._goal, self._reached = 0, trio.Event()

    async def run(self, case: Case) -> None:
        """Register the bots and let them play until cancelled."""
        store = self._arena.store
        hello = Hello((GAME.name,), case.matches, "bench")
        async with trio.open_nursery() as nursery:
            for number in range(case.bots):
                added = await store.write(partial(bots.register, name=f"bot-{number}", owner="", at=now_us()))
                authorize = partial(self._arena.authorization.bot, added.token)
                nursery.start_soon(self._arena.attend, Line(number, self._sent), PROTOBUF, authorize, hello)
            nursery.start_soon(self._play)

    async def reach(self, decisions: int) -> None:
        """Wait until this many decisions have been made."""
        self._goal, self._reached = decisions, trio.Event()
        await self._reached.wait()

    async def _play(self) -> None:
        while True:
            await self._some.wait()
            self._some = trio.Event()
            while self._unread:
                began = thread_time()
                heard = self._unread[: self._messages]
                del self._unread[: self._messages]
                said = [(line, self._answer(line, PlayResponse.FromString(message))) for line, message in heard]
                answered = thread_time()
                with self._arena.turns:
                    now = trio.current_time()
                    for line, message in said:
                        line.received_at = now
                        line.take(message)
                self.own += answered - began
                self.turns += thread_time() - answered
                if self.decisions >= self._goal:
                    self._reached.set()
                await trio.lowlevel.checkpoint()

    def _sent(self, line: Line, message: bytes) -> None:
        self._unread.append((line, message))
        self._some.set()

    def _answer(self, line: Line, message: PlayResponse) -> bytes:
        """Return a bot's reply to a message. Empty replies are also sent. Each costs a turn, but they are rare."""
        chance, decisions = line.chance, message.decisions
        self.decisions += len(decisions)
        self.asked += bool(decisions)
        return PlayRequest(
            ready=[Ready(invitation_id=each.invitation_id, nonce=NONCE) for each in message.invitations],
            answers=[
                Answer(
                    match_id=each.match_id,
                    decision_id=each.decision_id,
                    action=each.legal[int(chance() * len(each.legal))],
                )
                for each in decisions
            ],
            heartbeat=message.heartbeat if message.HasField("heartbeat") else None,
        ).SerializeToString()


async def measure(case: Case, messages: int, decisions: int) -> Cost:
    """Measure the cost over `decisions` decisions, after a warm-up of half as many."""
    config = Config(ladder_tables=(LadderTable(GAME, (2,)),), house=False, patience=0.0)
    with tempfile.TemporaryDirectory() as data:
        directory = Path(data)
        async with (
            open_store(directory, now_us()) as store,
            open_fit_client(directory) as fit_client,
            open_arena(config, store, fit_client=fit_client) as arena,
            trio.open_nursery() as nursery,
        ):
            collect_rarely()
            playing = Bots(arena, messages)
            nursery.start_soon(playing.run, case)
            await playing.reach(decisions // 2)
            before = _spent(playing)
            await playing.reach(playing.decisions + decisions)
            turns, main, process, made, asked = (now - then for now, then in zip(_spent(playing), before, strict=True))
            nursery.cancel_scope.cancel()
        gc.unfreeze()
    microsecond = 1e-6 * made
    return Cost(turns / microsecond, main / microsecond, process / microsecond, made / asked)


def _spent(playing: Bots) -> tuple[float, float, float, int, int]:
    own = playing.own
    return playing.turns, thread_time() - own, process_time() - own, playing.decisions, playing.asked


@click.command()
@click.option("--case", "cases", type=click.Choice([*CASES]), multiple=True, help="What to measure; repeatable.")
@click.option("--bots", type=click.IntRange(2), help="Measure another load: the number of bots; see --matches.")
@click.option(
    "--matches", type=click.IntRange(1), default=1, show_default=True, help="Matches that each bot plays at once."
)
@click.option(
    "--messages", type=click.IntRange(1), default=4, show_default=True, help="Maximum number of messages in one turn."
)
@click.option("--decisions", type=click.IntRange(1), default=60_000, show_default=True, help="Decisions per run.")
@option
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def main(
    cases: tuple[str, ...],
    bots: int | None,
    matches: int,
    messages: int,
    decisions: int,
    compiled: bool,
    as_json: bool,
) -> None:
    """Measure decisions through the whole server without its sockets."""
    if compiled:
        command = [sys.executable, "-m", "bench.turns", *(word for word in sys.argv[1:] if word != "--compiled")]
        sys.exit(subprocess.run(command, check=False, env=environment()).returncode)
    structlog.configure(wrapper_class=structlog.make_filtering_bound_logger(logging.WARNING))
    loads = {f"{bots}x{matches}": Case(bots, matches)} if bots else {name: CASES[name] for name in cases or CASES}
    costs = {name: trio.run(measure, case, messages, decisions) for name, case in loads.items()}
    if as_json:
        click.echo(json.dumps({name: cost._asdict() for name, cost in costs.items()}, indent=2))
        return
    table = Table(title="Processor time of a decision in the server without sockets, in microseconds")
    for heading in ("bots × matches", "in turns", "main thread", "process", "decisions a message"):
        table.add_column(heading, justify="right" if heading != "bots × matches" else "left")
    for name, cost in costs.items():
        table.add_row(name, *(f"{each:.1f}" for each in cost))
    Console().print(table)


if __name__ == "__main__":
    main()
