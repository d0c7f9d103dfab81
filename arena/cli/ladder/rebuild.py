"""`arena ladder rebuild`: recompute the ladder from the list of events, to publish or to compare it."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import click

from arena.cli.data_source import chosen_games, data_option
from arena.cli.terminal.screen import json_option, print_json, screen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from sqlalchemy import Connection

    from arena.store.ladder.rebuild import LadderDifference, LadderVerdict


@click.command(epilog="Example: arena ladder rebuild --verify --data ./arena-data")
@click.option("--verify", is_flag=True, help="Only compare with the published ladder, even while a server runs.")
@click.option("--game", metavar="NAME", help="Only this game.  [default: every game]")
@data_option("The data directory of the server.", required=True)
@json_option
def rebuild(verify: bool, game: str | None, data: Path, as_json: bool) -> None:
    """Recompute the ladder from the list of events and publish it.

    With --verify it is compared bit for bit with the published one instead: exit status 1 if a figure differs. A ladder
    that was never published cannot differ.

    \b
    JSON: {"ladders": [{"game", "through", "published", "recomputed", "identical",
    "differences": [{"bot", "version", "figure", "published", "recomputed"}]}]};
    "through" is the last event compared, "published" and "recomputed" are digests.
    A figure that only one of the ladders has is null in the other; "bot" is null for
    figures of the whole ladder.
    """
    from arena.store.ladder import rebuild as store
    from arena.store.opening import open_readonly, open_to_amend
    from engine.registry import GAMES

    documents, failed = [], False
    with _errors_for_click(), open_readonly(data) if verify else open_to_amend(data) as connection:
        for name in chosen_games(tuple(GAMES), game):
            with _working(connection, name):
                if verify:
                    verdict = store.verify(connection, name)
                else:
                    verdict = store.rebuild(connection, name, time.time_ns() // 1000)
            failed |= bool(verdict.differences)
            documents.append(_document(verdict))
            if not as_json:
                click.echo(_comparison(connection, verdict) if verify else _publication(connection, verdict))
    if as_json:
        print_json({"ladders": documents})
    if verify and failed:
        sys.exit(1)


@contextmanager
def _errors_for_click() -> Iterator[None]:
    from arena.ladder.errors import LadderError
    from arena.store.base.errors import Refused, StoreError, StoreLocked

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
    """Show in a terminal that a ladder is being computed."""
    from arena.store.ladder import events

    console = screen(stderr=True)
    if not console.is_terminal:
        return nullcontext()
    return console.status(f"The ladder of {game} from {events.newest(connection, game):,} events …")


def _comparison(connection: Connection, verdict: LadderVerdict) -> str:
    """Return the result of a comparison as a sentence."""
    if not verdict.published:
        return f"{verdict.game}: no ladder is published yet."
    if verdict.identical:
        return f"{verdict.game}: identical up to event {verdict.through}, SHA-256 {verdict.published}."
    return f"{verdict.game}: differs up to event {verdict.through}: {_differences(verdict)}."


def _publication(connection: Connection, verdict: LadderVerdict) -> str:
    """Return the result of publishing as a sentence."""
    from arena.store.ladder import publishing

    through = publishing.through(connection, verdict.game)
    if not verdict.differences:
        return f"{verdict.game}: published up to event {through}."
    return f"{verdict.game}: published up to event {through}; before, {_differences(verdict)}."


def _differences(verdict: LadderVerdict) -> str:
    first, *others = verdict.differences
    more = f", and {len(others)} more" if others else ""
    return f"{_of(first)} was {first.published!r} where the events give {first.recomputed!r}{more}"


def _of(difference: LadderDifference) -> str:
    if difference.bot is None:
        return f"the {difference.figure}"
    version = f", version {difference.version!r}," if difference.version else ""
    return f"{difference.bot}{version} {difference.figure}"


def _document(verdict: LadderVerdict) -> dict[str, object]:
    return {
        "game": verdict.game,
        "through": verdict.through,
        "published": verdict.published,
        "recomputed": verdict.recomputed,
        "identical": verdict.identical,
        "differences": [difference._asdict() for difference in verdict.differences],
    }
