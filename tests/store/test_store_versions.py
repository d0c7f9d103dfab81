"""Versions and the list of events: the input of the ladder, which never changes."""

from __future__ import annotations

from pathlib import Path

import pytest
from sqlalchemy import Connection, delete, insert, select, update
from sqlalchemy.exc import IntegrityError

from arena.ladder import live
from arena.ladder.events import Entrant, MatchResult, Node, Void, day_of
from arena.ladder.live import Rating
from arena.replay.thinking import Thinking
from arena.store import schema
from arena.store.base.errors import NoResult, ReasonNotAllowed, ResultVoid, UnknownBot, UnknownMatch
from arena.store.bots import bots
from arena.store.ladder import events, versions
from arena.store.ladder.standings import history, standings
from arena.store.matches import matches
from arena.store.opening import open_readonly, open_to_amend
from tests.store.jobs import GAME, NOW, add_bots, begin, finish, replay

TODAY = day_of(NOW)


def seated(connection: Connection, *players: tuple[int, str]) -> tuple[Node, ...]:
    return versions.seat(connection, [(bot, version) for bot, version in players], NOW)  # type: ignore[misc]


def play(connection: Connection, players: list[int], said: list[str], places: list[int]) -> int:
    match_id = matches.begin(connection, GAME, {}, players, NOW, said=said)  # type: ignore[arg-type]
    finish(connection, match_id, places)
    return match_id


def test_a_version_is_a_node_of_its_own_and_the_child_of_the_one_before(data: Path) -> None:
    with open_to_amend(data) as connection:
        ada, bob = add_bots(connection, "Ada", "Bob")
        first, other = seated(connection, (ada, "1"), (bob, "1"))
        (second,) = seated(connection, (ada, "2"))
        assert len({first, other, second}) == 3
        assert seated(connection, (ada, "1"), (ada, "2"), (ada, "1")) == (first, second, first)
        (third,) = seated(connection, (ada, "3"))
        parents = connection.execute(select(schema.versions.c.id, schema.versions.c.parent))
        assert {row.id: row.parent for row in parents} == {
            first: None,
            other: None,
            second: first,
            third: second,
        }


def test_the_scale_is_held_by_the_house_bots_that_think_and_do_not_search(data: Path) -> None:
    with open_to_amend(data) as connection:
        names = ["house-random", "house-careful", "house-planner", "house-search"]
        house = bots.ensure_house_bots(connection, names, NOW)
        nodes = seated(connection, (add_bots(connection, "Ada")[0], ""), *((bot.id, "1") for bot in house))
        entrants = versions.entrants(connection, dict.fromkeys(nodes, 1))
        assert [entrant.anchor for entrant in entrants] == [False, False, True, True, False]


def test_a_bot_stands_on_the_ladder_as_the_version_of_its_latest_match(data: Path) -> None:
    with open_to_amend(data) as connection:
        ada, bob = add_bots(connection, "Ada", "Bob")
        one, two, three, bobs = seated(connection, (ada, "1"), (ada, "2"), (ada, "3"), (bob, ""))
        assert versions.entrants(connection, {one: 7, three: 5, bobs: 7}) == (
            Entrant(one, None, newest=True),
            Entrant(three, one, newest=False),
            Entrant(bobs, None),
        )
        assert versions.entrants(connection, {two: 9, one: 8}) == (Entrant(one, newest=False), Entrant(two, one))


def test_a_result_is_an_event_and_a_void_another(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob", "Eve")
        first, second = begin(connection, players), begin(connection, players[:2])
        elsewhere = begin(connection, players, "skat")
        finish(connection, second, [2, 1])
        finish(connection, elsewhere, [1, 1, 3])
        finish(connection, first, [1, 2, 3])
        assert matches.void(connection, second, "the table was rigged", NOW) == GAME
        nodes = seated(connection, *((player, "") for player in players))
        assert list(events.read(connection, GAME)) == [
            MatchResult(1, second, nodes[:2], (2, 1), (True, True), (), TODAY),
            MatchResult(2, first, nodes, (1, 2, 3), (True, True, True), (), TODAY),
            Void(3, second, "the table was rigged"),
        ]
        assert list(events.read(connection, GAME, after=1, through=2)) == [
            MatchResult(2, first, nodes, (1, 2, 3), (True, True, True), (), TODAY)
        ]
        assert (events.newest(connection, GAME), events.newest(connection, "skat"), events.newest(connection, "")) == (
            3,
            1,
            0,
        )
        assert matches.get_match(connection, second).voided == "the table was rigged"
        assert matches.get_match(connection, first).voided == ""


def test_a_void_result_counts_no_more_in_what_adds_up(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob", "Eve")
        finish(connection, begin(connection, players), [3, 1, 2])
        match_id = begin(connection, players[:2])
        finish(connection, match_id, [1, 2])
        matches.void(connection, match_id, "a test", NOW)
        lines = {line.bot: (line.matches, line.wins, line.mean_rank) for line in standings(connection, GAME)}
        assert lines == {"Ada": (1, 0, 1.0), "Bob": (1, 1, 0.0), "Eve": (1, 0, 0.5)}
        assert [moment.voided for moment in history(connection, "ada", GAME)] == [False, True]


def test_only_a_result_that_stands_can_be_void_and_only_for_a_reason(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        playing, finished = begin(connection, players), begin(connection, players)
        finish(connection, finished, [1, 2])
        for reason in ("", "  ", "x" * 201, "two\nlines"):
            with pytest.raises(ReasonNotAllowed, match="1 to 200 printable"):
                matches.void(connection, finished, reason, NOW)
        with pytest.raises(UnknownMatch, match="99"):
            matches.void(connection, 99, "a test", NOW)
        with pytest.raises(NoResult, match=f"match {playing} is playing"):
            matches.void(connection, playing, "a test", NOW)
        matches.void(connection, finished, "a test", NOW)
        with pytest.raises(ResultVoid, match="already: a test"):
            matches.void(connection, finished, "again", NOW)


@pytest.mark.sqlite_only("it is SQLite's own SQL")
def test_the_database_itself_refuses_to_change_the_list(data: Path) -> None:
    with open_to_amend(data) as connection:
        match_id = begin(connection, add_bots(connection, "Ada", "Bob"))
        finish(connection, match_id, [1, 2])
    row = {"ladder": GAME, "match_id": match_id, "kind": "void", "at": 0, "reason": "", "nodes": "", "places": ""}
    for statement, why in (
        (update(schema.rated_results).values(places="21"), "only added"),
        (delete(schema.rated_results), "only added"),
        (insert(schema.rated_results).values(**row, number=3, counts=""), "without a gap"),
        (insert(schema.rated_results).values(**row, number=1, counts="").prefix_with("OR REPLACE"), "without a gap"),
        (insert(schema.rated_results).values(**{**row, "kind": "result"}, number=2, counts=""), "UNIQUE"),
    ):
        with pytest.raises(IntegrityError, match=why), open_to_amend(data) as connection:
            connection.execute(statement)
    with open_readonly(data) as connection:
        assert events.newest(connection, GAME) == 1


def test_a_new_version_begins_where_the_one_before_it_is_less_sure(data: Path) -> None:
    with open_to_amend(data) as connection:
        ada, bob = add_bots(connection, "Ada", "Bob")
        for _ in range(5):
            play(connection, [ada, bob], ["1", ""], [1, 2])
        line = next(line for line in standings(connection, GAME) if line.bot == "Ada")
        before = Rating(line.live, line.live_deviation)
        match_id = play(connection, [ada, bob], ["2", ""], [2, 1])
        seat = matches.get_match(connection, match_id).seats[0]
        assert (seat.bot, seat.version) == ("Ada", "2")
        moment = history(connection, "Ada", GAME)[-1]
        assert seat.rating_before == moment.before == live.start(before).value == before.value
        column = schema.match_seats.c.deviation_before
        begun = connection.scalar(select(column).where(schema.match_seats.c.match_id == match_id).limit(1))
        assert begun == live.start(before).deviation == (before.deviation**2 + 3600) ** 0.5
        line = next(line for line in standings(connection, GAME) if line.bot == "Ada")
        assert (line.version, line.matches, line.live) == ("2", 1, seat.rating_after)
        assert (line.live, line.live_deviation) == (moment.after, moment.deviation)
        assert [moment.version for moment in history(connection, "Ada", GAME)] == ["1"] * 5 + ["2"]
        assert [moment.match_id for moment in history(connection, "Ada", GAME, limit=2)] == [match_id - 1, match_id]


def test_decisions_and_think_times_add_up(data: Path) -> None:
    def result(connection: Connection, *thinking: Thinking) -> None:
        match_id = begin(connection, players)
        matches.finish(
            connection,
            match_id,
            scores=[2, 1],
            places=[1, 2],
            forced=[0, 0],
            counts=[True, True],
            at=NOW,
            replay=replay,
            thinking=thinking,
        )

    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        result(connection, Thinking(10, 1, (1000,) * 9), Thinking(4, 4, ()))
        result(connection, Thinking(10, 0, (1000,) * 9 + (500_000,)), Thinking(6, 6, ()))
        ada, bob = standings(connection, GAME)
    assert (ada.forced_share, bob.forced_share) == (0.05, 1.0)
    assert ada.think_95_us == pytest.approx(500_000, rel=0.05)
    assert bob.think_95_us is None


def test_results_of_a_bot_are_made_void_one_by_one_from_an_instant_on(data: Path) -> None:
    with open_to_amend(data) as connection:
        ada, bob, eve = add_bots(connection, "Ada", "Bob", "Eve")
        played = [begin(connection, players) for players in ([ada, bob], [eve, ada, ada], [bob, eve], [ada, bob])]
        elsewhere = begin(connection, [bob, ada], "skat")
        begin(connection, [ada, eve])  # the match has not ended
        for number, match_id in enumerate(played):
            places = list(range(1, 1 + len(matches.get_match(connection, match_id).seats)))
            finish(connection, match_id, places, at=NOW + number)
        finish(connection, elsewhere, [1, 2], at=NOW + 9)
        matches.void(connection, played[3], "a known deal", NOW)
        voided = matches.void_results(connection, "ADA", NOW + 1, "a ring", NOW + 10)
        assert voided == {played[1]: GAME, elsewhere: "skat"}
        assert [event for event in events.read(connection, GAME) if isinstance(event, Void)] == [
            Void(5, played[3], "a known deal"),
            Void(6, played[1], "a ring"),
        ]
        assert [matches.get_match(connection, each).voided for each in (*played, elsewhere)] == [
            "",
            "a ring",
            "",
            "a known deal",
            "a ring",
        ]
        assert matches.void_results(connection, "Ada", NOW + 1, "a ring", NOW + 10) == {}
        assert {row.bot: row.matches for row in standings(connection, GAME)} == {"Ada": 1, "Bob": 2, "Eve": 1}


def test_results_of_a_bot_are_made_void_a_few_at_a_time(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        played = [begin(connection, players) for _ in range(5)]
        for match_id in played:
            finish(connection, match_id, [1, 2])
        pages, after = [], 0
        while page := [*matches.void_results(connection, "Ada", 0, "a ring", NOW, after=after, limit=2)]:
            pages.append(page)
            after = page[-1]
        assert pages == [played[:2], played[2:4], played[4:]]


def test_results_of_nobody_or_for_no_reason_are_not_made_void(data: Path) -> None:
    with open_to_amend(data) as connection:
        finish(connection, begin(connection, add_bots(connection, "Ada", "Bob")), [1, 2])
        with pytest.raises(ReasonNotAllowed):
            matches.void_results(connection, "Ada", NOW * 2, "", NOW)
        with pytest.raises(UnknownBot):
            matches.void_results(connection, "Eve", 0, "a ring", NOW)
        assert events.newest(connection, GAME) == 1
