"""Many bots in one process, which play the first legal action after the same delay, until they are stopped.

`python many_bots.py ADDRESS TOKENS CAPACITY SECONDS NAME…`; TOKENS is a directory.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from arena_client import Bot, Decision, play


class PacedBot(Bot):
    """A bot that thinks for the same time before each answer."""

    games = ("sixth_sense",)

    async def decide(self, decision: Decision) -> int:
        """Return the first legal action after the delay."""
        await asyncio.sleep(float(seconds))
        return decision.legal[0]


async def main() -> None:
    """Play with all bots."""
    bots = (PacedBot(name=name, capacity=int(capacity)) for name in names)
    await asyncio.gather(*(play(bot, address, token_file=Path(tokens, bot.name)) for bot in bots))


address, tokens, capacity, seconds, *names = sys.argv[1:]
asyncio.run(main())
