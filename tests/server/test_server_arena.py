"""Whole matches between bots in memory, from the connection to the record, with a virtual clock."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from pathlib import Path

import pytest
import trio
from structlog.testing import capture_logs
from trio.testing import wait_all_tasks_blocked

from arena.ladder.events import day_of
from arena.match.effects import Effect, Show
from arena.match.inputs import Input
from arena.match.policy import Policy
from arena.replay.record import Recorder
from arena.server.arena import Arena, open_arena
from arena.server.matches.lifecycle import LAST_RETRIES
from arena.server.matches.persistence import RETRY
from arena.server.runtime.wall_clock import now_us
from arena.server.sessions.messages import Answer, Closed, Notice, NoticeKind, Outgoing, Ready, Reason
from arena.server.sessions.player import HousePlayer
from arena.store.base.errors import DiskFull, ServerUnusable, StoreError
from arena.store.base.rows import Interruption, MatchState
from arena.store.bots import bots
from arena.store.matches import matches
from arena.store.store import open_store
from engine.game import SeatView
from tests.server.server_rig import GAME, NONCE, Bot, Hall, HouseBot, MemoryStore, answer, config

FULL = DiskFull(Path("arena.db"))
UNANSWERED = ServerUnusable("postgresql://db", "it cannot be reached")
HOUSE = {GAME.name: (HouseBot("house-a"), HouseBot("house-b"))}


async def test_a_match_is_played_recorded_rated_and_reported(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot
) -> None:
    async with hall.open(ann, bob):
        await ann.until(lambda: ann.reports)
        await bob.until(lambda: bob.reports)
        assert ann.notices + bob.notices == []
    match = hall.listed()[0]
    assert match.state is MatchState.FINISHED
    assert match.ended is not None
    assert match.started <= match.ended
    assert {seat.bot for seat in match.seats} == {"ann", "bob"}
    for bot in (ann, bob):
        report = bot.reports[0]
        seat = match.seats[report.seat]
        assert seat.bot == bot.row.name
        assert (report.match_id, report.interrupted) == (match.match_id, "")
        assert (report.scores[report.seat], report.places[report.seat]) == (seat.score, seat.place)
        assert seat.rating_before is not None
        assert report.rating == (seat.rating_before, seat.rating_after)
        assert seat.forced == 0
        assert bot.rounds == 2
    assert store.now(partial(matches.get_replay, match_id=match.match_id)).startswith(b"\x1f\x8b")


async def test_a_result_comes_with_the_next_invitation(hall: Hall, store: MemoryStore, ann: Bot, bob: Bot) -> None:
    """A message costs far more than its contents, so the server combines a result with the next invitation."""
    messages: list[Outgoing] = []

    class Attentive(Bot):
        def hear(self, message: Outgoing) -> None:
            messages.append(message)
            super().hear(message)

    async with hall.open():
        for bot in (attentive := Attentive(ann.row), bob):
            hall.join(bot)
        await bob.until(lambda: bob.questions)
        store.gate = trio.Event()  # the match ends long before its result is stored
        await wait_all_tasks_blocked()
        store.gate.set()
        await attentive.until(lambda: attentive.reports)
    message = next(message for message in messages if message.reports)
    assert len(message.invitations) == 1


async def test_a_match_counts_for_the_versions_that_begin_it(hall: Hall, ann: Bot) -> None:
    ann.hello = ann.hello._replace(version="2.0")
    async with hall.open(ann, house_bots=HOUSE[GAME.name], house=True):
        await ann.until(lambda: ann.questions)
        ann.answers = False
        await ann.until(lambda: ann.invitations)
        newer = ann.again()
        newer.hello = newer.hello._replace(version="2.1")
        hall.join(newer)
        await newer.until(lambda: newer.reports)
        first = newer.reports[0].match_id
        await newer.until(lambda: len(newer.reports) >= 2)
    said: dict[int, set[str]] = {
        match.match_id: {seat.version for seat in match.seats if seat.bot == "ann"}
        for match in hall.listed()
        if match.ended
    }
    assert said[first] == {"2.0"}
    assert said[newer.reports[1].match_id] == {"2.1"}
    house = {seat.version for match in hall.listed() for seat in match.seats if seat.bot != "ann"}
    assert house == {HouseBot.version}


async def test_whoever_forms_tables_knows_which_pairs_have_spent_their_quota_also_after_a_restart(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot
) -> None:
    """Each bot of a pair has the name of the other."""

    def spent(arena: Arena) -> list[list[int]]:
        pairs, today = arena.matchmaker._queues[GAME.name].spent, day_of(now_us())
        return [[*pairs.of(bot.row.id, today)] for bot in (ann, bob)]

    async with hall.open(pair_quota=2) as arena:
        assert spent(arena) == [[], []]
        for bot in (ann, bob):
            hall.join(bot)
        await ann.until(lambda: len(ann.reports) == 1)
        assert spent(arena) == [[], []]
        await ann.until(lambda: len(ann.reports) == 2)
        assert spent(arena) == [[bob.row.id], [ann.row.id]]
    store.reopen()
    async with hall.open(pair_quota=2) as arena:
        assert spent(arena) == [[bob.row.id], [ann.row.id]]
    store.reopen()
    async with hall.open() as arena:
        assert spent(arena) == [[], []], "without a quota"


async def test_house_bots_fill_the_table_and_are_rated(hall: Hall, ann: Bot) -> None:
    came = trio.current_time()
    async with hall.open(ann, house_bots=HOUSE[GAME.name], house=True, seats=(4,)):
        await ann.until(lambda: ann.invitations)
        assert trio.current_time() - came <= 5
        await ann.until(lambda: ann.reports)
    seats = hall.listed()[0].seats
    assert sorted(seat.bot for seat in seats)[:1] == ["ann"]
    assert {seat.bot for seat in seats} == {"ann", "house-a", "house-b"}, "three seats, two house bots"
    assert all(seat.rating_after is not None for seat in seats)


class Failing(HouseBot):
    """A house bot that alternately raises errors and makes illegal choices."""

    def decide(self, view: SeatView, legal: Sequence[int], chance: bytes) -> int:
        if chance[0] % 2:
            raise ZeroDivisionError
        return -1


async def test_a_house_bot_that_fails_holds_nobody_up(hall: Hall, ann: Bot) -> None:
    with capture_logs() as logs:
        async with hall.open(ann, house_bots=[Failing("house-a")], house=True, seats=(2,)):
            await ann.until(lambda: len(ann.reports) >= 3)
    assert all(match.state is MatchState.FINISHED for match in hall.listed()[:3])
    errors = [entry for entry in logs if entry["log_level"] == "error"]
    assert {entry["event"] for entry in errors} == {"a house bot failed"}
    faults = {entry["fault"].splitlines()[-1] for entry in errors}
    assert faults == {"ZeroDivisionError", "action -1 is not legal"}


@pytest.mark.sources_only("it replaces a function")
async def test_a_fault_of_the_server_in_recording_costs_that_match_only(
    hall: Hall, ann: Bot, bob: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    with monkeypatch.context() as patch, capture_logs() as logs:
        patch.setattr("arena.replay.record.pack_replay", None)
        async with hall.open(ann, bob):
            await ann.until(lambda: ann.reports)
            patch.undo()
            await ann.until(lambda: len(ann.reports) >= 2 and not ann.reports[-1].interrupted)
    assert ann.reports[0].interrupted == "the server could not record the result"
    assert hall.listed()[0].state is MatchState.INTERRUPTED
    assert hall.listed()[0].interruption is Interruption.NOT_RECORDED
    assert any("a fault of the server" in entry["event"] for entry in logs)


@pytest.mark.sources_only("it replaces a method")
async def test_a_fault_of_the_server_in_writing_down_what_happens_costs_that_match_only(
    hall: Hall, ann: Bot, bob: Bot, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The match is played to its end while other matches run."""
    ann.hello = ann.hello._replace(capacity=2)
    bob.hello = bob.hello._replace(capacity=2)
    add, unlucky = Recorder.add, 2

    def fail(self: Recorder, event: Input, effects: Sequence[Effect], line: str) -> None:
        if self._header.match_id == unlucky and any(isinstance(effect, Show) for effect in effects):
            raise ZeroDivisionError
        add(self, event, effects, line)

    monkeypatch.setattr(Recorder, "add", fail)
    with capture_logs() as logs:
        async with hall.open(ann, bob):
            await ann.until(lambda: len(ann.reports) >= 4)
    assert {report.match_id for report in ann.reports if report.interrupted} == {unlucky}
    assert {match.match_id for match in hall.listed() if match.state is MatchState.INTERRUPTED} == {unlucky}
    assert len({each.ask.decision for each in ann.questions if each.match_id == unlucky}) > 1
    [fault] = [entry for entry in logs if "a fault of the server" in entry["event"]]
    assert fault["match_id"] == unlucky


async def test_a_silent_bot_is_forced_by_time_suspended_and_plays_on_after_ready(
    hall: Hall, ann: Bot, bob: Bot
) -> None:
    bob.answers = False
    async with hall.open(ann, bob, policy=Policy(soft_limit=1_000_000, bank=0)):
        began = trio.current_time()
        await bob.until(lambda: NoticeKind.SUSPENDED in bob.kinds())
        assert bob.kinds()[:4] == [NoticeKind.FORCED_BY_TIME] * 3 + [NoticeKind.SUSPENDED]
        assert "time ran out: guess 0 was chosen for you" in bob.notices[0].text
        assert "PlayRequest" not in bob.notices[3].text, "authors speak no protocol"
        assert trio.current_time() - began == pytest.approx(2 + 1 + 1, abs=0.01), "twice the limit for the first"
        bob.answers = True
        bob.line.say(resumed=[bob.starts[0].match_id])
        await bob.until(lambda: bob.reports)
    seats = {seat.bot: seat for seat in hall.listed()[0].seats}
    assert seats["ann"].forced == 0
    assert 3 <= seats["bob"].forced < 6, "it played on after Ready"


async def test_each_suspension_has_one_notice_and_ends_once(hall: Hall, ann: Bot, bob: Bot) -> None:
    bob.answers = False
    policy = Policy(soft_limit=1_000_000, bank=0, lates_in_a_row=1)
    async with hall.open(ann, bob, policy=policy):
        await bob.until(lambda: NoticeKind.SUSPENDED in bob.kinds())
        again = [bob.starts[0].match_id] * 3
        bob.line.say(resumed=again)
        await bob.until(lambda: bob.reports)
        each = [NoticeKind.FORCED_BY_TIME, NoticeKind.SUSPENDED]
        assert bob.kinds() == each * 2, "the decisions after a suspension have no notice, nor has a repeated word"
    assert {seat.bot: seat.forced for seat in hall.listed()[0].seats} == {"ann": 0, "bob": 6}


async def test_a_late_answer_is_told_how_late_it_was(hall: Hall, ann: Bot, bob: Bot) -> None:
    bob.answers = False
    async with hall.open(ann, bob, policy=Policy(soft_limit=1_000_000, bank=3_000_000)):
        await bob.until(lambda: bob.kinds() == [NoticeKind.FORCED_BY_TIME])
        await trio.sleep(0.25)
        bob.line.say((), [answer(bob.questions[0])])
        await bob.until(lambda: NoticeKind.STALE in bob.kinds())
        stale = bob.notices[1]
        assert stale.late == pytest.approx(250_000, abs=2000)
        assert stale.text.startswith("guess 3 came after the decision was made and was ignored; it was 0.25")


async def kinds(bot: Bot, kind: NoticeKind, number: int) -> list[Notice]:
    """Read notices of one kind until all bots wait. There must be exactly the given number."""
    await bot.until(lambda: bot.kinds().count(kind) >= number)
    await wait_all_tasks_blocked()
    found = [notice for notice in bot.notices if notice.kind is kind]
    assert len(found) == number
    return found


async def test_the_author_of_a_slow_bot_is_told_once_what_its_decisions_take_and_what_to_do(
    hall: Hall, ann: Bot, bob: Bot
) -> None:
    bob.answers = False
    bob.hello = bob.hello._replace(capacity=3)
    async with hall.open(ann, bob, policy=Policy(soft_limit=1_000_000, bank=2_000_000)):
        for number, took in enumerate((1.5, 1.5, 2.7, 1.2, 0, 0, 0, 3.5)):  # six questions per match
            await bob.until(lambda number=number: len(bob.questions) > number)  # type: ignore[misc]
            await trio.sleep(took)
            bob.line.say((), [answer(bob.questions[number])])
        forced = await kinds(bob, NoticeKind.FORCED_BY_TIME, 3)
        assert len(bob.reports) == 1, "the third is of another match"
    advice = "decisions take 1.5 s (median); this server gives 1 s each and 2 s a match besides; "
    assert forced[0].text.endswith(
        f"{advice}lower the bot's capacity (3 matches at once), or have it decide within the time left that each "
        "decision states"
    )
    assert [notice.text.count("median") for notice in forced] == [1, 0, 0]
    stale = await kinds(bob, NoticeKind.STALE, 2)
    assert [notice.match_id for notice in stale] == [forced[0].match_id, forced[2].match_id], "the first of a match"


async def test_what_a_bot_says_of_a_match_that_is_over_crosses_the_report_and_is_no_mistake(
    hall: Hall, ann: Bot, bob: Bot
) -> None:
    async with hall.open(ann, bob, matches_per_bot=1):
        await bob.until(lambda: bob.reports)
        over = bob.reports[0].match_id
        bob.line.say((), [Answer(over, 3, 1), Answer(over + 1000, 3, 1)], resumed=[over])
        await bob.until(lambda: bob.notices)
        assert [notice.match_id for notice in bob.notices] == [over + 1000]


async def test_illegal_answers_keep_the_decision_open_until_the_third(hall: Hall, ann: Bot, bob: Bot) -> None:
    bob.answers = False
    async with hall.open(ann, bob):
        await bob.until(lambda: bob.questions)
        question = bob.questions[0]
        bob.line.say((), [answer(question, 5)])
        await bob.until(lambda: bob.notices)
        notice = bob.notices[0]
        assert (notice.kind, notice.rejected_action, list(notice.legal)) == (NoticeKind.ILLEGAL, 5, [0, 1, 2, 3])
        assert notice.text == "add 2 is not legal here; the decision is open, choose a legal action"
        assert 0 < (notice.left or 0) <= 12_000_000
        bob.line.say((), [answer(question, 99), answer(question, 77)])
        await bob.until(lambda: len(bob.notices) == 4)
        assert bob.kinds()[1:] == [NoticeKind.ILLEGAL, NoticeKind.ILLEGAL, NoticeKind.FORCED_BY_ILLEGALITY]
        assert bob.notices[1].text.startswith("action 99 is not legal")
        assert list(bob.notices[2].legal) == [], "the third mistake closes the decision"
        assert "guess 0 was chosen for you" in bob.notices[3].text
        bob.answers = True
        await bob.until(lambda: len(bob.questions) == 2)  # the batch is settled, so the next question comes
        bob.line.say((), [answer(bob.questions[1])])
        await ann.until(lambda: ann.reports)
    assert {seat.bot: seat.forced for seat in hall.listed()[0].seats} == {"ann": 0, "bob": 1}


async def test_an_answer_to_a_match_that_is_not_the_bots_is_unknown(hall: Hall, ann: Bot, bob: Bot) -> None:
    async with hall.open(ann):
        await wait_all_tasks_blocked()
        ann.line.say([Ready(8, b"")], [Answer(9, 3, 1)])
        await ann.until(lambda: len(ann.notices) == 2)
        ready, stray = ann.notices
        assert (ready.kind, ready.invitation_id, ready.match_id, ready.rejected_action) == (
            NoticeKind.UNKNOWN,
            8,
            None,
            None,
        )
        assert (stray.kind, stray.match_id, stray.decision, stray.rejected_action) == (NoticeKind.UNKNOWN, 9, 3, 1)
        assert "no seat at match 9" in stray.text
        hall.join(bob)
        ann.answers = False
        await ann.until(lambda: ann.questions)
        question = ann.questions[0]
        ann.line.say((), [question_of_nobody := Answer(question.match_id, 999, 0)])
        await ann.until(lambda: len(ann.notices) == 3)
        assert (ann.notices[2].kind, ann.notices[2].decision) == (NoticeKind.UNKNOWN, question_of_nobody.decision)


async def test_a_bot_that_vanished_comes_back_to_its_open_decision(hall: Hall, ann: Bot, bob: Bot) -> None:
    bob.answers = False
    async with hall.open(ann, bob) as arena:
        await bob.until(lambda: bob.questions)
        first = bob.questions[0].ask
        await trio.sleep(1.5)
        bob.line.vanish()
        await bob.until(lambda: bob.end)
        assert isinstance(bob.end, trio.BrokenResourceError)
        await trio.sleep(2.5)
        back = bob.again()
        hall.join(back)
        await back.until(lambda: back.questions)
        again = back.questions[0].ask
        assert (again.decision, again.view, list(again.legal)) == (first.decision, first.view, list(first.legal))
        assert (first.soft, first.bank) == (2_000_000, 10_000_000)
        assert again.soft == pytest.approx(500_000, abs=2000), "its clock stood still while it was gone"
        assert again.bank == 10_000_000
        assert ann.kinds() == [NoticeKind.GONE, NoticeKind.BACK]
        assert [notice.seat for notice in ann.notices] == [bob.starts[0].seat] * 2
        assert ann.notices[0].return_time == 30_000_000
        await back.until(lambda: back.reports)
        assert arena.players.get(ann.row.id) is not None
    assert all(seat.forced == 0 for seat in hall.listed()[0].seats)


async def test_a_bot_that_is_gone_for_good_costs_the_other_no_more_than_the_grace(
    hall: Hall, ann: Bot, bob: Bot
) -> None:
    bob.answers = False
    async with hall.open(ann, bob) as arena:
        await bob.until(lambda: bob.questions)
        bob.line.vanish()
        began = trio.current_time()
        await ann.until(lambda: ann.reports)
        assert trio.current_time() - began == pytest.approx(30, abs=0.01)
        await wait_all_tasks_blocked()
        assert [player.bot_id for player in arena.players] == [ann.row.id], "bob is forgotten once his match is over"
    gone = bob.starts[0].seat
    assert ann.kinds()[:2] == [NoticeKind.GONE, NoticeKind.SUBSTITUTED]
    assert ann.notices[0].text == "bob is gone; in 30 s a house bot plays its seat on"
    assert ann.notices[1].text == "house-random plays the seat of bob on"
    assert ann.reports[0].counts == tuple(seat == gone for seat in range(2)), "too much of it was the house bot's"
    assert ann.reports[0].places == tuple(1 + (seat == gone) for seat in range(2))
    seats = hall.listed()[0].seats
    assert {seat.bot: (seat.forced, seat.place) for seat in seats} == {"ann": (0, 1), "bob": (0, 2)}
    moved = {seat.bot: (seat.rating_after or 0) - (seat.rating_before or 0) for seat in seats}
    assert moved["ann"] == 0
    assert moved["bob"] < 0


async def test_a_bot_gone_before_the_match_began_is_absent_from_the_start(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot
) -> None:
    async with hall.open():
        store.gate = trio.Event()
        hall.join(ann, bob)
        await wait_all_tasks_blocked()
        assert store.writing == 1
        bob.line.vanish()
        await bob.until(lambda: bob.end)
        store.gate.set()
        await ann.until(lambda: ann.notices)
        assert ann.kinds() == [NoticeKind.GONE]
        await ann.until(lambda: ann.reports)
    assert {seat.bot: seat.place for seat in hall.listed()[0].seats} == {"ann": 1, "bob": 2}


async def test_a_newer_connection_takes_over_with_the_open_decisions(hall: Hall, ann: Bot, bob: Bot) -> None:
    bob.answers = False
    async with hall.open(ann, bob):
        await bob.until(lambda: bob.questions)
        newer = bob.again()
        hall.join(newer)
        await newer.until(lambda: newer.reports)
        assert isinstance(bob.end, Closed)
        assert bob.end.reason is Reason.TAKEN_OVER
        assert "another connection of bob took over" in str(bob.end)
        assert newer.questions[0].ask.decision == bob.questions[0].ask.decision
    assert all(seat.forced == 0 for seat in hall.listed()[0].seats)


async def test_an_invitation_is_sent_again_to_a_newer_connection(hall: Hall, ann: Bot, bob: Bot) -> None:
    bob.accepts = False
    async with hall.open(ann, bob, ready_limit=30.0):
        await bob.until(lambda: bob.invitations)
        newer = bob.again()
        hall.join(newer)
        await newer.until(lambda: newer.reports)
        assert newer.invitations[0] == bob.invitations[0]


async def test_a_bot_that_declines_and_lowers_its_capacity_is_not_invited_until_it_raises_it(
    hall: Hall, ann: Bot, bob: Bot
) -> None:
    bob.accepts = False
    async with hall.open(ann, bob, ready_limit=30.0):
        await bob.until(lambda: bob.invitations)
        bob.line.say(declined=[bob.invitations[0].invitation_id, 99], capacity=0)
        await ann.until(lambda: ann.notices)
        assert ann.notices[0].text == "the match does not take place: a bot declined"
        assert [each.invitation_id for each in bob.notices if each.kind is NoticeKind.UNKNOWN] == [99]
        await trio.sleep(60)
        assert len(bob.invitations) == 1
        bob.accepts = True
        bob.line.say(capacity=1)
        await bob.until(lambda: bob.reports)


async def test_a_bot_that_never_gets_ready_is_waited_for_and_nobody_is_rated(hall: Hall, ann: Bot, bob: Bot) -> None:
    bob.accepts = False
    async with hall.open(ann, bob, ready_limit=30.0):
        began = trio.current_time()
        await ann.until(lambda: ann.notices)
        assert trio.current_time() - began == pytest.approx(3.0), "no match waits longer for a seat"
        assert ann.notices[0].kind is NoticeKind.WITHDRAWN
        assert ann.notices[0].text == "the match does not take place: not every bot accepted in time"
        assert hall.listed() == []
        bob.accepts = True
        await ann.until(lambda: ann.starts)
        assert ann.starts[0].invitation_id != ann.invitations[0].invitation_id, "a number is not used twice"


async def test_saying_ready_twice_changes_nothing(hall: Hall, ann: Bot, bob: Bot) -> None:
    bob.accepts = False
    async with hall.open(ann, bob):
        await bob.until(lambda: bob.invitations)
        match = bob.invitations[0].invitation_id
        bob.line.say([Ready(match, bytes(16)), Ready(match, b"x" * 16)])
        await bob.until(lambda: bob.questions)
        bob.line.say([Ready(match, b"y" * 16)])
        await ann.until(lambda: ann.reports)
        assert NoticeKind.UNKNOWN not in bob.kinds()
    assert hall.listed()[0].state is MatchState.FINISHED


# --- the end of a server ---


async def test_draining_lets_running_matches_finish(hall: Hall, ann: Bot, bob: Bot, nursery: trio.Nursery) -> None:
    bob.answers = False
    async with hall.open(ann, bob) as arena:
        await bob.until(lambda: bob.questions)
        began = trio.current_time()
        nursery.start_soon(partial(arena.drain, 10))
        await ann.until(lambda: ann.notices)
        assert ann.kinds() == [NoticeKind.DRAINING]
        await trio.sleep(1)
        bob.answers = True
        bob.line.say((), [answer(bob.questions[0])])
        await ann.until(lambda: ann.reports)
        assert trio.current_time() - began == pytest.approx(1, abs=0.01)
        await trio.sleep(100)
        assert len(ann.invitations) == 1, "no more matches are formed"
        arena.dismiss()
        await ann.until(lambda: ann.end)
        assert isinstance(ann.end, Closed)
        assert ann.end.reason is Reason.STOPPING
    assert [match.state for match in hall.listed()] == [MatchState.FINISHED]


async def test_what_does_not_finish_in_time_is_left_to_the_next_server(hall: Hall, ann: Bot, bob: Bot) -> None:
    bob.answers = False
    async with hall.open(ann, bob) as arena:
        await bob.until(lambda: bob.questions)
        began = trio.current_time()
        await arena.drain(3)
        assert trio.current_time() - began == pytest.approx(3, abs=0.01)
        assert arena.playing == 1
        bob.line.say((), [answer(bob.questions[0])])
        await trio.sleep(100)
        assert ann.rounds == 0, "nothing counts any more"
        assert ann.reports == []
    assert [match.state for match in hall.listed()] == [MatchState.PLAYING]


async def test_a_second_signal_hurries_a_drain_that_waits(
    hall: Hall, store: MemoryStore, nursery: trio.Nursery
) -> None:
    players = [Bot(store.register(f"bot-{number}")) for number in range(6)]
    async with hall.open() as arena:
        for bot in players:
            bot.answers = False
            hall.join(bot)
        await wait_all_tasks_blocked()
        assert arena.playing == 3
        drained = trio.Event()

        async def drain() -> None:
            await arena.drain(1000)
            drained.set()

        nursery.start_soon(drain)
        await trio.sleep(1)
        began = trio.current_time()
        nursery.start_soon(arena.drain, 0)
        await drained.wait()
        assert trio.current_time() - began < 1
    assert [match.state for match in hall.listed()] == [MatchState.PLAYING] * 3


async def test_a_match_that_gathers_is_called_off_when_the_server_stops(hall: Hall, ann: Bot, bob: Bot) -> None:
    bob.accepts = False
    async with hall.open(ann, bob) as arena:
        await bob.until(lambda: bob.invitations)
        began = trio.current_time()
        await arena.drain(10)
        assert trio.current_time() == began
        await ann.until(lambda: NoticeKind.WITHDRAWN in ann.kinds())
        of_ann, of_bob = (bot.invitations[0].invitation_id for bot in (ann, bob))
        ann.line.say([Ready(of_ann, NONCE)])  # this Ready crosses the withdrawal, so it is not the bot's mistake
        bob.line.say([Ready(of_bob, NONCE), Ready(of_ann, NONCE)])  # the second Ready is a mistake
        await bob.until(lambda: NoticeKind.UNKNOWN in bob.kinds())
        assert [each.invitation_id for each in bob.notices if each.kind is NoticeKind.UNKNOWN] == [of_ann]
        assert NoticeKind.UNKNOWN not in ann.kinds()
        withdrawn = [notice.text for notice in ann.notices if notice.kind is NoticeKind.WITHDRAWN]
        assert withdrawn == ["the match does not take place: the server was stopped"]
    assert hall.listed() == []


async def test_a_match_whose_beginning_is_stored_while_the_server_stops_is_left_to_the_next(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot, nursery: trio.Nursery
) -> None:
    async with hall.open() as arena:
        store.gate = trio.Event()
        hall.join(ann, bob)
        await wait_all_tasks_blocked()
        assert store.writing == 1
        nursery.start_soon(arena.drain, 0)
        await wait_all_tasks_blocked()
        store.gate.set()
        await wait_all_tasks_blocked()
        assert ann.questions == []
    assert [match.state for match in hall.listed()] == [MatchState.PLAYING]
    store.reopen()
    async with hall.open():
        again = ann.again(), bob.again()
        for bot in again:
            hall.join(bot)
        await again[0].until(lambda: again[0].reports)
    assert hall.listed()[0].state is MatchState.FINISHED


# --- a store in trouble ---


async def test_a_match_that_cannot_be_begun_is_withdrawn_and_tried_again(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot
) -> None:
    async with hall.open():
        store.troubles = [FULL]
        began = trio.current_time()
        hall.join(ann, bob)
        await ann.until(lambda: ann.notices)
        assert ann.notices[0].kind is NoticeKind.WITHDRAWN
        assert "the server cannot store matches at the moment" in ann.notices[0].text
        await ann.until(lambda: len(ann.invitations) == 2)
        assert trio.current_time() - began == pytest.approx(RETRY, abs=0.01)
        await ann.until(lambda: ann.reports)
        assert ann.reports[0].match_id == 2
    finished = [match.match_id for match in hall.listed() if match.state is MatchState.FINISHED]
    assert finished[0] == 2


async def test_a_match_that_cannot_be_begun_does_not_open_a_hall_that_is_closed_for_good(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot, nursery: trio.Nursery
) -> None:
    async with hall.open() as arena:
        store.gate = trio.Event()
        store.troubles = [FULL]
        hall.join(ann, bob)
        await wait_all_tasks_blocked()
        nursery.start_soon(arena.drain, 100)
        await wait_all_tasks_blocked()
        store.gate.set()
        await trio.sleep(50)
        assert len(ann.invitations) == 1


async def test_a_result_waits_until_there_is_room_again(hall: Hall, store: MemoryStore, ann: Bot, bob: Bot) -> None:
    bob.answers = False
    async with hall.open(ann, bob) as arena:
        await bob.until(lambda: bob.questions)
        store.troubles = [FULL, FULL, StoreError("no luck"), FULL]
        began = trio.current_time()
        bob.answers = True
        bob.line.say((), [answer(bob.questions[0])])
        await trio.sleep(3 * RETRY)
        assert (arena.playing, ann.reports) == (1, [])
        await ann.until(lambda: ann.reports)
        assert trio.current_time() - began == pytest.approx(4 * RETRY, abs=0.1)
        match, *_ = hall.listed()
        assert match.state is MatchState.FINISHED
        assert [seat.rating_after is not None for seat in match.seats] == [True, True]


async def test_a_result_that_was_stored_without_an_answer_is_reported_once(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot
) -> None:
    bob.answers = False
    async with hall.open(ann, bob):
        await bob.until(lambda: bob.questions)
        store.troubles = [UNANSWERED]
        bob.answers = True
        bob.line.say((), [answer(bob.questions[0])])
        await ann.until(lambda: ann.reports)
        match, *_ = hall.listed()
        assert match.state is MatchState.FINISHED
        (report,) = ann.reports
        assert (report.interrupted, report.scores) == ("", tuple(seat.score for seat in match.seats))
        assert report.rating is not None
        assert report.rating.after == match.seats[report.seat].rating_after


async def test_a_beginning_that_was_stored_without_an_answer_is_taken_back(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot
) -> None:
    async with hall.open():
        store.troubles = [UNANSWERED]
        hall.join(ann, bob)
        await ann.until(lambda: ann.reports)
    states = {match.match_id: match.state for match in hall.listed()}
    assert (states[1], states[2]) == (MatchState.INTERRUPTED, MatchState.FINISHED)


async def test_a_stopping_server_gives_up_on_a_store_that_stays_broken(
    hall: Hall, store: MemoryStore, ann: Bot, bob: Bot
) -> None:
    async with hall.open(ann, bob) as arena:
        await ann.until(lambda: ann.questions)
        store.troubles = [FULL] * 100
        began = trio.current_time()
        await arena.drain(5)
        assert trio.current_time() - began == pytest.approx(5 + LAST_RETRIES, abs=0.01)
        assert arena.playing == 1
    assert [match.state for match in hall.listed()] == [MatchState.PLAYING], "the next start will mark it"


# --- with a real store ---


async def test_a_new_server_goes_on_numbering_and_marks_what_a_dead_one_left(tmp_path: Path) -> None:
    async with open_store(tmp_path, 1) as real:
        row = (await real.write(partial(bots.register, name="ann", owner="", at=1))).bot
        other = (await real.write(partial(bots.register, name="bob", owner="", at=1))).bot
        await real.write(partial(matches.begin, game=GAME.name, options={}, bots=[row.id, other.id], at=1, match_id=41))
    async with open_store(tmp_path, 2) as real:
        left = await real.read(partial(matches.get_match, match_id=41))
        assert (left.state, left.reason) == (MatchState.INTERRUPTED, Interruption.JOURNAL_LOST.in_words())
        async with open_arena(config(), real) as arena, trio.open_nursery() as nursery:
            ann, bob = Bot(row), Bot(other)
            nursery.start_soon(ann.attend, arena)
            nursery.start_soon(bob.attend, arena)
            with trio.fail_after(20):
                await ann.until(lambda: ann.reports)
            assert ann.reports[0].match_id == 42
            assert await arena.accounts.authenticate("nobody's") is None
            registered = await arena.accounts.register("cleo", "", "", by_invitation=False)
            assert await arena.accounts.authenticate(registered.token) == registered.bot
            nursery.cancel_scope.cancel()


def test_a_house_player_goes_by_its_bots_name() -> None:
    assert HousePlayer(1, HouseBot("house-a")).name == "house-a"
