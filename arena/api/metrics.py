"""The metrics of a server for Prometheus, computed on request from the server's own counters."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import accumulate
from typing import Final

from prometheus_client import ProcessCollector
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.exposition import choose_encoder
from prometheus_client.registry import Collector, CollectorRegistry
from prometheus_client.utils import floatToGoString

from arena.api.documents import Document, Documents
from arena.durations import BOUNDS, Durations
from arena.processes.helper import failed_starts
from arena.server.arena import Arena
from arena.server.matches.figures import decisions_of
from arena.store.ladder.seasons import name_of

METRICS: Final[Mapping[str, str]] = {
    "arena_decisions": "Decisions that were due, by game and kind of player (bot or house).",
    "arena_forced_decisions": "Decisions that the server made for a seat, by cause.",
    "arena_think_seconds": "Think times of bots' own decisions in finished matches, by game.",
    "arena_matches": "Matches that ended, by game and kind.",
    "arena_matches_playing": "Matches being played, by game.",
    "arena_bots_connected": "Bots with an open stream.",
    "arena_bots_waiting": "Bots that wait for a seat, by game.",
    "arena_turn_seconds": "Durations of the server's turns, including commit and sending.",
    "arena_journal_commit_seconds": "Durations of the journal's commits.",
    "arena_fit_seconds": "Durations of the ladder fits that were published, by game.",
    "arena_fit_failures": "Ladder fits that failed, by game.",
    "arena_helper_processes": "Running helper processes, by kind (house or fit).",
    "arena_search_seconds": "Time spent on choices by the process in which house bots search, with waits for a core.",
    "arena_healthy": "1 if results are stored, ladders fitted and all processes started; otherwise 0.",
}
"""Every metric of the server, with its description."""
_Rows = Iterable[tuple[tuple[str, ...], float]]


class ArenaCollector(Collector):
    """A collector that reads a server's metrics.

    Metrics of a ladder have the game as a label. The ladder's name is a label only if it is not the game's default
    ladder.
    """

    def __init__(self, arena: Arena) -> None:
        self._arena = arena
        self._labels = {ladder.name: (ladder.game.name, ladder.further_name) for ladder in arena.config.ladders}

    def describe(self) -> Iterable[Metric]:
        """Return nothing, because the names of metrics are known only after collecting."""
        return ()

    def collect(self) -> Iterator[Metric]:
        """Return the server's current metrics."""
        arena, figures, publisher = self._arena, self._arena.figures, self._arena.publisher
        decisions, forced = figures.decisions.copy(), figures.forced.copy()
        playing = Counter(dict.fromkeys(self._labels, 0))
        for driver in arena.drivers:
            decisions.update(decisions_of(driver))
            forced.update(driver.forced)
            playing[name_of(driver.ladder_id)] += 1
        connected = len(arena.players.sessions())
        helpers = [(("house",), arena.workers.up), (("fit",), int(publisher.warm))]
        of, ladder = self._of, ("game", "ladder")
        each_decision = (((*of(name), player), n) for (name, player), n in decisions.items())
        yield _counter("arena_decisions", (*ladder, "player"), each_decision)
        yield _counter("arena_forced_decisions", ("cause",), (((each.value,), n) for each, n in forced.items()))
        yield _histogram("arena_think_seconds", ladder, {of(name): each for name, each in figures.thinking.items()})
        each_match = (((*of(name), kind), n) for (name, kind), n in figures.matches.items())
        yield _counter("arena_matches", (*ladder, "kind"), each_match)
        yield _gauge("arena_matches_playing", ladder, ((of(name), n) for name, n in playing.items()))
        yield _gauge("arena_bots_connected", (), [((), connected)])
        yield _gauge("arena_bots_waiting", ladder, ((of(name), n) for name, n in arena.matchmaker.waiting.items()))
        yield _histogram("arena_turn_seconds", (), {(): arena.turns.lengths})
        yield _histogram("arena_journal_commit_seconds", (), {(): arena.turns.commits})
        yield _histogram("arena_fit_seconds", ladder, {of(name): each for name, each in publisher.fits.items()})
        each_failure = ((of(name), publisher.failures[name]) for name in publisher.fits)
        yield _counter("arena_fit_failures", ladder, each_failure)
        yield _gauge("arena_helper_processes", ("kind",), helpers)
        yield _counter("arena_search_seconds", (), [((), arena.workers.search.spent)])
        yield _gauge("arena_healthy", (), [((), not troubles(arena))])

    def _of(self, ladder: str) -> tuple[str, str]:
        """Return the values of the labels `game` and `ladder`. An annulled result may belong to a ladder that is no
        longer played; its name is then the value of `game`.
        """
        return self._labels.get(ladder, (ladder, ""))


def registry_of(arena: Arena) -> CollectorRegistry:
    """Return the registry for Prometheus's client library, with the figures of a server and of its process."""
    registry = CollectorRegistry()
    registry.register(ArenaCollector(arena))
    ProcessCollector(registry=registry)
    return registry


def metric_documents(arena: Arena) -> Documents:
    """Return the documents at /metrics and /healthz of a server."""
    registry = registry_of(arena)

    def metrics(accepted: str) -> Document:
        encode, media_type = choose_encoder(accepted)
        return Document(encode(registry), media_type)

    def healthz(_: str) -> Document:
        found = troubles(arena)
        content = json.dumps({"healthy": not found, "troubles": found}, ensure_ascii=False)
        return Document(content.encode(), "application/json", 503 if found else 200)

    return {"/metrics": metrics, "/healthz": healthz}


def troubles(arena: Arena) -> list[str]:
    """Return the faults of a server as sentences, or an empty list if there are none."""
    storing = arena.turns.storing
    found = [] if storing else ["the journal cannot be written, and nothing is sent until it can"]
    unfitted = arena.publisher.all_unfitted
    found += [f"the ladder of {ladder_id} cannot be fitted: {each.why}" for ladder_id, each in unfitted.items()]
    found += [f"a process beside the server cannot be started: {why}" for why in failed_starts().values()]
    if arena.stopping.is_set():
        found.append("the server is stopping")
    return found


def _numbers(
    kind: type[CounterMetricFamily | GaugeMetricFamily], name: str, labels: tuple[str, ...], rows: _Rows
) -> Metric:
    family = kind(name, METRICS[name], labels=labels)
    for values, value in rows:
        family.add_metric(values, value)
    return _without_default_ladders(family)


_counter: Final = partial(_numbers, CounterMetricFamily)
_gauge: Final = partial(_numbers, GaugeMetricFamily)


def _histogram(name: str, labels: tuple[str, ...], rows: Mapping[tuple[str, ...], Durations]) -> Metric:
    family = HistogramMetricFamily(name, METRICS[name], labels=labels)
    bounds = [*map(floatToGoString, BOUNDS), "+Inf"]
    for values, times in rows.items():
        family.add_metric(values, list(zip(bounds, accumulate(times.counts), strict=True)), times.seconds)
    return _without_default_ladders(family)


def _without_default_ladders(family: Metric) -> Metric:
    """Remove the label `ladder` where it is empty."""
    family.samples = [
        sample._replace(labels={name: value for name, value in sample.labels.items() if value or name != "ladder"})
        for sample in family.samples
    ]
    return family
