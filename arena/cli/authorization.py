"""Authorization for verbs that change a bot: the operator uses the data directory, the author uses the bot's token."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

import click
from click.core import ParameterSource

from arena.cli.data_source import DEFAULT_SERVER, DataPlace, Option, data_option, server_options, with_options
from arena.store.base.errors import StoreLocked

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from arena.queries.remote import Client

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class AuthorizedChange:
    """The data directory or server to change, and the bot's token file if the author makes the change."""

    place: DataPlace
    token_file: Path | None = None

    def change(self, here: Callable[[Connection], T], there: Callable[[Client, str], T]) -> T:
        """Make the change and return its result.

        `here` changes the data directory, if no server uses it. Otherwise `there` asks that server, with a token, to
        make the change.

        Raises: StoreError, Refused, OSError; click.ClickException, as `DataPlace.operated_server` does.
        """
        from arena.store.opening import open_to_amend

        if self.token_file is not None:
            with self.place.reached_server() as server:
                return there(server, self.token_file.read_text().strip())
        assert self.place.data is not None, "one of the two is there"
        try:
            with open_to_amend(self.place.data) as connection:
                return here(connection)
        except StoreLocked:
            with self.place.operated_server() as (server, token):
                return there(server, token)


def takes_own_token(words: str) -> Option:
    """Return the required option --token-file with this help text, for verbs that only a bot's author may use."""
    file = click.Path(path_type=Path, exists=True, dir_okay=False)
    return click.option("--token-file", metavar="FILE", type=file, required=True, help=words)


def takes_authorization(verb: Callable[..., None]) -> Callable[..., None]:
    """Add --data, --token-file and the server options to a verb.

    The verb gets an `AuthorizedChange` as `authorized`.
    """

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
        typed = click.get_current_context().get_parameter_source("server") is ParameterSource.COMMANDLINE
        if data is not None and (typed or tls or tls_roots):
            raise click.UsageError("--data finds its server: leave out --server, --tls and --tls-roots")
        place = DataPlace(server or DEFAULT_SERVER, data, tls, tls_roots)
        verb(authorized=AuthorizedChange(place, token_file), **others)

    file = click.Path(path_type=Path, exists=True, dir_okay=False)
    return with_options(
        command,
        data_option("As the operator: the data directory of the server, which is asked if it runs."),
        click.option("--token-file", metavar="FILE", type=file, help="As the author: the file with the bot's token."),
        *server_options(f"With --token-file: where the server listens.  [default: {DEFAULT_SERVER}]"),
    )
