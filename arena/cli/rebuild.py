"""`arena ladder rebuild`: the ladder made again of the list of events, to be compared or published."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import click

from arena.cli.screen import json_option, print_json, screen
from arena.cli.source import data_option

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from sqlalchemy import Connection

    from arena.store.rebuild import Difference, Verdict


@click.command(epilog="Example: arena ladder rebuild --verify --data ./arena-data")
@click.option("--verify", is_flag=True, help="Change nothing: compare with what is published; a server may work on it.")
@click.option("--game", metavar="NAME", help="Only this game's.  [default: every game's]")
@data_option("The data directory of the server.", required=True)
@json_option
def rebuild(verify: bool, game: str | None, data: Path, as_json: bool) -> None:
    """Make the ladder again of the list of results, and publish it.

    With --verify it is compared bit for bit instead: exit status 1 where a figure differs from what the same events
    give. A ladder that was never published cannot differ.

    \b
    JSON: {"ladders": [{"game", "through", "published", "recomputed", "identical",
    "differences": [{"bot", "version", "figure", "published", "recomputed"}]}]};
    "through" is the last event compared, "published" and "recomputed" are digests.
    Of a figure, what exists on one side only is null on the other; "bot" is null for
    what is the ladder's as a whole.
    """
    from arena.cli.directory import games_named
    from arena.store import rebuild as store
    from arena.store.store import open_readonly, open_to_amend

    documents, failed = [], False
    with _failures_told(), open_readonly(data) if verify else open_to_amend(data) as connection:
        for name in games_named(game):
            with _working(connection, name):
                if verify:
                    verdict = store.verify(connection, name)
                else:
                    verdict = store.rebuild(connection, name, time.time_ns() // 1000)
            failed |= bool(verdict.differences)
            documents.append(_document(verdict))
            if not as_json:
                click.echo(_told(connection, verdict) if verify else _done(connection, verdict))
    if as_json:
        print_json({"ladders": documents})
    if verify and failed:
        sys.exit(1)


@contextmanager
def _failures_told() -> Iterator[None]:
    from arena.ladder.errors import LadderError
    from arena.store.errors import Refused, StoreError, StoreLocked

    try:
        yield
    except StoreLocked as error:
        raise click.ClickException(
            f"{error}; a server fits its ladders itself, and --verify reads beside it"
        ) from error
    except LadderError as error:
        raise click.ClickException(f"the list of events is not sound: {error}") from error
    except (StoreError, Refused) as error:
        raise click.ClickException(str(error)) from error


def _working(connection: Connection, game: str) -> AbstractContextManager[object]:
    """What a terminal shows meanwhile."""
    from arena.store import events

    console = screen(stderr=True)
    if not console.is_terminal:
        return nullcontext()
    return console.status(f"The ladder of {game} from {events.newest(connection, game):,} events …")


def _told(connection: Connection, verdict: Verdict) -> str:
    """What came of comparing."""
    if not verdict.published:
        return f"{verdict.game}: no ladder is published yet."
    if verdict.identical:
        return f"{verdict.game}: identical up to event {verdict.through}, SHA-256 {verdict.published}."
    return f"{verdict.game}: differs up to event {verdict.through}: {_differences(verdict)}."


def _done(connection: Connection, verdict: Verdict) -> str:
    """What came of publishing."""
    from arena.store import publishing

    through = publishing.through(connection, verdict.game)
    if not verdict.differences:
        return f"{verdict.game}: published up to event {through}."
    return f"{verdict.game}: published up to event {through}; before, {_differences(verdict)}."


def _differences(verdict: Verdict) -> str:
    first, *others = verdict.differences
    more = f", and {len(others)} more" if others else ""
    return f"{_of(first)} was {first.published!r} where the events give {first.recomputed!r}{more}"


def _of(difference: Difference) -> str:
    if difference.bot is None:
        return f"the {difference.figure}"
    version = f", version {difference.version!r}," if difference.version else ""
    return f"{difference.bot}{version} {difference.figure}"


def _document(verdict: Verdict) -> dict[str, object]:
    return {
        "game": verdict.game,
        "through": verdict.through,
        "published": verdict.published,
        "recomputed": verdict.recomputed,
        "identical": verdict.identical,
        "differences": [difference._asdict() for difference in verdict.differences],
    }
