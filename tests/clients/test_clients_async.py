"""Ways of the Python SDK to play beside other tasks, all on one real server."""

from __future__ import annotations

import asyncio
import random
import threading
from functools import partial
from pathlib import Path

import pytest
import trio
from arena_client import GAMES, Bot, Decision, MatchReport, connect, play
from arena_client.options import Options

from tests.cli.cli_rig import serving

pytestmark = pytest.mark.process


class Counts(Bot):
    """A bot that records its reports, and the threads and tasks in which it was asked."""

    games = GAMES
    version = "1"

    def __init__(self, name: str) -> None:
        super().__init__(name=name, capacity=2)
        self.reports: list[MatchReport] = []
        self.threads: set[threading.Thread] = set()

    def on_match_end(self, report: MatchReport) -> None:
        self.reports.append(report)


class Plain(Counts):
    def decide(self, decision: Decision) -> int:
        self.threads.add(threading.current_thread())
        return random.choice(decision.legal)


class Waits(Counts):
    async def decide(self, decision: Decision) -> int:
        self.threads.add(threading.current_thread())
        await asyncio.sleep(0)
        return random.choice(decision.legal)


class WaitsInTrio(Counts):
    async def decide(self, decision: Decision) -> int:
        self.threads.add(threading.current_thread())
        await trio.sleep(0)
        return random.choice(decision.legal)


def test_every_way_plays_whole_matches_at_once(tmp_path: Path) -> None:
    plain, waits, plain_in_trio = Plain("plain"), Waits("waits"), Plain("plain-in-trio")
    waits_in_trio, asks = WaitsInTrio("waits-in-trio"), Counts("asks")
    bots = (plain, waits, plain_in_trio, waits_in_trio, asks)
    with serving(tmp_path / "data") as server:
        told = partial(Options, matches=2, casual=True)

        async def one(bot: Bot) -> None:
            await play(bot, server.server, **told(token_file=tmp_path / bot.name))

        async def ask() -> None:
            async with connect(asks, server.server, **told(token_file=tmp_path / asks.name)) as decisions:
                async for decision in decisions:
                    await decision.answer(random.choice(decision.legal))

        async def in_trio() -> None:
            async with trio.open_nursery() as nursery:
                nursery.start_soon(one, plain_in_trio)
                nursery.start_soon(one, waits_in_trio)

        async def at_once() -> None:
            await asyncio.gather(one(plain), one(waits), ask(), asyncio.to_thread(trio.run, in_trio))

        asyncio.run(asyncio.wait_for(at_once(), 120))
    for bot in bots:
        assert len([report for report in bot.reports if report.scores]) == 2, bot.name
    here = threading.current_thread()
    assert waits.threads == {here}
    assert [len(bot.threads) for bot in bots] == [1, 1, 1, 1, 0]
    assert not {here} & (plain.threads | plain_in_trio.threads | waits_in_trio.threads)
