"""Matches: one transaction for each result, interruptions, lists and replays."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import Connection, event, select, update

from arena.ladder import live
from arena.ladder.live import RatingChange
from arena.replay.hash_chain import PackedReplay, pack, pack_replay, with_chain
from arena.store import schema
from arena.store.base.errors import MatchNotPlaying, NoReplay, StoreError, UnknownMatch
from arena.store.base.rows import Interruption, MatchRow, MatchState, SeatRow, instant
from arena.store.bots.bots import BotId
from arena.store.ladder.standings import standings
from arena.store.matches import matches
from arena.store.matches.matches import MatchId
from arena.store.opening import open_readonly, open_to_amend
from arena.store.store import open_store
from tests.store.jobs import GAME, NOW, add_bots, audit, begin, finish, replay


def test_a_match_begins(data: Path) -> None:
    with open_to_amend(data) as connection:
        ada, bob = add_bots(connection, "Ada", "Bob")
        match_id = matches.begin(connection, GAME, {"short": True, "rounds": 4}, [bob, ada], NOW)
        assert matches.playing(connection) == (match_id,)
        seats = tuple(SeatRow(name, None, None, None, None, 0, "") for name in ("Bob", "Ada"))
        expected = MatchRow(match_id, GAME, MatchState.PLAYING, instant(NOW), None, "", seats, "", pruned=False)
        assert matches.get_match(connection, match_id) == expected
        assert connection.scalar(select(schema.matches.c.options)) == '{"rounds": 4, "short": true}'


def test_matches_are_numbered_by_the_store_or_by_its_caller(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        assert matches.newest(connection) == 0
        assert matches.begin(connection, GAME, {}, players, NOW, match_id=7) == 7
        assert matches.begin(connection, GAME, {}, players, NOW) == 8
        assert matches.newest(connection) == 8


def test_a_result_is_stored_whole(data: Path) -> None:
    given: list[tuple[RatingChange, ...]] = []

    def content(changes: tuple[RatingChange, ...]) -> PackedReplay:
        given.append(changes)
        return pack_replay(['{"a":"replay"}'])

    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob", "Eve")
        match_id = begin(connection, players)
        changes = matches.finish(
            connection,
            match_id,
            scores=[7, -2, 7],
            places=[1, 3, 1],
            forced=[0, 4, 1],
            counts=[True] * 3,
            at=NOW + 5,
            replay=content,
        )
        after = live.update([live.NEW] * 3, [1, 3, 1])
        assert changes == tuple(RatingChange(live.NEW, rating) for rating in after)
        assert given == [changes], "the replay contains the rating changes"
        stored = matches.get_match(connection, match_id)
        assert (stored.state, stored.ended, stored.reason) == (MatchState.FINISHED, instant(NOW + 5), "")
        assert stored.seats == (
            SeatRow("Ada", 7, 1, live.NEW.value, after[0].value, 0, ""),
            SeatRow("Bob", -2, 3, live.NEW.value, after[1].value, 4, ""),
            SeatRow("Eve", 7, 1, live.NEW.value, after[2].value, 1, ""),
        )
        assert matches.get_replay(connection, match_id) == with_chain(pack(['{"a":"replay"}']))
        assert {line.bot: live.Rating(line.live, line.live_deviation) for line in standings(connection, GAME)} == dict(
            zip(["Ada", "Bob", "Eve"], after, strict=True)
        )
        assert matches.playing(connection) == ()


async def test_a_result_is_one_transaction(directory: Path) -> None:
    async with open_store(directory, NOW) as store:
        players = await store.write(lambda connection: add_bots(connection, "Ada", "Bob"))
        match_id = await store.write(lambda connection: begin(connection, players))
        commits: list[Connection] = []
        await store.write(lambda connection: event.listen(connection.engine, "commit", commits.append))
        commits.clear()
        await store.write(lambda connection: finish(connection, match_id, [2, 1]))
        assert len(commits) == 1
        assert await store.read(audit) == {match_id}


async def test_a_replay_that_cannot_be_made_leaves_the_match_unfinished(directory: Path) -> None:
    def broken(changes: tuple[RatingChange, ...]) -> PackedReplay:
        raise ZeroDivisionError

    async with open_store(directory, NOW) as store:
        players = await store.write(lambda connection: add_bots(connection, "Ada", "Bob"))
        match_id = await store.write(lambda connection: begin(connection, players))
        with pytest.raises(ZeroDivisionError):
            await store.write(
                lambda connection: matches.finish(
                    connection,
                    match_id,
                    scores=[1, 0],
                    places=[1, 2],
                    forced=[0, 0],
                    counts=[True] * 2,
                    at=NOW,
                    replay=broken,
                )
            )
        assert await store.read(audit) == set()
        await store.write(lambda connection: finish(connection, match_id, [1, 2]))
        assert await store.read(audit) == {match_id}


@pytest.mark.parametrize("misfit", ["scores", "places", "forced"])
def test_a_result_must_fit_the_seats(data: Path, misfit: str) -> None:
    result: dict[str, Any] = {"scores": [3, 2], "places": [1, 2], "forced": [0, 0]}
    with open_to_amend(data) as connection:
        match_id = begin(connection, add_bots(connection, "Ada", "Bob"))
        with pytest.raises(ValueError, match=r"argument|places"):
            matches.finish(connection, match_id, counts=[True] * 2, at=NOW, replay=replay, **{**result, misfit: [1]})


def test_a_match_ends_once(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        match_id, other = begin(connection, players), begin(connection, players)
        finish(connection, match_id, [1, 2])
        with pytest.raises(MatchNotPlaying, match=f"match {match_id} is finished") as caught:
            finish(connection, match_id, [2, 1])
        assert (caught.value.match_id, caught.value.state) == (match_id, "finished")
        matches.interrupt(connection, [other, match_id], "a test", NOW + 9)
        with pytest.raises(MatchNotPlaying, match=f"match {other} is interrupted"):
            finish(connection, other, [2, 1])
        assert matches.get_match(connection, match_id).state is MatchState.FINISHED
        assert audit(connection) == {match_id}


def test_an_interrupted_match_has_a_reason_and_no_result(data: Path) -> None:
    with open_to_amend(data) as connection:
        first, second, third = (begin(connection, add_bots(connection, f"a{n}", f"b{n}")) for n in range(3))
        matches.interrupt(connection, [first, third], "the roof fell in", NOW + 9)
        matches.interrupt(connection, [], "nothing", NOW + 9)
        match = matches.get_match(connection, third)
        assert (match.state, match.reason, match.ended) == (
            MatchState.INTERRUPTED,
            "the roof fell in",
            instant(NOW + 9),
        )
        assert match.seats[0] == SeatRow("a2", None, None, None, None, 0, "")
        assert matches.playing(connection) == (second,)
        assert standings(connection, GAME) == ()


async def test_what_a_dead_server_left_is_interrupted_at_the_next_start(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        left, finished, broken = (begin(connection, players) for _ in range(3))
        finish(connection, finished, [1, 2])
        matches.interrupt(connection, [broken], "before", NOW)
    async with open_store(data, NOW + 99) as store:
        match = await store.read(lambda connection: matches.get_match(connection, left))
        assert (match.state, match.reason, match.ended) == (
            MatchState.INTERRUPTED,
            Interruption.JOURNAL_LOST.in_words(),
            instant(NOW + 99),
        )
        assert (await store.read(lambda connection: matches.get_match(connection, broken))).reason == "before"
    async with open_store(data, NOW + 100) as store:
        assert await store.read(matches.playing) == ()


def test_lists_are_newest_first_filtered_and_paged(data: Path) -> None:
    def ids(**filters: object) -> list[int]:
        return [match.match_id for match in matches.list_matches(connection, **filters)]  # type: ignore[arg-type]

    with open_to_amend(data) as connection:
        ada, bob, eve = add_bots(connection, "Ada", "Bob", "Eve")
        for game, players in [
            ("whist", [ada, bob]),
            ("skat", [ada, eve]),
            ("whist", [eve, bob]),
            ("whist", [ada, ada]),
        ]:
            begin(connection, players, game)
        assert ids() == [4, 3, 2, 1]
        assert ids(limit=2) == [4, 3]
        assert ids(limit=2, before=3) == [2, 1]
        assert ids(game="whist") == [4, 3, 1]
        assert ids(bot="aDA") == [4, 2, 1]
        assert ids(bot="Eve", game="whist") == [3]
        assert ids(bot="nobody") == ids(game="chess") == ids(before=1) == []
        assert [seat.bot for seat in matches.list_matches(connection, before=4)[0].seats] == ["Eve", "Bob"]


def test_a_list_is_of_fifty_unless_told(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        for _ in range(60):
            begin(connection, players)
        assert len(matches.list_matches(connection)) == 50
        assert len(matches.list_matches(connection, limit=1000)) == 60


def test_a_match_that_does_not_exist(data: Path) -> None:
    for operation in (matches.get_match, matches.get_replay):
        with pytest.raises(UnknownMatch, match="no match 42") as caught, open_readonly(data) as connection:
            operation(connection, 42)
        assert caught.value.match_id == 42
    with open_to_amend(data) as connection, pytest.raises(UnknownMatch):
        finish(connection, MatchId(42), [1, 2])


def test_only_finished_matches_have_a_replay(data: Path) -> None:
    with open_to_amend(data) as connection:
        match_id = begin(connection, add_bots(connection, "Ada", "Bob"))
        with pytest.raises(NoReplay, match="is playing and has no replay; wait") as caught:
            matches.get_replay(connection, match_id)
        assert (caught.value.match_id, caught.value.state) == (match_id, "playing")
        matches.interrupt(connection, [match_id], "a test", NOW)
        with pytest.raises(NoReplay, match="is interrupted and has no replay; only finished"):
            matches.get_replay(connection, match_id)


def test_a_replay_that_was_altered_in_the_store_is_noticed(data: Path) -> None:
    with open_to_amend(data) as connection:
        match_id = begin(connection, add_bots(connection, "Ada", "Bob"))
        finish(connection, match_id, [1, 2])
        connection.execute(update(schema.replays).values(content=b"another", segment=0))
        with pytest.raises(StoreError, match=f"replay of match {match_id} is damaged"):
            matches.get_replay(connection, match_id)


def test_a_seat_is_of_a_bot_that_exists(data: Path) -> None:
    from sqlalchemy.exc import IntegrityError

    with pytest.raises(IntegrityError), open_to_amend(data) as connection:
        begin(connection, [BotId(1), BotId(2)])
