"""Pages for monitoring: `/healthz`, and `/metrics` for Prometheus."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.responses import Response

from arena.queries.json_form import json_text
from arena.queries.source import DataSource
from arena.replay.header import MatchKind
from arena.store.base.rows import LadderRows, MatchRow, MatchState
from arena.web.caches import TtlCache
from arena.web.live.event_stream import Viewers
from arena.web.reading.reader import Missing, Reader, Unavailable
from arena.web.requests.each_request import BUCKETS, RequestCounts

if TYPE_CHECKING:
    from prometheus_client.core import Metric

STALE: Final = timedelta(minutes=10)
"""Age from which a result missing from the fitted ladder counts as a fault."""
LOOKED_AT: Final = 20
"""Number of a ladder's newest matches that are checked."""
KEPT: Final = 1.0
"""Seconds for which the faults found are cached, so that frequent requests cost nothing."""
PAGE_METRICS: Final[Mapping[str, str]] = {
    "arena_web_requests": "Requests that were answered, by status.",
    "arena_web_request_seconds": "From a request to the beginning of its answer.",
    "arena_web_requests_limited": "Requests refused because their address had made too many.",
    "arena_web_requests_open": "Requests being answered.",
    "arena_web_streams_open": "Streams of events that are open.",
    "arena_web_streams_most": "Streams of events that may be open at once.",
}
"""Every metric of the pages, with its meaning."""


class SourceHealth:
    """A search for faults in the data of the pages."""

    def __init__(self, reader: Reader, now: Callable[[], datetime] = lambda: datetime.now(UTC)) -> None:
        self._reader = reader
        self._now = now
        self._behind: dict[str, tuple[datetime | None, datetime]] = {}
        """For each ladder, the time of its publication, and the end of the oldest match known to be missing."""
        self._cache = TtlCache()

    async def troubles(self) -> list[str]:
        """Return a line for each fault, or an empty list if there is none."""
        return await self._cache.get("troubles", self._look, KEPT)

    async def _look(self) -> list[str]:
        try:
            return await self._reader.read(self._query)
        except (Missing, Unavailable) as error:
            return [str(error)]

    def _query(self, source: DataSource) -> list[str]:
        found = []
        for each in source.ladders():
            ladder = source.ladder(ladder=each.name)
            if ladder.not_fitted_since is not None:
                since = f"{ladder.not_fitted_since:%Y-%m-%dT%H:%M:%SZ}"
                found.append(f"the ladder of {each.name} is not fitted since {since}: {ladder.not_fitted_reason}")
            elif self.stale(ladder, source.matches(ladder=each.name, limit=LOOKED_AT)):
                found.append(f"the ladder of {each.name} lacks results that are older than {STALE}")
        return found

    def stale(self, ladder: LadderRows, newest: tuple[MatchRow, ...]) -> bool:
        """Return True if a ladder still lacks old results. `newest`: its newest matches.

        On a busy ladder, all of the newest matches have just ended, so missing results found earlier count as well.
        """
        published = ladder.published
        missing = [
            row.ended
            for row in newest
            if row.state is MatchState.FINISHED
            and row.kind is MatchKind.RATED
            and not row.voided
            and row.ended is not None
            and (published is None or row.ended > published)
        ]
        name = ladder.ladder or ladder.game
        known = self._behind.pop(name, None)
        if not missing:
            return False
        oldest = min([*missing, *([known[1]] if known is not None and known[0] == published else [])])
        self._behind[name] = published, oldest
        return self._now() - oldest > STALE


async def healthz(request: Request) -> Response:
    """Report health: status 200, or 503 with the faults."""
    troubles = await request.app.state.health.troubles()
    content = json_text({"healthy": not troubles, "troubles": troubles})
    return Response(content, 503 if troubles else 200, {"cache-control": "no-store"}, "application/json")


async def metrics(request: Request) -> Response:
    """Return the metrics of the pages and of the process, in a format that the client accepts."""
    from prometheus_client import ProcessCollector
    from prometheus_client.exposition import choose_encoder
    from prometheus_client.registry import Collector, CollectorRegistry

    counts: RequestCounts = request.app.state.counts
    viewers: Viewers = request.app.state.live.viewers

    class Figures(Collector):
        def collect(self) -> Iterator[Metric]:
            return _collect(counts, viewers)

    registry = CollectorRegistry()
    registry.register(Figures())
    ProcessCollector(registry=registry)
    try:
        encode, media_type = choose_encoder(request.headers.get("accept", ""))
    # The library parses the version in the Accept header and fails if the header is malformed.
    except (TypeError, ValueError):
        encode, media_type = choose_encoder("")
    return Response(encode(registry), 200, {"cache-control": "no-store", "content-type": media_type})


def _collect(counts: RequestCounts, viewers: Viewers) -> Iterator[Metric]:
    from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily

    answered = CounterMetricFamily("arena_web_requests", PAGE_METRICS["arena_web_requests"], labels=("status",))
    for status, number in sorted(counts.by_status.items()):
        answered.add_metric((str(status),), number)
    yield answered
    times = HistogramMetricFamily("arena_web_request_seconds", PAGE_METRICS["arena_web_request_seconds"])
    bounds = [*map(str, BUCKETS), "+Inf"]
    times.add_metric((), list(zip(bounds, accumulate(counts.times), strict=True)), counts.seconds)
    yield times
    limited, being_answered = "arena_web_requests_limited", "arena_web_requests_open"
    yield CounterMetricFamily(limited, PAGE_METRICS[limited], counts.limited)
    yield GaugeMetricFamily(being_answered, PAGE_METRICS[being_answered], counts.open)
    streams, most = "arena_web_streams_open", "arena_web_streams_most"
    yield GaugeMetricFamily(streams, PAGE_METRICS[streams], viewers.count)
    yield GaugeMetricFamily(most, PAGE_METRICS[most], viewers.most)
