"""Speed of many games at once: the vectorised environment compared with PettingZoo and with OpenSpiel.

    python -m bench.vector_env [--json] [--compiled] [--games 256] [--repetitions 5]

All choose at random among the actions that a mask allows. The environment steps `--games` games of 6th Sense together,
PettingZoo's AEC environment a single one, OpenSpiel's `SyncVectorEnv` `--games` games of `oh_hell`. Then parts of each
game are compared with one move of the engine's own loop, which lists the legal actions, chooses one and applies it. One
part is the extra time of `vector_into` for the seat to move, the other the time of `vector_into` on fresh copies. The
time to sample a world is compared with a rollout to the end of the round. Contenders alternate in one process. Times
are processor time; the table shows medians and ranges.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
from array import array
from collections.abc import Callable
from random import Random
from time import process_time
from typing import Any, Final

import click
import numpy as np
from rich.console import Console
from rich.table import Table

from bench import _compiled
from bench.engine import SEATS, median_and_range
from engine.deal import KEY_BYTES, SeededDecks
from engine.registry import GAMES

RIVAL: Final = f"oh_hell(players={SEATS})"
STEPS: Final = 40
"""Number of steps of all games per turn."""
WORLDS: Final = 64
PARTS: Final = {
    "vector_into float32 ÷ move": 2.0,
    "vector_into uint8 ÷ move": 2.0,
    "sampled world ÷ rollout": 0.25,
}
BARS: Final = {
    "environment ÷ PettingZoo": (5.0, True),
    "environment ÷ OpenSpiel": (2.0, True),
    **{f"{game.title}: {part}": (bar, False) for game in GAMES.values() for part, bar in PARTS.items()},
}
"""Bound of each ratio, and True if it is a minimum, False if it is a maximum."""


def environment(games: int) -> Callable[[], float]:
    """Return a function that runs the vectorised environment for one turn and returns decisions per second."""
    from engine.adapters.vector_env import VectorEnv, choose

    env, random = VectorEnv("sixth_sense", SEATS, games), np.random.default_rng(1)
    asked = env.reset(seed=1)

    def turn() -> float:
        nonlocal asked
        began = process_time()
        for _ in range(STEPS):
            asked = env.step(choose(asked.masks, random)).asked
        return STEPS * games / (process_time() - began)

    return turn


def pettingzoo(games: int) -> Callable[[], float]:
    """Return a function that runs PettingZoo's loop for one turn and returns decisions per second.

    Observations are created without `vector_into`, as they were before that function existed.
    """
    from engine.adapters.pettingzoo import GameEnv

    class AsItWas(GameEnv):
        def observe(self, agent: str) -> dict[str, Any]:
            seat = self._seat_of[agent]
            mask = np.zeros(len(self._game.actions), np.int8)
            if seat in self._state.waiting():
                mask[list(self._state.legal(seat))] = 1
            return {"observation": np.array(self._state.vector(seat), np.float32), "action_mask": mask}

    env, random = AsItWas("sixth_sense", SEATS), Random(1)
    env.reset(seed=1)

    def turn() -> float:
        began = process_time()
        for _ in range(STEPS * games // 8):
            if not env.agents or env.terminations[env.agent_selection]:
                env.reset()
            observation, *_ = env.last()
            [allowed] = np.nonzero(observation["action_mask"])
            env.step(int(allowed[int(random.random() * len(allowed))]))
        return (STEPS * games // 8) / (process_time() - began)

    return turn


def openspiel(games: int) -> Callable[[], float]:
    """Return a function that runs OpenSpiel's vector of environments for one turn and returns decisions per second."""
    from open_spiel.python.rl_agent import StepOutput
    from open_spiel.python.rl_environment import Environment
    from open_spiel.python.vector_env import SyncVectorEnv

    env, random = SyncVectorEnv([Environment(RIVAL) for _ in range(games)]), Random(1)
    steps = env.reset()

    def turn() -> float:
        nonlocal steps
        began = process_time()
        for _ in range(STEPS // 4):
            chosen = []
            for step in steps:
                legal = step.observations["legal_actions"][step.observations["current_player"]]
                chosen.append(StepOutput(legal[int(random.random() * len(legal))], None))
            steps, *_ = env.step(chosen, reset_if_done=True)
        return (STEPS // 4) * games / (process_time() - began)

    return turn


def parts(game: Any) -> Callable[[], dict[str, float]]:
    """Return a function that times each part of a game for one turn and returns the ratios."""
    random = Random(3)
    chance = random.random
    length = sum(field.size for field in game.observation(SEATS))
    rows = (memoryview(array("f", bytes(4 * length))), memoryview(bytearray(length)))

    def play(keys: list[bytes], row: Any, kept: list[Any] | None = None) -> float:
        """Play games with the same choices in every call. Return the seconds per decision.

        `row` is an array to which the observation is written before each choice. Without `row`, copies of the states
        are appended to the list `kept` instead.
        """
        chance = Random(4).random
        states = [game.new(SEATS, SeededDecks(key)) for key in keys]
        decisions = 0
        began = process_time()
        for state in states:
            while (player := state.player) >= 0:
                if row is not None:
                    state.vector_into(player, row)
                elif kept is not None:
                    kept.append(state.clone())
                legal = state.legal(player)
                state.apply(legal[int(chance() * len(legal))], player)
                decisions += 1
        return (process_time() - began) / decisions

    def turn() -> dict[str, float]:
        keys = [random.randbytes(KEY_BYTES) for _ in range(6)]
        found: list[Any] = []
        play(keys, None, found)
        loops = [[play(keys, row) for row in (None, *rows)] for _ in range(3)]
        moves, floats, steps = (min(times) for times in zip(*loops, strict=True))
        began = process_time()
        for state in found:
            state.vector_into(state.player, rows[0])
        copied = (process_time() - began) / len(found)
        some = found[:: len(found) // 60]
        views = [state.view(state.player) for state in some]
        began = process_time()
        for view in views:
            game.sample_many(view, random, WORLDS)
        world = (process_time() - began) / len(some) / WORLDS
        copies = [state.clone() for state in some for _ in range(8)]
        began = process_time()
        for state in copies:
            before = state.report
            while state.report is before:
                player = state.player
                legal = state.legal(player)
                state.apply(legal[int(chance() * len(legal))], player)
        rollout = (process_time() - began) / len(copies)
        return {
            "vector_into float32 ÷ move": floats / moves - 1,
            "vector_into uint8 ÷ move": steps / moves - 1,
            "vector_into of copies ÷ move": copied / moves,
            "sampled world ÷ rollout": world / rollout,
        }

    return turn


def measure(games: int, repetitions: int) -> dict[str, list[float]]:
    """Run all contenders in turn. Return figures and ratios by name."""
    speeds = {"environment": environment(games), "PettingZoo": pettingzoo(games), "OpenSpiel": openspiel(games)}
    costs = {game.title: parts(game) for game in GAMES.values()}
    found: dict[str, list[float]] = {}
    for repetition in range(repetitions + 1):
        turn = {f"{name}: decisions/s": speed() for name, speed in speeds.items()}
        for rival in ("PettingZoo", "OpenSpiel"):
            turn[f"environment ÷ {rival}"] = turn["environment: decisions/s"] / turn[f"{rival}: decisions/s"]
        for title, cost in costs.items():
            turn |= {f"{title}: {part}": ratio for part, ratio in cost().items()}
        if repetition:  # the first repetition is the warm-up
            for name, value in turn.items():
                found.setdefault(name, []).append(value)
    return found


@click.command(help="Measure the vectorised environment and its parts.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.option(
    "--games", default=256, show_default=True, type=click.IntRange(8), help="Number of games to step together."
)
@click.option("--repetitions", default=5, show_default=True, type=click.IntRange(1), help="Turns of each contender.")
@_compiled.option
def main(as_json: bool, games: int, repetitions: int, compiled: bool) -> None:
    """Print the figures with their bounds."""
    if compiled and not os.environ.get("PYTHONSAFEPATH"):
        command = [sys.executable, "-m", "bench.vector_env", *sys.argv[1:]]
        sys.exit(subprocess.run(command, check=False, env=_compiled.environment()).returncode)
    figures = measure(games, repetitions)
    if as_json:
        print(json.dumps(figures, indent=2))
        return
    table = Table(title=f"{games} games of 6th Sense at once, and parts; {SEATS} seats: median (range)")
    for heading in ("", "", "bar"):
        table.add_column(heading, justify="left" if not heading else "right")
    for name, values in figures.items():
        bar = BARS.get(name)
        table.add_row(name, median_and_range(values), f"{'≥' if bar[1] else '≤'} {bar[0]:g}" if bar else "")
    Console().print(table)


if __name__ == "__main__":
    main()
