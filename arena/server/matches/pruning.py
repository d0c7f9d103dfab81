"""Pruning of old replays, a few at a time, so that it does not delay the storing of results."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import structlog
import trio

from arena.server.runtime.wall_clock import now_us
from arena.store.base.errors import StoreError
from arena.store.replays.replays import prune

if TYPE_CHECKING:
    from arena.store.store import Store

AT_ONCE: Final = 50
"""Number of replays pruned in one transaction."""
EVERY: Final = 60.0
"""Seconds between checks."""

log = structlog.get_logger(__name__)


async def prune_replays(store: Store, keep: int) -> None:
    """Prune all but the newest replays, until cancelled."""
    after = 0
    while True:
        try:
            pruned = await store.write(partial(prune, keep=keep, at=now_us(), after=after, limit=AT_ONCE))
        except StoreError as error:
            log.error("replays not pruned", error=str(error), retry_in=EVERY)
            pruned = ()
        if pruned:
            after = pruned[-1]
            log.info("replays pruned", replays=len(pruned), through=after)
        if len(pruned) < AT_ONCE:
            await trio.sleep(EVERY)
