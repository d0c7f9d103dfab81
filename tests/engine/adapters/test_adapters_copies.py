"""Pickled or copied environments and house bots continue as their originals do."""

from __future__ import annotations

import pickle
import subprocess
import sys
from collections.abc import Callable, Iterator
from copy import copy, deepcopy
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any, Final

import numpy as np
import pytest

from arena.house import HOUSE_BOTS, named_bots
from engine.adapters.parallel import ParallelGameEnv
from engine.adapters.pettingzoo import env
from engine.adapters.seat_env import SeatEnv
from engine.adapters.spaces import observed as observed_of
from engine.adapters.vector_env import VectorEnv, choose
from engine.registry import GAMES

GAME: Final = pytest.mark.parametrize("game", [*GAMES])


def most(game: str) -> int:
    return GAMES[game].seats[-1]


def allowed(random: Random, mask: Any) -> int:
    return int(random.choice(np.flatnonzero(mask)))


def agents_course(environment: Any, random: Random) -> Iterator[Any]:
    """Return the observations and rewards of all agents in an AEC environment."""
    while True:
        observed, reward, over, _, _ = environment.last()
        yield environment.agent_selection, observed["observation"].tolist(), reward, over
        environment.step(None if over else allowed(random, observed["action_mask"]))
        if not environment.agents:
            environment.reset()


def parallel_course(environment: Any, random: Random) -> Iterator[Any]:
    while True:
        observed = environment._observed()
        masks = {agent: each["action_mask"] for agent, each in observed.items()}
        choices = {agent: allowed(random, mask) for agent, mask in masks.items() if mask.any()}
        _, *rest = environment.step(choices)
        if not environment.agents:
            environment.reset()
        yield [each["observation"].tolist() for each in observed.values()], rest


def seat_course(environment: Any, random: Random) -> Iterator[Any]:
    """Return the observations and rewards of a seat against house bots."""
    while True:
        observed = observed_of(environment._state, environment.seat, environment.observation_space)
        _, reward, over, _, info = environment.step(allowed(random, observed["action_mask"]))
        if over:
            environment.reset()
        yield observed["observation"].tolist(), reward, over, info


def vector_course(environment: Any, random: Random) -> Iterator[Any]:
    numbers, asked = np.random.default_rng(random.randrange(1000)), environment._asked
    while True:
        stepped = environment.step(choose(asked.masks, numbers))
        asked = stepped.asked
        yield [each.tolist() for each in (*asked, *stepped[1:])]


KINDS: Final[dict[str, tuple[Callable[[str], Any], Callable[[Any, Random], Iterator[Any]]]]] = {
    "agents": (lambda game: env(game, most(game)), agents_course),
    "parallel": (lambda game: ParallelGameEnv(game, most(game)), parallel_course),
    "seat": (lambda game: SeatEnv(game, most(game), bots=HOUSE_BOTS[game]), seat_course),
    "vector": (lambda game: VectorEnv(game, most(game), 5), vector_course),
}


def pickled(environment: Any) -> Any:
    return pickle.loads(pickle.dumps(environment))


@GAME
@pytest.mark.parametrize("kind", [*KINDS])
@pytest.mark.parametrize("copied", [pickled, deepcopy], ids=["pickle", "deepcopy"])
def test_a_copy_goes_on_alike_and_by_itself(game: str, kind: str, copied: Callable[[Any], Any]) -> None:
    make, course = KINDS[kind]
    environment = make(game)
    environment.reset(seed=1)
    for steps in (0, 5, 50):
        list(islice(course(environment, Random(1)), steps))
        one, other = copied(environment), copied(environment)
        expected = list(islice(course(one, Random(2)), 150))
        assert list(islice(course(environment, Random(2)), 150)) == expected
        assert list(islice(course(other, Random(2)), 150)) == expected
        assert list(islice(course(other, Random(3)), 150)) != expected


@pytest.mark.parametrize("kind", [*KINDS])
def test_an_environment_is_copied_before_its_first_reset_too(kind: str) -> None:
    make, course = KINDS[kind]
    environment = make("nullern")
    for each in (again := pickled(environment), environment):
        each.reset(seed=3)
    assert list(islice(course(again, Random(1)), 20)) == list(islice(course(environment, Random(1)), 20))


@GAME
def test_a_house_bot_stays_itself(game: str) -> None:
    for bot in named_bots(game):
        assert all(copied(bot) is bot for copied in (pickled, copy, deepcopy))


READ: Final = """
import pickle, sys
from pathlib import Path
environment = pickle.loads(Path(sys.argv[1]).read_bytes())
print(environment.step([max(range(len(mask)), key=mask.__getitem__) for mask in environment._asked.masks]).asked.seats)
"""


@pytest.mark.process
def test_another_process_reads_what_was_pickled(tmp_path: Path) -> None:
    environment = VectorEnv("sixth_sense", 4, 8)
    environment.reset(seed=5)
    (tmp_path / "environment").write_bytes(pickle.dumps(environment))
    words = [sys.executable, "-c", READ, str(tmp_path / "environment")]
    ran = subprocess.run(words, check=True, text=True, stdout=subprocess.PIPE)
    asked = environment.step(environment._asked.masks.argmax(axis=1)).asked
    assert ran.stdout.strip() == str(asked.seats)
