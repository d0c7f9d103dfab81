"""Where a verb looks things up: a running server, or a data directory. Here are the options that say which."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final, Protocol

import click
from click.core import ParameterSource

if TYPE_CHECKING:
    from arena.cli.directory import Directory
    from arena.wire.client import Client
    from arena.wire.rows import BotRow, LadderRows, MatchRow, RatedRow

DEFAULT_SERVER: Final = "127.0.0.1:50051"
NAME_IT: Final = "a server works on the directory, and it must do this: say where it listens with --server"
LARGEST_MATCH: Final = (1 << 63) - 1
"""The highest number that a match can have."""
LARGEST_PAGE: Final = 1000
"""Matches that can be asked for at once."""


class Source(Protocol):
    """What verbs look things up in. Its errors reach the user by way of `Place.open`."""

    def games(self) -> tuple[str, ...]: ...  # noqa: D102 - `arena.wire.client.Client` says it
    def ladder(self, game: str, seats: int = 0) -> LadderRows: ...  # noqa: D102
    def history(self, bot: str, game: str, limit: int = 1000) -> tuple[RatedRow, ...]: ...  # noqa: D102
    def matches(self, game: str = "", bot: str = "", limit: int = 50, before: int = 0) -> tuple[MatchRow, ...]: ...  # noqa: D102
    def bots(self) -> tuple[BotRow, ...]: ...  # noqa: D102
    def replay(self, match: int) -> bytes: ...  # noqa: D102


@dataclass(frozen=True, slots=True)
class Place:
    """A server's address or a data directory."""

    server: str = DEFAULT_SERVER
    data: Path | None = None
    """Where given, the source, and the server is not asked."""
    tls: bool = False
    roots: Path | None = None

    @property
    def typed(self) -> str:
        """The options that mean it, to be typed after a verb; empty for the default."""
        if self.data is not None:
            return f" --data {quote(str(self.data))}"
        words = "" if self.server == DEFAULT_SERVER else f" --server {quote(self.server)}"
        return words + (f" --tls-roots {quote(str(self.roots))}" if self.roots else " --tls" if self.tls else "")

    @contextmanager
    def open(self) -> Iterator[Source]:
        """The source; whatever it raises comes out as a ClickException that says what to do."""
        with self.read_directory() if self.data is not None else self.reached_server() as source:
            yield source

    @contextmanager
    def reached_server(self) -> Iterator[Client]:
        """The server, whatever the directory; ClickException as above."""
        from arena.wire.client import Declined, NoAnswer, connect

        try:
            roots = None if self.roots is None else self.roots.read_bytes()
            with connect(self.server, self.tls, roots) as client:
                yield client
        except NoAnswer as error:
            advice = "start one with `arena serve`, name another with --server, or read a directory with --data"
            raise click.ClickException(f"{error}; {advice if self.data is None else NAME_IT}") from error
        except (Declined, OSError) as error:
            raise click.ClickException(str(error)) from error

    @contextmanager
    def read_directory(self) -> Iterator[Directory]:
        """The data directory, which must be given; ClickException as above."""
        from arena.cli.directory import open_directory
        from arena.store.errors import Refused, StoreError

        assert self.data is not None, "the caller has looked"
        try:
            with open_directory(self.data) as directory:
                yield directory
        except (StoreError, Refused) as error:
            raise click.ClickException(str(error)) from error


def takes_source(verb: Callable[..., None]) -> Callable[..., None]:
    """Adds --server, --data, --tls and --tls-roots to a verb, which gets the `Place` they mean as `place`."""

    @wraps(verb)
    def command(*, server: str | None, data: Path | None, tls: bool, tls_roots: Path | None, **others: object) -> None:
        server, data = _one_of(server, data)
        verb(place=Place(server or DEFAULT_SERVER, data, tls, tls_roots), **others)

    return with_options(
        command,
        *server_options(f"Ask this server.  [default: {DEFAULT_SERVER}]"),
        data_option("Read this data directory instead; a server may work on it meanwhile."),
    )


def takes_data(verb: Callable[..., None]) -> Callable[..., None]:
    """Adds the same to a verb that needs the data directory, and goes by way of the server where one works on it."""

    @wraps(verb)
    def command(*, server: str | None, data: Path, tls: bool, tls_roots: Path | None, **others: object) -> None:
        verb(place=Place(server or DEFAULT_SERVER, data, tls, tls_roots), **others)

    return with_options(
        command,
        data_option("The data directory of the server.", required=True),
        *server_options(f"Where the server listens, if one works on it.  [default: {DEFAULT_SERVER}]"),
    )


def data_option(words: str, *, required: bool = False) -> Callable[[Callable[..., None]], Callable[..., None]]:
    """--data."""
    return click.option(
        "--data",
        metavar="DIR",
        type=click.Path(path_type=Path),
        envvar="ARENA_DATA",
        show_envvar=True,
        required=required,
        help=words,
    )


def server_options(words: str) -> tuple[Callable[[Callable[..., None]], Callable[..., None]], ...]:
    """--server, --tls and --tls-roots."""
    roots = click.Path(path_type=Path, exists=True, dir_okay=False)
    return (
        click.option("--server", metavar="HOST:PORT", envvar="ARENA_SERVER", show_envvar=True, help=words),
        click.option("--tls", is_flag=True, help="Talk to the server with TLS."),
        click.option(
            "--tls-roots", metavar="FILE", type=roots, help="The same, trusting the authorities in this PEM file."
        ),
    )


def with_options(
    command: Callable[..., None], *options: Callable[[Callable[..., None]], Callable[..., None]]
) -> Callable[..., None]:
    """A command with options, shown in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def _one_of(server: str | None, data: Path | None) -> tuple[str | None, Path | None]:
    """What was typed goes before the environment; a server and a directory at one level are one too many."""
    if server is None or data is None:
        return server, data
    context = click.get_current_context()
    typed = [context.get_parameter_source(name) is ParameterSource.COMMANDLINE for name in ("server", "data")]
    match typed:
        case [True, False]:
            return server, None
        case [False, True]:
            return None, data
        case _:
            raise click.UsageError("a server and a data directory: choose one of --server and --data")
