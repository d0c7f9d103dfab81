"""The engine beside OpenSpiel's `oh_hell`, both driven from Python: random play with four seats on one core.

Both are played by the same loop: ask for the legal actions, take one at random, apply it. "Dealt" times one round
whose cards are dealt already, to the end of the game: ours is the last of four, theirs the only one. "With deals" times
whole games: OpenSpiel deals through its chance nodes, we shuffle from a fresh key. The two take turns, so that a busy
machine is busy for both; times are processor time; a ratio compares the two of one turn; shown are median and range.
"""

from __future__ import annotations

import json
import platform
import sys
from collections.abc import Callable, Iterable, Sequence
from random import Random
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.table import Table

from engine.deal import KEY_BYTES, SeededDecks
from engine.registry import GAMES

SEATS = 4
GAME = GAMES["sixth_sense"]
RIVAL = f"oh_hell(players={SEATS})"
BARS = {"decisions/s, dealt": 0.8, "decisions/s, with deals": 1.0}


class Run(NamedTuple):
    """What one turn of one contender came to."""

    decisions: int
    games: int
    seconds: float


class Figure(NamedTuple):
    """One quantity, measured once a turn for each contender."""

    name: str
    ours: list[float]
    theirs: list[float]

    def ratios(self) -> list[float]:
        """Ours over theirs by turn, above 1 where we are the faster."""
        faster_is_less = self.name.startswith("clone")
        return [b / a if faster_is_less else a / b for a, b in zip(self.ours, self.theirs, strict=True)]


def ours(states: Iterable[Any], random: Random) -> Run:
    """Plays games of 6th Sense to their end."""
    chance = random.random
    decisions = games = 0
    began = process_time()
    for state in states:
        games += 1
        while (player := state.player) >= 0:
            legal = state.legal(player)
            state.apply(legal[int(chance() * len(legal))], player)
            decisions += 1
    return Run(decisions, games, process_time() - began)


def theirs(states: Iterable[Any], random: Random) -> Run:
    """Plays OpenSpiel's games to their end, chance nodes included."""
    chance = random.random
    decisions = games = 0
    began = process_time()
    for state in states:
        games += 1
        while state.is_chance_node():
            outcomes = state.legal_actions()
            state.apply_action(outcomes[int(chance() * len(outcomes))])
        while not state.is_terminal():
            legal = state.legal_actions()
            state.apply_action(legal[int(chance() * len(legal))])
            decisions += 1
    return Run(decisions, games, process_time() - began)


def our_last_round(random: Random) -> Any:
    """A state of 6th Sense with the cards of its last round dealt."""
    state = GAME.new(SEATS, SeededDecks(random.randbytes(KEY_BYTES)))
    while state.round < SEATS - 1:
        state.apply(random.choice(state.legal(state.player)), state.player)
    return state


def their_round(game: Any, random: Random) -> Any:
    """A state of OpenSpiel's game with its cards dealt."""
    state = game.new_initial_state()
    while state.is_chance_node():
        state.apply_action(random.choice(state.legal_actions()))
    return state


def clone_time(state: Any, times: int) -> float:
    """Microseconds for a clone of a state."""
    clone = state.clone
    began = process_time()
    for _ in range(times):
        clone()
    return (process_time() - began) / times * 1e6


def in_the_middle(state: Any, legal: Callable[[], Sequence[int]], apply: Callable[[int], None], decisions: int) -> Any:
    """The state after so many first legal actions."""
    for _ in range(decisions):
        apply(legal()[0])
    return state


def measure(repetitions: int, games: int) -> list[Figure]:
    """All figures; `games` is how many of ours are played a turn; the rival plays about as many decisions."""
    import pyspiel  # type: ignore[import-untyped, unused-ignore] # has no types; only the benchmark needs it

    rival = pyspiel.load_game(RIVAL)
    random = Random(6)
    names = ("decisions/s, dealt", "decisions/s, with deals", "games/s, with deals", "decisions a game", "clone, µs")
    figures = [Figure(name, [], []) for name in names]
    our_middle = GAME.new(SEATS, SeededDecks(bytes(KEY_BYTES)))
    in_the_middle(
        our_middle,
        lambda: our_middle.legal(our_middle.player),
        lambda action: our_middle.apply(action, our_middle.player),
        30,
    )
    their_middle = their_round(pyspiel.load_game(f"oh_hell(players={SEATS},num_tricks_fixed=12)"), random)
    in_the_middle(their_middle, their_middle.legal_actions, their_middle.apply_action, 30)
    for _ in range(repetitions + 1):
        ready = [our_last_round(random) for _ in range(games)]
        theirs_ready = [their_round(rival, random) for _ in range(games * 2)]
        fresh = (GAME.new(SEATS, SeededDecks(random.randbytes(KEY_BYTES))) for _ in range(games // 2))
        theirs_fresh = (rival.new_initial_state() for _ in range(games * 4))
        a, b = ours(ready, random), theirs(theirs_ready, random)
        c, d = ours(fresh, random), theirs(theirs_fresh, random)
        turn = (
            (a.decisions / a.seconds, b.decisions / b.seconds),
            (c.decisions / c.seconds, d.decisions / d.seconds),
            (c.games / c.seconds, d.games / d.seconds),
            (c.decisions / c.games, d.decisions / d.games),
            (clone_time(our_middle, 20_000), clone_time(their_middle, 20_000)),
        )
        for figure, (mine, other) in zip(figures, turn, strict=True):
            figure.ours.append(mine)
            figure.theirs.append(other)
    return [Figure(figure.name, figure.ours[1:], figure.theirs[1:]) for figure in figures]  # the first warms up


def shown(values: Sequence[float]) -> str:
    """Median and range."""
    digits = 2 if median(values) < 100 else 0
    return f"{median(values):,.{digits}f}  ({min(values):,.{digits}f} – {max(values):,.{digits}f})"


def table(figures: Sequence[Figure]) -> Table:
    """The figures side by side."""
    result = Table(
        title=f"Random play, {SEATS} seats, one core, from Python {platform.python_version()}: median (range)"
    )
    for heading in ("", GAME.title, f"OpenSpiel {RIVAL}", "ratio", "bar"):
        result.add_column(heading, justify="left" if not heading else "right")
    for figure in figures:
        bar = BARS.get(figure.name)
        comparable = figure.name not in ("games/s, with deals", "decisions a game")
        result.add_row(
            figure.name,
            shown(figure.ours),
            shown(figure.theirs),
            f"{median(figure.ratios()):.2f}" if comparable else "",
            f"≥ {bar}" if bar else "",
        )
    return result


@click.command(help="Measure the engine beside OpenSpiel.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.option("--repetitions", default=7, show_default=True, type=click.IntRange(5), help="Turns of each contender.")
@click.option("--games", default=300, show_default=True, type=click.IntRange(1), help="Games of 6th Sense a turn.")
def main(as_json: bool, repetitions: int, games: int) -> None:
    """Prints the table; says what to install where OpenSpiel is missing."""
    try:
        figures = measure(repetitions, games)
    except ModuleNotFoundError as missing:
        sys.exit(f"{missing.name} is not installed; it is needed to compare with: pip install open_spiel")
    if as_json:
        rows = {figure.name: {**figure._asdict(), "ratios": figure.ratios()} for figure in figures}
        print(json.dumps({name: {k: v for k, v in row.items() if k != "name"} for name, row in rows.items()}, indent=2))
    else:
        Console().print(table(figures))


if __name__ == "__main__":
    main()
