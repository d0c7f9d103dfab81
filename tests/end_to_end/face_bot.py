"""A bot that plays the first legal action. Its first argument selects how the client runs it.

`python face_bot.py FACE ADDRESS NAME TOKEN_FILE [MATCHES]`
"""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Sequence

from arena_client import Bot, Decision, connect, play, run


class First(Bot):
    capacity = 4
    version = "1"

    def decide_many(self, decisions: Sequence[Decision]) -> list[int]:
        return [decision.legal[0] for decision in decisions]


class Later(Bot):
    capacity = 4
    version = "1"

    async def decide(self, decision: Decision) -> int:
        await asyncio.sleep(0)
        return decision.legal[0]


async def iterate(bot: Bot, address: str, token_file: str, matches: int | None) -> None:
    async with connect(bot, address, token_file=token_file, matches=matches) as decisions:
        async for decision in decisions:
            await decision.answer(decision.legal[0])


def main(face: str, address: str, name: str, token_file: str, matches: str = "") -> None:
    bot = Later(name=name) if "async" in face else First(name=name)
    wanted = int(matches) if matches else None
    if face.startswith("run"):
        run(bot, address, token_file=token_file, matches=wanted)
    elif face.startswith("play"):
        asyncio.run(play(bot, address, token_file=token_file, matches=wanted))
    else:
        asyncio.run(iterate(bot, address, token_file, wanted))


if __name__ == "__main__":
    main(*sys.argv[1:])
