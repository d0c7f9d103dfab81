"""Public data of running matches: finished rounds after they are stored, equal to those that every seat received."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from arena.match.effects import Over
from arena.replay.header import Header
from arena.server.matches.live import MOST_UNREAD, PUSH_INTERVAL, LiveEvent, LiveMatches, LiveWatcher
from arena.server.runtime.turns import Turns
from arena.server.sessions.messages import Outgoing
from arena.store.base.errors import StoreError
from engine.game import RoundReport
from tests.server.server_rig import Bot, Hall, MemoryStore, turns

pytestmark = pytest.mark.virtual_clock


class Recording(Bot):
    """A bot that records the reports of rounds."""

    def hear(self, message: Outgoing) -> None:
        self.seen: list[RoundReport]
        self.seen = [*getattr(self, "seen", ()), *(each.report for each in message.rounds)]
        super().hear(message)
        self.accepts = not self.starts  # a single match, because with more of them virtual time would never pass


class Spectator:
    """A watcher that reads pushed events."""

    def __init__(self, live: LiveMatches) -> None:
        self.live = live
        self.events: list[LiveEvent] = []
        self.pushes: list[float] = []

    async def run(self) -> None:
        with self.live.watch() as watcher:
            while True:
                self.events += (await watcher.next()).events
                self.pushes.append(trio.current_time())

    def of(self, match_id: int) -> list[RoundReport | Over | None]:
        return [event.what for event in self.events if event.match.match_id == match_id]


async def test_a_match_begins_rounds_end_it_ends_and_it_is_what_the_seats_were_sent(
    hall: Hall, store: MemoryStore, nursery: trio.Nursery
) -> None:
    ann, bob = (Recording(store.register(name)) for name in ("ann", "bob"))
    async with hall.open() as arena:
        spectator = Spectator(arena.live)
        nursery.start_soon(spectator.run)
        await wait_all_tasks_blocked()
        for bot in (ann, bob):
            hall.join(bot)
        await ann.until(lambda: ann.reports)
        match_id = ann.reports[0].match_id
        await trio.sleep(2 * PUSH_INTERVAL)
    began, *rounds, over = spectator.of(match_id)
    assert began is None
    assert isinstance(over, Over)
    assert (over.scores, over.places) == (ann.reports[0].scores, ann.reports[0].places)
    assert rounds == ann.seen == bob.seen, "no more than every seat was sent"
    match = spectator.events[0].match
    assert match.rounds == rounds
    assert {*match.bots} == {"ann", "bob"}
    assert min(b - a for a, b in zip(spectator.pushes, spectator.pushes[1:], strict=False)) >= PUSH_INTERVAL - 1e-9


async def test_a_round_that_is_being_played_is_nobodys_business(
    hall: Hall, store: MemoryStore, nursery: trio.Nursery
) -> None:
    ann, bob = (Recording(store.register(name)) for name in ("ann", "bob"))
    ann.answers = bob.answers = False
    async with hall.open() as arena:
        spectator = Spectator(arena.live)
        nursery.start_soon(spectator.run)
        for bot in (ann, bob):
            hall.join(bot)
        await ann.until(lambda: ann.invitations)
        assert arena.live.running == [], "an invitation is not the beginning"
        await ann.until(lambda: ann.questions)
        await trio.sleep(2 * PUSH_INTERVAL)
        (match,) = arena.live.running
        assert spectator.of(match.match_id) == [None]
        assert match.rounds == []
        kept = {name: getattr(match, name) for name in type(match).__slots__}
        assert {*kept} == {"bots", "game", "kind", "ladder_id", "match_id", "rounds", "started"}, (
            "nothing of the deal is at hand"
        )


async def test_what_cannot_be_stored_is_not_shown(nursery: trio.Nursery) -> None:
    broken = True

    def commit() -> None:
        if broken:
            raise StoreError("the disk is full")

    of_turns = Turns(commit, 2.0)
    live = LiveMatches(of_turns)
    nursery.start_soon(of_turns.run)
    nursery.start_soon(live.run)
    spectator = Spectator(live)
    nursery.start_soon(spectator.run)
    await wait_all_tasks_blocked()
    live.began(header(1))
    await trio.sleep(1.0)
    assert (live.running, spectator.events) == ([], [])
    broken = False
    await trio.sleep(3.0)
    assert [each.match_id for each in live.running] == [1]
    assert len(spectator.events) == 1


async def test_who_comes_between_two_pushes_hears_nothing_twice_and_misses_nothing(nursery: trio.Nursery) -> None:
    of_turns = turns()
    live = LiveMatches(of_turns)
    nursery.start_soon(of_turns.run)
    nursery.start_soon(live.run)
    first = Spectator(live)
    nursery.start_soon(first.run)
    await wait_all_tasks_blocked()
    live.began(header(1))
    await wait_all_tasks_blocked()  # pushed; the next push is due in a quarter of a second
    live.began(header(2))
    await wait_all_tasks_blocked()
    second = Spectator(live)
    known = [each.match_id for each in live.running]
    nursery.start_soon(second.run)
    await wait_all_tasks_blocked()
    live.began(header(3))
    await trio.sleep(1.0)
    assert [each.match.match_id for each in first.events] == [1, 2, 3]
    assert known == [1, 2]
    assert [each.match.match_id for each in second.events] == [3]
    assert first.events[-1] is second.events[-1], "one event for all, so that it is encoded once"


async def test_a_watcher_that_never_reads_is_dropped_after_bounded_memory(nursery: trio.Nursery) -> None:
    of_turns = turns()
    live = LiveMatches(of_turns)
    nursery.start_soon(of_turns.run)
    nursery.start_soon(live.run)
    with live.watch() as watcher:
        for number in range(MOST_UNREAD):
            live.began(header(number))
        await trio.sleep(1.0)
        assert not watcher.dropped
        live.began(header(MOST_UNREAD))
        await trio.sleep(1.0)
        assert watcher.dropped
        assert watcher.scope.cancel_called
        assert unread(watcher) == 0, "what it left is forgotten"
    assert live.watchers == 0


async def test_matches_that_ended_are_counted_for_a_minute(nursery: trio.Nursery) -> None:
    live = LiveMatches(turns())
    for number in (1, 2):
        live.began(header(number))
        live.over(number, Over((1,), (1,), (0,), (False,), (True,), ""))
    game = header(1).game.name
    assert (live.ended(game), live.ended("chess")) == (2, 0)
    await trio.sleep(61.0)
    assert live.ended(game) == 0


async def test_a_server_that_takes_a_match_up_shows_the_rounds_before_it(hall: Hall, store: MemoryStore) -> None:
    ann, bob = (Recording(store.register(name)) for name in ("ann", "bob"))
    async with hall.open() as arena:
        for bot in (ann, bob):
            hall.join(bot)
        await ann.until(lambda: ann.rounds)
        ann.answers = bob.answers = False
        await wait_all_tasks_blocked()
        (before,) = arena.live.running
        assert before.rounds == ann.seen
    store.reopen()
    async with hall.open() as arena:
        await wait_all_tasks_blocked()
        (after,) = arena.live.running
        assert (after.match_id, after.rounds, after.bots) == (before.match_id, before.rounds, before.bots)


def unread(watcher: LiveWatcher) -> int:
    waiting: Sequence[Any] = watcher._waiting
    return len(waiting)


def header(number: int) -> Header:
    from arena.match.policy import Policy
    from arena.replay.header import MatchKind, SeatedBot
    from tests.server.server_rig import GAME

    bots = (SeatedBot("ann", False, False), SeatedBot("bob", False, False))
    return Header(
        match_id=number,
        game=GAME,
        options={},
        bots=bots,
        seed=bytes(32),
        commitment=bytes(32),
        nonces=(bytes(16), bytes(16)),
        stand_in="house",
        policy=Policy(),
        started=number,
        server="test",
        kind=MatchKind.RATED,
        offers=(),
    )
