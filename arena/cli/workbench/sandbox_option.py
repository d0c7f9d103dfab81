"""`--sandbox[=weak]`, for every verb that runs commands."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

if TYPE_CHECKING:
    from arena.local.sandbox.sandbox import Sandbox

NAME: Final = "--sandbox"

Function = TypeVar("Function", bound=Callable[..., Any])


def sandbox_option(function: Function) -> Function:
    """Add `--sandbox[=weak]` to a `SandboxCommand`; its parameter `sandbox` is None, "whole" or "weak"."""
    option = click.option(
        NAME,
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
        takes = {name for each in options for name in each.opts} - {NAME}
        words = iter(args)
        for word in words:
            if word == "--" or not (interspersed or word.startswith("-")):
                yield word
                yield from words
            else:
                yield f"{NAME}=whole" if word == NAME else word
                yield from islice(words, 1 if word in takes else 0)


def refuse_without_commands(bots: tuple[str, ...]) -> None:
    """Refuse bots that are loaded into this process and would run outside a box.

    Raises:
        click.UsageError: A bot is neither a command nor a house bot, or no bot is a command.
    """
    from arena.local.commands.spec import is_command
    from arena.local.play.players import HOUSE

    for bot in bots:
        if not is_command(bot) and not bot.startswith(HOUSE):
            raise click.UsageError(
                f"--sandbox is for commands, and {bot} is loaded by this program itself: name it as 'cmd:python {bot}'"
            )
    if not any(map(is_command, bots)):
        raise click.UsageError("--sandbox is for commands, and there is none: write 'cmd:./mybot --flag'")


def probed_sandbox(wanted: str) -> Sandbox:
    """Return the box for commands; report a box that is missing protection. Raises: SandboxRefused."""
    from arena.local.sandbox.sandbox import probed

    found = probed(weak=wanted == "weak")
    for lack in found.lacks:
        click.echo(f"The sandbox is without {lack}", err=True)
    return found
