"""Restart of helper processes with exponential back-off."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Final, NoReturn

import trio

FIRST_PAUSE: Final = 1.0
LONGEST_PAUSE: Final = 60.0
"""Seconds before a failed helper is started again: the first pause, doubled each time, and its upper limit."""


async def keep(run: Callable[[], Awaitable[bool]]) -> NoReturn:
    """Call `run` in a loop until cancelled; it runs a helper until that ends.

    After a call that returns True, because the helper did some work, the next follows at once; otherwise after a pause.
    """
    pause = 0.0
    while True:
        await trio.sleep(pause)
        pause = 0.0 if await run() else min(LONGEST_PAUSE, 2 * pause or FIRST_PAUSE)
