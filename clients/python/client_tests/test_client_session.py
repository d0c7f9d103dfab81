"""The conversation without a connection: the SDK's answers to the server's messages."""

from __future__ import annotations

import logging
from collections.abc import Coroutine, Iterable, Iterator, Sequence
from hashlib import sha256
from itertools import count
from typing import cast

import pytest
from arena_client import (
    ArgumentError,
    BadAnswerError,
    Bot,
    Catalog,
    Decision,
    MatchStart,
    NoGameInCommonError,
    Notice,
    NoticeKind,
    ProtocolMismatchError,
    RoundReport,
)
from arena_client.caller import Caller
from arena_client.options import OnError, chosen
from arena_client.session import Goal, Progress, Session, concerns_bot
from arena_client.v1 import game_pb2, nullern_pb2, play_pb2
from client_tests.peer import CATALOG, PROMISED, First, asks, invites, notice, reports, starts, welcome


class Conversation:
    """Process the inbox in one thread: first the immediate answers, then the bot's answers."""

    def __init__(
        self,
        bot: Bot,
        progress: Progress,
        greeting: play_pb2.Welcome,
        on_error: OnError = "raise",
        clock: Iterator[float] | None = None,
    ) -> None:
        times = clock or iter(lambda: 0.0, None)
        self.session = Session(bot, greeting, progress, lambda _: None)
        self.caller = Caller(bot, on_error, lambda: next(times))

    def react(self, message: play_pb2.PlayResponse, received: float = 0.0) -> Iterator[play_pb2.PlayRequest]:
        if (reply := self.session.receive(message)) is not None:
            yield reply
        if concerns_bot(message):
            yield from self.caller.react(message, self.session, received)


def session(
    bot: Bot, *, wanted: int | None = None, on_error: OnError = "raise", clock: Iterator[float] | None = None
) -> Conversation:
    return Conversation(bot, Progress(Goal(wanted)), welcome().welcome, on_error, clock)


def test_events_are_those_given_or_those_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ARENA_EVENTS", raising=False)
    assert chosen(None, "ARENA_EVENTS") == ()
    monkeypatch.setenv("ARENA_EVENTS", "friday, sunday,")
    assert chosen(None, "ARENA_EVENTS") == ("friday", "sunday")
    assert chosen(["monday"], "ARENA_EVENTS") == ("monday",)
    with pytest.raises(ArgumentError, match="events is 'friday': it takes a list of names, or None for ARENA_EVENTS"):
        chosen("friday", "ARENA_EVENTS")


def test_a_server_that_confirms_no_ladders_is_too_old_for_a_bot_that_names_one() -> None:
    greeting = welcome().welcome
    with pytest.raises(ProtocolMismatchError, match="does not confirm the ladder slow: it is older than ladders"):
        Session(First(), greeting, Progress(), lambda _: None, ladders=["slow"])
    greeting.ladders.add(name="slow")
    Session(First(), greeting, Progress(), lambda _: None, ladders=["slow"])


def test_a_server_that_confirms_no_events_is_too_old_for_a_bot_that_names_one() -> None:
    greeting = welcome().welcome
    with pytest.raises(ProtocolMismatchError, match="does not confirm the event friday: it is older than events"):
        Session(First(), greeting, Progress(), lambda _: None, events=["friday"])
    greeting.events.append("friday")
    Session(First(), greeting, Progress(), lambda _: None, events=["friday"])


@pytest.mark.parametrize(
    ("given", "token", "listed", "names"),
    [
        (None, "", None, ()),
        (None, "", " a, ,b,", ("a", "b")),
        ([], "", "a", ()),
        (["c"], "", "a", ("c",)),
        (["c"], "t", "", ()),
        (["c"], "t", "a", ("a",)),
    ],
)
def test_ladders_are_those_given_or_else_those_of_the_environment(
    monkeypatch: pytest.MonkeyPatch, given: list[str] | None, token: str, listed: str | None, names: tuple[str, ...]
) -> None:
    monkeypatch.setenv("ARENA_TOKEN", token)
    monkeypatch.delenv("ARENA_LADDERS", raising=False)
    if listed is not None:
        monkeypatch.setenv("ARENA_LADDERS", listed)
    assert chosen(given, "ARENA_LADDERS") == names


def test_a_list_of_ladders_is_no_text() -> None:
    with pytest.raises(ArgumentError, match="ladders is 'slow': it takes a list of names, or None for ARENA_LADDERS"):
        chosen("slow", "ARENA_LADDERS")


def answers(requests: Iterable[play_pb2.PlayRequest]) -> list[list[tuple[int, int, int]]]:
    return [[(each.match_id, each.decision_id, each.action) for each in request.answers] for request in requests]


class Gives(Bot):
    """Bot that returns the answers given to its constructor."""

    def __init__(self, *given: object) -> None:
        super().__init__(name="gives")
        self.given = given

    def decide_many(self, decisions: Sequence[Decision]) -> Iterable[int]:
        return self.given  # type: ignore[return-value]


def test_a_decision_carries_the_whole_question() -> None:
    asked: list[Decision] = []

    class Keeps(First):
        def decide(self, decision: Decision) -> int:
            asked.append(decision)
            return 2

    assert answers(session(Keeps()).react(asks((7, 3)))) == [[(7, 3, 2)]]
    (decision,) = asked
    assert (decision.match_id, decision.decision_id, decision.legal) == (7, 3, [0, 1, 2])
    assert (decision.soft_ms, decision.bank_ms) == (1000, 30000)
    assert (decision.view.seats, list(decision.view.hand)) == (4, [0, 1])
    assert [action.name for action in decision.actions] == ["predict red 0", "red 0", "blue 6 as 9"]


def test_a_decision_is_of_the_game_whose_view_it_carries() -> None:
    asked: list[Decision] = []

    class Keeps(First):
        def decide(self, decision: Decision) -> int:
            asked.append(decision)
            return decision.legal[0]

    view = nullern_pb2.NullernView(seat=1, seats=2, hand=[7])
    decision = play_pb2.Decision(match_id=1, decision_id=1, legal=[81, 82], nullern=view)
    both = welcome(CATALOG, game_pb2.GameCatalog(name="nullern", title="Nullern")).welcome
    bot = Conversation(Keeps(games=["sixth_sense", "nullern"]), Progress(), both)
    mixed = [*asks((2, 1)).decisions, decision]
    assert answers(bot.react(play_pb2.PlayResponse(decisions=mixed))) == [[(2, 1, 0), (1, 1, 81)]]
    assert [each.game.title for each in asked] == ["6th Sense", "Nullern"]
    assert asked[1].view == view


def test_a_catalogue_tells_what_the_numbers_mean() -> None:
    catalog = Catalog.of(CATALOG)
    assert (catalog.name, catalog.title, catalog.min_seats, catalog.max_seats) == ("sixth_sense", "6th Sense", 2, 6)
    assert catalog.colours == ("red", "blue")
    assert (catalog.cards[1].name, catalog.cards[1].colour, catalog.cards[1].values) == ("blue 6/9", 1, (6, 9))
    predict, play, _, hidden = catalog.actions
    assert (predict.kind, predict.card, predict.value, predict.place) == ("predict", 0, None, None)
    assert (play.kind, play.card, play.value) == ("play", 0, 0)
    assert (hidden.kind, hidden.card, hidden.place) == ("block", None, 0)


def test_what_a_stream_that_is_over_asked_is_not_decided() -> None:
    met: list[MatchStart] = []

    class Greets(Gives):
        def on_match_start(self, start: MatchStart) -> None:
            met.append(start)

    playing = session(Greets())
    message = starts(5)
    message.MergeFrom(asks((5, 1)))
    playing.session.over = True
    assert not list(playing.caller.react(message, playing.session, 0.0))
    assert [start.match_id for start in met] == [5]


def test_a_bot_that_is_slow_over_a_notice_says_nothing_where_nothing_is_to_be_said() -> None:
    slow = session(First(), clock=count(0.0, 1.0))
    assert not list(slow.react(notice(NoticeKind.NOTICE_KIND_DRAINING)))


@pytest.mark.parametrize(
    ("promised", "salt", "commitment"),
    [
        (PROMISED, bytes(32), bytes(31) + b"1"),
        (PROMISED, bytes(31) + b"1", bytes(32)),
        (b"", bytes(32), bytes(32)),
        (b"", b"", b""),
        (PROMISED[:31], bytes(32), bytes(32)),
        (sha256(b"").digest(), b"", b""),
        (PROMISED, bytes(64), b""),
        (PROMISED, b"", bytes(64)),
        (PROMISED, bytes(31), bytes(33)),
    ],
    ids=[
        "another commitment",
        "another salt",
        "nothing promised",
        "nothing promised or shown",
        "a promise cut short",
        "a promise of nothing",
        "all is salt",
        "all is commitment",
        "a commitment begins in the salt",
    ],
)
def test_a_deal_that_is_not_the_one_promised_is_said_aloud(
    caplog: pytest.LogCaptureFixture, promised: bytes, salt: bytes, commitment: bytes
) -> None:
    """The SDK also reports a deal without a commitment, or whose commitment has only a salt."""
    playing = session(First())
    list(playing.react(invites(5)))
    list(playing.react(invites(6, commitment=promised)))
    assert not list(playing.react(starts(5)))
    assert caplog.messages == []
    assert not list(playing.react(starts(6, commitment=commitment, salt=salt)))
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "match 6" in caplog.text
    assert "the server may have chosen the deal" in caplog.text


def test_notices_are_logged_in_one_line(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    playing = session(First())
    assert not list(playing.react(notice(NoticeKind.NOTICE_KIND_DRAINING)))
    assert not list(playing.react(notice(NoticeKind.NOTICE_KIND_FORCED_BY_TIME, match_id=5, text="played red 7")))
    assert caplog.messages == ["server: draining: no reason given", "match 5: forced by time: played red 7"]
    assert [record.levelno for record in caplog.records] == [logging.INFO, logging.WARNING]


def test_a_fault_at_every_decision_is_a_line_a_minute(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("time.monotonic", lambda: now)
    playing = session(First())
    for number in range(1, 40):
        for kind in (NoticeKind.NOTICE_KIND_FORCED_BY_TIME, NoticeKind.NOTICE_KIND_STALE):
            list(playing.react(notice(kind, match_id=5, decision_id=number, text="late")))
        now += 3.0
    assert caplog.messages == [
        "match 5, decision 1: forced by time: late",
        "match 5, decision 1: stale: late",
        "match 5, decision 21: forced by time: late (and 19 more like it before)",
        "match 5, decision 21: stale: late (and 19 more like it before)",
    ]


def test_rounds_and_results_reach_the_bot(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO)
    rounds: list[RoundReport] = []

    class Watches(First):
        def on_round(self, report: RoundReport) -> None:
            rounds.append(report)

    playing = session(Watches())
    assert not list(playing.react(play_pb2.PlayResponse(rounds=[RoundReport(match_id=4, round=1, points=[1, 2])])))
    assert [list(each.points) for each in rounds] == [[1, 2]]
    assert not list(playing.react(reports(4)))
    assert not list(playing.react(reports(5, rated=False)))
    assert not list(playing.react(reports(6, interrupted="the server stopped")))
    assert caplog.messages == [
        "match 4: place 1 of 2 with 12 points, rating 1512 (+12.5)",
        "match 5: place 1 of 2 with 12 points",
        "match 6 was interrupted: the server stopped",
    ]


def test_a_server_without_the_bot_s_games_is_refused() -> None:
    with pytest.raises(NoGameInCommonError, match=r"none of the bot's games \(chess, go\)"):
        Conversation(First(games=("chess", "go")), Progress(), welcome().welcome)
    with pytest.raises(NoGameInCommonError, match="it names none"):
        Conversation(First(games=()), Progress(), welcome().welcome)


def test_a_decision_of_a_game_the_client_does_not_know_is_refused() -> None:
    unknown = play_pb2.PlayResponse(decisions=[play_pb2.Decision(match_id=1, decision_id=1, legal=[0])])
    with pytest.raises(ProtocolMismatchError, match="update arena-client"):
        list(session(First()).react(unknown))


def test_numbers_of_other_libraries_are_answers() -> None:
    class Number:
        def __index__(self) -> int:
            return 1

    assert answers(session(Gives(Number())).react(asks((1, 1)))) == [[(1, 1, 1)]]


@pytest.mark.parametrize(
    ("given", "complaint"),
    [
        (("1",), "answer 1 of 2 is '1': an answer is an action"),
        ((0, None), "answer 2 of 2 is None"),
        ((0,), "answer 2 of 2 is None"),
        ((0, 17), r"answer 2 of 2 is 17, which is not legal here; decision.legal is \[0, 1, 2\]"),
        ((0, 1, 2), "more than 2 answers to 2 decisions"),
    ],
)
def test_what_is_no_answer_is_named(given: tuple[object, ...], complaint: str) -> None:
    with pytest.raises(BadAnswerError, match=complaint):
        list(session(Gives(*given)).react(asks((1, 1), (1, 2))))


@pytest.mark.parametrize("given", [("1",), (0, None), (0,), (0, 17), (0, 1, 2)])
def test_a_bot_that_shall_go_on_answers_everything(given: tuple[object, ...], caplog: pytest.LogCaptureFixture) -> None:
    (reply,) = session(Gives(*given), on_error="continue").react(asks((1, 1), (1, 2)))
    assert [answer.decision_id for answer in reply.answers] == [1, 2]
    assert all(answer.action in (0, 1, 2) for answer in reply.answers)
    assert all(record.exc_info for record in caplog.records)
    assert caplog.messages


class Fails(First):
    """Bot that fails at the second decision of each message, and at notices."""

    def decide(self, decision: Decision) -> int:
        if decision.decision_id == 2:
            raise ZeroDivisionError
        return 1

    def on_notice(self, notice: Notice) -> None:
        raise ZeroDivisionError


def test_an_error_in_the_bot_comes_out() -> None:
    with pytest.raises(ZeroDivisionError):
        list(session(Fails()).react(asks((1, 1), (1, 2), (1, 3))))
    with pytest.raises(ZeroDivisionError):
        list(session(Fails()).react(notice(NoticeKind.NOTICE_KIND_STALE)))


def test_an_error_in_the_bot_can_be_played_over(caplog: pytest.LogCaptureFixture) -> None:
    playing = session(Fails(), on_error="continue")
    assert answers(playing.react(asks((1, 1), (1, 2), (1, 3)))) == [[(1, 1, 1), (1, 2, 0), (1, 3, 1)]]
    assert not list(playing.react(notice(NoticeKind.NOTICE_KIND_STALE)))
    assert caplog.messages == [
        "the bot failed; its first legal action is played instead",
        "the bot failed outside a decision",
    ]
    assert all("ZeroDivisionError" in (record.exc_text or "") for record in caplog.records)


def test_notices_about_others_are_no_warnings_and_kinds_of_a_newer_server_are_no_errors(
    caplog: pytest.LogCaptureFixture,
) -> None:
    playing = session(First())
    caplog.set_level(logging.INFO, "arena_client")
    newer = cast("NoticeKind.ValueType", 99)
    kinds = NoticeKind.NOTICE_KIND_STALE, NoticeKind.NOTICE_KIND_GONE, NoticeKind.NOTICE_KIND_SUBSTITUTED, newer
    for kind in kinds:
        assert list(playing.react(notice(kind))) == []
    assert [(record.levelname, record.message.split(": ")[1]) for record in caplog.records] == [
        ("WARNING", "stale"),
        ("INFO", "gone"),
        ("INFO", "substituted"),
        ("INFO", "notice 99"),
    ]


def test_a_bot_without_a_decision_of_its_own_says_so() -> None:
    with pytest.raises(NotImplementedError, match=r"Bot has neither decide\(\) nor decide_many\(\)"):
        list(session(Bot()).react(asks((1, 1))))


def test_options_can_be_given_to_the_constructor() -> None:
    bot = First(name="x", owner="me", games=("sixth_sense",), capacity=3)
    assert (bot.name, bot.owner, bot.games, bot.capacity) == ("x", "me", ("sixth_sense",), 3)
    assert (First().name, First.capacity) == ("bot", 8)


def test_one_game_may_be_given_as_a_text() -> None:
    class Only(First):
        games = "nullern"

    assert [First(games="nullern").games, Only().games, Only.games] == [("nullern",), ("nullern",), "nullern"]


def test_a_decision_that_is_to_be_awaited_is_said_to_be_none() -> None:
    class Later(Bot):
        def decide(self, decision: Decision) -> Coroutine[None, None, int]:
            return self.later(decision)

        async def later(self, decision: Decision) -> int:
            return decision.legal[0]

    with pytest.raises(BadAnswerError, match="returns a coroutine: write it as async def decide"):
        list(session(Later()).react(asks((1, 1))))


class Counts(First):
    """Bot that counts its decisions, one per call."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def decide(self, decision: Decision) -> int:
        self.calls.append("decide")
        return decision.legal[0]

    def on_match_start(self, start: play_pb2.MatchStart) -> None:
        self.calls.append("start")


@pytest.mark.parametrize("message", [starts(1), asks((1, 1))], ids=["start", "decision"])
def test_who_is_interrupted_between_two_calls_is_not_called_again(message: play_pb2.PlayResponse) -> None:
    bot = Counts()
    talk = session(bot, on_error="continue")
    if message.decisions:
        list(talk.react(starts(1)))
    before = list(bot.calls)
    talk.caller.interrupt()
    assert not talk.caller.interrupted
    with pytest.raises(KeyboardInterrupt):
        list(talk.react(message))
    assert talk.caller.interrupted
    assert not talk.caller.thinking
    assert bot.calls == before


class Lingers(Bot):
    """Bot that takes 6 s per call. At the end of each call it reads the warning about its long thinking."""

    name = "bot"

    def __init__(self) -> None:
        self.now = 0.0
        self.caller = Caller(self, clock=lambda: self.now)
        self.said: list[str] = []

    def linger(self) -> None:
        self.now += 6.0
        self.said.append(self.caller.long_thought(5.0))

    def decide(self, decision: Decision) -> int:
        self.linger()
        return decision.legal[0]

    def on_match_start(self, start: play_pb2.MatchStart) -> None:
        self.linger()


def test_each_call_of_a_bot_is_timed_by_itself() -> None:
    bot = Lingers()
    stream = session(bot).session
    for message in (starts(1, 2), asks((1, 1), (1, 2))):
        stream.receive(message)
        list(bot.caller.react(message, stream, bot.now))
    assert bot.said == [
        "bot has been thinking for 6 s in on_match_start()",
        "bot has been thinking for 6 s in on_match_start()",
        "bot has been thinking for 6 s about decision 1 of match 1 of sixth_sense, for which it had 31 s",
        "bot has been thinking for 6 s about decision 2 of match 1 of sixth_sense, for which it had 25 s",
    ]
    assert bot.caller.long_thought(0.0) == ""


def test_who_is_interrupted_while_an_answer_is_sent_decides_no_more() -> None:
    times = iter(map(float, count()))
    bot = Counts()
    talk = session(bot, clock=times)
    list(talk.react(starts(1, 2)))
    bot.calls.clear()
    said = talk.react(asks((1, 1), (2, 1)))
    assert answers([next(said)]) == [[(1, 1, 0)]]
    talk.caller.interrupt()
    with pytest.raises(KeyboardInterrupt):
        list(said)
    assert bot.calls == ["decide"]


def test_a_place_that_a_message_frees_is_there_for_its_invitations() -> None:
    progress = Progress(share=1, playing={7})
    talk = Session(First(), welcome().welcome, progress, lambda _: None)
    mixed = reports(7)
    mixed.MergeFrom(invites(8))
    assert replied(talk, mixed) == ([8], [])
    mixed = notice(NoticeKind.NOTICE_KIND_WITHDRAWN, invitation_id=8)
    mixed.MergeFrom(invites(9))
    assert replied(talk, mixed) == ([9], [])
    assert replied(talk, invites(10)) == ([], [10])


def test_an_invitation_that_its_message_withdraws_is_answered_and_takes_no_place() -> None:
    progress = Progress(share=1)
    talk = Session(First(), welcome().welcome, progress, lambda _: None)
    mixed = notice(NoticeKind.NOTICE_KIND_WITHDRAWN, invitation_id=8)
    mixed.MergeFrom(invites(8, 9))
    assert replied(talk, mixed) == ([8, 9], [])
    assert progress.accepted.keys() == progress.nonces.keys() == {9}


def replied(talk: Session, message: play_pb2.PlayResponse) -> tuple[list[int], list[int]]:
    """Return the accepted and the declined invitations of a reply."""
    reply = talk.receive(message)
    assert reply is not None
    return [each.invitation_id for each in reply.ready], [*reply.declined]
