"""This server as a node: its lease, the jobs that it does for all nodes, and the changes of other nodes.

A lease is the right to play for a limited time. A node that cannot renew its lease sends nothing, because other nodes
may then interrupt its matches. The node measures the lease from before its request, by a clock that also runs while the
machine is suspended. So the node never counts its lease as valid for longer than the database does.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import Any, Final, NamedTuple, NoReturn, TypeAlias

import structlog
import trio
from sqlalchemy import Connection

from arena.server.runtime.wall_clock import correct, machine_us, now_us
from arena.server.sessions.messages import ListedNode
from arena.store import nodes
from arena.store.base.changes import Change
from arena.store.base.errors import JobLost, LeaseLost, NodeError, StoreError
from arena.store.base.statements import database_now
from arena.store.matches import contests
from arena.store.nodes import LEASE, REGISTERED, RENEWED, Lease, Meeting
from arena.store.store import Store

FIT: Final = "fit"
"""The job of the node that fits the ladders (computes their ratings)."""
LUCK: Final = "luck"
"""The job of the node that replays deals for the luck column."""
EVENTS: Final = "events"
"""The job of the node that runs all events."""
JOBS: Final = (FIT, LUCK, EVENTS)
LOOK: Final = 1.0
"""Seconds between two reads of other nodes' changes."""
RETRY: Final = 1.0
"""Seconds between two attempts to renew the lease."""
EVENT_SOON: Final = 60_000_000
"""Microseconds before an event's start at which its entrants learn which node runs it."""
BLOCK: Final = 64
"""Number of match numbers that a node reserves at once."""
_CLOCK: Final = getattr(time, "CLOCK_BOOTTIME", time.CLOCK_MONOTONIC)

Learn: TypeAlias = "Callable[[str], Awaitable[None]]"
ListFor: TypeAlias = "Callable[[int], Mapping[int, ListedNode]]"
"""Returns the list of nodes for a bot, given by its number."""

log = structlog.get_logger(__name__)


class LeaseOverError(NodeError):
    """The lease of this node has expired and has not been renewed."""

    def __init__(self, number: int, seconds: float) -> None:
        super().__init__(f"the lease of node {number} has been over for {seconds:.1f} s; it sends nothing without one")


class NodeReading(NamedTuple):
    """The result of one of the reads that a node performs once a second."""

    mark: int
    changes: Sequence[Change]
    living: Mapping[int, ListedNode]
    """The nodes with a valid lease, by number."""
    overdue: Sequence[int]
    """Other nodes whose leases have expired and whose matches are not interrupted yet."""
    meetings: Sequence[Meeting] = ()
    """Rated matches of other nodes, including ones that were read before."""
    entrants: frozenset[int] = frozenset()
    """The numbers of the bots that have entered an event that is being played or starts soon."""
    ahead: int = 0
    """The time by which the database's clock is ahead of this machine's, in microseconds."""


def instant() -> float:
    """Return the time of a clock that also runs while the machine or this process is suspended, in seconds."""
    return time.clock_gettime(_CLOCK)


class ThisNode:
    """This server as one of several nodes."""

    def __init__(
        self,
        store: Store,
        lease: Lease,
        asked: float,
        clock: Callable[[], float] = instant,
        can_do: Sequence[str] = JOBS,
    ) -> None:
        """`asked`: the time of `clock` from before the node registered. `can_do`: the jobs that it may get."""
        self.number: Final = lease.number
        self.living: Mapping[int, ListedNode] = {}
        """The nodes with a valid lease, by number."""
        self._entrants: frozenset[int] = frozenset()
        """The numbers of the bots that have entered an event that is being played or starts soon."""
        self._store: Final = store
        self._lease = lease
        self._clock: Final = clock
        self._can_do: Final = can_do
        self._until = asked + LEASE
        self._jobs: dict[str, bool] = dict.fromkeys(JOBS, False)
        self._acquired: dict[str, trio.Event] = {job: trio.Event() for job in JOBS}
        self._numbers: deque[int] = deque()
        self._reserving: Final = trio.Lock()
        self._mark = 0
        self._last_read: dict[int, int] = {}
        """By node, the number of its newest match that this node has read."""
        self._announced: tuple[Mapping[int, ListedNode], frozenset[int]] = ({}, frozenset())
        """The nodes and entrants of the lists that all connected bots know."""

    @property
    def holds(self) -> bool:
        """True if the node's lease is valid."""
        return self._clock() < self._until

    def require(self) -> None:
        """Check that the node's lease is valid. Raises: LeaseOverError."""
        if (over := self._clock() - self._until) >= 0:
            raise LeaseOverError(self.number, over)

    def does(self, job: str) -> bool:
        """Return whether this node currently does a job for all nodes."""
        return self._jobs[job] and self.holds

    async def acquired(self, job: str) -> None:
        """Wait until this node gets a job for the first time. A node that loses the job `EVENTS` is restarted."""
        await self._acquired[job].wait()

    async def next_number(self) -> int:
        """Return the number of this node's next match, higher than all its earlier ones. Raises: StoreError."""
        self.require()
        while not self._numbers:
            async with self._reserving:
                if not self._numbers:
                    job = partial(nodes.reserve_numbers, number=self.number, count=BLOCK)
                    self._numbers.extend(await self._store.write(job))
        return self._numbers.popleft()

    async def begin(self) -> None:
        """Read the list of nodes and the number of the latest change. Later reads start after that change. Raises:
        StoreError.
        """
        self._mark = await self._store.read(nodes.newest_change)
        seen = await self._look()
        self.living, self._entrants = seen.living, seen.entrants
        self._announced = self.living, self._entrants

    def list_for(self, bot_id: int) -> Mapping[int, ListedNode]:
        """Return the list of nodes for a bot. Only an entrant sees which node plays its event."""
        if bot_id in self._entrants:
            return self.living
        return {number: node._replace(plays_event=False) for number, node in self.living.items()}

    async def run(
        self,
        learn: Mapping[str, Learn],
        announce: Callable[[ListFor], None] = lambda _: None,
        meet: Callable[[str, Sequence[int]], None] = lambda *_: None,
    ) -> NoReturn:
        """Renew the lease and apply all changes, until cancelled. Raises: LeaseLost, JobLost.

        `learn`: by kind of change, a function that is called with the changed subject. The node also reads its own
        changes, so these functions must be idempotent. `announce` is called when the list of nodes changes for any bot.
        `meet` is called once for each rated match of another node, with the ladder's id and the bots.
        """
        async with trio.open_nursery() as nursery:
            nursery.start_soon(self._renew)
            while True:
                await trio.sleep(LOOK)
                try:
                    await self._follow(learn, meet)
                    self._announce(announce)
                except StoreError as error:
                    log.error("other nodes' changes cannot be read", error=str(error))

    def _announce(self, announce: Callable[[ListFor], None]) -> None:
        now = self.living, self._entrants
        if now != self._announced and self.number in self.living and self.holds:
            self._announced = now
            announce(self.list_for)

    async def release(self) -> None:
        """Release the lease. This node's running matches stay in its journal for the next start."""
        try:
            await self._store.write(partial(nodes.release, lease=self._lease))
        except StoreError as error:
            log.error("lease not released", node=self.number, error=str(error))

    async def _renew(self) -> NoReturn:
        while True:
            asked = self._clock()
            try:
                self._lease, jobs = await self._store.write(partial(_renew, lease=self._lease, can_do=self._can_do))
            except LeaseLost as error:
                self._until = asked
                log.error("this node's matches are not ours any more", node=self.number, error=str(error))
                raise
            except StoreError as error:
                log.error("lease not renewed yet", node=self.number, error=str(error), retry_in=RETRY)
                await trio.sleep(RETRY)
                continue
            if self._acquired[EVENTS].is_set() and EVENTS not in jobs:
                raise JobLost(self.number, EVENTS)
            self._until = asked + LEASE
            for job in jobs:
                if not self._jobs[job]:
                    log.info("this node does a job for all", node=self.number, job=job)
                self._acquired[job].set()
            self._jobs = {job: job in jobs for job in JOBS}
            await trio.sleep(RENEWED)

    async def _look(self) -> NodeReading:
        after = min([self._last_read.get(number, 0) for number in self.living if number != self.number], default=0)
        seen = await self._store.read(partial(_seen, mark=self._mark, after=after, number=self.number))
        if correct(seen.ahead):
            log.warning("this machine's clock is wrong; the database's is used", seconds=round(-seen.ahead / 1e6, 1))
        return seen

    async def _follow(self, learn: Mapping[str, Learn], meet: Callable[[str, Sequence[int]], None]) -> None:
        seen = await self._look()
        if {*seen.living} != {*self.living}:
            log.info("nodes", living=[*seen.living])
        self.living, self._entrants = seen.living, seen.entrants
        if seen.overdue and self.holds:
            found = await self._store.write(partial(nodes.interrupt_lost, at=now_us()))
            for number, matches in found.items():
                log.error("a node did not renew its lease: its matches are void", node=number, matches=[*matches])
        for kind, subject in seen.changes:
            await learn[kind](subject)
        for meeting in seen.meetings:
            if meeting.match_id > self._last_read.get(meeting.node, 0):
                self._last_read[meeting.node] = meeting.match_id
                meet(meeting.ladder_id, meeting.bots)
        self._mark = seen.mark


def _seen(connection: Connection, mark: int, after: int, number: int) -> NodeReading:
    now = database_now(connection)
    ahead, known = now - machine_us(), nodes.list_nodes(connection)
    registered = [node for node in known if node.state == REGISTERED]
    entrants = contests.entrants_by(connection, now + EVENT_SOON)
    event = nodes.holder_of(connection, EVENTS) if entrants else None
    alive = [node for node in registered if node.lease_until > now]
    living = {node.number: ListedNode(node.address, node.number == event) for node in alive}
    overdue = [node.number for node in registered if node.lease_until <= now and node.number != number]
    changes, meetings = nodes.changed_since(connection, mark), nodes.meetings(connection, number, after)
    return NodeReading(*changes, living, overdue, meetings, entrants, ahead)


def _renew(connection: Connection, lease: Lease, can_do: Sequence[str]) -> Any:
    """Renew a node's lease and the leases of its jobs. Acquire the jobs that it can do and no other node has."""
    renewed = nodes.renew(connection, lease)
    return renewed, [job for job in can_do if nodes.acquire(connection, job, lease.number)]
