"""A bot's profile from its matches, drawn as Rich tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

from rich.console import Group, RenderableType
from rich.table import Table
from rich.text import Text

from arena.analysis.timeline_document import duration
from arena.cli.ladder.table import flags_table
from arena.cli.terminal.fitted_table import framed
from arena.cli.terminal.tables import bot_name
from arena.queries.figures import CONFIDENCE, is_house, ladder_in_words
from arena.queries.profile import BotProfile, MatchPoints
from arena.store.base.rows import OpponentRow

MOST_OPPONENTS: Final = 12
"""Maximum number of opponents listed in the table."""


def drawn_profile(profile: BotProfile) -> RenderableType:
    """Draw a bot's results on one ladder: by seat, by opponent, its best and worst matches, and unusual results."""
    tables = (_by_seat(profile), _by_opponent(profile), _extremes(profile))
    standing_out = [flags_table(_ladder(profile), profile.flags)] if profile.flags else []
    return Group(_in_words(profile), *tables, *standing_out)


def _in_words(profile: BotProfile) -> Text:
    share = profile.wins / profile.matches
    text = Text.assemble(
        (profile.bot, "bold"),
        f" in {_ladder(profile)}: {profile.matches} match{'es' if profile.matches > 1 else ''}, {profile.wins} won",
        (f" ({share:.0%})", "dim"),
    )
    if profile.bids:
        text.append(f"; {profile.kept} of its last {profile.bids} bids kept")
    if profile.think_95_us is not None:
        text.append(f"; 95 % of decisions within {duration(profile.think_95_us)}")
    if profile.forced:
        text.append(f"; {profile.forced} decisions were made for it", style="red")
    if profile.spoilt:
        text.append(f"; house bots played too much of its seat in {profile.spoilt}", style="red")
    return text.append(".")


def _ladder(profile: BotProfile) -> str:
    return ladder_in_words(profile.game, profile.ladder, profile.season)


def _by_seat(profile: BotProfile) -> Table:
    table = framed("By seat")
    several = len({each.seats for each in profile.seats}) > 1
    for name in (*(["Table"] if several else []), "Seat", "Matches", "Place", "Points", "± 95 %"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in profile.seats:
        size = [f"of {each.seats}"] if several else []
        figures = f"{each.place:.2f}", _signed(each.points), _interval(each.points_error, 1)
        table.add_row(*size, str(each.seat), str(each.matches), *figures)
    return table


def _by_opponent(profile: BotProfile) -> Table:
    more = len(profile.opponents) - MOST_OPPONENTS
    title = "By opponent" if more <= 0 else f"By opponent, the {MOST_OPPONENTS} met most; {more} more in --json"
    return opponents_table(title, profile.opponents[:MOST_OPPONENTS])


def opponents_table(title: str, rows: Sequence[OpponentRow]) -> Table:
    """Draw a bot's results against each of a list of bots."""
    table = framed(title)
    table.add_column("Opponent", overflow="fold")
    for name in ("Matches", "Score", "± 95 %"):
        table.add_column(name, justify="right", no_wrap=True)
    for each in rows:
        colour = "green" if each.score > 0.5 else "red" if each.score < 0.5 else ""
        sure = abs(each.score - 0.5) > CONFIDENCE * each.error
        opponent = bot_name(each.opponent, is_house(each.opponent))
        score = Text(f"{each.score:.2f}", style=colour if sure else "")
        table.add_row(opponent, str(each.matches), score, _interval(each.error, 2))
    return table


def _extremes(profile: BotProfile) -> Table:
    table = framed("Best and worst matches")
    for name in ("Match", "Points", "Place"):
        table.add_column(name, justify="right", no_wrap=True)
    for rows in (profile.best, profile.worst):
        _add_matches(table, rows)
    return table


def _add_matches(table: Table, rows: Sequence[MatchPoints]) -> None:
    for each in rows:
        played_on = " ⚠ played on" if each.spoilt else ""
        table.add_row(str(each.match_id), _signed(each.points), f"{each.place}{played_on}")
    table.add_section()


def _signed(points: float) -> Text:
    return Text(f"{points:+.1f}", style="green" if points > 0 else "red" if points < 0 else "")


def _interval(error: float | None, digits: int) -> str:
    return "" if error is None else f"{CONFIDENCE * error:.{digits}f}"
