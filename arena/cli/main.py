"""The `arena` command. A verb's module is imported only when the verb is used, so that `arena --help` is fast."""

from __future__ import annotations

import errno
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import TracebackType
from typing import Final

import click

from arena import STALE_BUILD, build
from arena.version import __version__

GROUPS: Final = {
    "Watch and read": {
        "demo": ("arena.cli.demo.verb", "Watch bots play for twenty seconds: begin here."),
        "ladder": ("arena.cli.ladder.verbs", "Show the ladder."),
        "matches": ("arena.cli.ladder.verbs:matches_command", "List matches."),
        "replay": ("arena.cli.replay.verbs", "List, show, verify, compare and export replays."),
        "why": ("arena.cli.replay.why", "Show why a bot lost time, moves, its seat or the game."),
        "web": ("arena.cli.operate.web", "Show ladder, matches and replays in a browser."),
        "games": ("arena.cli.games", "List the games, their options and sizes."),
        "rules": ("arena.cli.games:rules_command", "Read the rules of a game."),
    },
    "Write a bot": {
        "new": ("arena.cli.workbench.new", "Create a bot: a project that plays, with its test."),
        "play": ("arena.cli.workbench.play", "Watch one game on this machine, or play it."),
        "match": ("arena.cli.workbench.match", "Compare bots on this machine."),
        "event": ("arena.cli.workbench.event", "Hold and read events, compute their results again."),
        "check": ("arena.cli.workbench.check", "Check whether a bot follows the protocol."),
        "bots": ("arena.cli.bots.verbs", "List bots, challenge, invite, change tokens, un-park, moderate."),
    },
    "Run a server": {
        "serve": ("arena.cli.operate.serve", "Run a server."),
        "drain": ("arena.cli.operate.drain", "Stop a server after its running matches."),
        "backup": ("arena.cli.operate.backup", "Copy a data directory, beside a running server."),
        "restore": ("arena.cli.operate.backup:restore_command", "Create a data directory from a backup."),
        "store": ("arena.cli.operate.store", "Show the disk space that a data directory uses."),
        "prune": ("arena.cli.operate.store:prune_command", "Remove old replays."),
        "log": ("arena.cli.operate.log", "Show and audit the log of results, change its key."),
        "cert": ("arena.cli.operate.cert", "Make a certificate for development."),
    },
}
"""Verbs grouped by their users, each with its module and its line in the help. After a `:` comes the name of the
function, unless it is `command`.
"""
VERBS: Final = {name: verb for verbs in GROUPS.values() for name, verb in verbs.items()}


OTHERWISE: Final = {"--port": "--address HOST:PORT", "--host": "--address HOST:PORT"}
"""Options that users may know from other servers, with their equivalents here."""


class LazyGroup(click.Group):
    """A group that imports each command at its first use."""

    def list_commands(self, _: click.Context) -> list[str]:
        """Return the verbs, in the order of the help."""
        return list(VERBS)

    def get_command(self, __: click.Context, name: str) -> click.Command | None:
        """Import and return the command of a verb."""
        if name not in VERBS:
            return None
        module, _, function = VERBS[name][0].partition(":")
        command: object = getattr(import_module(module), function or "command")
        assert isinstance(command, click.Command)
        return command

    def resolve_command(
        self, context: click.Context, words: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Find the verb. If it does not exist, suggest similar verbs."""
        try:
            return super().resolve_command(context, words)
        except click.UsageError as error:
            from difflib import get_close_matches

            if alike := get_close_matches(words[0], VERBS):
                raise click.UsageError(f"{error.message} Did you mean {' or '.join(alike)}?", error.ctx) from error
            raise

    def invoke(self, context: click.Context) -> object:
        """Run a verb. If it needs a package from a distribution that is not installed, explain how to install it."""
        try:
            with _errors_for_click():
                return super().invoke(context)
        except click.NoSuchOption as error:
            option = error.option_name
            if option[1:].isdecimal():
                raise click.UsageError(
                    f"Matches are numbered from 1; there is no match {option}.", error.ctx
                ) from error
            if option in OTHERWISE:
                raise click.UsageError(f"There is no option {option}; use {OTHERWISE[option]}.", error.ctx) from error
            raise
        except click.ClickException as error:
            number = f"[Errno {error.__cause__.errno}] " if isinstance(error.__cause__, OSError) else ""
            if number and number in error.message:
                raise click.ClickException(error.message.replace(number, "")) from error
            raise
        except ModuleNotFoundError as error:
            from arena.local.errors import PackageMissing

            package = (error.name or "").partition(".")[0]
            if package not in PackageMissing.DISTRIBUTIONS:
                raise
            raise click.ClickException(str(PackageMissing(package))) from error

    def format_commands(self, _: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the verbs with their help texts, group by group, without importing their modules."""
        width = max(map(len, VERBS))
        for title, verbs in GROUPS.items():
            with formatter.section(title):
                formatter.write_dl([(name.ljust(width), help_text) for name, (_, help_text) in verbs.items()])


@contextmanager
def _errors_for_click() -> Iterator[None]:
    """Turn errors that name their remedy into ClickExceptions. Leave a closed pipe (EPIPE) to click."""
    try:
        yield
    except OSError as error:
        if error.errno == errno.EPIPE:
            raise
        raise click.ClickException(str(error)) from error
    except Exception as error:
        from arena.local.errors import LocalMatchError
        from arena.replay.replay import ReplayError
        from arena.store.base.errors import Refused, StoreError

        if isinstance(error, LocalMatchError | ReplayError | Refused | StoreError):
            raise click.ClickException(str(error)) from error
        raise


def _show_version(context: click.Context, _: click.Parameter, asked: bool) -> None:
    if asked:
        click.echo(f"arena, version {__version__} ({build.kind()})")
        if STALE_BUILD:
            click.echo(STALE_BUILD, err=True)
        context.exit()


@click.group(
    cls=LazyGroup,
    epilog="Example: arena demo",
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.option(
    "--version", is_flag=True, is_eager=True, expose_value=False, callback=_show_version, help="Show version and build."
)
def main() -> None:
    """Card-game matches between bots: a server, a ladder, and replays anyone can check.

    Exit status: 0 done, 1 failed (no server, no such match, a replay that differs …), 2 wrong usage.
    `arena drain` has a status of its own, 3: matches are left to the next start.
    """
    sys.excepthook = _print_with_text


def _print_with_text(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """Print a traceback in Python's format, including source lines of compiled modules."""
    import traceback

    from arena.stderr import read_lines

    read_lines(trace)
    traceback.print_exception(kind, error, trace)
