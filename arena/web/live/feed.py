"""The running matches of a server, stored for all pages. One stream from the server serves any number of viewers.

Without an answering server, the feed has no running matches, and `silent` contains the reason.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from functools import partial
from typing import Final, TypeAlias

import anyio
from anyio.from_thread import run_sync as in_loop
from anyio.to_thread import run_sync as in_thread

from arena.queries.live import EndRow, LiveRow, PointsRow, RoundRow, RunningRow
from arena.queries.remote import Client, NoAnswer
from arena.store.base.errors import Refused

OpenServer: TypeAlias = Callable[[], AbstractContextManager[Client]]

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 5.0
"""Pauses in seconds before connecting again to a server that did not answer: the first pause, which doubles each time,
and the longest.
"""
NO_SERVER: Final = (
    "These pages read a data directory only, and running matches are not in it. "
    "`arena serve --web` and `arena web --server` show them."
)
KEPT_OVER: Final = 20
"""Number of recently ended matches that remain among the running ones."""
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


class LiveFeed:
    """The running matches of a server. `changed` is set and replaced at each event."""

    def __init__(self, open_server: OpenServer | None) -> None:
        self._open = open_server
        self.tables: dict[int, LiveTable] = {}
        """Running matches by number."""
        self.over: dict[int, LiveTable] = {}
        """The last `KEPT_OVER` matches that ended, by number."""
        self.ended: dict[str, int] = {}
        """Number of ended matches by ladder."""
        self.silent = NO_SERVER if open_server is None else NOT_YET
        """The reason why no data arrives. Empty while the server sends."""
        self.changed = anyio.Event()

    async def run(self) -> None:
        """Follow the server until cancelled."""
        if self._open is None:
            return
        pause = FIRST_PAUSE
        while True:
            with anyio.CancelScope():
                self.silent, told = await in_thread(self._follow, abandon_on_cancel=True)
            self._change()
            pause = FIRST_PAUSE if told else min(LONGEST_PAUSE, 2 * pause)
            await anyio.sleep(pause)

    def _follow(self) -> tuple[str, bool]:
        """Follow the server in a thread until the stream ends. Return the reason for the end, and True if any data
        arrived.
        """
        assert self._open is not None
        told = False
        fresh: list[LiveRow] = []
        try:
            with self._open() as client, client.watch() as watch:
                for events, complete in watch:
                    if told:
                        in_loop(self._take, events)
                        continue
                    fresh += events
                    if complete:
                        in_loop(partial(self._begin_anew, fresh))
                        told = True
        except (NoAnswer, Refused) as error:
            return f"{error}; it is tried again.", told
        return "The server ended the stream; it is tried again.", told

    def _begin_anew(self, events: list[LiveRow]) -> None:
        """Replace all matches by the matches in `events`. All other matches have ended."""
        known, self.tables = self.tables, {}
        self._take(events)
        for match_id, table in self.tables.items():
            if match_id in known:
                table.rounds = known[match_id].rounds
        for match_id, table in known.items():
            if match_id not in self.tables:
                self._count(table)
        self.silent = ""
        self._change()

    def _take(self, events: tuple[LiveRow, ...] | list[LiveRow]) -> None:
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
