"""How much and how often a bot may talk: what it was asked for is free, everything else is bounded."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import pytest
import trio
from trio.testing import MockClock, wait_all_tasks_blocked

from arena.server.door import COMINGS_SAVED, Door
from arena.server.limits import Limits
from arena.server.messages import Answer, Closed, Hello, Ready, Reason, Said
from arena.server.pace import THINGS_SAVED, TRAFFIC_SAVED, Allowance, Pace
from arena.server.session import Session
from arena.server.table import MOST_STRAYS, Table
from arena.store.bots import Bot as Row
from arena.store.bots import BotId
from tests.server.server_rig import Bot, Line, MemoryStore, answer, post, running

LIMITS = Limits(streams=2, things=10.0, traffic=1000.0, comings=0.5)


def said(at: float, answers: int = 1, size: int = 10) -> Said:
    return Said(at, (), [Answer(1, 1, 1)] * answers, None, size=size)


def test_an_allowance_fills_with_time_up_to_what_is_saved() -> None:
    allowance = Allowance(rate=2.0, saved=3.0)
    assert allowance.take(6, 100.0), "it is full in the beginning"
    assert not allowance.take(1, 100.0)
    assert not allowance.take(1, 100.25)
    assert allowance.take(1, 100.5)
    assert not allowance.take(1, 100.5)
    assert allowance.take(6, 1000.0)
    assert not allowance.take(0.5, 1000.0)
    assert not allowance.take(0.5, 999.0), "the past brings nothing"


def test_what_was_asked_for_is_free_at_any_speed() -> None:
    pace = Pace(LIMITS)
    for _ in range(10_000):
        pace.asked(5)
        pace.heard(said(1.0, answers=5, size=0))


def test_unasked_things_are_bounded_whether_in_one_message_or_in_many() -> None:
    most = round(LIMITS.things * THINGS_SAVED)
    for at_once in (1, 50, most):
        pace = Pace(LIMITS)
        for _ in range(most // at_once):
            pace.heard(said(1.0, at_once, size=0))
        with pytest.raises(Closed, match=r"^flooding: more than 10 answers and other things a second") as caught:
            pace.heard(said(1.0, 0, size=0))
        assert caught.value.reason is Reason.FLOODING


def test_what_was_asked_for_cannot_be_hoarded() -> None:
    pace = Pace(LIMITS)
    pace.asked(1_000_000)
    with pytest.raises(Closed):
        pace.heard(said(1.0, round(LIMITS.things * THINGS_SAVED) + 1))


def test_bytes_are_bounded() -> None:
    pace = Pace(LIMITS)
    most = round(LIMITS.traffic * TRAFFIC_SAVED)
    pace.heard(said(1.0, size=most))
    with pytest.raises(Closed, match=r"flooding: more than 0\.976562 KiB a second"):
        pace.heard(said(1.0, size=1))
    pace.heard(said(2.0, size=1000))


def row(number: int, owner: str) -> Row:
    return Row(BotId(number), f"bot-{number}", owner, False, 0)


def test_the_bots_of_an_owner_have_so_many_streams_and_those_of_others_their_own() -> None:
    door = Door(LIMITS)
    with ExitStack() as streams:
        for number in (1, 2):
            streams.enter_context(door.opened(row(number, "ann"), 0.0))
        with (
            pytest.raises(Closed, match="the bots of ann have 2 streams open") as caught,
            door.opened(row(3, "ann"), 0.0),
        ):
            pass
        assert caught.value.reason is Reason.FLOODING
        streams.enter_context(door.opened(row(4, "bob"), 0.0))
    with door.opened(row(3, "ann"), 0.0):
        pass


def test_a_bot_may_not_connect_too_often() -> None:
    door = Door(LIMITS)
    for _ in range(round(LIMITS.comings * COMINGS_SAVED)):
        with door.opened(row(1, "ann"), 0.0):
            pass
    with pytest.raises(Closed, match="bot-1 connects too often"), door.opened(row(1, "ann"), 0.0):
        pass
    with door.opened(row(2, "ann"), 0.0), door.opened(row(1, "ann"), 2.0):
        pass


async def test_a_flood_ends_the_stream_and_what_comes_after_is_not_heard(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    line, heard = Line(), list[Said]()
    session = Session(line, Hello(("counting",), 1, ""), post(), LIMITS)
    most = round(LIMITS.things * THINGS_SAVED)
    for _ in range(most + 100):
        line.say(answers=[Answer(1, 1, 1)])
    with pytest.raises(Closed) as caught:
        await session.run(heard.append)
    assert caught.value.reason is Reason.FLOODING
    assert len(heard) == most


async def test_a_stream_that_is_being_closed_hears_nothing_more(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    line, heard = Line(), list[Said]()
    session = Session(line, Hello(("counting",), 1, ""), post())
    line.say(answers=[Answer(1, 1, 1)])

    async def close() -> None:
        await wait_all_tasks_blocked()
        session.close(Reason.TAKEN_OVER, "enough")
        line.say(answers=[Answer(2, 2, 2)])

    nursery.start_soon(close)
    with pytest.raises(Closed):
        await session.run(heard.append)
    assert [each.answers[0].match_id for each in heard] == [1]


def recorded(table: Table) -> int:
    """How many inputs of a match are written down."""
    return sum(line.startswith('{"in":') for line in table._recorder.lines())


async def test_stale_answers_of_a_seat_are_recorded_up_to_a_limit_and_then_close_its_stream(
    nursery: trio.Nursery, autojump_clock: MockClock
) -> None:
    store = MemoryStore()
    async with running(store) as arena:
        good, bad = (Bot(store.register(name)) for name in ("good", "bad"))
        good.answers = bad.answers = False
        for bot in (good, bad):
            nursery.start_soon(bot.attend, arena)
        await bad.until(lambda: bad.questions)
        first = bad.questions[0]
        [table] = arena._floor._tables
        before = recorded(table)
        stray = replace(answer(first), decision=first.ask.decision + 7)
        for _ in range(MOST_STRAYS + 1):
            bad.line.say(answers=[stray])
        await bad.until(lambda: bad.end)
        assert isinstance(bad.end, Closed)
        assert bad.end.reason is Reason.FLOODING
        assert f"{MOST_STRAYS} answers to no open decision in match {first.match_id}" in str(bad.end)
        strays = recorded(table) - before
        assert MOST_STRAYS <= strays <= MOST_STRAYS + 5
        back = bad.again()
        nursery.start_soon(back.attend, arena)
        await back.until(lambda: back.questions)
        for _ in range(100):
            back.line.say(answers=[stray])
        await back.until(lambda: back.end)
        assert recorded(table) - before <= strays + 5, "it has used up what it had in this match"
        back = bad.again()
        nursery.start_soon(back.attend, arena)
        good.answers = True
        good.line.say(answers=[answer(each) for each in good.questions])
        await good.until(lambda: good.reports)
        assert good.reports[0].scores


async def test_ready_without_a_suspension_is_not_recorded(nursery: trio.Nursery, autojump_clock: MockClock) -> None:
    store = MemoryStore()
    async with running(store) as arena:
        bots = [Bot(store.register(name)) for name in ("ann", "bob")]
        for bot in bots:
            bot.answers = False
            nursery.start_soon(bot.attend, arena)
        await bots[0].until(lambda: bots[0].questions)
        [table] = arena._floor._tables
        before = recorded(table)
        for _ in range(50):
            bots[0].line.say(ready=[Ready(table.match_id, b"")])
        await wait_all_tasks_blocked()
        assert recorded(table) == before


def test_an_empty_message_counts_too() -> None:
    pace = Pace(LIMITS)
    nothing = Said(1.0, (), (), None)
    for _ in range(round(LIMITS.things * THINGS_SAVED)):
        pace.heard(nothing)
    with pytest.raises(Closed):
        pace.heard(nothing)
