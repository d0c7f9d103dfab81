"""The ladder's rows follow from the results."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from random import Random

import pytest

from arena.ladder import live
from arena.ladder.events import MatchResult, Node, day_of
from arena.ladder.live import Rating
from arena.store.base.rows import instant
from arena.store.bots import bots
from arena.store.ladder import events
from arena.store.ladder.rebuild import rebuild, verify
from arena.store.ladder.standings import standings
from arena.store.matches import matches
from arena.store.opening import open_readonly, open_to_amend
from tests.store.jobs import GAME, NOW, add_bots, audit, begin, finish


def test_before_its_first_match_a_bot_is_not_on_the_ladder_and_new(data: Path) -> None:
    with open_to_amend(data) as connection:
        add_bots(connection, "Ada")
        assert standings(connection, GAME) == ()


def test_the_ladder_of_one_match(data: Path) -> None:
    with open_to_amend(data) as connection:
        (ada,) = add_bots(connection, "Ada")
        (house,) = bots.ensure_house_bots(connection, ["house-1"], NOW)
        finish(connection, begin(connection, [house.id, ada]), [2, 1])
    loser, winner = live.update([live.NEW] * 2, [2, 1])
    with open_readonly(data) as connection:
        first, second = standings(connection, GAME)
    assert (first.rank, first.bot, first.owner, first.house) == (1, "Ada", "Ada", False)
    assert (second.rank, second.bot, second.owner, second.house) == (2, "house-1", "house", True)
    assert (first.live, first.live_deviation) == (winner.value, winner.deviation)
    assert (second.live, second.live_deviation) == (loser.value, loser.deviation)
    assert (first.matches, first.wins, first.mean_rank) == (1, 1, 0.0)
    assert (second.matches, second.wins, second.mean_rank) == (1, 0, 1.0)
    assert first.last_change == winner.value - 1500


def test_games_have_ladders_of_their_own(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob")
        finish(connection, begin(connection, players, "whist"), [1, 2])
        finish(connection, begin(connection, players, "skat"), [2, 1])
        assert [line.bot for line in standings(connection, "whist")] == ["Ada", "Bob"]
        assert [line.bot for line in standings(connection, "skat")] == ["Bob", "Ada"]
        assert all(line.matches == 1 for line in standings(connection, "whist"))


def test_a_bot_in_several_seats_has_played_one_match(data: Path) -> None:
    with open_to_amend(data) as connection:
        ada, house = add_bots(connection, "Ada", "Hal")
        changes = finish(connection, begin(connection, [house, ada, house]), [1, 2, 3])
        assert changes[0] == changes[2]
        by_name = {line.bot: line for line in standings(connection, GAME)}
    assert (by_name["Hal"].matches, by_name["Hal"].wins, by_name["Hal"].mean_rank) == (1, 1, 0.5)
    assert (by_name["Ada"].matches, by_name["Ada"].wins, by_name["Ada"].mean_rank) == (1, 0, 0.5)


def test_mean_points_and_the_last_match_are_those_of_the_results_that_count(data: Path) -> None:
    with open_to_amend(data) as connection:
        ada, hal = add_bots(connection, "Ada", "Hal")
        finish(connection, begin(connection, [hal, ada, hal]), [1, 2, 3], at=NOW + 5)
        finish(connection, begin(connection, [ada, hal]), [2, 1], at=NOW + 7)
        finish(connection, annulled := begin(connection, [ada, hal]), [1, 2], at=NOW + 9)

        def known() -> dict[str, tuple[float | None, datetime | None]]:
            return {row.bot: (row.mean_points, row.last_match) for row in standings(connection, GAME)}

        last = instant(NOW + 9)
        assert known() == {"Ada": ((8 + 8 + 9) / 3, last), "Hal": (((9 + 7) / 2 + 9 + 8) / 3, last)}
        matches.void(connection, annulled, "a mistake", NOW + 11)
        assert known() == {"Ada": (8.0, last), "Hal": (8.5, last)}


def test_a_shared_first_place_is_a_win(data: Path) -> None:
    with open_to_amend(data) as connection:
        finish(connection, begin(connection, add_bots(connection, "Ada", "Bob", "Eve")), [1, 1, 3])
        assert {line.bot: line.wins for line in standings(connection, GAME)} == {
            "Ada": 1,
            "Bob": 1,
            "Eve": 0,
        }


@pytest.mark.parametrize("seed", range(3))
def test_many_matches_add_up(data: Path, seed: int) -> None:
    """Compare ratings, counts and means with a computation from the same matches."""
    chance = Random(seed)
    with open_to_amend(data) as connection:
        players = add_bots(connection, *(f"bot{number}" for number in range(8)))
        rating = dict.fromkeys(players, live.NEW)
        ranks: dict[int, list[float]] = {player: [] for player in players}
        firsts = dict.fromkeys(players, 0)
        for _ in range(40):
            seated = chance.sample(players, chance.randint(2, 7))
            points = [chance.randint(0, 3) for _ in seated]
            places = [1 + sum(other > own for other in points) for own in points]
            finish(connection, begin(connection, seated), places)
            after: tuple[Rating, ...] = live.update([rating[player] for player in seated], places)
            rating.update(zip(seated, after, strict=True))
            for player, place in zip(seated, places, strict=True):
                ranks[player].append((place - 1) / (len(seated) - 1))
                firsts[player] += place == 1
        assert len(audit(connection)) == 40
        lines = standings(connection, GAME)
    order = sorted(players, key=lambda player: -rating[player].value)
    assert [line.bot for line in lines] == [f"bot{players.index(player)}" for player in order]
    for player, line in zip(order, lines, strict=True):
        assert (line.live, line.live_deviation) == (rating[player].value, rating[player].deviation)
        assert (line.matches, line.wins) == (len(ranks[player]), firsts[player])
        assert line.mean_rank == pytest.approx(sum(ranks[player]) / len(ranks[player]), abs=1e-12)


def test_a_spoilt_seat_loses_the_others_play_each_other_and_the_event_says_so(data: Path) -> None:
    with open_to_amend(data) as connection:
        players = add_bots(connection, "Ada", "Bob", "Eve")
        spoilt = (True, False, False)
        ada, bob, eve = finish(connection, begin(connection, players), [3, 1, 2], spoilt=spoilt)
        among = live.update([live.NEW] * 3, [3, 1, 2], spoilt=spoilt)
        assert (ada.after, bob.after, eve.after) == among
        assert ada.change < eve.change < 0 < bob.change == -eve.change
        [event] = events.read(connection, GAME)
        nodes = tuple(map(Node, (1, 2, 3)))
        assert event == MatchResult(1, 1, nodes, (3, 1, 2), (True,) * 3, spoilt, day_of(NOW))
        assert events.result_of(connection, 1) == event
        assert [seat.spoilt for seat in matches.get_match(connection, 1).seats] == [*spoilt]
        published = rebuild(connection, GAME, NOW)
        assert not published.published
        assert verify(connection, GAME).identical
        ratings = {line.bot: line.rating for line in standings(connection, GAME)}
        assert ratings["Ada"] < ratings["Eve"] < ratings["Bob"]
