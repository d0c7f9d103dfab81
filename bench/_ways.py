"""A bot of the Python SDK that plays at random. An argument selects one of the SDK's ways to run a bot.

python bench/_ways.py run|play|async|trio|connect [the options of every bot]
"""

from __future__ import annotations

import argparse
import asyncio
import random
import sys

import trio
from arena_client import Bot, Decision, connect, play
from arena_client.command import add_options, run_with
from arena_client.options import Options


class Plain(Bot):
    """Bot with a plain `decide`."""

    version = "1"

    def decide(self, decision: Decision) -> int:
        """Choose one of the legal actions."""
        return random.choice(decision.legal)


class Async(Bot):
    """Bot with an `async def decide` that never waits."""

    version = "1"

    async def decide(self, decision: Decision) -> int:
        """Choose one of the legal actions."""
        return random.choice(decision.legal)


async def _ask(bot: Bot, address: str, options: Options) -> None:
    async with connect(bot, address, **options) as decisions:
        async for decision in decisions:
            await decision.answer(random.choice(decision.legal))


def main() -> None:
    """Play until killed, in the way that an argument selects."""
    way, *words = sys.argv[1:]
    parser = argparse.ArgumentParser(prog=f"_ways.py {way}")
    parser.add_argument("--server")
    add_options(parser)
    parsed = parser.parse_args(words)
    bot = Async() if way in ("async", "trio") else Plain()
    if way == "run":
        run_with(bot, parsed.server, parsed)
    bot.name, bot.games, bot.capacity = parsed.name, parsed.game, parsed.capacity
    options: Options = {"token_file": parsed.token_file}

    async def plays() -> None:
        await (_ask(bot, parsed.server, options) if way == "connect" else play(bot, parsed.server, **options))

    if way == "trio":
        trio.run(plays)
    else:
        asyncio.run(plays())


if __name__ == "__main__":
    main()
