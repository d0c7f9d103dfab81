"""The data source of a verb (a running server or a data directory), and the options that choose it."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from difflib import get_close_matches
from functools import wraps
from pathlib import Path
from shlex import quote
from typing import TYPE_CHECKING, Final, TypeAlias

import click
from click.core import ParameterSource

from arena.queries.source import LARGEST_MATCH as LARGEST_MATCH
from arena.queries.source import LARGEST_PAGE as LARGEST_PAGE
from arena.queries.source import ChosenLadder as ChosenLadder
from arena.queries.source import DataSource, choose_ladders
from arena.store.base.errors import Refused, UnknownBot
from arena.store.base.rows import LadderEntryRow

if TYPE_CHECKING:
    from arena.queries.directory import Directory
    from arena.queries.remote import Client

DEFAULT_SERVER: Final = "127.0.0.1:50051"
Option: TypeAlias = Callable[[Callable[..., None]], Callable[..., None]]
"""A decorator that adds options to a verb."""
_SECONDS: Final = {"h": 3600, "d": 86_400, "w": 604_800}


@dataclass(frozen=True, slots=True)
class DataPlace:
    """The location of the data: a server's address, a data directory, or both."""

    server: str = DEFAULT_SERVER
    data: Path | None = None
    """The data directory. If given, `open` reads it instead of connecting to the server."""
    tls: bool = False
    roots: Path | None = None

    @property
    def typed(self) -> str:
        """The options that select this place on a command line. Empty for the default."""
        if self.data is not None:
            return f" --data {quote(str(self.data))}"
        words = "" if self.server == DEFAULT_SERVER else f" --server {quote(self.server)}"
        return words + (f" --tls-roots {quote(str(self.roots))}" if self.roots else " --tls" if self.tls else "")

    @contextmanager
    def open(self) -> Iterator[DataSource]:
        """Open the data source. If a server does not answer, the ClickException states the remedy."""
        with self.read_directory() if self.data is not None else self.reached_server() as source:
            yield source

    @contextmanager
    def reached_server(self) -> Iterator[Client]:
        """Connect to the server even if a directory is given. Errors are those of `open`."""
        if not re.fullmatch(r"unix:.+|.*:[0-9]+", self.server):
            text = f"{self.server!r} has no port; write HOST:PORT, such as {self.server}:{DEFAULT_SERVER.split(':')[1]}"
            raise click.BadParameter(text, param_hint="'--server'")
        advice = "start one with `arena serve`, name another with --server, or read a directory with --data"
        with _client(self.server, advice, self.tls, self.roots) as client:
            yield client

    @contextmanager
    def operated_server(self) -> Iterator[tuple[Client, str]]:
        """Connect to the server that has locked the data directory, through its Unix socket; yield client and token.

        This way, the token cannot reach any other server.

        Raises:
            click.ClickException: No server uses the directory, or that server cannot be reached.
        """
        from arena.queries.remote import at_socket
        from arena.store.base.directory import operator_token
        from arena.store.base.lock import holder

        assert self.data is not None, "the caller has checked"
        found = holder(self.data)
        if found is None:
            raise click.ClickException(f"no server works on {self.data}: start one, or look for another directory")
        process = f"the process with id {found.pid or 'unknown'}, which works on {self.data},"
        if found.socket is None:
            raise click.ClickException(
                f"{process} does not listen: wait until the server has started or the other command has ended; "
                "a server of an older version has to be started again"
            )
        advice = f"{process} has announced to listen there: try again, or look at its log"
        with _client(at_socket(found.socket), advice) as client:
            yield client, operator_token(self.data)

    @contextmanager
    def read_directory(self) -> Iterator[Directory]:
        """Open the data directory, which must be given. Errors are those of `open`."""
        from arena.queries.directory import open_directory

        assert self.data is not None, "the caller has checked"
        with open_directory(self.data) as directory, _alike_named(directory):
            yield directory


@contextmanager
def _client(address: str, advice: str, tls: bool = False, roots: Path | None = None) -> Iterator[Client]:
    """Connect to a server. Raise a ClickException with advice if no server answers."""
    from arena.queries.remote import LateAnswer, NoAnswer, connect

    try:
        with connect(address, tls, None if roots is None else roots.read_bytes()) as client, _alike_named(client):
            yield client
    except LateAnswer as error:
        raise click.ClickException(str(error)) from error
    except NoAnswer as error:
        raise click.ClickException(f"{error}; {advice}") from error


def chosen_games(games: tuple[str, ...], game: str | None) -> tuple[str, ...]:
    """Return the game that --game names, or all of the given games without --game. Raises: click.BadParameter."""
    if not game:
        return games
    if game not in games:
        raise click.BadParameter(f"there is no game {game!r}; there are {', '.join(games)}", param_hint="'--game'")
    return (game,)


def chosen_ladders(
    ladders: Iterable[LadderEntryRow], game: str | None, ladder: str | None, season: int | None
) -> tuple[ChosenLadder, ...]:
    """Return the seasons that --ladder, --season and --game choose among these ladders. Without --ladder, choose the
    game's default ladder; without --game as well, choose every default ladder.

    Raises:
        click.BadParameter: There is no such game or ladder, or the ladder belongs to another game.
        click.UsageError: A season is given without a ladder or game.
    """
    if season and not (game or ladder):
        raise click.UsageError(f"season {season} of which ladder? Name it with --ladder, or its game with --game")
    listed = tuple(ladders)
    if game:
        chosen_games(tuple(dict.fromkeys(each.game for each in listed)), game)
    try:
        return choose_ladders(listed, game or "", ladder or "", season or 0)
    except Refused as error:
        raise click.BadParameter(str(error), param_hint="'--ladder'") from error


def chosen_matches(source: DataSource, game: str, ladder: str | None, season: int | None) -> tuple[str, str, int]:
    """Return game, ladder and season for queries of the source's matches. A game alone stands for all its ladders.

    Raises: click.BadParameter and click.UsageError, as `chosen_ladders` does.
    """
    if ladder or season:
        [chosen] = chosen_ladders(source.ladders(), game, ladder, season)
        return chosen
    chosen_games(source.games(), game)
    return game, "", 0


def typed_choice(game: str | None, ladder: str | None, season: int | None) -> str:
    """Return the options --game, --ladder and --season in command-line form."""
    words = [f" --game {quote(game)}" if game else "", f" --ladder {quote(ladder)}" if ladder else ""]
    return "".join(words) + (f" --season {season}" if season else "")


def known_bot(source: DataSource, name: str) -> None:
    """Check that the source has a bot of this name.

    Raises:
        UnknownBot: The source has no such bot; `DataPlace.open` turns this into a ClickException that suggests names.
    """
    if name.lower() not in (row.name.lower() for row in source.bots()):
        raise UnknownBot(name)


@contextmanager
def _alike_named(source: DataSource) -> Iterator[None]:
    """Turn UnknownBot into a ClickException that suggests bots with similar names."""
    try:
        yield
    except UnknownBot as error:
        raise click.ClickException(str(error) + suggested(error.name, [row.name for row in source.bots()])) from error


def suggested(word: str, known: Iterable[str]) -> str:
    """Return ", did you mean …?" with the similar known words, or an empty text if there are none."""
    by_case = {each.lower(): each for each in known}
    found = [by_case[each] for each in get_close_matches(word.lower(), by_case)]
    return f"; did you mean {' or '.join(found)}?" if found else ""


def time_span(_: click.Context, __: click.Parameter, value: str | None) -> int | None:
    """Return a positive number of hours, days or weeks, such as 30d, in microseconds."""
    if value is None:
        return None
    found = re.fullmatch(r"([1-9][0-9]{0,5})([hdw])", value)
    if found is None:
        raise click.BadParameter(f"{value!r} is no number of hours, days or weeks, such as 12h, 30d or 8w")
    return int(found[1]) * _SECONDS[found[2]] * 1_000_000


def takes_source(verb: Callable[..., None]) -> Callable[..., None]:
    """Add --server, --data, --tls and --tls-roots to a verb, which gets a `DataPlace` as `place`."""
    return _with_place(
        verb,
        *server_options(f"Ask this server.  [default: {DEFAULT_SERVER}]"),
        data_option("Read this data directory instead; a server may work on it meanwhile."),
    )


def chooses_ladder(verb: Callable[..., None]) -> Callable[..., None]:
    """Add --game, --ladder and --season to a verb about ladders."""
    return with_options(
        verb,
        click.option("--game", metavar="NAME", help="Only this game.  [default: every game]"),
        click.option("--ladder", metavar="NAME", help="Only this ladder.  [default: the default ladder]"),
        season_option,
    )


def chooses_ladder_of_matches(verb: Callable[..., None]) -> Callable[..., None]:
    """Add --game, --ladder and --season to a verb about matches."""
    return with_options(
        verb,
        click.option("--game", metavar="NAME", default="", help="Only matches of this game, on any ladder."),
        click.option("--ladder", metavar="NAME", help="Only matches of this ladder."),
        season_option,
    )


season_option: Final = click.option(
    "--season", metavar="N", type=click.IntRange(1), help="Season of the ladder.  [default: the current one]"
)


def chooses_matches(verb: Callable[..., None]) -> Callable[..., None]:
    """Add --game, --ladder, --season, --bot, --limit and --before to a verb that lists matches."""
    return with_options(
        verb,
        chooses_ladder_of_matches,
        click.option("--bot", metavar="NAME", default="", help="Only matches of this bot."),
        limit_option("matches", 20),
        click.option(
            "--before", metavar="MATCH", type=click.IntRange(1, LARGEST_MATCH), help="Only matches older than this one."
        ),
    )


def limit_option(rows: str, default: int) -> Option:
    """Return the option --limit of a verb that lists `rows`."""
    limit = click.IntRange(1, LARGEST_PAGE)
    words = f"Maximum number of {rows} to list."
    return click.option("--limit", type=limit, default=default, show_default=True, help=words)


def takes_server(verb: Callable[..., None]) -> Callable[..., None]:
    """Add the server options to a verb that needs a running server and gets a `DataPlace` as `place`."""
    return _with_place(verb, *server_options(f"Ask this server.  [default: {DEFAULT_SERVER}]"))


def takes_data(verb: Callable[..., None]) -> Callable[..., None]:
    """Add --data as a required option to a verb for operators, which gets a `DataPlace` as `place`."""
    words = "The data directory of the server, which is asked if it runs."
    return _with_place(verb, data_option(words, required=True))


def _with_place(verb: Callable[..., None], *options: Option) -> Callable[..., None]:
    """Add options to a verb, and replace their values with a `DataPlace`."""

    @wraps(verb)
    def command(
        *,
        server: str | None = None,
        data: Path | None = None,
        tls: bool = False,
        tls_roots: Path | None = None,
        **others: object,
    ) -> None:
        server, data = _one_of(server, data)
        verb(place=DataPlace(server or DEFAULT_SERVER, data, tls, tls_roots), **others)

    return with_options(command, *options)


def data_option(words: str, *, required: bool = False) -> Option:
    """Return the option --data with this help text."""
    return click.option(
        "--data",
        metavar="DIR",
        type=click.Path(path_type=Path),
        envvar="ARENA_DATA",
        show_envvar=True,
        required=required,
        help=words,
    )


def server_options(words: str) -> tuple[Option, ...]:
    """Return the options --server, with this help text, --tls and --tls-roots."""
    roots = click.Path(path_type=Path, exists=True, dir_okay=False)
    return (
        click.option("--server", metavar="HOST:PORT", envvar="ARENA_SERVER", show_envvar=True, help=words),
        click.option("--tls", is_flag=True, help="Talk to the server with TLS."),
        click.option(
            "--tls-roots", metavar="FILE", type=roots, help="Use TLS and trust the authorities in this PEM file."
        ),
    )


def with_options(command: Callable[..., None], *options: Option) -> Callable[..., None]:
    """Add options to a command. Its help lists them in this order."""
    for option in reversed(options):
        command = option(command)
    return command


def _one_of(server: str | None, data: Path | None) -> tuple[str | None, Path | None]:
    """Let an option override an environment variable. Raises: UsageError: Both are options, or both are variables."""
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
