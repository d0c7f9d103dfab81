"""Honest bots continue to play whatever another bot does with its invitations: the real server under a virtual
clock.
"""

from __future__ import annotations

from collections.abc import Sequence

import pytest
import trio

from arena.server.sessions.messages import Outgoing
from tests.server.server_rig import Bot, HouseBot, MemoryStore, running

pytestmark = pytest.mark.virtual_clock

THINKING = 0.1
"""Seconds that an honest bot needs for the questions of a message."""


NOT_STARVED = 0.8
"""Minimum ratio of rates. One minute of matches measures it only to a few hundredths, and the bar is 0.9."""


class Honest(Bot):
    """A bot that needs some time for each message."""

    async def _listen(self) -> None:
        while True:
            message = await self.line.read()
            await trio.sleep(THINKING)
            self.hear(message)
            self.told.unpark_all()


class Decliner(Bot):
    """A bot that declines every invitation."""

    def hear(self, message: Outgoing) -> None:
        self.line.say(declined=[each.invitation_id for each in message.invitations])


class Ignorer(Bot):
    """A bot that sends nothing."""

    def hear(self, message: Outgoing) -> None:
        pass


async def rate(
    others: Sequence[type[Bot]], honest: int, capacity: int, house: bool, seats: int, seconds: float
) -> float:
    """Return the number of matches that honest bots finish per second beside others of the same capacity, after a
    start-up time.
    """
    store = MemoryStore()
    kinds = [Honest] * honest + [*others]
    bots = [kind(store.register(f"bot-{number}"), capacity=capacity) for number, kind in enumerate(kinds)]
    house_bots = [HouseBot("house-a"), HouseBot("house-b")] if house else []
    async with running(store, house_bots, house=house, seats=(seats,)) as arena, trio.open_nursery() as nursery:
        for bot in bots:
            nursery.start_soon(bot.attend, arena)
        await trio.sleep(60)
        before = sum(len(bot.reports) for bot in bots[:honest])
        await trio.sleep(seconds)
        finished = sum(len(bot.reports) for bot in bots[:honest]) - before
        nursery.cancel_scope.cancel()
    return finished / seconds


@pytest.mark.thorough
@pytest.mark.parametrize(("house", "capacity"), [(True, 8), (False, 1)], ids=["house", "no house"])
@pytest.mark.parametrize("trouble", [Decliner, Ignorer])
async def test_honest_bots_play_on_beside_one_that_declines_or_ignores(
    trouble: type[Bot], house: bool, capacity: int
) -> None:
    alone = await rate([], 3, capacity, house, 2, 60.0)
    beside = await rate([trouble], 3, capacity, house, 2, 60.0)
    assert alone > 0.5
    assert beside / alone >= NOT_STARVED, f"{beside:.2f} beside it, {alone:.2f} without"


@pytest.mark.long
@pytest.mark.parametrize("seats", [2, 4])
@pytest.mark.parametrize("capacity", [1, 8])
@pytest.mark.parametrize("honest", [2, 3, 4, 6])
@pytest.mark.parametrize("trouble", [Decliner, Ignorer])
async def test_honest_bots_play_on_beside_one_that_declines_or_ignores_at_every_table(
    trouble: type[Bot], honest: int, capacity: int, seats: int
) -> None:
    alone = await rate([], honest, capacity, True, seats, 60.0)
    beside = await rate([trouble], honest, capacity, True, seats, 60.0)
    assert beside / alone >= 0.9, f"{beside:.2f} beside it, {alone:.2f} without"
