"""The events of a server. One task runs each event from its announcement to its result, and continues after a restart.

The rows of `arena.store.matches.contests` are the state of an event; this module seats the event's tables. A table is a
match of the kind `EVENT`. After a restart it continues like other matches. It is rated on no ladder.
"""

from __future__ import annotations

import secrets
from contextlib import suppress
from dataclasses import replace
from functools import partial
from itertools import cycle
from typing import TYPE_CHECKING, Any, Final, TypeVar

import structlog
import trio

from arena.match.policy import ReadyLimits
from arena.replay.header import MatchKind
from arena.scheduling.event.course import race_document
from arena.scheduling.event.race import WHOLE
from arena.server.nodes.node import EVENTS
from arena.server.runtime.wall_clock import now_us
from arena.server.sessions.messages import Closed, Reason
from arena.server.sessions.player import BotPlayer
from arena.stderr import decisions_log
from arena.store import nodes
from arena.store.base.errors import BadEvent, EventRefused, Refused, StoreError
from arena.store.base.rows import MatchState
from arena.store.matches import contests
from arena.store.matches.contests import ANNOUNCED, PLAYING, EventRoll
from engine.deal import SEED_BYTES

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from sqlalchemy import Connection

    from arena.scheduling.event.course import EventCourse
    from arena.scheduling.event.race import EventTable
    from arena.server.config import Config, LadderSettings
    from arena.server.matches.ready_check import ReadyCheck, Replacement
    from arena.server.sessions.player import HousePlayer, Player
    from arena.server.sessions.players import Players
    from arena.server.workers.baselines import Baselines
    from arena.store.bots.bots import Bot
    from arena.store.matches.contests import EventPlan, StoredEvent, TableMatch
    from arena.store.store import Store

    Announce = Callable[[LadderSettings, Sequence[Player], MatchKind, Replacement], ReadyCheck]
    T = TypeVar("T")

RETRY: Final = 2.0
"""Seconds before the server retries storing a step, or seating a table that was called off."""
POLL: Final = 0.1
"""Seconds between two checks of which bots are ready for the next round."""
LONGEST_DECISIONS: Final = 60
"""Maximum wait of a round for a bot in another match: this number of soft limits per seat, plus the banks."""

log = structlog.get_logger(__name__)
decided = decisions_log()


class HeldEvent:
    """An unfinished event that this server runs."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.changed = trio.Event()
        """Wakes the event's task when a match or a ready check of the event ends, or the operator changes its state."""
        self.seating: set[int] = set()
        """Numbers of the tables that wait for their bots to be ready."""
        self.reserving: set[int] = set()
        """Numbers of the bots that reserve capacity for their next match of the event."""
        self.replaying: set[int] = set()
        """Numbers of the matches whose deals this server is replaying or has replayed."""


class Events:
    """All unfinished events of a server."""

    def __init__(
        self,
        config: Config,
        store: Store,
        players: Players,
        fillers: Mapping[str, Sequence[HousePlayer]],
        ladder_ids: Mapping[str, str],
        baselines: Baselines,
        post: Callable[[str, Mapping[str, Any]], None],
        node: int | None = None,
    ) -> None:
        """`fillers`: the house bots by ladder. `ladder_ids`: the ids of the current seasons, by ladder name.

        `post` sends messages to the webhook. `node`: the number of this server among several nodes.
        """
        self._node = node
        self._config = config
        self._store = store
        self._players = players
        self._fillers = fillers
        self._ladder_ids = ladder_ids
        self._baselines = baselines
        self._post = post
        self._ladders = {ladder.name: ladder for ladder in config.ladders}
        self._held: dict[str, HeldEvent] = {}
        self._announce: Announce | None = None
        self._nursery: trio.Nursery | None = None
        self._stopping = False

    async def run(self, announce: Announce, task_status: trio.TaskStatus[None] = trio.TASK_STATUS_IGNORED) -> None:
        """Run all events until cancelled; report as started once the events are read. `announce` is called with each
        table.
        """
        self._announce = announce
        async with trio.open_nursery() as self._nursery:
            unfinished = [event for event in await self._stored(contests.list_events) if not event.over]
            task_status.started()
            for event in unfinished:
                self._hold(event.plan.name, after_restart=True)
            await trio.sleep_forever()

    def close(self) -> None:
        """Seat no more tables, because the server is stopping."""
        self._stopping = True

    def ended(self, event: str, bots: Iterable[int]) -> None:
        """Record that a match of an event has ended and is stored. `event`: as in the header.

        Its bots reserve capacity at once for their next match of the event. Otherwise a rated match could come first,
        and the whole next round would wait for it.
        """
        held = self._held.get(event.partition("/")[0])
        if held is not None:
            for bot_id in bots:
                self._reserve(held, bot_id, True)
            held.changed.set()

    async def create(self, plan: EventPlan, entrants: Sequence[str]) -> None:
        """Announce an event. Raises what `contests.create` raises."""
        ladder = self._ladders.get(plan.ladder)
        if ladder is None:
            raise BadEvent(f"this server has the ladders {', '.join(self._ladders)}, not {plan.ladder!r}")
        if plan.seats not in ladder.seats:
            sizes = " or ".join(map(str, ladder.seats))
            raise BadEvent(f"the ladder {plan.ladder} has tables of {sizes}, not {plan.seats}: choose one of these")
        if not self._fillers[plan.ladder]:
            raise BadEvent(f"the ladder {plan.ladder} has no house bots, which fill tables of an event: set `house`")
        if (plan.matches or plan.seconds or 0) < 1:
            raise BadEvent("a budget of nothing decides nothing: give a number of matches, or a time such as 60m")
        if self._stopping:
            raise BadEvent("the server is stopping: announce the event after its start")
        seed = secrets.token_bytes(SEED_BYTES)
        await self._store.write(partial(contests.create, plan=plan, seed=seed, entrants=tuple(entrants), at=now_us()))
        decided.info("event announced", name=plan.name, ladder=plan.ladder, entrants=len(entrants))
        self._hold(plan.name)  # Done before the report, because a call can be cancelled there.
        await self._report("event_announced", plan.name, start=plan.start)

    async def enter(self, name: str, bot: str, invited: bool) -> None:
        """Enter a bot into an event. `invited`: true if the operator enters the bot. Raises what `contests.enter`
        raises.
        """
        await self._store.write(partial(contests.enter, name=name, bot=bot, at=now_us(), invited=invited))

    async def greet(self, bot: Bot, events: Sequence[tuple[str, bytes]], ladders: Sequence[str]) -> None:
        """Enter a connecting bot into the events that its hello names, except those that it has already entered.

        `events`: names with nonces. `ladders`: names of the bot's ladders.

        Raises: Closed: The bot cannot enter one of the events.
        """
        job = partial(contests.to_enter, bot=bot.name, names=[name for name, _ in events], ladders=ladders)
        try:
            for name in await self._store.read(job):
                await self.enter(name, bot.name, invited=False)
        except Refused as error:
            raise Closed(Reason.BAD_MESSAGE, f"hello.events: {error}") from error

    async def start(self, name: str) -> None:
        """Start an event at once with the bots that are connected. Raises what `contests.start` raises."""
        if self._stopping:
            raise EventRefused(f"the server is stopping: start the event {name} after the server's next start")
        if self._nursery is None:
            raise EventRefused(f"{await self._store.read(_holder)} holds the events: start the event {name} there")
        await self._check_in(await self._store.read(partial(contests.find, name=name)))

    async def cancel(self, name: str, reason: str) -> None:
        """Cancel an event that has not started. Raises what `contests.cancel` raises."""
        await self._store.write(partial(contests.cancel, name=name, reason=reason, at=now_us()))
        decided.info("event cancelled", name=name, reason=reason)
        self._wake(name)
        await self._report("event_cancelled", name, reason=reason)

    async def _report(self, kind: str, name: str, **fields: Any) -> None:
        """Send a message about an event, with the number of its newest log leaf, to the webhook."""
        leaf = await self._stored(partial(contests.newest_leaf, name=name))
        self._post(kind, {"event": name, **fields, "leaf": leaf})

    async def learn(self, name: str) -> None:
        """Take note of an event that another node has announced, started or cancelled."""
        event = await self._store.read(partial(contests.find, name=name))
        if name in self._held and event.state != ANNOUNCED:
            self._wake(name)
        elif name not in self._held and not event.over and not self._stopping:
            self._hold(name)

    def _wake(self, name: str) -> None:
        if (held := self._held.get(name)) is not None:
            held.changed.set()

    def _hold(self, name: str, after_restart: bool = False) -> None:
        if self._nursery is None:
            return  # Another node runs the events.
        held = self._held[name] = HeldEvent(name)
        self._nursery.start_soon(self._task, held, after_restart)

    async def _task(self, held: HeldEvent, after_restart: bool) -> None:
        try:
            event = await self._begun(held, after_restart)
            if event is None:
                return
            if event.plan.ladder not in self._ladders:
                log.error("event waits", name=held.name, error=f"this server has no ladder {event.plan.ladder}")
                return
            await self._play(event, held, after_restart)
        except Exception:
            log.exception("a fault of the server: the event waits for the next start", name=held.name)
        finally:
            for bot_id in [*held.reserving]:
                self._reserve(held, bot_id, False)
            self._held.pop(held.name, None)

    async def _begun(self, held: HeldEvent, after_restart: bool) -> StoredEvent | None:
        """Wait until an event is due and start it. Return None if the event is cancelled."""
        find = partial(contests.find, name=held.name)
        event = await self._stored(find)
        wait = max(0.0, (event.plan.start - now_us()) / 1e6)
        if after_restart:  # Bots need time to reconnect.
            wait = max(wait, self._config.policy.restart_hold / 1e6)
        if event.state == ANNOUNCED:
            with trio.move_on_after(wait):
                await held.changed.wait()
            event = await self._stored(find)
        if event.state == ANNOUNCED:
            if self._stopping:
                return None  # The next server starts it.
            try:
                event = await self._check_in(event)
            except EventRefused as error:
                with suppress(EventRefused):
                    await self.cancel(held.name, str(error))
                event = await self._stored(find)
        return event if event.state == PLAYING else None

    async def _check_in(self, event: StoredEvent) -> StoredEvent:
        """Start an event with the entrants that are connected. Raises what `contests.start` raises."""
        plan, ladder = event.plan, self._ladders.get(event.plan.ladder)
        if ladder is None or not self._fillers[plan.ladder]:
            raise EventRefused(f"this server has no ladder {plan.ladder} with house bots any more")
        nonces: dict[int, bytes] = {}
        for entrant in await self._store.read(partial(contests.entrants, event_id=event.id)):
            player = self._players.get(entrant.bot_id)
            if player is not None and player.session is not None and _plays(player, ladder):
                nonces[entrant.bot_id] = dict(player.session.hello.events).get(plan.name, b"")
        counted = partial(
            contests.earlier_matches,
            ladder_id=self._ladder_ids[plan.ladder],
            seats=plan.seats,
            options=dict(ladder.options),
            house=self._baselines.house(ladder.game.name),
        )
        earlier = await self._store.read(counted)
        job = partial(contests.start, name=plan.name, nonces=nonces, earlier=earlier, at=now_us())
        begun = await self._stored(job, writes=True)
        decided.info("event begun", name=plan.name, bots=len(nonces))
        self._wake(plan.name)
        await self._report("event_begun", plan.name, bots=len(nonces))
        return begun

    async def _play(self, event: StoredEvent, held: HeldEvent, after_restart: bool) -> None:
        """Play an event from its current state to its result."""
        course = await self._stored(partial(contests.course, event=event))
        stored = await self._stored(partial(contests.rolls, event_id=event.id))
        before, since = (stored[-1].used if stored else 0), trio.current_time()
        patience = (self._config.policy.restart_hold if after_restart else self._config.policy.grace) / 1e6
        for bot_id in course.still_in:
            self._reserve(held, bot_id, True)
        while not course.race.over:
            await self._play_tables(event, course, held)
            used = 0
            if event.plan.seconds is not None:
                passed = int(WHOLE * (trio.current_time() - since) / event.plan.seconds)
                used = min(WHOLE, before + passed)
            course.end_round(used)
            for bot_id in held.reserving - {*course.still_in}:
                self._reserve(held, bot_id, False)
            for bot_id in course.still_in:
                self._reserve(held, bot_id, True)
            present = () if course.race.over else await self._roll(event, course, patience)
            roll = EventRoll(course.rounds, present, used)
            await self._stored(partial(contests.call_roll, event=event, roll=roll, at=now_us()), writes=True)
            log.debug("event round", name=held.name, round=roll.number, present=len(present))
            if not course.race.over:
                course.begin_round(present, used)
            patience = self._config.policy.grace / 1e6
        result = race_document(course.race)
        await self._stored(partial(contests.finish, event=event, result=result, at=now_us()), writes=True)
        decided.info("event over", name=held.name, winner=result["winner"], matches=result["matches"])
        await self._report("event_over", held.name, winner=result["winner"], matches=result["matches"])

    async def _roll(self, event: StoredEvent, course: EventCourse, patience: float) -> tuple[int, ...]:
        """Return the bots that are ready for a round. Wait for missing bots as docs/events.md describes."""
        ladder = self._ladders[event.plan.ladder]
        begun = trio.current_time()
        policy = ladder.policy
        longest = event.plan.seats * (policy.bank + LONGEST_DECISIONS * policy.soft_limit) / 1e6
        while True:
            ready = tuple(bot_id for bot_id in course.still_in if self._ready(bot_id, ladder) is not None)
            waited = trio.current_time() - begun
            late = [bot_id for bot_id in course.still_in if bot_id not in ready]
            if all(waited >= (longest if self._here(bot_id) else patience) for bot_id in late) and not self._stopping:
                return ready
            await trio.sleep(POLL)

    async def _play_tables(self, event: StoredEvent, course: EventCourse, held: HeldEvent) -> None:
        """Seat the open tables and wait until each has a result."""
        while course.open_tables:
            held.changed, seating = trio.Event(), {*held.seating}
            first = min(table.number for table in course.open_tables)
            found = await self._stored(partial(contests.tables, event_id=event.id, first=first))
            playing = {each.number for each in found if each.state is MatchState.PLAYING}
            over = {each.number: each for each in found if each.played is not None}
            self._record(event, course, held, over)
            for table in course.open_tables:
                if table.number in over:
                    continue
                if table.number in playing:
                    for bot_id in course.seated(table):
                        if bot_id is not None and (player := self._players.get(bot_id)) is not None:
                            self._reserve(held, bot_id, player.busy == 0)
                # The rows that were read may be out of date.
                elif table.number not in seating | held.seating and not self._stopping:
                    held.seating.add(table.number)
                    assert self._nursery is not None, "`run` holds the events"
                    self._nursery.start_soon(self._seat, event, course, held, table)
            if course.open_tables:
                await held.changed.wait()

    def _record(self, event: StoredEvent, course: EventCourse, held: HeldEvent, over: Mapping[int, TableMatch]) -> None:
        """Record the results of finished tables. If a table's deals must be replayed first, start the replay."""
        assert self._nursery is not None, "`run` holds the events"
        for table in course.open_tables:
            if (found := over.get(table.number)) is None or found.played is None:
                continue
            self._back(course, held, table)
            if found.counts(event.earlier):
                course.record(table.number, found.played)
            elif found.match_id not in held.replaying:
                held.replaying.add(found.match_id)
                self._nursery.start_soon(self._replay, event, held, found.match_id)

    async def _replay(self, event: StoredEvent, held: HeldEvent, match_id: int) -> None:
        """Replay the deals of a match and store the baselines, for which the round waits."""
        house = event.earlier.house
        try:
            scores = await self._baselines.of_event(match_id, house)
            job = partial(contests.replayed, name=event.plan.name, match_id=match_id, house=house, scores=scores)
            await self._stored(job, writes=True)
        except Exception:
            log.exception("a fault of the server: the event waits for the next start", name=held.name)
        held.changed.set()

    async def _seat(self, event: StoredEvent, course: EventCourse, held: HeldEvent, table: EventTable) -> None:
        """Announce the match of a table once its bots are ready. After a while, house bots play for missing bots."""
        ladder, house = self._ladders[event.plan.ladder], cycle(reversed(self._fillers[event.plan.ladder]))
        seated = course.seated(table)
        with trio.move_on_after(self._config.policy.grace / 1e6):
            while any(bot_id is not None and self._ready(bot_id, ladder) is None for bot_id in seated):
                await trio.sleep(POLL)
        if self._stopping:
            return
        players: list[Player] = []
        for bot_id in seated:
            ready = None if bot_id is None else self._ready(bot_id, ladder)
            players.append(next(house) if ready is None else ready)
        answer = ladder.answer_limits.answer
        # Equal limits keep the ready check from offering a seat to another player while the bot may still answer.
        own = replace(ladder, answer_limits=ReadyLimits(answer, answer, answer))
        assert self._announce is not None, "`run` announces"
        ready_check = self._announce(own, players, MatchKind.EVENT, lambda check, at_once: next(house))
        ready_check.event = f"{event.plan.name}/{table.number}"
        ready_check.concluded = partial(self._seated, course, held, table)
        for bot_player in ready_check.invited:
            self._reserve(held, bot_player.bot_id, False)

    def _seated(
        self, course: EventCourse, held: HeldEvent, table: EventTable, match_id: int | None, failure: str | None
    ) -> None:
        """Record the end of a ready check: either a match starts, or the table is seated again later."""
        if match_id is not None:
            held.seating.discard(table.number)
            held.changed.set()
            return
        log.info("event table called off", name=held.name, table=table.number, why=failure)
        self._back(course, held, table)
        if self._nursery is not None and not self._stopping:
            self._nursery.start_soon(self._again, held, table)

    async def _again(self, held: HeldEvent, table: EventTable) -> None:
        await trio.sleep(RETRY)
        held.seating.discard(table.number)
        held.changed.set()

    def _back(self, course: EventCourse, held: HeldEvent, table: EventTable) -> None:
        """Reserve capacity again for the bots of a table that has ended."""
        for bot_id in course.seated(table):
            if bot_id is not None and bot_id in course.still_in:
                self._reserve(held, bot_id, True)

    def _reserve(self, held: HeldEvent, bot_id: int, reserve: bool) -> None:
        """Reserve capacity for a bot's next match of the event, or release it."""
        if reserve is (bot_id in held.reserving):
            return
        held.reserving ^= {bot_id}
        self._players.availability(bot_id).reserved += 1 if reserve else -1
        if (player := self._players.get(bot_id)) is not None:
            self._players.changed(player)

    def _here(self, bot_id: int) -> bool:
        """Return whether a bot is connected."""
        player = self._players.get(bot_id)
        return player is not None and player.session is not None

    def _ready(self, bot_id: int, ladder: LadderSettings) -> BotPlayer | None:
        """Return a bot if it can play a match of the event now, otherwise None."""
        player = self._players.get(bot_id)
        if player is None or player.session is None or not _plays(player, ladder):
            return None
        return player if player.busy < min(player.session.capacity, self._config.matches_per_bot) else None

    async def _stored(self, job: Callable[[Connection], T], writes: bool = False) -> T:
        """Run a job of the store, retrying until it succeeds or is refused.

        A node stores nothing once another one holds the events.
        """
        if writes and self._node is not None:
            job = partial(_as_holder, job=job, node=self._node)
        while True:
            try:
                return await (self._store.write(job) if writes else self._store.read(job))
            except StoreError as error:
                log.error("event not stored yet", error=str(error), retry_in=RETRY)
                await trio.sleep(RETRY)


def _as_holder(connection: Connection, job: Callable[[Connection], T], node: int) -> T:
    """Run a job if the given node holds the events. Raises: JobLost, and what the job raises."""
    nodes.require_job(connection, EVENTS, node)
    return job(connection)


def _holder(connection: Connection) -> str:
    """Describe the node that holds all events."""
    number = nodes.holder_of(connection, EVENTS)
    address = {node.number: node.address for node in nodes.living(connection)}.get(number or 0)
    return "another node soon" if address is None else f"node {number} at {address}"


def _plays(player: BotPlayer, ladder: LadderSettings) -> bool:
    """Return whether a connected bot plays on a ladder and is not parked there."""
    return ladder.name in player.ladders and ladder.further_name not in player.parked
