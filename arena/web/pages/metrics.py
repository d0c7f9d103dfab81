"""The figures of the pages for Prometheus: what was asked, and how long it took."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import accumulate
from typing import TYPE_CHECKING, Final

from starlette.requests import Request
from starlette.responses import Response

from arena.web.live.viewers import Viewers
from arena.web.requests.each_request import BUCKETS, RequestCounts

if TYPE_CHECKING:
    from prometheus_client.core import Metric

PAGE_METRICS: Final[Mapping[str, str]] = {
    "arena_web_requests": "Requests that were answered, by status.",
    "arena_web_request_seconds": "From a request to the beginning of its answer.",
    "arena_web_requests_limited": "Requests refused because their address had made too many.",
    "arena_web_requests_open": "Requests being answered.",
    "arena_web_streams_open": "Streams of events that are open.",
    "arena_web_streams_most": "Streams of events that may be open at once.",
}
"""Every metric of the pages, with its meaning."""


async def metrics(request: Request) -> Response:
    """Return the figures, and those of the process, in the format that is accepted."""
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
    except (TypeError, ValueError):  # it compares the version that is accepted with its own, whatever that is
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
