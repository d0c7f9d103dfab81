"""`arena replay diff`: compare two matches on the same deal."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from typing import Any, Final

import click
from rich.console import Group, RenderableType
from rich.text import Text

from arena.analysis.same_deal import DealsDiffer, RoundTwice, rounds_twice
from arena.cli.data_source import DataPlace, takes_source
from arena.cli.replay.source import read_replay
from arena.cli.terminal.fitted_table import FittedTable, TableColumn
from arena.cli.terminal.screen import json_option, print_json, screen
from arena.replay.replay import Replay
from arena.replay.steps import Made
from engine.game import RoundReport

DIFFERENT: Final = 3
"""Exit status if the matches differ."""


@click.command("diff", epilog="Example: arena replay diff games/match-1.jsonl.gz games/match-2.jsonl.gz")
@click.argument("one")
@click.argument("other")
@takes_source
@json_option
def diff(one: str, other: str, place: DataPlace, as_json: bool) -> None:
    """Compare two matches on the same deal: the first different choice of each round, and the points.

    ONE and OTHER are numbers of matches, or replay files, such as `arena match --replays` writes. Every round begins
    with the same cards, whatever happened before it. Exit status: 0 all choices are the same, 3 some differ, 1 failure,
    such as different deals, 2 wrong usage.

    \b
    JSON: {"game", "one": {"source", "match", "bots", "scores", "places"},
    "other": {...}, "rounds": [{"round", "alike", "points", "other_points",
    "otherwise": [{"seat", "one", "other"}]}]}
    "alike" counts the choices before the first that differs.
    """
    first, second = read_replay(one, place), read_replay(other, place)
    try:
        rounds = rounds_twice(first, second)
    except DealsDiffer as error:
        raise click.ClickException(f"{first.source} and {second.source} are not of one deal: {error}") from error
    if as_json:
        print_json(_document(first, second, rounds))
    else:
        screen().print(_drawn(first, second, rounds))
    sys.exit(DIFFERENT if any(each.otherwise for each in rounds) else 0)


def _document(one: Replay, other: Replay, rounds: Sequence[RoundTwice]) -> dict[str, Any]:
    def match(replay: Replay) -> dict[str, Any]:
        return {
            "source": replay.source,
            "match": replay.header.match_id,
            "bots": [bot.name for bot in replay.header.bots],
            "scores": replay.result.scores,
            "places": replay.result.places,
        }

    return {
        "game": one.header.game.name,
        "one": match(one),
        "other": match(other),
        "rounds": [
            {
                "round": each.round + 1,
                "alike": each.alike,
                "points": _worth(one, each.one),
                "other_points": _worth(other, each.other),
                "otherwise": [
                    {"seat": apart.seat, "one": _named(one, apart.one), "other": _named(other, apart.other)}
                    for apart in each.otherwise
                ],
            }
            for each in rounds
        ],
    }


def _drawn(one: Replay, other: Replay, rounds: Sequence[RoundTwice]) -> RenderableType:
    apart = sum(bool(each.otherwise) for each in rounds)
    seats = [
        TableColumn("Seat", [Text(str(seat)) for seat in range(len(one.header.bots))]),
        *_columns("", one),
        *_columns("Other ", other),
    ]
    played = [
        TableColumn("Round", [Text(str(each.round + 1)) for each in rounds]),
        TableColumn("Alike", [Text(str(each.alike)) for each in rounds]),
        TableColumn("First difference", [_apart(one, other, each) for each in rounds], "left", folds=True),
        TableColumn("Points", [Text(_points(_worth(one, each.one))) for each in rounds], "left"),
        TableColumn("Other", [Text(_points(_worth(other, each.other))) for each in rounds], "left"),
    ]
    words = f"{one.header.game.title}: {one.source} and {other.source}, one deal"
    said = f"{apart} of {len(rounds)} rounds differ." if apart else "All choices are the same."
    return Group(Text(words, "bold"), Text(said), FittedTable("", seats, ()), FittedTable("", played, ("Alike",)))


def _columns(prefix: str, replay: Replay) -> list[TableColumn]:
    bots = replay.header.bots
    scores = replay.result.scores or ["–"] * len(bots)
    return [
        TableColumn(f"{prefix}bot".capitalize(), [Text(bot.name) for bot in bots], "left", folds=True),
        TableColumn(f"{prefix}points".capitalize(), [Text(str(score)) for score in scores]),
    ]


def _apart(one: Replay, other: Replay, each: RoundTwice) -> Any:
    lines = [
        Text.assemble(
            (f"seat {apart.seat}: ", "dim"), _named(one, apart.one), (" against ", "dim"), _named(other, apart.other)
        )
        for apart in each.otherwise
    ]
    return Text("\n").join(lines)


def _named(replay: Replay, made: Made) -> str:
    """Describe a choice. If it was forced, add the cause."""
    by = "" if made.forced is None else f" (forced: {made.forced.value})"
    return replay.header.game.actions[made.action].name + by


def _worth(replay: Replay, report: RoundReport | None) -> Sequence[int] | None:
    """Return the points of a round by seat, or None if it did not end."""
    from arena.replay.render.show import renderer_of  # Loads the games.

    return None if report is None else renderer_of(replay.header.game).worth(report)


def _points(points: Sequence[int] | None) -> str:
    return "–" if points is None else " ".join(f"{each:+d}" for each in points)
