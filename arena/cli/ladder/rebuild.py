"""`arena ladder rebuild`: compute the ladder again from the list of events, to publish it or to compare it."""

from __future__ import annotations

import sys
import time
from contextlib import contextmanager, nullcontext
from typing import TYPE_CHECKING

import click

from arena.cli.data_source import ChosenLadder, chosen_games, chosen_ladders, data_option
from arena.cli.terminal.screen import json_option, print_json, screen

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager
    from pathlib import Path

    from sqlalchemy import Connection

    from arena.store.ladder.rebuild import LadderDifference, LadderVerdict


@click.command(epilog="Example: arena ladder rebuild --verify --data ./arena-data")
@click.option("--verify", is_flag=True, help="Only compare with the published ladder, even while a server runs.")
@click.option("--game", metavar="NAME", help="Only the ladders of this game.  [default: every game]")
@click.option("--ladder", metavar="NAME", help="Only this ladder.  [default: every ladder]")
@click.option("--season", metavar="N", type=click.IntRange(1), help="Only this season.  [default: every season]")
@data_option("The data directory of the server.", required=True)
@json_option
def rebuild(verify: bool, game: str | None, ladder: str | None, season: int | None, data: Path, as_json: bool) -> None:
    """Recompute ladders from their lists of events and publish them.

    With --verify it is compared bit for bit with the published one instead: exit status 1 if a figure differs. A ladder
    that was never published cannot differ.

    \b
    JSON: {"ladders": [{"game", "through", "published", "recomputed", "identical",
    "differences": [{"bot", "version", "figure", "published", "recomputed"}]}]};
    "through" is the last event compared, "published" and "recomputed" are digests.
    A figure that only one of the ladders has is null in the other; "bot" is null for
    figures of the whole ladder. "ladder" and "season" are absent in the first season of the
    game's default ladder.
    """
    from arena.store.ladder import rebuild as store
    from arena.store.opening import open_readonly, open_to_amend

    documents, failed = [], False
    with _errors_for_click(), open_readonly(data) if verify else open_to_amend(data) as connection:
        for each in _chosen(connection, game, ladder, season):
            with _working(connection, each):
                if verify:
                    verdict = store.verify(connection, each.ladder_id)
                else:
                    verdict = store.rebuild(connection, each.ladder_id, time.time_ns() // 1000)
            failed |= bool(verdict.differences)
            documents.append(each.named | _document(verdict))
            if not as_json:
                text = _comparison(verdict) if verify else _publication(connection, verdict)
                click.echo(f"{each.words}: {text}")
    if as_json:
        print_json({"ladders": documents})
    if verify and failed:
        sys.exit(1)


@contextmanager
def _errors_for_click() -> Iterator[None]:
    from arena.ladder.errors import LadderError
    from arena.store.base.errors import StoreLocked

    try:
        yield
    except StoreLocked as error:
        raise click.ClickException(
            f"{error}; a server fits its ladders itself, and --verify reads beside it"
        ) from error
    except LadderError as error:
        raise click.ClickException(f"the list of events is not sound: {error}") from error


def _chosen(connection: Connection, game: str | None, ladder: str | None, season: int | None) -> list[ChosenLadder]:
    """Return the chosen seasons: by default every season of every ladder.

    Raises: click.BadParameter and click.UsageError, as `chosen_ladders` does; NoSuchSeason.
    """
    from arena.queries.directory import list_ladders
    from arena.store.ladder.seasons import find

    ladders = list_ladders(connection)
    if ladder or season:
        [chosen] = chosen_ladders(ladders, game, ladder, season)
        if season:
            find(connection, chosen.ladder, season)
            return [chosen]
        ladders = tuple(each for each in ladders if each.name == chosen.ladder)
    elif game:
        chosen_games(tuple(dict.fromkeys(each.game for each in ladders)), game)
    of_game = (each for each in ladders if game in (None, each.game))
    return [ChosenLadder(each.game, each.name, one.number) for each in of_game for one in each.seasons]


def _working(connection: Connection, chosen: ChosenLadder) -> AbstractContextManager[object]:
    """Show in a terminal that a ladder is being computed."""
    from arena.store.ladder import events

    console = screen(stderr=True)
    if not console.is_terminal:
        return nullcontext()
    newest = events.newest(connection, chosen.ladder_id)
    return console.status(f"The ladder of {chosen.words} from {newest:,} events …")


def _comparison(verdict: LadderVerdict) -> str:
    """Return the result of a comparison as a sentence."""
    if not verdict.published:
        return "no ladder is published yet."
    if verdict.identical:
        return f"identical up to event {verdict.through}, SHA-256 {verdict.published}."
    return f"differs up to event {verdict.through}: {_differences(verdict)}."


def _publication(connection: Connection, verdict: LadderVerdict) -> str:
    """Return the result of publishing as a sentence."""
    from arena.store.ladder import publishing

    through = publishing.through(connection, verdict.ladder_id)
    if not verdict.differences:
        return f"published up to event {through}."
    return f"published up to event {through}; before, {_differences(verdict)}."


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
        "through": verdict.through,
        "published": verdict.published,
        "recomputed": verdict.recomputed,
        "identical": verdict.identical,
        "differences": [difference._asdict() for difference in verdict.differences],
    }
