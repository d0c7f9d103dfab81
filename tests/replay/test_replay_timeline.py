"""Timelines of all seats: times of decisions, faults, and the reason for each."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from io import StringIO
from itertools import pairwise

import pytest
from rich.console import Console

from arena.analysis.timeline import Blame, Event, EventKind, SeatTimeline
from arena.analysis.timeline_builder import timelines
from arena.cli.replay.timelines import course_table, in_words
from arena.match.effects import Ask, Cause, Refusal
from arena.match.inputs import (
    Acted,
    Begun,
    Input,
    Instant,
    Interrupted,
    Left,
    Restored,
    Returned,
    Sent,
    StoodIn,
    TimeUp,
)
from arena.match.match import Match
from arena.replay.header import Entry, SeatedBot
from arena.replay.read import read
from arena.replay.record import encode
from arena.replay.steps import steps
from engine.deal import SeededDecks, match_key
from engine.game import Game
from engine.nullern import NULLERN
from engine.sixth_sense import SIXTH_SENSE
from tests.replay.recorded import header_of, play, rated

MS = 1_000
ALLOWANCE = 250 * MS
NO_ACTION = 999


NULLERN_FIRST = 81
"""The bid of 0, which is the first answer."""


class Rig:
    """A match of Nullern between two bots, with 100 ms for a decision and a bank of 1000 ms. Seat 1 bids first."""

    def __init__(self, house: int | None = None) -> None:
        header = header_of(NULLERN, 2, {}, 1)
        self._header = replace(header, bots=tuple(SeatedBot(f"bot-{seat}", seat == house) for seat in (0, 1)))
        decks = SeededDecks(match_key(header.seed, header.nonces))
        self._match = Match(NULLERN, 2, {}, decks, header.policy)
        self._entries: list[Entry] = []
        self.asks: dict[int, Ask] = {}
        self.put(Begun(Instant(0)))

    def put(self, event: Input) -> None:
        effects = self._match.receive(event)
        self._entries.append((event, effects))
        self.asks.update({effect.seat: effect for effect in effects if isinstance(effect, Ask)})

    def wait(self, at: int) -> None:
        self.put(TimeUp(Instant(at)))

    def send(self, at: int, seat: int, lag: int = 0) -> None:
        self.put(Sent(Instant(at), seat, self.asks[seat].decision, lag))

    def answer(self, at: int, seat: int, decision: int | None = None, action: int | None = None) -> None:
        ask = self.asks[seat]
        self.put(Acted(Instant(at), seat, decision or ask.decision, ask.legal[0] if action is None else action))

    def stand_in(self, at: int, seat: int) -> None:
        self.put(StoodIn(Instant(at), seat, self.asks[seat].decision, self.asks[seat].legal[0]))

    def seats(self, at: int = 10**9) -> tuple[SeatTimeline, ...]:
        """Interrupt the match, record and read it. Return the timelines."""
        self.put(Interrupted(Instant(at), "enough"))
        replay = read(encode(self._header, self._entries))
        return timelines(replay.header, replay.inputs)

    def seat(self, number: int, at: int = 10**9) -> SeatTimeline:
        """Return the timeline of one seat without the end of the match."""
        seat = self.seats(at)[number]
        assert [event.kind for event in seat.events if event.kind is EventKind.INTERRUPTED] == [EventKind.INTERRUPTED]
        return replace(seat, events=tuple(event for event in seat.events if event.kind is not EventKind.INTERRUPTED))


def drawn(seat: SeatTimeline) -> str:
    screen = Console(width=250, record=True, file=StringIO())
    screen.print(course_table(header_of(NULLERN, 2, {}, 1), seat, None))
    return screen.export_text()


def kinds(seat: SeatTimeline) -> list[EventKind]:
    return [event.kind for event in seat.events]


def test_timeline_of_a_decision_has_when_it_was_due_sent_and_made_and_what_it_cost() -> None:
    rig = Rig()
    rig.send(5 * MS, 1, lag=40 * MS)
    rig.answer(345 * MS, 1)  # 300 ms on the clock: a first decision has 200 ms free, and the bank pays the rest
    rig.send(350 * MS, 0)
    rig.answer(353 * MS, 0)
    first, second = rig.seat(1).decisions
    assert (first.number, first.round, first.due, first.made) == (1, 0, 0, 345 * MS)
    assert (first.soft, first.bank) == (200 * MS, 1000 * MS)
    assert (first.waited, first.took, first.spent, first.bank_after) == (5 * MS, 340 * MS, 300 * MS, 900 * MS)
    assert [tuple(each) for each in first.sendings] == [(5 * MS, 40 * MS)]
    assert [tuple(each) for each in first.answers] == [(345 * MS, first.action, None, 0)]
    assert first.own
    assert first.blame is None
    assert (second.number, second.due, second.made, second.bank) == (3, 353 * MS, None, 900 * MS)
    assert not second.own


def test_timeline_round_trip_is_taken_off_up_to_the_allowance_only() -> None:
    rig = Rig()
    rig.send(0, 1, lag=900 * MS)
    rig.answer(300 * MS, 1)
    assert rig.seat(1).decisions[0].spent == 300 * MS - ALLOWANCE


def late(at: Callable[[int], int | None], lag: int = 0) -> SeatTimeline:
    """Seat 1's first decision times out. Its answer comes at the time that `at` computes from the timeout."""
    rig = Rig()
    rig.send(0, 1, lag)
    fell = 1200 * MS + min(lag, ALLOWANCE)
    answered = at(fell)
    if answered is not None:
        rig.answer(answered, 1)
    else:
        rig.wait(fell + 1)  # the match continues without seat 1
    return rig.seat(1)


@pytest.mark.parametrize(
    ("lag", "late_by", "blame"),
    [
        (0, 3 * MS, Blame.BOT),
        (0, None, Blame.BOT),
        (ALLOWANCE, 1, Blame.BOT),
        (ALLOWANCE, None, Blame.BOT),
        (ALLOWANCE + 50 * MS, 50 * MS, Blame.NETWORK),
        (ALLOWANCE + 50 * MS, 50 * MS + 1, Blame.BOT),
        (ALLOWANCE + 50 * MS, None, Blame.EITHER),
    ],
)
def test_timeline_decision_lost_to_time_has_its_owner_by_round_trip_and_lateness(
    lag: int, late_by: int | None, blame: Blame
) -> None:
    seat = late(lambda fell: None if late_by is None else fell + late_by, lag)
    lost = seat.decisions[0]
    assert (lost.forced, lost.blame, lost.late_by) == (Cause.TIME, blame, late_by)
    assert lost.made == 1200 * MS + min(lag, ALLOWANCE), "when its clock fell, not when the next input came"
    assert (lost.spent, lost.bank_after) == (1200 * MS, 0)
    if late_by is not None:
        refused = Event(
            Instant(lost.made + late_by), EventKind.REFUSED, 1, NULLERN_FIRST, Refusal.STALE, late_by, blame
        )
        assert seat.events == (refused,)
    assert seat.lost == {Cause.TIME: 1}


def test_timeline_bot_that_answered_wrongly_and_then_nothing_was_to_be_reached() -> None:
    rig = Rig()
    rig.send(0, 1, lag=2 * ALLOWANCE)
    rig.answer(10 * MS, 1, action=NO_ACTION)
    rig.wait(1500 * MS)
    assert rig.seat(1).decisions[0].blame is Blame.BOT


def test_timeline_silence_before_a_disconnect_may_be_the_network() -> None:
    rig = Rig()
    rig.send(0, 1)
    rig.wait(1300 * MS)
    rig.put(Left(Instant(5_000 * MS), 1))
    seat = rig.seat(1, at=5_001 * MS)
    assert (seat.decisions[0].forced, seat.decisions[0].blame) == (Cause.TIME, Blame.EITHER)
    assert seat.events == (Event(Instant(5_000 * MS), EventKind.GONE, time=30_000 * MS, blame=Blame.EITHER),)


def test_timeline_clock_stands_while_a_bot_is_gone_first_and_runs_the_second_time() -> None:
    rig = Rig()
    rig.send(0, 1)
    rig.put(Left(Instant(50 * MS), 1))
    rig.put(Returned(Instant(20_000 * MS), 1))
    rig.send(20_001 * MS, 1)
    rig.answer(20_011 * MS, 1)
    rig.send(20_012 * MS, 0)
    rig.answer(20_013 * MS, 0)
    rig.put(Left(Instant(20_014 * MS), 1))
    rig.wait(23_000 * MS)
    seat = rig.seat(1, at=23_000 * MS)
    first, second = seat.decisions[:2]
    assert [each.at for each in first.sendings] == [0, 20_001 * MS]
    assert (first.spent, first.took, first.own) == (60 * MS, 10 * MS, True)
    assert (second.forced, second.blame, second.sendings) == (Cause.TIME, Blame.EITHER, ())
    assert kinds(seat) == [EventKind.GONE, EventKind.BACK, EventKind.GONE]


def test_timeline_rejections_and_what_they_cost_are_the_bots() -> None:
    rig = Rig()
    rig.send(0, 1)
    for at in (10, 20, 30):
        rig.answer(at * MS, 1, action=NO_ACTION)
    seat = rig.seat(1)
    forced = seat.decisions[0]
    assert (forced.forced, forced.made, forced.blame) == (Cause.ILLEGALITY, 30 * MS, Blame.BOT)
    assert (forced.spent, forced.bank_after) == (30 * MS, 1000 * MS)
    assert [answer.refused for answer in forced.answers] == [Refusal.ILLEGAL] * 3
    assert [(each.kind, each.at, each.action, each.blame) for each in seat.events] == [
        (EventKind.REFUSED, at * MS, NO_ACTION, Blame.BOT) for at in (10, 20, 30)
    ]
    assert seat.lost == {Cause.ILLEGALITY: 1}
    assert seat.troubles == {Blame.BOT: 4}


def test_timeline_doubled_answers_and_answers_to_nothing_are_the_bots() -> None:
    rig = Rig()
    rig.send(0, 1)
    rig.answer(1 * MS, 1)
    rig.answer(2 * MS, 1, decision=1)
    rig.answer(3 * MS, 1, decision=77)
    rig.answer(4 * MS, 1, decision=2)  # the other seat's decision
    seat = rig.seat(1)
    assert [(each.refused, each.time, each.blame) for each in seat.events] == [
        (Refusal.STALE, 0, Blame.BOT),
        (Refusal.UNKNOWN, 0, Blame.BOT),
        (Refusal.UNKNOWN, 0, Blame.BOT),
    ]
    assert len(seat.decisions[0].answers) == 2


def suspended(answers_last: bool) -> Rig:
    """Seat 1 is late three times in a row on a connection slower than the allowance. Seat 0 answers at once."""
    rig, now = Rig(), 0
    for turn in range(3):
        rig.send(now, 1, lag=ALLOWANCE + 50 * MS)
        lost = rig.asks[1].decision
        now += 1500 * MS
        rig.wait(now)
        if turn == 2 and answers_last:
            rig.answer(now, 1, decision=lost)
        while turn < 2 and rig.asks[1].decision == lost:
            rig.send(now, 0)
            rig.answer(now, 0)
    return rig


def test_timeline_suspension_has_the_owner_of_the_lateness_it_comes_from() -> None:
    rig = suspended(answers_last=False)
    for _ in range(4):
        rig.send(9_000 * MS, 0)
        rig.answer(9_000 * MS, 0)
    rig.put(Returned(Instant(9_000 * MS), 1))
    seat = rig.seat(1, at=9_000 * MS)
    assert seat.lost[Cause.TIME] == 3
    assert seat.lost[Cause.SUSPENSION] > 0
    [suspension] = [event for event in seat.events if event.kind is EventKind.SUSPENDED]
    assert suspension.blame is Blame.EITHER
    during = [each for each in seat.decisions if each.forced is Cause.SUSPENSION]
    assert {each.blame for each in during} == {Blame.EITHER}
    assert all(each.made == each.due and each.spent == 0 and not each.sendings for each in during)
    assert kinds(seat)[-1] is EventKind.READY


def test_timeline_suspension_of_a_bot_that_was_slow_is_the_bots() -> None:
    seat = suspended(answers_last=True).seat(1)
    [suspension] = [event for event in seat.events if event.kind is EventKind.SUSPENDED]
    assert suspension.blame is Blame.BOT


def test_timeline_house_bot_that_takes_over_is_seen_and_so_is_what_it_played() -> None:
    rig = Rig()
    rig.send(0, 1)
    rig.put(Left(Instant(10 * MS), 1))
    rig.put(Left(Instant(11 * MS), 1))
    rig.wait(30_020 * MS)
    rig.stand_in(30_021 * MS, 1)
    rig.put(Returned(Instant(30_022 * MS), 1))
    rig.answer(30_023 * MS, 1, decision=1)
    seat = rig.seat(1)
    first = seat.decisions[0]
    assert (first.forced, first.blame, first.spent) == (Cause.ABSENCE, Blame.EITHER, 10 * MS)
    assert [(event.kind, event.at) for event in seat.events] == [
        (EventKind.GONE, 10 * MS),
        (EventKind.SUBSTITUTED, 30_010 * MS),
        (EventKind.RETURNED, 30_022 * MS),
        (EventKind.REFUSED, 30_023 * MS),
    ]


def test_timeline_orderly_leave_is_the_bots_and_so_is_what_was_played_meanwhile() -> None:
    rig = Rig()
    rig.send(0, 1)
    rig.put(Left(Instant(10 * MS), 1, in_order=True))
    rig.put(Left(Instant(10 * MS + 1), 1))  # the bot's stream ends
    rig.stand_in(11 * MS, 1)
    seat = rig.seat(1)
    first = seat.decisions[0]
    assert (first.forced, first.blame) == (Cause.ABSENCE, Blame.BOT)
    assert [(event.kind, event.blame) for event in seat.events] == [
        (EventKind.GONE, Blame.BOT),
        (EventKind.SUBSTITUTED, Blame.BOT),
    ]
    assert seat.troubles == {Blame.BOT: 3}
    assert "left in order" in drawn(seat)


def test_timeline_bot_that_is_back_and_then_gone_without_a_word_did_not_announce_that() -> None:
    rig = Rig()
    rig.send(0, 1)
    rig.put(Left(Instant(10 * MS), 1, in_order=True))
    rig.put(Returned(Instant(20 * MS), 1))
    rig.put(Left(Instant(30 * MS), 1))
    rig.stand_in(31 * MS, 1)
    seat = rig.seat(1)
    assert (seat.decisions[0].forced, seat.decisions[0].blame) == (Cause.ABSENCE, Blame.EITHER)
    assert [(event.kind, event.blame) for event in seat.events[:2]] == [
        (EventKind.GONE, Blame.BOT),
        (EventKind.SUBSTITUTED, Blame.BOT),
    ]


def test_timeline_bot_that_loses_a_decision_and_then_leaves_in_order_was_there() -> None:
    rig = Rig()
    rig.send(0, 1)
    rig.wait(1300 * MS)
    rig.put(Left(Instant(1400 * MS), 1, in_order=True))
    lost = rig.seat(1).decisions[0]
    assert (lost.forced, lost.blame) == (Cause.TIME, Blame.BOT)


def test_timeline_restart_is_the_servers_and_explains_why_a_question_waited() -> None:
    rig = Rig()
    rig.put(Restored(Instant(10 * MS)))
    rig.put(Left(Instant(11 * MS), 0))
    rig.put(Returned(Instant(3_000 * MS), 0))
    rig.put(Returned(Instant(4_000 * MS), 1))
    rig.send(4_001 * MS, 1)
    rig.answer(4_002 * MS, 1)
    here = rig.seat(1)
    assert here.decisions[0].waited == 4_001 * MS
    assert here.decisions[0].spent == MS
    assert [(event.kind, event.blame) for event in here.events] == [
        (EventKind.HELD, Blame.SERVER),
        (EventKind.RETURNED, None),
        (EventKind.RELEASED, None),
    ]


def test_timeline_question_that_waited_for_a_bot_that_was_there_is_the_bots() -> None:
    rig = Rig()
    rig.send(101 * MS, 1)
    rig.answer(102 * MS, 1)
    rig.send(202 * MS, 0)  # exactly at the soft limit, so it does not count as long
    other, seat = rig.seats(at=202 * MS)
    assert seat.events[0] == Event(Instant(101 * MS), EventKind.WAITED, 1, time=101 * MS, blame=Blame.BOT)
    assert kinds(other) == [EventKind.INTERRUPTED]


def test_timeline_whatever_befalls_a_house_bot_is_the_servers() -> None:
    rig = Rig(house=1)
    rig.send(0, 1)
    rig.answer(1, 1, action=NO_ACTION)
    rig.wait(2_000 * MS)
    seat = rig.seat(1)
    assert seat.decisions[0].forced is Cause.TIME
    assert seat.troubles == {Blame.SERVER: 2}


def test_timeline_stand_in_that_chose_what_is_not_legal_is_the_servers() -> None:
    rig = Rig()
    rig.put(Left(Instant(0), 1))
    rig.wait(30_001 * MS)
    rig.put(StoodIn(Instant(30_002 * MS), 1, rig.asks[1].decision, NO_ACTION))
    decision = rig.seat(1).decisions[0]
    assert (decision.forced, decision.blame) == (Cause.ILLEGALITY, Blame.SERVER)


def test_timeline_interruption_is_the_servers() -> None:
    for seat in Rig().seats(at=7):
        assert seat.events == (Event(Instant(7), EventKind.INTERRUPTED, blame=Blame.SERVER),)


def test_timeline_of_inputs_about_seats_that_do_not_exist_is_empty_of_them() -> None:
    rig = Rig()
    for event in (
        Sent(Instant(1), 9, 1, 0),
        Acted(Instant(2), -1, 1, 0),
        StoodIn(Instant(3), 2, 1, 0),
        Left(Instant(4), 5),
        Returned(Instant(5), 5),
    ):
        rig.put(event)
    assert [kinds(seat) for seat in rig.seats()] == [[EventKind.INTERRUPTED]] * 2


def test_timeline_slowest_and_percentiles_are_of_what_the_bot_did() -> None:
    rig, now = Rig(), 0
    for took in (40, 10, 30, 20):
        for number, each in ((1, took), (0, 1)):
            if rig.asks.get(number) == max(rig.asks.values(), key=lambda ask: ask.decision):
                rig.send(now, number)
                now += each * MS
                rig.answer(now, number)
    seat = rig.seat(1)
    took_us = sorted(each.took or 0 for each in seat.decisions if each.own)
    assert seat.took(50) == took_us[(len(took_us) + 1) // 2 - 1]
    assert seat.took(95) == seat.took(100) == took_us[-1]
    assert [each.took for each in seat.slowest(2)] == took_us[::-1][:2]
    assert replace(seat, decisions=()).took(50) is None
    assert replace(seat, decisions=()).bank is None


@pytest.mark.parametrize("game", [SIXTH_SENSE, NULLERN], ids=lambda game: game.name)
@pytest.mark.parametrize("chance", range(1, 7))
def test_timeline_of_a_whole_match_agrees_with_its_steps_and_its_result(game: Game, chance: int) -> None:
    header, entries = play(3, game=game, chance=chance)
    replay = read(encode(header, entries))
    seats = timelines(replay.header, replay.inputs)
    decisions = sorted([each for seat in seats for each in seat.decisions], key=lambda each: each.number)
    assert [decision.number for decision in decisions] == list(range(1, len(decisions) + 1))
    made = {step.made.decision: (step.made, step.round) for step in steps(replay) if step.made is not None}
    owners = {decision.number: seat.seat for seat in seats for decision in seat.decisions}
    assert {each.number: (owners[each.number], each.action, each.forced, each.round) for each in decisions} == {
        number: (step.seat, step.action, step.forced, played) for number, (step, played) in made.items()
    }
    for seat in seats:
        forced = seat.lost.total() - seat.lost[Cause.ABSENCE]
        assert forced == replay.result.forced[seat.seat]
        assert all(each.due <= (each.made or 0) for each in seat.decisions)
        assert all(0 <= each.spent <= each.soft + each.bank for each in seat.decisions)
        assert all((each.blame is None) == each.own for each in seat.decisions)
        assert all(one.bank_after == then.bank for one, then in pairwise(seat.decisions))
        assert list(seat.events) == sorted(seat.events, key=lambda event: event.at)
        assert (
            seat.count(EventKind.SUBSTITUTED) + seat.count(EventKind.SUSPENDED) > 0
            or not replay.result.troubled[seat.seat]
        )


def test_timeline_names_the_house_bot_that_plays_on_also_after_a_restart_with_another() -> None:
    rig = Rig()
    rig.put(Left(Instant(1 * MS), 1))
    rig.wait(30_001 * MS)
    rig.put(Restored(Instant(30_002 * MS), "house-planner 2"))
    rig.put(Returned(Instant(30_003 * MS), 0))
    rig.put(Restored(Instant(30_004 * MS), "house-planner 2"))
    rig.put(Returned(Instant(30_005 * MS), 0))
    rig.put(Left(Instant(30_006 * MS), 0))
    rig.wait(60_006 * MS)
    seats = rig.seats()
    named = [[(event.kind, event.stand_in) for event in seat.events if event.stand_in] for seat in seats]
    assert named == [
        [(EventKind.SUBSTITUTED, "house-planner 2")],
        [(EventKind.SUBSTITUTED, "house-counter 1"), (EventKind.REPLACED, "house-planner 2")],
    ]
    text = drawn(seats[1])
    assert "house-counter 1 plays on" in text
    assert "house-planner 2 plays on from here: the server has other house bots now" in text
    assert seats[1].troubles[Blame.EITHER] == 2, "gone and played for: the other stand-in is no trouble of its own"


@pytest.mark.parametrize("chance", [1, 46])
def test_timeline_says_which_seats_house_bots_played_too_much_of(chance: int) -> None:
    replay = read(rated(3, chance=chance, stays_away=True))
    seats = timelines(replay.header, replay.inputs)
    assert tuple(seat.spoilt for seat in seats) == replay.result.spoilt
    assert True in replay.result.spoilt
    for seat in seats:
        assert ("a loss to all others" in in_words(seat).plain) == seat.spoilt
