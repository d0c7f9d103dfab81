"""`arena play`: play one game on this machine and draw it at the same time."""

from __future__ import annotations

import secrets
import shutil
import sys
import tempfile
from collections.abc import Mapping, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from arena.cli.terminal.screen import json_option, print_json, screen
from arena.cli.workbench.options import INTERRUPTED, chosen_table
from arena.local.play.players import HOUSE, LocalPlayer, load, strongest_house
from arena.local.play.table import LiveGame, PlayedGame
from arena.replay.read import read
from arena.replay.steps import Course
from engine.game import Game, Option
from engine.registry import GAMES

if TYPE_CHECKING:
    from arena.cli.workbench.live_view import View

HUMAN: Final = "human"
"""The word for the seat at the keyboard."""
DELAY: Final = 0.3
"""Seconds for which a position is shown in a terminal."""


@click.command(epilog="Example: arena play bot.py house:counter human --game nullern")
@click.argument("players", nargs=-1, required=True)
@click.option(
    "--game", type=click.Choice([*GAMES]), default=next(iter(GAMES)), show_default=True, help="The game to play."
)
@click.option("--seats", metavar="N", type=int, help="Seats at the table.  [default: as many as players, or 4]")
@click.option("--option", "options", metavar="NAME=VALUE", multiple=True, help="An option of the game; repeatable.")
@click.option("--seed", metavar="N", type=int, help="Seed of the deals.  [default: a random one, which is shown]")
@click.option("--seat", metavar="S", type=click.IntRange(0), help="Draw the view of this seat.  [default: all hands]")
@click.option(
    "--delay",
    metavar="SECONDS",
    type=click.FloatRange(0, 3600),
    help=f"Seconds for which each position is shown.  [default: {DELAY} in a terminal, else 0]",
)
@click.option(
    "--out",
    metavar="FILE",
    type=click.Path(path_type=Path, dir_okay=False),
    help="File of the replay, with the bots' output beside it; it must not exist.",
)
@json_option
def command(
    players: tuple[str, ...],
    game: str,
    seats: int | None,
    options: tuple[str, ...],
    seed: int | None,
    seat: int | None,
    delay: float | None,
    out: Path | None,
    as_json: bool,
) -> None:
    """Play one game on this machine and draw it: PLAYERS in the order of their seats.

    A player is FILE.py or FILE.py:CLASS, with a class that extends arena_client.Bot; house:NAME; or human, the seat at
    the keyboard. The strongest house bot takes the other seats. The referee is a server's, without clocks. In a
    terminal each position is drawn over the last; elsewhere, and with a human, the game is printed as lines. A bot's
    output goes to a file of its own, whose last lines are shown if it crashes.

    Exit status: 0 done, 1 failed, 2 wrong usage, 130 interrupted.

    \b
    JSON: {"game", "options", "seed", "bots", "versions", "scores", "places",
    "decisions", "think_us", "slowest_us", "replay", "logs"}
    """
    table, settled = _table(players, game, seats, options, seat)
    if out is not None and out.exists():
        raise click.ClickException(f"{out} exists already: choose another file")
    if out is not None and not out.parent.is_dir():
        raise click.ClickException(f"there is no folder {out.parent} for {out.name}: make it, or choose another")
    number = secrets.randbelow(1 << 32) if seed is None else seed
    folder = Path(tempfile.mkdtemp(prefix="arena-play-")) if out is None else out.parent
    stem = "" if out is None else f"{out.name}."
    logs = [None if _is_ours(spec) else folder / f"{stem}seat-{at}.log" for at, spec in enumerate(table)]
    try:
        live, played = _play(table, GAMES[game], settled, number, logs, seat, delay, as_json)
        if out is not None:
            out.write_bytes(live.replay())
    except KeyboardInterrupt:
        click.echo("Interrupted; of a game that is not over nothing is kept.", err=True)
        sys.exit(INTERRUPTED)
    finally:
        kept = _written(logs)
        if out is None and not any(kept):
            shutil.rmtree(folder)
    if as_json:
        _print_json(live, played, table, number, out, kept)
        return
    _show(live, number, out, kept)


def _written(logs: Sequence[Path | None]) -> list[Path | None]:
    """Return the logs that are not empty, by seat. Remove the others."""
    kept: list[Path | None] = []
    for log in logs:
        if log is not None and log.exists() and not log.stat().st_size:
            log.unlink()
        kept.append(log if log is not None and log.exists() else None)
    return kept


def _is_ours(spec: str) -> bool:
    """Return True if a player runs in this process."""
    return spec == HUMAN or spec.startswith(HOUSE)


def _table(
    players: tuple[str, ...], game: str, seats: int | None, options: tuple[str, ...], seat: int | None
) -> tuple[tuple[str, ...], Mapping[str, Option]]:
    """Return the players of all seats and the game's options. Raises: UsageError."""
    if players.count(HUMAN) > 1:
        raise click.UsageError("there is one keyboard: human may be there once")
    if HUMAN in players and seat is not None:
        raise click.UsageError("with a human the game is drawn as that seat knows it: leave --seat out")
    asked = seats or (len(players) if len(players) > 1 else None)
    ladder = chosen_table(game, asked, options)
    size = ladder.seats[0]
    if len(players) > size:
        raise click.UsageError(f"{len(players)} players do not fit at a table of {size}")
    if seat is not None and seat >= size:
        raise click.UsageError(f"the table has seats 0 to {size - 1}, not seat {seat}")
    return (*players, *[strongest_house(game)] * (size - len(players))), dict(ladder.options)


def _play(
    table: Sequence[str],
    game: Game,
    options: Mapping[str, Option],
    seed: int,
    logs: Sequence[Path | None],
    seat: int | None,
    delay: float | None,
    as_json: bool,
) -> tuple[LiveGame, PlayedGame]:
    """Play and draw the game. Raises: LocalMatchError: A player fails; OSError."""
    from arena.cli.workbench.live_view import KeyboardSeat, lines, pictures
    from arena.local.play.player_process import PlayerProcess

    console = screen(stderr=as_json)
    drawn = console.is_terminal and HUMAN not in table and not as_json
    pause = (DELAY if drawn else 0.0) if delay is None else delay
    with ExitStack() as stack:
        players: list[LocalPlayer] = []
        for spec, log in zip(table, logs, strict=True):
            if spec == HUMAN:
                players.append(KeyboardSeat(console, lambda: live.course))
            elif log is None:
                players.append(load(spec, game))
            else:
                process = PlayerProcess(spec, game.name, log)
                stack.callback(process.close)
                players.append(process)
        live = LiveGame(game, options, seed, players)
        eyes = table.index(HUMAN) if HUMAN in table else seat
        view: View = stack.enter_context(pictures(console, eyes, pause)) if drawn else lines(console, eyes, pause)
        if as_json and HUMAN not in table:
            return live, live.play(lambda: None)
        view(live.course)
        return live, live.play(lambda: view(live.course))


def _show(live: LiveGame, seed: int, out: Path | None, kept: Sequence[Path | None]) -> None:
    from arena.replay.render.show import show_match

    console = screen()
    console.print()
    console.print(show_match(Course(read(live.replay(), "this game"))))
    console.print(f"\nThe same deals again: --seed {seed}", style="dim", markup=False)
    if out is not None:
        console.print(f"To step through it: arena replay show {out}", style="dim", soft_wrap=True, markup=False)
    for at, log in enumerate(kept):
        if log is not None:
            console.print(f"What seat {at} printed is in {log}", style="dim", soft_wrap=True, markup=False)


def _print_json(
    live: LiveGame, played: PlayedGame, table: Sequence[str], seed: int, out: Path | None, kept: Sequence[Path | None]
) -> None:
    header = live.header
    print_json(
        {
            "game": header.game.name,
            "options": header.options,
            "seed": seed,
            "bots": table,
            "versions": live.versions,
            **played._asdict(),
            "replay": None if out is None else str(out),
            "logs": [None if log is None else str(log) for log in kept],
        }
    )
