"""The ladder publisher, which requests a fit when there are new results, and publishes the ladder.

Matches never wait for a fit.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, NamedTuple

import structlog
import trio
from sqlalchemy import Connection

from arena.durations import Durations
from arena.ladder.ladder import Ladder
from arena.scheduling.information_gain import MatchValues
from arena.server.config import Config, log_fields, quota_in_force
from arena.server.ratings.fit_client import FitClient, NotFitted
from arena.server.runtime.wall_clock import now_us
from arena.store.base.errors import StoreError
from arena.store.ladder import baselines, events, publishing
from arena.store.ladder.seasons import list_seasons, name_of
from arena.store.store import Store

LAST_FIT: Final = 1.0
"""Maximum number of seconds for the last fit when the server stops."""
RETRY: Final = 10.0
"""Seconds after which a failed fit is retried."""
LOOK: Final = 5.0
"""Seconds between two reads of the results that other nodes have recorded."""
FIRST_FIT: Final = 10
"""Number of results at which a ladder is first fitted. Later fits are due whenever the number of results has doubled,
or sooner on a ladder with many results.
"""

log = structlog.get_logger(__name__)


class Unfitted(NamedTuple):
    """Failure to fit a ladder's newest results."""

    since: int
    """Time of the first failed attempt."""
    why: str
    """The reason for the latest failure."""


class LadderPublisher:
    """The published ladders of a server, by ladder id."""

    def __init__(
        self,
        config: Config,
        store: Store,
        fit_client: FitClient | None,
        rated: Callable[[str, MatchValues[int]], None],
        post: Callable[[str, Mapping[str, Any]], None],
        ladder_ids: Mapping[str, str] | None = None,
        fits: Callable[[], bool] = lambda: True,
    ) -> None:
        """Publish ladders. Without a fit client, no ladder is ever published, and users see the live ratings.

        `rated` is called with a ladder's name and the match values of the current season. `post` sends messages to the
        webhook. `ladder_ids`: the ids of the current seasons, by ladder name; by default the first seasons. `fits`
        returns whether this server fits the ladders now; another node may do so.
        """
        self._fits = fits
        names = [ladder.name for ladder in config.ladders]
        self._config = config
        self._store = store
        self._fit_client = fit_client
        self._rated = rated
        self._post = post
        self._ladder_ids = {name: name for name in names} if ladder_ids is None else ladder_ids
        self._news: Counter[str] = Counter()
        self._replays: Counter[str] = Counter()  # Number of new baselines, which wait for the next fit.
        self._through: dict[str, int] = {}
        """The number of the latest result in each published ladder."""
        self._unfitted: dict[str, Unfitted] = {}
        self._rested_at = 0.0  # Time until which new results wait.
        self._due = trio.Event()
        self._turn = trio.Lock()
        self.fits: dict[str, Durations] = {name: Durations() for name in names}
        """Durations of the published fits, by ladder name."""
        self.failures: Counter[str] = Counter()
        """Number of failed fits, by ladder name."""

    @property
    def warm(self) -> bool:
        """True if the fit process runs and has read all results."""
        return self._fit_client is not None and self._fit_client.warm

    def recorded(self, ladder_id: str) -> None:
        """Count a new result of a ladder."""
        self._news[ladder_id] += 1
        self._request_fit(self._news[ladder_id] >= self._young(ladder_id))

    def voided(self, ladder_id: str) -> None:
        """Request a fit at once, because a result of a ladder was annulled."""
        self._news[ladder_id] += 1
        self._due.set()

    def replayed(self, ladder_id: str) -> None:
        """Count a new baseline of a ladder."""
        self._replays[ladder_id] += 1

    async def run(self) -> None:
        """Fit ladders with new results until cancelled, starting with those that an earlier server left behind."""
        if self._fit_client is None:
            return
        try:
            news, replays = await self._store.read(self._behind)
            self._news.update(news)
            self._replays.update(replays)
            for ladder_id in [*self._ladder_ids.values()]:
                if (
                    ladder := await self._store.read(partial(publishing.as_published, ladder_id=ladder_id))
                ) is not None:
                    self._through[ladder_id] = ladder.through
                    await self._tell(ladder_id)
        except StoreError as error:
            log.error("new results cannot be read", error=str(error))
        wait = 0.0 if self._news or self._replays else self._config.fit_seconds
        while True:
            with trio.move_on_after(wait):
                await self._due.wait()
            self._due = trio.Event()
            self._rested_at = math.inf
            # The pause after a fit must not count the time that the process takes to start.
            await self._fit_client.ready()
            began = trio.current_time()
            wait = self._config.fit_seconds if await self._fit_news() else RETRY
            now = trio.current_time()
            self._rested_at = now + self._config.fit_rest * (now - began)

    async def look(self) -> None:
        """Count the unpublished results and baselines of all nodes, every `LOOK` seconds until cancelled."""
        while True:
            await trio.sleep(LOOK)
            if self._fit_client is None or not self._fits():
                continue
            try:
                news, replays = await self._store.read(self._behind)
            except StoreError as error:
                log.error("new results cannot be read", error=str(error))
                continue
            if not self._turn.locked():  # A running fit updates both counts itself.
                self._news, self._replays = news, replays
                self._request_fit(any(new >= self._young(each) for each, new in news.items()))

    async def learn(self, ladder_id: str) -> None:
        """Load a ladder that another node has published. Raises: StoreError."""
        if self._fit_client is None:
            return
        through = await self._store.read(partial(publishing.through, ladder_id=ladder_id))
        if through != self._through.get(ladder_id):
            self._through[ladder_id] = through
            await self._tell(ladder_id)
        if not self._fits():
            self._news.pop(ladder_id, None)
            self._replays.pop(ladder_id, None)

    async def last(self) -> None:
        """Fit new results once more before the server stops, but give up if the fit takes too long."""
        if self._fit_client is not None and self._fit_client.warm:
            with trio.move_on_after(LAST_FIT):
                await self._fit_news()

    @property
    def all_unfitted(self) -> Mapping[str, Unfitted]:
        """The ladders whose latest fit failed."""
        return self._unfitted

    def unfitted(self, ladder_id: str) -> Unfitted | None:
        """Return when and why a ladder's fit failed, or None if the latest attempt succeeded."""
        return self._unfitted.get(ladder_id)

    def news(self, ladder_id: str) -> int:
        """Return the number of a ladder's results that are not published yet."""
        return self._news[ladder_id]

    async def of_tables(self, ladder_id: str, seats: int) -> Ladder:
        """Return a ladder computed from tables of one size. Raises: NotFitted."""
        if self._fit_client is None:
            raise NotFitted("this server fits no ladders")
        return await self._fit_client.fit(ladder_id, seats)

    async def _fit_news(self) -> bool:
        """Fit every ladder with new results, unless another node does. Return whether all fits succeeded."""
        if not self._fits():
            return True
        async with self._turn:
            fine = [await self._fit(ladder_id) for ladder_id in {**self._news, **self._replays}]
        return all(fine)

    async def _fit(self, ladder_id: str) -> bool:
        assert self._fit_client is not None, "nobody asks else"
        seen, replays = self._news[ladder_id], self._replays[ladder_id]
        began = trio.current_time()
        try:
            ladder = await self._fit_client.fit(ladder_id)
            new = await self._store.write(partial(publishing.publish, ladder_id=ladder_id, ladder=ladder, at=now_us()))
        except (NotFitted, StoreError) as error:
            log.error("ladder not fitted", **log_fields(self._config, ladder_id), error=str(error), retry_in=RETRY)
            self._failed(ladder_id, str(error))
            return False
        except Exception:
            log.exception(
                "a fault of the server: the ladder is not fitted", **log_fields(self._config, ladder_id), retry_in=RETRY
            )
            self._failed(ladder_id, "a fault of the server, which is in its log")
            return False
        self.fits.setdefault(name_of(ladder_id), Durations()).add(trio.current_time() - began)
        self._unfitted.pop(ladder_id, None)
        self._news[ladder_id] -= seen
        self._replays[ladder_id] -= replays
        self._news, self._replays = +self._news, +self._replays
        self._through[ladder_id] = ladder.through
        log.debug(
            "ladder fitted", **log_fields(self._config, ladder_id), through=ladder.through, bots=len(ladder.lines)
        )
        if new:
            self._post(
                "ladder_published",
                {"ladder": ladder_id, "through": ladder.through, "bots": len(ladder.lines), "digest": ladder.digest},
            )
        await self._tell(ladder_id)
        return True

    def _young(self, ladder_id: str) -> int:
        """Return the number of new results at which a ladder needs a fit, regardless of other ladders."""
        return max(FIRST_FIT, self._through.get(ladder_id, 0))

    def _request_fit(self, young: bool) -> None:
        """Request a fit if a young ladder needs one or there are enough new results, but not in a pause after a fit."""
        if (young or self._news.total() >= self._config.fit_matches) and trio.current_time() >= self._rested_at:
            self._due.set()

    def _failed(self, ladder_id: str, why: str) -> None:
        self.failures[name_of(ladder_id)] += 1
        before = self._unfitted.get(ladder_id)
        self._unfitted[ladder_id] = Unfitted(before.since if before else now_us(), why)

    async def _tell(self, ladder_id: str) -> None:
        """Send the match values of a published ladder to the matchmaker, unless its season has ended."""
        assert self._fit_client is not None, "nobody publishes else"
        name = name_of(ladder_id)
        if self._ladder_ids.get(name) != ladder_id:
            return
        try:
            values = await self._fit_client.match_values(ladder_id)
        except NotFitted as error:
            log.error("matchmaking uses an older ladder", **log_fields(self._config, ladder_id), error=str(error))
        else:
            if self._ladder_ids[name] == ladder_id:
                self._rated(name, values)

    def _behind(self, connection: Connection) -> tuple[Counter[str], Counter[str]]:
        """Return, by ladder, how many results and how many baselines the published ladder lacks. Includes earlier
        seasons.
        """
        new, replays = Counter[str](), Counter[str]()
        for name, current in self._ladder_ids.items():
            for each in (season.id for season in list_seasons(connection, name)):
                newest = events.newest(connection, each)
                new[each] = newest - publishing.through(connection, each)
                # A changed quota gives a different ladder from the same results.
                if newest and each == current and publishing.quota(connection, each) != quota_in_force(self._config):
                    new[each] = max(1, new[each])
                replays[each] = baselines.newest(connection, each) - publishing.replayed(connection, each)
        return +new, +replays
