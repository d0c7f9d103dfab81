"""The benchmark's play with the real scheduler has correct counts and is reproducible."""

import json
from pathlib import Path
from random import Random

import numpy as np
import pytest
from click.testing import CliRunner

from arena.ladder.events import Entrant, Node
from arena.scheduling.pool import Pool
from bench.ladder.__main__ import main
from bench.ladder.evening import TABLE, _Simulation, simulate
from bench.ladder.newcomers import _scheduled
from bench.ladder.source import columns, fit
from bench.ladder.world import ANCHORS, BOTS, NOBODY, SEATS, Conditions, play


def test_an_evening_repeats_itself_to_the_bit() -> None:
    one, other = (simulate(600, (1, 2)) for _ in range(2))
    assert one == other
    assert one.matches == 600
    assert len(one.differences) == 6
    assert one != simulate(600, (1, 3))


def test_two_bots_of_one_owner_are_counted_and_house_bots_are_not() -> None:
    playing = _Simulation((1,))
    same = [bot for bot in playing.bots.values() if bot.owner == next(iter(playing.bots.values())).owner]
    first, second = same[:2]
    others = [bot for bot in playing.bots.values() if bot.owner != first.owner]
    evening = playing.evening
    before = evening.house_seats
    playing._begin((Node(0), Node(1), first.node, others[0].node))
    assert (evening.same_owner, evening.house_seats - before) == (0, 2)
    playing._begin((Node(0), second.node, first.node, others[0].node))
    assert (evening.same_owner, evening.house_seats - before) == (1, 3)


def test_live_ratings_are_compared_before_they_are_put_on_the_fit() -> None:
    playing = _Simulation((2,))
    playing.form_tables()
    for _ in range(400):
        playing.end_next()
        playing.form_tables()
    playing.rebase()
    assert playing.evening.differences == [[]]  # no bot had a precise rating before this point
    playing.rebase()
    assert playing.evening.differences[1]
    assert max(playing.evening.differences[1]) == pytest.approx(0)  # no match was played in between


def test_a_round_of_the_scheduler_is_as_many_tables_and_seats_a_newcomer_more_than_once() -> None:
    season = play(Conditions(), 60, np.random.default_rng(3), BOTS - 1)
    entrants = tuple(Entrant(Node(node), anchor=node < ANCHORS) for node in range(BOTS))
    nobody = np.full((0, SEATS), NOBODY)
    pool: Pool[int] = Pool(range(ANCHORS), Random(4))
    tables = _scheduled(fit(entrants, columns(season)), nobody, pool)
    assert tables.shape == (BOTS // TABLE, TABLE)
    assert all(len(set(table)) == TABLE for table in tables.tolist())
    assert (tables == BOTS - 1).sum() > 1
    assert pool.tables == BOTS // TABLE


def test_the_command_prints_json_and_its_status_says_whether_a_bar_is_missed() -> None:
    ran = CliRunner().invoke(main, ["--part", "newcomers", "--quick", "--json"])
    figures = json.loads(ran.stdout)["newcomers"]
    assert figures[0]["bar"] == [None, 0.65]
    assert ran.exit_code == any(figure.get("verdict") == "missed" for figure in figures)


@pytest.mark.long
def test_the_command_draws_the_picture(tmp_path: Path) -> None:
    picture = tmp_path / "games.svg"
    ran = CliRunner().invoke(main, ["--part", "ranking", "--quick", "--chart", str(picture)])
    assert ran.exit_code in (0, 1)
    assert "games a bot until 0.95" in ran.stdout
    assert picture.read_text().startswith("<svg")
