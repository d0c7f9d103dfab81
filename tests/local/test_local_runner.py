"""Deal pairs have the same results in any process. Failures in a worker process are reported."""

import re
from pathlib import Path

import pytest

from arena.local.errors import BotFailed, BotNotLoaded, WorkerDied
from arena.local.match.design import Design
from arena.local.match.play_set import play_set
from arena.local.match.runner import play_sets, versions
from arena.local.match.sets import PlayedSet, Subject
from tests.local.bots import CHANCE, FIRST, written


def subject(*bots: str, game: str = "nullern", design: Design = Design.SAME_SEATS) -> Subject:
    return Subject(game, {}, 3, design, 11, bots, versions(game, bots))


def outcomes(played: PlayedSet) -> list[object]:
    """Return everything about a deal pair except its times."""
    return [played.number, *[(game.bots, *game.played[:3]) for game in played.games]]


@pytest.mark.process
def test_workers_play_the_same_sets_as_one_process(tmp_path: Path) -> None:
    bots = subject("house:random", written(tmp_path, CHANCE), "house:counter", "house:careful")
    here = [outcomes(played) for played in play_sets(bots, range(12), 1)]
    there = sorted(outcomes(played) for played in play_sets(bots, range(12), 3))
    assert here == there


@pytest.mark.process
def test_it_stops_when_nobody_wants_more(tmp_path: Path) -> None:
    played = play_sets(subject("house:random", "house:random", "house:random", "house:random"), range(10**9), 2)
    assert next(played).number < 100
    played.close()


@pytest.mark.process
@pytest.mark.parametrize("workers", [1, 2])
def test_a_bot_that_fails_ends_it_by_its_name(tmp_path: Path, workers: int) -> None:
    spec = written(tmp_path, FIRST.replace("return", "assert decision.match_id < 9\n        return"))
    with pytest.raises(BotFailed) as failed:
        for _ in play_sets(subject("house:random", spec, "house:random", "house:random"), range(50), workers):
            pass
    assert f"{spec} failed in seat" in str(failed.value)
    where = re.search(r"of nullern, round 1 of set (\d+):", str(failed.value))
    assert where is not None
    assert int(where[1]) == 4 or (workers > 1 and int(where[1]) > 4), "whichever of them fails first"
    assert "assert decision.match_id < 9" in str(failed.value)


@pytest.mark.process
def test_a_bot_that_kills_its_process_is_said_to_have(tmp_path: Path) -> None:
    spec = written(tmp_path, FIRST.replace("return", "import os; os._exit(3)\n        return"))
    with pytest.raises(
        WorkerDied, match=f"the worker process of {spec}, in seat . of set .*, ended with exit status 3: "
    ):
        for _ in play_sets(subject("house:random", spec, "house:random", "house:random"), range(50), 2):
            pass


def test_a_bot_that_is_none_is_named_before_anything_is_played() -> None:
    with pytest.raises(BotNotLoaded, match="no bot 'house:nobody'"):
        subject("house:random", "house:nobody")


def test_a_set_depends_on_its_number_only() -> None:
    bots = subject("house:counter", "house:random", "house:careful", "house:careful")
    later = outcomes(play_set(bots, 5))
    assert outcomes(play_set(bots, 0)) != later
    assert outcomes(play_set(bots, 5)) == later
