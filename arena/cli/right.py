"""By what right a verb changes a bot: the operator has the data directory, its author has its token."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import contextmanager
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click

from arena.cli.source import DEFAULT_SERVER, Place, data_option, server_options, with_options

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

    from arena.wire.client import Client

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Right:
    """A place, and the bot's token file where it is the author who asks."""

    place: Place
    token_file: Path | None = None

    def change(self, here: Callable[[Connection], T], there: Callable[[Client, str], T]) -> T:
        """Does something in the directory, or has the server do it with a token; ClickException if it cannot be done.

        `here` gets the directory where no server works on it; `there` gets the server.
        """
        from arena.store.directory import operator_token
        from arena.store.errors import StoreLocked
        from arena.store.store import open_to_amend

        with _failures_told():
            if self.token_file is not None:
                with self.place.reached_server() as server:
                    return there(server, self.token_file.read_text().strip())
            assert self.place.data is not None, "one of the two is there"
            try:
                with open_to_amend(self.place.data) as connection:
                    return here(connection)
            except StoreLocked:
                with self.place.reached_server() as server:
                    return there(server, operator_token(self.place.data))


@contextmanager
def _failures_told() -> Iterator[None]:
    from arena.store.errors import Refused, StoreError

    try:
        yield
    except (StoreError, Refused, OSError) as error:
        raise click.ClickException(str(error)) from error


def takes_right(verb: Callable[..., None]) -> Callable[..., None]:
    """Adds --data, --token-file and the options of a server to a verb, which gets the `Right` they mean as `right`."""

    @wraps(verb)
    def command(
        *,
        server: str | None,
        data: Path | None,
        token_file: Path | None,
        tls: bool,
        tls_roots: Path | None,
        **others: object,
    ) -> None:
        if (data is None) == (token_file is None):
            raise click.UsageError(
                "say who you are: --data DIR for the operator, --token-file FILE for the bot's author"
            )
        verb(right=Right(Place(server or DEFAULT_SERVER, data, tls, tls_roots), token_file), **others)

    file = click.Path(path_type=Path, exists=True, dir_okay=False)
    return with_options(
        command,
        data_option("As the operator: the data directory of the server."),
        click.option("--token-file", metavar="FILE", type=file, help="As the author: the file with the bot's token."),
        *server_options(f"Where the server listens, if one runs.  [default: {DEFAULT_SERVER}]"),
    )
