"""The benchmark of growth and versions creates the stated versions, and its figures have targets."""

from __future__ import annotations

import json

import numpy as np
import pytest
from click.testing import CliRunner

from bench.ladder import growth, versions
from bench.ladder.__main__ import main
from bench.ladder.world import ANCHORS, BOTS, NOBODY


def test_bots_become_versions_that_follow_each_other() -> None:
    season = growth.season_of(3_000, 700, np.random.default_rng(1))
    assert len(season.entrants) == len(season.strengths) == 700
    assert sum(entrant.newest for entrant in season.entrants) == growth.BOTS
    assert all(entrant.newest and entrant.parent is None for entrant in season.entrants[:ANCHORS])
    assert (season.nodes[:, growth.TABLE :] == NOBODY).all()
    for entrant in season.entrants[growth.BOTS :]:
        assert entrant.parent is not None
        own, before = ((season.nodes == node).any(axis=1).nonzero()[0] for node in (entrant.node, entrant.parent))
        assert not (len(own) and len(before)) or before.max() < own.min()


def test_fits_of_a_growing_list_are_compared_with_the_whole_one() -> None:
    season = growth.season_of(2_500, 320, np.random.default_rng(2))
    assert growth.step_by_step(season, season.entrants)


def test_only_the_last_version_is_better_and_the_luckiest_gains_nothing_real() -> None:
    season = versions.season_of(3, 20, versions.BETTER, np.random.default_rng(3))
    assert len(season.strengths) == BOTS + 2
    own = season.strengths[BOTS - 1 :]
    assert own[1] == own[0]
    assert own[2] - own[0] == pytest.approx(versions.BETTER / versions.ELO)
    assert [int((season.nodes == BOTS - 1 + version).sum()) for version in range(3)] == [20, 20, 20]


@pytest.mark.process
def test_the_command_measures_growth() -> None:
    ran = CliRunner().invoke(main, ["--part", "growth", "--quick", "--json"])
    figures = {figure["what"]: figure for figure in json.loads(ran.stdout)["growth"]}
    assert figures["different digests"]["value"] == 1
    assert figures["fits step by step that differ"]["value"] == 0
    assert ran.exit_code == 0
