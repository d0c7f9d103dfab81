"""The ladder publisher, which has ladders fitted when there are new results, and publishes them.

Matches never wait for it.
"""

from __future__ import annotations

import math
from collections import Counter
from functools import partial
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import structlog
import trio

from arena.durations import Durations
from arena.server.config import quota_in_force
from arena.server.ratings.fit_client import NotFitted
from arena.server.runtime.wall_clock import now_us
from arena.store.base.errors import StoreError
from arena.store.ladder import baselines, events, publishing

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from sqlalchemy import Connection

    from arena.ladder.ladder import Ladder
    from arena.scheduling.information_gain import MatchValues
    from arena.server.config import Config
    from arena.server.ratings.fit_client import FitClient
    from arena.store.store import Store

LAST_FIT: Final = 1.0
"""Maximum number of seconds that the last fit may take when the server stops."""
RETRY: Final = 10.0
"""Seconds after which a fit that failed is tried again."""
FIRST_FIT: Final = 10
"""Number of results after which a game is first fitted. A young ladder is fitted again each time the number has
doubled.
"""

log = structlog.get_logger(__name__)


class Unfitted(NamedTuple):
    """The reason why a fit of a game's newest results failed."""

    since: int
    """Time of the first failed attempt."""
    why: str
    """The reason for the last failure."""


class LadderPublisher:
    """The published ladders of a server's games."""

    def __init__(
        self,
        config: Config,
        store: Store,
        fit_client: FitClient | None,
        rated: Callable[[str, MatchValues[int]], None],
        post: Callable[[str, Mapping[str, Any]], None],
    ) -> None:
        """Publish ladders. Without a fit client, no ladder is ever published, and users see the live ratings.

        `rated` is called with each new ladder's match values. `post` sends messages to the webhook.
        """
        self._config = config
        self._store = store
        self._fit_client = fit_client
        self._rated = rated
        self._post = post
        self._news: Counter[str] = Counter()
        self._replays: Counter[str] = Counter()  # number of new baselines by game; they wait for the next fit
        self._through: dict[str, int] = {}
        """By game, the number of the last event in its published ladder."""
        self._unfitted: dict[str, Unfitted] = {}
        self._rested_at = 0.0  # new results wait until then
        self._due = trio.Event()
        self._turn = trio.Lock()
        self.fits: dict[str, Durations] = {game.name: Durations() for game in config.games}
        """Durations of the published fits, by game."""
        self.failures: Counter[str] = Counter()
        """Number of failed fits, by game."""

    @property
    def warm(self) -> bool:
        """True if the fitting process runs and has read all results."""
        return self._fit_client is not None and self._fit_client.warm

    def recorded(self, game: str) -> None:
        """Count a stored result of a game."""
        self._news[game] += 1
        young = self._news[game] >= max(FIRST_FIT, self._through.get(game, 0))
        if (young or self._news.total() >= self._config.fit_matches) and trio.current_time() >= self._rested_at:
            self._due.set()

    def voided(self, game: str) -> None:
        """Fit at once, because a result of a game was annulled."""
        self._news[game] += 1
        self._due.set()

    def replayed(self, game: str) -> None:
        """Count a stored baseline of a game."""
        self._replays[game] += 1

    async def run(self) -> None:
        """Fit games with new results until cancelled, beginning with those that an earlier server left."""
        if self._fit_client is None:
            return
        try:
            news, replays = await self._store.read(self._behind)
            self._news.update(news)
            self._replays.update(replays)
            for game in self._config.games:
                if (
                    ladder := await self._store.read(partial(publishing.as_published, ladder_id=game.name))
                ) is not None:
                    self._through[game.name] = ladder.through
                    await self._tell(game.name)
        except StoreError as error:
            log.error("new results cannot be read", error=str(error))
        wait = 0.0 if self._news or self._replays else self._config.fit_seconds
        while True:
            with trio.move_on_after(wait):
                await self._due.wait()
            self._due = trio.Event()
            self._rested_at = math.inf
            await self._fit_client.ready()  # the rest after a fit must not count the time to start the process
            began = trio.current_time()
            wait = self._config.fit_seconds if await self._fit_news() else RETRY
            now = trio.current_time()
            self._rested_at = now + self._config.fit_rest * (now - began)

    async def last(self) -> None:
        """Fit new results once more before the server stops, unless the fit takes too long."""
        if self._fit_client is not None and self._fit_client.warm:
            with trio.move_on_after(LAST_FIT):
                await self._fit_news()

    def unfitted(self, game: str) -> Unfitted | None:
        """Return the time of a game's failed fit and the reason for it; None if the last attempt succeeded."""
        return self._unfitted.get(game)

    def news(self, game: str) -> int:
        """Return the number of a game's results that are not in its published ladder yet."""
        return self._news[game]

    async def of_tables(self, game: str, seats: int) -> Ladder:
        """Return the ladder of a game at tables of one size. Raises: NotFitted."""
        if self._fit_client is None:
            raise NotFitted("this server fits no ladders")
        return await self._fit_client.fit(game, seats)

    async def _fit_news(self) -> bool:
        """Fit every game with new results; return whether all succeeded."""
        async with self._turn:
            fine = [await self._fit(game) for game in {**self._news, **self._replays}]
        return all(fine)

    async def _fit(self, game: str) -> bool:
        assert self._fit_client is not None, "nobody asks else"
        seen, replays = self._news[game], self._replays[game]
        began = trio.current_time()
        try:
            ladder = await self._fit_client.fit(game)
            new = await self._store.write(partial(publishing.publish, ladder_id=game, ladder=ladder, at=now_us()))
        except (NotFitted, StoreError) as error:
            log.error("ladder not fitted", game=game, error=str(error), retry_in=RETRY)
            self._failed(game, str(error))
            return False
        except Exception:
            log.exception("a fault of the server: the ladder is not fitted", game=game, retry_in=RETRY)
            self._failed(game, "a fault of the server, which is in its log")
            return False
        self.fits[game].add(trio.current_time() - began)
        self._unfitted.pop(game, None)
        self._news[game] -= seen
        self._replays[game] -= replays
        self._news, self._replays = +self._news, +self._replays
        self._through[game] = ladder.through
        log.debug("ladder fitted", game=game, through=ladder.through, bots=len(ladder.lines))
        if new:
            self._post(
                "ladder_published",
                {"ladder": game, "through": ladder.through, "bots": len(ladder.lines), "digest": ladder.digest},
            )
        await self._tell(game)
        return True

    def _failed(self, game: str, why: str) -> None:
        self.failures[game] += 1
        before = self._unfitted.get(game)
        self._unfitted[game] = Unfitted(before.since if before else now_us(), why)

    async def _tell(self, game: str) -> None:
        """Send the match values of the published ladder to the matchmaker."""
        assert self._fit_client is not None, "nobody publishes else"
        try:
            self._rated(game, await self._fit_client.match_values(game))
        except NotFitted as error:
            log.error("matchmaking uses an older ladder", game=game, error=str(error))

    def _behind(self, connection: Connection) -> tuple[Counter[str], Counter[str]]:
        """Return the numbers of events and baselines that each game's published ladder lacks."""
        new, replays = Counter[str](), Counter[str]()
        for game in (game.name for game in self._config.games):
            newest = events.newest(connection, game)
            new[game] = newest - publishing.through(connection, game)
            if newest and publishing.quota(connection, game) != quota_in_force(self._config):
                new[game] = max(1, new[game])  # a changed quota gives a different ladder from the same results
            replays[game] = baselines.newest(connection, game) - publishing.replayed(connection, game)
        return +new, +replays
