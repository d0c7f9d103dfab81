"""Replays of Nullern agree with the played game at every table, and the verification finds changes."""

from typing import Any

import pytest

from arena.replay.read import read
from arena.replay.verify import verify
from engine.nullern import NULLERN
from engine.nullern.cards import BLIND, CARDS
from tests.replay.nullern_course import SEATS, course, interrupted, reports
from tests.replay.recorded import forged, objects_of, rate, rated


@SEATS
def test_replay_of_nullern_is_verified_at_every_table(seats: int) -> None:
    verdict = verify(read(rated(seats, game=NULLERN, chance=seats)), rate)
    assert verdict.verified
    assert verdict.ratings


@SEATS
def test_replay_of_nullern_is_the_game_that_was_played(seats: int) -> None:
    played = course(seats)
    assert played.rounds == 20
    assert [len(report.takers) for report in reports(played)] == [*range(1, 11), *range(9, 0, -1), 1]
    assert tuple(played.steps[-1].state.scores) == played.replay.result.scores
    assert played.steps[-1].state.ranking() == played.replay.result.places


def test_replay_of_an_interrupted_match_of_nullern_is_verified() -> None:
    for after in (0, 1, 50, 400):
        assert verify(interrupted(after).replay, rate).verified


def test_replay_writes_the_blind_play_without_its_card_and_the_round_with_it() -> None:
    objects = objects_of(rated(3, game=NULLERN, errs=False))
    blind = [line for line in objects if line.get("action") == BLIND]
    assert [line["name"] for line in blind] == ["play the blind card"] * 3
    last = [line for line in objects if line.get("out") == "round"][-1]
    assert isinstance(last["plays"], list)
    assert len(last["plays"]) == 3
    assert all(card < len(CARDS) for card in last["plays"])


def verdict_on(objects: list[dict[str, Any]]) -> tuple[int, str]:
    difference = verify(read(forged(objects)), rate).difference
    assert difference is not None
    return difference.line, difference.text


@pytest.mark.parametrize(
    "field", ["turned", "bids", "plays", "leaders", "takers", "taken", "missed", "hupfers", "points", "scores"]
)
@pytest.mark.parametrize("number", [3, -1])
def test_replay_with_a_round_of_nullern_changed_is_found(field: str, number: int) -> None:
    objects: list[Any] = objects_of(rated(3, game=NULLERN))
    line = [at for at, each in enumerate(objects) if each.get("out") == "round"][number]
    if field == "turned":
        objects[line][field] += 1
    else:
        objects[line][field][-1] += 1
    found, words = verdict_on(objects)
    assert found == line + 1
    assert f' in "{field}' in words


def test_replay_with_another_bid_is_found_by_its_name_or_by_what_follows() -> None:
    objects: list[Any] = objects_of(rated(3, game=NULLERN, errs=False))
    line = next(at for at, each in enumerate(objects) if each.get("name") == "bid 1")
    objects[line]["action"] -= 1
    assert verdict_on(objects) == (line + 1, 'in acted: the file has "bid 1" in "name" where re-playing gives "bid 0"')
    objects[line]["name"] = "bid 0"
    found, _ = verdict_on(objects)
    assert line + 1 < found < len(objects)
