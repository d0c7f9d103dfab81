"""`arena replay ask`: ask a bot past decisions again, and compare its answers with the old ones."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import click

from arena.cli.data_source import LARGEST_PAGE, DataPlace, chooses_ladder_of_matches, takes_source
from arena.cli.replay.source import finished, named_replays, on_ladder
from arena.cli.terminal.screen import json_option, print_json, screen
from arena.replay.read import read
from arena.replay.replay import Replay

if TYPE_CHECKING:
    from arena.local.ask.asking import PastSeat


@click.command("ask", epilog="Example: arena replay ask --bot my-bot --limit 20 -- better.py")
@click.argument("sources", metavar="[SOURCE]...", nargs=-1)
@click.argument("asked", metavar="BOT")
@click.option("--bot", metavar="NAME", default="", help="Only decisions of this bot; without SOURCE, of its matches.")
@click.option("--seat", metavar="S", type=click.IntRange(0), help="Only decisions of this seat, from 0.")
@chooses_ladder_of_matches
@click.option(
    "--limit",
    metavar="N",
    type=click.IntRange(1, LARGEST_PAGE),
    default=100,
    show_default=True,
    help="Maximum number of matches of --bot, newest first.",
)
@click.option(
    "--times",
    metavar="N",
    type=click.IntRange(1, 1000),
    default=1,
    show_default=True,
    help="Number of times to ask each decision, for bots that choose at random.",
)
@click.option(
    "--show",
    "shown",
    metavar="N",
    type=click.IntRange(0),
    default=20,
    show_default=True,
    help="Number of differences to list.",
)
@takes_source
@json_option
def ask(
    sources: tuple[str, ...],
    asked: str,
    bot: str,
    seat: int | None,
    game: str,
    ladder: str | None,
    season: int | None,
    limit: int,
    times: int,
    shown: int,
    place: DataPlace,
    as_json: bool,
) -> None:
    """Give BOT decisions of the past, and show where it answers differently.

    SOURCE is the number of a match, a replay file, or a folder of replays; by default, the matches of --bot on the
    server or in the data directory. BOT is FILE.py, FILE.py:CLASS or house:NAME, as for `arena match`. It gets the
    messages of the bot in that seat, for many matches side by side. Decisions with one legal action, and those that the
    server made, are not counted.

    \b
    JSON: {"bot", "version", "times", "decisions", "same", "rounds", "above",
    "kinds": [{"kind", "decisions", "same"}],
    "seats": [{"source", "match", "game", "seat", "bot", "decisions", "same",
    "differ", "points", "place", "above"}],
    "different": [{"source", "match", "seat", "round", "decision", "kind", "old",
    "new", "same"}], "cost": {"decisions", "processor_us"}}
    "same" is a share. "rounds" and "above" have two figures: for rounds with a different
    decision, and for the others. "cost" is per decision.
    """
    if not sources and not bot:
        raise click.UsageError("say which matches: name replays, or a bot with --bot")
    from arena.local.ask.asking import AskingCost, asked_again, past_seats
    from arena.local.match.runner import versions

    def past() -> Iterator[PastSeat]:
        for replay in _replays(sources, bot, game, ladder, season, limit, place):
            seats = [number for number, each in enumerate(replay.header.bots) if bot in ("", each.name)]
            if on_ladder(replay, game, ladder, season):
                yield from past_seats(replay, [each for each in seats if seat in (None, each)])

    cost = AskingCost()
    found = list(asked_again(asked, past(), times, cost))
    if not found:
        raise click.ClickException(f"there is no decision{_of(bot, seat, game, ladder, season)} in these matches")
    found.sort(key=lambda each: (each.replay.header.match_id, each.replay.source, each.seat))
    [version] = versions(found[0].replay.header.game.name, [asked])
    from arena.cli.replay.ask_report import ask_report, asked_document

    if as_json:
        print_json({"bot": asked, "version": version, "times": times} | asked_document(found, cost))
    else:
        screen().print(ask_report(asked, version, times, found, cost, shown))


def _replays(
    sources: Sequence[str],
    bot: str,
    game: str,
    ladder: str | None,
    season: int | None,
    limit: int,
    place: DataPlace,
) -> Iterator[Replay]:
    if not sources:
        with place.open() as opened:
            for row in finished(opened, game, bot, limit, None, ladder, season):
                yield read(opened.replay(row.match_id), f"match {row.match_id}")
    yield from named_replays(sources, place)


def _of(bot: str, seat: int | None, game: str, ladder: str | None, season: int | None) -> str:
    """Describe the origin of the decisions: bot, seat, game and ladder."""
    words: list[tuple[str, Any]] = [(" of {}", bot), (" in seat {}", seat), (" of {}", game), (" on {}", ladder)]
    words.append((" in season {}", season))
    return "".join(word.format(value) for word, value in words if value not in ("", None))
