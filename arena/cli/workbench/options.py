"""Options of the workbench's verbs: the subject and the sequential test of a match, and `--sandbox[=weak]`."""

from __future__ import annotations

import re
import secrets
import sys
from collections.abc import Callable, Iterator
from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

import click

from arena.cli.game_options import parse_ladders
from arena.local.commands.spec import is_command
from arena.local.match.design import Design, Pairing, default_design, fielded
from arena.local.match.sequential import ScoreUnit, SequentialTest
from arena.local.match.sets import Subject, seed_of
from arena.local.play.players import HOUSE, strongest_house
from arena.server.config import LadderTable
from engine.game import OptionError
from engine.registry import GAMES

if TYPE_CHECKING:
    from arena.local.sandbox.sandbox import Sandbox

BOUND: Final = re.compile(r"(elo|points|t)([01])=(.+)")
LARGEST: Final = {"elo": 2000.0, "points": 1e6, "t": 100.0}
"""Maximum bound of a test, by unit, so that arithmetic remains finite."""
DEFAULTS: Final = {"t": {"0": 0.0, "1": 0.1}}
"""The default bounds, by unit."""
SANDBOX: Final = "--sandbox"
INTERRUPTED: Final = 130
"""Exit status after Ctrl-C."""
Function = TypeVar("Function", bound=Callable[..., Any])


def chosen_table(game: str, seats: int | None, options: tuple[str, ...]) -> LadderTable:
    """Return a game with one table size and its options. Raises: click.UsageError."""
    try:
        [ladder] = parse_ladders(GAMES, [game], [] if seats is None else [str(seats)], options)
    except OptionError as error:
        raise click.UsageError(str(error)) from error
    return ladder


def match_subject(
    compared: tuple[str, ...],
    round_robin: bool,
    game: str,
    seats: int | None,
    options: tuple[str, ...],
    field: tuple[str, ...],
    design: str | None,
    seed: int | None,
    out: Path | None,
) -> Subject:
    """Return the bots and the design of a match. Raises: click.UsageError."""
    from arena.local.match.runner import versions

    ladder = chosen_table(game, seats, options)
    size = ladder.seats[0]
    chosen = default_design(game, size) if design is None else Design(design)
    beside = fielded(chosen, size)
    if len(field) > beside:
        raise click.UsageError(f"a field of {beside} sits at a table of {size} with {chosen.value}, not {len(field)}")
    strongest = strongest_house(game)
    filled = [(field or (strongest,))[place % len(field or (strongest,))] for place in range(beside)]
    bots = (*compared, *filled)
    known = versions(game, bots)
    if seed is None:
        seed = seed_of(out) if out is not None and out.exists() else None
    if seed is None:
        seed = secrets.randbelow(1 << 32)
    pairing = Pairing.ROUND_ROBIN if round_robin else Pairing.GAUNTLET
    return Subject(game, dict(ladder.options), size, chosen, seed, bots, known, len(compared), pairing)


def sequential_test(_: click.Context, __: click.Parameter, text: str | None) -> SequentialTest | None:
    """Parse two bounds of one unit: elo0=0,elo1=20 or points0=0,points1=2 or t0=0,t1=0.1.

    Raises:
        click.BadParameter: the text does not describe a test.
    """
    if text is None:
        return None
    found: dict[str, dict[str, float]] = {}
    for word in text.split(","):
        bound = BOUND.fullmatch(word)
        try:
            if bound is None:
                raise ValueError
            found.setdefault(bound[1], {})[bound[2]] = float(bound[3])
        except ValueError:
            names = "elo0=, elo1=, points0=, points1=, t0= or t1="
            raise click.BadParameter(f"{word!r} is not {names} with a number, such as elo0=0,elo1=20") from None
    if len(found) > 1:
        raise click.BadParameter(f"{text!r} mixes {' and '.join(found)}: write both bounds in one unit")
    [(unit, given)] = found.items()
    bounds = DEFAULTS.get(unit, {}) | given
    if missing := {"0", "1"} - bounds.keys():
        raise click.BadParameter(f"{unit}{missing.pop()} is missing: write {unit}0=NUMBER,{unit}1=NUMBER")
    lower, upper, largest = bounds["0"], bounds["1"], LARGEST[unit]
    if not lower < upper or not max(abs(lower), abs(upper)) < largest:
        between = f"{unit}0 must be less than {unit}1, and both between -{largest:g} and {largest:g}"
        raise click.BadParameter(f"{between}; they are {lower:g} and {upper:g}")
    return SequentialTest(lower, upper, ScoreUnit(unit))


def refuse_apart(test: SequentialTest, design: Design) -> None:
    """Refuse a test of Elo by places if the two bots never play at one table.

    Raises:
        click.UsageError: this design cannot answer the question. The message names a design that can.
    """
    if test.unit is ScoreUnit.ELO and design is not Design.ONE_TABLE:
        raise click.UsageError(
            f"elo0 and elo1 are of two bots at one table, where {design.value} never seats them together: "
            "choose --design one-table, or test points0=,points1= or t0=,t1="
        )


def exit_interrupted(subject: Subject, out: Path | None) -> NoReturn:
    """Print how to continue after Ctrl-C, and exit."""
    goes_on = f"the same command goes on, with --seed {subject.seed} --out {out}."
    click.echo(f"Interrupted; {'nothing is kept without --out FILE.' if out is None else goes_on}", err=True)
    sys.exit(INTERRUPTED)


def sandbox_option(function: Function) -> Function:
    """Add `--sandbox[=weak]` to a `SandboxCommand`. Its parameter `sandbox` is None, "whole" or "weak"."""
    option = click.option(
        SANDBOX,
        metavar="[=weak]",
        type=click.Choice(["whole", "weak"]),
        help="Run commands in boxes: no network, none of your files, limits. =weak: as far as this system can.",
    )
    return option(function)


class SandboxCommand(click.Command):
    """A command that accepts `--sandbox` without a value, before any word."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        """Add the default value to a bare `--sandbox`."""
        return super().parse_args(ctx, [*self._valued(args, ctx.allow_interspersed_args)])

    def _valued(self, args: list[str], interspersed: bool) -> Iterator[str]:
        """Yield the words, with the default value added to a bare `--sandbox`.

        The values of other options and the words of the bot's command stay unchanged.
        """
        options = [each for each in self.params if isinstance(each, click.Option) and not each.is_flag]
        takes = {name for each in options for name in each.opts} - {SANDBOX}
        words = iter(args)
        for word in words:
            if word == "--" or not (interspersed or word.startswith("-")):
                yield word
                yield from words
            else:
                yield f"{SANDBOX}=whole" if word == SANDBOX else word
                yield from islice(words, 1 if word in takes else 0)


def refuse_without_commands(bots: tuple[str, ...]) -> None:
    """Refuse bots that would run in this process and therefore outside a sandbox.

    Raises:
        click.UsageError: a bot is neither a command nor a house bot, or no bot is a command.
    """
    for bot in bots:
        if not is_command(bot) and not bot.startswith(HOUSE):
            raise click.UsageError(
                f"--sandbox is for commands, and {bot} is loaded by this program itself: name it as 'cmd:python {bot}'"
            )
    if not any(map(is_command, bots)):
        raise click.UsageError("--sandbox is for commands, and there is none: write 'cmd:./mybot --flag'")


def probed_sandbox(wanted: str) -> Sandbox:
    """Return the sandbox for commands. Print each protection that it lacks. Raises: SandboxRefused."""
    from arena.local.sandbox.sandbox import probed

    found = probed(weak=wanted == "weak")
    for lack in found.lacks:
        click.echo(f"The sandbox is without {lack}", err=True)
    return found
