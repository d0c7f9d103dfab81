"""Tables that fit the width of the screen: a current ladder, a past ladder, and a ladder's flags.

On a narrow screen the least important columns are omitted first. Rank, rank interval, bot and rating are never omitted.
If the screen is wide enough, the rating intervals are drawn on one scale, so that overlaps are visible.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from math import inf
from typing import Final, Literal

from rich.console import Group, RenderableType
from rich.text import Text

from arena.cli.terminal.fitted_table import DrawnColumn, FittedTable, TableColumn
from arena.cli.terminal.tables import bot_name, owner_name, unlisted
from arena.queries.figures import (
    CONFIDENCE,
    FLAG_MEANING,
    SHARED,
    Leaders,
    flag_in_words,
    flagged,
    ladder_in_words,
    leaders,
    quota_in_words,
    share_in_words,
)
from arena.store.base.rows import FlagRow, LadderRow, LadderRows, PastLadder, PastLadderRow

NARROWEST: Final = 15
WIDEST: Final = 41
"""Minimum and maximum width of the drawn intervals, in characters."""
MEDALS: Final = {1: "bold yellow", 2: "bold white", 3: "bold dark_orange3"}
UNKNOWN: Final = Text("–", style="dim")
RATING: Final = "Elo ± 95 %"
INTERVALS: Final = "intervals"
PAST_LEFT_OUT_FIRST: Final = ("Fitted", "Version", "Owner", "Opponents", "Matches", "P(best)", "Ranks")
MARK: Final = "⚑"


class _Ladder:
    """A ladder with the figures that several columns need."""

    def __init__(self, rows: LadderRows) -> None:
        self.rows = rows
        self.first = leaders(rows.standings)
        self.margin = max(len(_margin(row)) for row in rows.standings)


@dataclass(frozen=True, slots=True)
class LadderColumn:
    """A column of the ladder."""

    name: str
    cell: Callable[[LadderRow, _Ladder], Text]
    importance: float = inf
    """Importance of the column. If the table is too wide, the least important column is omitted first."""
    shown: Callable[[LadderRows], bool] = lambda _: True
    """Function that returns False for a ladder without this column."""
    justify: Literal["left", "right"] = "right"
    folds: bool = False


def _of_all_sizes(ladder: LadderRows) -> bool:
    """Return True if the ladder covers tables of all sizes, so that its rows can show a bot's totals."""
    return not ladder.seats


def _owned(ladder: LadderRows) -> bool:
    return any(map(_owner, ladder.standings))


def _with_luck(ladder: LadderRows) -> bool:
    return not ladder.seats and any(row.luck is not None for row in ladder.standings)


def ladder_table(ladder: LadderRows) -> FittedTable:
    """Draw a ladder with at least one row."""
    title = f"Ladder of {ladder_in_words(ladder.game, ladder.ladder, ladder.season)}"
    title += f" at tables of {ladder.seats}" if ladder.seats else ""
    context, columns = _Ladder(ladder), list[TableColumn | DrawnColumn]()
    for each in COLUMNS:
        if each.shown(ladder):
            cells = [each.cell(row, context) for row in ladder.standings]
            columns.append(TableColumn(each.name, cells, each.justify, each.folds))
        if each.name == RATING:
            columns.append(DrawnColumn(INTERVALS, NARROWEST, WIDEST, partial(_interval_column, ladder.standings)))
    caption = " · ".join([*_signs(ladder), *_about_the_fit(ladder)])
    return FittedTable(title, columns, LEFT_OUT_FIRST, caption=caption)


def _interval_column(rows: Sequence[LadderRow], width: int) -> TableColumn:
    """Draw the rating intervals on one scale, which fits the intervals of established bots.

    Wider intervals end in an arrow.
    """
    settled = [row for row in rows if not row.provisional] or rows
    ratings = [row.rating for row in rows]
    low = min(*ratings, *(row.rating - CONFIDENCE * row.deviation for row in settled))
    high = max(*ratings, *(row.rating + CONFIDENCE * row.deviation for row in settled), low + 1)
    lines = [_interval(row, low, high, width) for row in rows]
    return TableColumn(f"{low:.0f}{high:>{width - len(f'{low:.0f}')}.0f}", lines, "left")


def _interval(row: LadderRow, low: float, high: float, width: int) -> Text:
    margin = CONFIDENCE * row.deviation
    begin, middle, end = (
        round((value - low) / (high - low) * (width - 1))
        for value in (row.rating - margin, row.rating, row.rating + margin)
    )
    left, right = max(begin, 0), min(end, width - 1)
    line = list(" " * left + "━" * (right - left + 1))
    if begin < 0:
        line[0] = "◂"
    if end >= width:
        line[-1] = "▸"
    line[middle] = "○" if row.provisional else "●"
    return Text("".join(line), style=("blue" if row.house else "green") + (" dim" if row.provisional else ""))


def _signs(ladder: LadderRows) -> list[str]:
    """Explain the signs and terms in the rows."""
    rows, words = ladder.standings, list[str]()
    if any(row.provisional for row in rows):
        words.append("? provisional: too few matches or opponents yet")
    if any(row.house for row in rows):
        words.append("⌂ house bot")
    if leaders(rows).names:
        words.append(SHARED)
    if any(flagged(ladder.flags, row.bot, row.version) for row in rows):
        words.append(f"{MARK} results stand out, which is no verdict: --flags")
    if any(row.luck is not None for row in rows):
        words.append("points: mean score of a match; luck-adjusted: without the luck of the deals")
    if ladder.through is not None and any(row.best is None for row in rows):
        words.append("– not in the fit yet")
    return words


def _about_the_fit(ladder: LadderRows) -> list[str]:
    """Describe the error that all ratings share, and the age of the ratings."""
    rows, words = ladder.standings, list[str]()
    if len(rows) == 1:
        words.append("a rating needs a second bot to compare with")
    elif ladder.scale_error:
        words.append(f"all ratings together ± {CONFIDENCE * ladder.scale_error:.0f}: 1500 is the house bots' mean")
    if ladder.pair_quota or ladder.pair_week_quota:
        words.append(quota_in_words(ladder.pair_quota, ladder.pair_week_quota, ladder.pair_young_days))
    if ladder.through is None:
        words.append("not fitted yet: ratings are the live ones")
    elif ladder.published is not None:
        words.append(f"fitted {ladder.published.astimezone():%d %b %H:%M:%S} up to event {ladder.through}")
    else:
        words.append(f"fitted now up to event {ladder.through}")
    if ladder.not_fitted_since is not None:
        since = f"{ladder.not_fitted_since.astimezone():%d %b %H:%M:%S}"
        words.append(f"newer results are not fitted since {since}: {ladder.not_fitted_reason}")
    return words


def _bot(row: LadderRow, ladder: _Ladder) -> Text:
    name = bot_name(row.bot, row.house).append(unlisted(row), style="dim default")
    return name.append(f" {MARK}", style="yellow") if flagged(ladder.rows.flags, row.bot, row.version) else name


def _owner(row: LadderRow | PastLadderRow) -> str:
    return owner_name(row.owner, row.bot, row.house)


def _ranks(row: LadderRow | PastLadderRow) -> str:
    return str(row.rank_low) if row.rank_low == row.rank_high else f"{row.rank_low}–{row.rank_high}"


def _margin(row: LadderRow) -> str:
    return f"{CONFIDENCE * row.deviation:.0f}"


def _rating(row: LadderRow, ladder: _Ladder) -> Text:
    mark = ("?", "yellow") if row.provisional else " "
    return Text.assemble((f"{row.rating:.0f}", "bold"), (f" ± {_margin(row):>{ladder.margin}}", "dim"), mark)


def chance_of_best(first: Leaders, row: LadderRow | PastLadderRow) -> Text:
    """Format P(best).

    Bots that share the first rank have one common value, which only the first of their rows shows.
    """
    if row.bot in first.names:
        return Text(first.chance(row), style="dim" if row.bot != first.names[0] else "")
    return UNKNOWN if row.best is None else share(row.best)


def share(share: float) -> Text:
    """Format a share in percent, dimmed if it is tiny."""
    return Text(share_in_words(share), style="dim" if 0 < share < 0.005 else "")


def _points(mean: float | None, error: float | None) -> Text:
    """Format a mean score. Add its 95 % interval if it is known."""
    if mean is None:
        return UNKNOWN
    return Text.assemble(f"{mean:.1f}", ("" if error is None else f" ± {CONFIDENCE * error:.1f}", "dim"))


def _forced(share: float | None) -> Text:
    if share is None:
        return UNKNOWN
    if not share:
        return Text("0 %", style="dim")
    return Text("<0.1 %" if share < 0.001 else f"{100 * share:.1f} %", style="yellow" if share < 0.05 else "red")


def _duration(microseconds: int | None) -> Text:
    """Format a duration with two digits in a suitable unit."""
    if microseconds is None:
        return UNKNOWN
    for size, unit in ((1_000_000, "s"), (1_000, "ms"), (1, "µs")):
        if microseconds >= size:
            amount = microseconds / size
            return Text(f"{amount:.1f} {unit}" if amount < 10 and size > 1 else f"{amount:.0f} {unit}")
    return Text("<1 µs")


def moment(at: datetime | None) -> Text:
    """Format a time in local time."""
    return UNKNOWN if at is None else Text(f"{at.astimezone():%d %b %Y %H:%M}")


def change(amount: float) -> Text:
    """Format a change in a rating, in Elo."""
    if round(abs(amount), 1) == 0:
        return Text("  0.0", style="dim")
    return Text(f"▲ {amount:.1f}", style="green") if amount > 0 else Text(f"▼ {-amount:.1f}", style="red")


COLUMNS: Final = (
    LadderColumn("#", lambda row, on: Text(f"{on.first.rank(row)}", MEDALS.get(on.first.rank(row), ""))),
    LadderColumn("Ranks", lambda row, _: Text(_ranks(row))),
    LadderColumn("Bot", _bot, justify="left", folds=True),
    LadderColumn("Owner", lambda row, _: Text(_owner(row), "dim"), 40, _owned, "left"),
    LadderColumn(RATING, _rating),
    LadderColumn("P(best)", lambda row, on: chance_of_best(on.first, row), 120),
    LadderColumn("Matches", lambda row, _: Text(f"{row.matches}"), 110),
    LadderColumn("Opponents", lambda row, _: UNKNOWN if row.best is None else Text(f"{row.opponents}"), 70),
    LadderColumn("Wins", lambda row, _: Text(f"{row.wins} {row.wins / max(row.matches, 1):4.0%}"), 30, _of_all_sizes),
    LadderColumn("Mean rank", lambda row, _: Text(f"{row.mean_rank:.2f}"), 20, _of_all_sizes),
    LadderColumn("Mean points", lambda row, _: _points(row.mean_points, None), 15, _of_all_sizes),
    LadderColumn(
        "Points",
        lambda row, _: UNKNOWN if row.luck is None else _points(row.luck.plain, row.luck.plain_error),
        10,
        _with_luck,
    ),
    LadderColumn(
        "Luck-adjusted",
        lambda row, _: UNKNOWN if row.luck is None else _points(row.luck.adjusted, row.luck.adjusted_error),
        80,
        _with_luck,
    ),
    LadderColumn("Forced", lambda row, _: _forced(row.forced_share), 60, _of_all_sizes),
    LadderColumn("Think 95 %", lambda row, _: _duration(row.think_95_us), 50, _of_all_sizes),
    LadderColumn("Last match", lambda row, _: moment(row.last_match), 5, _of_all_sizes),
    LadderColumn("Live", lambda row, _: Text.assemble(f"{row.live:.0f} ", change(row.last_change)), 100, _of_all_sizes),
)
"""All columns except the drawn intervals, which come after the rating."""
IMPORTANCE: Final = {INTERVALS: 90.0} | {each.name: each.importance for each in COLUMNS if each.importance < inf}
LEFT_OUT_FIRST: Final = sorted(IMPORTANCE, key=lambda name: IMPORTANCE[name])
"""Columns in the order in which a narrow screen omits them."""


def past_ladder_table(ladder: PastLadder) -> RenderableType:
    """Draw a ladder as it was published in the past."""
    assert ladder.published is not None, "there is a ladder"
    rows, first = ladder.standings, leaders(ladder.standings)
    columns = [
        TableColumn("#", [Text(str(first.rank(row))) for row in rows]),
        TableColumn("Ranks", [Text(_ranks(row)) for row in rows]),
        TableColumn("Bot", [bot_name(row.bot, row.house) for row in rows], "left", folds=True),
        TableColumn("Owner", [Text(_owner(row)) for row in rows], "left", True, "dim"),
        TableColumn("Version", [Text(row.version) for row in rows], "left", True, "dim"),
        TableColumn("Elo ± 95 %", [Text(f"{row.rating:.0f} ± {CONFIDENCE * row.deviation:.0f}") for row in rows]),
        TableColumn(
            "Fitted", [Text(f"{row.fitted:.0f} ± {CONFIDENCE * row.fitted_deviation:.0f}") for row in rows], style="dim"
        ),
        TableColumn("P(best)", [chance_of_best(first, row) for row in rows]),
        TableColumn("Matches", [Text(str(row.matches)) for row in rows]),
        TableColumn("Opponents", [Text(str(row.opponents)) for row in rows]),
    ]
    when = f"{ladder.published.astimezone():%Y-%m-%d %H:%M:%S}"
    name = ladder_in_words(ladder.game, ladder.ladder, ladder.season)
    title = f"Ladder of {name} as published {when}, up to event {ladder.through}"
    table = FittedTable(title, columns, PAST_LEFT_OUT_FIRST)
    return Group(table, Text(SHARED, "dim")) if first.names else table


def flags_table(game: str, flags: Sequence[FlagRow]) -> RenderableType:
    """Draw one or more flags, with their meanings."""
    columns = [
        TableColumn("Kind", [Text(flag.kind.value) for flag in flags], "left", style="dim"),
        TableColumn("What stands out", [Text(flag_in_words(flag)) for flag in flags], "left", folds=True),
        TableColumn("Results", [Text(str(flag.matches)) for flag in flags]),
        TableColumn("Errors", [Text(f"{abs(flag.errors):.1f}") for flag in flags]),
    ]
    return Group(FittedTable(f"What stands out in {game}", columns, ("Kind",)), Text(FLAG_MEANING, "dim"))
