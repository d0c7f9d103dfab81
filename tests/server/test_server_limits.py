"""Limits on a bot's messages: answers to questions are free, and everything else is limited."""

from __future__ import annotations

from contextlib import ExitStack
from dataclasses import replace

import pytest
import trio
from trio.testing import wait_all_tasks_blocked

from arena.server.matches.driver import MOST_STRAYS, MatchDriver
from arena.server.sessions.admission import CONNECTS_SAVED, Admission
from arena.server.sessions.limits import Limits
from arena.server.sessions.messages import Answer, BotMessage, Closed, Hello, Ready, Reason
from arena.server.sessions.rate_limit import BYTES_SAVED, UNSOLICITED_SAVED, RateLimit, TokenBucket
from arena.server.sessions.session import Session
from arena.store.bots.bots import Bot as Row
from arena.store.bots.bots import BotId
from tests.server.server_rig import CODEC, Bot, Hall, Line, MemoryStore, answer, turns

pytestmark = pytest.mark.virtual_clock

LIMITS = Limits(streams_per_owner=2, unsolicited_rate=10.0, byte_rate=1000.0, connect_rate=0.5)


def rate_limit() -> RateLimit:
    return RateLimit(LIMITS.unsolicited_rate, LIMITS.byte_rate)


def test_an_allowance_fills_with_time_up_to_what_is_saved() -> None:
    allowance = TokenBucket(rate=2.0, saved=3.0)
    assert allowance.take(6, 100.0), "it is full in the beginning"
    assert not allowance.take(1, 100.0)
    assert not allowance.take(1, 100.25)
    assert allowance.take(1, 100.5)
    assert not allowance.take(1, 100.5)
    assert allowance.take(6, 1000.0)
    assert not allowance.take(0.5, 1000.0)
    assert not allowance.take(0.5, 999.0), "the past brings nothing"


def test_what_was_asked_for_is_free_at_any_speed() -> None:
    limit = rate_limit()
    for _ in range(10_000):
        limit.asked(5)
        assert limit.exceeded(5, 0, 1.0) == ""


def test_unasked_things_are_bounded_whether_in_one_message_or_in_many() -> None:
    most = round(LIMITS.unsolicited_rate * UNSOLICITED_SAVED)
    for at_once in (1, 50, most):
        limit = rate_limit()
        for _ in range(most // at_once):
            assert limit.exceeded(at_once, 0, 1.0) == ""
        assert limit.exceeded(1, 0, 1.0).startswith("flooding: more than 10 answers and other things a second")


def test_what_was_asked_for_cannot_be_hoarded() -> None:
    limit = rate_limit()
    limit.asked(1_000_000)
    assert limit.exceeded(round(LIMITS.unsolicited_rate * UNSOLICITED_SAVED) + 1, 0, 1.0)


def test_bytes_are_bounded() -> None:
    limit = rate_limit()
    most = round(LIMITS.byte_rate * BYTES_SAVED)
    assert limit.exceeded(1, most, 1.0) == ""
    assert limit.exceeded(1, 1, 1.0).startswith("flooding: more than 0.976562 KiB a second")
    assert limit.exceeded(1, 1000, 2.0) == ""


def row(number: int, owner: str) -> Row:
    return Row(BotId(number), f"bot-{number}", owner, False, 0)


def test_the_bots_of_an_owner_have_so_many_streams_and_those_of_others_their_own() -> None:
    admission = Admission(LIMITS)
    with ExitStack() as streams:
        for number in (1, 2):
            streams.enter_context(admission.opened(row(number, "ann"), 0.0))
        with (
            pytest.raises(Closed, match="the bots of ann have 2 streams open") as caught,
            admission.opened(row(3, "ann"), 0.0),
        ):
            pass
        assert caught.value.reason is Reason.FLOODING
        streams.enter_context(admission.opened(row(4, "bob"), 0.0))
    with admission.opened(row(3, "ann"), 0.0):
        pass


def test_a_bot_may_not_connect_too_often() -> None:
    admission = Admission(LIMITS)
    for _ in range(round(LIMITS.connect_rate * CONNECTS_SAVED)):
        with admission.opened(row(1, "ann"), 0.0):
            pass
    with pytest.raises(Closed, match="bot-1 connects too often"), admission.opened(row(1, "ann"), 0.0):
        pass
    with admission.opened(row(2, "ann"), 0.0), admission.opened(row(1, "ann"), 2.0):
        pass


async def test_a_flood_ends_the_stream_and_what_comes_after_is_not_heard(nursery: trio.Nursery) -> None:
    line, heard = Line(), list[BotMessage]()
    session = Session(line, CODEC, Hello(("counting",), 1, ""), turns(), LIMITS)
    most = round(LIMITS.unsolicited_rate * UNSOLICITED_SAVED)
    for _ in range(most + 100):
        line.say(answers=[Answer(1, 1, 1)])
    with pytest.raises(Closed) as caught:
        await session.run(heard.append)
    assert caught.value.reason is Reason.FLOODING
    assert len(heard) == most


async def test_a_stream_that_is_being_closed_hears_nothing_more(nursery: trio.Nursery) -> None:
    line, heard = Line(), list[BotMessage]()
    session = Session(line, CODEC, Hello(("counting",), 1, ""), turns())
    line.say(answers=[Answer(1, 1, 1)])

    async def close() -> None:
        await wait_all_tasks_blocked()
        session.close(Reason.TAKEN_OVER, "enough")
        line.say(answers=[Answer(2, 2, 2)])

    nursery.start_soon(close)
    with pytest.raises(Closed):
        await session.run(heard.append)
    assert [each.answers[0].match_id for each in heard] == [1]


def recorded(table: MatchDriver) -> int:
    """Return the number of recorded inputs of a match."""
    return sum(line.startswith('{"in":') for line in table._recorder.lines())


async def test_stale_answers_of_a_seat_are_recorded_up_to_a_limit_and_then_close_its_stream(
    hall: Hall, store: MemoryStore
) -> None:
    async with hall.open() as arena:
        good, bad = (Bot(store.register(name)) for name in ("good", "bad"))
        good.answers = bad.answers = False
        for bot in (good, bad):
            hall.join(bot)
        await bad.until(lambda: bad.questions)
        first = bad.questions[0]
        [table] = arena._lifecycle.drivers
        assert isinstance(table, MatchDriver)
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
        hall.join(back)
        await back.until(lambda: back.questions)
        for _ in range(100):
            back.line.say(answers=[stray])
        await back.until(lambda: back.end)
        assert recorded(table) - before <= strays + 5, "it has used up what it had in this match"
        back = bad.again()
        hall.join(back)
        good.answers = True
        good.line.say(answers=[answer(each) for each in good.questions])
        await good.until(lambda: good.reports)
        assert good.reports[0].scores


async def test_ready_without_a_suspension_is_not_recorded(hall: Hall, store: MemoryStore) -> None:
    async with hall.open() as arena:
        bots = [Bot(store.register(name)) for name in ("ann", "bob")]
        for bot in bots:
            bot.answers = False
            hall.join(bot)
        await bots[0].until(lambda: bots[0].questions)
        [table] = arena._lifecycle.drivers
        assert isinstance(table, MatchDriver)
        before = recorded(table)
        for _ in range(50):
            bots[0].line.say(ready=[Ready(table.match_id, b"")])
        await wait_all_tasks_blocked()
        assert recorded(table) == before


def test_an_empty_message_counts_too() -> None:
    limit = rate_limit()
    for _ in range(round(LIMITS.unsolicited_rate * UNSOLICITED_SAVED)):
        assert limit.exceeded(0, 0, 1.0) == ""
    assert limit.exceeded(0, 0, 1.0)
