"""Run SDK bots that play at random on a benchmark's server and measure round trips.

    python -m bench._bots ADDRESS BOTS CAPACITY SECONDS [--games …] [--prefix …]

The program prints a line when every bot has a seat. After each line of input it measures for SECONDS and prints the
figures as JSON.
"""

from __future__ import annotations

import asyncio
import json
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from statistics import mean, quantiles
from typing import Final

import click
from arena_client import Bot, Decision, MatchReport, MatchStart
from arena_client.loops import AsyncioLoop
from arena_client.running import play_here, prepared

DECISION_BYTES: Final = 20
"""Size in bytes of a decision message without the view and the legal actions."""
SAMPLE_EVERY: Final = 16
"""One message in this many is measured, because measuring takes time from the bots."""


@dataclass(slots=True)
class Measurements:
    """Measurements that all bots of a process share."""

    answered: dict[int, float] = field(default_factory=dict)
    """Time of the bot's last answer in each match."""
    trips: list[float] = field(default_factory=list)
    """Round trips in seconds, one for each decision except the first of a match."""
    sizes: list[int] = field(default_factory=list)
    """Sizes of decisions in bytes, one per `SAMPLE_EVERY` messages."""
    messages: int = 0

    def restart(self) -> None:
        """Discard all figures except the times of the last answers."""
        self.trips.clear()
        self.sizes.clear()
        self.messages = 0


class Player(Bot):
    """Bot that answers at random and measures round trips."""

    def __init__(self, name: str, capacity: int, games: Sequence[str], measurements: Measurements) -> None:
        super().__init__(name=name, capacity=capacity, games=games)
        self.seated = False
        self._measurements = measurements
        self._chance = Random(name).random

    def on_match_start(self, start: MatchStart) -> None:
        """Record that the bot has a seat."""
        self.seated = True

    def decide_many(self, decisions: Sequence[Decision]) -> list[int]:
        """Choose a random action for each decision."""
        now = time.perf_counter()
        measurements, chance = self._measurements, self._chance
        answered, trips = measurements.answered, measurements.trips
        answers = []
        for decision in decisions:
            if (before := answered.get(decision.match_id)) is not None:
                trips.append(now - before)
            legal = decision.legal
            answers.append(legal[int(chance() * len(legal))])
        if measurements.messages % SAMPLE_EVERY == 0:
            one = decisions[0]
            measurements.sizes.append(DECISION_BYTES + len(one.legal) + one.view.ByteSize())
        measurements.messages += 1
        now = time.perf_counter()
        for decision in decisions:
            answered[decision.match_id] = now
        return answers

    def on_match_end(self, report: MatchReport) -> None:
        """Discard the time of the last answer in the match."""
        self._measurements.answered.pop(report.match_id, None)


async def _load(address: str, bots: int, capacity: int, seconds: float, games: Sequence[str], prefix: str) -> None:
    measurements = Measurements()
    with tempfile.TemporaryDirectory() as tokens:
        players = [Player(f"{prefix}-{number}", capacity, games, measurements) for number in range(bots)]
        playing = [
            asyncio.create_task(
                # Connect in this thread, because `play` would start a thread for each bot.
                play_here(*prepared(player, address, {"token_file": Path(tokens) / player.name}), AsyncioLoop())
            )
            for player in players
        ]
        while not all(player.seated for player in players):
            await asyncio.sleep(0.1)
        print("connected", flush=True)
        while await asyncio.to_thread(sys.stdin.readline):
            measurements.restart()
            own, began = time.process_time(), time.perf_counter()
            await asyncio.sleep(seconds)
            print(
                json.dumps(_figures(measurements, time.perf_counter() - began, time.process_time() - own)), flush=True
            )
        for task in playing:
            task.cancel()
        await asyncio.gather(*playing, return_exceptions=True)


def _figures(measurements: Measurements, took: float, cpu: float) -> dict[str, float]:
    count = len(measurements.trips)
    if count < 2:
        raise click.ClickException(f"{count} answers in {took:.1f} s are too few for a figure: measure for longer")
    percentiles = quantiles(measurements.trips, n=100)
    return {
        "count": count,
        "messages": measurements.messages,
        "bytes": count * mean(measurements.sizes),
        "seconds": took,
        "median_us": 1e6 * percentiles[49],
        "p99_us": 1e6 * percentiles[98],
        "cpu": cpu,
    }


@click.command()
@click.argument("address")
@click.argument("bots", type=int)
@click.argument("capacity", type=int)
@click.argument("seconds", type=float)
@click.option("--games", default="sixth_sense", help="Games to play, separated by commas.")
@click.option("--prefix", default="bot", help="Prefix of the bots' names.")
def main(address: str, bots: int, capacity: int, seconds: float, games: str, prefix: str) -> None:
    """Let bots play until standard input ends."""
    asyncio.run(_load(address, bots, capacity, seconds, games.split(","), prefix))


if __name__ == "__main__":
    main()
