"""The running matches of all nodes of a server, stored for all pages. One stream from each node serves all viewers.

The matches of a silent node stay, because the node usually continues them after a restart. `silent` says why.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

import anyio
from anyio.from_thread import run_sync as in_loop
from anyio.to_thread import run_sync as in_thread

from arena.queries.live import EndRow, LiveRow, PointsRow, RoundRow, RunningRow, Watch
from arena.queries.remote import Client, NoAnswer
from arena.store.base.errors import Refused

OpenServer: TypeAlias = Callable[[], AbstractContextManager[Client]]
Servers: TypeAlias = Mapping[str, OpenServer]
"""By the name that pages show, such as "Node 2", the function that opens each node. A single server has the name "".
"""

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 5.0
"""Pauses in seconds before connecting again: the first, which doubles each time, and the longest."""
NO_SERVER: Final = (
    "These pages read a data directory only, and running matches are not in it. "
    "`arena serve --web` and `arena web --server` show them."
)
KEPT_OVER: Final = 20
"""Number of recently ended matches that are still listed with the running ones."""
NOT_YET: Final = "The server has not answered yet."


@dataclass(slots=True)
class LiveTable:
    """A running match."""

    match_id: int
    game: str
    kind: str
    bots: tuple[str, ...]
    points: list[PointsRow]
    """Points of the finished rounds, in order."""
    rounds: list[RoundRow] = field(default_factory=list)
    """The finished rounds that were received completely, in order."""
    end: EndRow | None = None
    """The result, or None while the match is running."""
    ladder: str = ""
    season: int = 0
    """The name of the ladder and the number of its season, as in a `RunningRow`."""
    node: str = ""
    """Name of the node that plays it."""


class LiveFeed:
    """The running matches of a server. `changed` is set and replaced at each event."""

    def __init__(self, servers: Servers) -> None:
        self._servers = servers
        self.tables: dict[int, LiveTable] = {}
        """Running matches by number."""
        self.over: dict[int, LiveTable] = {}
        """The last `KEPT_OVER` matches that ended, by number."""
        self.ended: dict[str, int] = {}
        """Number of ended matches by ladder."""
        self.silence = dict.fromkeys(servers, NOT_YET)
        """For each node, the reason why no data arrives. Empty while it sends."""
        self._watches: dict[str, Watch] = {}
        self.changed = anyio.Event()

    @property
    def silent(self) -> str:
        """The reasons why data is missing. Empty while all nodes send."""
        return " ".join(dict.fromkeys(filter(None, self.silence.values()))) if self._servers else NO_SERVER

    async def run(self) -> None:
        """Follow all nodes until cancelled."""
        threads = anyio.CapacityLimiter(len(self._servers) or 1)  # Each node occupies a thread forever.
        async with anyio.create_task_group() as group:
            for node in self._servers:
                group.start_soon(self._run, node, threads)

    async def _run(self, node: str, threads: anyio.CapacityLimiter) -> None:
        pause = FIRST_PAUSE
        while True:
            why, told = await in_thread(self._follow, node, abandon_on_cancel=True, limiter=threads)
            self.lost(node, why)
            pause = FIRST_PAUSE if told else min(LONGEST_PAUSE, 2 * pause)
            await anyio.sleep(pause)

    def _follow(self, node: str) -> tuple[str, bool]:
        """Follow a node in a thread until its stream ends. Return the reason, and True if any data arrived."""
        told = False
        fresh: list[LiveRow] = []
        try:
            with self._servers[node]() as client, client.watch() as watch:
                self._watches[node] = watch
                for events, complete in watch:
                    if told:
                        in_loop(self._take, events, node)
                        continue
                    fresh += events
                    if complete:
                        in_loop(partial(self._begin_anew, fresh, node))
                        told = True
        except (NoAnswer, Refused) as error:
            # If `lost` has ended the stream, the reason is already stored.
            return f"{error}; it is tried again." if node in self._watches else self.silence[node], told
        return "The server ended the stream; it is tried again.", told

    def lost(self, node: str, why: str) -> None:
        """Record that a node does not answer, and end its stream. The next stream shows when it answers again."""
        self.silence[node] = f"{node} does not answer; it is tried again." if node else why
        if (watch := self._watches.pop(node, None)) is not None:
            watch.cancel()
        self._change()

    def _begin_anew(self, events: list[LiveRow], node: str) -> None:
        """Replace all matches of a node with the matches in `events`. All its other matches have ended."""
        known = {match_id: table for match_id, table in self.tables.items() if table.node == node}
        for match_id in known:
            del self.tables[match_id]
        self._take(events, node)
        for match_id, table in known.items():
            if match_id in self.tables:
                self.tables[match_id].rounds = table.rounds
            else:
                self._count(table)
        self.silence[node] = ""
        self._change()

    def _take(self, events: tuple[LiveRow, ...] | list[LiveRow], node: str) -> None:
        for event in events:
            match event:
                case RunningRow():
                    self.tables[event.match_id] = LiveTable(
                        event.match_id,
                        event.game,
                        event.kind.value,
                        event.bots,
                        list(event.rounds),
                        ladder=event.ladder,
                        season=event.season,
                        node=node,
                    )
                case RoundRow() | EndRow() if event.match_id not in self.tables:
                    continue  # Only a faulty server sends an event of a match before its start.
                case RoundRow():
                    table = self.tables[event.match_id]
                    table.points.append(PointsRow(event.points, event.scores))
                    table.rounds.append(event)
                case EndRow():
                    table = self.tables.pop(event.match_id)
                    self._count(table)
                    table.end = event
                    self.over[event.match_id] = table
                    while len(self.over) > KEPT_OVER:
                        del self.over[next(iter(self.over))]
        self._change()

    def _count(self, table: LiveTable) -> None:
        """Count a match that has ended."""
        ladder = table.ladder or table.game
        self.ended[ladder] = self.ended.get(ladder, 0) + 1

    def _change(self) -> None:
        self.changed.set()
        self.changed = anyio.Event()
