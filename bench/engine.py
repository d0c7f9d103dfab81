"""Speed of the engine compared with OpenSpiel's `oh_hell`: random play with four seats, from Python, on one core.

All contenders run the same loop: list the legal actions, choose one at random, apply it. "Dealt" measures a round
after the deal, up to the end of the game: the last of four rounds in the engine, the only one in OpenSpiel. "With
deals" measures whole games: OpenSpiel deals through its chance nodes, the engine shuffles from a new key. Contenders,
including the compiled engine (`make compiled`), run in separate processes and alternate, so that other load affects all
of them. Times are processor time; ratios compare runs of the same turn. The table shows medians and ranges.
"""

from __future__ import annotations

import json
import platform
import subprocess
import sys
from collections.abc import Callable, Iterable, Sequence
from contextlib import ExitStack
from random import Random
from statistics import median
from time import process_time
from typing import Any, NamedTuple

import click
from rich.console import Console
from rich.table import Table

from bench._compiled import COMPILED, environment

SEATS = 4
RIVAL = f"oh_hell(players={SEATS})"
RIVAL_DEALT = f"oh_hell(players={SEATS},num_tricks_fixed=12)"
"""OpenSpiel's game for comparing the cost of clones, with hands as large as in 6th Sense."""

DEALT = "decisions/s, dealt"
DEALS = "decisions/s, with deals"
GAMES_A_SECOND = "games/s, with deals"
LENGTH = "decisions a game"
CLONE = "clones/s"
VIEW = "views/s"
NULLERN = "Nullern: "
BARS: dict[str, dict[str, float]] = {
    "interpreted": {DEALT: 0.8, DEALS: 1.0, CLONE: 1.0, NULLERN + DEALS: 0.5},
    "compiled": {DEALT: 1.8, DEALS: 2.3, CLONE: 1.0, NULLERN + DEALS: 0.5},
}
"""Required ratios: the engine's speed to OpenSpiel's, and Nullern's to 6th Sense's."""

Turn = dict[str, float]
"""Figures of one contender in one turn, by quantity."""


class PlayedGames(NamedTuple):
    """Totals over all games played."""

    decisions: int
    games: int
    seconds: float


def play_engine(states: Iterable[Any], random: Random) -> PlayedGames:
    """Play the engine's games to the end."""
    chance = random.random
    decisions = games = 0
    began = process_time()
    for state in states:
        games += 1
        while (player := state.player) >= 0:
            legal = state.legal(player)
            state.apply(legal[int(chance() * len(legal))], player)
            decisions += 1
    return PlayedGames(decisions, games, process_time() - began)


def play_openspiel(states: Iterable[Any], random: Random) -> PlayedGames:
    """Play OpenSpiel's games to the end, including chance nodes."""
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
    return PlayedGames(decisions, games, process_time() - began)


def per_second(call: Callable[[], object], times: int = 20_000) -> float:
    """Measure the number of calls per second of processor time."""
    began = process_time()
    for _ in range(times):
        call()
    return times / (process_time() - began)


def _our_turns(games: int) -> Callable[[], Turn]:
    from engine.deal import KEY_BYTES, SeededDecks
    from engine.registry import GAMES

    sixth_sense, nullern = GAMES["sixth_sense"], GAMES["nullern"]
    random = Random(6)

    def new(game: Any = sixth_sense) -> Any:
        return game.new(SEATS, SeededDecks(random.randbytes(KEY_BYTES)))

    def last_round() -> Any:
        state = new()
        while state.round < SEATS - 1:
            state.apply(random.choice(state.legal(state.player)), state.player)
        return state

    middle = new()
    for _ in range(30):
        middle.apply(middle.legal(middle.player)[0], middle.player)

    def turn() -> Turn:
        dealt = play_engine([last_round() for _ in range(games)], random)
        whole = play_engine((new() for _ in range(games // 2)), random)
        other = play_engine((new(nullern) for _ in range(games // 4)), random)
        return {
            DEALT: dealt.decisions / dealt.seconds,
            DEALS: whole.decisions / whole.seconds,
            GAMES_A_SECOND: whole.games / whole.seconds,
            LENGTH: whole.decisions / whole.games,
            CLONE: per_second(middle.clone),
            VIEW: per_second(lambda: middle.view(0)),
            NULLERN + DEALS: other.decisions / other.seconds,
        }

    return turn


def _their_turns(games: int) -> Callable[[], Turn]:
    import pyspiel  # type: ignore[import-untyped, unused-ignore] # has no types; only the benchmark needs it

    rival = pyspiel.load_game(RIVAL)
    random = Random(6)

    def dealt_round(game: Any = rival) -> Any:
        state = game.new_initial_state()
        while state.is_chance_node():
            state.apply_action(random.choice(state.legal_actions()))
        return state

    middle = dealt_round(pyspiel.load_game(RIVAL_DEALT))
    for _ in range(30):
        middle.apply_action(middle.legal_actions()[0])

    def turn() -> Turn:
        dealt = play_openspiel([dealt_round() for _ in range(games * 2)], random)
        whole = play_openspiel((rival.new_initial_state() for _ in range(games * 4)), random)
        return {
            DEALT: dealt.decisions / dealt.seconds,
            DEALS: whole.decisions / whole.seconds,
            GAMES_A_SECOND: whole.games / whole.seconds,
            LENGTH: whole.decisions / whole.games,
            CLONE: per_second(middle.clone),
        }

    return turn


def measure(repetitions: int, games: int) -> dict[str, list[Turn]]:
    """Measure all contenders alternately. `games` is the number of games of 6th Sense per turn. The others do a similar
    amount of work.
    """
    contenders = ["interpreted", *(["compiled"] if COMPILED.is_dir() else []), "OpenSpiel"]
    turns: dict[str, list[Turn]] = {contender: [] for contender in contenders}
    with ExitStack() as stack:
        processes = {}
        for contender in contenders:
            command = [sys.executable, "-m", "bench.engine", "play", contender, str(games)]
            process = subprocess.Popen(
                command,
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                env=environment(contender == "compiled"),
            )
            processes[contender] = stack.enter_context(process)
        for repetition in range(repetitions + 1):
            for contender, process in processes.items():
                print(file=process.stdin, flush=True)
                assert process.stdout is not None
                turn = json.loads(process.stdout.readline())
                if repetition:  # the first repetition is the warm-up
                    turns[contender].append(turn)
        for process in processes.values():
            assert process.stdin is not None
            process.stdin.close()
    return turns


def ratios(turns: dict[str, list[Turn]], contender: str, quantity: str) -> list[float]:
    """Compute, for each turn, the ratio of a contender's quantity to OpenSpiel's, or of Nullern's to 6th Sense's."""
    if quantity.startswith(NULLERN):
        return [turn[quantity] / turn[quantity.removeprefix(NULLERN)] for turn in turns[contender]]
    if contender == "OpenSpiel" or quantity in (GAMES_A_SECOND, LENGTH, VIEW):
        return []
    return [mine[quantity] / other[quantity] for mine, other in zip(turns[contender], turns["OpenSpiel"], strict=True)]


def median_and_range(values: Sequence[float]) -> str:
    """Format the median and the range of values."""
    digits = 2 if median(values) < 100 else 0
    return f"{median(values):,.{digits}f}  ({min(values):,.{digits}f} – {max(values):,.{digits}f})"


def table(turns: dict[str, list[Turn]]) -> Table:
    """Draw a row for each quantity and contender."""
    result = Table(
        title=f"Random play of 6th Sense and of OpenSpiel's {RIVAL}, one core, from Python "
        f"{platform.python_version()}: median (range). Ratios over OpenSpiel, Nullern's over 6th Sense"
    )
    for heading in ("", "", "", "ratio", "bar"):
        result.add_column(heading, justify="left" if not heading else "right")
    for quantity in turns["interpreted"][0]:
        mine = [contender for contender in turns if quantity in turns[contender][0]]
        for contender in mine:
            compared = ratios(turns, contender, quantity)
            bar = BARS.get(contender, {}).get(quantity)
            result.add_row(
                quantity if contender == mine[0] else "",
                contender,
                median_and_range([turn[quantity] for turn in turns[contender]]),
                median_and_range(compared) if compared else "",
                f"≥ {bar}" if bar else "",
                end_section=contender == mine[-1],
            )
    return result


@click.group(invoke_without_command=True, help="Compare the speed of the engine with OpenSpiel's.")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
@click.option("--repetitions", default=7, show_default=True, type=click.IntRange(5), help="Turns of each contender.")
@click.option("--games", default=300, show_default=True, type=click.IntRange(4), help="Games of 6th Sense per turn.")
@click.pass_context
def main(context: click.Context, as_json: bool, repetitions: int, games: int) -> None:
    """Print the table. If OpenSpiel is missing, print the package to install."""
    if context.invoked_subcommand is not None:
        return
    try:
        import pyspiel  # type: ignore[import-untyped, unused-ignore] # noqa: F401 - asked for before the others start
    except ModuleNotFoundError as missing:
        sys.exit(f"{missing.name} is not installed; it is needed to compare with: pip install open_spiel")
    turns = measure(repetitions, games)
    if as_json:
        print(json.dumps(turns, indent=2))
    else:
        Console().print(table(turns))


@main.command("play", hidden=True)
@click.argument("contender")
@click.argument("games", type=int)
def _play_command(contender: str, games: int) -> None:
    turn = _their_turns(games) if contender == "OpenSpiel" else _our_turns(games)
    for _ in sys.stdin:
        print(json.dumps(turn()), flush=True)


if __name__ == "__main__":
    main()
