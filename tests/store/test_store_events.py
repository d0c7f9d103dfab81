"""Events in the store, from the announcement to the result. Each step has its leaf in the log."""

from __future__ import annotations

import json
from pathlib import Path
from random import Random
from typing import Any

import pytest
from sqlalchemy import Connection

from arena.ladder.luck import fitted
from arena.log.leaf import decode_leaf
from arena.replay.header import MatchKind
from arena.scheduling.event.course import (
    Contestant,
    EarlierMatches,
    EventCourse,
    EventTerms,
    PlayedTable,
    race_document,
)
from arena.scheduling.event.scores import adjusted_scores
from arena.store import nodes
from arena.store.base import changes
from arena.store.base import leaves as log
from arena.store.base.errors import BadEvent, EventNameTaken, EventRefused, NoSuchEvent, StoreError, UnknownBot
from arena.store.base.rows import MatchState
from arena.store.bots import bots
from arena.store.ladder import baselines
from arena.store.log.audit import audit
from arena.store.matches import contests, matches
from arena.store.matches.contests import EventPlan, EventRoll
from arena.store.opening import open_readonly, open_to_amend
from arena.store.store import open_store
from tests.postgresql import in_words_of
from tests.store.jobs import GAME, NOW, add_bots, begin, finish, replay

PLAN = EventPlan("friday", GAME, 2, "race", 3, None, "open", NOW + 100)
SEED = bytes(range(32))


@pytest.fixture
async def data(directory: Path) -> Path:
    async with open_store(directory, NOW):
        pass
    return directory


def play(connection: Connection, event: str, players: list[int], *, interrupted: bool = False) -> int:
    """Play the match of a table, in which the second bot vanishes."""
    match_id = matches.begin(connection, GAME, {}, [bots.BotId(bot) for bot in players], NOW, event=event)
    if interrupted:
        matches.interrupt(connection, [match_id], "gone", NOW + 1)
        return match_id
    result: dict[str, Any] = {"scores": (7, 3), "places": (1, 2), "forced": (0, 0), "counts": (True, False)}
    matches.finish(connection, match_id, **result, at=NOW + 1, replay=replay, kind=MatchKind.EVENT)
    return match_id


def leaves(connection: Connection) -> list[dict[str, Any]]:
    return [decode_leaf(log.leaf(connection, number)) for number in range(2, log.size(connection) + 1)]


async def test_an_event_goes_from_its_announcement_to_its_result(data: Path) -> None:
    with open_to_amend(data) as connection:
        ann, bob, _ = add_bots(connection, "ann", "bob", "cleo")
        contests.create(connection, PLAN, SEED, ["Cleo"], NOW)
        contests.enter(connection, "friday", "ann", NOW + 1)
        contests.enter(connection, "friday", "bob", NOW + 2)
        event = contests.start(connection, "friday", {bob: b"b" * 16, ann: b""}, EarlierMatches(), NOW + 100)
        assert [each.nonce for each in contests.entrants(connection, event.id)] == [None, bytes(16), b"b" * 16]
        course = EventCourse(contests.terms(connection, event))
        roll = EventRoll(0, (ann, bob), 0)
        contests.call_roll(connection, event, roll, NOW + 101)
        assert contests.rolls(connection, event.id) == (roll,)
        course.begin_round(roll.present, 0)
        [table] = course.open_tables
        players = [each or 0 for each in course.seated(table)]
        gone = play(connection, "friday/0", players, interrupted=True)
        assert contests.tables(connection, event.id) == ((0, gone, MatchState.INTERRUPTED, None, False),)
        again = play(connection, "friday/0", players)
        played = PlayedTable(tuple(players), (7, 3), (True, False))
        assert contests.tables(connection, event.id) == ((0, again, MatchState.FINISHED, played, False),)
        assert contests.tables(connection, event.id, first=1) == ()
        course.record(0, played)
        assert matches.get_match(connection, again).kind is MatchKind.EVENT
        contests.finish(connection, event, race_document(course.race), NOW + 200)
        found = leaves(connection)
        assert [leaf["kind"] for leaf in found] == ["event", "entrants", "roll", "interrupted", "casual", "outcome"]
        assert (found[0]["commitment"], found[-1]["seed"]) == (event.commitment.hex(), SEED.hex())
        assert (found[1]["names"], found[1]["nonces"]) == (["ann", "bob"], ["00" * 16, "62" * 16])
        assert found[-1]["tables"] == [again]
        bots.register(connection, "dora", "", NOW)
        contests.create(connection, PLAN._replace(name="saturday"), SEED, (), NOW)
        assert contests.cancel(connection, "saturday", "rain", NOW + 1).state == "cancelled"
    with open_readonly(data) as connection:
        assert audit(connection).faults == []
        assert [each.plan.name for each in contests.list_events(connection)] == ["saturday", "friday"]


async def test_only_entrants_of_present_events_and_of_those_that_start_soon_are_listed(data: Path) -> None:
    with open_to_amend(data) as connection:
        ann, bob, _, dora = add_bots(connection, "ann", "bob", "cleo", "dora")
        for name, entrants, start in (("later", ["dora"], 300), ("rain", ["cleo"], 100), ("soon", ["ann", "bob"], 100)):
            contests.create(connection, PLAN._replace(name=name, start=NOW + start), SEED, entrants, NOW)
        contests.cancel(connection, "rain", "rain", NOW + 1)
        assert contests.entrants_by(connection, NOW + 99) == frozenset()
        assert contests.entrants_by(connection, NOW + 100) == {ann, bob}
        event = contests.start(connection, "soon", {ann: b"", bob: b""}, EarlierMatches(), NOW + 2)
        assert contests.entrants_by(connection, NOW) == {ann, bob}
        contests.finish(connection, event, race_document(EventCourse(contests.terms(connection, event)).race), NOW + 3)
        assert contests.entrants_by(connection, NOW + 299) == frozenset()
        assert contests.entrants_by(connection, NOW + 300) == {dora}


async def test_a_table_has_one_match_and_nodes_learn_of_its_end(data: Path) -> None:
    with open_to_amend(data) as connection:
        ann, bob = add_bots(connection, "ann", "bob")
        contests.create(connection, PLAN, SEED, ["ann", "bob"], NOW)
        contests.start(connection, "friday", {ann: b"", bob: b""}, EarlierMatches(), NOW + 1)
        players = [bots.BotId(ann), bots.BotId(bob)]

        def begun(number: int, node: int | None) -> matches.MatchId:
            with connection.begin_nested():
                return matches.begin(connection, GAME, {}, players, NOW, number, event="friday/0", node=node)

        marks = [nodes.newest_change(connection)]

        def learned() -> bool:
            mark, found = nodes.changed_since(connection, marks[-1])
            marks.append(mark)
            return (changes.EVENT, "friday") in found

        first = begun(65, 2)
        with pytest.raises(StoreError, match="table 0 of the event friday is that of match 65"):
            begun(129, 3)
        assert not learned()
        matches.interrupt(connection, [first], "gone", NOW + 1)
        assert learned()
        again = begun(130, 3)
        result: dict[str, Any] = {"scores": (7, 3), "places": (1, 2), "forced": (0, 0), "counts": (True, False)}
        matches.finish(connection, again, **result, at=NOW + 1, replay=replay, kind=MatchKind.EVENT)
        assert learned()
        with pytest.raises(StoreError, match="match 130"):
            begun(131, 2)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ("UPDATE events SET seed = zeroblob(32)", '"commitment", and the tables say'),
        ("UPDATE event_rolls SET present = '[1]'", '"present", and the tables say'),
        ("UPDATE event_entrants SET nonce = zeroblob(16) WHERE bot_id = 2", '"nonces", and the tables say'),
        ("UPDATE events SET state = 'announced'", "no such entrants of an event 'friday'"),
        ("INSERT INTO event_rolls VALUES (1, 1, 5, '[]', 0)", "no leaf tells of the roll of the event friday"),
    ],
)
async def test_a_change_behind_the_servers_back_is_found(data: Path, change: str, words: str) -> None:
    with open_to_amend(data) as connection:
        ann, bob = add_bots(connection, "ann", "bob")
        contests.create(connection, PLAN, SEED, ["ann", "bob"], NOW)
        event = contests.start(connection, "friday", {ann: b"a" * 16, bob: b"b" * 16}, EarlierMatches(), NOW + 1)
        contests.call_roll(connection, event, EventRoll(0, (ann, bob), 0), NOW + 2)
    with open_to_amend(data) as connection:
        connection.execute(in_words_of(connection, change))
    with open_readonly(data) as connection:
        assert any(words in fault.text for fault in audit(connection).faults), audit(connection).faults


async def test_bad_input_gets_a_named_error_and_changes_nothing(data: Path) -> None:
    with open_to_amend(data) as connection:
        (ann,) = add_bots(connection, "ann")
        bots.register(connection, "eve", "Eve", NOW)
        bots.register(connection, "eve-2", "eve", NOW)
        contests.create(connection, PLAN, SEED, ["eve"], NOW)
        before = leaves(connection)
        for plan, error, words in (
            (PLAN, EventNameTaken, "'friday' already; choose another name"),
            (PLAN._replace(name="No way"), BadEvent, "'No way' is no name of an event: use 1 to 40"),
            (PLAN._replace(name="late", start=NOW), BadEvent, "in the past: choose a later one"),
        ):
            with pytest.raises(error, match=words):
                contests.create(connection, plan, SEED, (), NOW)
        with pytest.raises(EventRefused, match="eve has entered the event friday already"):
            contests.enter(connection, "friday", "eve", NOW)
        with pytest.raises(EventRefused, match="eve has entered eve already: an event takes one bot of an owner"):
            contests.enter(connection, "friday", "eve-2", NOW)
        with pytest.raises(UnknownBot):
            contests.enter(connection, "friday", "nobody", NOW)
        with pytest.raises(NoSuchEvent, match="no event 'sunday'; `arena event list`"):
            contests.enter(connection, "sunday", "ann", NOW)
        with pytest.raises(EventRefused, match="two bots or more, and eve checked in: connect the bots"):
            contests.start(connection, "friday", {2: b""}, EarlierMatches(), NOW)
        assert leaves(connection) == before
        contests.create(connection, PLAN._replace(name="closed", entry="invited"), SEED, (), NOW)
        with pytest.raises(EventRefused, match="for invited bots: ask its operator to enter ann"):
            contests.enter(connection, "closed", "ann", NOW)
        contests.enter(connection, "friday", "ann", NOW)
        contests.start(connection, "friday", {ann: b"", 2: b""}, EarlierMatches(), NOW)
        with pytest.raises(EventRefused, match="is in round 0: it ends by its budget"):
            contests.cancel(connection, "friday", "", NOW)
        with pytest.raises(EventRefused, match="is playing: bots enter before its start"):
            contests.enter(connection, "friday", "eve-2", NOW)


async def test_earlier_points_are_those_of_rated_matches_of_the_same_kind(data: Path) -> None:
    with open_to_amend(data) as connection:
        ann, bob = add_bots(connection, "ann", "bob")
        assert contests.earlier_matches(connection, GAME, 2, {"rounds": 3}) == EarlierMatches()
        for places in ((1, 2), (2, 1), (1, 2)):
            finish(connection, begin(connection, [ann, bob]), places)
        contests.create(connection, PLAN, SEED, [], NOW)
        play(connection, "friday/0", [ann, bob])
        assert contests.earlier_matches(connection, GAME, 2, {"rounds": 3}) == EarlierMatches(3, (26, 25))
        assert contests.earlier_matches(connection, GAME, 2, {}) == EarlierMatches()
        assert contests.earlier_matches(connection, GAME, 3, {"rounds": 3}) == EarlierMatches()


async def test_baselines_count_from_two_hundred_of_the_same_house_bots(data: Path) -> None:
    chance, rows = Random(1), []
    with open_to_amend(data) as connection:
        ann, bob = add_bots(connection, "ann", "bob")
        for number in range(contests.BASELINES_FROM + 1):
            match_id = begin(connection, [ann, bob])
            finish(connection, match_id, chance.choice([(1, 2), (2, 1)]))
            scores = (chance.randrange(9), chance.randrange(9))
            baselines.add(connection, GAME, match_id, "careful 1" if number else "careful 0", scores)
            rows.append((matches.get_match(connection, match_id), scores))
            if number == 0:
                points = contests.earlier_matches(connection, GAME, 2, {"rounds": 3})
                assert contests.earlier_matches(connection, GAME, 2, {"rounds": 3}, "careful 0") == points
        found = contests.earlier_matches(connection, GAME, 2, {"rounds": 3}, "careful 1")
    share, table = fitted(2, [(tuple(seat.score or 0 for seat in row.seats), scores) for row, scores in rows[1:]])
    assert (found.house, found.replayed, found.matches) == ("careful 1", len(rows) - 1, len(rows))
    assert found.baselines == tuple(sum(scores[seat] for _, scores in rows[1:]) for seat in range(2))
    assert (found.share, found.table) == (round(share * 1_000_000), round(table * 1_000_000))
    assert EarlierMatches.of(found.document) == found
    assert (EarlierMatches.of([]), EarlierMatches.of([2, 9, 5])) == (EarlierMatches(), EarlierMatches(2, (9, 5)))
    frozen = found.frozen(2)
    assert frozen.means == tuple(total / found.matches for total in found.points)
    assert frozen.baselines == tuple(total / found.replayed for total in found.baselines)
    assert (frozen.share, frozen.table) == (found.share / 1_000_000, found.table / 1_000_000)


async def test_a_table_counts_only_with_its_baselines_which_are_in_the_last_leaf(data: Path) -> None:
    earlier = EarlierMatches(300, (1500, 1400), "careful 1", 250, (1000, 900), 400_000, 100_000)
    with open_to_amend(data) as connection:
        ann, bob = add_bots(connection, "ann", "bob")
        contests.create(connection, PLAN._replace(matches=2), SEED, ["ann", "bob"], NOW)
        event = contests.start(connection, "friday", {ann: b"", bob: b""}, earlier, NOW + 1)
        assert event.earlier == earlier
        for number, scores in enumerate(((6, 2), ())):
            course = contests.course(connection, event)
            course.end_round(0)
            contests.call_roll(connection, event, EventRoll(number, (ann, bob), 0), NOW + 2)
            course.begin_round((ann, bob), 0)
            [table] = course.open_tables
            match_id = play(connection, f"friday/{number}", [each or 0 for each in course.seated(table)])
            assert len(contests.course(connection, event).open_tables) == 1
            contests.replayed(connection, "friday", match_id, "careful 1", scores)
            course = contests.course(connection, event)
            assert course.open_tables == ()
        course.end_round(0)
        [first, second] = contests.tables(connection, event.id)
        assert [each.played.baselines for each in (first, second) if each.played] == [(6, 2), ()]
        contests.finish(connection, event, race_document(course.race), NOW + 3)
        assert leaves(connection)[-1]["baselines"] == [[6, 2], []]
        assert baselines.newest(connection, GAME) == 0
    with open_readonly(data) as connection:
        assert audit(connection).faults == []
    adjusted = (7 - 5 - 0.4 * ((6 - 4) - (4 - 3.8)) - 0.1 * (4 - 3.8), 3 - 1400 / 300)
    assert adjusted_scores((7, 3), (6, 2), (False, False), earlier.frozen(2))[0] == pytest.approx(adjusted[0])


async def test_a_bot_that_comes_back_writes_nothing(data: Path) -> None:
    with open_to_amend(data) as connection:
        add_bots(connection, "ann")
        bots.register(connection, "eve", "Eve", NOW)
        bots.register(connection, "eve-2", "eve", NOW)
        contests.create(connection, PLAN, SEED, ["ann", "eve"], NOW)
        contests.create(connection, PLAN._replace(name="sunday"), SEED, [], NOW)
        assert contests.to_enter(connection, "ann", ["friday"] * 8, [GAME]) == ()
        assert contests.to_enter(connection, "ann", ["friday", "sunday", "sunday"], [GAME]) == ("sunday",)
        with pytest.raises(EventRefused, match="eve has entered eve already: an event takes one bot of an owner"):
            contests.to_enter(connection, "eve-2", ["sunday", "friday"], [GAME])
        with pytest.raises(NoSuchEvent):
            contests.to_enter(connection, "ann", ["monday"], [GAME])


def test_a_result_is_plain_json() -> None:
    course = EventCourse(
        EventTerms(SEED, tuple(Contestant(bot, f"bot-{bot}", bytes(16)) for bot in (1, 2)), 2, 3, False)
    )
    assert json.loads(json.dumps(race_document(course.race))) == race_document(course.race)
