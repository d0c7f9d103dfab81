"""Messages at the end of a turn, and their order relative to the journal."""

from __future__ import annotations

from typing import TYPE_CHECKING, cast

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from arena.server.runtime.turns import Turns
from arena.store.base.errors import StoreError

if TYPE_CHECKING:
    from arena.server.sessions.session import Session

RETRY = 2.0


class Sender:
    """A session that records when it sends. Some sessions have another message at once."""

    def __init__(self, name: str, done: list[str], then: Sender | None = None) -> None:
        self._name = name
        self._done = done
        self._then = then
        self.turns: Turns

    def send(self) -> None:
        self._done.append(self._name)
        if self._then is not None:
            self.turns.due(cast("Session", self._then))


class Rig:
    """Turns whose journal can fail."""

    def __init__(self) -> None:
        self.done: list[str] = []
        self.failures = 0
        self.told: list[str] = []
        self.turns = Turns(self._commit, RETRY, lambda error: self.told.append(str(error)))

    def session(self, name: str, then: Sender | None = None) -> Session:
        sender = Sender(name, self.done, then)
        sender.turns = self.turns
        return cast("Session", sender)

    def _commit(self) -> None:
        if self.failures:
            self.failures -= 1
            raise StoreError("the disk is full")
        self.done.append("commit")


@pytest.fixture
def rig() -> Rig:
    return Rig()


def test_a_turn_is_committed_once_before_anybody_sends_and_each_sends_once(rig: Rig) -> None:
    ann, bob = rig.session("ann"), rig.session("bob")
    with rig.turns:
        for session in (ann, bob, ann):
            rig.turns.due(session)
        assert rig.done == []
    assert rig.done == ["commit", "ann", "bob"]
    with rig.turns:
        pass
    assert rig.done == ["commit", "ann", "bob"], "a turn in which nobody has anything to say costs nothing"


def test_what_sending_leads_to_is_committed_before_it_leaves(rig: Rig) -> None:
    bob = rig.session("bob")
    with rig.turns:
        rig.turns.due(rig.session("ann", cast("Sender", bob)))
    assert rig.done == ["commit", "ann", "commit", "bob"]


def test_what_sending_leads_to_is_committed_even_where_others_are_due_to_send_already(rig: Rig) -> None:
    bob = rig.session("bob")
    with rig.turns:
        rig.turns.due(rig.session("ann", cast("Sender", bob)))
        rig.turns.due(bob)
        rig.turns.due(rig.session("eve"))
    assert rig.done == ["commit", "ann", "eve", "commit", "bob"]


async def test_what_happens_outside_of_the_wires_turns_has_a_turn_of_its_own(rig: Rig, nursery: trio.Nursery) -> None:
    nursery.start_soon(rig.turns.run)
    for name in ("ann", "bob"):
        rig.turns.due(rig.session(name))
        await wait_all_tasks_blocked()
    assert rig.done == ["commit", "ann", "commit", "bob"]


async def test_nothing_leaves_while_the_journal_cannot_be_written(
    rig: Rig, nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    nursery.start_soon(rig.turns.run)
    rig.failures = 2
    began = trio.current_time()
    with rig.turns:
        rig.turns.due(rig.session("ann"))
    with rig.turns:
        rig.turns.due(rig.session("bob"))
    await trio.sleep(1.5 * RETRY)
    assert rig.done == []
    assert rig.told == ["the disk is full"], "once"
    assert rig.failures == 0, "it is tried again, but not with every turn"
    while not rig.done:
        await trio.sleep(0.1)
    assert rig.done == ["commit", "ann", "bob"]
    assert rig.told == ["the disk is full", "None"]
    assert trio.current_time() - began == pytest.approx(2 * RETRY, abs=0.2)
