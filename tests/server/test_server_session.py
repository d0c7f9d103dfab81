"""The stream of one bot: the order and the end of its messages. In memory, with a virtual clock."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple, cast

import pytest
import trio
from arena_client.v1 import play_pb2
from google.protobuf.any_pb2 import Any as Any_
from trio.testing import wait_all_tasks_blocked

from arena.api.codec import PROTOBUF
from arena.match.effects import Ask
from arena.match.policy import ReadyLimits
from arena.replay.header import MatchKind
from arena.server.sessions.messages import (
    MAX_RESPONSE,
    BotMessage,
    Closed,
    Hello,
    MatchOver,
    MessageCodec,
    Notice,
    NoticeKind,
    Outgoing,
    Reason,
    Welcome,
)
from arena.server.sessions.session import CLOSE_TIMEOUT, MOST_NOTICES, SEND_LIMIT, Session
from tests.server.server_rig import CODEC, GAME, POLICY, Line, turns
from trio_grpc.limits.settings import TransportSettings

pytestmark = pytest.mark.virtual_clock

if TYPE_CHECKING:
    from collections.abc import Callable

    from arena.server.sessions.session import Sent

HELLO = Hello(("counting",), 6, "test")


class Asking:
    """A match that records its sent questions and their times."""

    def __init__(self, match_id: int) -> None:
        self.match_id = match_id
        self.went: list[tuple[float, int]] = []
        self.lags: list[int] = []

    def ask(self, session: Session, decision: int) -> None:
        session.ask(self.match_id, ask(decision), self._sent)

    def _sent(self, now: float, seat: int, decision: int, lag: int) -> None:
        self.went.append((now, decision))
        self.lags.append(lag)


class View(NamedTuple):
    seat: int


def ask(decision: int) -> Ask:
    return Ask(0, decision, (1, 2), View(0), 1000, 1000)


def asked(message: Outgoing | None) -> list[tuple[int, int]]:
    assert message is not None, "nothing was sent"
    return [(question.match_id, question.ask.decision) for question in message.questions]


class Rig:
    """A running session, its received messages, and its end."""

    def __init__(
        self,
        nursery: trio.Nursery,
        line: Line | None = None,
        codec: MessageCodec = CODEC,
        hello: Hello = HELLO,
        begun: trio.Event | None = None,
    ) -> None:
        """`begun` is an event for which the session waits."""
        self.begun = begun
        self.line = line or Line()
        sending = turns()
        self.session = Session(self.line, codec, hello, sending)
        self.heard: list[BotMessage] = []
        self.end: BaseException | None = None
        self.over = trio.Event()
        nursery.start_soon(self._run)
        nursery.start_soon(sending.run)

    async def _run(self) -> None:
        if self.begun is not None:
            await self.begun.wait()
        try:
            await self.session.run(self.heard.append)
        except (Closed, trio.BrokenResourceError) as end:
            self.end = end
        self.over.set()

    async def sent(self) -> Outgoing | None:
        await wait_all_tasks_blocked()
        return self.line.unread()


@pytest.fixture
async def rig(nursery: trio.Nursery) -> Rig:
    return Rig(nursery)


async def test_what_waits_goes_out_in_one_message(rig: Rig) -> None:
    one, other = Asking(1), Asking(2)
    rig.session.welcome(Welcome("ann", (GAME,), POLICY, ReadyLimits(30.0, 2.0, 3.0), 3, 8, 10.0, TransportSettings()))
    rig.session.notify(Notice(NoticeKind.UNKNOWN, "a"))
    one.ask(rig.session, 1)
    other.ask(rig.session, 7)
    message = await rig.sent()
    assert asked(message) == [(1, 1), (2, 7)]
    assert message is not None
    assert message.welcome is not None
    assert [notice.text for notice in message.notices] == ["a"]
    assert rig.line.unread() is None


async def test_questions_wait_together_while_an_answer_is_owed(rig: Rig) -> None:
    one, other = Asking(1), Asking(2)
    one.ask(rig.session, 1)
    assert asked(await rig.sent()) == [(1, 1)]
    other.ask(rig.session, 1)
    other.ask(rig.session, 2)
    assert await rig.sent() is None
    rig.session.settle(1, 1, trio.current_time())
    assert asked(await rig.sent()) == [(2, 1), (2, 2)]


async def test_a_partial_answer_keeps_the_batch_in_flight(rig: Rig) -> None:
    one = Asking(1)
    one.ask(rig.session, 1)
    one.ask(rig.session, 2)
    assert asked(await rig.sent()) == [(1, 1), (1, 2)]
    one.ask(rig.session, 3)
    rig.session.settle(1, 2, trio.current_time())
    assert await rig.sent() is None
    rig.session.settle(1, 1, trio.current_time())
    assert asked(await rig.sent()) == [(1, 3)]


async def test_a_question_withdrawn_is_closed_for_a_bot_that_has_it_and_only_then(
    rig: Rig,
) -> None:
    Asking(1).ask(rig.session, 1)
    assert asked(await rig.sent()) == [(1, 1)]
    Asking(2).ask(rig.session, 1)
    rig.session.withdraw(2, 1)
    assert await rig.sent() is None, "it was never asked, so it learns nothing"
    rig.session.withdraw(1, 1)
    message = await rig.sent()
    assert message is not None
    assert (message.closed, message.questions) == ([(1, 1)], [])
    rig.session.withdraw(1, 1)
    assert await rig.sent() is None


async def test_a_bot_that_thinks_about_half_of_its_matches_is_asked_about_the_other_half(rig: Rig) -> None:
    for match in range(6):
        Asking(match).ask(rig.session, 1)
    assert asked(await rig.sent()) == [(0, 1), (1, 1), (2, 1)], "a message has half of what it can play at most"
    assert asked(rig.line.unread()) == [(3, 1), (4, 1), (5, 1)], "and the other half does not wait"
    for match in (0, 3):
        rig.session.settle(match, 1, trio.current_time())
        Asking(match).ask(rig.session, 2)
    assert await rig.sent() is None
    rig.session.settle(4, 1, trio.current_time())
    Asking(4).ask(rig.session, 2)
    assert asked(await rig.sent()) == [(0, 2), (3, 2), (4, 2)]
    rig.session.capacity = 1
    Asking(9).ask(rig.session, 1)
    assert asked(await rig.sent()) == [(9, 1)], "it has said that it can play fewer"


async def test_a_question_settled_before_it_was_sent_never_goes_out(rig: Rig) -> None:
    one = Asking(1)
    one.ask(rig.session, 1)
    assert asked(await rig.sent()) == [(1, 1)]
    one.ask(rig.session, 2)
    rig.session.settle(1, 2, trio.current_time())
    rig.session.settle(1, 1, trio.current_time())
    assert await rig.sent() is None
    assert [decision for _, decision in one.went] == [1]


async def test_everything_but_questions_goes_out_at_once(rig: Rig) -> None:
    Asking(1).ask(rig.session, 1)
    assert asked(await rig.sent()) == [(1, 1)]
    Asking(1).ask(rig.session, 2)
    rig.session.notify(Notice(NoticeKind.STALE, "late"))
    message = await rig.sent()
    assert asked(message) == []
    assert message is not None
    assert [notice.text for notice in message.notices] == ["late"]


async def test_the_clock_of_a_question_starts_when_the_transport_has_it(nursery: trio.Nursery) -> None:
    line, one = Line(reads=False), Asking(1)
    rig = Rig(nursery, line)
    one.ask(rig.session, 1)
    await trio.sleep(SEND_LIMIT / 2)
    assert one.went == []
    line.vanish()
    await rig.over.wait()
    assert one.went == []


async def test_a_question_that_the_bot_has_is_not_put_to_it_twice(rig: Rig) -> None:
    one = Asking(1)
    one.ask(rig.session, 1)
    assert asked(await rig.sent()) == [(1, 1)]
    await trio.sleep(5)
    one.ask(rig.session, 1)
    assert await rig.sent() is None
    first, again = one.went
    assert again == (first[0] + 5, 1), "its clock starts anew"


async def beaten(rig: Rig, seconds: float) -> None:
    """Answer a heartbeat after the given number of seconds."""
    rig.session.beat(trio.current_time())
    message = await rig.sent()
    assert message is not None
    assert message.heartbeat is not None
    await trio.sleep(seconds)
    rig.session.beaten(trio.current_time(), message.heartbeat)


async def test_the_round_trip_is_measured_by_heartbeats(rig: Rig) -> None:
    await beaten(rig, 0.25)
    assert rig.session.round_trip == pytest.approx(0.25, abs=1e-5)


async def test_the_table_is_told_the_shortest_round_trip(rig: Rig) -> None:
    """Heartbeats are answered late, decisions sooner, and the bot's system acknowledges bytes sooner still."""
    one = Asking(1)
    for decision, (late, thought) in enumerate(((0.3, 0.2), (0.3, 0.1), (0.3, 0.15)), 1):
        if decision == 3:
            rig.line.acknowledged = 0.002
        await beaten(rig, late)
        one.ask(rig.session, decision)
        await rig.sent()
        await trio.sleep(thought)
        rig.session.settle(1, decision, trio.current_time())
    assert one.lags == [300_000, 200_000, 2_000]


async def test_a_question_that_is_taken_back_tells_no_round_trip(rig: Rig) -> None:
    await beaten(rig, 0.25)
    Asking(1).ask(rig.session, 1)
    await rig.sent()
    rig.session.withdraw(1, 1)
    assert rig.session.round_trip == pytest.approx(0.25, abs=1e-5)


async def test_a_bot_that_does_not_read_is_cut_off(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, Line(reads=False))
    rig.session.notify(Notice(NoticeKind.UNKNOWN, "a"))
    begin = trio.current_time()
    await rig.over.wait()
    assert trio.current_time() - begin == pytest.approx(SEND_LIMIT)
    assert isinstance(rig.end, Closed)
    assert rig.end.reason is Reason.NOT_READING
    assert "30 s" in str(rig.end)


async def test_a_bot_is_cut_off_30_s_after_it_stopped_reading_whenever_the_next_thing_is_said(
    nursery: trio.Nursery,
) -> None:
    rig = Rig(nursery, Line())
    await trio.sleep(100)
    begin = trio.current_time()
    rig.session.notify(Notice(NoticeKind.UNKNOWN, "the one that is not read"))
    await trio.sleep(0.001)
    rig.line.reads = False
    await trio.sleep(13)
    rig.session.notify(Notice(NoticeKind.UNKNOWN, "the one that waits for it"))
    await rig.over.wait()
    assert trio.current_time() - begin == pytest.approx(SEND_LIMIT)
    assert isinstance(rig.end, Closed)
    assert rig.end.reason is Reason.NOT_READING


async def test_a_bot_that_earns_notices_without_reading_them_is_cut_off(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, Line(reads=False))
    rig.session.notify(Notice(NoticeKind.UNKNOWN, "the one that is on its way"))
    await wait_all_tasks_blocked()
    for _ in range(MOST_NOTICES):
        rig.session.notify(Notice(NoticeKind.UNKNOWN, "a"))
    assert not rig.over.is_set()
    for _ in range(10 * MOST_NOTICES):
        rig.session.notify(Notice(NoticeKind.UNKNOWN, "one more"))
    with trio.fail_after(SEND_LIMIT / 2):
        await rig.over.wait()
    assert isinstance(rig.end, Closed)
    assert rig.end.reason is Reason.NOT_READING
    assert str(MOST_NOTICES) in str(rig.end)


async def test_closing_ends_the_line_with_the_reason(rig: Rig) -> None:
    rig.session.close(Reason.TAKEN_OVER, "somebody else")
    await rig.over.wait()
    assert isinstance(rig.end, Closed)
    assert (rig.end.reason, str(rig.end)) == (Reason.TAKEN_OVER, "somebody else")


async def test_what_waits_is_sent_before_the_line_ends(rig: Rig) -> None:
    rig.session.notify(Notice(NoticeKind.DRAINING, "the last words"))
    rig.session.close(Reason.STOPPING, "come back later")
    with trio.fail_after(CLOSE_TIMEOUT / 2):
        await rig.over.wait()
    assert [notice.text for notice in (await rig.line.read()).notices] == ["the last words"]


async def test_who_does_not_read_the_last_words_is_not_waited_for(nursery: trio.Nursery) -> None:
    rig = Rig(nursery, Line(reads=False))
    rig.session.notify(Notice(NoticeKind.DRAINING, "the last words"))
    await wait_all_tasks_blocked()
    rig.session.close(Reason.STOPPING, "come back later")
    with trio.fail_after(2 * CLOSE_TIMEOUT):
        await rig.over.wait()
    assert isinstance(rig.end, Closed)
    assert rig.end.reason is Reason.STOPPING


async def test_the_last_word_ends_the_line_in_good_order(rig: Rig) -> None:
    rig.line.say(heartbeat=3)
    rig.line.half_close()
    await rig.over.wait()
    assert rig.end is None
    assert [said.heartbeat for said in rig.heard] == [3]


@pytest.mark.parametrize("reads", [True, False])
async def test_a_bot_that_vanishes_is_one_event_whatever_was_going_on(nursery: trio.Nursery, reads: bool) -> None:
    """If the bot was not reading, reader and writer end at the same time."""
    rig = Rig(nursery, Line(reads=reads))
    rig.session.notify(Notice(NoticeKind.UNKNOWN, "a"))
    await wait_all_tasks_blocked()
    rig.line.vanish()
    await rig.over.wait()
    assert isinstance(rig.end, trio.BrokenResourceError)


async def test_what_hearing_raises_comes_out() -> None:
    line = Line()

    def hear(_: BotMessage) -> None:
        raise ZeroDivisionError

    line.say()
    listener: Callable[[BotMessage], Any] = hear
    with pytest.raises(ZeroDivisionError):
        await Session(line, CODEC, HELLO, turns()).run(listener)


class RawLine(Line):
    """A link to a bot that reads a message after a moment, or when the test says so."""

    def __init__(self, *, soon: bool = True) -> None:
        super().__init__()
        self._soon = soon
        self.sent: list[bytes] = []
        self.left: Callable[[], None] = lambda: None
        self._busy = False

    @property
    def busy(self) -> bool:
        return self._busy

    def hand_over(self, message: bytes) -> None:
        assert not self._busy, "one message after the other"
        self.sent.append(message)
        self._busy = True
        if self._soon:
            trio.lowlevel.current_trio_token().run_sync_soon(self.take)

    def take(self) -> None:
        self._busy = False
        self.left()

    async def deliver(self, take: Callable[[Any], None], left: Callable[[], None]) -> None:
        self.left = left
        await super().deliver(take, left)

    def messages(self) -> list[play_pb2.PlayResponse]:
        return [play_pb2.PlayResponse.FromString(each) for each in self.sent]


@pytest.fixture
def raw(nursery: trio.Nursery) -> Rig:
    rig = Rig(
        nursery, RawLine(), MessageCodec(PROTOBUF.decode, encode_large, PROTOBUF.split), HELLO._replace(capacity=40)
    )
    assert isinstance(rig.line, RawLine)
    return rig


def encode_large(message: Outgoing) -> bytes:
    """Encode a message in which each question takes as many bytes as its soft limit says."""
    questions, message.questions = message.questions, []
    encoded = PROTOBUF.encode(message)
    message.questions = questions
    for each in questions:
        padding = Any_(value=bytes(each.ask.soft))
        decision = play_pb2.Decision(match_id=each.match_id, decision_id=1, legal=[1], other=padding)
        encoded += play_pb2.PlayResponse(decisions=[decision]).SerializeToString()
    return encoded


def large(size: int) -> Ask:
    """Return a question that `encode_large` makes this large."""
    return Ask(0, 1, (1,), View(0), size, 0)


@pytest.mark.parametrize("closed", [False, True])
async def test_what_is_too_large_for_one_message_comes_in_several_and_before_the_questions(
    raw: Rig, closed: bool
) -> None:
    line = cast("RawLine", raw.line)
    for number in range(3000):
        raw.session.notify(Notice(NoticeKind.UNKNOWN, f"{number:01000}", number))
        raw.session.report(MatchOver(number, 0, (), (), None, (), "", MatchKind.RATED))
    raw.session.beat(1.0)
    raw.session.ask(7, large(100_000), lambda *_: asked_at.append(len(line.sent)))
    asked_at: list[int] = []
    if closed:
        raw.session.close(Reason.STOPPING, "it was a test")
        await raw.over.wait()
    await wait_all_tasks_blocked()
    assert all(len(each) <= MAX_RESPONSE for each in line.sent)
    messages = line.messages()
    assert [message.HasField("heartbeat") for message in messages[:3]] == [True, False, False]
    reports = [report.match_id for message in messages for report in message.reports]
    notices = [notice.match_id for message in messages for notice in message.notices]
    assert reports == notices == [*range(3000)]
    assert len(messages[0].reports) == 3000, "all reports come before the first notice"
    assert [len(message.decisions) for message in messages] == ([0, 0, 0] if closed else [0, 0, 0, 1])
    assert asked_at == ([] if closed else [4]), "its clock starts with the message that has it"


async def test_questions_that_are_too_large_for_one_message_wait_for_answers_to_the_first(raw: Rig) -> None:
    line = cast("RawLine", raw.line)
    sent: list[int] = []

    def went(match_id: int) -> Sent:
        return lambda *_: sent.append(match_id)

    for match_id in range(20):
        raw.session.ask(match_id, large(300_000), went(match_id))
    answered = 0
    while answered < 20:
        await wait_all_tasks_blocked()
        assert sent == [decision.match_id for message in line.messages() for decision in message.decisions]
        assert len(sent) > answered
        for match_id in sent[answered:]:
            raw.session.settle(match_id, 1, trio.current_time())
            answered += 1
    assert sent == [*range(20)]
    assert all(len(each) <= MAX_RESPONSE for each in line.sent)
    assert all(len(each) > MAX_RESPONSE // 4 for each in line.sent[:-3])


async def test_what_waits_goes_out_when_the_first_message_has_left_before_the_session_runs(
    nursery: trio.Nursery,
) -> None:
    line, begun = RawLine(soon=False), trio.Event()
    rig = Rig(nursery, line, PROTOBUF, begun=begun)
    rig.session.notify(Notice(NoticeKind.UNKNOWN, "a"))
    await wait_all_tasks_blocked()
    rig.session.notify(Notice(NoticeKind.UNKNOWN, "b"))
    await wait_all_tasks_blocked()
    line.take()
    begun.set()
    await wait_all_tasks_blocked()
    assert [notice.text for message in line.messages() for notice in message.notices] == ["a", "b"]
